"""The data that chapter 01 draws: they have the stated properties, and are reproducible."""

import json

import numpy as np
import pytest
import torch

from attn import reference
from attn_course.grammar import splits
from attn_course.widgets import PatchAsker
from experiments import why_attention as bench
from tests.refusals import refusals

STORED = json.loads(bench.RESULTS.read_text(encoding="utf-8"))


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(5)


def test_a_signal_says_its_letters_in_order_and_each_for_two_frames_or_more(generator):
    frames, letters, owner = bench.speech(generator, 300)
    assert frames.shape == owner.shape == (300, bench.FRAMES)
    assert (owner.diff(dim=1) >= 0).all()
    assert torch.nn.functional.one_hot(owner).sum(dim=1).min() == 2
    assert (letters.diff(dim=1) != 0).all()
    assert letters.min() == 0 and letters.max() == bench.LETTERS - 1
    said = (frames == letters.gather(1, owner)).float().mean()
    assert said == pytest.approx(bench.HEARD + (1 - bench.HEARD) / bench.LETTERS, abs=0.02)


def test_a_vote_takes_the_most_frequent_letter_of_each_segment():
    frames = torch.tensor([[4, 4, 7, 9, 9, 2, 4, 2]])
    owner = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 2]])
    assert bench.vote(frames, owner)[0, :3].tolist() == [4, 9, 2]


@pytest.mark.slow
def test_the_aligned_sentences_are_not_in_training(corpus):
    hundred = splits(n_train=0, n_validation=0, n_test=100, n_held_out=0).test
    assert {*hundred} <= {*corpus.test, *corpus.validation}


def test_a_reversed_string_is_the_string_backwards(generator):
    source, target = bench.reversal(generator, 7, 3)
    assert source.tolist() == [row[::-1] for row in target.tolist()]


def test_the_decoder_reads_a_start_token_and_the_targets_before():
    target = torch.tensor([[4, 5, 6]])
    assert bench.inputs(target).tolist() == [[bench.START, 4, 5]]


def test_written_letters_have_the_largest_logits(generator):
    source, _ = bench.reversal(generator, 5, 4)
    model = bench.train(True, lambda g: bench.reversal(g, 5, 8), 3)
    written = bench.write(model, source, 6)
    with torch.no_grad():
        logits, _ = model(source, bench.inputs(written))
    torch.testing.assert_close(logits.argmax(-1), written)


def test_training_is_reproducible_and_lowers_the_loss():
    def batch(generator):
        return bench.reversal(generator, 3, 16)

    one, other, longer = (bench.train(False, batch, steps, 8) for steps in (3, 3, 60))
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)
    source, target = bench.reversal(torch.Generator().manual_seed(9), 3, 64)
    losses = [
        torch.nn.functional.cross_entropy(m(source, bench.inputs(target))[0].mT, target)
        for m in (one, longer)
    ]
    assert losses[1] < losses[0]


def keys(results):
    return {k: keys(v) if isinstance(v, dict) else None for k, v in results.items()}


def test_tiny_runs_have_the_fields_of_the_stored_results():
    assert keys(bench.measure_reversal(2, (3, 4), 4, (0,))) == keys(STORED["reversal"])
    assert keys(bench.measure_speech(2, 4)) == keys(STORED["speech"])
    assert keys(bench.measure_time((4, 8), 1)) == keys(STORED["time"])
    assert STORED["reversal"]["steps"] == bench.REVERSAL_STEPS
    assert STORED["reversal"]["lengths"] == list(bench.TESTED)
    assert STORED["time"]["lengths"] == list(bench.LENGTHS)


def test_the_stored_signal_is_the_first_of_the_test():
    speech = STORED["speech"]
    drawn = bench.speech(torch.Generator().manual_seed(bench.SEED + 1), speech["signals"])
    example = speech["example"]
    for name, array in zip(("frames", "letters", "owner"), drawn, strict=True):
        assert example[name] == array[0].tolist()
    weights = torch.tensor(example["weights"])
    torch.testing.assert_close(weights.sum(-1), torch.ones(bench.WORD), atol=0.01, rtol=0)
    assert (weights.argmax(-1).diff() > 0).all()


