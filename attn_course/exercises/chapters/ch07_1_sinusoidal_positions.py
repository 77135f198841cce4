"""Chapter 7, `sinusoidal_positions`: the table of sines and cosines, and how to get it wrong."""

import numpy as np

from attn import reference
from attn_course.exercises.spec import Exercise


def sinusoidal_positions(seq_len, d_model, base):
    """Return the encodings of the first positions, under the names the exercise uses."""
    return reference.sinusoidal_positions(seq_len, d_model, base)


def cases(seed):
    """Return sizes and bases: few and many positions, narrow and wide.

    Bases are small enough for every wave to move, so that each exponent shows.

    Parameters
    ----------
    seed : int
        Seed of the random bases; the sizes are always the same.

    Returns
    -------
    list of dict
        With the keys ``seq_len``, ``d_model`` and ``base``.
    """
    rng = np.random.default_rng(seed)
    sizes = [(2, 4), (3, 6), (5, 4), (4, 10), (7, 2), (9, 8), (25, 12)]
    return [
        {"seq_len": np.int64(n), "d_model": np.int64(d), "base": np.float64(rng.uniform(30, 300))}
        for n, d in sizes
    ]


def _table(angles, even=np.sin, odd=np.cos):
    return np.stack([even(angles), odd(angles)], axis=-1).reshape(len(angles), -1)


def _with(
    exponents=lambda d: np.arange(0, d, 2) / d,
    positions=np.arange,
    base=lambda base: base,
    even=np.sin,
    odd=np.cos,
    turn=1.0,
):
    """Return the table with one of its parts replaced."""

    def table(seq_len, d_model, given):
        speeds = base(given) ** -exponents(d_model)
        return _table(turn * positions(seq_len)[:, None] * speeds, even, odd)

    return table


def _an_exponent_for_each_column(factor):
    def table(seq_len, d_model, base):
        columns = np.arange(d_model)
        angles = np.arange(seq_len)[:, None] / base ** (factor * columns / d_model)
        return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))

    return table


def _halves(first, second):
    def table(seq_len, d_model, base):
        angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
        return np.hstack([first(angles), second(angles)])

    return table


def _changed(change):
    return lambda seq_len, d_model, base: change(sinusoidal_positions(seq_len, d_model, base))


def _rows_alternate(seq_len, d_model, base):
    angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
    angles = np.repeat(angles, 2, axis=-1)
    return np.where(np.arange(seq_len)[:, None] % 2 == 0, np.sin(angles), np.cos(angles))


def _one_place_further(seq_len, d_model, base):
    table = np.zeros((seq_len, d_model))
    for i in range(d_model // 2):
        angles = np.arange(seq_len) / base ** (2 * i / d_model)
        table[:, i], table[:, i + 1] = np.sin(angles), np.cos(angles)
    return table


def _without_rows(seq_len, d_model, base):
    angles = np.arange(seq_len) / base ** (np.arange(0, d_model, 2) / d_model)
    table = np.empty((seq_len, d_model))
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return table


def _by_hand(angle):
    def table(seq_len, d_model, base):
        pairs = np.arange(d_model // 2)
        return _table(angle(np.arange(seq_len)[:, None], pairs, d_model, base))

    return table


MISTAKES = {
    "doubled_exponent": (_with(lambda d: 2 * np.arange(0, d, 2) / d),),
    "halved_exponent": (_with(lambda d: np.arange(d // 2) / d),),
    "exponent_of_each_column": (_an_exponent_for_each_column(1), _an_exponent_for_each_column(2)),
    "exponent_to_the_end": (_with(lambda d: np.arange(d // 2) / max(d // 2 - 1, 1)),),
    "exponent_positive": (_with(lambda d: -np.arange(0, d, 2) / d),),
    "base_fixed": (_with(base=lambda base: 10000.0),),
    "swapped": (_with(even=np.cos, odd=np.sin),),
    "blocked": (_halves(np.sin, np.cos), _halves(np.cos, np.sin)),
    "only_sines": (_with(odd=np.sin), _with(even=np.cos)),
    "from_one": (_with(positions=lambda n: np.arange(1, n + 1)),),
    "share_of_length": (
        _with(positions=lambda n: np.arange(n) / n),
        _with(positions=lambda n: np.arange(n) / max(n - 1, 1)),
    ),
    "degrees": (_with(turn=np.pi / 180),),
    "whole_turns": (_with(turn=2 * np.pi),),
    "truncated": (_changed(lambda table: np.trunc(table).astype(int)),),
    "transposed": (_changed(np.transpose),),
    "unit_length": (_changed(lambda table: table / np.linalg.norm(table, axis=-1, keepdims=True)),),
    "rows_alternate": (_rows_alternate,),
    "whole_exponent": (_by_hand(lambda pos, i, d, base: pos / base ** (2 * i // d).astype(float)),),
    "parenthesis_missing": (
        _by_hand(lambda pos, i, d, base: pos / base**2 * i / d),
        _by_hand(lambda pos, i, d, base: pos / base ** (2 * i) / d),
    ),
    "positions_along_the_row": (_without_rows,),
    "columns_overwritten": (_one_place_further,),
    "angles_returned": (_with(even=lambda angles: angles, odd=lambda angles: angles),),
    "exponent_from_one": (_with(lambda d: np.arange(2, d + 2, 2) / d),),
}

EXERCISE = Exercise.from_file(__file__, ("positions",), sinusoidal_positions, cases, MISTAKES)
