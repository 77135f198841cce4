"""Scaling laws: counts against models, fits against known curves, and a part of the rows again."""

import math
import random

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from attn.transformer import DecoderOnly, TransformerConfig
from attn_course.scaling import (
    fit_law,
    law,
    parabola_minimum,
    parameters,
    power_law,
    training_flops,
)
from experiments import scaling
from experiments.runner import read

STORED = read(scaling.RESULTS)


@pytest.mark.parametrize("d_model, n_layers, vocab_size", ((8, 1, 10), (12, 3, 7), (64, 2, 96)))
def test_the_count_of_parameters_leaves_out_gains(d_model, n_layers, vocab_size):
    sizes = {"d_model": d_model, "n_layers": n_layers}
    for d_ff in (4 * d_model, 20):
        model = DecoderOnly(
            TransformerConfig(
                vocab_size, n_heads=2, d_ff=d_ff, norm="pre", bias=False, positions="none", **sizes
            )
        )
        matrices = sum(p.numel() for p in model.parameters() if p.ndim == 2)
        assert parameters(**sizes, vocab_size=vocab_size, d_ff=d_ff) == matrices
    assert parameters(**sizes, vocab_size=vocab_size) == parameters(
        **sizes, vocab_size=vocab_size, d_ff=4 * d_model
    )


@pytest.mark.parametrize("d_model", (8, 48))
def test_the_count_of_operations_is_that_of_a_training_step(d_model):
    """On a CPU, the counter ignores attention; backward counts each product with weights twice."""
    model, multiplier = scaling.new_model(d_model, 0)
    ids = torch.randint(96, (3, 11), generator=torch.Generator().manual_seed(0))
    with FlopCounterMode(display=False) as counter:
        scaling.loss_of(model, ids, multiplier).backward()
    assert counter.get_total_flops() == training_flops(scaling.size(d_model), 3 * 10)
    # Causal attention: each token has a score with itself and with each earlier token, and takes a
    # share of each of their values.
    seen = sum(range(1, 65)) / 64
    by_hand = 3 * 2 * 2 * seen * d_model * scaling.N_LAYERS
    attended = training_flops(0, 1, scaling.N_LAYERS * 64 * d_model)
    assert attended == pytest.approx(by_hand, rel=0.02)


def test_a_law_is_recovered_from_its_own_losses():
    rng = np.random.default_rng(0)
    sizes, tokens = 10 ** rng.uniform(3, 6, 25), 10 ** rng.uniform(5, 7, 25)
    for exact in (
        {"E": 0.9, "A": 20.0, "a": 0.3, "B": 300.0, "b": 0.45},
        {"E": 1.7, "A": 400.0, "a": 0.8, "B": 9.0, "b": 0.2},
    ):
        found = fit_law(sizes, tokens, law(sizes, tokens, **exact))
        for name, value in exact.items():
            assert found[name] == pytest.approx(value, rel=0.02)
    noisy = law(sizes, tokens, **exact) + rng.normal(0, 0.01, 25)
    found = fit_law(sizes, tokens, noisy)
    rest = np.square(law(sizes, tokens, **found) - noisy).sum()
    assert rest <= np.square(law(sizes, tokens, **exact) - noisy).sum()
    with pytest.raises(
        ValueError, match=r"^losses: expected those of at least five trainings, got 4"
    ):
        fit_law(sizes[:4], tokens[:4], noisy[:4])


@pytest.mark.parametrize("lowest, depth, steepness", ((3000.0, 1.5, 0.1), (80.0, -2.0, 3.0)))
def test_the_lowest_point_of_a_parabola(lowest, depth, steepness):
    sizes = lowest * np.array([0.2, 0.9, 1.4, 5.0])
    losses = depth + steepness * np.log(sizes / lowest) ** 2
    assert parabola_minimum(sizes, losses) == pytest.approx((lowest, depth))
    with pytest.raises(ValueError, match=r"^losses: expected a valley"):
        parabola_minimum(sizes, -losses)


