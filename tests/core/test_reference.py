"""attn.reference against loops over single queries, closed forms, and its documented properties.

`attend_one_by_one` is the ground truth: it *gathers* the keys a query may see instead of
masking the others, so it shares neither code nor method with what it checks.
"""

import math
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn.reference import (
    attention_pooling,
    causal_mask,
    cosine_similarity,
    online_attention,
    padding_mask,
    scaled_dot_product_attention,
    self_attention,
    softmax,
)
from tests.core.helpers import assert_close_arrays as close
from tests.core.helpers import random_array as random
from tests.refusals import refusals


def attend_one_by_one(query, key, value, mask):
    tgt_len, src_len = len(query), len(key)
    output, weights = np.zeros((tgt_len, value.shape[-1])), np.zeros((tgt_len, src_len))
    for i in range(tgt_len):
        seen = [j for j in range(src_len) if mask[i, j]]
        scores = [sum(query[i] * key[j]) / math.sqrt(query.shape[-1]) for j in seen]
        total = sum(math.exp(score) for score in scores)
        for j, score in zip(seen, scores, strict=True):
            weights[i, j] = math.exp(score) / total
            output[i] += weights[i, j] * value[j]
    return output, weights


# softmax


def test_softmax_does_not_overflow_and_ignores_a_constant():
    scores = random(4, 6)
    close(softmax(scores + 1e4), softmax(scores), 1e-11)
    close(softmax([1e308, 0.0, -1e300]), np.array([1.0, 0.0, 0.0]))


def test_softmax_takes_the_peak_of_each_slice():
    """Relative to the largest of all scores, the lower row would be exp(-2000) / 0."""
    close(softmax([[0.0, 0.0], [-2000.0, -2000.0]]), np.full((2, 2), 0.5))
    close(softmax([[0.0, -2000.0], [0.0, -2000.0]], axis=0), np.full((2, 2), 0.5))


