"""Difficult words are counted in the translator's own output, and rules are worse than it."""

import pytest

from attn_course.grammar import translate
from experiments import own_words

BLUE = translate("tom is blue")
WIDE, TIRED = (
    translate(f"the animal did not cross the street because it was too {word}")
    for word in ("wide", "tired")
)
TIRED_WOMAN = translate("my sister did not run in the forest because she was tired")
LONG = translate("mario did not read the story because it was too long")


@pytest.fixture
def written(monkeypatch):
    """Return a dict in which a test sets the translator's output for each source."""
    texts = {}
    monkeypatch.setattr(own_words, "written", lambda _, sources: [texts[s] for s in sources])
    return texts


@pytest.mark.parametrize(
    "text, right", [("tom está triste", True), ("triste está tom", True), ("tom está azul", False)]
)
def test_a_meaning_is_right_if_its_word_is_written(written, text, right):
    assert BLUE.polysemes and not WIDE.polysemes
    written[BLUE.source] = text
    assert own_words.meanings(None, [WIDE, BLUE]) == [right]


def test_a_reference_is_right_if_the_form_agrees_with_its_noun(written):
    written |= {
        WIDE.source: "el animal no cruzó la calle porque era demasiado ancho",
        TIRED.source: TIRED.target,
    }
    assert own_words.references(None, [WIDE, BLUE, TIRED]) == [False, True]


def test_the_rule_takes_the_commonest_form_of_each_word():
    """The commonest form of *tired* is masculine, in two of three; *wide* has one form."""
    assert own_words.commonest_forms([TIRED, TIRED, TIRED_WOMAN, WIDE]) == [3, 4]


def test_the_rule_takes_the_commonest_place():
    """The animal is the second word, and so is the sister; the street and the story are elsewhere,
    but both two words before the pronoun."""
    assert own_words.commonest_place([TIRED, TIRED_WOMAN, WIDE]) == [2, 3]
    assert own_words.commonest_place([WIDE, LONG]) == [2, 2]