def test_a_power_law_is_recovered():
    x = np.array([1e9, 7e9, 3e11])
    assert power_law(x, 4.5 * x**0.31) == pytest.approx((0.31, 4.5))


@pytest.mark.parametrize(
    "call, told",
    (
        (lambda: parabola_minimum([1, 2], [3, 4]), "sizes: expected at least 3 numbers above 0"),
        (lambda: parabola_minimum([1, 2, 0], [3, 4, 5]), "sizes: expected at least 3 numbers"),
        (lambda: parabola_minimum([1, 2, 3], [4, 5]), "sizes: expected as many .* 2, got 3"),
        (lambda: power_law([1, 2], [3, -1]), "y: expected at least 2 numbers above 0"),
        (lambda: power_law([1, 2], [3, 4, 5]), "y: expected as many numbers .* 2, got 3"),
        (lambda: fit_law([1, 2, 3, 4, 0], range(1, 6), range(5)), "sizes: expected at least 5"),
        (lambda: fit_law(range(1, 6), range(1, 5), range(5)), "tokens: expected at least 5"),
        (lambda: parameters(64, 0, 96), "n_layers: expected at least 1, got 0"),
    ),
)
def test_points_that_no_curve_fits_are_refused(call, told):
    with pytest.raises(ValueError, match=f"^{told}"):
        call()


# What was measured.


def test_mup_is_the_standard_parametrisation_at_the_base_width():
    """Table 8 of Yang et al. (2022): at larger widths, mup reduces logits and hidden updates."""
    (one, by_one), (mup, by_mup) = (scaling.new_model(scaling.BASE, 3, m) for m in (False, True))
    assert by_one == by_mup == 1 and one.embedding.scale == mup.embedding.scale
    for model in (one, mup):
        std = model.embedding.tokens.weight.std().item()
        assert std == pytest.approx(scaling.BASE**-0.5, rel=0.1)
    rms = {}
    for d_model in (scaling.BASE, 16 * scaling.BASE):
        for is_mup in (False, True):
            model, multiplier = scaling.new_model(d_model, 0, is_mup)
            ids = torch.randint(96, (8, 64), generator=torch.Generator().manual_seed(1))
            entering = model.embedding(ids).std().item()
            assert entering == pytest.approx(1, abs=0.1)
            with torch.no_grad():
                rms[d_model, is_mup] = (multiplier * model(ids)[0]).std().item()
    base, wide = scaling.BASE, 16 * scaling.BASE
    assert rms[wide, False] == pytest.approx(rms[base, False], rel=0.5)
    # The output is the random embedding at first, so the sum grows with the root of the width.
    assert rms[wide, True] == pytest.approx(rms[base, True] / math.sqrt(16), rel=0.5)


@pytest.mark.parametrize("is_mup", (False, True))
def test_only_the_hidden_matrices_take_shorter_steps_in_mup(is_mup, monkeypatch):
    """Adam's first step moves each weight that has a gradient by the learning rate."""
    ids = torch.randint(96, (200, scaling.CONTEXT + 1), generator=torch.Generator().manual_seed(0))
    monkeypatch.setattr(scaling, "excerpts", lambda part: ids)
    d_model, rate, warmup = 4 * scaling.BASE, 0.01, 1
    before = scaling.new_model(d_model, 5, is_mup)[0].state_dict()
    after, *_ = next(scaling.training(d_model, 10 * warmup, rate, 5, mup=is_mup))
    moved = {name: (after.state_dict()[name] - before[name]).abs().max() for name in before}
    for name, most in moved.items():
        is_hidden = before[name].ndim == 2 and not name.startswith(("embedding", "output"))
        expected = rate / 4 if is_hidden and is_mup else rate
        assert most.item() == pytest.approx(expected, rel=0.02)


