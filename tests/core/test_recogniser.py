"""Recognising the language of a text: the stored counts and error rates, and single lines."""

import json

import numpy as np
import pytest

from attn.applications.translation.recogniser import TABLES, doubt, language_of, places, tables

STORED = json.loads(TABLES.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "from_english", "from_spanish"),
    [
        ("Attention is all you need.", "en", "en"),
        ("The house that she saw.", "en", "en"),
        ("Me llamo Meg y tengo 3 gatos.", "es", "es"),
        ("donde esta la biblioteca", "es", "es"),
        ("I don\u2019t know", "en", "en"),
        # These texts do not tell which of the two languages it is.
        ("Tom", "en", "es"),
        ("Marta gives roses to Sara.", "en", "es"),
        ("No.", "en", "es"),
        ("$3,500", "en", "es"),
        ("?", "en", "es"),
        ("", "en", "es"),
        ("qwrtp zxcvb", "", ""),
        ("你好", "", ""),
        ("Привет", "", ""),
        ("🙂", "", ""),
        ("I love you 🙂", "en", "en"),
    ],
)
def test_the_language_of_a_text_is_recognised(text, from_english, from_spanish):
    assert [language_of(text, language) for language in ("en", "es")] == [
        from_english,
        from_spanish,
    ]
    assert (doubt(text) == "") == (from_english == "en")


def test_the_probabilities_of_the_next_letter_sum_to_one():
    words, surprise = tables()
    # They are stored rounded to tenths of a nat.
    np.testing.assert_allclose(np.exp(-surprise).sum(axis=-1), 1, atol=0.05)
    (th,) = [tuple(places("th")[1:3])]
    assert surprise[0][th] < surprise[1][th] and words["the"] < -4 and words["el"] > 4


def test_the_stored_error_rates_are_small():
    """At most 1% of lines in the expected language are flagged, and 98% of all others are found."""
    wrong = {name: 1 - right / n for name, (right, n) in STORED["rates"].items()}
    assert STORED["rates"]["English"][1] == 3000
    for name, share in wrong.items():
        assert share <= (0.01 if name in ("English", "everyday English", "Spanish") else 0.02), name


@pytest.mark.slow
def test_the_tables_and_the_rates_are_those_of_the_corpus(needed):
    needed("tatoeba")
    from experiments import languages

    assert languages.words() == STORED["words"]
    assert languages.letters("target") == STORED["es"]
    assert languages.rates() == STORED["rates"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None,), "text: expected text, got NoneType"),
        (("a\0b",), "text: expected text without the character NUL"),
        (("a", "fr"), "expected: expected .*'es'.* got 'fr'"),
    ],
)
def test_invalid_texts_and_other_languages_are_refused(arguments, message):
    for ask in (language_of, doubt):
        with pytest.raises(ValueError, match=message):
            ask(*arguments)
