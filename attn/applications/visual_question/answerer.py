"""An answerer of questions about images: the model, its words and its answers."""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from attn._checks import check_shape, wrong
from attn.applications._folder import read_folder, whole_folder
from attn.applications.visual_question.model import VisualQuestionModel, answer_loss, collate
from attn.applications.visual_question.scenes import N_COLUMNS, N_ROWS, PATCH_SIZE
from attn.masks import padding_mask
from attn.tokenizer import WordTokenizer
from attn.training import TrainingConfig, train
from attn.transformer import TransformerConfig

FORMAT = "attn visual question answerer 1"
SIZES = {"d_model": 64, "n_heads": 4, "n_layers": 2, "d_ff": 128, "dropout": 0.0, "norm": "pre"}
TRAINING = TrainingConfig(
    steps=2000, learning_rate=2e-3, betas=(0.9, 0.95), label_smoothing=0.0, device="cpu"
)
AT_A_TIME = 256


class Answer(NamedTuple):
    """The answer, and how probable the model holds it to be."""

    text: str
    probability: float


class VisualAttention(NamedTuple):
    """What the tokens of a question look at.

    Attributes
    ----------
    tokens : list of str
        Those of the question after ``<sos>``, from whose position the answer is read.
    weights : array, shape (n_layers, n_heads, n_tokens, n_rows, n_columns)
        For each layer, head and token a map of the patches, which sums to 1.
    """

    tokens: list[str]
    weights: np.ndarray


