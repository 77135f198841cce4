"""What chapter 05 draws of `benchmarks.depth`: complete, and the cheap part of it again."""

import json

import pytest
import torch

from benchmarks import depth

STORED = json.loads(depth.RESULTS.read_text(encoding="utf-8"))


def test_every_variant_is_there():
    assert STORED["steps"] == list(range(depth.EVERY, depth.STEPS + 1, depth.EVERY))
    assert STORED["loss"].keys() == STORED["right"].keys() == depth.VARIANTS.keys()
    assert all(len(losses) == len(STORED["steps"]) for losses in STORED["loss"].values())


@pytest.mark.parametrize("name", ("post_2", "no_residual_2"))
def test_two_layers_begin_as_they_did(name):
    torch.set_num_threads(1)
    losses, _ = depth.train(*depth.VARIANTS[name], steps=2 * depth.EVERY)
    assert losses == pytest.approx(STORED["loss"][name][:2], abs=0.05)


def test_what_is_taken_away_is_gone():
    x = torch.randn(2, 3, depth.D_MODEL)
    bare = depth.Layer(residual=False, norm="none")
    attended, _ = bare.self_attention(x)
    torch.testing.assert_close(bare(x)[0], bare.feed_forward(attended))
    whole, own = depth.Layer(True, "pre"), depth.EncoderLayer(depth.D_MODEL, 4, 64, norm="pre")
    own.load_state_dict(whole.state_dict())
    torch.testing.assert_close(whole(x)[0], own(x)[0])
