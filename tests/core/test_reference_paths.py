"""attn.reference: pooling with one query, and how far apart positions are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn.reference import attention_pooling, causal_mask, path_lengths, softmax


def random(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


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


@pytest.mark.parametrize(
    "query, key, value, message",
    [
        ((2, 3), (5, 3), (5, 4), r"query: expected shape \(d_k,\), got \(2, 3\)"),
        ((3,), (5, 2), (5, 4), r"key: expected shape \(..., src_len, 3\) to match query"),
        ((3,), (5, 3), (4, 4), r"value: expected shape \(..., 5, d_v\) to match key"),
        (
            (3,),
            (2, 5, 3),
            (5, 4),
            r"value: expected batch dimensions \(2,\) to match key, got \(\)",
        ),
    ],
)
def test_pooling_refuses_shapes_that_do_not_fit(query, key, value, message):
    with pytest.raises(ValueError, match=message):
        attention_pooling(np.ones(query), np.ones(key), np.ones(value))


def test_pooling_refuses_what_is_not_finite():
    with pytest.raises(ValueError, match=r"^key: expected finite numbers, got 1"):
        attention_pooling([1.0], [[np.nan], [1.0]], [[1.0], [2.0]])
    with pytest.raises(ValueError, match="overflow"), np.errstate(over="ignore"):
        attention_pooling([1e200], [[1e200]], [[1.0]])


@given(st.integers(1, 7), st.floats(0, 1), st.integers(0, 99))
def test_lengths_are_the_shortest_ways(n, density, seed):
    mask = np.random.default_rng(seed).random((n, n)) < density
    shortest = np.where(mask, 1.0, np.inf)
    np.fill_diagonal(shortest, 0)
    for stop in range(n):
        shortest = np.minimum(shortest, shortest[:, [stop]] + shortest[[stop]])
    lengths = path_lengths(mask)
    assert lengths.dtype.kind == "i"
    np.testing.assert_array_equal(np.where(lengths < 0, np.inf, lengths), shortest)


def test_attention_is_one_step_wide_and_a_causal_one_never_looks_ahead():
    lengths = path_lengths(causal_mask(5))
    np.testing.assert_array_equal(lengths, np.tri(5, k=-1) - np.triu(np.ones((5, 5)), k=1))
    assert path_lengths(np.zeros((0, 0), dtype=bool)).shape == (0, 0)


@pytest.mark.parametrize(
    "mask, message",
    [
        (np.eye(3), "mask: expected a boolean array"),
        (np.ones((2, 3), dtype=bool), r"mask: expected shape \(2, 2\), got \(2, 3\)"),
        (np.ones(3, dtype=bool), r"mask: expected shape \(3, 3\), got \(3,\)"),
        (np.True_, r"mask: expected shape"),
    ],
)
def test_lengths_refuse_what_is_no_mask(mask, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        path_lengths(mask)
