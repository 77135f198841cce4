"""From a text to what the Transformer reads."""

from attn._checks import wrong
from attn.tokenizer.base import Tokenizer
from attn.tokenizer.text import check_text


def encode(tokenizer: Tokenizer, name: str, text: str) -> list[int]:
    """Return the ids of a text; refuse one that has none, by the `name` of the argument."""
    ids = tokenizer.encode(check_text(name, text))
    if not ids:
        raise wrong(name, "at least one word", repr(text))
    return ids
