"""attn.reference.multi_head against loops over heads and queries.

`test_multi_head` compares it with the module, and `test_torch_weights` that with PyTorch's own.
"""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attn.reference import join_heads, multi_head_attention, split_heads
from tests.core.helpers import assert_close_arrays as close
from tests.core.helpers import random_array as random
from tests.refusals import refusals


def head_by_head(query, key, value, w_q, w_k, w_v, w_o, n_heads, mask, b_q, b_k, b_v, b_o):
    """Attend with one head and one query at a time, over the visible keys; no batch dimensions."""
    d_k = w_q.shape[1] // n_heads
    n_kv_heads = w_k.shape[1] // d_k
    d_v = w_v.shape[1] // n_kv_heads
    q, k, v = query @ w_q + b_q, key @ w_k + b_k, value @ w_v + b_v
    weights = np.zeros((n_heads, len(query), len(key)))
    joined = np.zeros((len(query), n_heads * d_v))
    for h in range(n_heads):
        served_by = h * n_kv_heads // n_heads
        for i in range(len(query)):
            seen = np.flatnonzero(mask[h, i])
            kept = k[seen, served_by * d_k : (served_by + 1) * d_k]
            scores = [math.exp(s) for s in kept @ q[i, h * d_k : (h + 1) * d_k] / math.sqrt(d_k)]
            for j, score in zip(seen, scores, strict=True):
                weights[h, i, j] = score / sum(scores)
                found = weights[h, i, j] * v[j, served_by * d_v : (served_by + 1) * d_v]
                joined[i, h * d_v : (h + 1) * d_v] += found
    return joined @ w_o + b_o, weights


