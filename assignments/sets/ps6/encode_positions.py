"""Problem set 6, `encode_positions`: sines and cosines of any position, at any width."""

import numpy as np

from attn_course.exercises.spec import Exercise


def encode_positions(positions, d_model, base):
    """Return the encoding of each position; an odd width ends with a sine alone."""
    columns = np.arange(d_model)
    angles = positions[..., None] / base ** (columns // 2 * 2 / d_model)
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))


def cases(seed):
    """Return positions and widths: even and odd, whole and not, with other axes.

    Bases are small enough for every clock to move, so that each exponent shows.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``positions``, ``d_model`` and ``base``.
    """
    rng = np.random.default_rng(seed)

    def draw(shape, d_model, fractional=False):
        # Never 0, 1, 2, ...: whoever numbers the rows instead must show.
        positions = rng.permutation(np.arange(3, 25))[: np.prod(shape, dtype=int)].reshape(shape)
        return {
            "positions": positions + rng.uniform(0.3, 0.7, shape) if fractional else positions,
            "d_model": np.int64(d_model),
            "base": np.float64(rng.uniform(30, 300)),
        }

    return [
        draw((2,), 4),
        draw((3,), 6),
        draw((5,), 10),
        draw((3,), 5),
        draw((4,), 7),
        draw((2,), 4, fractional=True),
        draw((3,), 6, fractional=True),
        draw((2, 3), 4),
        draw((2, 2, 3), 8),
        draw((), 4),
        draw((rng.integers(2, 7),), 2 * rng.integers(2, 6)),
    ]


def _with(
    exponents=lambda columns, d: columns // 2 * 2 / d,
    positions=lambda given: given,
    base=lambda base: base,
    even=np.sin,
    odd=np.cos,
    scale=1.0,
):
    """Return the encoding with one of its ingredients exchanged for another."""

    def encoded(given, d_model, number):
        columns = np.arange(d_model)
        angles = scale * positions(given)[..., None] / base(number) ** exponents(columns, d_model)
        return np.where(columns % 2 == 0, even(angles), odd(angles))

    return encoded


def _blocked(first, second):
    def encoded(positions, d_model, base):
        exponents = np.arange(0, d_model, 2) / d_model
        angles = positions[..., None] / base**exponents
        return np.concatenate([first(angles), second(angles)[..., : d_model // 2]], axis=-1)

    return encoded


def _pairs_only(positions, d_model, base):
    encoded = encode_positions(positions, d_model, base)
    return encoded[..., : d_model // 2 * 2]


def _last_clock_whole(positions, d_model, base):
    columns = np.arange(d_model + d_model % 2)
    angles = positions[..., None] / base ** (columns // 2 * 2 / d_model)
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))


def _wider_and_cut(positions, d_model, base):
    return encode_positions(positions, d_model + d_model % 2, base)[..., :d_model]


def _shares_the_even_width(positions, d_model, base):
    columns, even_width = np.arange(d_model), max(d_model // 2 * 2, 2)
    angles = positions[..., None] / base ** (columns // 2 * 2 / even_width)
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))


def _cosine_at_the_end(positions, d_model, base):
    encoded = encode_positions(positions, d_model, base)
    if d_model % 2:
        encoded[..., -1] = np.cos(positions / base ** ((d_model - 1) / d_model))
    return encoded


def _silent_at_the_end(positions, d_model, base):
    encoded = encode_positions(positions, d_model, base)
    if d_model % 2:
        encoded[..., -1] = 0
    return encoded


def _one_axis(positions, d_model, base):
    columns = np.arange(d_model)
    angles = positions[:, None] / base ** (columns // 2 * 2 / d_model)
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))


def _counts_rows(positions, d_model, base):
    rows = np.broadcast_to(np.arange(positions.shape[-1]), positions.shape)
    return encode_positions(rows, d_model, base)


def _from_the_table(positions, d_model, base):
    return encode_positions(np.arange(positions.max() + 1), d_model, base)[positions]


MISTAKES = {
    "doubled_exponent": (_with(lambda c, d: 2 * (c // 2 * 2) / d),),
    "halved_exponent": (_with(lambda c, d: c // 2 / d),),
    "exponent_of_each_column": (_with(lambda c, d: c / d), _with(lambda c, d: 2 * c / d)),
    "exponent_positive": (_with(lambda c, d: -(c // 2 * 2) / d),),
    "base_fixed": (_with(base=lambda base: 10000.0),),
    "swapped": (_with(even=np.cos, odd=np.sin),),
    "blocked": (_blocked(np.sin, np.cos), _blocked(np.cos, np.sin)),
    "only_sines": (_with(odd=np.sin),),
    "degrees": (_with(scale=np.pi / 180),),
    "rows_instead_of_positions": (_counts_rows,),
    "whole_positions_only": (_with(positions=np.trunc), _with(positions=np.round), _from_the_table),
    "last_column_lost": (_pairs_only, _last_clock_whole),
    "another_width": (_wider_and_cut, _shares_the_even_width),
    "last_column_changed": (_cosine_at_the_end, _silent_at_the_end),
    "one_axis_only": (_one_axis,),
}

EXERCISE = Exercise.from_file(__file__, ("encoding",), encode_positions, cases, MISTAKES)
