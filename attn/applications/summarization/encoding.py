"""From a text to what the Transformer reads."""

from attn._checks import wrong
from attn.tokenizer.base import check_text


def encode(tokenizer, name, text):
    """Return the ids of a text; refuse one that has none, by the `name` of the argument."""
    ids = tokenizer.encode(check_text(name, text))
    if not ids:
        raise wrong(name, "at least one word", repr(text))
    return ids
