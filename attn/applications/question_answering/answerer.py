"""Answers to questions about a passage: the words of the passage that tell."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from attn._checks import wrong
from attn.applications._folder import read_folder, whole_folder
from attn.applications._sequences import by_length
from attn.applications.question_answering.encoding import collate, encode
from attn.applications.question_answering.facts import questions
from attn.applications.question_answering.spans import MAX_WORDS, SpanReader, span_logits
from attn.metrics import exact_match
from attn.tokenizer import WordTokenizer
from attn.tokenizer.words import join
from attn.training import TrainingConfig, cross_entropy, train
from attn.transformer import TransformerConfig

FORMAT = "attn question answerer 1"
# What is asked is who stands beside whom: positions relative to each other serve best.
SIZES = {
    "d_model": 64, "n_heads": 4, "n_layers": 3, "d_ff": 128, "dropout": 0.0,
    "norm": "pre", "positions": "rotary",
}  # fmt: skip
TRAINING = TrainingConfig(
    steps=1500, batch_size=32, learning_rate=4e-3, label_smoothing=0.0, device="cpu"
)
N_EXAMPLES = 16000
MIN_COUNT = 5


class Answer(NamedTuple):
    """What a passage answers.

    Attributes
    ----------
    text : str
        Words of the context; empty if it does not tell.
    start, end : int or None
        They are ``split(context)[start:end]``, with `attn.tokenizer.words.split`.
    probability : float
        Of this answer among all spans of up to `MAX_WORDS` words and none.
    """

    text: str
    start: int | None
    end: int | None
    probability: float


class ReadingAttention(NamedTuple):
    """Who attends to whom while a question is answered.

    Attributes
    ----------
    tokens : list of str
        ``<sos>``, the question, ``<eos>``, the context.
    weights : array, shape (n_layers, n_heads, seq_len, seq_len)
    """

    tokens: list[str]
    weights: np.ndarray


class QuestionAnswerer:
    """Answers questions about a passage with a span of its words.

    Parameters
    ----------
    reader : SpanReader
    tokenizer : WordTokenizer
    marks_question_words : bool
        Whether the reader is told which words of the context the question has too.
    history : attn.training.History, optional
        What became of the loss in training.

    References
    ----------
    Rajpurkar et al. (2016), SQuAD; Devlin et al. (2019), section 4.3. Document 000, section
    3.3.4, on question answering.

    Examples
    --------
    >>> training = TrainingConfig(steps=2, label_smoothing=0.0)
    >>> answerer = QuestionAnswerer.fit(questions(50, seed=0), training=training)
    >>> context = "The first general-purpose electronic computer, ENIAC, was completed in 1945."
    >>> answer = answerer.answer(context, "When was the first computer invented?")
    >>> 0 < answer.probability < 1  # two steps are not enough to know
    True
    """

    def __init__(self, reader, tokenizer, marks_question_words, history=None):
        self.reader, self.tokenizer = reader.cpu().eval(), tokenizer
        self.marks_question_words, self.history = marks_question_words, history

    @classmethod
    def fit(cls, examples=None, *, sizes=(), training=TRAINING, marks_question_words=True):
        """Learn from questions and their answers.

        Parameters
        ----------
        examples : list of Question, optional
            Those of `questions`, with the seed of `training`, if not given.
        sizes : dict, optional
            Of `attn.transformer.TransformerConfig`, where they are to differ from `SIZES`.
        training : attn.training.TrainingConfig, optional
            Without label smoothing: it gives a little to every span, and most are none.
        marks_question_words : bool, default True
            See `SpanReader`. Without the marks, training of this length fails.

        Returns
        -------
        QuestionAnswerer

        Raises
        ------
        ValueError
            If there are no examples, an answer is not where it is said to be, or an argument
            is not as above.
        """
        if training.label_smoothing:
            raise wrong("training", "label_smoothing = 0", training.label_smoothing)
        examples = questions(N_EXAMPLES, training.seed) if examples is None else list(examples)
        # Rare words have no id of their own, so that training meets the unknown.
        texts = (text for example in examples for text in example[:2])
        tokenizer = WordTokenizer.train(texts, min_count=MIN_COUNT)
        encoded = [encode(tokenizer, marks_question_words, *example) for example in examples]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(training.seed)
            reader = SpanReader(TransformerConfig(tokenizer.vocab_size, **{**SIZES, **dict(sizes)}))
        history = train(
            reader, span_loss, encoded, collate, training, length=lambda one: len(one.ids)
        )
        return cls(reader, tokenizer, marks_question_words, history)

    def answer(self, context, question):
        """Answer a question.

        Parameters
        ----------
        context, question : str
            A word that was rare in training is read as unknown, and can be an answer.

        Returns
        -------
        Answer

        Raises
        ------
        ValueError
            If a text has no words.
        """
        return self._answer([self._encode(context, question)])[0]

    def attention(self, context, question):
        """Return the attention weights with which a question is answered.

        Parameters
        ----------
        context, question : str

        Returns
        -------
        ReadingAttention

        Raises
        ------
        ValueError
            As `answer` does.
        """
        encoded = self._encode(context, question)
        batch = collate([encoded])
        with torch.inference_mode():
            *_, weights = self.reader(
                batch["ids"], batch["roles"], batch["lengths"], need_weights=True
            )
        return ReadingAttention(encoded.tokens, torch.cat(weights).numpy())

    def evaluate(self, examples):
        """Compare answers with the right ones.

        Parameters
        ----------
        examples : list of Question

        Returns
        -------
        dict
            ``exact_match``, the fraction of right answers, none included; ``knows_if``, the
            fraction where it is right about whether there is an answer; ``n_questions``.

        Raises
        ------
        ValueError
            If there are no examples, or a text has no words.
        """
        encoded = [self._encode(*example[:2]) for example in examples]
        found = [answer.text for answer in self._answer(encoded)]
        right = [example.answer for example in examples]
        return {
            "exact_match": exact_match(found, right),
            "knows_if": exact_match([*map(bool, found)], [*map(bool, right)]),
            "n_questions": len(right),
        }

    def save(self, folder):
        """Write model and vocabulary to a folder, replacing it only at the end.

        Parameters
        ----------
        folder : str or Path

        Raises
        ------
        ValueError
            If something else than a question answerer has this name, or it cannot be written.
        """
        about = {"format": FORMAT, "marks_question_words": self.marks_question_words}
        with whole_folder(folder, about) as unfinished:
            self.reader.save(unfinished / "reader.safetensors")
            self.tokenizer.save(unfinished / "words.json")

    @classmethod
    def load(cls, folder):
        """Read a question answerer that `save` wrote.

        Parameters
        ----------
        folder : str or Path

        Returns
        -------
        QuestionAnswerer
            Without its history.

        Raises
        ------
        ValueError
            If there is none, or it is damaged.
        """
        about, folder = read_folder(folder, FORMAT), Path(folder)
        marks = about.get("marks_question_words")
        if not isinstance(marks, bool):
            raise wrong(
                "folder", "marks_question_words to be true or false", f"{folder}: {marks!r}"
            )
        reader = SpanReader.load(folder / "reader.safetensors")
        return cls(reader, WordTokenizer.load(folder / "words.json"), marks)

    def _encode(self, context, question):
        return encode(self.tokenizer, self.marks_question_words, context, question)

    @torch.inference_mode()
    def _answer(self, encoded):
        """Answer encoded questions, those of about one length together."""
        answers = [None] * len(encoded)
        for some in by_length([one.ids for one in encoded]):
            logits = _flat_logits(self.reader, collate([encoded[i] for i in some]))
            probabilities, spans = logits.softmax(dim=-1).max(dim=-1)
            for i, p, span in zip(some, probabilities.tolist(), spans.tolist(), strict=True):
                answers[i] = _quote(encoded[i], span, p)
        return answers


def span_loss(reader, batch):
    """Return the sum of ``-log p(right span)``, among all spans of a context, and their number."""
    return cross_entropy(_flat_logits(reader, batch), batch["span"])


def _flat_logits(reader, batch):
    start, end, _ = reader(batch["ids"], batch["roles"], batch["lengths"])
    return span_logits(start, end, batch["roles"]).flatten(1)


def _quote(encoded, span, probability):
    start, more = divmod(span, MAX_WORDS)
    if start == 0:
        return Answer("", None, None, probability)
    text = join(encoded.tokens[start : start + more + 1])
    start -= encoded.n_before
    return Answer(text, start, start + more + 1, probability)
