"""A text as the ids that the Transformer reads."""

from attn._checks import wrong
from attn.tokenizer.base import Tokenizer
from attn.tokenizer.text import check_text


def encode(tokenizer: Tokenizer, name: str, text: str) -> list[int]:
    """Return the ids of a text; an error for a text without words names the argument `name`."""
    ids = tokenizer.encode(check_text(name, text))
    if not ids:
        raise wrong(name, "at least one word", repr(text))
    return ids