def test_the_stored_results_support_the_chapters_conclusions():
    accuracy, times = STORED["reversal"]["accuracy"], STORED["time"]["relative_time"]
    assert all(len(values) == len(bench.SEEDS) for values in accuracy.values())
    for i, length in enumerate(STORED["reversal"]["lengths"]):
        one, twice, attention = ([run[i] for run in accuracy[name]] for name, *_ in bench.MODELS)
        if length in (10, 15, 20):
            assert max(one) < min(twice) and max(twice) < min(attention)
    speech = STORED["speech"]
    assert speech["letters_right"] < speech["letters_right_given"] < speech["vote"]
    assert times["attention"][0] < times["recurrent"][0]
    assert times["attention"][-1] > times["recurrent"][-1]


# The figure at the top of the chapter -------------------------------------------------------

RNG = np.random.default_rng(0)
PATCHES = RNG.normal(size=(9, 25)).round(3)
QUERIES = {"one": RNG.normal(size=25).round(3), "nothing": np.zeros(25)}


def test_javascript_weighs_the_patches_as_the_reference_does(node):
    got = node(
        """
        import { answer } from "./patch_asker.mjs";
        console.log(JSON.stringify(input.queries.map((q) => answer(input.patches, q, 0.5))));
        """,
        {"patches": PATCHES.tolist(), "queries": [q.tolist() for q in QUERIES.values()]},
    )
    for asked, (found, query) in enumerate(zip(got, QUERIES.values(), strict=True)):
        output, weights = reference.attention_pooling(0.5 * query, PATCHES, PATCHES)
        np.testing.assert_allclose(found["weights"], weights, atol=1e-9)
        np.testing.assert_allclose(found["output"], output, atol=1e-9)
        asker = PatchAsker(PATCHES, QUERIES, asked, strength=0.5)
        np.testing.assert_allclose(asker.weights, weights, atol=1e-9)


def test_javascript_says_which_patches_lead(node):
    said = node(
        """
        import { STRINGS, summary } from "./patch_asker.mjs";
        console.log(JSON.stringify(input.map((weights) => summary(STRINGS.en, "it", weights))));
        """,
        [[0.05, 0.9, 0.05], [0.4, 0.05, 0.35, 0.2], [0.25, 0.25, 0.25, 0.25]],
    )
    assert "patch 2 gets a weight of 0.90" in said[0]
    assert "patches 1, 3 and 4 share" in said[1]
    assert "a blot" in said[2]


test_invalid_pictures_are_refused = refusals(
    (([[1.0]] * 3, {"a": [1.0]}), r"patches: expected a square number of squares, got .*\(3, 1"),
    (([1.0], {"a": [1.0]}), r"patches: expected shape \(any, any\), got \(1,\)"),
    (([[1.0]], {"a": [1.0, 2.0]}), r"queries: expected shape \(1, 1\), got \(1, 2\)"),
    (([[1.0]], [[1.0]]), "queries: expected a dict of vectors by their names, got list"),
    (([[1.0]], {"a": [1.0]}, 1), "asked: expected a whole number from 0 to 0, got 1"),
    (([[1.0]], {"a": [1.0]}, 0, 3.0), "strength: expected a number from 0 to 2, got 3"),
    (([[np.nan]], {"a": [1.0]}), "patches: expected a finite number"),
    of=lambda arguments: PatchAsker(*arguments),
)


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [("asked", 7, "whole number from 0 to 1"), ("strength", 9.0, "number from 0 to 2")],
)
def test_a_query_and_a_strength_that_do_not_exist_cannot_be_set(name, value, wanted):
    asker = PatchAsker([[1.0]], {"a": [1.0], "b": [2.0]})
    with pytest.raises(ValueError, match=f"^{name}: expected a {wanted}, got {value}$"):
        setattr(asker, name, value)
