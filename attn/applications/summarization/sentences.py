"""A text as a list of sentences, and its first sentences as a baseline."""

import re

from attn._checks import check_size
from attn.tokenizer.text import check_text


def sentences_of(text: str) -> list[str]:
    """Cut a text after each full stop, question mark or exclamation mark before a space.

    Examples
    --------
    >>> sentences_of('It costs 3.50 euros. "Too much!" said Ana.')
    ['It costs 3.50 euros.', '"Too much!" said Ana.']
    """
    return re.split(r"(?<=[.?!])\s+", check_text("text", text).strip())


def lead(text: str, n_sentences: int = 1) -> str:
    """Return the first sentences of a text, the usual baseline of a summary.

    In a newspaper this baseline is hard to beat, because the first sentence tells the most. In the
    stories of the course the sentences are shuffled, so it is no better than a random choice.

    Examples
    --------
    >>> lead("Schools stayed closed. A storm hit Lima on Friday.")
    'Schools stayed closed.'
    """
    return " ".join(sentences_of(text)[: check_size("n_sentences", n_sentences, least=1)])
