"""Recognise English, Spanish, or neither, by the words of a text and their pairs of letters.

A table says for each of the most frequent words how much more probable it is in Spanish than in
English; other words are judged by the probability of each letter after the previous one. All was
counted in the training sentences of the real corpus: ``python -m experiments languages`` counts
again, and measures how often the result is right.
"""

import json
import math
import unicodedata
from functools import cache
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from attn._checks import check_choice
from attn.applications import models
from attn.applications.translation.vocabularies import readable

SIGNS = " abcdefghijklmnopqrstuvwxyzáéíñóúü'"
TABLES = models.folder("languages") / "counted.json"
NAMES = {"en": "English", "es": "Spanish", "": "neither English nor Spanish"}
# The nats by which a text must be more probable in the language that was not expected, or as random
# letters, to be recognised so. A single name can reach less.
OTHER, NEITHER = 4.0, 3.0
RANDOM = math.log(26)
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)*")


def language_of(text: str, expected: str = "en") -> str:
    """Return the language that a text seems to be in, "" if it seems to be in neither.

    Random letters, another script, and emoji alone are in neither.

    Parameters
    ----------
    expected : {"en", "es"}, default "en"
        What a text is taken for as long as nothing in it says otherwise, as *No* or *3,500*.

    Raises
    ------
    ValueError
        If `text` is no text, or `expected` another language.

    References
    ----------
    Dunning (1994), Statistical Identification of Language, for such models of letters.

    Examples
    --------
    >>> [language_of(text) for text in ("Where is it?", "¿Dónde está?", "xqzt wvk", "🙂", "$3,500")]
    ['en', 'es', '', '', 'en']
    """
    check_choice("expected", expected, ("en", "es"))
    words = _WORD.findall(readable("text", text))
    if not words:
        # Numbers and punctuation occur in every language; a picture belongs to none.
        has_picture = any(unicodedata.category(c) == "So" for c in text)
        return expected if any(c.isalnum() for c in text) or not has_picture else ""
    if 2 * sum(_plain(c) in SIGNS for c in "".join(words)) < len("".join(words)):
        return ""
    known, (english, spanish) = tables()
    read = [places(word) for word in words]
    surprise = np.array([[t[ids[:-1], ids[1:]].sum() for t in (english, spanish)] for ids in read])
    n_letters = sum(len(ids) - 1 for ids in read)
    if n_letters * RANDOM < surprise.sum(axis=0).min() - NEITHER:
        return ""
    evidence = 0.0
    for i, (word, (in_english, in_spanish)) in enumerate(zip(words, surprise, strict=True)):
        # A capital letter within a sentence begins a name, which occurs in any language.
        if not i or not word[0].isupper() or word.isupper():
            evidence += known.get(word.lower().replace("’", "'"), in_english - in_spanish)
    toward = {"en": -evidence, "es": evidence}
    other = "es" if expected == "en" else "en"
    return other if toward[other] > OTHER else expected


def doubt(text: str, expected: str = "en") -> str:
    """Return why a text does not seem to be in the expected language; "" if it does.

    Examples
    --------
    >>> doubt("La casa es roja."), doubt("The house is red.")
    ('expected English, got what seems to be Spanish', '')
    """
    found = language_of(text, expected)
    said = f"expected {NAMES[expected]}, got what seems to be {NAMES[found]}"
    return "" if found == expected else said


def places(word: str) -> NDArray[np.int64]:
    """Return the indices in `SIGNS` of the letters of a word, with a space at each end.

    Examples
    --------
    >>> "".join(SIGNS[i] for i in places("Müñoç"))
    ' müñoc '
    """
    plain = map(_plain, unicodedata.normalize("NFC", word.lower()).replace("’", "'"))
    return np.array([0, *(SIGNS.index(c) for c in plain if c in SIGNS), 0])


@cache
def tables() -> tuple[dict[str, float], NDArray[np.floating]]:
    """Return how much more probable each word is in Spanish, and the surprise of pairs of letters.

    Both are in nats; the second has the shape (2, n_signs, n_signs), English first.
    """
    stored: dict[str, Any] = json.loads(TABLES.read_text(encoding="utf-8"))
    words = {word: tenths / 10 for word, tenths in stored["words"].items()}
    return words, np.array([stored["en"], stored["es"]]) / 10


def _plain(letter: str) -> str:
    """Return a letter of `SIGNS` as it is, and another without its accent."""
    return letter if letter in SIGNS else unicodedata.normalize("NFD", letter.lower())[0]
