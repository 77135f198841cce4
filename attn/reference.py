"""Attention in NumPy: the mathematics, one short function per equation.

These functions are the oracle of the course: clear before fast, and strict about what they
are given. Three conventions hold in all of them, and in `attn.masks` and `attn.attention`:

- any leading batch dimensions are allowed, and broadcast;
- a mask is boolean, True = *may attend*, and broadcasts to (..., tgt_len, src_len);
- a query that may attend to nothing gets zero weights and a zero output, never NaN. An
  empty sequence is the same case: with ``src_len = 0`` every output is zero, with
  ``tgt_len = 0`` there is none.

Floating-point inputs keep their dtype; integers are computed in float64.
"""

import numpy as np

from attn._checks import check_attention, check_finite, check_lengths, check_size, wrong


def softmax(scores, axis=-1):
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
    Vaswani et al. (2017), section 3.2.1. Document 000, section 3.3.2.

    Examples
    --------
    >>> softmax([0.0, np.log(3.0)])
    array([0.25, 0.75])
    >>> softmax([[1000.0, 1000.0], [-np.inf, -np.inf]])
    array([[0.5, 0.5],
           [0. , 0. ]])
    """
    (scores,) = _numbers(scores=scores)
    peak = scores.max(axis=axis, keepdims=True, initial=-np.inf)
    exponentials = np.exp(scores - _finite_peak(peak))
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def scaled_dot_product_attention(query, key, value, mask=None):
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
    Vaswani et al. (2017), Eq. 1; for the mask, section 3.2.3. Document 000, section 3.3.2.
    Document 002, on the matrix notation of self-attention.

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
    query, key, value, mask, _ = _prepare(query, key, value, mask)
    scores = query @ key.mT / _root(query.shape[-1])
    _check_overflow(scores)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ value, weights


def self_attention(x, w_q, w_k, w_v, mask=None):
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
    Vaswani et al. (2017), sections 3.2.1 and 3.2.3. Document 000, section 3.3.2. Document
    004, section on the self-attention mechanism.

    Examples
    --------
    >>> x = [[1.0, 0.0], [0.0, 1.0]]
    >>> output, weights = self_attention(x, np.zeros((2, 3)), np.zeros((2, 3)), np.eye(2))
    >>> output
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    x, w_q, w_k, w_v = _finite_numbers(x=x, w_q=w_q, w_k=w_k, w_v=w_v)
    if x.ndim < 2:
        raise wrong("x", "shape (..., seq_len, d_model)", x.shape)
    d_model = x.shape[-1]
    for name, matrix, d_out in (("w_q", w_q, "d_k"), ("w_k", w_k, "d_k"), ("w_v", w_v, "d_v")):
        if matrix.ndim != 2 or matrix.shape[0] != d_model:
            raise wrong(name, f"shape ({d_model}, {d_out}) to match x", matrix.shape)
    if w_k.shape != w_q.shape:
        raise wrong("w_k", f"shape {w_q.shape} to match w_q", w_k.shape)
    return scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v, mask)


def causal_mask(tgt_len, src_len=None):
    """Let each query attend to its own position and to those before it.

    The last query stands at the last key. So with more keys than queries (new tokens after
    a cache of old keys) query i has the absolute position ``src_len - tgt_len + i``; with
    fewer, the first queries stand before every key and see none.

    Parameters
    ----------
    tgt_len : int
        Number of queries.
    src_len : int, optional
        Number of keys; `tgt_len` if not given.

    Returns
    -------
    ndarray of bool, shape (tgt_len, src_len)
        True where query i may attend to key j.

    Raises
    ------
    ValueError
        If a length is not an integer of at least 0.

    References
    ----------
    Vaswani et al. (2017), section 3.2.3. Document 004, section on masked multi-head
    attention.

    Examples
    --------
    >>> causal_mask(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    >>> causal_mask(2, 4).astype(int)
    array([[1, 1, 1, 0],
           [1, 1, 1, 1]])
    """
    tgt_len = check_size("tgt_len", tgt_len)
    src_len = tgt_len if src_len is None else check_size("src_len", src_len)
    return np.tri(tgt_len, src_len, k=src_len - tgt_len, dtype=bool)


def padding_mask(lengths, seq_len):
    """Hide the positions that only fill short sequences up to the common length.

    Parameters
    ----------
    lengths : array_like of int, shape (...)
        The number of real tokens of each sequence.
    seq_len : int
        The common length.

    Returns
    -------
    ndarray of bool, shape (..., 1, seq_len)
        True at real tokens. The axis of size 1 broadcasts over the queries; multi-head
        attention needs one more for the heads, before it: ``mask[..., None, :, :]``.

    Raises
    ------
    ValueError
        If `lengths` are not integers between 0 and `seq_len`.

    References
    ----------
    Document 000, section 3.3.4: the ``key_padding_mask`` of its summariser, where PyTorch
    wants the opposite, True at what is to be ignored.

    Examples
    --------
    >>> padding_mask([2, 3], 3).astype(int)
    array([[[1, 1, 0]],
    <BLANKLINE>
           [[1, 1, 1]]])
    """
    lengths, seq_len = np.asarray(lengths), check_size("seq_len", seq_len)
    if lengths.size and lengths.dtype.kind not in "iu":
        raise wrong("lengths", "integers", f"dtype {lengths.dtype}")
    check_lengths(lengths, seq_len)
    return np.arange(seq_len) < lengths[..., None, None]


def online_attention(query, key, value, mask=None, block_size=256):
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
    >>> x = np.linspace(-1, 1, 30).reshape(10, 3)
    >>> output, weights = scaled_dot_product_attention(x, x, x)
    >>> np.allclose(online_attention(x, x, x, block_size=4), output)
    True
    """
    block_size = check_size("block_size", block_size, least=1)
    query, key, value, mask, batch = _prepare(query, key, value, mask)
    tgt_len = query.shape[-2]
    output = np.empty((*batch, tgt_len, value.shape[-1]), dtype=query.dtype)
    for start in range(0, tgt_len, block_size):
        rows = slice(start, start + block_size)
        seen = mask if mask is None or mask.shape[-2] == 1 else mask[..., rows, :]
        output[..., rows, :] = _online_rows(query[..., rows, :], key, value, seen, block_size)
    return output


def _online_rows(query, key, value, mask, block_size):
    query = query / _root(query.shape[-1])  # cheaper here than on every block of scores
    peak, total, output = -np.inf, 0, 0
    for start in range(0, key.shape[-2], block_size):
        columns = slice(start, start + block_size)
        scores = query @ key[..., columns, :].mT
        _check_overflow(scores)
        if mask is not None:
            seen = mask if mask.shape[-1] == 1 else mask[..., columns]
            scores = np.where(seen, scores, -np.inf)
        old_peak, peak = peak, np.maximum(peak, scores.max(axis=-1, keepdims=True))
        base = _finite_peak(peak)
        correction = np.exp(old_peak - base)
        scores -= base
        exponentials = np.exp(scores, out=scores)
        total = total * correction + exponentials.sum(axis=-1, keepdims=True)
        output = output * correction + exponentials @ value[..., columns, :]
    return output / np.where(total == 0, 1, total)


def _finite_peak(peak):
    """Return what to subtract before exp: the largest score, or 0 where all are -inf."""
    # A maximum lets NaN and +inf through, so looking at it is looking at every score.
    if (np.isnan(peak) | (peak == np.inf)).any():
        raise wrong("scores", "numbers below +inf", "NaN or +inf")
    return np.where(peak == -np.inf, 0, peak)


def _check_overflow(scores):
    if not np.isfinite(scores).all():
        raise wrong("query, key", f"products that fit in {scores.dtype}", "an overflow")


def _root(d_k):
    # A Python float: a NumPy float64 would promote float32 inputs.
    return float(np.sqrt(d_k))


def _numbers(**arrays):
    """Return the named arrays in one floating-point dtype."""
    arrays = {name: np.asarray(array) for name, array in arrays.items()}
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu":
            raise wrong(name, "real numbers", f"dtype {array.dtype}")
    dtype = np.result_type(*(array.dtype for array in arrays.values()))
    dtype = dtype if dtype.kind == "f" else np.float64
    return [array.astype(dtype, copy=False) for array in arrays.values()]


def _finite_numbers(**arrays):
    numbers = _numbers(**arrays)
    for name, array in zip(arrays, numbers, strict=True):
        check_finite(name, np.isfinite(array))
    return numbers


def _prepare(query, key, value, mask):
    query, key, value = _finite_numbers(query=query, key=key, value=value)
    mask = None if mask is None else np.atleast_2d(mask)
    return query, key, value, mask, check_attention(query, key, value, mask)
