"""A passage and a question as the ids that the model reads, and an answer as a span of them."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attn._checks import argument_error
from attn.applications.question_answering.spans import CONTEXT, MARKED, MAX_WORDS, OUTSIDE
from attn.tokenizer import WordTokenizer
from attn.tokenizer.text import check_text
from attn.tokenizer.words import join, normalise, split
from attn.training import pad


class Encoded(NamedTuple):
    """One sequence: ``<sos>``, the question, ``<eos>``, the context.

    `tokens` are texts, for figures and answers; the context begins at position `n_before`; `span`
    is the index of the right span in the flat logits of one example, or 0 if there is no answer.
    """

    tokens: list[str]
    ids: list[int]
    roles: list[int]
    n_before: int
    span: int


def encode(
    tokenizer: WordTokenizer,
    marks_question_words: bool,
    context: str,
    question: str,
    answer: str = "",
    start: int | None = None,
) -> Encoded:
    """Encode a question and, to train on it, its answer, which begins at word `start` of the context.

    With `marks_question_words`, words of the context that occur in the question get the role
    `MARKED`. The texts of the words are compared, so that two unknown words differ.
    """
    asked, told = words_of("question", question), words_of("context", context)
    ids = tokenizer.encode(question, sos=True, eos=True) + tokenizer.encode(context)
    n_before = len(asked) + 2
    marked = {word.lower() for word in asked} if marks_question_words else set()
    roles = [OUTSIDE] * n_before
    roles += [MARKED if word.lower() in marked else CONTEXT for word in told]
    span = 0
    if answer:
        words = words_of("answer", answer)
        if len(words) > MAX_WORDS:
            raise argument_error("answer", f"at most {MAX_WORDS} words", len(words))
        if start is None or told[start : start + len(words)] != words:
            raise argument_error(
                "answer", f"words of the context from start = {start}", repr(answer)
            )
        span = (n_before + start) * MAX_WORDS + len(words) - 1
    return Encoded(["<sos>", *asked, "<eos>", *told], ids, roles, n_before, span)


def words_of(name: str, text: str) -> list[str]:
    """Return the words of a text as they are written; refuse one that has none."""
    words = split(normalise(check_text(name, text), lowercase=False))
    if not words:
        raise argument_error(name, "at least one word", repr(text))
    return words


def collate(some: Sequence[Encoded]) -> dict[str, Tensor]:
    """Return ``ids`` and ``roles``, (batch_size, seq_len), ``lengths`` and ``span``, (batch_size,)."""
    ids, lengths = pad([one.ids for one in some], pad_id=0)
    roles, _ = pad([one.roles for one in some], pad_id=OUTSIDE)
    span = torch.tensor([one.span for one in some])
    return {"ids": ids, "roles": roles, "lengths": lengths, "span": span}


class Answer(NamedTuple):
    """The answer in a passage.

    Attributes
    ----------
    text : str
        Words of the context; empty if the context does not tell.
    start, end : int or None
        The words are ``split(context)[start:end]``, with `attn.tokenizer.words.split`.
    probability : float
        Of this answer among all spans of up to `MAX_WORDS` words and "no answer".
    """

    text: str
    start: int | None
    end: int | None
    probability: float


def quote(encoded: Encoded, span: int, probability: float) -> Answer:
    """Return the answer of a span, given by its index in the flat logits of one example."""
    start, more = divmod(span, MAX_WORDS)
    if start == 0:
        return Answer("", None, None, probability)
    text = join(encoded.tokens[start : start + more + 1])
    start -= encoded.n_before
    return Answer(text, start, start + more + 1, probability)
