"""Chapter 3, `softmax`: from scores to weights, and the ways to get it wrong."""

import math

import numpy as np

from attn.reference import softmax
from attn_course.exercises import wrong_softmax as wrong
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return inputs for `softmax`: a vector, matrices, batches, large numbers and -inf.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the key ``scores``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return rng.uniform(-1, 1, shape)

    large = draw(2, 3) + [[1000], [-1000]]
    holes = draw(2, 4)
    holes[[0, 1], rng.permutation(4)[:2]] = -np.inf
    empty = draw(3, 4)
    empty[1] = -np.inf
    ordinary = [draw(3), draw(2, 2), draw(2, 3), draw(2, 3, 4), draw(2, 3, 2, 4)]
    # And a row whose mean is so far below its maximum that subtracting the mean overflows.
    large = np.vstack([large, draw(3) + [2000, 2000, -2000]])
    return [{"scores": scores} for scores in (*ordinary, large, holes, empty)]


def vector_only(scores):
    exponentials = np.array([math.exp(score) for score in scores])
    return exponentials / exponentials.sum()


def matrix_only(scores):
    _rows, _columns = scores.shape
    return softmax(scores)


def mean_of_the_finite(scores):
    finite = np.isfinite(scores)
    total = np.where(finite, scores, 0).sum(axis=-1, keepdims=True)
    mean = total / np.maximum(finite.sum(axis=-1, keepdims=True), 1)
    return wrong.zero_if_empty(scores, wrong.share(np.exp(scores - mean)))


def finite_infinity(scores):
    return softmax(np.maximum(scores, -1e9))


def stable_log_softmax(scores):
    shifted = scores - wrong.peaks(scores)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def unguarded_log_softmax(scores):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def subtracted_after(scores):
    exponentials = np.exp(scores)
    return wrong.share(exponentials - exponentials.max(axis=-1, keepdims=True))


def _unit(values):
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def _unit_or_zero(scores):
    return np.nan_to_num(_unit(np.exp(scores - wrong.peaks(scores))))


def _first_axis(weigh):
    return lambda scores: np.array([weigh(row) for row in scores])


MISTAKES = {
    "columns": (lambda scores: softmax(scores, axis=0),),
    "whole_array": (wrong.whole_array, wrong.whole_sum),
    "matrix_only": (matrix_only,),
    "axis_one": (lambda scores: softmax(scores, axis=1),),
    "vector_only": (vector_only,),
    "keepdims_forgotten": (
        lambda scores: np.nan_to_num(
            wrong.share(np.exp(scores - scores.max(axis=-1)), keepdims=False)
        ),
        lambda scores: wrong.share(np.exp(scores), keepdims=False),
        lambda scores: wrong.share(np.exp(scores - wrong.peaks(scores)), keepdims=False),
        lambda scores: wrong.share(np.exp(scores - wrong.peaks(scores, keepdims=False))),
        lambda scores: wrong.share(
            np.exp(scores - wrong.peaks(scores, keepdims=False)), keepdims=False
        ),
    ),
    "no_exponential": (
        wrong.share,
        lambda scores: wrong.share(np.abs(scores)),
        lambda scores: wrong.share(scores**2),
        lambda scores: wrong.share(np.where(np.isfinite(scores), scores, 0) ** 2),
        lambda scores: wrong.share(scores - scores.min(axis=-1, keepdims=True)),
    ),
    "unit_length": (_unit, lambda s: _unit(np.exp(s - s.max(-1, keepdims=True))), _unit_or_zero),
    "loop_over_the_first_axis": tuple(
        _first_axis(weigh)
        for weigh in (
            wrong.whole_array,
            lambda s: np.exp(s - s.max()) / np.exp(s - s.max()).sum(),
            lambda s: np.exp(s) / np.exp(s).sum(),
        )
    ),
    "softmax_twice": (lambda scores: softmax(softmax(scores)),),
    "temperature": (
        lambda scores: softmax(scores / 2),
        lambda scores: softmax(2 * scores),
        lambda scores: softmax(scores / scores.shape[-1]),
    ),
    "base_two": (lambda scores: softmax(scores * math.log(2)),),
    "log_softmax": (
        stable_log_softmax,
        unguarded_log_softmax,
        lambda scores: np.log(softmax(scores)),
    ),
    "argmax": (wrong.one_hot, lambda scores: scores.argmax(axis=-1)),
    "sign_flipped": (lambda scores: softmax(-scores),),
    "sigmoid": (lambda scores: 1 / (1 + np.exp(-scores)),),
    "overflow": (wrong.unstable, wrong.unstable_or_zero, wrong.unstable_without_nan),
    "clipped": (wrong.clipped, wrong.clipped_above),
    "mean_subtracted": (wrong.mean_subtracted, wrong.mean_without_nan, mean_of_the_finite),
    "finite_infinity": (finite_infinity,),
    "global_maximum": (wrong.global_peak, wrong.global_peak_or_zero),
    "empty_row": (wrong.nan_if_empty,),
    "divided_by_maximum": (
        lambda scores: wrong.share(np.exp(scores / scores.max(axis=-1, keepdims=True))),
    ),
    "subtracted_after": (subtracted_after,),
    "scaled": (lambda scores: softmax(scores / np.sqrt(scores.shape[-1])),),
}

EXERCISE = Exercise.from_file(__file__, ("weights",), softmax, cases, MISTAKES)
