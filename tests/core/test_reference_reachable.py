"""`reachable`: against what really moves in a stack of layers, and on cases known by hand."""

import numpy as np
import pytest

from attn.reference import causal_mask, multi_head_attention, reachable


def stack(x, mask, n_layers):
    """Attend with residual connections, with weights that are all different."""
    d_model = x.shape[-1]
    rng = np.random.default_rng(5)
    for _ in range(n_layers):
        w = rng.normal(size=(4, d_model, d_model)) / np.sqrt(d_model)
        x = x + multi_head_attention(x, x, x, *w, n_heads=2, mask=mask)[0]
    return x


@pytest.mark.parametrize("n_layers", [0, 1, 2, 3])
def test_it_is_what_moves_when_an_input_does(n_layers):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = 6
        mask, x = rng.random((n, n)) < 0.25, rng.normal(size=(n, 4))
        before = stack(x, mask, n_layers)
        moved = np.zeros((n, n), dtype=bool)
        for j in range(n):
            changed = x.copy()
            changed[j] += rng.normal(size=4)
            moved[:, j] = (np.abs(stack(changed, mask, n_layers) - before) > 1e-12).any(axis=-1)
        assert np.array_equal(reachable(mask, n_layers), moved)


def test_the_causal_mask_stays_causal_and_one_step_too_far_does_not():
    for n_layers in (1, 2, 9):
        assert np.array_equal(reachable(causal_mask(5), n_layers), causal_mask(5))
        ahead = np.tri(5, k=1, dtype=bool)
        assert np.array_equal(reachable(ahead, n_layers), np.tri(5, k=n_layers, dtype=bool))


def test_masks_may_come_in_batches():
    rng = np.random.default_rng(0)
    masks = rng.random((2, 3, 4, 4)) < 0.3
    found = reachable(masks, 2)
    assert found.shape == masks.shape and found.dtype == bool
    assert np.array_equal(found[1, 2], reachable(masks[1, 2], 2))
    assert reachable(np.ones((0, 0), dtype=bool), 2).shape == (0, 0)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((np.ones((2, 2)), 1), r"mask: expected a boolean array .*got dtype float64"),
        ((np.ones((2, 3), dtype=bool), 1), r"mask: expected shape \(\.\.\., seq_len, seq_len\)"),
        ((np.ones(2, dtype=bool), 1), r"mask: expected shape"),
        ((np.ones((2, 2), dtype=bool), -1), "n_layers: expected at least 0, got -1"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        reachable(*arguments)
