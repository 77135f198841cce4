"""Chapter 12, `swiglu`: a feed-forward network with a gate, and how to get it wrong."""

import math

import numpy as np

from attn_course.exercises.spec import Exercise


def _silu(z):
    return z / (1 + np.exp(-z))


def swiglu(x, w_1, w_3, w_2):
    """Return the output of a gated feed-forward network for each vector: ``(silu(x w_1) * x w_3)
    w_2``.

    Parameters
    ----------
    x : array, shape (..., d_model)
    w_1, w_3 : array, shape (d_model, d_ff)
        Of the gate, and of what passes it.
    w_2 : array, shape (d_ff, d_model)

    Returns
    -------
    array, shape (..., d_model)

    References
    ----------
    Shazeer (2020), GLU Variants Improve Transformer, Eq. 6.
    """
    return (_silu(x @ w_1) * (x @ w_3)) @ w_2


def cases(seed):
    """Return inputs for the network: one vector, sentences, batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_1``, ``w_3`` and ``w_2``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, d_ff, scale=1.0):
        d_model = shape[-1]
        return {
            "x": scale * rng.uniform(-1, 1, shape),
            "w_1": rng.uniform(-1, 1, (d_model, d_ff)),
            "w_3": rng.uniform(-1, 1, (d_model, d_ff)),
            "w_2": rng.uniform(-1, 1, (d_ff, d_model)),
        }

    return [
        draw(3, d_ff=7),
        draw(4, d_ff=2),
        draw(4, 4, d_ff=4),
        draw(5, 3, d_ff=8, scale=5.0),
        draw(2, 6, d_ff=5),
        draw(2, 4, 3, d_ff=8),
        draw(2, 3, 2, 4, d_ff=6),
    ]


def _sigmoid(z):
    return 1 / (1 + np.exp(-z))


def _gated(activation):
    return lambda x, w_1, w_3, w_2: (activation(x @ w_1) * (x @ w_3)) @ w_2


def _gelu(z):
    return 0.5 * z * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))


def _gelu_by_tanh(z):
    return 0.5 * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))


def _softmax(z):
    shifted = np.exp(z - z.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def _normalised(x):
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5)


def _without_parentheses(x, w_1, w_3, w_2):
    gate = x @ w_1
    return (gate / 1 + np.exp(-gate) * (x @ w_3)) @ w_2


def _on_everything(x, w_1, w_3, w_2):
    tokens = x.mean(axis=-2, keepdims=True) if x.ndim > 1 else x
    return np.broadcast_to(swiglu(tokens, w_1, w_3, w_2), x.shape)


def _matrix_only(x, w_1, w_3, w_2):
    _seq_len, _d_model = x.shape
    return swiglu(x, w_1, w_3, w_2)


MISTAKES = {
    "no_gate": (lambda x, w_1, w_3, w_2: _silu(x @ w_1) @ w_2,),
    "no_nonlinearity": (_gated(lambda z: z),),
    "sigmoid_alone": (_gated(_sigmoid),),
    "relu": (_gated(lambda z: np.maximum(z, 0)),),
    "gelu": (
        _gated(_gelu),
        _gated(_gelu_by_tanh),
        _gated(lambda z: z * _sigmoid(1.702 * z)),
    ),
    "tanh": (_gated(np.tanh),),
    "softmax_gate": (_gated(_softmax),),
    "softplus": (_gated(lambda z: np.log1p(np.exp(z))),),
    "parentheses": (_without_parentheses, _gated(lambda z: z / 1 + np.exp(-z))),
    "minus_below": (_gated(lambda z: z / (1 - np.exp(-z))),),
    "sign_of_exponent": (_gated(lambda z: z / (1 + np.exp(z))),),
    "gate_exchanged": (lambda x, w_1, w_3, w_2: (x @ w_1 * _silu(x @ w_3)) @ w_2,),
    "both_activated": (lambda x, w_1, w_3, w_2: (_silu(x @ w_1) * _silu(x @ w_3)) @ w_2,),
    "sigmoid_of_the_other": (lambda x, w_1, w_3, w_2: (x @ w_1 * _sigmoid(x @ w_3)) @ w_2,),
    "added": (lambda x, w_1, w_3, w_2: (_silu(x @ w_1) + x @ w_3) @ w_2,),
    "activated_after_product": (lambda x, w_1, w_3, w_2: _silu((x @ w_1) * (x @ w_3)) @ w_2,),
    "activated_at_the_end": (lambda x, w_1, w_3, w_2: _silu(((x @ w_1) * (x @ w_3)) @ w_2),),
    "activated_before": (lambda x, w_1, w_3, w_2: ((_silu(x) @ w_1) * (x @ w_3)) @ w_2,),
    "paper_network": (lambda x, w_1, w_3, w_2: np.maximum(x @ w_1, 0) @ w_2,),
    "without_w_2": (lambda x, w_1, w_3, w_2: _silu(x @ w_1) * (x @ w_3),),
    "normalised": (lambda x, w_1, w_3, w_2: swiglu(_normalised(x), w_1, w_3, w_2),),
    "residual_added": (lambda x, w_1, w_3, w_2: x + swiglu(x, w_1, w_3, w_2),),
    "one_for_all_tokens": (_on_everything,),
    "matrix_only": (_matrix_only,),
}

EXERCISE = Exercise.from_file(__file__, ("output",), swiglu, cases, MISTAKES)
