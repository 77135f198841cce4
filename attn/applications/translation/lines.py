"""Translate a file of any length line by line, with few lines in memory."""

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from attn._checks import argument_error
from attn._lines import Line
from attn.applications.translation.cutting import put_together
from attn.applications.translation.recogniser import doubt
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
    doubt : str
        In what way the line does not seem to be in the language that is read, if so.
    """

    translation: str = ""
    n_tokens: int = 0
    problem: str = ""
    doubt: str = ""


def translate_lines(
    translator: Translator,
    lines: Iterable[str | Line],
    *,
    beam_width: int = 1,
    length_penalty: float = 0.0,
    mark_guessed: bool = False,
) -> Iterator[TranslatedLine]:
    """Translate lines in their order, reading no more than `AT_ONCE` ahead.

    Parameters
    ----------
    lines : iterable of str or Line
        White space around a line does not count. A line may be empty or, as in
        `Translator.translate`, too long to be read at once. A `Line` with a problem, from
        `attn._lines.read_lines`, is not translated.
    beam_width, length_penalty
        As in `Translator.translate`.
    mark_guessed : bool, default False
        Whether to mark the words that are more likely wrong than right, as `Translation.marked` does.

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
    >>> lines = ["The red house.\\n", "\\n", 1000 * "x"]
    >>> found = list(translate_lines(Translator.pretrained(), lines))
    >>> [line.translation != "" for line in found]
    [True, False, False]
    >>> found[2].problem
    "text: expected words that are short enough to translate, got 'xxxxxxxxxxxxxxxxxxxx'… of 1000 characters"
    """
    if isinstance(lines, str):
        raise argument_error("lines", "several texts", "one")
    lines = iter(lines)
    while some := list(itertools.islice(lines, AT_ONCE)):
        found = [TranslatedLine()] * len(some)
        cuts, sources, doubts = {}, [], {}
        for place, line in enumerate(some):
            text, problem = line if isinstance(line, Line) else (line, "")
            try:
                if problem:
                    found[place] = TranslatedLine(problem=problem)
                elif text := text.strip():
                    pieces = translator.pieces(text)
                    sources += [translator.source_ids(piece.text) for piece in pieces]
                    cuts[place] = pieces
                    doubts[place] = doubt(text, translator.source_language)
            except ValueError as error:
                found[place] = TranslatedLine(problem=str(error))
        written = translator._write(sources, beam_width, length_penalty)
        marked = (
            translator._translations([*cuts.values()], sources, written) if mark_guessed else []
        )
        ids = iter(written)
        for number, (place, pieces) in enumerate(cuts.items()):
            own = [next(ids) for _ in pieces]
            if mark_guessed:
                translation = marked[number].marked()
            else:
                translation = put_together(pieces, [translator.target.decode(one) for one in own])
            found[place] = TranslatedLine(translation, sum(map(len, own)), doubt=doubts[place])
        yield from found
