"""Translate a text of any length line by line, with few lines in memory."""

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from attn._checks import argument_error
from attn._lines import Line
from attn.applications.translation.translator import Translator

AT_ONCE = 1024


class TranslatedLine(NamedTuple):
    """The translation of a line, or the reason why there is none.

    Attributes
    ----------
    translation : str
        Empty where there is none.
    n_tokens : int
        The number of tokens that were written, the end token included.
    problem : str
        The reason why there is no translation. It is empty for an empty line.
    """

    translation: str = ""
    n_tokens: int = 0
    problem: str = ""


def translate_lines(
    translator: Translator,
    lines: Iterable[str | Line],
    *,
    beam_width: int = 1,
    length_penalty: float = 0.0,
) -> Iterator[TranslatedLine]:
    """Translate lines in their order, reading no more than `AT_ONCE` ahead.

    Parameters
    ----------
    translator : Translator
    lines : iterable of str or Line
        Each line is one sentence or empty. White space around it does not count. A `Line` with
        a problem, from `attn._lines.read_lines`, is not translated.
    beam_width, length_penalty
        As in `Translator.translate`.

    Yields
    ------
    TranslatedLine
        One for each line, also for those that cannot be translated.

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
        raise argument_error("lines", "several texts", "one")
    lines = iter(lines)
    while some := list(itertools.islice(lines, AT_ONCE)):
        found = [TranslatedLine()] * len(some)
        sources = {}
        for place, line in enumerate(some):
            text, problem = line if isinstance(line, Line) else (line, "")
            try:
                if problem:
                    found[place] = TranslatedLine(problem=problem)
                elif text := text.strip():
                    sources[place] = translator.source_ids(text)
            except ValueError as error:
                found[place] = TranslatedLine(problem=str(error))
        written = translator._write(list(sources.values()), beam_width, length_penalty)
        for place, ids in zip(sources, written, strict=True):
            found[place] = TranslatedLine(translator.target.decode(ids), len(ids))
        yield from found
