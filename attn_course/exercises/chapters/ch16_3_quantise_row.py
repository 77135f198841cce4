"""Chapter 16, `quantise_row`: weights in few bits, a scale for each group, and ways to miss it."""

import numpy as np

from attn_course.exercises.spec import Exercise


def quantise_row(row, bits, group):
    """Round a row of weights to whole steps, with a scale for each group of neighbours.

    Parameters
    ----------
    row : array, shape (n,)
    bits : int
        The largest number of a group becomes ``2 ** (bits - 1) - 1`` steps.
    group : int
        How many neighbours share a scale, a divisor of ``n``.

    Returns
    -------
    steps : array, shape (n,)
        Whole numbers.
    scales : array, shape (n / group,)
        What one step is worth in each group.

    References
    ----------
    Dettmers and Zettlemoyer (2023), The case for 4-bit precision, section 2.
    """
    return _quantised(row, bits, group)


def cases(seed):
    """Return rows with a large weight, of several bits and groups.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``row``, ``bits`` and ``group``.
    """
    rng = np.random.default_rng(seed)

    def draw(n, bits, group):
        row = rng.normal(size=n) * np.repeat(rng.uniform(0.3, 2.0, n // group), group)
        # The largest of each group is negative in some groups.
        for i in range(0, n, group):
            place = i + int(rng.integers(group))
            row[place] = rng.uniform(2, 4) * (-1 if (i // group) % 2 == 0 else 1)
        return {"row": row, "bits": np.array(bits), "group": np.array(group)}

    return [
        draw(4, 4, 4),
        draw(8, 4, 4),
        draw(12, 8, 3),
        draw(16, 3, 4),
        draw(12, 4, 6),
        draw(15, 8, 5),
    ]


def _quantised(row, bits, group, largest=None, size=None, rounded=np.round):
    groups = row.reshape(-1, int(group))
    most = 2 ** (int(bits) - 1) - 1 if largest is None else largest(int(bits))
    top = np.abs(groups).max(axis=1) if size is None else size(groups)
    scales = top / most
    return rounded(groups / scales[:, None]).reshape(-1), scales


def _of_the_row(row, bits, group):
    n_groups = len(row) // int(group)
    steps, scales = _quantised(row, bits, len(row))
    return steps, np.repeat(scales, n_groups)


def _one_scale(row, bits, group):
    return _quantised(row, bits, len(row))


def _given_back(row, bits, group):
    steps, scales = _quantised(row, bits, group)
    return steps * np.repeat(scales, int(group)), scales


def _inverse(row, bits, group):
    steps, scales = _quantised(row, bits, group)
    return steps, 1 / scales


def _multiplied(row, bits, group):
    _, scales = _quantised(row, bits, group)
    return np.round(row * np.repeat(scales, int(group))), scales


def _every_so_many(row, bits, group):
    n_groups = len(row) // int(group)
    apart = row.reshape(int(group), n_groups)
    scales = np.abs(apart).max(axis=0) / (2 ** (int(bits) - 1) - 1)
    return np.round(apart / scales).reshape(-1), scales


def _as_many_groups(row, bits, group):
    return _quantised(row, bits, len(row) // int(group))


def _from_the_least(row, bits, group):
    groups = row.reshape(-1, int(group))
    low, high = groups.min(axis=1, keepdims=True), groups.max(axis=1, keepdims=True)
    scales = (high - low) / (2 ** int(bits) - 1)
    return np.round((groups - low) / scales).reshape(-1), scales[:, 0]


def _over_the_largest(row, bits, group):
    groups = row.reshape(-1, int(group))
    scales = np.abs(groups).max(axis=1)
    return np.round(groups / scales[:, None]).reshape(-1), scales


def _steps_and_largest(row, bits, group):
    steps, _ = _quantised(row, bits, group)
    return steps, np.abs(row.reshape(-1, int(group))).max(axis=1)


MISTAKES = {
    "one_scale_for_the_row": (_of_the_row, _one_scale),
    "not_rounded": (lambda row, bits, group: _quantised(row, bits, group, rounded=lambda x: x),),
    "cut_off": (
        lambda row, bits, group: _quantised(row, bits, group, rounded=np.trunc),
        lambda row, bits, group: _quantised(row, bits, group, rounded=np.floor),
        lambda row, bits, group: _quantised(row, bits, group, rounded=np.ceil),
    ),
    "one_step_too_many": (
        lambda row, bits, group: _quantised(row, bits, group, lambda b: 2 ** (b - 1)),
    ),
    "no_bit_for_the_sign": (
        lambda row, bits, group: _quantised(row, bits, group, lambda b: 2**b - 1),
        lambda row, bits, group: _quantised(row, bits, group, lambda b: 2**b),
    ),
    "one_bit_less": (
        lambda row, bits, group: _quantised(row, bits, group, lambda b: 2 ** (b - 2) - 1 or 1),
    ),
    "always_127": (lambda row, bits, group: _quantised(row, bits, group, lambda b: 127),),
    "bits_for_steps": (lambda row, bits, group: _quantised(row, bits, group, lambda b: b),),
    "sign_lost": (
        lambda row, bits, group: _quantised(row, bits, group, size=lambda g: g.max(axis=1)),
        lambda row, bits, group: _quantised(row, bits, group, size=lambda g: np.abs(g.max(axis=1))),
    ),
    "mean_for_the_largest": (
        lambda row, bits, group: _quantised(
            row, bits, group, size=lambda g: np.abs(g).mean(axis=1)
        ),
        lambda row, bits, group: _quantised(row, bits, group, size=lambda g: g.std(axis=1)),
    ),
    "whole_range": (
        lambda row, bits, group: _quantised(row, bits, group, size=lambda g: np.ptp(g, axis=1)),
    ),
    "from_the_least": (_from_the_least,),
    "given_back": (_given_back,),
    "scale_upside_down": (_inverse,),
    "multiplied": (_multiplied,),
    "over_the_largest": (_over_the_largest,),
    "largest_for_the_scale": (_steps_and_largest,),
    "every_so_many": (_every_so_many,),
    "as_many_groups": (_as_many_groups,),
    "magnitudes": (
        lambda row, bits, group: (
            np.abs(_quantised(row, bits, group)[0]),
            _quantised(row, bits, group)[1],
        ),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("steps", "scales"), quantise_row, cases, MISTAKES)
