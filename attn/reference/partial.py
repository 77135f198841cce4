"""Attention over some of the keys, in a form that can be merged with other parts."""

import math

import numpy as np

from attn._checks import argument_error, broadcast_shapes, check_shape
from attn.reference._numbers import as_numbers, check_overflow, finite_peak, prepare
from attn.reference._types import ArrayLike, Floats


def partial_attention(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, mask: ArrayLike | None = None
) -> tuple[Floats, Floats, Floats]:
    """Attend to some of the keys, without the division by the sum of all.

    Parameters
    ----------
    query : array_like, shape (..., tgt_len, d_k)
        What each position looks for.
    key : array_like, shape (..., src_len, d_k)
        What the positions of this part can be found by.
    value : array_like, shape (..., src_len, d_v)
        The values of these positions.
    mask : array_like of bool, broadcastable to (..., tgt_len, src_len), optional
        True where a query may attend to a key. None allows all.

    Returns
    -------
    peak : ndarray, shape (..., tgt_len, 1)
        The largest score; -inf where there is none.
    total : ndarray, shape (..., tgt_len, 1)
        The sum of ``exp(score - peak)``.
    output : ndarray, shape (..., tgt_len, d_v)
        The sum of the values, each times its ``exp(score - peak)``. Divided by `total` it is
        the attention to this part.

    Raises
    ------
    ValueError
        As `scaled_dot_product_attention` does.

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
    peak_a, peak_b : array_like, shape (..., tgt_len, 1)
        The largest score of each query in each part; -inf where there is none.
    total_a, total_b : array_like, shape (..., tgt_len, 1)
        The sums of ``exp(score - peak)``.
    output_a, output_b : array_like, shape (..., tgt_len, d_v)
        The sums of the values, each times its ``exp(score - peak)``. They may be a batch that
        shares its peaks and totals.

    Returns
    -------
    peak, total : ndarray, shape (..., tgt_len, 1)
    output : ndarray, shape (..., tgt_len, d_v)
        The same three for both parts together, as `partial_attention` gives them.

    Raises
    ------
    ValueError
        If shapes do not fit, or a peak is NaN or +inf.

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
