"""Problem set 4, `layer_norm_gradient`: the gradients of a layer norm, and how to get them wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise

EPS = 1e-5


def _parts(x, axis=-1, ddof=0, eps=EPS):
    """Return the normalised vectors and what they were divided by."""
    root = np.sqrt(x.var(axis=axis, ddof=ddof, keepdims=True) + eps)
    return (x - x.mean(axis=axis, keepdims=True)) / root, root


def _summed(gradients):
    """Return the gradient of a parameter that all vectors share: the sum over the vectors."""
    return gradients.reshape(-1, gradients.shape[-1]).sum(axis=0)


def layer_norm_gradient(x, gain, upstream):
    """Return the gradients of a loss with respect to the input and the parameters of a layer norm.

    Parameters
    ----------
    x : ndarray, shape (..., d_model)
        The input of the layer norm.
    gain : ndarray, shape (d_model,)
    upstream : ndarray, shape (..., d_model)
        The gradient of the loss with respect to the output.

    Returns
    -------
    grad_x : ndarray, shape (..., d_model)
    grad_gain, grad_bias : ndarray, shape (d_model,)

    References
    ----------
    Ba, Kiros and Hinton (2016), section 3, for the function that is differentiated.
    """
    z, root = _parts(x)
    stretched = gain * upstream
    through_mean = stretched.mean(axis=-1, keepdims=True)
    through_root = z * (stretched * z).mean(axis=-1, keepdims=True)
    grad_x = (stretched - through_mean - through_root) / root
    return grad_x, _summed(upstream * z), _summed(upstream)


def cases(seed):
    """Return sentences, vectors that are nearly constant, lone vectors and batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``x``, ``gain`` and ``upstream``.
    """
    rng = np.random.default_rng(seed)

    # At this scale ε makes no difference. Only the inputs of a smaller scale show a wrong ε.
    def draw(*shape, scale=40.0):
        # The steps keep the components of a vector apart.
        steps = rng.permuted(np.broadcast_to(np.linspace(-1, 1, shape[-1]), shape), axis=-1)
        sizes = rng.uniform(0.6, 1.8, (*shape[:-1], 1))
        return {
            "x": scale * (sizes * (steps + rng.uniform(-0.2, 0.2, shape)) + 0.7),
            "gain": rng.uniform(0.5, 1.5, shape[-1]),
            "upstream": rng.uniform(-1, 1, shape) + 0.3,
        }

    constant = draw(3, 4)
    constant["x"][1] = 2.0
    return [
        draw(2, 4),
        draw(3, 5),
        draw(4, 4),
        draw(5, 3),
        draw(2, 5, scale=0.004),
        constant,
        draw(5),
        draw(2, 3, 4),
        draw(2, 3, 2, 5),
        draw(*rng.integers((2, 3), (7, 6))),
    ]


def _with(
    mean=1.0,
    root=1.0,
    divide=lambda r: r,
    stretch=lambda gain, upstream: gain * upstream,
    final=lambda gain: 1.0,
    parts=_parts,
    axis=-1,
    by_gain=lambda x, z, gain, upstream: _summed(upstream * z),
    by_bias=lambda x, z, gain, upstream: _summed(upstream),
):
    """Return the gradients with one part replaced: `mean` and `root` scale two of the paths."""

    def layer_norm_gradient(x, gain, upstream):
        z, r = parts(x)
        g = stretch(gain, upstream)
        through_mean = mean * g.mean(axis=axis, keepdims=True)
        through_root = root * z * (g * z).mean(axis=axis, keepdims=True)
        grad_x = final(gain) * (g - through_mean - through_root) / divide(r)
        extra = x, z, gain, upstream
        return grad_x, by_gain(*extra), by_bias(*extra)

    return layer_norm_gradient


def _not_standardised(x):
    z, root = _parts(x)
    return z * root, root


def _first_axis(gradients):
    return gradients.sum(axis=0)


def _on_both(combine):
    """Return the gradients with the sums over the vectors done in another way."""
    return _with(
        by_gain=lambda x, z, gain, upstream: combine(upstream * z),
        by_bias=lambda x, z, gain, upstream: combine(upstream),
    )


def _mean_over_vectors(gradients):
    return gradients.reshape(-1, gradients.shape[-1]).mean(axis=0)


def _matrix_only(x, gain, upstream):
    _seq_len, _d_model = x.shape
    return layer_norm_gradient(x, gain, upstream)


def _reordered(*order):
    def gradients(x, gain, upstream):
        found = layer_norm_gradient(x, gain, upstream)
        return tuple(found[i] for i in order)

    return gradients


MISTAKES = {
    "direct_path_only": (_with(mean=0, root=0),),
    "mean_held": (_with(mean=0),),
    "deviation_held": (_with(root=0),),
    "sign_of_a_path": (_with(mean=-1), _with(root=-1), _with(mean=-1, root=-1)),
    "sums_for_means": (
        lambda x, gain, upstream: _with(mean=x.shape[-1], root=x.shape[-1])(x, gain, upstream),
        lambda x, gain, upstream: _with(mean=x.shape[-1])(x, gain, upstream),
        lambda x, gain, upstream: _with(root=x.shape[-1])(x, gain, upstream),
    ),
    "gain_at_the_end": (_with(stretch=lambda gain, upstream: upstream, final=lambda gain: gain),),
    "gain_forgotten": (_with(stretch=lambda gain, upstream: upstream),),
    "not_divided": (_with(divide=lambda root: 1.0),),
    "divided_by_variance": (_with(divide=lambda root: root**2),),
    "raw_deviations": (_with(parts=_not_standardised),),
    "gain_meets_x": (
        _with(by_gain=lambda x, z, gain, upstream: _summed(upstream * x)),
        _with(
            by_gain=lambda x, z, gain, upstream: _summed(
                upstream * (x - x.mean(axis=-1, keepdims=True))
            )
        ),
    ),
    "gain_in_its_own_gradient": (
        _with(by_gain=lambda x, z, gain, upstream: _summed(upstream * gain * z)),
        _with(by_bias=lambda x, z, gain, upstream: _summed(upstream * gain)),
        _with(
            by_gain=lambda x, z, gain, upstream: _summed(upstream * gain * z),
            by_bias=lambda x, z, gain, upstream: _summed(upstream * gain),
        ),
    ),
    "one_gradient_per_vector": (_on_both(lambda gradients: gradients),),
    "averaged_over_vectors": (_on_both(_mean_over_vectors),),
    "summed_over_components": (_on_both(lambda gradients: gradients.sum(axis=-1)),),
    "first_axis_only": (_on_both(_first_axis), _on_both(lambda gradients: gradients.sum(axis=-2))),
    "sample_variance": (_with(parts=lambda x: _parts(x, ddof=1)),),
    "no_eps": (
        _with(parts=lambda x: _parts(x, eps=0.0)),
        *(_with(parts=lambda x, eps=eps: _parts(x, eps=eps)) for eps in (1e-6, 1e-8)),
    ),
    "means_over_everything": (_with(axis=None), _with(parts=lambda x: _parts(x, axis=None))),
    "another_order": (_reordered(0, 2, 1), _reordered(1, 2, 0)),
    "only_x": (_reordered(0), lambda *arguments: layer_norm_gradient(*arguments)[0]),
    "matrix_only": (_matrix_only,),
}

EXERCISE = Exercise.from_file(
    __file__, ("grad_x", "grad_gain", "grad_bias"), layer_norm_gradient, cases, MISTAKES
)