@st.composite
def any_call(draw):
    """Draw arguments: any lengths, heads and sizes, broadcasting batches, every mask."""
    leads = draw(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=2, max_side=3))
    lengths = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    n_kv_heads, group = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    d_k, d_v, d_out = (draw(st.integers(1, 3)) for _ in range(3))
    d_query, d_key, d_value = (draw(st.integers(1, 4)) for _ in range(3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_heads, batch = n_kv_heads * group, leads.result_shape
    columns = n_heads * d_k, n_kv_heads * d_k, n_kv_heads * d_v, d_out
    rows = d_query, d_key, d_value, n_heads * d_v

    sizes = zip((lengths[0], lengths[1], lengths[1]), rows, strict=False)
    inputs = [rng.standard_normal((*a, *b)) for a, b in zip(leads.input_shapes, sizes, strict=True)]
    matrices = [rng.standard_normal(size) for size in zip(rows, columns, strict=True)]
    biases = [rng.standard_normal(size) if draw(st.booleans()) else None for size in columns]
    of_each_head = draw(st.booleans())
    full = (*batch, n_heads, *lengths) if of_each_head else (*batch, *lengths)
    ones = [draw(st.booleans()) for _ in full]
    shape = [1 if one else size for one, size in zip(ones, full, strict=True)]
    dropped = 0 if of_each_head else draw(st.integers(0, len(full) - 1))
    density = draw(st.sampled_from([0.0, 0.4, 0.8]))
    mask = rng.random(shape[dropped:]) < density if draw(st.booleans()) else None
    seen = np.ones((), bool) if mask is None else mask
    if not of_each_head and seen.ndim >= 2:
        seen = np.expand_dims(seen, -3)
    seen = np.broadcast_to(seen, (*batch, n_heads, *lengths))
    return inputs, matrices, n_heads, mask, biases, batch, seen


@given(call=any_call())
def test_it_equals_attending_head_by_head(call):
    inputs, matrices, n_heads, mask, biases, batch, seen = call
    named = dict(zip(("b_q", "b_k", "b_v", "b_o"), biases, strict=True))
    output, weights = multi_head_attention(*inputs, *matrices, n_heads, mask, **named)

    inputs = [np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in inputs]
    assert output.shape == (*batch, inputs[0].shape[-2], matrices[3].shape[1])
    weights = np.broadcast_to(weights, (*batch, n_heads, *seen.shape[-2:]))
    zeros = [0.0 if bias is None else bias for bias in biases]
    for i in np.ndindex(batch):
        expected = head_by_head(*(x[i] for x in inputs), *matrices, n_heads, seen[i], *zeros)
        close(output[i], expected[0], 1e-11)
        close(weights[i], expected[1], 1e-11)


# the meaning of heads and masks


def matrices(d_model=8):
    return [random(d_model, d_model, seed=seed) / 2 for seed in range(4)]


def test_a_query_whose_keys_are_masked_gets_the_output_bias():
    x, b_o = random(3, 8), random(8)
    mask = np.array([True, False, True])[:, None]
    output, weights = multi_head_attention(x, x, x, *matrices(), 2, mask, b_o=b_o)
    assert np.array_equal(output[1], b_o) and not weights[:, 1].any()
    output, _ = multi_head_attention(x, x, x, *matrices(), 2, mask)
    assert not output[1].any() and output[[0, 2]].any()


@pytest.mark.parametrize("batch", [(), (0,), (2,)])
@pytest.mark.parametrize("lengths", [(0, 3), (3, 0), (0, 0)])
def test_empty_sequences_give_zeros_or_empty_outputs(batch, lengths):
    query, memory = random(*batch, lengths[0], 8), random(*batch, lengths[1], 8)
    output, weights = multi_head_attention(query, memory, memory, *matrices(), 2)
    assert output.shape == (*batch, lengths[0], 8) and not output.any()
    assert weights.shape == (*batch, 2, *lengths)


def test_integers_are_computed_in_float64_and_float32_stays():
    ones = np.ones((4, 4), dtype=int)
    for dtype, expected in ((int, np.float64), (np.float32, np.float32), (np.float16, np.float16)):
        x = ones.astype(dtype)
        for bias in (None, x[0]):
            names = ("b_q", "b_k", "b_v", "b_o")
            arrays = multi_head_attention(x, x, x, x, x, x, x, 2, **dict.fromkeys(names, bias))
            assert {a.dtype for a in arrays} == {np.dtype(expected)}


def test_lists_are_accepted():
    one = [[1]]
    output, weights = multi_head_attention([[0]], [[1], [2]], [[5], [7]], one, one, one, [[2]], 1)
    assert output.tolist() == [[12]] and weights.tolist() == [[[0.5, 0.5]]]


# errors


def arguments():
    query, memory = random(2, 4, 6), random(2, 5, 8)
    w_q, w_k, w_v, w_o = random(6, 12), random(8, 12), random(8, 20), random(20, 6)
    arrays = {"query": query, "key": memory, "value": memory}
    arrays |= {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o, "n_heads": 4}
    arrays |= {"b_q": random(12), "b_k": random(12), "b_v": random(20), "b_o": random(6)}
    return arrays


@pytest.mark.parametrize(
    "name, shape, message",
    [
        ("query", (6,), r"shape \(..., tgt_len, d_model\), got \(6,\)"),
        ("key", (8,), r"shape \(..., src_len, d_model\), got \(8,\)"),
        ("value", (2, 4, 8), r"shape \(..., 5, d_model\) to match key, got \(2, 4, 8\)"),
        ("value", (8,), r"shape \(..., 5, d_model\) to match key, got \(8,\)"),
        ("w_q", (5, 12), r"shape \(6, d_out\) to match query, got \(5, 12\)"),
        ("w_q", (6,), r"shape \(6, d_out\) to match query, got \(6,\)"),
        ("w_k", (6, 12), r"shape \(8, d_out\) to match key, got \(6, 12\)"),
        ("w_v", (1, 8, 20), r"shape \(8, d_out\) to match value, got \(1, 8, 20\)"),
        ("w_o", (12, 6), r"shape \(20, d_out\) to match heads, got \(12, 6\)"),
        ("b_q", (6,), r"shape \(12,\) to match w_q, got \(6,\)"),
        ("b_k", (1, 12), r"shape \(12,\) to match w_k, got \(1, 12\)"),
        ("b_v", (1,), r"shape \(20,\) to match w_v, got \(1,\)"),
        ("b_o", (), r"shape \(6,\) to match w_o, got \(\)"),
        ("mask", (5, 5), r"a shape that broadcasts to \(2, 4, 5\), got \(5, 5\)"),
        ("mask", (3, 4, 5), r"a shape that broadcasts to \(2, 4, 5\), got \(3, 4, 5\)"),
        ("mask", (2, 3, 4, 5), r"a shape that broadcasts to \(2, 4, 4, 5\), got \(2, 3, 4, 5\)"),
        ("mask", (1, 1, 1, 1, 1), r"a shape that broadcasts to \(2, 4, 4, 5\), got \(1, 1, 1, 1"),
    ],
)
def test_wrong_shapes_are_refused(name, shape, message):
    wrong = np.ones(shape, dtype=bool) if name == "mask" else random(*shape)
    with pytest.raises(ValueError, match=f"^{name}: expected {message}"):
        multi_head_attention(**arguments() | {name: wrong})


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"w_q": (6, 0)}, "columns of w_q: expected at least 4, got 0"),
        ({"w_q": (6, 3)}, "columns of w_q: expected at least 4, got 3"),
        ({"w_q": (6, 10)}, "columns of w_q: expected a multiple of n_heads = 4, got 10"),
        ({"w_k": (8, 0)}, "columns of w_k: expected at least 3, got 0"),
        ({"w_k": (8, 2)}, "columns of w_k: expected at least 3, got 2"),
        ({"w_k": (8, 8)}, "columns of w_k: expected a multiple of d_k = 3, got 8"),
        ({"w_k": (8, 9)}, "n_heads: expected a multiple of n_kv_heads = 3, got 4"),
        ({"w_k": (8, 24)}, "n_heads: expected a multiple of n_kv_heads = 8, got 4"),
        ({"w_v": (8, 18)}, "columns of w_v: expected a multiple of n_kv_heads = 4, got 18"),
    ],
)
def test_columns_not_divisible_by_the_heads_are_refused(changes, message):
    wrong = {name: random(*shape) for name, shape in changes.items()}
    biases = dict.fromkeys(("b_q", "b_k", "b_v"))
    with pytest.raises(ValueError, match=f"^{message}$"):
        multi_head_attention(**arguments() | wrong | biases)


