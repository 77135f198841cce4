"""Chapter 5, `encoder_layer`: six steps in order, and the ways to lose one.

With one head, no biases and norms with gain 1 and bias 0, only the order of the steps is left.
"""

import math

import numpy as np

from attn import reference
from attn.reference import layer_norm, self_attention, softmax
from attn_course.exercises import wrong_attention
from attn_course.exercises.spec import Exercise


def encoder_layer(x, w_q, w_k, w_v, w_o, w_1, w_2):
    """Return one post-norm encoder layer of a single head: the oracle of the exercise.

    Parameters
    ----------
    x : array_like, shape (..., seq_len, d_model)
        One vector per token.
    w_q, w_k, w_v : array_like, shape (d_model, d_k)
    w_o : array_like, shape (d_k, d_model)
    w_1 : array_like, shape (d_model, d_ff)
    w_2 : array_like, shape (d_ff, d_model)

    Returns
    -------
    ndarray, shape (..., seq_len, d_model)

    Raises
    ------
    ValueError
        As `attn.reference.encoder_layer`.

    Examples
    --------
    >>> eye = np.eye(2)
    >>> encoder_layer([[3.0, 1.0], [0.0, 2.0]], eye, eye, eye, eye, eye, eye).round(3)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    d_model, d_ff = np.shape(w_1)
    norm = {"gain": np.ones(d_model), "bias": np.zeros(d_model)}
    parameters = {
        "self_attention": {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o},
        "feed_forward": {"w_1": w_1, "b_1": np.zeros(d_ff), "w_2": w_2, "b_2": np.zeros(d_model)},
        "norm_1": norm,
        "norm_2": norm,
    }
    return reference.encoder_layer(x, parameters, n_heads=1)


def cases(seed):
    """Return inputs for an encoder layer: sentences alone and in batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_q``, ``w_k``, ``w_v``, ``w_o``, ``w_1`` and ``w_2``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, d_k, d_ff):
        d_model = shape[-1]
        sizes = {"w_q": (d_model, d_k), "w_k": (d_model, d_k), "w_v": (d_model, d_k)}
        sizes |= {"w_o": (d_k, d_model), "w_1": (d_model, d_ff), "w_2": (d_ff, d_model)}
        x = rng.uniform(-1, 1, shape) + rng.uniform(-1, 1, shape[-1])
        return {"x": x} | {name: rng.uniform(-0.9, 0.9, size) for name, size in sizes.items()}

    return [
        draw(2, 4, d_k=3, d_ff=6),
        draw(3, 5, d_k=5, d_ff=8),
        draw(4, 4, d_k=4, d_ff=4),
        draw(3, 6, d_k=2, d_ff=5),
        draw(2, 3, 5, d_k=4, d_ff=7),
        draw(2, 3, 4, 6, d_k=3, d_ff=9),
    ]


def _attended(x, w_q, w_k, w_v, w_o):
    return self_attention(x, w_q, w_k, w_v)[0] @ w_o


def _fed(y, w_1, w_2):
    return np.maximum(0, y @ w_1) @ w_2


def _steps(layer):
    """Return a function with the signature of the exercise from one of x, attention and network."""

    def encoder_layer(x, w_q, w_k, w_v, w_o, w_1, w_2):
        return layer(x, lambda y: _attended(y, w_q, w_k, w_v, w_o), lambda y: _fed(y, w_1, w_2))

    return encoder_layer


def _post(first, second):
    """Return a layer whose two sums are functions of a sub-layer's input and output."""

    def layer(x, attend, feed):
        y = first(x, attend(x))
        return second(y, feed(y))

    return _steps(layer)


def _right(x, computed):
    return layer_norm(x + computed)


def _no_sum(x, computed):
    return layer_norm(computed)


def _no_norm(x, computed):
    return x + computed


def _norm_of_output(x, computed):
    return x + layer_norm(computed)


def _pre(x, attend, feed):
    y = x + attend(layer_norm(x))
    return y + feed(layer_norm(y))


def _pre_and_last(x, attend, feed):
    return layer_norm(_pre(x, attend, feed))


def _sum_of_the_input(x, attend, feed):
    y = _right(x, attend(x))
    return layer_norm(x + feed(y))


def _network_reads_input(x, attend, feed):
    return layer_norm(_right(x, attend(x)) + feed(x))


def _network_reads_attention(x, attend, feed):
    attended = attend(x)
    return layer_norm(_right(x, attended) + feed(attended))


def _network_first(x, attend, feed):
    y = _right(x, feed(x))
    return layer_norm(y + attend(y))


def _side_by_side(x, attend, feed):
    return layer_norm(x + attend(x) + feed(x))


def _one_norm(x, attend, feed):
    y = x + attend(x)
    return layer_norm(y + feed(y))


def _norm_over_tokens(x, computed):
    return layer_norm((x + computed).mT).mT


def _linear(x, w_q, w_k, w_v, w_o, w_1, w_2):
    y = _right(x, _attended(x, w_q, w_k, w_v, w_o))
    return layer_norm(y + y @ w_1 @ w_2)


def _unscaled(x, w_q, w_k, w_v, w_o, w_1, w_2):
    return encoder_layer(x, w_q * np.sqrt(w_q.shape[1]), w_k, w_v, w_o, w_1, w_2)


def _without_w_o(x, w_q, w_k, w_v, w_o, w_1, w_2):
    y = _right(x, self_attention(x, w_q, w_k, w_v)[0])
    return _right(y, _fed(y, w_1, w_2))


def _not_unpacked(x, w_q, w_k, w_v, w_o, w_1, w_2):
    y = _right(x, self_attention(x, w_q, w_k, w_v) @ w_o)
    return _right(y, _fed(y, w_1, w_2))


