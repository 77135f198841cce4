"""Problem set 4, `mended_stack`: a norm on the residual path, and wrong repairs."""

import numpy as np

from attn.reference import feed_forward, layer_norm
from attn_course.exercises.spec import Exercise


def mended_stack(x, gain, w_1, w_2):
    """Return the output of a stack of feed-forward layers, each with its norm before it.

    Parameters
    ----------
    x : ndarray, shape (..., d_model)
    gain : ndarray, shape (n_layers, d_model)
        Of the norms, which have no bias.
    w_1 : ndarray, shape (n_layers, d_model, d_ff)
    w_2 : ndarray, shape (n_layers, d_ff, d_model)

    Returns
    -------
    ndarray, shape (..., d_model)

    References
    ----------
    Xiong et al. (2020), On Layer Normalization in the Transformer Architecture.
    """
    for layer in range(len(gain)):
        normed = layer_norm(x, gain[layer])
        x = x + _fed(normed, w_1[layer], w_2[layer])
    return x


def cases(seed):
    """Return stacks of one to three layers, for sentences, lone vectors and batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``x``, ``gain``, ``w_1`` and ``w_2``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, n_layers, d_ff):
        d_model = shape[-1]
        return {
            "x": 2 * rng.uniform(-1, 1, shape) + rng.uniform(0.5, 1, (*shape[:-1], 1)),
            "gain": rng.uniform(0.5, 1.5, (n_layers, d_model)),
            "w_1": rng.uniform(-1, 1, (n_layers, d_model, d_ff)),
            "w_2": rng.uniform(-1, 1, (n_layers, d_ff, d_model)),
        }

    return [
        draw(2, 3, n_layers=2, d_ff=5),
        draw(3, 4, n_layers=2, d_ff=6),
        draw(4, 3, n_layers=3, d_ff=5),
        draw(3, 5, n_layers=1, d_ff=7),
        draw(4, n_layers=2, d_ff=5),
        draw(2, 3, 4, n_layers=2, d_ff=5),
        draw(2, 3, 2, 5, n_layers=3, d_ff=4),
        draw(*rng.integers(3, 6, 2), n_layers=rng.integers(2, 4), d_ff=rng.integers(4, 8)),
    ]


def _fed(x, w_1, w_2):
    return feed_forward(x, w_1, np.zeros(w_1.shape[1]), w_2, np.zeros(w_2.shape[1]))


def _over(axis):
    def norm(x, gain):
        mean, variance = (f(axis=axis, keepdims=True) for f in (x.mean, x.var))
        return gain * (x - mean) / np.sqrt(variance + 1e-5)

    return norm


def _rms(x, gain):
    return gain * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5)


def _with(layer=None, norm=layer_norm, feed=_fed, last=lambda x: x, number=lambda i, n: i):
    """Return a stack with one part replaced.

    `layer` returns the next vectors. It is given the vectors, the input of the stack, and three
    functions: the norm, the norm without its gain, and the feed-forward network.
    """
    layer = layer or (lambda x, first, norm, bare, feed: x + feed(norm(x)))

    def stack(x, gain, w_1, w_2):
        first = x
        for i in range(len(gain)):
            j = number(i, len(gain))

            def bound(y, j=j):
                return norm(y, gain[j])

            def fed(y, j=j):
                return feed(y, w_1[j], w_2[j])

            x = layer(x, first, bound, layer_norm, fed)
        return last(x)

    return stack


def _normed_path(x, first, norm, bare, feed):
    x = norm(x)
    return x + feed(x)


def _without_gain_on_the_path(x, first, norm, bare, feed):
    return bare(x) + feed(norm(x))


def _for_matrices(x, *rest):
    _seq_len, _d_model = x.shape
    return mended_stack(x, *rest)


MISTAKES = {
    "residual_normalised": (_with(_normed_path), _with(_without_gain_on_the_path)),
    "post_norm": (
        _with(lambda x, first, norm, bare, feed: norm(x + feed(x))),
        _with(lambda x, first, norm, bare, feed: norm(x + feed(norm(x)))),
    ),
    "residual_missing": (_with(lambda x, first, norm, bare, feed: feed(norm(x))),),
    "norm_missing": (_with(lambda x, first, norm, bare, feed: x + feed(x)),),
    "norm_of_the_answer": (
        _with(lambda x, first, norm, bare, feed: x + norm(feed(x))),
        _with(lambda x, first, norm, bare, feed: x + norm(feed(norm(x)))),
    ),
    "first_input_added": (_with(lambda x, first, norm, bare, feed: first + feed(norm(x))),),
    "added_twice": (_with(lambda x, first, norm, bare, feed: x + norm(x) + feed(norm(x))),),
    "norm_at_the_end": (_with(last=layer_norm),),
    "gain_lost": (_with(norm=lambda x, gain: layer_norm(x)),),
    "one_layer_for_all": (_with(number=lambda i, n: 0), _with(number=lambda i, n: n - 1)),
    "layers_backwards": (_with(number=lambda i, n: n - 1 - i),),
    "activation_lost": (
        _with(feed=lambda x, w_1, w_2: x @ w_1 @ w_2),
        _with(feed=lambda x, w_1, w_2: np.maximum(0, x @ w_1 @ w_2)),
    ),
    "another_axis": (_with(norm=_over(-2)), _with(norm=_over(0)), _with(norm=_over(None))),
    "another_norm": (_with(norm=_rms),),
    "sentence_only": (_for_matrices, _with(norm=_over(1))),
}

EXERCISE = Exercise.from_file(__file__, ("output",), mended_stack, cases, MISTAKES)
