"""Attention without the matrix of weights: the idea beneath FlashAttention."""

import math

import numpy as np

from attn._checks import check_size
from attn.reference._numbers import check_overflow, finite_peak, prepare
from attn.reference._types import ArrayLike, Bools, Floats


def online_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    mask: ArrayLike | None = None,
    block_size: int = 256,
) -> Floats:
    """Compute attention in blocks, in memory that grows with the length and not its square.

    Each block of queries reads the keys block by block and keeps three things: the largest
    score so far (`peak`), the sum of the exponentials relative to it (`total`), and the sum
    of the values weighted by them (`output`). When a block raises the peak, both sums are
    scaled down by ``exp(old peak - new peak)``. At the end one is divided by the other: the
    result is exact up to rounding.

    Parameters
    ----------
    query : array_like, shape (..., tgt_len, d_k)
        What each position looks for.
    key : array_like, shape (..., src_len, d_k)
        What each position can be found by.
    value : array_like, shape (..., src_len, d_v)
        What each position gives to those who attend to it.
    mask : array_like of bool, broadcastable to (..., tgt_len, src_len), optional
        True where a query may attend to a key. It is read in blocks and never expanded, so
        a padding mask (..., 1, src_len) keeps the memory linear.
    block_size : int, default 256
        Number of queries, and of keys, in a block.

    Returns
    -------
    ndarray, shape (..., tgt_len, d_v)
        The output of `scaled_dot_product_attention`, without the weights: no more than a
        block of them ever exists.

    Raises
    ------
    ValueError
        As `scaled_dot_product_attention` does; also if `block_size` is below 1.

    References
    ----------
    Milakov and Gimelshein (2018), Online normalizer calculation for softmax, algorithm 3.
    Rabe and Staats (2021), Self-attention does not need O(n^2) memory. Dao et al. (2022),
    FlashAttention.

    Examples
    --------
    >>> from attn.reference import scaled_dot_product_attention
    >>> x = np.linspace(-1, 1, 30).reshape(10, 3)
    >>> output, weights = scaled_dot_product_attention(x, x, x)
    >>> np.allclose(online_attention(x, x, x, block_size=4), output)
    True
    """
    block_size = check_size("block_size", block_size, least=1)
    query, key, value, mask, batch = prepare(query, key, value, mask)
    tgt_len = query.shape[-2]
    output = np.empty((*batch, tgt_len, value.shape[-1]), dtype=query.dtype)
    for start in range(0, tgt_len, block_size):
        rows = slice(start, start + block_size)
        seen = mask if mask is None or mask.shape[-2] == 1 else mask[..., rows, :]
        output[..., rows, :] = _online_rows(query[..., rows, :], key, value, seen, block_size)
    return output


def _online_rows(
    query: Floats, key: Floats, value: Floats, mask: Bools | None, block_size: int
) -> Floats:
    # Dividing the queries once is cheaper than dividing every block of scores.
    query = query / math.sqrt(query.shape[-1])
    peak, total, output = -np.inf, 0, 0
    for start in range(0, key.shape[-2], block_size):
        columns = slice(start, start + block_size)
        scores = query @ key[..., columns, :].mT
        check_overflow("query, key", scores)
        if mask is not None:
            seen = mask if mask.shape[-1] == 1 else mask[..., columns]
            scores = np.where(seen, scores, -np.inf)
        old_peak, peak = peak, np.maximum(peak, scores.max(axis=-1, keepdims=True))
        base = finite_peak(peak)
        correction = np.exp(old_peak - base)
        scores -= base
        exponentials = np.exp(scores, out=scores)
        total = total * correction + exponentials.sum(axis=-1, keepdims=True)
        output = output * correction + exponentials @ value[..., columns, :]
    return output / np.where(total == 0, 1, total)
