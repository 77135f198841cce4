"""`reachable` and `path_lengths`, against outputs of a stack of layers, and shortest paths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn.reference import causal_mask, multi_head_attention, path_lengths, reachable
from tests.refusals import refusals


def stack(x, mask, n_layers):
    """Apply attention layers with residual connections, with weights that all differ."""
    d_model = x.shape[-1]
    rng = np.random.default_rng(5)
    for _ in range(n_layers):
        w = rng.normal(size=(4, d_model, d_model)) / np.sqrt(d_model)
        x = x + multi_head_attention(x, x, x, *w, n_heads=2, mask=mask)[0]
    return x


@pytest.mark.parametrize("n_layers", [0, 1, 2, 3])
def test_reachable_outputs_are_those_that_change_with_an_input(n_layers):
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


@given(st.integers(1, 7), st.floats(0, 1), st.integers(0, 99))
def test_path_lengths_are_those_of_shortest_paths(n, density, seed):
    mask = np.random.default_rng(seed).random((n, n)) < density
    shortest = np.where(mask, 1.0, np.inf)
    np.fill_diagonal(shortest, 0)
    for stop in range(n):
        shortest = np.minimum(shortest, shortest[:, [stop]] + shortest[[stop]])
    lengths = path_lengths(mask)
    assert lengths.dtype.kind == "i"
    np.testing.assert_array_equal(np.where(lengths < 0, np.inf, lengths), shortest)


def test_attention_has_path_length_one_and_causal_attention_no_path_to_later_tokens():
    lengths = path_lengths(causal_mask(5))
    np.testing.assert_array_equal(lengths, np.tri(5, k=-1) - np.triu(np.ones((5, 5)), k=1))
    assert path_lengths(np.zeros((0, 0), dtype=bool)).shape == (0, 0)


SQUARE, ODD = np.ones((2, 2), dtype=bool), np.ones((2, 3), dtype=bool)
test_what_is_no_mask_is_refused = refusals(
    (lambda: reachable(np.ones((2, 2)), 1), "mask: expected a boolean array .*got dtype float64"),
    (lambda: reachable(ODD, 1), r"mask: expected shape \(\.\.\., seq_len, seq_len\)"),
    (lambda: reachable(SQUARE[0], 1), "mask: expected shape"),
    (lambda: reachable(SQUARE, -1), "n_layers: expected at least 0, got -1"),
    (lambda: path_lengths(np.eye(3)), "mask: expected a boolean array"),
    (lambda: path_lengths(ODD), r"mask: expected shape \(2, 2\), got \(2, 3\)"),
    (lambda: path_lengths(SQUARE[0]), r"mask: expected shape \(2, 2\), got \(2,\)"),
    (lambda: path_lengths(np.True_), "mask: expected shape"),
)
