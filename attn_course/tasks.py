"""A small task for a language model: is an opinion of one line positive or negative?

`tasks.toml` holds opinions in English and in Spanish, line by line the same. Forty are for
learning, as examples in a prompt or in training, and sixty are for testing. Another twenty are
harder, because no single word gives the label away.
"""

import tomllib
from pathlib import Path
from typing import NamedTuple

from attn._checks import check_choice

LABELS = ("positive", "negative")
LANGUAGES = ("en", "es")


class Form(NamedTuple):
    """The form of a question: its language, headings and labels.

    Attributes
    ----------
    language : {"en", "es"}
    said, answer : str
        The names of the two parts of a prompt.
    words : dict of str to str
        The word for each label. Their first tokens differ.
    """

    language: str
    said: str
    answer: str
    words: dict[str, str]


FORMS = {
    "en": Form(
        "en", "Review", "Sentiment", dict(zip(LABELS, (" positive", " negative"), strict=True))
    ),
    "es": Form(
        "es", "Opinión", "Sentimiento", dict(zip(LABELS, (" positivo", " negativo"), strict=True))
    ),
    # A model can only learn from the examples which colour means what. SmolLM2 alone would guess
    # the first.
    "colours": Form("en", "Review", "Colour", dict(zip(LABELS, (" blue", " red"), strict=True))),
    "colours_exchanged": Form(
        "en", "Review", "Colour", dict(zip(LABELS, (" red", " blue"), strict=True))
    ),
}


class Opinion(NamedTuple):
    """A line, and which of `LABELS` it is."""

    text: str
    label: str


def opinions(part: str, language: str) -> list[Opinion]:
    """Return the opinions of a part, in an order in which the labels take turns.

    Parameters
    ----------
    part : {"to_learn_from", "to_be_asked", "harder"}
    language : {"en", "es"}

    Raises
    ------
    ValueError
        If there is no such part or language.

    Examples
    --------
    >>> opinions("to_be_asked", "en")[0]
    Opinion(text='The pizza was perfect, thin and crisp.', label='positive')
    >>> len(opinions("to_learn_from", "es")), len(opinions("to_be_asked", "es"))
    (40, 60)
    """
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    check_choice("part", part, tables)
    check_choice("language", language, LANGUAGES)
    place = LANGUAGES.index(language)
    pairs = zip(*(tables[part][label] for label in LABELS), strict=True)
    return [
        Opinion(lines[place], label)
        for pair in pairs
        for lines, label in zip(pair, LABELS, strict=True)
    ]


def prompt(examples: list[Opinion], text: str, form: str) -> str:
    """Return a prompt that shows examples and leaves the last answer open.

    Parameters
    ----------
    examples : list of Opinion
    text : str
        What is asked about.
    form : str
        One of `FORMS`.

    Examples
    --------
    >>> print(prompt([Opinion("I like it.", "positive")], "It broke.", "en"))
    Review: I like it.
    Sentiment: positive
    <BLANKLINE>
    Review: It broke.
    Sentiment:
    """
    check_choice("form", form, FORMS)
    _, said, answer, words = FORMS[form]
    shown = [f"{said}: {e.text}\n{answer}:{words[e.label]}\n\n" for e in examples]
    return "".join(shown) + f"{said}: {text}\n{answer}:"
