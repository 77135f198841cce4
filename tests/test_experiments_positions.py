"""The measurements that chapter 07 draws: their materials, and a quick part again."""

import dataclasses
import json

import numpy as np
import pytest
import torch

from attn.applications.translation import Translator
from attn.training import TrainingConfig
from attn_course.grammar import splits, translate
from experiments import positions

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stored():
    return json.loads(positions.RESULTS.read_text(encoding="utf-8"))


def test_every_kind_was_measured_with_every_seed(stored):
    assert list(stored["kinds"]) == list(positions.POSITIONS)
    for runs in stored["kinds"].values():
        assert len(runs) == len(positions.SEEDS) == stored["seeds"]
        for run in runs:
            assert len(run["by_length"]) == len(stored["lengths"])
            shares = np.array([*run["by_length"], run["test"], run["longer"], run["who_to_whom"]])
            assert ((shares >= 0) & (shares <= 1)).all()


def test_shares_by_length_average_to_the_share_of_the_test_set(stored):
    """Shares by length, weighted by the numbers of sentences, give the share of the test set."""
    counts = np.array(stored["n_sentences"])
    short = np.array(stored["lengths"]) <= stored["longest_in_training"]
    assert counts[short].sum() == stored["n_test"]
    for runs in stored["kinds"].values():
        for run in runs:
            shares = np.array(run["by_length"])
            assert (counts * shares)[short].sum() / stored["n_test"] == pytest.approx(
                run["test"], abs=2e-3
            )


def test_the_listed_errors_of_alibi_agree_with_its_share(stored):
    at = stored["lengths"].index(3)
    for run in stored["kinds"]["alibi"]:
        wrong = [source for source, _ in run["wrong_of_three"]]
        assert all(len(source.split()) == 3 for source in wrong)
        share = 1 - len(wrong) / stored["n_sentences"][at]
        assert run["by_length"][at] == pytest.approx(share, abs=1e-3)


def test_no_reversible_sentence_is_the_reverse_of_another(stored):
    backwards = {" ".join(reversed(source.split())) for source in stored["reversible"]}
    assert backwards.isdisjoint(stored["reversible"])


def test_a_sentence_is_reversible_if_the_grammar_makes_its_reverse():
    sources = ["ana saw julia", "two ships arrived", "the man saw the boy"]
    assert positions.reversible([translate(source) for source in sources]) == sources[:1]


def test_share_with_and_counts_only_the_given_lengths():
    sources = ["ana and julia slept", "ana saw julia", "ana and julia sang in the room"]
    pairs = [translate(source) for source in sources]
    assert positions.share_with_and(pairs, (3, 4)) == 0.5
    assert positions.share_with_and(pairs, (3,)) == 0.0


def test_exchanging_two_people_exchanges_the_words_of_both_sides():
    both = positions.swapped_pairs()
    assert len(both) == 4 * 28
    for one, other in both:
        assert one.source != other.source and one.target != other.target
        assert sorted(one.source.split()) == sorted(other.source.split())


def test_a_translator_without_positions_is_blind_to_order_and_the_sizes_are_right(stored):
    """A few training steps suffice, since the property holds for any weights."""
    parts = splits(n_train=300, n_validation=0, n_test=40, n_held_out=20)
    people = [pair for two in positions.swapped_pairs() for pair in two]
    # The vocabulary is that of all the pairs, so that no word is unknown.
    every = (*parts.train, *parts.test, *parts.longer, *people)
    run = positions.measure("none", 0, dataclasses.replace(parts, train=every), steps=3)
    assert run["same_for_both_orders"] == 1.0
    assert run["who_to_whom"] <= 0.5
    measured = [run["same_for_both_orders"] for run in stored["kinds"]["none"]]
    assert measured == [1.0] * len(measured)
    assert positions.sizes(parts)["n_swapped"] == stored["n_swapped"]


def test_alibi_does_not_distinguish_three_words_from_their_reverse():
    """For any weights: without a causal mask, ALiBi depends on distances, not on directions."""
    parts = splits(n_train=200, n_validation=0, n_test=0, n_held_out=0)
    two = [translate(sentence) for sentence in ("ana saw julia", "julia saw ana")]
    said = {}
    for kind in ("alibi", "rotary"):
        translator = Translator.fit(
            [*parts.train, *two],
            sizes={"positions": kind},
            training=TrainingConfig(steps=40, learning_rate=5e-3),
        )
        memory = [
            translator.model.encode(torch.tensor([translator.source.encode(pair.source)]))[0][0]
            for pair in two
        ]
        said[kind] = torch.allclose(memory[0], memory[1].flip(0), atol=1e-5)
    assert said == {"alibi": True, "rotary": False}
