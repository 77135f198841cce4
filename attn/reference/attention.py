"""Attention, from the scores of one query to self-attention."""

import math

import numpy as np

from attn._checks import check_shape
from attn.reference._numbers import (
    as_numbers,
    check_overflow,
    finite_numbers,
    finite_peak,
    prepare,
)
from attn.reference._types import ArrayLike, Floats


def softmax(scores: ArrayLike, axis: int = -1) -> Floats:
    """Turn scores into weights that are non-negative and sum to one.

    Parameters
    ----------
    scores : array_like, shape (...)
        Real numbers. ``-inf`` means "no weight at all".
    axis : int, default -1
        The axis along which the weights sum to one.

    Returns
    -------
    ndarray, shape (...)
        The weights. A slice that is entirely ``-inf`` has nothing to share its weight
        among: it becomes zeros.

    Raises
    ------
    ValueError
        If there is a NaN or ``+inf``, which would spread to the whole slice unnoticed.

    References
    ----------
    Vaswani et al. (2017), section 3.2.1.

    Examples
    --------
    >>> softmax([0.0, np.log(3.0)])
    array([0.25, 0.75])
    >>> softmax([[1000.0, 1000.0], [-np.inf, -np.inf]])
    array([[0.5, 0.5],
           [0. , 0. ]])
    """
    (scores,) = as_numbers(scores=scores)
    peak = scores.max(axis=axis, keepdims=True, initial=-np.inf)
    exponentials = np.exp(scores - finite_peak(peak))
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def scaled_dot_product_attention(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, mask: ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """Average the values, each weighted by how well its key matches the query.

    The equation is ``softmax(query @ key.T / sqrt(d_k)) @ value``.

    Parameters
    ----------
    query : array_like, shape (..., tgt_len, d_k)
        What each position looks for.
    key : array_like, shape (..., src_len, d_k)
        What each position can be found by.
    value : array_like, shape (..., src_len, d_v)
        What each position gives to those who attend to it.
    mask : array_like of bool, broadcastable to (..., tgt_len, src_len), optional
        True where a query may attend to a key. None allows all.

    Returns
    -------
    output : ndarray, shape (..., tgt_len, d_v)
        One weighted mean of the values per query.
    weights : ndarray, shape (..., tgt_len, src_len)
        The shares of that mean. Rows sum to one; a fully masked row is zero.

    Raises
    ------
    ValueError
        If shapes do not fit, `mask` is not boolean, or an input has a NaN or infinity
        anywhere: ``0 * nan`` is NaN, so not even a masked position may hold one. Also if
        a product of query and key overflows: at -inf it would pass for a masked one.

    References
    ----------
    Vaswani et al. (2017), Eq. 1; for the mask, section 3.2.3.

    Examples
    --------
    >>> query, key, value = [[0.0, 0.0]], [[1.0, 2.0], [3.0, 4.0]], [[10.0], [20.0]]
    >>> output, weights = scaled_dot_product_attention(query, key, value)
    >>> weights
    array([[0.5, 0.5]])
    >>> output
    array([[15.]])
    >>> scaled_dot_product_attention(query, key, value, mask=[[True, False]])[0]
    array([[10.]])
    """
    query, key, value, mask, _ = prepare(query, key, value, mask)
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    check_overflow("query, key", scores)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ value, weights


def self_attention(
    x: ArrayLike, w_q: ArrayLike, w_k: ArrayLike, w_v: ArrayLike, mask: ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """Let the positions of one sequence attend to each other.

    Parameters
    ----------
    x : array_like, shape (..., seq_len, d_model)
        One vector per token.
    w_q, w_k : array_like, shape (d_model, d_k)
        The projections to queries and keys.
    w_v : array_like, shape (d_model, d_v)
        The projection to values.
    mask : array_like of bool, broadcastable to (..., seq_len, seq_len), optional
        True where a position may attend to another.

    Returns
    -------
    output : ndarray, shape (..., seq_len, d_v)
        The new vector of each token.
    weights : ndarray, shape (..., seq_len, seq_len)
        How much of it came from each token.

    Raises
    ------
    ValueError
        If shapes do not fit, `mask` is not boolean, or an input, a projection or a product
        of query and key is not finite.

    References
    ----------
    Vaswani et al. (2017), sections 3.2.1 and 3.2.3.

    Examples
    --------
    >>> x = [[1.0, 0.0], [0.0, 1.0]]
    >>> output, weights = self_attention(x, np.zeros((2, 3)), np.zeros((2, 3)), np.eye(2))
    >>> output
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    x, w_q, w_k, w_v = finite_numbers(x=x, w_q=w_q, w_k=w_k, w_v=w_v)
    check_shape("x", x, (..., "seq_len", "d_model"))
    d_model = x.shape[-1]
    check_shape("w_q", w_q, (d_model, "d_k"), "x")
    check_shape("w_k", w_k, (d_model, "d_k"), "x")
    check_shape("w_k", w_k, w_q.shape, "w_q")
    check_shape("w_v", w_v, (d_model, "d_v"), "x")
    return scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v, mask)
