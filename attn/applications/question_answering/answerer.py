"""Answers to questions about a passage, quoted from the passage."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attn._checks import argument_error
from attn.applications._application import Application, Sizes, configured, read_words
from attn.applications._folder import About
from attn.applications._sequences import are_texts, check_fits, listed, placed
from attn.applications.question_answering.encoding import (
    Answer,
    Encoded,
    collate,
    encode,
    quote,
    words_of,
)
from attn.applications.question_answering.spans import SpanReader, flat_logits, span_loss
from attn.metrics import exact_match
from attn.metrics.text import as_array
from attn.tokenizer import WordTokenizer
from attn.tokenizer.words import join
from attn.training import History, TrainingConfig
from attn.training.loss import at_least_float32

# The answers depend on which words are neighbours, so rotary positions serve best.
SIZES: dict[str, Any] = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 3,
    "d_ff": 128,
    "dropout": 0.0,
    "norm": "pre",
    "positions": "rotary",
}
TRAINING = TrainingConfig(
    steps=1500, batch_size=32, learning_rate=4e-3, label_smoothing=0.0, device="cpu"
)
MIN_COUNT = 5

# Context, question, answer, and the index in the context of the first word of the answer.
Example: TypeAlias = tuple[str, str, str, int | None]


class ReadingAttention(NamedTuple):
    """The attention weights while a question is answered.

    Attributes
    ----------
    tokens : list of str
        ``<sos>``, the question, ``<eos>``, the context.
    weights : array, shape (n_layers, n_heads, seq_len, seq_len)
    """

    tokens: list[str]
    weights: NDArray[np.floating]


class QuestionAnswerer(Application[SpanReader]):
    """Answers questions about a passage with a span of its words.

    Parameters
    ----------
    marks_question_words : bool
        Whether the reader sees which words of the context also occur in the question.

    References
    ----------
    Rajpurkar et al. (2016), SQuAD; Devlin et al. (2019), section 4.3.

    Examples
    --------
    >>> training = TrainingConfig(steps=2, label_smoothing=0.0)
    >>> read = ("Rita sold the car. Paul bought it.", "Who sold the car?", "Rita", 0)
    >>> answerer = QuestionAnswerer.fit([read] * 5, training=training)
    >>> context = "The first general-purpose electronic computer, ENIAC, was completed in 1945."
    >>> answer = answerer.answer(context, "When was the first computer invented?")
    >>> 0 < answer.probability < 1  # two steps are not enough to know
    True
    """

    _format, _model_class = "attn question answerer 1", SpanReader
    _model_file = "reader.safetensors"

    def __init__(
        self,
        model: SpanReader,
        tokenizer: WordTokenizer,
        marks_question_words: bool,
        history: History | None = None,
    ) -> None:
        super().__init__(model, history)
        self.tokenizer, self.marks_question_words = tokenizer, marks_question_words

    @classmethod
    def fit(
        cls,
        examples: Iterable[Example],
        *,
        sizes: Sizes = (),
        training: TrainingConfig = TRAINING,
        marks_question_words: bool = True,
    ) -> Self:
        """Learn from questions and their answers.

        Parameters
        ----------
        examples : iterable of (context, question, answer, start)
            Three texts, and the index in the context of the first word of the answer. If the
            context does not tell, the answer is empty and `start` is None.
        sizes : dict, optional
            Fields of `attn.transformer.TransformerConfig` that replace those of `SIZES`.
        training : attn.training.TrainingConfig, optional
            The default has no label smoothing, which would give some probability to every span of
            the context.
        marks_question_words : bool, default True
            See `SpanReader`. Without the marks, training of the default length fails.

        Raises
        ------
        ValueError
            If there are no examples, an answer is not at its `start`, an example is longer than the
            learned positions, or an argument is wrong.
        """
        examples = _checked(examples)
        # Rare words get no id, so that training meets <unk>.
        texts = (text for example in examples for text in example[:2])
        tokenizer = WordTokenizer.train(texts, min_count=MIN_COUNT)
        encoded = [encode(tokenizer, marks_question_words, *example) for example in examples]
        config = configured(SIZES, sizes, tokenizer.vocab_size)
        for i, one in enumerate(encoded):
            check_fits(f"examples[{i}]", len(one.ids), config)
        model, history = cls._train(
            lambda: SpanReader(config),
            span_loss,
            encoded,
            collate,
            training,
            length=lambda one: len(one.ids),
        )
        return cls(model, tokenizer, marks_question_words, history)

    def answer(self, context: str, question: str) -> Answer:
        """Answer a question by quoting; words that were rare in training can be quoted too.

        Raises
        ------
        ValueError
            If a text has no words, or both together are longer than the learned positions.
        """
        return self._answer([self._encode(context, question)])[0]

    def attention(self, context: str, question: str) -> ReadingAttention:
        """Return the attention weights with which `answer` finds its answer, with its errors."""
        encoded = self._encode(context, question)
        batch = self._batch([encoded])
        with torch.no_grad():
            *_, weights = self.model(
                batch["ids"], batch["roles"], batch["lengths"], need_weights=True
            )
        return ReadingAttention(encoded.tokens, as_array(torch.cat(weights)))

    def evaluate(self, examples: Iterable[Example]) -> dict[str, Any]:
        """Compare answers with the right ones, of examples as in `fit`.

        Returns
        -------
        dict
            ``exact_match``, the fraction of right answers, where "no answer" is one of them;
            ``knows_if``, the fraction of questions for which the model is right about whether there
            is an answer; ``n_questions``.

        Raises
        ------
        ValueError
            If there are no examples, or a text has no words.
        """
        examples = _checked(examples)
        encoded = [self._encode(*example[:2]) for example in examples]
        found = [answer.text for answer in self._answer(encoded)]
        right = [join(words_of("answer", answer)) if answer else "" for _, _, answer, _ in examples]
        return {
            "exact_match": exact_match(found, right),
            "knows_if": exact_match([*map(bool, found)], [*map(bool, right)]),
            "n_questions": len(right),
        }

    def _about(self) -> About:
        return {"marks_question_words": self.marks_question_words}

    def _vocabularies(self) -> dict[str, WordTokenizer]:
        return {"words": self.tokenizer}

    @classmethod
    def _from_folder(cls, folder: Path, about: About, model: SpanReader) -> Self:
        marks = about.get("marks_question_words")
        if not isinstance(marks, bool):
            raise argument_error(
                "folder", "marks_question_words to be true or false", f"{folder}: {marks!r}"
            )
        return cls(model, read_words(folder, model.config.vocab_size), marks)

    def _encode(self, context: str, question: str) -> Encoded:
        encoded = encode(self.tokenizer, self.marks_question_words, context, question)
        check_fits("context and question", len(encoded.ids), self.model.config)
        return encoded

    def _answer(self, encoded: Sequence[Encoded]) -> list[Answer]:
        return self._in_batches(encoded, self._answer_batch, length=lambda one: len(one.ids))

    @torch.no_grad()
    def _answer_batch(self, encoded: list[Encoded]) -> Iterable[Answer]:
        logits = flat_logits(self.model, self._batch(encoded))
        probabilities, spans = logits.softmax(dim=-1, dtype=at_least_float32(logits)).max(dim=-1)
        return map(quote, encoded, spans.tolist(), probabilities.tolist())

    def _batch(self, encoded: list[Encoded]) -> dict[str, Tensor]:
        batch = collate(encoded)
        return dict(zip(batch, placed(self.model, *batch.values()), strict=True))


def _checked(examples: Iterable[Example]) -> list[Example]:
    """Return examples as a list; refuse an empty list and items that are no examples."""

    def is_one(example: Any) -> bool:
        if not isinstance(example, (tuple, list)) or len(example) != 4:
            return False
        start = example[3]
        is_place = (
            isinstance(start, (int, np.integer)) and not isinstance(start, bool) and start >= 0
        )
        return are_texts(*example[:3]) and (start is None or bool(is_place and example[2]))

    wanted = "(context, question, answer, start), or with an answer of '' and None for start"
    return listed("examples", examples, wanted, is_one, "example")
