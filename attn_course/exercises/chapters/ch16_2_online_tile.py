"""Chapter 16, `online_tile`: one tile of an online softmax, and the common mistakes."""

import numpy as np

from attn_course.exercises.spec import Exercise


def online_tile(peak, total, output, scores, values):
    """Return the peak, total and output after one more tile.

    Parameters
    ----------
    peak : float
        The largest score so far; minus infinity before the first tile.
    total : float
        The sum of the exponentials of the scores so far, relative to `peak`.
    output : array, shape (d_v,)
        The sum of the values so far, each times its exponential.
    scores : array, shape (n,)
        The scores in the tile.
    values : array, shape (n, d_v)

    Returns
    -------
    peak, total : float
    output : array, shape (d_v,)

    References
    ----------
    Milakov and Gimelshein (2018), Online normalizer calculation for softmax, algorithm 3.
    """
    new, factor, powers = _parts(peak, scores)
    return new, total * factor + powers.sum(), output * factor + powers @ values


def cases(seed):
    """Return first tiles and later ones, with a peak that rises and one that does not.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``peak``, ``total``, ``output``, ``scores`` and ``values``.
    """
    rng = np.random.default_rng(seed)

    def draw(n, d_v, gap=None):
        scores = rng.uniform(-2, 2, n)
        found = {
            "peak": np.array(-np.inf),
            "total": np.array(0.0),
            "output": np.zeros(d_v),
            "scores": scores,
            "values": rng.normal(1, 2, (n, d_v)),
        }
        if gap is not None:
            found["peak"] = np.array(scores.max() + gap)
            found["total"] = np.array(rng.uniform(1, 3))
            found["output"] = rng.normal(1, 2, d_v)
        return found

    return [
        draw(2, 1, gap=-1.5),
        draw(3, 2, gap=0.8),
        draw(4, 3),
        draw(2, 4, gap=-0.6),
        draw(5, 2, gap=1.7),
        draw(1, 3, gap=-2.1),
    ]


def _parts(peak, scores):
    new = np.maximum(peak, scores.max())
    return new, np.exp(peak - new), np.exp(scores - new)


def _as(way):
    """Return a wrong `online_tile`; `way` returns (total, output), or peak, total and output."""

    def tile(peak, total, output, scores, values):
        new, factor, powers = _parts(peak, scores)
        with np.errstate(all="ignore"):
            found = way(new, factor, powers, peak, total, output, scores, values)
        return (new, *found) if len(found) == 2 else found

    return tile


def _of_the_tile(new, factor, p, peak, total, output, scores, values):
    """Return the largest score of the tile as the peak, ignoring the previous peak."""
    top = scores.max()
    factor, p = np.exp(peak - top), np.exp(scores - top)
    return top, total * factor + p.sum(), output * factor + p @ values


def _divided(new, factor, p, peak, total, output, scores, values):
    total = total * factor + p.sum()
    return total, (output * factor + p @ values) / total


def _shares(new, factor, p, peak, total, output, scores, values):
    shares = p / p.sum()
    return total * factor + shares.sum(), output * factor + shares @ values


MISTAKES = {
    "not_corrected": (_as(lambda m, f, p, m0, l, o, s, v: (l + p.sum(), o + p @ v)),),
    "output_not_corrected": (_as(lambda m, f, p, m0, l, o, s, v: (l * f + p.sum(), o + p @ v)),),
    "sum_not_corrected": (_as(lambda m, f, p, m0, l, o, s, v: (l + p.sum(), o * f + p @ v)),),
    "the_other_way_round": (_as(lambda m, f, p, m0, l, o, s, v: (l / f + p.sum(), o / f + p @ v)),),
    "largest_of_the_tile": (_as(_of_the_tile),),
    "old_peak_returned": (
        _as(lambda m, f, p, m0, l, o, s, v: (m0, l * f + p.sum(), o * f + p @ v)),
    ),
    "old_peak_subtracted": (
        _as(
            lambda m, f, p, m0, l, o, s, v: (
                l * f + np.exp(s - m0).sum(),
                o * f + np.exp(s - m0) @ v,
            )
        ),
        _as(lambda m, f, p, m0, l, o, s, v: (l + np.exp(s - m0).sum(), o + np.exp(s - m0) @ v)),
    ),
    "tile_by_its_own_peak": (
        _as(
            lambda m, f, p, m0, l, o, s, v: (
                l * f + np.exp(s - s.max()).sum(),
                o * f + np.exp(s - s.max()) @ v,
            )
        ),
    ),
    "nothing_subtracted": (
        _as(lambda m, f, p, m0, l, o, s, v: (l * f + np.exp(s).sum(), o * f + np.exp(s) @ v)),
        _as(lambda m, f, p, m0, l, o, s, v: (l + np.exp(s).sum(), o + np.exp(s) @ v)),
    ),
    "past_forgotten": (_as(lambda m, f, p, m0, l, o, s, v: (p.sum(), p @ v)),),
    "tile_corrected_too": (
        _as(lambda m, f, p, m0, l, o, s, v: ((l + p.sum()) * f, (o + p @ v) * f)),
    ),
    "divided_already": (_as(_divided),),
    "shares_of_the_tile": (_as(_shares),),
    "sum_of_the_scores": (
        _as(lambda m, f, p, m0, l, o, s, v: (l * f + s.sum(), o * f + s @ v)),
        _as(lambda m, f, p, m0, l, o, s, v: (l * f + s.sum(), o * f + p @ v)),
    ),
    "values_not_weighed": (
        _as(lambda m, f, p, m0, l, o, s, v: (l * f + p.sum(), o * f + v.sum(axis=0))),
        _as(lambda m, f, p, m0, l, o, s, v: (l * f + p.sum(), o * f + v.mean(axis=0))),
    ),
    "powers_of_two": (
        _as(
            lambda m, f, p, m0, l, o, s, v: (
                l * 2.0 ** (m0 - m) + (2.0 ** (s - m)).sum(),
                o * 2.0 ** (m0 - m) + 2.0 ** (s - m) @ v,
            )
        ),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("peak", "total", "output"), online_tile, cases, MISTAKES)
