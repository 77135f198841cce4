"""A small task of classification: what is a line written to a town about?

`subjects.toml` holds ten lines for each of four subjects, in English and in Spanish, line by line
the same. Two of each are examples, and the others are for testing.
"""

import tomllib
from pathlib import Path
from typing import NamedTuple

from attn._checks import check_choice

N_EXAMPLES = 2
LANGUAGES = ("en", "es")


class Line(NamedTuple):
    """A line, and its subject."""

    text: str
    subject: str


def lines(part, language):
    """Return the lines of a part, subject by subject.

    Parameters
    ----------
    part : {"examples", "to_be_asked"}
    language : {"en", "es"}

    Returns
    -------
    list of Line

    Raises
    ------
    ValueError
        If there is no such part or language.

    Examples
    --------
    >>> lines("examples", "en")[0]
    Line(text='The bus to the station did not come this morning.', subject='transport')
    >>> len(lines("examples", "es")), len(lines("to_be_asked", "es"))
    (8, 32)
    """
    check_choice("part", part, ("examples", "to_be_asked"))
    check_choice("language", language, LANGUAGES)
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    chosen = slice(N_EXAMPLES) if part == "examples" else slice(N_EXAMPLES, None)
    place = LANGUAGES.index(language)
    return [Line(line[place], subject) for subject, all_ in table.items() for line in all_[chosen]]
