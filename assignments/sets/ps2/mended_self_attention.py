"""Problem set 2, `mended_self_attention`: queries and keys exchanged, and wrong repairs."""

import numpy as np

from attn.reference import self_attention, softmax
from attn_course.exercises import wrong_softmax as wrong
from attn_course.exercises.spec import Exercise

from .packed_self_attention import with_large_scores


def cases(seed):
    """Return inputs for self-attention without mask: one sentence, batches, large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_q``, ``w_k`` and ``w_v``.
    """
    rng = np.random.default_rng(seed)

    def draw(seq_len, d_model, d_k, d_v, batch=()):
        return {
            "x": rng.uniform(-1, 1, (*batch, seq_len, d_model)),
            "w_q": rng.uniform(-0.6, 0.6, (d_model, d_k)),
            "w_k": rng.uniform(-0.6, 0.6, (d_model, d_k)),
            "w_v": rng.uniform(-0.6, 0.6, (d_model, d_v)),
        }

    large = draw(3, 4, 2, 3)
    with_large_scores(large["x"], large["w_q"], large["w_k"])
    return [
        draw(2, 3, 4, 5),
        draw(3, 4, 2, 5),
        draw(3, 3, 3, 3),
        large,
        draw(5, 4, 6, 3, batch=(2,)),
        draw(3, 3, 3, 2, batch=(3,)),
        draw(4, 3, 2, 5, batch=(2, 3)),
        draw(*rng.integers(3, 7, 4)),
    ]


def _attention(
    order=(0, 1, 2), score=lambda query, key: query @ key.mT, scale=np.sqrt, weigh=softmax
):
    def mended_self_attention(x, w_q, w_k, w_v):
        query, key, value = (x @ (w_q, w_k, w_v)[i] for i in order)
        weights = weigh(score(query, key) / scale(query.shape[-1]))
        return weights @ value, weights

    return mended_self_attention


def _returning(result):
    return lambda x, w_q, w_k, w_v: result(*self_attention(x, w_q, w_k, w_v), x, w_v)


def _as_given(x, w_q, w_k, w_v):
    return self_attention(x, w_k, w_q, w_v)


def _scaled_by_d_model(x, w_q, w_k, w_v):
    return self_attention(x, w_q * np.sqrt(w_q.shape[1] / w_q.shape[0]), w_k, w_v)


def _batch_only(x, w_q, w_k, w_v):
    _batch_size, _n_tokens, _d_model = x.shape
    return self_attention(x, w_q, w_k, w_v)


MISTAKES = {
    "key_asks": (_as_given,),
    "columns_normalised": (_attention(weigh=lambda scores: softmax(scores, axis=-2)),),
    "softmax_changed": (
        _attention(order=(1, 0, 2), weigh=lambda scores: softmax(scores, axis=-2)),
    ),
    "unscaled": (_attention(scale=lambda d_k: 1),),
    "scaled_by_d_k": (_attention(scale=lambda d_k: d_k),),
    "scaled_by_d_model": (_scaled_by_d_model,),
    "one_projection_for_both": (_attention(order=(0, 0, 2)), _attention(order=(1, 1, 2))),
    "values_changed": (
        _attention(order=(0, 1, 1)),
        _attention(order=(0, 1, 0)),
        _returning(lambda output, weights, x, w_v: (weights @ x, weights)),
    ),
    "all_axes_transposed": (
        _attention(score=lambda query, key: query @ key.T),
        _attention(score=lambda query, key: (key @ query.mT).T),
    ),
    "batch_only": (_batch_only,),
    "overflow": (_attention(weigh=wrong.unstable), _attention(weigh=wrong.unstable_or_zero)),
    "global_maximum": (
        _attention(weigh=wrong.global_peak),
        _attention(weigh=wrong.global_peak_or_zero),
    ),
    "only_output": (_returning(lambda output, weights, x, w_v: output),),
}

EXERCISE = Exercise.from_file(__file__, ("output", "weights"), self_attention, cases, MISTAKES)