def _network_only(x, w_q, w_k, w_v, w_o, w_1, w_2):
    return layer_norm(x + _fed(x, w_1, w_2))


def _relu_outside(x, w_q, w_k, w_v, w_o, w_1, w_2):
    y = _right(x, _attended(x, w_q, w_k, w_v, w_o))
    return _right(y, np.maximum(0, y @ w_1 @ w_2))


def _attention_only(x, w_q, w_k, w_v, w_o, w_1, w_2):
    return _right(x, _attended(x, w_q, w_k, w_v, w_o))


def _input_normalised(x, attend, feed):
    x = layer_norm(x)
    y = _right(x, attend(x))
    return _right(y, feed(y))


def _sum_not_normalised(x, attend, feed):
    y = x + attend(x)
    return layer_norm(y + feed(layer_norm(y)))


def _sum_of_what_was_found(x, attend, feed):
    attended = attend(x)
    return layer_norm(attended + feed(_right(x, attended)))


def _input_added_again(x, attend, feed):
    y = _right(x, attend(x))
    return layer_norm(x + y + feed(y))


def _network_reads_sum(x, attend, feed):
    y = x + attend(x)
    return layer_norm(layer_norm(y) + feed(y))


def _unit_norm(x, computed):
    y = x + computed
    return y / np.linalg.norm(y, axis=-1, keepdims=True)


def _rms_norm(x, computed):
    y = x + computed
    return y / np.sqrt((y**2).mean(axis=-1, keepdims=True) + 1e-5)


def _softmax_norm(x, computed):
    return softmax(x + computed)


def _twice(x, computed):
    return layer_norm(_right(x, computed))


def _difference(x, computed):
    return layer_norm(x - computed)


def _product(x, computed):
    return layer_norm(x * computed)


def _activated(function):
    def encoder_layer(x, w_q, w_k, w_v, w_o, w_1, w_2):
        y = _right(x, _attended(x, w_q, w_k, w_v, w_o))
        return _right(y, function(y @ w_1) @ w_2)

    return encoder_layer


def _gelu(z):
    return 0.5 * z * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))


def _sigmoid(z):
    return 1 / (1 + np.exp(-z))


def _swish(z):
    return z * _sigmoid(z)


def _renamed(order):
    def layer(x, w_q, w_k, w_v, w_o, w_1, w_2):
        return encoder_layer(x, *order(w_q, w_k, w_v), w_o, w_1, w_2)

    return layer


def _with_attention(attention):
    def layer(x, w_q, w_k, w_v, w_o, w_1, w_2):
        y = _right(x, attention(x @ w_q, x @ w_k, x @ w_v)[0] @ w_o)
        return _right(y, _fed(y, w_1, w_2))

    return layer


def _weighs_the_input(x, w_q, w_k, w_v, w_o, w_1, w_2):
    y = _right(x, self_attention(x, w_q, w_k, w_v)[1] @ x)
    return _right(y, _fed(y, w_1, w_2))


MISTAKES = {
    "no_residuals": (_post(_no_sum, _no_sum),),
    "first_residual_missing": (_post(_no_sum, _right),),
    "second_residual_missing": (_post(_right, _no_sum),),
    "no_norms": (_post(_no_norm, _no_norm),),
    "first_norm_missing": (_post(_no_norm, _right), _steps(_one_norm)),
    "last_norm_missing": (_post(_right, _no_norm),),
    "pre_norm": (_steps(_pre), _steps(_pre_and_last)),
    "norm_before_sum": (
        _post(_norm_of_output, _norm_of_output),
        _post(_norm_of_output, _right),
        _post(_right, _norm_of_output),
    ),
    "sum_of_the_input": (_steps(_sum_of_the_input),),
    "network_reads_input": (_steps(_network_reads_input),),
    "network_reads_attention": (_steps(_network_reads_attention),),
    "without_w_o": (_without_w_o,),
    "not_unpacked": (_not_unpacked,),
    "network_first": (_steps(_network_first),),
    "side_by_side": (_steps(_side_by_side),),
    "norm_over_tokens": (_post(_norm_over_tokens, _norm_over_tokens),),
    "linear_network": (_linear,),
    "unscaled": (_unscaled,),
    "network_only": (_network_only,),
    "sum_not_normalised": (_steps(_sum_not_normalised),),
    "sum_of_what_was_found": (_steps(_sum_of_what_was_found),),
    "input_added_again": (_steps(_input_added_again),),
    "network_reads_sum": (_steps(_network_reads_sum),),
    "other_norm": tuple(_post(norm, norm) for norm in (_unit_norm, _rms_norm, _softmax_norm)),
    "normalised_twice": (_post(_right, _twice),),
    "other_activation": tuple(map(_activated, (_gelu, _swish, _sigmoid, np.tanh, np.abs))),
    "subtracted": (
        _post(_difference, _right),
        _post(_right, _difference),
        _post(_difference, _difference),
    ),
    "multiplied": (_post(_product, _right), _post(_right, _product), _post(_product, _product)),
    "query_key_swapped": (_renamed(lambda w_q, w_k, w_v: (w_k, w_q, w_v)),),
    "key_value_swapped": (_renamed(lambda w_q, w_k, w_v: (w_q, w_v, w_k)),),
    "weighs_the_input": (_weighs_the_input,),
    **wrong_attention.in_each(
        _with_attention, but=("mask_added", "mask_as_factor", "zeroed_too_late")
    ),
    "relu_outside": (_relu_outside,),
    "attention_only": (_attention_only,),
    "input_normalised": (_steps(_input_normalised),),
}

EXERCISE = Exercise.from_file(__file__, ("output",), encoder_layer, cases, MISTAKES)
