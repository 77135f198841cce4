"""Chapter 5, `layer_norm`: a vector of mean zero and variance one, and how to get it wrong."""

import numpy as np

from attn.reference import layer_norm, softmax
from attn_course.exercises.spec import Exercise

EPS = 1e-5


def cases(seed):
    """Return vectors alone, in sentences and in batches; constant, tiny and far from zero.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``gain`` and ``bias``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, scale=1.0, shift=0.5):
        return {
            "x": scale * (rng.normal(size=shape) + shift),
            "gain": rng.uniform(0.5, 1.5, shape[-1]),
            "bias": rng.uniform(-1, 1, shape[-1]),
        }

    constant = draw(3, 4)
    constant["x"][1] = 2.0
    return [
        draw(4),
        draw(3, 5),
        draw(4, 4),
        draw(3, 6, scale=0.004),
        draw(2, 5, scale=30.0, shift=3.0),
        constant,
        draw(2, 3, 4),
        draw(2, 3, 2, 5),
    ]


def _normalised(x, axis=-1, *, centre=True, ddof=0, inside=EPS, outside=0.0):
    mean = x.mean(axis=axis, keepdims=True)
    root = np.sqrt(x.var(axis=axis, ddof=ddof, keepdims=True) + inside) + outside
    return (x - mean if centre else x) / root


def _with(**options):
    def layer_norm(x, gain, bias):
        return gain * _normalised(x, **options) + bias

    return layer_norm


def _over_tokens(x, gain, bias):
    return gain * _normalised(x, axis=-2) + bias


def _over_everything(x, gain, bias):
    return gain * _normalised(x, axis=None) + bias


def _over_batch(x, gain, bias):
    return gain * _normalised(x, axis=0) + bias


def _by_variance(x, gain, bias):
    return gain * (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + EPS) + bias


def _rms(x, gain, bias):
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + EPS) + bias


def _only_centred(x, gain, bias):
    return gain * (x - x.mean(-1, keepdims=True)) + bias


def _unit_length(x, gain, bias):
    centred = x - x.mean(-1, keepdims=True)
    return gain * centred / np.sqrt((centred**2).sum(-1, keepdims=True) + EPS) + bias


def _bias_divided(x, gain, bias):
    root = np.sqrt(x.var(-1, keepdims=True) + EPS)
    return (gain * (x - x.mean(-1, keepdims=True)) + bias) / root


def _bias_divided_and_scaled(x, gain, bias):
    root = np.sqrt(x.var(-1, keepdims=True) + EPS)
    return gain * (x - x.mean(-1, keepdims=True) + bias) / root


def _mean_divided(x, gain, bias):
    return gain * (x - x.mean(-1, keepdims=True) / np.sqrt(x.var(-1, keepdims=True) + EPS)) + bias


def _mean_divided_without_gain(x, gain, bias):
    return gain * x - x.mean(-1, keepdims=True) / np.sqrt(x.var(-1, keepdims=True) + EPS) + bias


def _second_axis(x, gain, bias):
    return gain * _normalised(x, axis=1) + bias


def _matrix_only(x, gain, bias):
    _seq_len, _d_model = x.shape
    return layer_norm(x, gain, bias)


def _rows_lost(x, gain, bias):
    return gain * (x - x.mean(-1)) / np.sqrt(x.var(-1) + EPS) + bias


def _by_range(x, gain, bias):
    low, high = x.min(-1, keepdims=True), x.max(-1, keepdims=True)
    return gain * (x - low) / (high - low + EPS) + bias


def _by_mean_distance(x, gain, bias):
    centred = x - x.mean(-1, keepdims=True)
    return gain * centred / (np.abs(centred).mean(-1, keepdims=True) + EPS) + bias


def _by_range_alone(x, gain, bias):
    low, high = x.min(-1, keepdims=True), x.max(-1, keepdims=True)
    return gain * (x - low) / (high - low) + bias


def _by_range_from_the_mean(x, gain, bias):
    low, high = x.min(-1, keepdims=True), x.max(-1, keepdims=True)
    return gain * (x - x.mean(-1, keepdims=True)) / (high - low + EPS) + bias


def _by_length(change, eps):
    def layer_norm(x, gain, bias):
        z = change(x)
        return gain * z / np.sqrt((z**2).sum(-1, keepdims=True) + eps) + bias

    return layer_norm


def _root_multiplied(x, gain, bias):
    root = np.sqrt(x.var(-1, keepdims=True) + EPS)
    return gain * (x - x.mean(-1, keepdims=True)) * root + bias


def _median_subtracted(x, gain, bias):
    root = np.sqrt(x.var(-1, keepdims=True) + EPS)
    return gain * (x - np.median(x, -1, keepdims=True)) / root + bias


MISTAKES = {
    "over_tokens": (_over_tokens,),
    "over_batch": (_over_batch,),
    "over_everything": (_over_everything,),
    "keepdims_missing": (_rows_lost,),
    "sample_variance": (_with(ddof=1),),
    "sample_deviation": (_with(ddof=1, inside=0.0, outside=EPS), _with(ddof=1, inside=0.0)),
    "no_eps": (_with(inside=0.0),),
    "eps_outside": (_with(inside=0.0, outside=EPS),),
    "other_eps": (
        _with(inside=1e-4),
        _with(inside=1e-6),
        _with(inside=1e-8),
        _with(inside=1e-12),
        _with(inside=1e-3),
        _with(inside=EPS**2),
    ),
    "variance_as_divisor": (_by_variance,),
    "not_centred": (_with(centre=False),),
    "rms": (_rms,),
    "only_centred": (_only_centred,),
    "unit_length": (
        _unit_length,
        _by_length(lambda x: x - x.mean(-1, keepdims=True), 0),
        _by_length(lambda x: x, 0),
        _by_length(lambda x: x, EPS),
    ),
    "gain_by_matmul": (
        lambda x, gain, bias: _normalised(x) @ gain + bias,
        lambda x, gain, bias: (_normalised(x) @ gain)[..., None] + bias,
    ),
    "gain_added": (
        lambda x, gain, bias: _normalised(x) + gain + bias,
        lambda x, gain, bias: _normalised(x) * (1 + gain) + bias,
    ),
    "root_multiplied": (_root_multiplied,),
    "median_subtracted": (_median_subtracted,),
    "softmax_in_place": (lambda x, gain, bias: gain * softmax(x) + bias,),
    "gain_dropped": (lambda x, gain, bias: _normalised(x) + bias,),
    "bias_dropped": (lambda x, gain, bias: gain * _normalised(x),),
    "gain_and_bias_dropped": (lambda x, gain, bias: _normalised(x),),
    "gain_of_everything": (lambda x, gain, bias: gain * (_normalised(x) + bias),),
    "bias_divided": (_bias_divided, _bias_divided_and_scaled),
    "mean_divided": (_mean_divided, _mean_divided_without_gain),
    "matrix_only": (_matrix_only, _second_axis),
    "gain_and_bias_exchanged": (lambda x, gain, bias: bias * _normalised(x) + gain,),
    "eps_at_the_end": (lambda x, gain, bias: gain * _normalised(x, inside=0.0) + EPS + bias,),
    "by_range": (_by_range, _by_range_alone, _by_range_from_the_mean),
    "by_mean_distance": (_by_mean_distance,),
}

EXERCISE = Exercise.from_file(__file__, ("output",), layer_norm, cases, MISTAKES)
