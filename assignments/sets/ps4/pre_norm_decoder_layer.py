"""Problem set 4, `pre_norm_decoder_layer`: three sub-layers on given weights, and their traps."""

import numpy as np

from attn import reference
from attn.reference import causal_mask
from attn_course.exercises import wrong_softmax as wrong
from attn_course.exercises.spec import Exercise

from . import decoder_with_faults as decoder
from .decoder_with_faults import layer_with


def pre_norm_decoder_layer(x, memory, w_self, w_cross, w_1, w_2, real=None):
    """Return one decoder layer of a single head, with the norms before and without biases.

    Parameters
    ----------
    x : ndarray, shape (..., tgt_len, d_model)
        What is written so far.
    memory : ndarray, shape (..., src_len, d_model)
        What the encoder made of the source; it is not normalised here.
    w_self, w_cross : ndarray, shape (4, d_model, d_model)
        The matrices of query, key, value and output.
    w_1 : ndarray, shape (d_model, d_ff)
    w_2 : ndarray, shape (d_ff, d_model)
    real : ndarray of bool, shape (..., src_len), optional
        True = a token of the source that is no padding.

    Returns
    -------
    ndarray, shape (..., tgt_len, d_model)

    References
    ----------
    Vaswani et al. (2017), section 3.1; Xiong et al. (2020) for where the norms go.
    """
    names = "w_q", "w_k", "w_v", "w_o"
    d_model, d_ff = w_1.shape
    plain = {"gain": np.ones(d_model), "bias": np.zeros(d_model)}
    parameters = {
        "self_attention": dict(zip(names, w_self, strict=True)),
        "cross_attention": dict(zip(names, w_cross, strict=True)),
        "feed_forward": {"w_1": w_1, "b_1": np.zeros(d_ff), "w_2": w_2, "b_2": np.zeros(d_model)},
        "norm_1": plain,
        "norm_2": plain,
        "norm_3": plain,
    }
    return reference.decoder_layer(
        x,
        memory,
        parameters,
        n_heads=1,
        mask=causal_mask(x.shape[-2]),
        memory_mask=None if real is None else real[..., None, :],
        norm="pre",
    )


def cases(seed):
    """Return pairs of sentences, with padding and large numbers in the source, and batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``x``, ``memory``, ``w_self``, ``w_cross``, ``w_1``, ``w_2`` and, in
        some, ``real``.
    """
    rng = np.random.default_rng(seed)

    def draw(tgt_len, src_len, d_model, d_ff, batch=(), real=None):
        shift = rng.uniform(0.5, 1, (*batch, 1, 1))  # no sentence with mean 0
        case = {
            "x": rng.uniform(-1, 1, (*batch, tgt_len, d_model)) + shift,
            "memory": rng.uniform(-1, 1, (*batch, src_len, d_model)) - shift,
            "w_self": rng.uniform(-0.8, 0.8, (4, d_model, d_model)),
            "w_cross": rng.uniform(-0.8, 0.8, (4, d_model, d_model)),
            "w_1": rng.uniform(-1, 1, (d_model, d_ff)),
            "w_2": rng.uniform(-0.8, 0.8, (d_ff, d_model)),
        }
        return case if real is None else case | {"real": np.array(real)}

    # Keys in a row, along the first query and against the second: scores near 1000 and -1000.
    large = draw(2, 3, 4, 5)
    large["x"] = rng.uniform(0.5, 1.5) * np.array([[1.0, -1.0, 1.0, -1.0], [-1.0, 1.0, -1.0, 1.0]])
    large["memory"] = large["x"][0] / abs(large["x"][0, 0])
    large["memory"] = large["memory"] * (500 + rng.uniform(-0.3, 0.3, (3, 1)))
    large["memory"][:, 0] += rng.uniform(-0.3, 0.3, 3)
    large["w_self"][2] = 0
    large["w_cross"][:2] = np.eye(4)
    large["w_cross"][2] = rng.uniform(-0.8, 0.8, (4, 4))

    some = [[True, True, False, False], [True, False, True, True], [False, True, True, True]]
    return [
        draw(2, 4, 3, 5),
        draw(3, 5, 4, 6),
        large,
        draw(3, 4, 5, 6, real=some[0]),
        draw(4, 4, 3, 5, real=some[2]),
        draw(3, 4, 5, 7, real=[False] * 4),
        draw(3, 5, 4, 6, batch=(2,)),
        draw(4, 2, 3, 5, batch=(2, 3)),
        draw(3, 4, 5, 6, batch=(3,), real=some),
        draw(*rng.integers(3, 7, 4)),
    ]


def _each(join):
    """Return the layer with one of its three sums made in another way, and with all of them."""
    lonely = [tuple(join if i == j else decoder.pre for j in range(3)) for i in range(3)]
    return tuple(layer_with(joins) for joins in (*lonely, (join,) * 3))


