"""Multi-head attention: several attentions side by side, each in its own subspace."""

import numpy as np

from attn._checks import (
    argument_error,
    broadcast_shapes,
    check_divides,
    check_mask,
    check_shape,
    check_size,
)
from attn.reference._numbers import ArrayLike, Bools, Floats, Shape, finite_numbers, linear
from attn.reference.attention import scaled_dot_product_attention


def multi_head_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    w_q: ArrayLike,
    w_k: ArrayLike,
    w_v: ArrayLike,
    w_o: ArrayLike,
    n_heads: int,
    mask: ArrayLike | None = None,
    *,
    b_q: ArrayLike | None = None,
    b_k: ArrayLike | None = None,
    b_v: ArrayLike | None = None,
    b_o: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Attend with several heads at once and mix what they found.

    Head h reads columns ``h * d_k`` to ``(h + 1) * d_k`` of the projected queries and keys.
    With ``query = key = value`` this is self-attention; with keys and values of another
    sequence, cross-attention. Fewer key heads than query heads make grouped queries:
    each key head then serves ``n_heads // n_kv_heads`` query heads that stand together.

    Parameters
    ----------
    query : array_like, shape (..., tgt_len, d_model)
        The tokens that look.
    key, value : array_like, shape (..., src_len, d_model)
        The tokens that are looked at, usually the same array twice. Their vectors may be of
        another size if the projections are too.
    w_q : array_like, shape (d_model, n_heads * d_k)
    w_k : array_like, shape (d_model, n_kv_heads * d_k)
    w_v : array_like, shape (d_model, n_kv_heads * d_v)
        The projections of all heads, side by side. ``n_kv_heads`` divides `n_heads`; usually
        they are equal.
    w_o : array_like, shape (n_heads * d_v, d_model)
        The output projection.
    n_heads : int
        Number of query heads.
    mask : array_like of bool, optional
        True where a query may attend to a key. Broadcastable to (..., tgt_len, src_len), it
        holds for every head. With one axis more than `output`, it broadcasts to (...,
        n_heads, tgt_len, src_len), one for each: a head that sees nothing is cut out.
    b_q, b_k, b_v, b_o : array_like, shape (number of columns of the matrix,), optional
        Biases added after each product. The paper has none.

    Returns
    -------
    output : ndarray, shape (..., tgt_len, d_model)
        The new vector of each token; `b_o` alone (or zero) if it may attend to nothing.
    weights : ndarray, shape (..., n_heads, tgt_len, src_len)

    References
    ----------
    Vaswani et al. (2017), section 3.2.2. Ainslie et al. (2023), GQA, section 2.2.

    Examples
    --------
    >>> x, nothing, all_of_it = [[1.0, 0.0], [0.0, 1.0]], np.zeros((2, 2)), np.eye(2)
    >>> output, weights = multi_head_attention(
    ...     x, x, x, nothing, nothing, all_of_it, all_of_it, n_heads=2
    ... )
    >>> output
    array([[0.5, 0.5],
           [0.5, 0.5]])
    >>> weights.shape
    (2, 2, 2)
    """
    query, key, value = finite_numbers(query=query, key=key, value=value)
    check_shape("query", query, (..., "tgt_len", "d_model"))
    check_shape("key", key, (..., "src_len", "d_model"))
    check_shape("value", value, (..., key.shape[-2], "d_model"), "key")
    leads = [x.shape[:-2] for x in (query, key, value)]
    batch = broadcast_shapes(*leads)
    if batch is None:
        raise argument_error("query, key, value", "batch dimensions that broadcast", leads)

    query = linear(query=query, w_q=w_q, b_q=b_q)
    key = linear(key=key, w_k=w_k, b_k=b_k)
    value = linear(value=value, w_v=w_v, b_v=b_v)
    n_heads = check_size("n_heads", n_heads, least=1)
    n_kv_heads = _count_kv_heads(query.shape[-1], key.shape[-1], value.shape[-1], n_heads)
    if mask is not None:
        mask = _with_head_axis(mask, (*batch, query.shape[-2], key.shape[-2]))

    query = split_heads(query, n_heads)
    key, value = split_heads(key, n_kv_heads), split_heads(value, n_kv_heads)
    key, value = (np.repeat(x, n_heads // n_kv_heads, axis=-3) for x in (key, value))
    heads, weights = scaled_dot_product_attention(query, key, value, mask)
    return linear(heads=join_heads(heads), w_o=w_o, b_o=b_o), weights


def split_heads(x: ArrayLike, n_heads: int) -> Floats:
    """Cut each vector into heads, and put the heads before the tokens.

    Parameters
    ----------
    x : array_like, shape (..., seq_len, n_heads * d_k)
    n_heads : int
        A divisor of the size of the vectors.

    Returns
    -------
    ndarray, shape (..., n_heads, seq_len, d_k)
        Head h has components ``h * d_k`` to ``(h + 1) * d_k`` of every vector.

    Examples
    --------
    >>> split_heads([[1, 2, 3, 4], [5, 6, 7, 8]], 2)
    array([[[1., 2.],
            [5., 6.]],
    <BLANKLINE>
           [[3., 4.],
            [7., 8.]]])
    """
    (x,) = finite_numbers(x=x)
    check_shape("x", x, (..., "seq_len", "d_model"))
    n_heads = check_size("n_heads", n_heads, least=1)
    *batch, seq_len, width = x.shape
    check_divides("d_model", width, "n_heads", n_heads)
    return x.reshape(*batch, seq_len, n_heads, width // n_heads).swapaxes(-3, -2)


def join_heads(heads: ArrayLike) -> Floats:
    """Put the heads of each token side by side again: undo `split_heads`.

    Parameters
    ----------
    heads : array_like, shape (..., n_heads, seq_len, d_v)

    Returns
    -------
    ndarray, shape (..., seq_len, n_heads * d_v)

    References
    ----------
    Vaswani et al. (2017), section 3.2.2: Concat.

    Examples
    --------
    >>> join_heads([[[1, 2], [5, 6]], [[3, 4], [7, 8]]])
    array([[1., 2., 3., 4.],
           [5., 6., 7., 8.]])
    """
    (heads,) = finite_numbers(heads=heads)
    check_shape("heads", heads, (..., "n_heads", "seq_len", "d_v"))
    *batch, n_heads, seq_len, width = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, seq_len, n_heads * width)


def _count_kv_heads(q_width: int, k_width: int, v_width: int, n_heads: int) -> int:
    """Return the number of key heads, which follows from the columns of the projections."""
    check_size("columns of w_q", q_width, least=n_heads)
    check_divides("columns of w_q", q_width, "n_heads", n_heads)
    d_k = q_width // n_heads
    check_size("columns of w_k", k_width, least=d_k)
    check_divides("columns of w_k", k_width, "d_k", d_k)
    n_kv_heads = k_width // d_k
    check_divides("n_heads", n_heads, "n_kv_heads", n_kv_heads)
    check_divides("columns of w_v", v_width, "n_kv_heads", n_kv_heads)
    return n_kv_heads


def _with_head_axis(mask: ArrayLike, shape: Shape) -> Bools:
    """Return `mask` with an axis for the heads, if it does not have its own."""
    mask = np.atleast_2d(mask)
    if mask.ndim > len(shape):
        return mask
    check_mask("mask", mask, shape)
    return mask[..., None, :, :]
