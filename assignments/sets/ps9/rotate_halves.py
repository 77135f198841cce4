"""Problem set 9, `rotate_halves`: rotary positions as the files of models store them, and how to get it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise


def _angles(x, positions, base, exponents=lambda half: np.arange(half) / half):
    return np.asarray(positions)[..., None] * base ** -exponents(x.shape[-1] // 2)


def _turn(x, angles, sign=1, minus=1):
    first, second = np.split(x, 2, axis=-1)
    cos, sin = np.cos(angles), sign * np.sin(angles)
    return np.concatenate([first * cos - minus * second * sin, second * cos + first * sin], axis=-1)


def rotate_halves(x, positions, base):
    """Return vectors turned by their positions, component i together with component i + d / 2.

    Parameters
    ----------
    x : array, shape (..., seq_len, d)
    positions : array of int, shape (..., seq_len)
    base : float

    Returns
    -------
    array, shape (..., seq_len, d)

    References
    ----------
    Su et al. (2024), RoFormer, section 3.2.2, with the components in the order of Llama's files.
    """
    return _turn(x, _angles(x, positions, base))


def cases(seed):
    """Return sentences that begin at 0, sentences that go on, and batches with positions of their own.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``x``, ``positions`` and ``base``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, positions):
        return {
            "x": rng.uniform(0.5, 1.5, shape) * rng.choice([-1, 1], shape),
            "positions": np.array(positions),
            "base": np.float64(rng.uniform(30, 300)),
        }

    start, length, half = rng.integers((5, 3, 2), (12, 8, 5))
    return [
        draw(3, 4, positions=range(3)),
        draw(5, 6, positions=range(5)),
        draw(6, 8, positions=range(6)),
        draw(3, 6, positions=range(start, start + 3)),
        draw(5, 4, positions=[2, 3, 5, 8, 13]),
        draw(2, 3, 4, positions=[[0, 0, 1], [4, 5, 6]]),
        draw(3, 3, 6, positions=[[7, 8, 9], [0, 1, 2], [3, 1, 2]]),
        draw(2, 3, 4, 4, positions=rng.permutation(24).reshape(2, 3, 4)),
        draw(length, 2 * half, positions=range(length)),
    ]


def _with(exponents=None, base=lambda base: base, place=lambda p: p, scale=1.0, **how):
    """Return the rotation with one of its ingredients exchanged for another."""
    options = {} if exponents is None else {"exponents": exponents}

    def wrong(x, positions, number):
        return _turn(x, scale * _angles(x, place(positions), base(number), **options), **how)

    return wrong


def _pairs(join):
    def wrong(x, positions, base):
        angles = _angles(x, positions, base)
        even, odd, cos, sin = x[..., 0::2], x[..., 1::2], np.cos(angles), np.sin(angles)
        return join(even * cos - odd * sin, odd * cos + even * sin)

    return wrong


def _woven(first, second):
    return np.stack([first, second], axis=-1).reshape(*first.shape[:-1], -1)


def _joined(first, second):
    return np.concatenate([first, second], axis=-1)


def _half_turned(keep):
    def wrong(x, positions, base):
        turned, half = rotate_halves(x, positions, base), x.shape[-1] // 2
        turned[..., keep(half)] = x[..., keep(half)]
        return turned

    return wrong


def _swapped(x, positions, base):
    return np.roll(rotate_halves(x, positions, base), x.shape[-1] // 2, axis=-1)


def _first_sentence(x, positions, base):
    return rotate_halves(x, positions.reshape(-1, positions.shape[-1])[0], base)


def _matrix_only(x, positions, base):
    _seq_len, _d = x.shape
    return rotate_halves(x, positions, base)


MISTAKES = {
    "pairs_of_neighbours": (_pairs(_woven), _pairs(_joined)),
    "positions_ignored": (_with(place=lambda p: np.arange(p.shape[-1])),),
    "first_position_only": (_with(place=lambda p: p[..., :1] + np.arange(p.shape[-1])),),
    "counted_from_one": (_with(place=lambda p: p + 1),),
    "doubled_exponent": (_with(lambda half: 2 * np.arange(half) / half),),
    "halved_exponent": (_with(lambda half: np.arange(half) / (2 * half)),),
    "exponent_positive": (_with(lambda half: -np.arange(half) / half),),
    "base_fixed": (_with(base=lambda base: 10000.0),),
    "one_speed": (_with(np.zeros),),
    "backwards": (_with(sign=-1),),
    "no_minus": (_with(minus=-1),),
    "half_turned": (
        _half_turned(lambda half: slice(half, None)),
        _half_turned(lambda half: slice(half)),
    ),
    "halves_swapped": (_swapped,),
    "degrees": (_with(scale=np.pi / 180),),
    "first_sentence_for_all": (_first_sentence,),
    "matrix_only": (_matrix_only,),
}

EXERCISE = Exercise.from_file(__file__, ("turned",), rotate_halves, cases, MISTAKES)
