"""The results of `experiments.depth` that chapter 05 draws: complete, and a quick part again."""

import json

import pytest
import torch

from experiments import depth

STORED = json.loads(depth.RESULTS.read_text(encoding="utf-8"))


def test_every_variant_is_there():
    assert STORED["steps"] == list(range(depth.EVERY, depth.STEPS + 1, depth.EVERY))
    assert STORED["loss"].keys() == STORED["right"].keys() == depth.VARIANTS.keys()
    for name, runs in STORED["loss"].items():
        assert len(runs) == len(STORED["right"][name]) == depth.SEEDS
        assert all(len(losses) == len(STORED["steps"]) for losses in runs)


def test_with_twelve_layers_only_pre_norm_learns_with_every_seed():
    right = STORED["right"]
    assert min(right["pre"]) > 0.98
    assert max(right["post"] + right["post_warm"] + right["post_slow"]) < 0.32
    assert max(right["no_residual"]) < 0.11
    assert min(right["no_residual_2"]) > 0.98


@pytest.mark.slow
@pytest.mark.parametrize("name", ("post_2", "no_residual_2"))
def test_the_first_losses_of_two_layers_are_as_stored(name):
    torch.set_num_threads(1)
    seed = depth.SEEDS - 1
    losses, _ = depth.train(*depth.VARIANTS[name], seed=seed, steps=2 * depth.EVERY)
    assert losses == pytest.approx(STORED["loss"][name][seed][:2], abs=0.05)


def test_removed_residuals_and_norms_are_not_applied():
    x = torch.randn(2, 3, depth.D_MODEL)
    bare = depth.Layer(residual=False, norm="none")
    attended, _ = bare.self_attention(x)
    torch.testing.assert_close(bare(x)[0], bare.feed_forward(attended))
    whole, own = depth.Layer(True, "pre"), depth.EncoderLayer(depth.D_MODEL, 4, 64, norm="pre")
    own.load_state_dict(whole.state_dict())
    torch.testing.assert_close(whole(x)[0], own(x)[0])
