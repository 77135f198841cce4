"""Lines of text through a translator, however many there are: few of them are held at a time."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from attn._checks import wrong
from attn.applications.translation.translator import Translator

AT_ONCE = 1024


class TranslatedLine(NamedTuple):
    """What became of a line.

    Attributes
    ----------
    translation : str
        Empty where there is none.
    n_tokens : int
        How many tokens were written for it, the end included.
    problem : str
        Why there is no translation; empty where nothing was wrong, as with an empty line.
    """

    translation: str = ""
    n_tokens: int = 0
    problem: str = ""


def read_lines(path: str | Path, tell: Callable[[int], None]) -> Iterator[str]:
    """Yield the lines of a file as they are asked for, since it may be larger than memory.

    Bytes that are no UTF-8 do not cost the rest of the file, nor of the line: each run of them is
    read as a replacement character.

    Parameters
    ----------
    path : str or Path
    tell : callable, (int) -> None
        Called with the number of each line that has such bytes, before it is yielded.

    Yields
    ------
    str

    Raises
    ------
    ValueError
        If there is no such file, or it cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "some.txt"
    ...     _ = path.write_bytes(b"caf\\xc3\\xa9\\ncaf\\xe9\\n")
    ...     list(read_lines(path, lambda number: print("line", number)))
    line 2
    ['café\\n', 'caf\ufffd\\n']
    """
    try:
        # Some editors begin a file with a byte-order mark, which is no part of its first line.
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as file:
            for number, line in enumerate(file, 1):
                mended = line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                if mended != line:
                    tell(number)
                yield mended
    except OSError as error:
        raise wrong(str(path), "a text file that can be read", error.strerror) from None


def translate_lines(
    translator: Translator, lines: Iterable[str], *,
    beam_width: int = 1, length_penalty: float = 0.0,
) -> Iterator[TranslatedLine]:  # fmt: skip
    """Translate lines in their order, reading no more than `AT_ONCE` ahead.

    Parameters
    ----------
    translator : Translator
    lines : iterable of str
        A sentence each, or nothing. White space around it does not count.
    beam_width, length_penalty
        As in `Translator.translate`.

    Yields
    ------
    TranslatedLine
        One for each line: what cannot be translated has its place too.

    Raises
    ------
    ValueError
        If an option is out of range, or the lines are one text.

    Examples
    --------
    >>> lines = ["The red house.\\n", "\\n", 1000 * "the "]
    >>> found = list(translate_lines(Translator.pretrained(), lines))
    >>> [line.translation != "" for line in found]
    [True, False, False]
    >>> found[2].problem.startswith("text: expected at most")
    True
    """
    if isinstance(lines, str):
        raise wrong("lines", "several texts", "one")
    lines = iter(lines)
    while some := list(itertools.islice(lines, AT_ONCE)):
        found = [TranslatedLine()] * len(some)
        sources = {}
        for place, text in enumerate(map(str.strip, some)):
            try:
                if text:
                    sources[place] = translator.source_ids(text)
            except ValueError as error:
                found[place] = TranslatedLine(problem=str(error))
        written = translator._write(list(sources.values()), beam_width, length_penalty)
        for place, ids in zip(sources, written, strict=True):
            found[place] = TranslatedLine(translator.target.decode(ids), len(ids))
        yield from found
