"""Attention with a single query: many vectors become one."""

from attn._checks import argument_error, check_shape
from attn.reference._numbers import check_overflow, finite_numbers
from attn.reference._types import ArrayLike, Floats
from attn.reference.attention import softmax


def attention_pooling(query: ArrayLike, key: ArrayLike, value: ArrayLike) -> tuple[Floats, Floats]:
    """Take one weighted mean of all the values, with a query that is the same for every input.

    The equation is ``softmax(key @ query) @ value``. The scores are not scaled: the query is a
    parameter, and may be as long as it needs.

    Parameters
    ----------
    query : array_like, shape (d_k,)
        What to look for.
    key : array_like, shape (..., src_len, d_k)
        What each position can be found by.
    value : array_like, shape (..., src_len, d_v)
        What each position gives.

    Returns
    -------
    output : ndarray, shape (..., d_v)
        The weighted mean. With a query of zeros it is the plain mean.
    weights : ndarray, shape (..., src_len)
        The share of each position.

    Raises
    ------
    ValueError
        If the shapes do not fit, or a number or a product is not finite.

    References
    ----------
    Bahdanau et al. (2015), Eqs. 5 and 6, with one query for all inputs.

    Examples
    --------
    >>> key, value = [[0.0], [1.0], [0.0]], [[1.0], [2.0], [3.0]]
    >>> output, weights = attention_pooling([4.0], key, value)
    >>> weights.round(2)
    array([0.02, 0.96, 0.02])
    >>> output
    array([2.])
    """
    query, key, value = finite_numbers(query=query, key=key, value=value)
    check_shape("query", query, ("d_k",))
    check_shape("key", key, (..., "src_len", len(query)), like="query")
    check_shape("value", value, (..., key.shape[-2], "d_v"), like="key")
    if value.shape[:-2] != key.shape[:-2]:
        raise argument_error(
            "value", f"batch dimensions {key.shape[:-2]} to match key", value.shape[:-2]
        )
    scores = key @ query
    check_overflow("query, key", scores)
    weights = softmax(scores)
    return (weights[..., None, :] @ value)[..., 0, :], weights
