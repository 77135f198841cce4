"""The lines of a text, as every part of the package reads them: UTF-8, however its lines end."""

import re
from collections.abc import Callable, Iterator
from os import PathLike
from typing import NamedTuple

from attn._checks import argument_error

# The limit is in bytes. A longer line is not a sentence, and a binary file may have no line ends.
MAX_LINE = 2**16
CHUNK = 2**16
_END = re.compile(rb"\r\n|\n|\r")
# Some editors begin a file with the byte order mark of UTF-8, which is not part of the text. The
# marks of UTF-32 come before those of UTF-16, because a mark of UTF-32 begins with one of UTF-16.
_MARK = b"\xef\xbb\xbf"
_OTHER_MARKS = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


class Line(NamedTuple):
    """A line without its line end, or an empty one with the problem that made it unreadable."""

    text: str
    problem: str = ""


def read_lines(path: str | PathLike[str]) -> Iterator[Line]:
    """Yield the lines of a file one by one, since the file may be larger than memory.

    Raises
    ------
    ValueError
        If the file cannot be read, or is UTF-16 or UTF-32, as some programs save text.
    """
    try:
        with open(path, "rb") as file:
            yield from lines_of(file.read, str(path))
    except OSError as error:
        raise argument_error(str(path), "a text file that can be read", error.strerror) from None


def lines_of(read: Callable[[int], bytes], name: str) -> Iterator[Line]:
    """Yield the lines of the bytes that `read(n)` returns, at most n at a time."""
    for line in _pieces(read, name):
        if line is None:
            yield Line("", f"longer than {MAX_LINE} bytes")
        elif (place := line.find(0)) >= 0:
            yield Line("", f"the character NUL at byte {place}: take it out, or save it as UTF-8")
        else:
            try:
                yield Line(line.decode())
            except UnicodeDecodeError as error:
                yield Line("", f"no UTF-8 at byte {error.start}: save it as UTF-8")


def _pieces(read: Callable[[int], bytes], name: str) -> Iterator[bytes | None]:
    """Yield lines without their ends, None for one that is too long."""
    held, too_long, chunk = b"", False, _begun(read, name)
    while chunk:
        held += chunk
        # A final carriage return may be the first half of \r\n, so it waits for the next chunk.
        cut = len(held) - held.endswith(b"\r")
        *lines, rest = _END.split(held[:cut])
        held = rest + held[cut:]
        for line in lines:
            yield None if too_long or len(line) > MAX_LINE else line
            too_long = False
        if len(rest) > MAX_LINE:
            held, too_long = held[len(rest) :], True
        chunk = read(CHUNK)
    if held or too_long:
        line = held.removesuffix(b"\r")
        yield None if too_long or len(line) > MAX_LINE else line


def _begun(read: Callable[[int], bytes], name: str) -> bytes:
    """Return the first bytes of a text without the byte order mark; refuse other encodings."""
    begun = b""
    while len(begun) < 4 and b"\n" not in begun and (more := read(CHUNK)):
        begun += more
    kind = next((kind for mark, kind in _OTHER_MARKS.items() if begun.startswith(mark)), None)
    if kind is None and 4 * begun.count(0) > len(begun):
        kind = "NUL characters, as in UTF-16 or in no text at all"
    if kind is not None:
        raise argument_error(name, "text that is saved as UTF-8", kind)
    return begun.removeprefix(_MARK)
