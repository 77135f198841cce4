"""The training on real sentences that chapter 8 draws: its file, and the start of a run again."""

import json

import numpy as np
import pytest
import torch

from attn_course.everyday import everyday
from experiments import real_training as real

STORED = json.loads(real.RESULTS.read_text(encoding="utf-8"))
RUNS = {(run["name"], run["dropout"], run["seed"]): run for run in STORED["runs"]}


def test_every_training_is_stored_once_with_all_its_measurements():
    wanted = [
        (name, dropout, seed)
        for name, (_, dropouts, *_) in real.TRAININGS.items()
        for dropout in dropouts
        for seed in real.SEEDS
    ]
    assert sorted(RUNS) == sorted(wanted) and len(STORED["runs"]) == len(wanted)
    for (name, _, _), run in RUNS.items():
        assert len(run["training"]) == len(run["validation"]) == len(STORED["stops"][name])
        assert len(run["bleu"]) == len(run["texts"]) == len(STORED["written"][name])
        assert np.isfinite(run["training"] + run["validation"] + run["bleu"]).all()


def test_each_optimiser_is_repeated_at_its_best_rate():
    runs = {tuple(run.values())[:4]: run["validation"] for run in STORED["optimizers"]}
    places = [row.places[0] for row in real.rows().values()]
    assert list(runs) == [tuple(key.values()) for name, key in places if name == "optimizers"]
    for (optimizer, steps), best in real.BEST.items():
        rates = real.OPTIMIZERS[optimizer, steps]
        assert best == min(rates, key=lambda rate: runs[optimizer, steps, rate, 0])
        assert rates[0] < best < rates[-1]


def test_the_translated_sentences_are_our_own():
    ours = {pair.source for pair in everyday()}
    assert len(ours.intersection(STORED["sentences"])) == len(STORED["sentences"]) == 3


def test_runs_of_a_seed_start_equal_and_differ_only_by_dropout():
    for seed in real.SEEDS:
        without, with_it = (RUNS["few", dropout, seed] for dropout in (0.0, 0.3))
        for part in ("training", "validation"):
            assert without[part][0] == pytest.approx(with_it[part][0], abs=0.002)
        assert without["first_losses"] != with_it["first_losses"]


@pytest.mark.slow
def test_the_first_losses_on_the_corpus_are_as_stored(needed):
    needed("tatoeba")
    torch.set_num_threads(1)
    parts, tokenizer = real.corpus()
    assert tokenizer.vocab_size == STORED["vocab_size"]
    run = RUNS["few", 0.0, 0]
    training = real.begun(
        parts["train"][: run["n_train"]], tokenizer, 0.0, STORED["stops"]["few"][-1], 0
    )
    training.go_to(real.N_FIRST)
    np.testing.assert_allclose(training.run.history.losses, run["first_losses"], atol=0.002)