def test_softmax_of_nothing_is_zeros():
    weights = softmax([[-np.inf, -np.inf], [-np.inf, 3.0]])
    assert np.array_equal(weights, [[0, 0], [0, 1]])
    assert softmax(np.ones((2, 0))).shape == (2, 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_softmax_refuses_nan_and_plus_infinity(bad):
    with pytest.raises(
        ValueError, match=r"^scores: expected numbers below \+inf, got NaN or \+inf$"
    ):
        softmax([[0.0, 1.0], [bad, -np.inf]])


# scaled dot-product attention


@given(data=st.data())
def test_attention_equals_attending_one_by_one(attention_inputs, data):
    query, key, value, mask = data.draw(attention_inputs)
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    online = online_attention(query, key, value, mask, block_size=2)

    batch = np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    mask = np.ones((), bool) if mask is None else mask
    mask = np.broadcast_to(mask, (*batch, query.shape[-2], key.shape[-2]))
    assert output.shape == online.shape == (*batch, query.shape[-2], value.shape[-1])
    weights = np.broadcast_to(weights, mask.shape)
    for i in np.ndindex(batch):
        one_by_one = attend_one_by_one(
            *(np.broadcast_to(a, (*batch, *a.shape[-2:]))[i] for a in (query, key, value)), mask[i]
        )
        close(output[i], one_by_one[0])
        close(weights[i], one_by_one[1])
        close(online[i], one_by_one[0])


def test_no_visible_score_is_lower_than_a_masked_one():
    """A mask of a finite number such as -1e9 would exceed the visible score of -1e12."""
    inputs = [[1e6]], [[-1e6], [0.0]], [[1.0], [0.0]], [True, False]
    assert scaled_dot_product_attention(*inputs)[0].tolist() == [[1.0]]
    assert online_attention(*inputs, block_size=1).tolist() == [[1.0]]


@pytest.mark.parametrize("attend", [scaled_dot_product_attention, online_attention])
def test_what_is_masked_changes_nothing_to_the_bit(attend):
    query, key, value = random(2, 6, 8), random(2, 9, 8, seed=1), random(2, 9, 3)
    mask = padding_mask([5, 0], 9) & causal_mask(6, 9)
    changed_key, changed_value = key.copy(), value.copy()
    changed_key[0, 5:], changed_value[0, 5:] = 1e3, -1e30
    changed_key[1], changed_value[1] = -1e3, 1e30
    before, after = attend(query, key, value, mask), attend(query, changed_key, changed_value, mask)
    before, after = (x if isinstance(x, tuple) else (x,) for x in (before, after))
    for old, new in zip(before, after, strict=True):
        assert np.array_equal(old, new)
        assert not new[1].any()


def test_integers_are_computed_in_float64_and_float32_stays():
    ones = np.ones((2, 3), dtype=int)
    for dtype, expected in ((int, np.float64), (np.float32, np.float32), (np.float16, np.float16)):
        x = ones.astype(dtype)
        arrays = (*scaled_dot_product_attention(x, x, x), online_attention(x, x, x), softmax(x))
        assert {a.dtype for a in arrays} == {np.dtype(expected)}
    assert scaled_dot_product_attention(ones, ones, ones.astype(np.float32))[0].dtype == np.float64


def test_lists_are_accepted():
    output, _ = scaled_dot_product_attention(
        [[0, 0]], [[1, 2], [3, 4]], [[10], [20]], [True, False]
    )
    assert np.array_equal(output, [[10]])


@pytest.mark.parametrize("attend", [scaled_dot_product_attention, online_attention])
@pytest.mark.parametrize(
    "change, message",
    [
        ({"query": (4,)}, r"query: expected shape \(..., tgt_len, d_k\), got \(4,\)"),
        ({"key": (8,)}, r"key: expected shape \(..., src_len, d_k\), got \(8,\)"),
        ({"value": (5,)}, r"value: expected shape \(..., src_len, d_v\), got \(5,\)"),
        ({"query": (4, 0)}, r"query: expected d_k of at least 1, got shape \(4, 0\)"),
        ({"key": (2, 5, 4)}, r"key: .* \(..., src_len, 8\) to match query, got \(2, 5, 4\)"),
        ({"value": (6, 3)}, r"value: .* \(..., 5, d_v\) to match key, got \(6, 3\)"),
        ({"key": (3, 5, 8)}, r"key: .* dimensions that broadcast with \(2,\), got \(3,\)"),
        ({"mask": (5, 5)}, r"mask: .* broadcasts to \(2, 4, 5\), got \(5, 5\)"),
        ({"mask": (2, 1, 4, 5)}, r"mask: .* broadcasts to \(2, 4, 5\), got \(2, 1, 4, 5\)"),
    ],
)
def test_wrong_shapes_are_refused(attend, change, message):
    shapes = {"query": (2, 4, 8), "key": (5, 8), "value": (5, 8), "mask": (4, 5)} | change
    mask = np.ones(shapes.pop("mask"), dtype=bool)
    with pytest.raises(ValueError, match=f"^{message}$"):
        attend(*(random(*shape) for shape in shapes.values()), mask)


@pytest.mark.parametrize("attend", [scaled_dot_product_attention, online_attention])
def test_invalid_values_are_refused(attend):
    x, mask = random(2, 3), np.ones((2, 2))
    boolean = r"^mask: expected a boolean array \(True = may attend\), got dtype float64$"
    with pytest.raises(ValueError, match=boolean):
        attend(x, x, x, mask)
    for position, name in enumerate(("query", "key", "value")):
        for bad in (np.nan, np.inf, -np.inf):
            inputs = [x.copy(), x.copy(), x.copy()]
            inputs[position][1, 1] = bad
            hidden = np.array([True, False])
            message = f"^{name}: expected finite numbers, got 1 NaN or infinite$"
            with pytest.raises(ValueError, match=message):
                attend(*inputs, hidden)
    with pytest.raises(ValueError, match="^key: expected real numbers, got dtype complex128$"):
        attend(x, x + 0j, x)


@pytest.mark.pairwise
@pytest.mark.parametrize("attend", [scaled_dot_product_attention, online_attention])
@pytest.mark.parametrize("mask", [None, [False, True]], ids=["all", "masked"])
@pytest.mark.parametrize(
    "largest, dtype", [(1e200, np.float64), (1e30, np.float32), (500, np.float16)]
)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_products_that_overflow_are_refused(attend, mask, largest, dtype, sign):
    """A score of -inf would count as masked, and a query with only such scores would get zeros."""
    query, key = np.array([[largest]], dtype), np.array([[sign * largest], [1]], dtype)
    message = f"^query, key: expected products that fit in {np.dtype(dtype)}, got an overflow$"
    with pytest.raises(ValueError, match=message):
        attend(query, key, np.ones((2, 1), dtype), mask)


# self-attention


def test_self_attention_projects_rows():
    x, mask = random(2, 4, 6), causal_mask(4)
    w_q, w_k, w_v = random(6, 3), random(6, 3, seed=1), random(6, 5)
    output, weights = self_attention(x, w_q, w_k, w_v, mask)
    assert output.shape == (2, 4, 5)
    for i in range(2):
        expected = attend_one_by_one(x[i] @ w_q, x[i] @ w_k, x[i] @ w_v, mask)
        close(output[i], expected[0])
        close(weights[i], expected[1])


def test_self_attention_without_a_mask_allows_all():
    x, w_q, w_k, w_v = random(4, 6), random(6, 3), random(6, 3, seed=1), random(6, 5)
    output, weights = self_attention(x, w_q, w_k, w_v)
    expected = attend_one_by_one(x @ w_q, x @ w_k, x @ w_v, np.ones((4, 4), bool))
    close(output, expected[0])
    close(weights, expected[1])


test_self_attention_refuses_wrong_shapes = refusals(
    (((6,), (6, 3), (6, 3), (6, 3)), r"x: expected shape \(..., seq_len, d_model\), got \(6,"),
    (((4, 6), (5, 3), (6, 3), (6, 3)), r"w_q: expected shape \(6, d_k\) to match x, got"),
    (((4, 6), (6, 3), (6,), (6, 3)), r"w_k: expected shape \(6, d_k\) to match x, got \(6,\)"),
    (((4, 6), (6, 3), (6, 3), (3, 6)), r"w_v: expected shape \(6, d_v\) to match x, got"),
    (((4, 6), (6, 3), (6, 2), (6, 3)), r"w_k: expected shape \(6, 3\) to match w_q, got"),
    of=lambda shapes: self_attention(*(random(*shape) for shape in shapes)),
)


def test_self_attention_names_the_array_with_a_nan():
    w = np.array([[1.0, np.nan]])
    with pytest.raises(ValueError, match="^w_v: expected finite numbers, got 1 NaN or infinite$"):
        self_attention([[1.0]], [[1.0]], [[1.0]], w)


# online attention


@pytest.mark.parametrize("block_size", [1, 2, 3, 5, 7, 16, 17, 1000])
@pytest.mark.parametrize("mask_kind", ["none", "random", "row", "column", "causal", "dead rows"])
def test_online_attention_equals_ordinary_attention(block_size, mask_kind):
    tgt_len, src_len = 11, 17
    mask = {
        "none": None,
        "random": random(3, tgt_len, src_len, seed=2) > 0,
        "row": padding_mask([17, 4, 0], src_len),
        "column": random(tgt_len, 1, seed=3) > 0,
        "causal": causal_mask(tgt_len, src_len),
        "dead rows": random(tgt_len, src_len, seed=4) > 1.7,
    }[mask_kind]
    query, key, value = random(3, tgt_len, 6), random(3, src_len, 6), random(3, src_len, 2)
    # With rising scores every block changes the peak; with falling scores only the first one sets
    # it.
    for slope in (30, 0, -30):
        ramp = slope * np.linspace(0, 1, src_len)[:, None] * np.ones(6)
        inputs = (abs(query), key + ramp, value)
        expected, weights = scaled_dot_product_attention(*inputs, mask)
        close(online_attention(*inputs, mask, block_size=block_size), expected, 1e-11)
    if mask_kind == "dead rows":
        assert (weights.sum(axis=-1) == 0).any() and (weights.sum(axis=-1) > 0).any()


@pytest.mark.parametrize("given, size", [({}, 256), ({"block_size": 100}, 100)])
def test_online_attention_reads_blocks_of_the_given_size(monkeypatch, given, size):
    shapes = []
    monkeypatch.setattr(
        "attn.reference.online.check_overflow", lambda _, scores: shapes.append(scores.shape)
    )
    online_attention(random(size + 1, 2), random(size + 3, 2), random(size + 3, 2), **given)
    assert shapes == [(size, size), (size, 3), (1, size), (1, 3)]


def peak_memory(attend, length):
    x = random(length, 16).astype(np.float32)
    mask = padding_mask(length - 5, length)
    tracemalloc.start()
    try:
        attend(x, x, x, mask)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_online_memory_is_linear_in_the_length():
    online, naive = (
        [peak_memory(attend, length) for length in (1024, 4096)]
        for attend in (online_attention, scaled_dot_product_attention)
    )
    assert naive[1] / naive[0] > 12
    assert online[1] / online[0] < 5
    assert naive[1] / online[1] > 50


@pytest.mark.parametrize(
    "block_size, message",
    [(0, "at least 1, got 0"), (-2, "at least 1, got -2"), (2.5, "an integer, got 2.5")],
)
def test_online_attention_refuses_an_empty_block(block_size, message):
    with pytest.raises(ValueError, match=f"^block_size: expected {message}$"):
        online_attention(np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), block_size=block_size)