class VisualQuestionAnswerer:
    """Answers questions about small images.

    Parameters
    ----------
    model : VisualQuestionModel
    tokenizer : WordTokenizer
        The words of the questions.
    answers : list of str
        All that it can answer.

    References
    ----------
    Document 001, on cross-attention.
    """

    def __init__(self, model, tokenizer, answers):
        self.model, self.tokenizer, self.answers = model.eval(), tokenizer, list(answers)

    @classmethod
    def fit(cls, examples, *, sizes=(), training=TRAINING):
        """Learn from examples.

        Parameters
        ----------
        examples : sequence of Example
            From `make_examples`; 20,000 with the default `training`.
        sizes : dict, optional
            Of `attn.transformer.TransformerConfig`, where they are not to be the small ones
            that suffice here.
        training : attn.training.TrainingConfig, optional

        Returns
        -------
        VisualQuestionAnswerer

        Raises
        ------
        ValueError
            If there are no examples, or an argument is not as above.
        """
        _check_some(examples)
        tokenizer = WordTokenizer.train(example.question for example in examples)
        answers = sorted({example.answer for example in examples})
        config = TransformerConfig(tokenizer.vocab_size, len(answers), **{**SIZES, **dict(sizes)})
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(training.seed)
            model = VisualQuestionModel(config)

        loss = partial(answer_loss, label_smoothing=training.label_smoothing)
        index = {answer: i for i, answer in enumerate(answers)}
        encoded = [
            (example.image, tokenizer.encode(example.question, sos=True), index[example.answer])
            for example in examples
        ]
        train(model, loss, encoded, collate, training)
        return cls(model.cpu(), tokenizer, answers)

    def answer(self, image, question):
        """Answer a question about an image.

        Parameters
        ----------
        image : array of uint8, shape (48, 48, 3)
        question : str

        Returns
        -------
        Answer

        Raises
        ------
        ValueError
            If `image` is no such array, or the question is empty or has a word that no
            question in training had.
        """
        logits, _ = self._run(image, question)
        probability, best = logits.softmax(dim=-1).max(dim=-1)
        return Answer(self.answers[best], probability.item())

    def attention(self, image, question):
        """Return the cross-attention weights with which a question is answered.

        Parameters
        ----------
        image, question
            As in `answer`.

        Returns
        -------
        VisualAttention

        Raises
        ------
        ValueError
            As `answer` does.
        """
        _, (_, cross) = self._run(image, question, need_weights=True)
        tokens = [self.tokenizer.tokens[i] for i in self.tokenizer.encode(question, sos=True)]
        weights = torch.stack(cross).unflatten(-1, (N_ROWS, N_COLUMNS))
        return VisualAttention(tokens, weights.numpy())

    @torch.no_grad()
    def evaluate(self, examples):
        """Compare answers with the right ones, and the weights with where they should be.

        Parameters
        ----------
        examples : sequence of Example

        Returns
        -------
        dict of str to float
            ``accuracy``, and that of each kind of question under its name. Of the questions
            that ask about something that is there: ``mass``, the share of the weights that
            lies on it, and ``argmax``, how often the largest does, for the cross-attention of
            ``<sos>`` in the mean over all layers and heads; ``chance``, what even weights
            would give for both.

        Raises
        ------
        ValueError
            If there are no examples, or one has a word that was not in training.
        """
        _check_some(examples)
        right, maps = [], []
        for start in range(0, len(examples), AT_A_TIME):
            some = examples[start : start + AT_A_TIME]
            batch = [(example.image, self._encode(example.question), 0) for example in some]
            image, ids, lengths, _ = collate(batch)
            mask = padding_mask(lengths, ids.shape[1])
            logits, (_, cross) = self.model(image, ids, mask, need_weights=True)
            found = [self.answers[i] for i in logits.argmax(dim=-1)]
            right += [text == example.answer for text, example in zip(found, some, strict=True)]
            maps.append(torch.stack(cross)[:, :, :, 0].mean(dim=(0, 2)).numpy())
        right, maps = np.array(right), np.concatenate(maps)
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

    def save(self, folder, *, quantised=False):
        """Write the answerer to a folder, replacing it only at the end.

        Parameters
        ----------
        folder : str or Path
        quantised : bool, default False
            Whether to round the weights to int8: a quarter of the size, and what the page reads.

        Raises
        ------
        ValueError
            If something else than such an answerer has this name, or it cannot be written.
        """
        with whole_folder(folder, {"format": FORMAT, "answers": self.answers}) as unfinished:
            self.model.save(unfinished / "model.safetensors", quantised=quantised)
            self.tokenizer.save(unfinished / "questions.json")

    @classmethod
    def load(cls, folder):
        """Read an answerer that `save` wrote.

        Parameters
        ----------
        folder : str or Path

        Returns
        -------
        VisualQuestionAnswerer

        Raises
        ------
        ValueError
            If there is none, or it is damaged.
        """
        folder = Path(folder)
        answers = read_folder(folder, FORMAT).get("answers")
        tokenizer = WordTokenizer.load(folder / "questions.json")
        model = VisualQuestionModel.load(folder / "model.safetensors")
        sizes = (model.config.vocab_size, model.config.tgt_vocab_size)
        if not isinstance(answers, list) or sizes != (tokenizer.vocab_size, len(answers)):
            raise wrong("folder", "a model with the words and answers it learned", folder)
        return cls(model, tokenizer, answers)

    @classmethod
    def pretrained(cls):
        """Read the answerer that comes with the course, which knows both languages.

        ``python -m benchmarks.applications model`` trains it.

        Returns
        -------
        VisualQuestionAnswerer

        Examples
        --------
        >>> from attn.applications.visual_question import Thing, draw
        >>> image = draw([Thing("ball", "red", 1, 4)], np.random.default_rng(0))
        >>> answerer = VisualQuestionAnswerer.pretrained()
        >>> answerer.answer(image, "¿De qué color es el balón?").text
        'rojo'
        >>> answerer.answer(image, "What colour is the ball?").text
        'red'
        """
        return cls.load(Path(__file__).parents[1] / "models" / "visual_question")

    def _encode(self, question):
        ids = self.tokenizer.encode(question, sos=True)
        if len(ids) == 1:
            raise wrong("question", "a question", repr(question))
        unknown = self.tokenizer.unknown(question)
        if unknown:
            raise wrong("question", "words of the questions in training", ", ".join(unknown))
        return ids

    @torch.no_grad()
    def _run(self, image, question, *, need_weights=False):
        size = (N_ROWS * PATCH_SIZE, N_COLUMNS * PATCH_SIZE, 3)
        if not isinstance(image, np.ndarray) or image.dtype != np.uint8:
            raise wrong("image", "an array of uint8", getattr(image, "dtype", type(image).__name__))
        check_shape("image", image, size)
        ids = torch.tensor(self._encode(question))
        return self.model(torch.from_numpy(image), ids, need_weights=need_weights)


def _check_some(examples):
    if not len(examples):
        raise wrong("examples", "at least one", "none")
