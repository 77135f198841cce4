"""Attention without a softmax, whose memory has a fixed size: linear attention, retention, the delta rule.

Instead of keeping every key and value, each step changes a matrix, the *state*, which maps a key to
a value: linear attention and retention add to the value that it returns, the delta rule corrects
this value. Retention and the delta rule can forget. `state_weights` returns the matrix by which the
values are multiplied: the same function without a state.
"""

import numpy as np

from attn._checks import argument_error, broadcast_shapes, check_shape, check_size
from attn.reference._numbers import (
    ArrayLike,
    Floats,
    as_numbers,
    check_overflow,
    finite_numbers,
    prepare,
)


def feature_map(x: ArrayLike) -> Floats:
    """Make every component positive: ``x + 1`` above zero, ``exp(x)`` below.

    Parameters
    ----------
    x : array_like, shape (...)

    Returns
    -------
    ndarray, shape (...)
        Numbers above zero, so that their dot products can serve as weights. (Below -700 or
        so, the exponential rounds to zero.)

    References
    ----------
    Katharopoulos et al. (2020), Transformers are RNNs, section 3.2.1: ``elu(x) + 1``.

    Examples
    --------
    >>> feature_map([-np.log(2.0), 0.0, 3.0])
    array([0.5, 1. , 4. ])
    """
    (x,) = as_numbers(x=x)
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def linear_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    is_causal: bool = False,
    block_size: int = 64,
) -> Floats:
    """Average the values with weights proportional to ``feature_map(query) @ feature_map(key)``.

    No softmax stands between the two products, so keys and values can be multiplied first: ``phi_q
    @ (phi_k.T @ value)`` never makes a (tgt_len, src_len) matrix. A column of ones beside the
    values adds up the weights, by which the output is divided.

    In the causal form that product is a state: a (d_k, d_v + 1) sum over the keys so far. Each
    block of queries reads the state left by the earlier blocks and attends to its own keys with a
    mask. With ``block_size=1`` this is a recurrent network.

    Parameters
    ----------
    query, key, value : array_like
        As in `scaled_dot_product_attention`.
    is_causal : bool, default False
        Let each query see its own position and those before it only. Then ``tgt_len`` and
        ``src_len`` must be the same.
    block_size : int, default 64
        Number of positions in a block of the causal form: other work, the same result.

    Returns
    -------
    ndarray, shape (..., tgt_len, d_v)
        One weighted mean of the values per query, though not the one the softmax gives. It
        is zero where all the weights are.

    References
    ----------
    Katharopoulos et al. (2020), Transformers are RNNs, sections 3.2 to 3.4.

    Examples
    --------
    >>> query, key, value = [[0.0]], [[0.0], [2.0]], [[10.0], [20.0]]
    >>> linear_attention(query, key, value)  # weights 1/4 and 3/4
    array([[17.5]])
    >>> linear_attention(key, key, value, is_causal=True)
    array([[10. ],
           [17.5]])
    """
    block_size = check_size("block_size", block_size, least=1)
    query, key, value, _, _ = prepare(query, key, value, None)
    query, key = feature_map(query), feature_map(key)
    value = np.concatenate([value, np.ones((*value.shape[:-1], 1), dtype=value.dtype)], axis=-1)
    if is_causal:
        check_shape("query", query, (..., key.shape[-2], key.shape[-1]), "key")
        sums = _causal_sums(query, key, value, block_size)
    else:
        sums = query @ (key.mT @ value)
    check_overflow("query, key, value", sums)
    total = sums[..., -1:]
    return sums[..., :-1] / np.where(total == 0, 1, total)


def _causal_sums(query: Floats, key: Floats, value: Floats, block_size: int) -> Floats:
    state: Floats = np.zeros((key.shape[-1], value.shape[-1]), dtype=key.dtype)
    sums: list[Floats] = []
    # Without queries there is one empty block, since np.concatenate needs at least one array.
    for start in range(0, max(1, query.shape[-2]), block_size):
        rows = slice(start, start + block_size)
        q, k, v = query[..., rows, :], key[..., rows, :], value[..., rows, :]
        sums.append(q @ state + np.tril(q @ k.mT) @ v)
        state = state + k.mT @ v
    return np.concatenate(sums, axis=-2)


def retention(query: ArrayLike, key: ArrayLike, value: ArrayLike, decay: ArrayLike) -> Floats:
    """Add each key and value to a state that fades: ``S = decay * S + key value^T``; read ``S^T query``.

    A value from n tokens ago has the weight ``decay**n`` times ``query . key``. There is no softmax
    and no division, so the weights need not sum to 1.

    Parameters
    ----------
    query, key : array_like, shape (..., seq_len, d_k)
    value : array_like, shape (..., seq_len, d_v)
    decay : array_like, broadcastable to (..., seq_len)
        What is left of the state at each step, above 0 and at most 1. With several heads, one number
        each: shape (n_heads, 1).

    Returns
    -------
    ndarray, shape (..., seq_len, d_v)

    References
    ----------
    Sun et al. (2023), Retentive Network, section 2.1: the recurrent representation.

    Examples
    --------
    >>> retention([[1.0], [1.0], [1.0]], [[1.0], [0.0], [2.0]], [[8.0], [5.0], [3.0]], decay=0.5)
    array([[8.],
           [4.],
           [8.]])
    """
    tokens = _per_token(query, key, value, decay=decay)
    state, outputs = _empty_state(*tokens)
    for n in range(outputs.shape[-2]):
        q, k, v, a = (x[..., n : n + 1, :] for x in tokens)
        state = a * state + k.mT @ v
        outputs[..., n : n + 1, :] = q @ state
    return outputs


