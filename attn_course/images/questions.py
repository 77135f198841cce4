"""Questions about a scene: their words, the right answer, and the things they ask about."""

from typing import NamedTuple

import numpy as np

from attn._checks import check_choice
from attn_course.images.scenes import N_COLUMNS, N_ROWS
from attn_course.images.words import WORDS, agree

KINDS = ("colour", "count", "where", "exists", "left")
LANGUAGES = tuple(WORDS)


class Question(NamedTuple):
    """A question of one of the `KINDS` about a shape, independent of the language.

    Attributes
    ----------
    kind, shape : str
        What colour is it, how many are there, where is it; is there one of `colour`; is it to
        the left of the `other`?
    colour, other : str
        For "exists" and for "left".

    Examples
    --------
    >>> from attn_course.images.scenes import Thing
    >>> question = Question("exists", "star", colour="red")
    >>> question.words("es"), question.words("en")
    ('¿Hay una estrella roja?', 'Is there a red star?')
    >>> question.answer([Thing("star", "blue", 0, 5)], "es")
    'no'
    """

    kind: str
    shape: str
    colour: str = ""
    other: str = ""

    def words(self, language):
        """Return the question in a language, ``"es"`` or ``"en"``."""
        check_choice("language", language, LANGUAGES)
        lexicon = WORDS[language]
        one, many, _, gender = lexicon["nouns"][self.shape]
        text = lexicon["questions"][self.kind].format(
            one=one,
            many=many,
            colour=lexicon["colours"].get(self.colour),
            of_other=lexicon["nouns"][self.other][2] if self.other else None,
        )
        return agree(text, gender)

    def asked(self, things):
        """Return the things that the question is about, a list of Thing."""
        if self.kind == "exists":
            return [t for t in things if (t.shape, t.colour) == (self.shape, self.colour)]
        return [t for t in things if t.shape in (self.shape, self.other)]

    def answer(self, things, language):
        """Return the right answer in a language, one word or a few."""
        check_choice("language", language, LANGUAGES)
        lexicon, asked = WORDS[language], self.asked(things)
        if self.kind == "colour":
            answer = lexicon["colours"][asked[0].colour]
        elif self.kind == "count":
            answer = lexicon["numbers"][len(asked)]
        elif self.kind == "where":
            answer = lexicon["places"][_quarter(asked[0])]
        elif self.kind == "exists":
            answer = lexicon["truth"][bool(asked)]
        else:
            column = {thing.shape: thing.column for thing in asked}
            answer = lexicon["truth"][column[self.shape] < column[self.other]]
        return agree(answer, lexicon["nouns"][self.shape][3])


def _quarter(thing):
    return (
        "top" if thing.row < N_ROWS // 2 else "bottom",
        "left" if thing.column < N_COLUMNS // 2 else "right",
    )


def patches(things):
    """Return the patches of things as a boolean array of shape (N_ROWS, N_COLUMNS)."""
    grid = np.zeros((N_ROWS, N_COLUMNS), dtype=bool)
    for thing in things:
        grid[thing.row, thing.column] = True
    return grid