def test_one_column_per_head_is_allowed():
    query, key = random(3, 4), random(3, 4, seed=1)
    output, _ = multi_head_attention(query, key, key, *matrices(4), n_heads=4)
    assert output.shape == (3, 4)


@pytest.mark.parametrize(
    "n_heads, message", [(0, "at least 1, got 0"), (1.5, "an integer, got 1.5")]
)
def test_invalid_numbers_of_heads_are_refused(n_heads, message):
    with pytest.raises(ValueError, match=f"^n_heads: expected {message}$"):
        multi_head_attention(**arguments() | {"n_heads": n_heads})


def test_batches_that_do_not_broadcast_are_refused():
    changed = {"key": random(3, 5, 8), "value": random(3, 5, 8)}
    message = (
        r"^query, key, value: expected batch dimensions that broadcast, got \[\(2,\), \(3,\), "
    )
    with pytest.raises(ValueError, match=message):
        multi_head_attention(**arguments() | changed)


@pytest.mark.parametrize("dtype", [int, float])
@pytest.mark.parametrize("shape", [(4, 5), (2, 4, 4, 5)])
def test_masks_of_numbers_are_refused(dtype, shape):
    message = f"^mask: expected a boolean array .True = may attend., got dtype {np.dtype(dtype)}$"
    with pytest.raises(ValueError, match=message):
        multi_head_attention(**arguments(), mask=np.ones(shape, dtype))


@pytest.mark.parametrize(
    "name", ["query", "key", "value", "w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o"]
)
def test_an_array_with_nan_or_infinity_is_named(name):
    for bad in (np.nan, -np.inf):
        array = arguments()[name].copy()
        array[..., -1] = bad
        message = f"^{name}: expected finite numbers, got {(~np.isfinite(array)).sum()} NaN or inf"
        with pytest.raises(ValueError, match=message):
            multi_head_attention(**arguments() | {name: array})
    message = f"^{name}: expected real numbers, got dtype bool$"
    with pytest.raises(ValueError, match=message):
        multi_head_attention(**arguments() | {name: arguments()[name] > 0})


@pytest.mark.filterwarnings("ignore:.*encountered in matmul:RuntimeWarning")
@pytest.mark.parametrize(
    "names, blamed",
    [
        (("query", "w_q"), "query, w_q"),
        (("key", "w_k"), "key, w_k"),
        (("value", "w_v"), "value, w_v"),
        (("value", "w_o"), "heads, w_o"),
    ],
)
def test_products_that_overflow_are_refused(names, blamed):
    changed = {name: np.full_like(arguments()[name], 1e200) for name in names}
    message = f"^{blamed}: expected products that fit in float64, got an overflow$"
    with pytest.raises(ValueError, match=message):
        multi_head_attention(**arguments() | changed)


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
@pytest.mark.parametrize("n_heads", [1, 2, 6])
def test_heads_are_split_as_pytorch_does_it_and_joined_again(batch, n_heads):
    x = random(*batch, 5, 6)
    expected = torch.tensor(x).unflatten(-1, (n_heads, -1)).transpose(-2, -3)
    np.testing.assert_array_equal(split_heads(x, n_heads), expected)
    np.testing.assert_array_equal(join_heads(split_heads(x, n_heads)), x)


test_what_cannot_be_split_or_joined = refusals(
    (lambda: split_heads(np.ones((5, 6)), 4), "d_model: expected a multiple of n_heads = 4, got 6"),
    (lambda: split_heads(np.ones(6), 2), "x: expected shape"),
    (lambda: split_heads(np.ones((5, 6)), 0), "n_heads: expected"),
    (lambda: join_heads(np.ones((5, 6))), "heads: expected shape"),
)