def _nan(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _after_softmax(query, memory, weights, mask):
    def weigh(scores):
        shared = decoder.share(scores)
        return shared if mask is None else shared * mask

    return decoder.attend(
        query, memory, weights, mask, weigh=weigh, hide=lambda scores, mask: scores
    )


def _finite(scores, mask):
    return scores if mask is None else np.where(mask, scores, -1e9)


def _using(**changes):
    return lambda *arguments: decoder.attend(*arguments, **changes)


def _one_norm_for_all(x, memory, w_self, w_cross, w_1, w_2, real=None):
    """Give every step the same vectors, normalised once at the start."""
    normed = decoder.norm(x)
    own = decoder.attend(normed, normed, w_self, decoder.causal((x.shape[-2],) * 2))
    return (
        x
        + own
        + decoder.attend(normed, memory, w_cross, decoder.source(real, None))
        + decoder.fed(normed, w_1, w_2)
    )


def _exchanged(x, memory, w_self, w_cross, w_1, w_2, real=None):
    return layer_with()(x, memory, w_cross, w_self, w_1, w_2, real)


def _two_axes(x, memory, w_self, w_cross, w_1, w_2, real=None):
    _tgt_len, _d_model = x.shape
    return layer_with()(x, memory, w_self, w_cross, w_1, w_2, real)


def _real_without_axis(real, shape):
    return real


def _real_on_queries(real, shape):
    return None if real is None else real[..., :, None]


MISTAKES = {
    "post_norm": (layer_with((decoder.post,) * 3), layer_with(last=decoder.norm)),
    "residual_missing": _each(decoder.no_sum),
    "residual_normalised": (
        layer_with((decoder.normed_path,) * 3),
        layer_with((decoder.normed_path, decoder.pre, decoder.pre)),
    ),
    "norm_missing": _each(decoder.no_norm),
    "norm_of_the_answer": (layer_with((decoder.norm_of_the_answer,) * 3),),
    "one_norm_for_all": (_one_norm_for_all,),
    "memory_normalised": (layer_with(memory_of=lambda memory, x: decoder.norm(memory)),),
    "norm_over_tokens": (layer_with((decoder.over_tokens,) * 3),),
    "other_eps": tuple(layer_with((decoder.with_eps(eps),) * 3) for eps in (0.0, 1e-6, 1e-8)),
    "future_seen": (layer_with(own=lambda shape: None),),
    "triangle": (
        layer_with(own=lambda shape: decoder.causal(shape).T),
        layer_with(own=lambda shape: np.tri(*shape, k=-1, dtype=bool)),
        layer_with(own=lambda shape: ~decoder.causal(shape)),
    ),
    "causal_source": (
        layer_with(
            source=lambda real, shape: (
                decoder.causal(shape) & (True if real is None else real[..., None, :])
            )
        ),
    ),
    "source_ignored": (layer_with(memory_of=lambda memory, x: x, source=lambda real, shape: None),),
    "weights_exchanged": (_exchanged,),
    "another_order": (layer_with(order=(1, 0, 2)), layer_with(order=(0, 2, 1))),
    "step_missing": (
        layer_with(order=(0, 2)),
        layer_with(order=(1, 2)),
        layer_with(order=(0, 1)),
    ),
    "output_matrix_missing": (
        layer_with(attend=_using(out=False), look_up=_using(out=False)),
        layer_with(attend=_using(out=False)),
        layer_with(look_up=_using(out=False)),
    ),
    "unscaled": (
        layer_with(attend=_using(scale=False), look_up=_using(scale=False)),
        layer_with(look_up=_using(scale=False)),
    ),
    "no_activation": (layer_with(feed=lambda x, w_1, w_2: x @ w_1 @ w_2),),
    "padding_seen": (layer_with(source=lambda real, shape: None),),
    "padding_only": (
        layer_with(source=lambda real, shape: None if real is None else ~real[..., None, :]),
    ),
    "padding_on_another_axis": (
        layer_with(source=_real_on_queries),
        layer_with(source=_real_without_axis),
    ),
    "mask_after_softmax": (
        layer_with(look_up=_after_softmax),
        layer_with(attend=_after_softmax, look_up=_after_softmax),
    ),
    "without_if": (
        layer_with(source=lambda real, shape: real[..., None, :]),
        layer_with(
            source=lambda real, shape: decoder.source(
                np.array([False]) if real is None else real, shape
            )
        ),
    ),
    "finite_fill": (layer_with(look_up=_using(hide=_finite)),),
    "empty_source": (layer_with(look_up=_using(weigh=_nan)),),
    "overflow": (
        layer_with(look_up=_using(weigh=wrong.unstable)),
        layer_with(look_up=_using(weigh=wrong.unstable_or_zero)),
    ),
    "global_maximum": (
        layer_with(look_up=_using(weigh=wrong.global_peak)),
        layer_with(look_up=_using(weigh=wrong.global_peak_or_zero)),
    ),
    "one_pair_only": (_two_axes,),
}

EXERCISE = Exercise.from_file(__file__, ("output",), pre_norm_decoder_layer, cases, MISTAKES)
