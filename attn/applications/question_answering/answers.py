"""An answer: words quoted from the passage, or none."""

from typing import NamedTuple

from attn.applications.question_answering.encoding import Encoded
from attn.applications.question_answering.spans import MAX_WORDS
from attn.tokenizer.words import join


class Answer(NamedTuple):
    """The answer in a passage.

    Attributes
    ----------
    text : str
        Words of the context; empty if the context does not tell.
    start, end : int or None
        The words are ``split(context)[start:end]``, with `attn.tokenizer.words.split`.
    probability : float
        The probability of this answer among all spans of up to `MAX_WORDS` words and "no
        answer".
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
