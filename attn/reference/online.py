"""Attention without the matrix of weights: in blocks, as in FlashAttention, in parts, in a window."""

import math

import numpy as np

from attn._checks import argument_error, broadcast_shapes, check_shape, check_size
from attn.reference._numbers import (
    ArrayLike,
    Bools,
    Floats,
    as_numbers,
    check_overflow,
    finite_peak,
    prepare,
)
from attn.reference.attention import scaled_dot_product_attention
from attn.reference.masks import window_mask


def online_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    mask: ArrayLike | None = None,
    block_size: int = 256,
) -> Floats:
    """Compute attention in blocks, in memory that grows with the length and not its square.

    Each block of queries reads the keys block by block and keeps three numbers or vectors: the
    largest score so far (`peak`), the sum of the exponentials relative to it (`total`), and the sum
    of the values weighted by them (`output`). When a block raises the peak, both sums are scaled
    down by ``exp(old peak - new peak)``. At the end `output` is divided by `total`: the result is
    exact up to rounding.

    Parameters
    ----------
    query, key, value : array_like
        As in `scaled_dot_product_attention`.
    mask : array_like of bool, broadcastable to (..., tgt_len, src_len), optional
        It is read in blocks and never expanded, so a padding mask (..., 1, src_len) keeps the
        memory linear.
    block_size : int, default 256
        Number of queries, and of keys, in a block.

    Returns
    -------
    ndarray, shape (..., tgt_len, d_v)
        The output of `scaled_dot_product_attention`, without the weights: no more than a
        block of them ever exists.

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


def partial_attention(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, mask: ArrayLike | None = None
) -> tuple[Floats, Floats, Floats]:
    """Attend to some of the keys, without the division by the sum of all.

    Parameters
    ----------
    query, key, value, mask
        As in `scaled_dot_product_attention`, of the keys of this part alone.

    Returns
    -------
    peak : ndarray, shape (..., tgt_len, 1)
        The largest score; -inf where there is none.
    total : ndarray, shape (..., tgt_len, 1)
        The sum of ``exp(score - peak)``.
    output : ndarray, shape (..., tgt_len, d_v)
        The sum of the values, each times its ``exp(score - peak)``. Divided by `total` it is
        the attention to this part.

    References
    ----------
    Milakov and Gimelshein (2018), Online normalizer calculation for softmax, section 3.1.

    Examples
    --------
    >>> peak, total, output = partial_attention([[1.0]], [[0.0], [0.0]], [[10.0], [20.0]])
    >>> peak.item(), total.item(), output.item()
    (0.0, 2.0, 30.0)
    """
    query, key, value, mask, _ = prepare(query, key, value, mask)
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    check_overflow("query, key", scores)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    peak = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    exponentials = np.exp(scores - finite_peak(peak))
    return peak, exponentials.sum(axis=-1, keepdims=True), exponentials @ value


def merge_attention(
    peak_a: ArrayLike,
    total_a: ArrayLike,
    output_a: ArrayLike,
    peak_b: ArrayLike,
    total_b: ArrayLike,
    output_b: ArrayLike,
) -> tuple[Floats, Floats, Floats]:
    """Merge the attention of the same queries to two sets of keys.

    Both sums are scaled to the larger peak by ``exp(old peak - new peak)`` and then added. The
    order of the merges does not matter, so different processors can take different keys.

    Parameters
    ----------
    peak_a, total_a, output_a, peak_b, total_b, output_b : array_like
        What `partial_attention` returns for each part. The outputs may be a batch that shares
        its peaks and totals.

    Returns
    -------
    peak, total : ndarray, shape (..., tgt_len, 1)
    output : ndarray, shape (..., tgt_len, d_v)
        The same three for both parts together.

    References
    ----------
    Milakov and Gimelshein (2018), Online normalizer calculation for softmax, section 3.1: the
    operator ⊕. Rabe and Staats (2021), Self-attention does not need O(n^2) memory.

    Examples
    --------
    >>> a = partial_attention([[1.0]], [[0.0]], [[10.0]])
    >>> b = partial_attention([[1.0]], [[np.log(3.0)]], [[20.0]])
    >>> peak, total, output = merge_attention(*a, *b)
    >>> output / total
    array([[17.5]])
    """
    peak_a, total_a, output_a, peak_b, total_b, output_b = as_numbers(
        peak_a=peak_a,
        total_a=total_a,
        output_a=output_a,
        peak_b=peak_b,
        total_b=total_b,
        output_b=output_b,
    )
    check_shape("output_a", output_a, (..., "tgt_len", "d_v"))
    check_shape("output_b", output_b, (..., *output_a.shape[-2:]), "output_a")
    if broadcast_shapes(output_a.shape, output_b.shape) is None:
        raise argument_error(
            "output_b", f"a shape that broadcasts with {output_a.shape}", output_b.shape
        )
    for name, array in {"peak_a": peak_a, "total_a": total_a}.items():
        _check_rows(name, array, (*output_a.shape[:-1], 1), "output_a")
    for name, array in {"peak_b": peak_b, "total_b": total_b}.items():
        _check_rows(name, array, (*output_b.shape[:-1], 1), "output_b")

    peak = np.maximum(peak_a, peak_b)
    base = finite_peak(peak)
    scale_a, scale_b = np.exp(peak_a - base), np.exp(peak_b - base)
    total = scale_a * total_a + scale_b * total_b
    return peak, total, scale_a * output_a + scale_b * output_b


def _check_rows(name: str, array: Floats, shape: tuple[int, ...], like: str) -> None:
    if array.shape[-2:] != shape[-2:] or broadcast_shapes(array.shape, shape) != shape:
        check_shape(name, array, shape, like)


def windowed_attention(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, window: int, block_size: int = 256
) -> Floats:
    """Let each query attend to its own position and to the ``window - 1`` before it.

    The result is that of `scaled_dot_product_attention` with `window_mask`. The work is less: each
    block of queries uses only the keys that one of its queries can see, at most ``block_size +
    window - 1``.

    Parameters
    ----------
    query, key, value : array_like
        As in `scaled_dot_product_attention`. The last query stands at the last key.
    window : int
        How many positions each query may see, its own among them.
    block_size : int, default 256
        Number of queries in a block: other work, the same result.

    Returns
    -------
    ndarray, shape (..., tgt_len, d_v)
        One weighted mean per query; zero where no key is in the window.

    References
    ----------
    Beltagy et al. (2020), Longformer, section 3.1.

    Examples
    --------
    >>> x = np.zeros((4, 1))
    >>> windowed_attention(x, x, [[10.0], [20.0], [30.0], [40.0]], window=2)
    array([[10.],
           [15.],
           [25.],
           [35.]])
    """
    window = check_size("window", window, least=1)
    block_size = check_size("block_size", block_size, least=1)
    query, key, value, _, batch = prepare(query, key, value, None)
    tgt_len, src_len = query.shape[-2], key.shape[-2]
    output = np.empty((*batch, tgt_len, value.shape[-1]), dtype=query.dtype)
    for start in range(0, tgt_len, block_size):
        rows = slice(start, min(start + block_size, tgt_len))
        # The bounds are positions of keys. The last query stands at the last key, so query i stands
        # at key i + src_len - tgt_len.
        first, last = (max(0, end + src_len - tgt_len) for end in (start - window + 1, rows.stop))
        block = query[..., rows, :], key[..., first:last, :], value[..., first:last, :]
        mask = window_mask(rows.stop - start, window, last - first)
        output[..., rows, :] = scaled_dot_product_attention(*block, mask)[0]
    return output
