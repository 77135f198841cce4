"""Problem set 2, `packed_self_attention`: three projections in one, and how to get it wrong."""

import numpy as np

from attn.reference import self_attention, softmax
from attn_course.exercises import wrong_softmax as wrong
from attn_course.exercises.spec import Exercise


def packed_self_attention(x, w_qkv, mask=None):
    """Return self-attention whose three matrices stand side by side in ``w_qkv``."""
    return self_attention(x, *np.split(w_qkv, 3, axis=-1), mask)


def with_large_scores(x, w_q, w_k):
    """Make all the scores of one query large and those of the next very negative, in place.

    Parameters
    ----------
    x : ndarray, shape (seq_len, d_model)
    w_q, w_k : ndarray, shape (d_model, d_k)
        Views will do.
    """
    x[:, 0], x[:, 1] = np.resize([40, -40], len(x)), 40
    for w, feature in ((w_q, 0), (w_k, 1)):
        w[:2], w[:, 0] = 0, 0
        w[feature, 0] = 1


def cases(seed):
    """Return inputs: with and without mask, in batches, with large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_qkv`` and, in some, ``mask``.
    """
    rng = np.random.default_rng(seed)

    def draw(seq_len, d_model, d_k, batch=(), mask=None):
        case = {
            "x": rng.uniform(-1, 1, (*batch, seq_len, d_model)),
            "w_qkv": rng.uniform(-0.6, 0.6, (d_model, 3 * d_k)),
        }
        return case if mask is None else case | {"mask": mask}

    one_empty_row = np.array([[True, False, True], [False, False, False], [True, True, True]])
    every_other = (np.arange(4)[:, None] + np.arange(4)) % 2 == 0
    padding = np.arange(5) < np.array([2, 4])[:, None, None]
    large = draw(3, 4, 2)
    with_large_scores(large["x"], *np.split(large["w_qkv"], 3, axis=-1)[:2])
    # The forbidden token has by far the highest score, and the rows are far apart.
    large_and_masked = draw(3, 4, 2, mask=np.array([[True, True, False]]))
    with_large_scores(large_and_masked["x"], *np.split(large_and_masked["w_qkv"], 3, axis=-1)[:2])
    large_and_masked["x"][:, :2] = [[40, -40], [40, -40], [10, 40]]
    # The only allowed token has a lower score than many finite numbers used for -inf.
    far_below = draw(3, 4, 2, mask=np.array([1, 2, 0])[:, None] == np.arange(3))
    with_large_scores(far_below["x"], *np.split(far_below["w_qkv"], 3, axis=-1)[:2])
    far_below["x"][:, :2] = [200, -200]
    return [
        draw(2, 3, 4),
        draw(3, 4, 2),
        draw(3, 3, 3),
        large,
        large_and_masked,
        far_below,
        draw(3, 6, 5, mask=np.tril(np.ones((3, 3), dtype=bool))),
        draw(4, 3, 6, mask=every_other),
        draw(3, 4, 5, mask=one_empty_row),
        draw(5, 4, 6, batch=(2,)),
        draw(5, 4, 3, batch=(2,), mask=padding),
        draw(4, 3, 2, batch=(2, 3), mask=every_other),
        draw(*rng.integers(3, 7, 3)),
    ]


def _thirds(w_qkv):
    return np.split(w_qkv, 3, axis=-1)


def _masked(scores, mask, fill=-np.inf):
    return scores if mask is None else np.where(mask, scores, fill)


def _attention(split=_thirds, scale=lambda x, query: 1, mask=_masked, weigh=softmax):
    def packed_self_attention(x, w_qkv, allowed=None):
        query, key, value = (x @ w for w in split(w_qkv))
        scores = query @ key.mT * scale(x, query) / np.sqrt(query.shape[-1])
        weights = weigh(mask(scores, allowed))
        return weights @ value, weights

    return packed_self_attention


def _rearranged(*order):
    return _attention(lambda w: [_thirds(w)[i] for i in order])


