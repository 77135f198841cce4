"""Pairs from a user's own file: tab-separated text, as Tatoeba and Anki export it."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from os import PathLike

from attn._checks import argument_error, check_size
from attn._lines import Line, read_lines
from attn.corpus.pair import Pair

MAX_KEPT = 1000


@dataclass(frozen=True)
class Problem:
    """A line without a pair: its number, counted from 1, and the reason."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


class PairReader:
    """What `read_pairs` returns: pairs to iterate over, and the problems met on the way.

    Attributes
    ----------
    problems : list of Problem
        The first 1,000 lines that the latest iteration has left out.
    n_problems : int
        The number of all lines left out.
    """

    def __init__(self, path: str | PathLike[str], columns: tuple[int, int]) -> None:
        self._path, self._columns = path, columns
        self.problems: list[Problem] = []
        self.n_problems = 0

    def __iter__(self) -> Iterator[Pair]:
        self.problems, self.n_problems = [], 0
        seen: set[bytes] = set()
        for number, line in enumerate(read_lines(self._path), start=1):
            try:
                pair = self._pair(line)
            except _Bad as bad:
                self._report(number, str(bad))
                continue
            if pair is None:
                continue
            # Only an eight-byte digest of each pair is kept, because the text may not fit into
            # memory.
            digest = blake2b(f"{pair.source}\t{pair.target}".encode(), digest_size=8).digest()
            if digest in seen:
                self._report(number, "a pair that was there before")
                continue
            seen.add(digest)
            yield pair

    def _pair(self, line: Line) -> Pair | None:
        """Return the pair of a line, or None if the line is empty."""
        if line.problem:
            raise _Bad(line.problem)
        if not line.text.strip():
            return None
        cells = [normalise(cell) for cell in line.text.split("\t")]
        if len(cells) <= max(self._columns):
            raise _Bad(f"{len(cells)} column{'s' * (len(cells) > 1)} between tabs")
        source, target = (cells[column] for column in self._columns)
        if not source or not target:
            raise _Bad("one side is empty")
        return Pair(source, target)

    def _report(self, number: int, reason: str) -> None:
        self.n_problems += 1
        if len(self.problems) < MAX_KEPT:
            self.problems.append(Problem(number, reason))


def read_pairs(path: str | PathLike[str], columns: tuple[int, int] = (0, 1)) -> PairReader:
    """Read pairs from a file of tab-separated lines: a text, a tab, its translation.

    The file is read during the iteration, so it may be larger than memory, and each iteration reads
    it anew. Lines that give no pair are counted and kept in ``problems``: lines without a tab or
    with an empty side, lines that are not UTF-8 or hold the character NUL, lines longer than 65,536
    bytes, and repeated pairs. Empty lines are skipped. Texts are brought to Unicode's composed form
    (NFC), with one space between words.

    Parameters
    ----------
    path : str or Path
        The file: UTF-8 with or without a byte order mark, lines ending in LF, CRLF or CR.
    columns : tuple of (int, int), default (0, 1)
        Which columns hold source and target, counted from 0; the others are ignored. Tatoeba's own
        export, with a number before each text, needs ``(1, 3)``.

    Raises
    ------
    ValueError
        If `columns` are not two different columns; while iterating, if the file cannot be read, or
        is UTF-16 or UTF-32.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/pairs.tsv"
    ...     with open(path, "wb") as file:
    ...         _ = file.write("the sky\\tel cielo\\tCC-BY\\r\\n\\r\\nthe sea\\r\\n".encode())
    ...     reader = read_pairs(path)
    ...     pairs = list(reader)
    >>> [(pair.source, pair.target) for pair in pairs]
    [('the sky', 'el cielo')]
    >>> print(*reader.problems)
    line 3: 1 column between tabs
    """
    try:
        source, target = (check_size("columns", column) for column in columns)
    except TypeError:
        raise argument_error("columns", "two columns", repr(columns)) from None
    except ValueError as error:
        if str(error).startswith("columns:"):
            raise
        raise argument_error("columns", "two columns", repr(columns)) from None
    if source == target:
        raise argument_error("columns", "two different columns", repr(columns))
    return PairReader(path, (source, target))


class _Bad(Exception):
    """Raised for a line that gives no pair, with the reason."""


def normalise(text: str) -> str:
    """Return a text with its accented letters composed and single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())
