"""Problem set 2, `softmax_with_temperature`: a temperature for each row, and mistaken versions."""

import numpy as np

from attn.reference import softmax
from attn_course.exercises import wrong_softmax as wrong
from attn_course.exercises.spec import Exercise


def softmax_with_temperature(scores, temperature):
    """Return the softmax of each row of ``scores``, divided by its own temperature."""
    return softmax(scores / temperature[..., None])


def cases(seed):
    """Return inputs: matrices and batches, holes and empty rows of -inf, large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``scores`` and ``temperature``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return {
            "scores": rng.uniform(-0.6, 0.6, shape),
            "temperature": rng.uniform(0.6, 2, shape[:-1]),
        }

    large, holes, empty = draw(3, 3), draw(2, 4), draw(3, 4)
    large["scores"] += [[3000], [-3000], [800]]
    # At 0.7 the largest score and the largest scaled one are far apart; at 1, the same.
    large["temperature"][:] = [0.7, 1.6, 1]
    holes["scores"][[0, 1], rng.permutation(4)[:2]] = -np.inf
    empty["scores"][1] = -np.inf
    ordinary = [draw(2, 3), draw(3, 3), draw(4, 2), draw(2, 3, 4), draw(2, 2, 2, 3)]
    return [*ordinary, large, holes, empty, draw(*rng.integers(3, 7, 2))]


def _weighing(weigh):
    """Return a function that scales right and then computes wrong weights."""
    return lambda scores, temperature: weigh(scores / temperature[..., None])


def _matrix_only(scores, temperature):
    return softmax(scores / temperature[:, None])


def _two_axes(scores, temperature):
    _rows, _columns = scores.shape
    return softmax_with_temperature(scores, temperature)


def _unscaled_maximum(scores, temperature):
    exponentials = np.exp(scores / temperature[..., None] - wrong.peaks(scores))
    return wrong.zero_if_empty(scores, wrong.share(exponentials))


MISTAKES = {
    "temperature_ignored": (lambda scores, temperature: softmax(scores),),
    "temperature_multiplied": (
        lambda scores, temperature: softmax(scores * temperature[..., None]),
    ),
    "temperature_after_softmax": (
        lambda scores, temperature: softmax(scores) / temperature[..., None],
    ),
    "temperature_per_column": (lambda scores, temperature: softmax(scores / temperature),),
    "one_temperature": (
        lambda scores, temperature: softmax(scores / temperature.mean()),
        lambda scores, temperature: softmax(scores / temperature.flat[0]),
    ),
    "columns": (
        _weighing(lambda scaled: softmax(scaled, axis=0)),
        _weighing(lambda scaled: softmax(scaled, axis=-2)),
    ),
    "whole_array": (_weighing(wrong.whole_array), _weighing(wrong.whole_sum)),
    "no_exponential": (_weighing(wrong.share),),
    "argmax": (_weighing(wrong.one_hot),),
    "sign_flipped": (_weighing(lambda scaled: softmax(-scaled)),),
    "matrix_only": (_matrix_only, _two_axes),
    "overflow": (_weighing(wrong.unstable), _weighing(wrong.unstable_or_zero)),
    "global_maximum": (_weighing(wrong.global_peak), _weighing(wrong.global_peak_or_zero)),
    "unscaled_maximum": (_unscaled_maximum,),
    "empty_row": (_weighing(wrong.nan_if_empty),),
}

EXERCISE = Exercise.from_file(__file__, ("weights",), softmax_with_temperature, cases, MISTAKES)
