"""Chapter 7, `rotate`: rotary positions, and the ways to get them wrong."""

import numpy as np

from attn import reference
from attn_course.exercises.spec import Exercise


def rotate(x, positions, base):
    """Return the rotated vectors. The exercise asks for a function of this name."""
    return reference.rotary(x, positions, base)


def cases(seed):
    """Return vectors, their positions and a base: for a sequence, a batch, a batch with heads.

    The positions are different numbers from 1 to 11, in ascending order. The base is small enough
    for every pair to turn noticeably.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``positions`` and ``base``.
    """
    rng = np.random.default_rng(seed)
    shapes = [(2, 4), (3, 6), (5, 4), (4, 2), (2, 3, 8), (2, 3, 5, 4)]
    return [
        {
            "x": rng.uniform(-1, 1, shape),
            "positions": np.sort(rng.choice(np.arange(1, 12), shape[-2], replace=False)),
            "base": np.float64(rng.uniform(30, 300)),
        }
        for shape in shapes
    ]


def _exponents(d_k):
    return np.arange(0, d_k, 2) / d_k


def _joined(even, odd):
    return np.stack([even, odd], axis=-1).reshape(*even.shape[:-1], -1)


def _turned(even, odd, cos, sin):
    return even * cos - odd * sin, even * sin + odd * cos


def _with(
    turn=_turned,
    exponents=_exponents,
    positions=lambda given, x: given,
    base=lambda base: base,
    scale=1.0,
    join=_joined,
):
    """Return the rotation with one of its parts replaced."""

    def rotated(x, given, number):
        speeds = base(number) ** -exponents(x.shape[-1])
        angles = scale * positions(given, x)[:, None] * speeds
        return join(*turn(x[..., 0::2], x[..., 1::2], np.cos(angles), np.sin(angles)))

    return rotated


def _halves(x, positions, base):
    angles = positions[:, None] * base ** -_exponents(x.shape[-1])
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate(_turned(first, second, np.cos(angles), np.sin(angles)), axis=-1)


def _overwritten(even, odd, cos, sin):
    even = even * cos - odd * sin
    return even, even * sin + odd * cos


def _added(x, positions, base):
    return x + reference.sinusoidal_positions(positions.max() + 1, x.shape[-1], base)[positions]


def _every_axis(x, positions, base):
    if x.ndim != 2:
        raise ValueError("positions along the first axis do not broadcast")
    return rotate(x, positions, base)


def _every_component(x, positions, base):
    angles = positions[:, None] * base ** -(np.arange(x.shape[-1]) / x.shape[-1])
    turned = _joined(-x[..., 1::2], x[..., 0::2])
    return x * np.cos(angles) + turned * np.sin(angles)


def _tiled(x, positions, base):
    angles = np.tile(positions[:, None] * base ** -_exponents(x.shape[-1]), 2)
    turned = _joined(-x[..., 1::2], x[..., 0::2])
    return x * np.cos(angles) + turned * np.sin(angles)


def _along_the_components(x, positions, base):
    angles = positions * base ** -_exponents(x.shape[-1])
    return _joined(*_turned(x[..., 0::2], x[..., 1::2], np.cos(angles), np.sin(angles)))


MISTAKES = {
    "halves": (_halves,),
    "backwards": (_with(scale=-1.0),),
    "no_minus": (_with(lambda e, o, c, s: (e * c + o * s, e * s + o * c)),),
    "reflection": (
        _with(lambda e, o, c, s: (e * c - o * s, e * s - o * c)),
        _with(lambda e, o, c, s: (e * c + o * s, e * s - o * c)),
    ),
    "overwritten": (_with(_overwritten),),
    "doubled_exponent": (_with(exponents=lambda d: 2 * np.arange(0, d, 2) / d),),
    "halved_exponent": (_with(exponents=lambda d: np.arange(d // 2) / d),),
    "exponent_positive": (_with(exponents=lambda d: -np.arange(0, d, 2) / d),),
    "one_speed": (_with(exponents=lambda d: np.zeros(d // 2)),),
    "positions_ignored": (
        _with(positions=lambda given, x: np.arange(x.shape[-2])),
        _with(positions=lambda given, x: np.arange(1, x.shape[-2] + 1)),
    ),
    "one_too_far": (_with(positions=lambda given, x: given + 1),),
    "base_fixed": (_with(base=lambda base: 10000.0),),
    "degrees": (_with(scale=np.pi / 180),),
    "not_interleaved": (_with(join=lambda even, odd: np.concatenate([even, odd], axis=-1)),),
    "added": (_added,),
    "only_cosine": (
        _with(lambda e, o, c, s: (e * c, o * c)),
        _with(lambda e, o, c, s: (e * c, o * s)),
    ),
    "one_sequence_only": (_every_axis,),
    "sine_for_cosine": (_with(lambda e, o, c, s: _turned(e, o, s, c)),),
    "exponent_of_each_component": (_every_component,),
    "angles_tiled": (_tiled,),
    "positions_along_the_row": (_along_the_components,),
}

EXERCISE = Exercise.from_file(__file__, ("turned",), rotate, cases, MISTAKES)