def test_no_text_is_repeated_and_each_size_spends_its_budget():
    for row in STORED["isoflop"]:
        attended = scaling.N_LAYERS * scaling.CONTEXT * row["d_model"]
        spent = training_flops(row["parameters"], row["tokens"], attended)
        assert spent == pytest.approx(row["budget"], rel=0.01)
        assert row["tokens"] <= STORED["text"]["read"]["train"]


def test_the_rate_of_the_rule_was_checked_and_the_rates_of_the_optimisers_lie_inside():
    for budget, d_model in scaling.CHECKED:
        losses = {
            row["factor"]: row["loss"]
            for row in STORED["checked"]
            if (row["budget"], row["d_model"]) == (budget, d_model)
        }
        assert sorted(losses) == list(scaling.FACTORS) and min(losses, key=losses.get) == 1
    for optimizer in ("adamw", "muon"):
        best = scaling.best_rate(STORED, optimizer)
        assert scaling.MUON_RATES[0] < best < scaling.MUON_RATES[-1]
        assert all(row["rate"] == best for row in STORED["muon"] if row["optimizer"] == optimizer)


def test_the_fit_is_that_of_the_stored_rows():
    """Compares the fitted values, which need no resampling; the largest budget is held out."""
    again = scaling.fitted(STORED, n_drawn=2)
    for name in ("E", "A", "a", "B", "b"):
        assert again[0][name][0] == pytest.approx(STORED["fit"][name][0], rel=1e-3)
    for one, stored in zip(again[1], STORED["minima"], strict=True):
        assert one["parameters"][0] == pytest.approx(stored["parameters"][0], rel=1e-3)
        low, high = stored["parameters"][1:]
        assert low <= stored["parameters"][0] <= high
    for name, (value, low, high) in STORED["exponents"].items():
        assert low <= value <= high and again[2][name][0] == pytest.approx(value, rel=1e-3)
    smaller = [row for row in STORED["isoflop"] if row["budget"] < max(scaling.SIZES)]
    ahead = scaling.law_of(scaling.means(smaller))
    for row, found in zip(STORED["held_out"]["rows"], again[3]["rows"], strict=True):
        steps = scaling.steps_of(STORED["held_out"]["budget"], row["d_model"])
        n_tokens = steps * scaling.BATCH * scaling.CONTEXT
        predicted = law(scaling.size(row["d_model"]), n_tokens, **ahead)
        for told in (row, found):
            assert told["predicted"][0] == pytest.approx(predicted, abs=1e-3)


@pytest.mark.slow
def test_rows_are_reproduced(needed):
    needed("tatoeba")
    torch.set_num_threads(1)
    assert scaling.read_text() == STORED["text"]
    # The fastest size of the smallest budget is trained completely.
    (row,) = (
        r
        for r in STORED["isoflop"]
        if (r["budget"], r["d_model"], r["seed"]) == (32_000_000_000, 32, 0)
    )
    found = scaling.of_budget(row["budget"], row["d_model"], row["seed"])
    assert found.pop("loss") == pytest.approx(row["loss"], abs=0.01)
    for name, value in found.items():
        assert value == pytest.approx(row[name], abs=0.002)
    # Of other rows, only the first steps are trained.
    rng = random.Random(0)
    for row in rng.sample(STORED["widths"], 4):
        key = row["d_model"], scaling.WIDTH_STEPS, row["rate"], row["seed"]
        steps = scaling.training(*key, mup=row["name"] == "mup")
        first = [next(steps)[2] for _ in range(scaling.N_FIRST)]
        assert first == pytest.approx(row["first_losses"], abs=0.002)
    for row in rng.sample(STORED["muon"], 2):
        key = scaling.MUON_WIDTH, row["steps"], row["rate"], row["seed"], row["optimizer"]
        steps = scaling.training(*key)
        first = [next(steps)[2] for _ in range(scaling.N_FIRST)]
        assert first == pytest.approx(row["first_losses"], abs=0.002)
