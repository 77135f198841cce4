"""Attention at length: windows, parts of the keys, and linear attention, against equivalents."""

import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from attn import masks, reference
from attn.reference import (
    causal_mask,
    feature_map,
    linear_attention,
    merge_attention,
    partial_attention,
    scaled_dot_product_attention,
    windowed_attention,
)
from tests.core.helpers import random_array as random
from tests.refusals import refusals

both = pytest.mark.parametrize("library", [masks, reference], ids=["torch", "numpy"])


def close(a, b, tolerance=1e-12):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


# The window mask


@both
@given(tgt_len=st.integers(0, 7), src_len=st.integers(0, 7), window=st.integers(1, 9))
def test_a_window_counts_positions_from_the_end(library, tgt_len, src_len, window):
    mask = library.window_mask(tgt_len, window, src_len)
    assert mask.shape == (tgt_len, src_len) and str(mask.dtype).endswith("bool")
    for i in range(tgt_len):
        for j in range(src_len):
            back = (src_len - j) - (tgt_len - i)
            assert bool(mask[i, j]) == (0 <= back < window)


@both
@pytest.mark.parametrize(
    "arguments, message",
    [
        ((-1, 2), "tgt_len: expected at least 0, got -1"),
        ((2, 0), "window: expected at least 1, got 0"),
        ((2, 1.5), "window: expected an integer, got 1.5"),
        ((2, 1, -3), "src_len: expected at least 0, got -3"),
    ],
)
def test_the_window_mask_refuses_invalid_arguments(library, arguments, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        library.window_mask(*arguments)


def test_the_window_mask_is_made_on_the_given_device():
    assert masks.window_mask(2, 2, device="meta").device.type == "meta"


# Attention in windows


@pytest.mark.pairwise
@pytest.mark.parametrize("tgt_len, src_len", [(13, 13), (5, 13), (13, 5), (1, 13), (0, 4), (4, 0)])
@pytest.mark.parametrize("window", [1, 3, 4, 30])
@pytest.mark.parametrize("block_size", [1, 4, 256])
def test_windowed_is_masked_attention_in_pytorch(tgt_len, src_len, window, block_size):
    query, key, value = random(2, tgt_len, 6), random(2, src_len, 6, seed=1), random(src_len, 3)
    found = windowed_attention(query, key, value, window, block_size)
    distance = np.arange(src_len - tgt_len, src_len)[:, None] - np.arange(src_len)
    seen = (distance >= 0) & (distance < window)
    expected = F.scaled_dot_product_attention(
        *(torch.tensor(x).expand(2, *x.shape[-2:]) for x in (query, key, value)), torch.tensor(seen)
    )
    # PyTorch's result for a query without visible keys is undefined; ours is zero.
    expected = np.where(seen.any(axis=-1)[:, None], expected.numpy(), 0)
    assert found.shape == (2, tgt_len, 3)
    close(found, expected)


def test_windowed_does_not_compute_scores_outside_the_window(monkeypatch):
    shapes = []

    def watched(query, key, value, mask):
        shapes.append(mask.shape)
        return scaled_dot_product_attention(query, key, value, mask)

    monkeypatch.setattr("attn.reference.online.scaled_dot_product_attention", watched)
    x = random(100, 4)
    windowed_attention(x, x, x, window=11, block_size=20)
    assert shapes == [(20, 20), (20, 30), (20, 30), (20, 30), (20, 30)]


TWO = np.ones((2, 2))
test_windowed_refuses = refusals(
    (lambda: windowed_attention(TWO, TWO, TWO, 0), "window: expected at least 1, got 0$"),
    (lambda: windowed_attention(TWO, TWO, TWO, 2, 0), "block_size: expected at least 1, got 0$"),
)


# Parts of the keys


@pytest.mark.pairwise
@pytest.mark.parametrize("slope", [40, 0, -40])
@pytest.mark.parametrize("mask_kind", ["none", "causal", "random"])
@pytest.mark.parametrize("cuts", [(), (1,), (4, 5), (2, 5, 9), (0, 11)])
def test_merged_parts_equal_attention_over_all_keys(cuts, mask_kind, slope):
    query, key, value = abs(random(3, 7, 6)), random(3, 11, 6), random(3, 11, 2)
    # The peak is in the last part or in the first.
    key = key + slope * np.linspace(0, 1, 11)[:, None]
    mask = {
        "none": np.ones((7, 11), dtype=bool),
        "causal": causal_mask(7, 11),
        "random": random(3, 7, 11) > 1,
    }[mask_kind]
    parts = [
        partial_attention(query, key[:, a:b], value[:, a:b], mask[..., a:b])
        for a, b in zip((0, *cuts), (*cuts, 11), strict=True)
    ]
    peak, total, output = parts[0]
    for part in parts[1:]:
        peak, total, output = merge_attention(peak, total, output, *part)
    expected, weights = scaled_dot_product_attention(query, key, value, mask)
    seen = weights.sum(axis=-1, keepdims=True) > 0
    close(np.where(seen, output / np.where(seen, total, 1), 0), expected, 1e-11)
    assert np.array_equal(peak == -np.inf, ~seen)
    if mask_kind == "random":
        assert not seen.all()


def test_peak_total_and_output_of_a_part_equal_their_definitions():
    query, key, value = random(3, 4), random(5, 4), random(5, 2)
    scores = query @ key.T / 2
    peak, total, output = partial_attention(query, key, value)
    close(peak[:, 0], scores.max(axis=1))
    close(np.log(total[:, 0]) + peak[:, 0], torch.tensor(scores).logsumexp(dim=1).numpy())
    close(output, np.exp(scores - peak) @ value)


def test_merging_does_not_depend_on_order_or_grouping():
    parts = [partial_attention(random(4, 6), random(n, 6), random(n, 3)) for n in (2, 3, 4)]
    a, b, c = parts
    left = merge_attention(*merge_attention(*a, *b), *c)
    right = merge_attention(*c, *merge_attention(*b, *a))
    for one, other in zip(left, right, strict=True):
        close(one, other)


def test_a_part_without_visible_keys_changes_nothing():
    part = partial_attention(random(4, 6), random(3, 6), random(3, 2))
    nothing = partial_attention(random(4, 6), random(0, 6), random(0, 2))
    for merged in (merge_attention(*part, *nothing), merge_attention(*nothing, *part)):
        for one, other in zip(merged, part, strict=True):
            close(one, other)
    peak, total, output = merge_attention(*nothing, *nothing)
    assert (peak == -np.inf).all() and not total.any() and not output.any()


ONE, FOUR = ([np.zeros((n, 1)), np.ones((n, 1)), np.ones((n, 2))] for n in (3, 4))
TWICE, THRICE = ([np.stack([x] * n) for x in ONE] for n in (2, 3))
test_merging_refuses = refusals(
    (lambda: merge_attention(*ONE, *FOUR), r"output_b: expected shape \(\.\.\., 3, 2\) to match"),
    (
        lambda: merge_attention(*ONE, ONE[0], np.ones(3), ONE[2]),
        r"total_b: expected shape \(3, 1\) to match output_b",
    ),
    (
        lambda: merge_attention(np.zeros((1, 3)), *ONE[1:], *ONE),
        r"peak_a: expected shape \(3, 1\) to match output_a",
    ),
    (lambda: merge_attention(*TWICE, *THRICE), "output_b: expected a shape that broadcasts"),
    (
        lambda: merge_attention(ONE[0] + np.nan, *ONE[1:], *ONE),
        "scores: expected numbers below .inf",
    ),
)


# Linear attention


def by_the_square(query, key, value, is_causal=False):
    """Compute the whole matrix of weights, which linear attention avoids."""
    phi_q, phi_k = (F.elu(torch.tensor(x)) + 1 for x in (query, key))
    weights = phi_q @ phi_k.mT
    if is_causal:
        weights = weights.tril()
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return (weights @ torch.tensor(value)).numpy(), weights.numpy()


def test_the_feature_map_is_elu_plus_one():
    x = np.linspace(-9, 9, 37)
    close(feature_map(x), (F.elu(torch.tensor(x)) + 1).numpy())
    assert (feature_map(x) > 0).all()
    assert feature_map(x.astype(np.float32)).dtype == np.float32
    with np.errstate(all="raise"):
        assert feature_map([2000.0])[0] == 2001
    with pytest.raises(ValueError, match="^x: expected real numbers"):
        feature_map(["a"])


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
@pytest.mark.parametrize("tgt_len, src_len", [(4, 9), (9, 4), (1, 1)])
def test_linear_attention_equals_the_product_with_all_weights(batch, tgt_len, src_len):
    query, key = random(*batch, tgt_len, 6), random(*batch, src_len, 6, seed=1)
    value = random(*batch, src_len, 3)
    close(linear_attention(query, key, value), by_the_square(query, key, value)[0])


@pytest.mark.parametrize("block_size", [1, 3, 4, 11, 64])
@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_causal_linear_attention_equals_a_lower_triangle_for_any_block(block_size, batch):
    query, key, value = (random(*batch, 11, d, seed=d) for d in (6, 6, 3))
    key = key * 3
    expected, _ = by_the_square(query, key, value, is_causal=True)
    close(linear_attention(query, key, value, is_causal=True, block_size=block_size), expected)


def test_linear_shapes_broadcast_and_empty_sequences_are_zero():
    query, key, value = random(2, 1, 5, 4), random(3, 7, 4), random(7, 2)
    found = linear_attention(query, key, value)
    assert found.shape == (2, 3, 5, 2)
    close(found[1, 2], linear_attention(query[1, 0], key[2], value))
    assert not linear_attention(random(3, 4), random(0, 4), random(0, 2)).any()
    assert linear_attention(*(random(0, d) for d in (4, 4, 2)), is_causal=True).shape == (0, 2)
    # exp(-10000) rounds to zero.
    gone = np.full((3, 2), -1e4)
    assert not linear_attention(gone, gone, random(3, 2)).any()


def test_linear_attention_memory_is_linear_in_the_length():
    def peak(length, is_causal):
        x = random(length, 16).astype(np.float32)
        tracemalloc.start()
        try:
            linear_attention(x, x, x, is_causal)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    for is_causal in (False, True):
        assert peak(4096, is_causal) < 5 * peak(1024, is_causal)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            (random(2, 3), random(3, 3), random(3, 3), True),
            r"^query: expected shape \(\.\.\., 3, 3",
        ),
        ((random(2, 3), random(3, 2), random(3, 3)), r"^key: expected shape \(\.\.\., src_len, 3"),
        ((random(2, 3), random(3, 3), random(2, 3)), r"^value: expected shape"),
        ((random(2, 3),) * 3 + (True, 0), r"^block_size: expected at least 1, got 0"),
        ((np.full((2, 3), np.nan),) + (random(2, 3),) * 2, r"^query: expected finite"),
        ((np.full((2, 3), 1e200),) * 3, r"^query, key, value: expected products that fit"),
    ],
)
def test_linear_attention_refuses_invalid_arguments(arguments, message):
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(ValueError, match=message):
        linear_attention(*arguments)