# similarity and pooling


@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
def test_similarity_agrees_with_pytorch(lead):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(*lead, 4, 5)), rng.normal(size=(6, 5))
    wanted = torch.cosine_similarity(torch.tensor(a)[..., :, None, :], torch.tensor(b), dim=-1)
    np.testing.assert_allclose(cosine_similarity(a, b), wanted.numpy(), rtol=1e-12)


def test_similarity_is_the_cosine_of_the_angle():
    angles = np.linspace(0, np.pi, 7)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    np.testing.assert_allclose(cosine_similarity([[2.0, 0.0]], circle)[0], np.cos(angles))


@pytest.mark.parametrize("length", [1e-200, 1e-3, 1.0, 1e3, 1e200])
def test_similarity_does_not_depend_on_lengths(length):
    a, b = np.random.default_rng(1).normal(size=(2, 3, 4))
    np.testing.assert_allclose(cosine_similarity(length * a, b), cosine_similarity(a, b))


def test_the_similarity_of_a_zero_vector_is_zero():
    similarity = cosine_similarity([[0.0, 0.0], [1.0, 2.0]], [[1.0, 2.0], [0.0, 0.0]])
    np.testing.assert_allclose(similarity, [[0, 0], [1, 0]], atol=1e-15)


def test_similarity_keeps_its_dtype_and_integers_become_float64():
    single = np.ones((2, 3), dtype=np.float32)
    assert cosine_similarity(single, single).dtype == np.float32
    assert cosine_similarity([[1, 2]], [[2, 1]]).dtype == np.float64


