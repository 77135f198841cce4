"""How byte-level BPE splits real sentences: counts, and a part of the stored results again."""

import doctest

import pytest

from attn.applications.translation import Translator
from attn.corpus import tatoeba
from attn.tokenizer import BytePairTokenizer
from attn_course.everyday import everyday
from attn_course.mixture import mixture
from experiments import vocabularies

TEXTS = [pair.source for pair in everyday()]


def test_examples_in_docstrings():
    tried = doctest.testmod(vocabularies)
    assert tried.attempted and not tried.failed


def test_a_smaller_vocabulary_has_the_first_merges_of_a_larger_one():
    large = BytePairTokenizer.train(TEXTS, 600)
    assert vocabularies.smaller(large, 400) == BytePairTokenizer.train(TEXTS, 400)


def test_the_measurements_of_each_vocabulary_are_consistent():
    pairs = everyday()
    told = vocabularies.measured({"train": pairs[50:], "validation": pairs[:50]}, (300, 500))
    assert list(told) == ["joint 300", "joint 500", "one for each 300", "one for each 500"]
    rows = vocabularies.vocabularies(told)
    for row in told.values():
        for language in vocabularies.SIDES:
            words, tokens, whole = row[language]
            assert whole < words < tokens
    assert [row["tokens"] for row in rows] == ["300", "500"] * 2
    # More merges give longer pieces.
    for kind in ("joint", "one for each"):
        assert told[f"{kind} 500"]["Spanish"][1] < told[f"{kind} 300"]["Spanish"][1]
    # Two vocabularies take more bytes than one.
    assert told["one for each 500"]["bytes"] > 1.5 * told["joint 500"]["bytes"]


@pytest.mark.slow
def test_the_smallest_joint_vocabulary_is_as_stored(needed, monkeypatch):
    """The shipped tokenizer begins otherwise, because it was trained on the mixture."""
    needed("tatoeba")
    kept, learn = [], vocabularies.learned
    monkeypatch.setattr(vocabularies, "learned", lambda *a: kept.append(learn(*a)) or kept[-1])
    found = vocabularies.measured(tatoeba(), vocabularies.SIZES[:1])
    stored = vocabularies.stored()
    assert found and all(stored[name] == row for name, row in found.items())
    mixed = [text for pair in mixture()["train"] for text in (pair.source, pair.target)]
    own = vocabularies.smaller(Translator.pretrained("tatoeba").source, 500)
    assert own == BytePairTokenizer.train(mixed, 500)
    assert own != vocabularies.smaller(kept[0]["joint"]["English"], 500)
