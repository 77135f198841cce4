"""Windowed attention: the scores outside the window are not masked but never computed."""

import numpy as np

from attn._checks import check_size
from attn.reference._numbers import prepare
from attn.reference._types import ArrayLike, Floats
from attn.reference.attention import scaled_dot_product_attention
from attn.reference.masks import window_mask


def windowed_attention(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, window: int, block_size: int = 256
) -> Floats:
    """Let each query attend to its own position and to the ``window - 1`` before it.

    The result is that of `scaled_dot_product_attention` with `window_mask`. The work is not:
    each block of queries cuts out the keys that some of it can see, at most
    ``block_size + window - 1``, and the rest is left alone.

    Parameters
    ----------
    query : array_like, shape (..., tgt_len, d_k)
        What each position looks for. The last query stands at the last key.
    key : array_like, shape (..., src_len, d_k)
        What each position can be found by.
    value : array_like, shape (..., src_len, d_v)
        What each position gives to those who attend to it.
    window : int
        How many positions each query may see, its own among them.
    block_size : int, default 256
        Number of queries in a block; no other result, only other work.

    Returns
    -------
    ndarray, shape (..., tgt_len, d_v)
        One weighted mean per query; zero where no key is in the window.

    Raises
    ------
    ValueError
        As `scaled_dot_product_attention` does; also if `window` or `block_size` is below 1.

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