def delta_rule(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, beta: ArrayLike, decay: ArrayLike = 1.0
) -> Floats:
    """Correct the value that a state returns: ``S = S + beta * key (value - S^T key)^T``; read
    ``S^T query``.

    The state is the matrix of a linear layer that learns, token by token, to answer the key with
    the value: a step of gradient descent on half the squared error, `beta` being the learning rate.
    With a key of length 1 and ``beta = 1`` the old value is replaced. With `decay`, the *gated*
    delta rule, the state fades before each step, as in `retention`.

    Parameters
    ----------
    query, key : array_like, shape (..., seq_len, d_k)
        Keys should be of length 1, or those longer than the root of ``2 / beta`` make the state grow.
    value : array_like, shape (..., seq_len, d_v)
    beta : array_like, broadcastable to (..., seq_len)
        How much of the error each step corrects.
    decay : array_like, broadcastable to (..., seq_len), default 1.0
        As in `retention`.

    Returns
    -------
    ndarray, shape (..., seq_len, d_v)

    References
    ----------
    Schlag et al. (2021), Linear Transformers Are Secretly Fast Weight Programmers, section 4.2.
    Yang, Kautz and Hatamizadeh (2024), Gated Delta Networks, Eq. 10 and the section it stands in.

    Examples
    --------
    The same key comes twice, and the second value replaces the first:

    >>> key = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    >>> delta_rule(key, key, [[8.0], [5.0], [3.0]], beta=1.0)
    array([[8.],
           [5.],
           [3.]])
    """
    tokens = _per_token(query, key, value, decay=decay, beta=beta)
    state, outputs = _empty_state(*tokens)
    for n in range(outputs.shape[-2]):
        q, k, v, a, b = (x[..., n : n + 1, :] for x in tokens)
        state = a * state
        state = state + b * k.mT @ (v - k @ state)
        outputs[..., n : n + 1, :] = q @ state
    return outputs


def state_weights(
    query: ArrayLike, key: ArrayLike, beta: ArrayLike | None = None, decay: ArrayLike = 1.0
) -> Floats:
    """Return the matrix that, times the values, gives what `retention` or the `delta_rule` reads.

    Retention weighs the value of token m by ``query_n . key_m`` and by the decay from m to n. The
    delta rule writes an error in place of a value, which removes what earlier tokens have written.
    These errors solve a triangular system, so each value also reaches n through the tokens after
    it. Rows need not sum to 1, and weights may be negative.

    Parameters
    ----------
    query, key, decay
        As in `retention` and `delta_rule`.
    beta : array_like, broadcastable to (..., seq_len), optional
        As in `delta_rule`. Without it, values are added, as in `retention`.

    Returns
    -------
    ndarray, shape (..., seq_len, seq_len)
        Zero where the value stands behind the query.

    References
    ----------
    Sun et al. (2023), section 2.1: the parallel representation. Yang, Kautz and Hatamizadeh (2024), Eq. 6 and
    section 3.3, for one chunk as long as the text.

    Examples
    --------
    >>> key = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    >>> state_weights(key, key, decay=0.5)
    array([[1.  , 0.  , 0.  ],
           [0.  , 1.  , 0.  ],
           [0.25, 0.  , 1.  ]])
    >>> state_weights(key, key, beta=1.0)[2]
    array([0., 0., 1.])
    """
    numbers = {"decay": decay} if beta is None else {"decay": decay, "beta": beta}
    query, key, _, decay, *betas = _per_token(query, key, key, **numbers)
    total = np.log(decay).cumsum(axis=-2)
    # Above the diagonal the exponential could overflow, and there the weight is zero anyway.
    left = np.tril(np.exp(np.minimum(total - total.mT, 0)))
    scores: Floats = left * (query @ key.mT)
    if not betas:
        return scores
    (beta,) = betas
    # The steps write the rows of (1 + erased)^-1 (beta * value).
    erased = np.tril(beta * left * (key @ key.mT), -1)
    system = np.eye(key.shape[-2], dtype=key.dtype) + erased
    weights: Floats = np.linalg.solve(system.mT, scores.mT).mT * beta.mT
    return weights


def _per_token(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, **numbers: ArrayLike
) -> list[Floats]:
    """Return checked arrays of one batch shape, the `numbers` of each token as columns."""
    query, key, value, _, batch = prepare(query, key, value, None)
    check_shape("query", query, (..., key.shape[-2], key.shape[-1]), "key")
    shape = (*batch, query.shape[-2])
    arrays = [np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (query, key, value)]
    for name, given in numbers.items():
        (array,) = finite_numbers(**{name: given})
        if broadcast_shapes(array.shape, shape) != shape:
            raise argument_error(name, f"a shape that broadcasts to {shape}", array.shape)
        if name == "decay" and not ((array > 0) & (array <= 1)).all():
            outside = array[(array <= 0) | (array > 1)]
            raise argument_error(name, "numbers above 0 and at most 1", outside.flat[0])
        arrays.append(np.broadcast_to(array, shape)[..., None].astype(query.dtype))
    return arrays


def _empty_state(
    query: Floats, key: Floats, value: Floats, *numbers: Floats
) -> tuple[Floats, Floats]:
    """Return a state of zeros, shape (..., d_k, d_v), and room for the outputs."""
    state = np.zeros((*key.shape[:-2], key.shape[-1], value.shape[-1]), dtype=value.dtype)
    return state, np.empty(value.shape, dtype=value.dtype)
