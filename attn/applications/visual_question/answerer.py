"""Answers to questions about images."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attn._checks import argument_error, check_shape
from attn.applications import models
from attn.applications._application import Application, Sizes, configured
from attn.applications._folder import About
from attn.applications._sequences import are_texts, check_fits, listed, placed
from attn.applications.visual_question.model import VisualQuestionModel, answer_loss, collate
from attn.applications.visual_question.patches import N_COLUMNS, N_ROWS, PATCH_SIZE
from attn.masks import padding_mask
from attn.metrics.text import as_array
from attn.tokenizer import WordTokenizer
from attn.tokenizer.text import check_text
from attn.training import History, TrainingConfig
from attn.training.loss import at_least_float32

SIZES: dict[str, Any] = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 128,
    "dropout": 0.0,
    "norm": "pre",
}
TRAINING = TrainingConfig(
    steps=2000, learning_rate=2e-3, betas=(0.9, 0.95), label_smoothing=0.0, device="cpu"
)
EXAMPLES_AT_A_TIME = 256


class Example(Protocol):
    """An image, a question about it and the right answer."""

    @property
    def image(self) -> NDArray[np.uint8]: ...
    @property
    def question(self) -> str: ...
    @property
    def answer(self) -> str: ...


class MarkedExample(Example, Protocol):
    """An example with its kind and the patches that show what it asks about."""

    @property
    def kind(self) -> str: ...
    @property
    def asked(self) -> NDArray[np.bool_]: ...


class Answer(NamedTuple):
    """An answer and its probability."""

    text: str
    probability: float


class VisualAttention(NamedTuple):
    """The weights with which the tokens of a question attend to the patches.

    Attributes
    ----------
    tokens : list of str
        ``<sos>``, at whose position the answer is read, and the tokens of the question.
    weights : array, shape (n_layers, n_heads, n_tokens, n_rows, n_columns)
        For each layer, head and token a map over the patches that sums to 1.
    """

    tokens: list[str]
    weights: NDArray[np.floating]


class VisualQuestionAnswerer(Application[VisualQuestionModel]):
    """Answers questions about small images; `answers` are all that are possible.

    References
    ----------
    *Attention mechanisms & Transformers*, slides "Cross-attention".
    """

    _format, _model_class = "attn visual question answerer 1", VisualQuestionModel

    def __init__(
        self,
        model: VisualQuestionModel,
        tokenizer: WordTokenizer,
        answers: Sequence[str],
        history: History | None = None,
    ) -> None:
        super().__init__(model, history)
        if isinstance(answers, str):
            raise argument_error("answers", "a list of texts", "one text")
        self.tokenizer, self.answers = tokenizer, list(answers)

    @classmethod
    def fit(
        cls,
        examples: Iterable[Example],
        *,
        sizes: Sizes = (),
        training: TrainingConfig = TRAINING,
    ) -> Self:
        """Learn from examples.

        Parameters
        ----------
        examples : iterable of Example
            Such as those of `attn_course.images.make_examples`, 20,000 for the default `training`.
        sizes : dict, optional
            Fields of `attn.transformer.TransformerConfig` that replace those of `SIZES`.

        Raises
        ------
        ValueError
            If there are no examples, a question is empty or longer than the positions that can be
            learned, or an argument is wrong.
        """
        examples = _checked(examples)
        tokenizer = WordTokenizer.train(example.question for example in examples)
        answers = sorted({example.answer for example in examples})
        config = configured(SIZES, sizes, tokenizer.vocab_size, len(answers))
        index = {answer: i for i, answer in enumerate(answers)}
        encoded = [
            (example.image, tokenizer.encode(example.question, sos=True), index[example.answer])
            for example in examples
        ]
        for i, (_, ids, _) in enumerate(encoded):
            if len(ids) == 1:
                raise argument_error(
                    f"examples[{i}].question", "a question", repr(examples[i].question)
                )
            # The decoder also reads <sos>.
            check_fits(f"examples[{i}].question", len(ids) - 1, config, beside=1)
        model, history = cls._train(
            lambda: VisualQuestionModel(config), answer_loss, encoded, collate, training
        )
        return cls(model, tokenizer, answers, history)

    def answer(self, image: NDArray[np.uint8], question: str) -> Answer:
        """Answer a question about an image.

        Parameters
        ----------
        image : array of uint8, shape (48, 48, 3)

        Raises
        ------
        ValueError
            If `image` is no such array, or the question is empty, longer than the learned
            positions, or has a word that no training question had.
        """
        with torch.no_grad():
            logits, _ = self.model(*self._inputs(image, question))
        probability, best = logits.softmax(dim=-1, dtype=at_least_float32(logits)).max(dim=-1)
        return Answer(self.answers[int(best)], probability.item())

    def attention(self, image: NDArray[np.uint8], question: str) -> VisualAttention:
        """Return the cross-attention weights with which `answer` answers, with its errors."""
        with torch.no_grad():
            _, (_, cross) = self.model(*self._inputs(image, question), need_weights=True)
        tokens = [self.tokenizer.tokens[i] for i in self.tokenizer.encode(question, sos=True)]
        weights = torch.stack(cross)
        maps = weights.reshape(*weights.shape[:-1], N_ROWS, N_COLUMNS)
        return VisualAttention(tokens, as_array(maps))

    @torch.no_grad()
    def evaluate(self, examples: Iterable[MarkedExample]) -> dict[str, float]:
        """Compare answers with the right answers, and the weights with the patches that are asked
        about.

        Parameters
        ----------
        examples : iterable of MarkedExample
            Examples with a ``kind`` and the patches ``asked`` about.

        Returns
        -------
        dict of str to float
            ``accuracy``, and the accuracy of each kind of question under its name. For questions
            about something in the image, from the cross-attention of ``<sos>`` averaged over layers
            and heads: ``mass``, the share of the weight on the patches that are asked about;
            ``argmax``, how often the largest weight is there; ``chance``, the value of both for
            uniform weights.

        Raises
        ------
        ValueError
            If there are no examples, or one is not as above or has a word that was not in training.
        """
        examples = _checked(examples, "kind", "asked")
        is_right: list[bool] = []
        parts: list[NDArray[np.floating]] = []
        for start in range(0, len(examples), EXAMPLES_AT_A_TIME):
            some = examples[start : start + EXAMPLES_AT_A_TIME]
            batch = [(example.image, self._encode(example.question), 0) for example in some]
            image, ids, lengths, _ = placed(self.model, *collate(batch))
            mask = padding_mask(lengths, ids.shape[1])
            logits, (_, cross) = self.model(image, ids, mask, need_weights=True)
            found = [self.answers[i] for i in logits.argmax(dim=-1).tolist()]
            is_right += [text == example.answer for text, example in zip(found, some, strict=True)]
            weights = torch.stack(cross)[:, :, :, 0]
            parts.append(as_array(weights.to(at_least_float32(weights)).mean(dim=(0, 2))))
        right, maps = np.array(is_right), np.concatenate(parts)
        kinds = np.array([example.kind for example in examples])
        scores = {"accuracy": right.mean()}
        scores |= {str(kind): right[kinds == kind].mean() for kind in dict.fromkeys(kinds)}
        asked = np.stack([example.asked.ravel() for example in examples])
        maps, asked = maps[asked.any(axis=1)], asked[asked.any(axis=1)]
        if len(asked):
            scores["mass"] = (maps * asked).sum(axis=1).mean()
            scores["argmax"] = np.take_along_axis(asked, maps.argmax(axis=1)[:, None], 1).mean()
            scores["chance"] = asked.mean()
        return {name: float(score) for name, score in scores.items()}

    def _about(self) -> About:
        return {"answers": self.answers}

    def _vocabularies(self) -> dict[str, WordTokenizer]:
        return {"questions": self.tokenizer}

    @classmethod
    def _from_folder(cls, folder: Path, about: About, model: VisualQuestionModel) -> Self:
        answers = about.get("answers")
        tokenizer = WordTokenizer.load(folder / "questions.json")
        sizes = (model.config.vocab_size, model.config.tgt_vocab_size)
        if not isinstance(answers, list) or sizes != (tokenizer.vocab_size, len(answers)):
            raise argument_error("folder", "a model with the words and answers it learned", folder)
        return cls(model, tokenizer, answers)

    @classmethod
    def pretrained(cls, *, device: str | torch.device = "cpu") -> Self:
        """Read the answerer that comes with the course, which knows both languages.

        ``python -m experiments.applications visual_question`` trains it.

        Examples
        --------
        >>> empty = np.full((48, 48, 3), (238, 236, 228), dtype=np.uint8)
        >>> answerer = VisualQuestionAnswerer.pretrained()
        >>> answerer.answer(empty, "Is there a ball?").text
        'no'
        """
        return cls.load(models.folder("visual_question"), device=device)

    def _encode(self, question: str) -> list[int]:
        ids = self.tokenizer.encode(check_text("question", question), sos=True)
        if len(ids) == 1:
            raise argument_error("question", "a question", repr(question))
        unknown = self.tokenizer.unknown(question)
        if unknown:
            raise argument_error(
                "question", "words of the questions in training", ", ".join(unknown)
            )
        # The decoder also reads <sos>.
        check_fits("question", len(ids) - 1, self.model.config, beside=1)
        return ids

    def _inputs(self, image: NDArray[np.uint8], question: str) -> tuple[Tensor, ...]:
        """Check an image and a question; return the tensors that the model takes."""
        _check_image("image", image)
        ids = torch.tensor(self._encode(question))
        return placed(self.model, torch.from_numpy(image), ids)


def _checked(examples: Iterable[Any], *marks: str) -> list[Any]:
    """Return examples as a list; refuse an empty list and incomplete examples."""

    def is_one(example: Any) -> bool:
        has_all = all(hasattr(example, name) for name in ("image", *marks))
        return has_all and are_texts(*(getattr(example, x, None) for x in ("question", "answer")))

    names = ", ".join(("image", "question", "answer", *marks))
    found = listed("examples", examples, f"an example with {names}", is_one, "example")
    for i, example in enumerate(found):
        _check_image(f"examples[{i}].image", example.image)
        if "asked" in marks:
            check_shape(f"examples[{i}].asked", np.asarray(example.asked), (N_ROWS, N_COLUMNS))
    return found


def _check_image(name: str, image: object) -> None:
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8:
        raise argument_error(
            name, "an array of uint8", getattr(image, "dtype", type(image).__name__)
        )
    check_shape(name, image, (N_ROWS * PATCH_SIZE, N_COLUMNS * PATCH_SIZE, 3))