def _values_not_projected(x, w_qkv, mask=None):
    _, weights = packed_self_attention(x, w_qkv, mask)
    return weights @ x, weights


def _mask_afterwards(x, w_qkv, mask=None):
    _, weights = packed_self_attention(x, w_qkv)
    weights = weights if mask is None else weights * mask
    return weights @ (x @ _thirds(w_qkv)[2]), weights


def _filled_and_zeroed(fill):
    def attention(x, w_qkv, mask=None):
        query, key, value = (x @ w for w in _thirds(w_qkv))
        weights = softmax(_masked(query @ key.mT / np.sqrt(query.shape[-1]), mask, fill))
        weights = weights if mask is None else weights * mask
        return weights @ value, weights

    return attention


def _maximum_before_mask(divide):
    return _attention(
        mask=lambda scores, mask: _masked(scores - wrong.peaks(scores), mask),
        weigh=lambda shifted: divide(np.exp(shifted)),
    )


def _for_axes(number):
    def attention(x, w_qkv, mask=None):
        if x.ndim != number:
            raise ValueError("axes don't match array")
        return packed_self_attention(x, w_qkv, mask)

    return attention


MISTAKES = {
    "unscaled": (_attention(scale=lambda x, query: np.sqrt(query.shape[-1])),),
    "scaled_by_d_model": (
        _attention(scale=lambda x, query: np.sqrt(query.shape[-1] / x.shape[-1])),
    ),
    "scaled_by_packed_width": (_attention(scale=lambda x, query: 1 / np.sqrt(3)),),
    "query_and_key_exchanged": (_rearranged(1, 0, 2),),
    "thirds_in_another_order": (
        _rearranged(1, 2, 0),
        _rearranged(2, 0, 1),
        _rearranged(2, 1, 0),
        _rearranged(0, 2, 1),
    ),
    "interleaved": (
        _attention(lambda w: [w[:, i::3] for i in range(3)]),
        _attention(lambda w: w.reshape(3, len(w), -1)),
    ),
    "one_projection_for_both": (_rearranged(0, 0, 2), _rearranged(1, 1, 2)),
    "key_as_value": (_rearranged(0, 1, 1),),
    "values_not_projected": (_values_not_projected,),
    "softmax_over_queries": (
        _attention(mask=lambda s, m: _masked(s, m, -1e9), weigh=lambda s: softmax(s, axis=-2)),
    ),
    "mask_without_if": (
        _attention(mask=lambda s, m: np.where(m, s, -np.inf)),
        _attention(mask=lambda s, m: np.where(m, s, -np.inf), weigh=wrong.nan_if_empty),
        _attention(mask=lambda s, m: np.where(~m, -np.inf, s)),
    ),
    "mask_dropped": (_attention(mask=lambda s, m: s),),
    "mask_inverted": (_attention(mask=lambda s, m: _masked(s, None if m is None else ~m)),),
    "mask_after_softmax": (_mask_afterwards,),
    "matrix_only": (_for_axes(2),),
    "overflow": (_attention(weigh=wrong.unstable), _attention(weigh=wrong.unstable_or_zero)),
    "global_maximum": (
        _attention(weigh=wrong.global_peak),
        _attention(weigh=wrong.global_peak_or_zero),
    ),
    "maximum_of_forbidden": (
        _maximum_before_mask(wrong.share_or_zero),
        _maximum_before_mask(wrong.share),
    ),
    "finite_fill": (
        _attention(mask=lambda s, m: _masked(s, m, -1e9)),
        _attention(mask=lambda s, m: _masked(s, m, -5000)),
        _filled_and_zeroed(-5000),
        _filled_and_zeroed(-1000),
    ),
    "empty_row": (_attention(weigh=wrong.nan_if_empty),),
}

EXERCISE = Exercise.from_file(
    __file__, ("output", "weights"), packed_self_attention, cases, MISTAKES
)