def test_similarity_of_no_vectors_is_empty():
    assert cosine_similarity(np.ones((0, 3)), np.ones((2, 3))).shape == (0, 2)
    np.testing.assert_array_equal(cosine_similarity(np.ones((1, 0)), np.ones((2, 0))), [[0, 0]])


def test_pooling_is_a_mean_weighted_by_the_softmax_of_the_scores():
    query, key, value = random(3), random(2, 4, 5, 3, seed=1), random(2, 4, 5, 6, seed=2)
    output, weights = attention_pooling(query, key, value)
    for place in np.ndindex(2, 4):
        row = softmax([sum(q * x for q, x in zip(query, k, strict=True)) for k in key[place]])
        np.testing.assert_allclose(weights[place], row)
        wanted = sum(w * v for w, v in zip(row, value[place], strict=True))
        np.testing.assert_allclose(output[place], wanted)


def test_a_query_of_zeros_takes_the_mean_and_no_positions_give_zeros():
    key, value = random(5, 3), random(5, 4)
    output, weights = attention_pooling(np.zeros(3), key, value)
    np.testing.assert_allclose(output, value.mean(axis=0))
    np.testing.assert_allclose(weights, 0.2)
    assert not attention_pooling(np.zeros(3), key[:0], value[:0])[0].any()


test_similarity_and_pooling_refuse = refusals(
    (
        lambda: cosine_similarity(random(2, 3), random(2, 4)),
        r"b: expected shape \(\.\.\., m, 3\).* got",
    ),
    (
        lambda: cosine_similarity(random(3), random(2, 3)),
        r"a: expected shape \(\.\.\., n, d\), got",
    ),
    (lambda: cosine_similarity([[np.nan]], [[1.0]]), "a: expected finite"),
    (lambda: cosine_similarity([[1.0, 1.0]], [["x", "y"]]), "b: expected real numbers"),
    (
        lambda: attention_pooling(random(2, 3), random(5, 3), random(5, 4)),
        r"query: .* \(d_k,\), got \(2",
    ),
    (
        lambda: attention_pooling(random(3), random(5, 2), random(5, 4)),
        r"key: .* \(..., src_len, 3\) to",
    ),
    (
        lambda: attention_pooling(random(3), random(5, 3), random(4, 4)),
        r"value: .* \(..., 5, d_v\) to mat",
    ),
    (
        lambda: attention_pooling(random(3), random(2, 5, 3), random(5, 4)),
        r"value: expected batch dimensions \(2,\) to match key, got \(\)",
    ),
    (lambda: attention_pooling([1.0], [[np.nan]], [[1.0]]), "key: expected finite numbers, got 1"),
    (lambda: attention_pooling([1e200], [[1e200]], [[1.0]]), "query, key: .* an overflow"),
)
test_similarity_and_pooling_refuse = pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")(
    test_similarity_and_pooling_refuse
)


# the module


def test_importing_it_does_not_load_torch():
    program = "import sys, attn, attn.reference; print('torch' in sys.modules)"
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {program}"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
