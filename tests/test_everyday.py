"""The everyday sentences are well formed, and no training corpus contains them."""

import re

import pytest

from attn.corpus import near_duplicates
from attn.corpus.tatoeba import read
from attn_course.everyday import everyday


def letters(text):
    return re.sub(r"[^a-z ]", "", text.lower())


def test_sentences_are_distinct_and_punctuated_on_both_sides():
    pairs = everyday()
    assert len(set(near_duplicates(pair.source for pair in pairs).values())) == len(pairs)
    for source, target in ((pair.source, pair.target) for pair in pairs):
        assert source[0].isupper() and source[-1] in ".?!"
        assert target.lstrip("¿¡")[0].isupper() and target[-1] == source[-1]
        assert ("¿" in target) == ("?" in target) and ("¡" in target) == ("!" in target)


@pytest.mark.slow
def test_they_are_not_in_the_corpus_of_real_sentences(needed):
    needed("tatoeba")
    known = {letters(pair.source) for pair in read()}
    assert "i am very tired" in known
    assert not [pair.source for pair in everyday() if letters(pair.source) in known]
