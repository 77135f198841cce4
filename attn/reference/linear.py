"""Linear attention: no softmax, so that the products may be made in another order."""

import numpy as np

from attn._checks import check_shape, check_size
from attn.reference._numbers import as_numbers, check_overflow, prepare
from attn.reference._types import ArrayLike, Floats


def feature_map(x: ArrayLike) -> Floats:
    """Make every component positive: ``x + 1`` above zero, ``exp(x)`` below.

    Parameters
    ----------
    x : array_like, shape (...)
        Real numbers.

    Returns
    -------
    ndarray, shape (...)
        Numbers above zero, so that their dot products can serve as weights. (Below -700 or
        so, the exponential rounds to zero.)

    Raises
    ------
    ValueError
        If `x` does not hold real numbers.

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

    Nothing stands between the two products any more, so the keys can meet the values first:
    ``phi_q @ (phi_k.T @ value)`` never makes a (tgt_len, src_len) matrix. A column of ones
    beside the values gathers the sum of the weights, by which all is divided in the end.

    In the causal form that product is a state: a (d_k, d_v + 1) sum over the keys so far. Each
    block of queries reads the state left by the earlier blocks and looks at its own keys with
    a mask. With ``block_size=1`` this is a recurrent network.

    Parameters
    ----------
    query : array_like, shape (..., tgt_len, d_k)
        What each position looks for.
    key : array_like, shape (..., src_len, d_k)
        What each position can be found by.
    value : array_like, shape (..., src_len, d_v)
        What each position gives to those who attend to it.
    is_causal : bool, default False
        Let each query see its own position and those before it only. Then ``tgt_len`` and
        ``src_len`` must be the same.
    block_size : int, default 64
        Number of positions in a block of the causal form; no other result, only other work.

    Returns
    -------
    ndarray, shape (..., tgt_len, d_v)
        One weighted mean of the values per query, though not the one the softmax gives. It
        is zero where all the weights are.

    Raises
    ------
    ValueError
        If shapes do not fit, an input or a product is not finite, or `block_size` is below 1.

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
