"""Problem set 9, `mended_block`: a norm with one size for all tokens, and wrong repairs."""

import numpy as np

from attn_course.exercises.spec import Exercise

EPS = 1e-5


def _size(x, axis=-1):
    return np.sqrt((x * x).mean(axis=axis, keepdims=True) + EPS)


def _sigmoid(z):
    return 1 / (1 + np.exp(-z))


def _silu(z):
    return z * _sigmoid(z)


def mended_block(x, gain, w_gate, w_up, w_down):
    """Return what a gated layer with RMSNorm in front adds to each vector, and the vector.

    Parameters
    ----------
    x : array, shape (..., seq_len, d_model)
    gain : array, shape (d_model,)
    w_gate, w_up : array, shape (d_model, d_ff)
    w_down : array, shape (d_ff, d_model)

    Returns
    -------
    array, shape (..., seq_len, d_model)

    References
    ----------
    Zhang and Sennrich (2019), Root Mean Square Layer Normalization; Shazeer (2020), GLU Variants
    Improve Transformer.
    """
    return _block()(x, gain, w_gate, w_up, w_down)


def _fed(normed, w_gate, w_up, w_down):
    return (_silu(normed @ w_gate) * (normed @ w_up)) @ w_down


def _block(size=_size, feed=_fed, start=lambda x, normed: x, gain=lambda gain: gain, centre=None):
    """Return the layer with one of its parts exchanged for another."""

    def block(x, gains, w_gate, w_up, w_down):
        shifted = x if centre is None else x - centre(x)
        normed = gain(gains) * shifted / size(shifted)
        return start(x, normed) + feed(normed, w_gate, w_up, w_down)

    return block


def cases(seed):
    """Return sentences whose tokens differ much in size, alone and in batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``x``, ``gain``, ``w_gate``, ``w_up`` and ``w_down``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, d_ff):
        d_model = shape[-1]
        sizes = rng.permuted(np.broadcast_to(2.0 ** np.arange(shape[-2]), shape[:-1]), axis=-1)
        return {
            "x": sizes[..., None] * (rng.uniform(0.3, 1, shape) * rng.choice([-1, 1], shape) + 0.2),
            "gain": rng.uniform(0.4, 1.6, d_model),
            "w_gate": rng.uniform(-1, 1, (d_model, d_ff)),
            "w_up": rng.uniform(-1, 1, (d_model, d_ff)),
            "w_down": rng.uniform(-1, 1, (d_ff, d_model)),
        }

    return [
        draw(2, 3, d_ff=4),
        draw(3, 4, d_ff=5),
        draw(4, 3, d_ff=6),
        draw(4, 4, d_ff=4),
        draw(5, 6, d_ff=3),
        draw(2, 3, 4, d_ff=5),
        draw(3, 3, 3, d_ff=3),
        draw(2, 3, 3, 4, d_ff=4),
        draw(*rng.integers(3, 6, 2), d_ff=rng.integers(3, 7)),
    ]


def _so_far(x):
    squares = (x * x).mean(axis=-1).cumsum(axis=-1)
    return np.sqrt(squares / np.arange(1, x.shape[-2] + 1) + EPS)[..., None]


def _last_token(x):
    return _size(x)[..., -1:, :]


def _gated(activation):
    return _block(
        feed=lambda n, w_gate, w_up, w_down: (activation(n @ w_gate) * (n @ w_up)) @ w_down
    )


def _normed_after(x, gain, *matrices):
    y = x + _fed(x, *matrices)
    return gain * y / _size(y)


def _matrix_only(x, gain, *matrices):
    _seq_len, _d_model = x.shape
    return mended_block(x, gain, *matrices)


MISTAKES = {
    "one_size_for_all": (
        _block(size=lambda x: _size(x, axis=None)),
        _block(size=lambda x: _size(x, axis=(-2, -1))),
    ),
    "over_the_tokens": (_block(size=lambda x: _size(x, axis=-2)),),
    "tokens_so_far": (_block(size=_so_far),),
    "size_of_the_last": (_block(size=_last_token),),
    "not_normalised": (_block(size=np.ones_like),),
    "length_for_size": (_block(size=lambda x: np.sqrt((x * x).sum(-1, keepdims=True) + EPS)),),
    "no_root": (_block(size=lambda x: _size(x) ** 2),),
    "layer_norm": (_block(centre=lambda x: x.mean(axis=-1, keepdims=True)),),
    "gain_missing": (_block(gain=lambda gain: 1.0),),
    "residual_missing": (_block(start=lambda x, normed: 0.0),),
    "residual_normalised": (_block(start=lambda x, normed: normed),),
    "normalised_after": (_normed_after,),
    "sigmoid_alone": (_gated(_sigmoid),),
    "no_activation": (_gated(lambda z: z),),
    "gate_exchanged": (_block(feed=lambda n, w_gate, w_up, w_down: _fed(n, w_up, w_gate, w_down)),),
    "matrix_only": (_matrix_only,),
}

EXERCISE = Exercise.from_file(__file__, ("output",), mended_block, cases, MISTAKES)
