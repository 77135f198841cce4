"""The check of texts: strings that UTF-8 can encode."""

from collections.abc import Iterable, Iterator

from attn._checks import argument_error


def check_text(name: str, text: str) -> str:
    """Return `text` if it is a string that UTF-8 can encode; otherwise raise ``ValueError``."""
    if not isinstance(text, str):
        raise argument_error(name, "a string", type(text).__name__)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        got = f"the lone surrogate {text[error.start]!r} at index {error.start}"
        raise argument_error(name, "characters", got) from None
    return text


def check_texts(texts: Iterable[str]) -> Iterator[str]:
    """Yield each of `texts`, checked; refuse a single string, whose items would be letters."""
    if isinstance(texts, str):
        raise argument_error("texts", "a list of strings", "one string")
    for text in texts:
        yield check_text("texts", text)
