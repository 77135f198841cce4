"""Problem set 4, `gated_feed_forward`: a network with a gate, and the ways to get it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise


def _sigmoid(z):
    return np.exp(-np.logaddexp(0, -z))  # no exponential of a large number


def _silu(z):
    return z * _sigmoid(z)


def gated_feed_forward(x, w_gate, w_up, w_down):
    """Return what a gated feed-forward network makes of each vector.

    Parameters
    ----------
    x : ndarray, shape (..., d_model)
    w_gate, w_up : ndarray, shape (d_model, d_ff)
    w_down : ndarray, shape (d_ff, d_model)

    Returns
    -------
    ndarray, shape (..., d_model)

    References
    ----------
    Shazeer (2020), GLU Variants Improve Transformer, FFN_SwiGLU.

    Examples
    --------
    >>> gated_feed_forward(np.ones(1), np.eye(1), 2 * np.eye(1), np.eye(1)).round(2)
    array([1.46])
    """
    return (_silu(x @ w_gate) * (x @ w_up)) @ w_down


def cases(seed):
    """Return sentences, some with gates far out on both sides, lone vectors and batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_gate``, ``w_up`` and ``w_down``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, d_ff):
        d_model = shape[-1]
        return {
            "x": rng.uniform(-1, 1, shape),
            "w_gate": rng.uniform(-1.5, 1.5, (d_model, d_ff)),
            "w_up": rng.uniform(-1, 1, (d_model, d_ff)),
            "w_down": rng.uniform(-1, 1, (d_ff, d_model)),
        }

    # Two tokens, opposite and enormous: what opens a gate for one shuts it for the other.
    large = draw(2, 3, d_ff=4)
    large["x"] = np.array([[900.0], [-900.0]]) * rng.uniform(0.9, 1, 3)
    large["w_gate"] = np.abs(large["w_gate"]) + 0.5
    large["w_gate"][:, ::2] *= -1
    return [
        draw(2, 3, d_ff=4),
        draw(3, 4, d_ff=6),
        draw(4, 2, d_ff=5),
        draw(3, 5, d_ff=5),
        large,
        draw(4, d_ff=7),
        draw(2, 3, 4, d_ff=5),
        draw(2, 3, 2, 3, d_ff=4),
        draw(*rng.integers(3, 7, 2), d_ff=rng.integers(3, 8)),
    ]


def _gelu(z):
    return 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))


def _with(gate=_silu, up=lambda z: z, join=np.multiply):
    """Return the network with one of its parts replaced."""

    def gated_feed_forward(x, w_gate, w_up, w_down):
        return join(gate(x @ w_gate), up(x @ w_up)) @ w_down

    return gated_feed_forward


def _quotient(z):
    return z * np.exp(z) / (1 + np.exp(z))


def _quotient_or_zero(z):
    return np.nan_to_num(_quotient(z))


def _matrix_only(x, w_gate, w_up, w_down):
    _seq_len, _d_model = x.shape
    return gated_feed_forward(x, w_gate, w_up, w_down)


MISTAKES = {
    "gate_and_content_exchanged": (
        lambda x, w_gate, w_up, w_down: gated_feed_forward(x, w_up, w_gate, w_down),
    ),
    "sigmoid_gate": (_with(gate=_sigmoid),),
    "relu_gate": (_with(gate=lambda z: np.maximum(0, z)),),
    "gelu_gate": (_with(gate=_gelu), _with(gate=lambda z: z * _sigmoid(1.702 * z))),
    "tanh_gate": (_with(gate=np.tanh), _with(gate=lambda z: z * np.tanh(z))),
    "no_activation": (_with(gate=lambda z: z),),
    "both_activated": (_with(up=_silu),),
    "product_activated": (_with(gate=lambda z: z, join=lambda a, b: _silu(a * b)),),
    "summed": (_with(join=np.add),),
    "content_missing": (_with(join=lambda gate, up: gate),),
    "gate_missing": (_with(join=lambda gate, up: up), _with(join=lambda gate, up: _silu(up))),
    "sign_flipped": (_with(gate=lambda z: z * _sigmoid(-z)),),
    "left_wide": (lambda x, w_gate, w_up, w_down: _silu(x @ w_gate) * (x @ w_up),),
    "residual_added": (lambda x, *matrices: x + gated_feed_forward(x, *matrices),),
    "overflow": (_with(gate=_quotient), _with(gate=_quotient_or_zero)),
    "matrix_only": (_matrix_only,),
}

EXERCISE = Exercise.from_file(__file__, ("output",), gated_feed_forward, cases, MISTAKES)
