"""Positions, which tell attention the order of the tokens; without them it sees a set.

There are three ways: add a vector to each token (sinusoidal), rotate queries and keys
(rotary), or subtract the distance from the scores (ALiBi).
"""

import numpy as np

from attn._checks import argument_error, broadcast_shapes, check_shape, check_size
from attn.reference._numbers import ArrayLike, Floats, finite_numbers


def sinusoidal_positions(n_positions: int, d_model: int, base: float = 10000.0) -> Floats:
    """Describe each position by sines and cosines of slower and slower waves.

    Columns ``2i`` and ``2i + 1`` are the sine and the cosine of ``position / base ** (2i /
    d_model)``: one hand of a clock each pair, and the last turns nearly `base` times as
    slowly as the first.

    Parameters
    ----------
    n_positions : int
        The number of positions, from 0 on.
    d_model : int
        Size of the token vectors they are added to; even.
    base : float, default 10000.0
        Sets the slowest wave; at least 1.

    Returns
    -------
    ndarray, shape (n_positions, d_model)
        One row per position, of length ``sqrt(d_model / 2)``.

    References
    ----------
    Vaswani et al. (2017), section 3.5.

    Examples
    --------
    >>> sinusoidal_positions(2, 4).round(2)
    array([[0.  , 1.  , 0.  , 1.  ],
           [0.84, 0.54, 0.01, 1.  ]])
    """
    n_positions = check_size("n_positions", n_positions)
    angles = np.arange(n_positions)[:, None] * _frequencies("d_model", d_model, base)
    return _interleave(np.sin(angles), np.cos(angles))


def rotary(x: ArrayLike, positions: ArrayLike | None = None, base: float = 10000.0) -> Floats:
    """Turn each pair of components by an angle that grows with the position.

    Components ``2i`` and ``2i + 1`` of a vector at position p are turned by ``p * base **
    (-2i / d_k)``. The dot product of a turned query and a turned key then depends on their
    positions only through the distance between them.

    Parameters
    ----------
    x : array_like, shape (..., seq_len, d_k)
        Queries or keys of one head, or of several; `d_k` is even.
    positions : array_like, broadcastable to (..., seq_len), optional
        The position of each; 0, 1, 2, ... if not given.
    base : float, default 10000.0
        Sets the slowest turn; at least 1.

    Returns
    -------
    ndarray, shape (..., seq_len, d_k)
        The turned vectors, each as long as before.

    References
    ----------
    Su et al. (2021), RoFormer, Eq. 34.

    Examples
    --------
    >>> rotary([[1.0, 0.0], [1.0, 0.0]], positions=[0, np.pi / 2]).round(3)
    array([[1., 0.],
           [0., 1.]])
    """
    (x,) = finite_numbers(x=x)
    check_shape("x", x, (..., "seq_len", "d_k"))
    seq_len, d_k = x.shape[-2:]
    (positions,) = finite_numbers(positions=np.arange(seq_len) if positions is None else positions)
    if broadcast_shapes(positions.shape, x.shape[:-1]) != x.shape[:-1]:
        raise argument_error(
            "positions", f"a shape that broadcasts to {x.shape[:-1]}", positions.shape
        )
    angles = positions[..., None] * _frequencies("d_k", d_k, base)
    # Angles are computed in float64, because float16, for example, cannot hold odd positions above
    # 2048.
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return _interleave(even * cos - odd * sin, even * sin + odd * cos)


def alibi_slopes(n_heads: int) -> Floats:
    """Return the slope of each head: how fast its scores fall with the distance.

    If n is a power of two, head h = 1, 2, ..., n has the slope ``2 ** (-8 h / n)``. Otherwise
    the slopes of the next lower power of two come first, and the remaining heads have those
    half-way between, h = 1/2, 3/2, ...

    Parameters
    ----------
    n_heads : int

    Returns
    -------
    ndarray, shape (n_heads,)

    References
    ----------
    Press, Smith and Lewis (2022), Train Short, Test Long, section 3; for other numbers of
    heads, their published code.

    Examples
    --------
    >>> alibi_slopes(4)
    array([0.25      , 0.0625    , 0.015625  , 0.00390625])
    >>> alibi_slopes(3)
    array([0.0625    , 0.00390625, 0.25      ])
    """
    n_heads = check_size("n_heads", n_heads, least=1)
    power = 2 ** (n_heads.bit_length() - 1)
    heads = np.append(np.arange(power) + 1, np.arange(n_heads - power) + 0.5)
    slopes: Floats = 2.0 ** (-8 * heads / power)
    return slopes


def alibi_bias(n_heads: int, tgt_len: int, src_len: int | None = None) -> Floats:
    """Return what each head adds to its scores: minus the distance times its slope.

    The last query stands at the last key, as in `causal_mask`. Distances are without sign:
    a key after the query is as far as one before it.

    Parameters
    ----------
    n_heads : int
    tgt_len : int
    src_len : int, optional
        By default `tgt_len`.

    Returns
    -------
    ndarray, shape (n_heads, tgt_len, src_len)
        Numbers of at most 0, to add to the scaled scores before the softmax.

    References
    ----------
    Press, Smith and Lewis (2022), Train Short, Test Long, section 3.

    Examples
    --------
    >>> alibi_bias(1, 2, 3) * 2**8
    array([[[-1.,  0., -1.],
            [-2., -1.,  0.]]])
    """
    slopes = alibi_slopes(n_heads)
    tgt_len = check_size("tgt_len", tgt_len)
    src_len = tgt_len if src_len is None else check_size("src_len", src_len)
    queries = np.arange(src_len - tgt_len, src_len)
    distance = abs(queries[:, None] - np.arange(src_len))
    return slopes[:, None, None] * -distance


def _frequencies(name: str, size: int, base: float) -> Floats:
    """Return the speed of each pair of components: 1, then slower and slower."""
    size = check_size(name, size, least=2)
    if size % 2:
        raise argument_error(name, "an even number", size)
    if not 1 <= base < np.inf:
        raise argument_error("base", "a number of at least 1", base)
    return base ** (-np.arange(0, size, 2) / size)


def _interleave(even: Floats, odd: Floats) -> Floats:
    """Return the columns of both arrays in turn."""
    return np.stack([even, odd], axis=-1).reshape(*even.shape[:-1], 2 * even.shape[-1])
