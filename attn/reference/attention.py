"""Attention, from the similarity of two vectors to self-attention; a cap on scores, and a sink."""

import math

import numpy as np

from attn._checks import argument_error, broadcast_shapes, check_number, check_shape
from attn.reference._numbers import (
    ArrayLike,
    Floats,
    as_numbers,
    check_overflow,
    finite_numbers,
    finite_peak,
    prepare,
)


def cosine_similarity(a: ArrayLike, b: ArrayLike) -> Floats:
    """Compare the direction of every vector of one list with every vector of another.

    Parameters
    ----------
    a : array_like, shape (..., n, d)
    b : array_like, shape (..., m, d)
        Leading dimensions broadcast.

    Returns
    -------
    ndarray, shape (..., n, m)
        The cosine of each angle, from -1 to 1. A vector of zeros has no direction: its
        similarity to anything is 0.

    References
    ----------
    Salton, Wong and Yang (1975), section 1.

    Examples
    --------
    >>> cosine_similarity([[1.0, 0.0]], [[3.0, 0.0], [0.0, 2.0], [-1.0, 0.0]])
    array([[ 1.,  0., -1.]])
    """
    a, b = finite_numbers(a=a, b=b)
    check_shape("a", a, (..., "n", "d"))
    check_shape("b", b, (..., "m", a.shape[-1]), "a")
    return _unit(a) @ _unit(b).mT


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
    w_v : array_like, shape (d_model, d_v)
        The projections to queries, keys and values.
    mask : array_like of bool, broadcastable to (..., seq_len, seq_len), optional

    Returns
    -------
    output : ndarray, shape (..., seq_len, d_v)
    weights : ndarray, shape (..., seq_len, seq_len)

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


def attention_pooling(query: ArrayLike, key: ArrayLike, value: ArrayLike) -> tuple[Floats, Floats]:
    """Take one weighted mean of all the values, with a query that is the same for every input.

    The equation is ``softmax(key @ query) @ value``. The scores are not scaled: the query is a
    parameter, whose length is learned.

    Parameters
    ----------
    query : array_like, shape (d_k,)
    key : array_like, shape (..., src_len, d_k)
    value : array_like, shape (..., src_len, d_v)

    Returns
    -------
    output : ndarray, shape (..., d_v)
        The weighted mean. With a query of zeros it is the plain mean.
    weights : ndarray, shape (..., src_len)

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


def soft_capped(scores: ArrayLike, cap: float) -> Floats:
    """Keep scores between ``-cap`` and `cap`: ``cap * tanh(scores / cap)``.

    Small scores hardly change, and the derivative is nowhere zero.

    Parameters
    ----------
    scores : array_like, shape (...)
    cap : float
        Above 0.

    Returns
    -------
    ndarray, shape (...)

    References
    ----------
    The Gemma team (2024), Gemma 2: Improving Open Language Models at a Practical Size, section 2.

    Examples
    --------
    >>> soft_capped([0.0, 1.0, 100.0], cap=50.0).round(3)
    array([ 0.   ,  1.   , 48.201])
    """
    (scores,) = finite_numbers(scores=scores)
    cap = check_number("cap", cap)
    capped: Floats = cap * np.tanh(scores / cap)
    return capped


def softmax_with_sink(scores: ArrayLike, sink: ArrayLike) -> Floats:
    """Turn scores into weights that sum to less than one: the sink takes the rest.

    The weight of score s is ``exp(s) / (exp(sink) + sum of all exp(scores))``.

    Parameters
    ----------
    scores : array_like, shape (..., src_len)
        ``-inf`` means "no weight at all".
    sink : array_like, broadcastable to (...)
        The score of a key that has no value, such as a learned number for each head.

    Returns
    -------
    ndarray, shape (..., src_len)
        The weights. A row that is entirely ``-inf`` becomes zeros.

    References
    ----------
    OpenAI (2025), gpt-oss-120b & gpt-oss-20b Model Card. Xiao et al. (2024), Efficient
    Streaming Language Models with Attention Sinks, section 3.3.

    Examples
    --------
    >>> softmax_with_sink([0.0, np.log(2.0)], sink=0.0)
    array([0.25, 0.5 ])
    """
    scores, sink = as_numbers(scores=scores, sink=sink)
    if broadcast_shapes(sink.shape, scores.shape[:-1]) != scores.shape[:-1]:
        wanted = f"a shape that broadcasts to {scores.shape[:-1]}"
        raise argument_error("sink", wanted, sink.shape)
    one_more = np.broadcast_to(sink, scores.shape[:-1])[..., None]
    return softmax(np.concatenate((one_more, scores), axis=-1))[..., 1:]


def _unit(vectors: Floats) -> Floats:
    # The norm squares the components, which overflows for very large ones and gives zero for
    # very small ones. Dividing by the largest component first avoids both.
    largest = np.abs(vectors).max(axis=-1, keepdims=True, initial=0)
    scaled = vectors / np.where(largest == 0, 1, largest)
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return scaled / np.where(length == 0, 1, length)
