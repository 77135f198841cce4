"""A text as a list of sentences, and the first of them: the summary to beat."""

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
    """Return the first sentences of a text: the summary to beat.

    In a newspaper it is hard to beat, since the first sentence tells the most. In `stories`
    the sentences are shuffled, and it is as good as any.

    Examples
    --------
    >>> lead("Schools stayed closed. A storm hit Lima on Friday.")
    'Schools stayed closed.'
    """
    return " ".join(sentences_of(text)[: check_size("n_sentences", n_sentences, least=1)])
