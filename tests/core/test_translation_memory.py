"""The most similar sentence, against every pair of sentences compared in turn."""

import random

import pytest

from attn.corpus import Pair
from attn.metrics import translation_memory


@pytest.mark.parametrize("seed", range(5))
def test_it_finds_what_comparing_with_each_finds(seed):
    rng = random.Random(seed)

    def sentence():
        return " ".join(rng.choices("abcdefg", k=rng.randint(1, 6)))

    known = [Pair(sentence(), str(number)) for number in range(30)]
    asked = [sentence() for _ in range(20)] + ["x y"]
    targets, similarity = translation_memory(known, asked)
    for source, target, found in zip(asked, targets, similarity, strict=True):
        words = set(source.split())
        ratios = [
            len(words & set(p.source.split())) / len(words | set(p.source.split())) for p in known
        ]
        assert found == max(ratios)
        assert target == str(ratios.index(max(ratios)))
    assert targets[-1] == "0" and similarity[-1] == 0


def test_without_pairs_there_is_nothing_to_look_up():
    with pytest.raises(
        ValueError, match="^pairs: expected at least one pair of sentences, got none$"
    ):
        translation_memory([], ["a"])
