"""Chapter 5, `feed_forward`: two products with a maximum between, and how to get it wrong."""

import math

import numpy as np

from attn.reference import feed_forward, softmax
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return inputs for the feed-forward network: one vector, sentences, batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_1``, ``b_1``, ``w_2`` and ``b_2``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, d_ff):
        d_model = shape[-1]
        return {
            "x": rng.uniform(-1, 1, shape),
            "w_1": rng.uniform(-1, 1, (d_model, d_ff)),
            "b_1": rng.uniform(-0.5, 0.5, d_ff),
            "w_2": rng.uniform(-1, 1, (d_ff, d_model)),
            "b_2": rng.uniform(0.1, 0.5, d_model) * rng.choice([-1, 1], d_model),
        }

    return [
        draw(3, d_ff=7),
        draw(4, d_ff=1),
        draw(4, 4, d_ff=4),
        draw(5, 3, d_ff=12),
        draw(2, 6, d_ff=5),
        draw(2, 4, 3, d_ff=8),
        draw(2, 3, 2, 4, d_ff=6),
    ]


def _activated(function):
    def feed_forward(x, w_1, b_1, w_2, b_2):
        return function(x @ w_1 + b_1) @ w_2 + b_2

    return feed_forward


def _python_max(x, w_1, b_1, w_2, b_2):
    return max(0, x @ w_1 + b_1) @ w_2 + b_2


def _gelu(z):
    return 0.5 * z * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))


def _gelu_with_tanh(z):
    return 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))


def _swish(slope):
    return lambda z: z / (1 + np.exp(-slope * z))


def _matrix_only(x, w_1, b_1, w_2, b_2):
    _seq_len, _d_model = x.shape
    return feed_forward(x, w_1, b_1, w_2, b_2)


def _on_everything(x, w_1, b_1, w_2, b_2):
    tokens = x.mean(axis=-2, keepdims=True) if x.ndim > 1 else x
    return np.broadcast_to(feed_forward(tokens, w_1, b_1, w_2, b_2), x.shape)


MISTAKES = {
    "no_activation": (_activated(lambda z: z),),
    "activation_at_the_end": (
        lambda x, w_1, b_1, w_2, b_2: np.maximum(0, (x @ w_1 + b_1) @ w_2) + b_2,
        lambda x, w_1, b_1, w_2, b_2: np.maximum(0, (x @ w_1 + b_1) @ w_2 + b_2),
    ),
    "activation_twice": (lambda *inputs: np.maximum(0, feed_forward(*inputs)),),
    "activation_before_bias": (
        lambda x, w_1, b_1, w_2, b_2: (np.maximum(0, x @ w_1) + b_1) @ w_2 + b_2,
    ),
    "activation_on_input": (
        lambda x, w_1, b_1, w_2, b_2: (np.maximum(0, x) @ w_1 + b_1) @ w_2 + b_2,
    ),
    "gelu": tuple(map(_activated, (_gelu, _gelu_with_tanh, _swish(1.702), _swish(1)))),
    "parenthesis_missing": (
        lambda x, w_1, b_1, w_2, b_2: np.maximum(0, x @ w_1) + b_1 @ w_2 + b_2,
        lambda x, w_1, b_1, w_2, b_2: np.maximum(0, x @ w_1 + b_1 @ w_2 + b_2),
        lambda x, w_1, b_1, w_2, b_2: x @ w_1 + b_1 @ w_2 + b_2,
    ),
    "absolute_value": (_activated(np.abs),),
    "minimum": (_activated(lambda z: np.minimum(0, z)),),
    "sigmoid": (_activated(lambda z: 1 / (1 + np.exp(-z))), _activated(np.tanh)),
    "first_bias_dropped": (lambda x, w_1, b_1, w_2, b_2: np.maximum(0, x @ w_1) @ w_2 + b_2,),
    "second_bias_dropped": (lambda x, w_1, b_1, w_2, b_2: np.maximum(0, x @ w_1 + b_1) @ w_2,),
    "biases_dropped": (lambda x, w_1, b_1, w_2, b_2: np.maximum(0, x @ w_1) @ w_2,),
    "python_max": (_python_max,),
    "residual_added": (lambda x, *rest: x + feed_forward(x, *rest),),
    "tokens_mixed": (_on_everything,),
    "matrix_only": (_matrix_only,),
    "leaky": (
        _activated(lambda z: np.maximum(0.01 * z, z)),
        _activated(lambda z: np.maximum(0.1 * z, z)),
        _activated(lambda z: np.maximum(0.2 * z, z)),
    ),
    "other_bounds": (
        _activated(lambda z: np.maximum(1, z)),
        _activated(lambda z: np.clip(z, 0, 1)),
        _activated(lambda z: np.clip(z, -1, 1)),
    ),
    "switch_without_value": (_activated(lambda z: (z > 0).astype(float)),),
    "biases_exchanged": (lambda x, w_1, b_1, w_2, b_2: feed_forward(x, w_1, b_2, w_2, b_1),),
    "one_bias_twice": (
        lambda x, w_1, b_1, w_2, b_2: feed_forward(x, w_1, b_1, w_2, b_1),
        lambda x, w_1, b_1, w_2, b_2: feed_forward(x, w_1, b_2, w_2, b_2),
    ),
    "matrices_exchanged": (
        lambda x, w_1, b_1, w_2, b_2: feed_forward(x, w_2, b_1, w_1, b_2),
        lambda x, w_1, b_1, w_2, b_2: feed_forward(x, w_2.T, b_1, w_1.T, b_2),
    ),
    "matrices_transposed": (lambda x, w_1, b_1, w_2, b_2: feed_forward(x, w_1.T, b_1, w_2.T, b_2),),
    "softmax_between": (_activated(softmax),),
    "biases_subtracted": (lambda x, w_1, b_1, w_2, b_2: np.maximum(0, x @ w_1 - b_1) @ w_2 - b_2,),
}

EXERCISE = Exercise.from_file(__file__, ("output",), feed_forward, cases, MISTAKES)
