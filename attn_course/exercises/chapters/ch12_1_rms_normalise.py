"""Chapter 12, `rms_normalise`: a vector divided by the root of its mean square, and ways to miss it."""

import numpy as np

from attn_course.exercises.spec import Exercise

EPS = 1e-5


def rms_normalise(x, gain):
    """Return vectors divided by the root of the mean of their squares, times a gain.

    Parameters
    ----------
    x : array, shape (..., d_model)
    gain : array, shape (d_model,)

    Returns
    -------
    array, shape (..., d_model)

    References
    ----------
    Zhang and Sennrich (2019), Root Mean Square Layer Normalization, Eq. 4.
    """
    return gain * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + EPS)


def cases(seed):
    """Return vectors alone, in sentences and in batches; of zeros, tiny and far from zero.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x`` and ``gain``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, scale=1.0, shift=0.5):
        return {
            "x": scale * (rng.normal(size=shape) + shift),
            "gain": rng.uniform(0.5, 1.5, shape[-1]),
        }

    zeros = draw(3, 4)
    zeros["x"][1] = 0.0
    return [
        draw(4),
        draw(3, 5),
        draw(4, 4),
        draw(3, 6, scale=0.004),
        draw(2, 5, scale=30.0, shift=3.0),
        zeros,
        draw(2, 3, 4),
        draw(2, 3, 2, 5),
    ]


def _divided(x, axis=-1, *, inside=EPS, outside=0.0):
    return x / (np.sqrt((x**2).mean(axis=axis, keepdims=True) + inside) + outside)


def _with(**options):
    def rms_normalise(x, gain):
        return gain * _divided(x, **options)

    return rms_normalise


def _layer_norm(x, gain):
    centred = x - x.mean(-1, keepdims=True)
    return gain * centred / np.sqrt(x.var(-1, keepdims=True) + EPS)


def _by_deviation(x, gain):
    return gain * x / np.sqrt(x.var(-1, keepdims=True) + EPS)


def _centred_first(x, gain):
    return gain * (x - x.mean(-1, keepdims=True)) / np.sqrt((x**2).mean(-1, keepdims=True) + EPS)


def _without_root(x, gain):
    return gain * x / ((x**2).mean(-1, keepdims=True) + EPS)


def _by_length(x, gain):
    return gain * x / np.sqrt((x**2).sum(-1, keepdims=True) + EPS)


def _mean_squared(x, gain):
    return gain * x / np.sqrt(x.mean(-1, keepdims=True) ** 2 + EPS)


def _mean_of_sizes(x, gain):
    return gain * x / (np.abs(x).mean(-1, keepdims=True) + EPS)


def _gain_inside(x, gain):
    return _divided(gain * x)


def _one_plus_gain(x, gain):
    return (1 + gain) * _divided(x)


def _rows_lost(x, gain):
    return gain * x / np.sqrt((x**2).mean(-1) + EPS)


def _matrix_only(x, gain):
    _seq_len, _d_model = x.shape
    return rms_normalise(x, gain)


MISTAKES = {
    "layer_norm": (_layer_norm,),
    "by_deviation": (_by_deviation,),
    "centred_first": (_centred_first,),
    "without_root": (_without_root,),
    "by_length": (_by_length,),
    "mean_squared": (_mean_squared,),
    "mean_of_sizes": (_mean_of_sizes,),
    "no_eps": (_with(inside=0.0),),
    "eps_outside": (_with(inside=0.0, outside=EPS),),
    "other_eps": (_with(inside=1e-6), _with(inside=1e-8), _with(inside=1e-3)),
    "over_tokens": (_with(axis=-2),),
    "over_everything": (_with(axis=None),),
    "keepdims_missing": (_rows_lost,),
    "gain_dropped": (lambda x, gain: _divided(x),),
    "gain_inside": (_gain_inside,),
    "one_plus_gain": (_one_plus_gain,),
    "matrix_only": (_matrix_only, _with(axis=1)),
}

EXERCISE = Exercise.from_file(__file__, ("output",), rms_normalise, cases, MISTAKES)
