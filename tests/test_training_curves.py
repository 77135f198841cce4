"""The figures of chapter 8: a quick part is measured again, and their files are consistent."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from attn.metrics import align, alignment_error_rate
from experiments import training_curves as curves

pytestmark = pytest.mark.slow

MEASURED = json.loads(curves.RESULTS.read_text(encoding="utf-8"))
REPLAY = json.loads(curves.REPLAY.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def parts(corpus):
    torch.set_num_threads(1)
    return replace(corpus, train=corpus.train[: curves.N_TRAIN])


def test_the_first_losses_of_the_recorded_run_are_as_stored(parts):
    training = curves.begun(parts, curves.CONFIG)
    training.go_to(0)
    assert curves.first_loss(training) == pytest.approx(REPLAY["train"][0], abs=0.02)
    training.go_to(curves.FIRST)
    np.testing.assert_allclose(training.run.history.losses, REPLAY["first_losses"], atol=0.002)


def test_the_first_frame_is_that_of_the_untrained_model(parts):
    translator = curves.begun(parts, curves.CONFIG).go_to(0)
    for sentence in REPLAY["sentences"]:
        source, target = (
            " ".join(w for w in sentence[s] if w != "<eos>") for s in ("source", "target")
        )
        assert translator.translate(source) == sentence["texts"][0]
        cross = translator.attention(source, target).cross.mean(axis=(0, 1))
        np.testing.assert_allclose(sentence["weights"][0], 100 * cross, atol=0.6)


def test_every_curve_and_every_run_is_stored():
    keys = {(c["norm"], c["learning_rate"], c["warmup_steps"]) for c in MEASURED["curves"]}
    assert keys == {(n, p, w) for n in ("pre", "post") for p in curves.PEAKS for w in (1, 100)}
    assert all(len(c["losses"]) == curves.SHORT // curves.EVERY for c in MEASURED["curves"])
    runs = [(r["label_smoothing"], r["dropout"], r["seed"]) for r in MEASURED["runs"]]
    assert sorted(runs) == [(e, d, s) for e in (0.0, 0.1) for d in (0.0, 0.1) for s in curves.SEEDS]
    pairs = [(r["n_train"], r["seed"]) for r in MEASURED["more_pairs"]]
    assert pairs == [(n, s) for n in (curves.N_TRAIN, curves.MORE_PAIRS) for s in curves.SEEDS]


def test_the_run_on_fewest_pairs_is_that_of_the_four_recipes():
    """The run was repeated to evaluate long sentences; its exact matches are the same."""
    recipe = {"label_smoothing": 0.1, "dropout": 0.1}
    runs = [r["exact_match"] for r in MEASURED["runs"] if recipe.items() <= r.items()]
    again = [r["test"] for r in MEASURED["more_pairs"] if r["n_train"] == curves.N_TRAIN]
    assert again == runs


def test_the_recording_is_small_and_ends_with_right_translations():
    assert curves.REPLAY.stat().st_size < 60_000
    assert REPLAY["steps"] == list(curves.CHECKPOINTS)
    for sentence in REPLAY["sentences"]:
        target = [word for word in sentence["target"] if word != "<eos>"]
        assert sentence["texts"][-1] == " ".join(target)
        last = np.array(sentence["weights"][-1])
        np.testing.assert_allclose(last.sum(axis=-1), 100, atol=len(sentence["source"]))
        sure, possible = ([frozenset(map(tuple, sentence[n]))] for n in ("sure", "possible"))
        assert alignment_error_rate([align(last[:-1])], sure, possible) < 0.3
