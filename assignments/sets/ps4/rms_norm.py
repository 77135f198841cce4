"""Problem set 4, `rms_norm`: a norm that does not subtract the mean, and how to get it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise

EPS = 1e-5


def rms_norm(x, gain):
    """Divide each vector by the root of the mean of its squares, then stretch its components.

    Parameters
    ----------
    x : ndarray, shape (..., d_model)
    gain : ndarray, shape (d_model,)

    Returns
    -------
    ndarray, shape (..., d_model)

    References
    ----------
    Zhang and Sennrich (2019), Root Mean Square Layer Normalization.

    Examples
    --------
    >>> rms_norm(np.array([3.0, 4.0, 0.0, 0.0]), np.ones(4)).round(2)
    array([1.2, 1.6, 0. , 0. ])
    """
    return gain * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + EPS)


def cases(seed):
    """Return sentences, very short vectors, a vector of zeros, lone vectors and batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``x`` and ``gain``.
    """
    rng = np.random.default_rng(seed)

    # At this scale ε makes no difference. Only the inputs of a smaller scale show a wrong ε.
    def draw(*shape, scale=40.0):
        sizes = rng.uniform(0.7, 1.8, (*shape[:-1], 1))  # no two vectors alike
        return {
            "x": scale * sizes * (rng.uniform(-1, 1, shape) + 0.4),
            "gain": rng.uniform(0.5, 1.5, shape[-1]),
        }

    empty = draw(3, 5)
    empty["x"][1] = 0
    return [
        draw(2, 3),
        draw(3, 4),
        draw(4, 4),
        draw(5, 3),
        draw(3, 6, scale=200.0),
        draw(2, 4, scale=0.004),
        empty,
        draw(6),
        draw(2, 3, 4),
        draw(2, 3, 2, 5),
        draw(*rng.integers(3, 7, 2)),
    ]


def _divided(divisor, top=lambda x: x, eps=EPS):
    """Return the norm with another divisor, or another numerator."""

    def rms_norm(x, gain):
        return gain * top(x) / divisor(x, eps)

    return rms_norm


def _root(x, eps, axis=-1):
    return np.sqrt((x**2).mean(axis=axis, keepdims=True) + eps)


def _centred(x):
    return x - x.mean(axis=-1, keepdims=True)


def _over(axis):
    return _divided(lambda x, eps: _root(x, eps, axis))


def _squares_without_mean(x, eps):
    return np.sqrt((x**2).sum(axis=-1, keepdims=True) + eps)


def _matrix_only(x, gain):
    _seq_len, _d_model = x.shape
    return rms_norm(x, gain)


MISTAKES = {
    "layer_norm": (_divided(lambda x, eps: _root(_centred(x), eps), _centred),),
    "deviation_as_size": (_divided(lambda x, eps: _root(_centred(x), eps)),),
    "centred_afterwards": (_divided(_root, _centred),),
    "unit_length": (_divided(_squares_without_mean),),
    "no_root": (_divided(lambda x, eps: _root(x, eps) ** 2),),
    "mean_of_sizes": (_divided(lambda x, eps: np.abs(x).mean(axis=-1, keepdims=True) + eps),),
    "root_of_the_mean": (
        _divided(lambda x, eps: np.sqrt(x.mean(axis=-1, keepdims=True) ** 2 + eps)),
    ),
    "whole_array": (_over(None),),
    "over_tokens": (_over(-2), _over(0)),
    "axis_lost": (_divided(lambda x, eps: np.sqrt((x**2).mean(axis=-1) + eps)),),
    "no_eps": (_divided(_root, eps=0.0),),
    "eps_outside": (_divided(lambda x, eps: _root(x, 0.0) + eps),),
    "other_eps": tuple(_divided(_root, eps=eps) for eps in (1e-6, 1e-8, 1e-12, 1e-3)),
    "gain_missing": (lambda x, gain: x / _root(x, EPS),),
    "gain_before": (lambda x, gain: gain * x / _root(gain * x, EPS),),
    "gain_added": (lambda x, gain: x / _root(x, EPS) + gain,),
    "matrix_only": (_matrix_only, _over(1)),
}

EXERCISE = Exercise.from_file(__file__, ("output",), rms_norm, cases, MISTAKES)
