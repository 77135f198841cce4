"""Problem set 3, `grouped_attention`: heads that share keys and values, and how to get it wrong."""

import numpy as np

from attn.reference import scaled_dot_product_attention, softmax
from attn_course.exercises import wrong_softmax as wrong
from attn_course.exercises.spec import Exercise


def grouped_attention(query, key, value, mask=None):
    """Return the outputs and the weights of heads that share keys and values by groups.

    Parameters
    ----------
    query : ndarray, shape (..., n_heads, tgt_len, d_k)
    key : ndarray, shape (..., n_kv_heads, src_len, d_k)
        ``n_kv_heads`` divides ``n_heads``; heads that stand together share one.
    value : ndarray, shape (..., n_kv_heads, src_len, d_v)
    mask : ndarray of bool, optional
        True = may attend. It broadcasts to (..., tgt_len, src_len), the same for every head.

    Returns
    -------
    output : ndarray, shape (..., n_heads, tgt_len, d_v)
    weights : ndarray, shape (..., n_heads, tgt_len, src_len)

    References
    ----------
    Ainslie et al. (2023), GQA.
    """
    key, value = _shared(query, key), _shared(query, value)
    mask = None if mask is None else mask[..., None, :, :]
    return scaled_dot_product_attention(query, key, value, mask)


def _shared(query, x):
    """Return one head of `x` for each head of the query."""
    return np.repeat(x, query.shape[-3] // x.shape[-3], axis=-3)


def with_large_scores(case, largest=40):
    """Move the scores of each row far from 0 and from those of other rows, in place."""
    signs = np.where(np.arange(case["query"].shape[-2]) % 2 == 0, 1, -1)
    case["query"][..., 0], case["key"][..., 0] = largest * signs, largest


def cases(seed):
    """Return inputs: groups of every size, with and without mask, with large numbers, in batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key``, ``value`` and, in some, ``mask``.
    """
    rng = np.random.default_rng(seed)

    def draw(heads, lengths, d_k, d_v, batch=(), mask=None):
        (n_heads, n_kv_heads), (tgt_len, src_len) = heads, lengths
        case = {
            "query": rng.uniform(-1, 1, (*batch, n_heads, tgt_len, d_k)),
            "key": rng.uniform(-1, 1, (*batch, n_kv_heads, src_len, d_k)),
            "value": rng.normal(size=(*batch, n_kv_heads, src_len, d_v)),
        }
        return case if mask is None else case | {"mask": mask}

    def chequered(*shape):
        """Return a mask with True and False in every row, at least two True."""
        return (np.arange(shape[-1]) + rng.integers(2, size=(*shape[:-1], 1))) % 2 == 0

    large = draw((4, 2), (2, 3), 3, 2)
    with_large_scores(large)
    # Where the query is positive, the forbidden key has by far the highest score. Where it is
    # negative, the allowed keys score less than many a finite number that is used for -inf.
    masked = draw((4, 2), (2, 3), 4, 2, mask=np.array([[True, True, False]] * 2))
    with_large_scores(masked, 150)
    masked["key"][..., 2, 0] = 300
    one_empty_row = chequered(3, 4)
    one_empty_row[1] = False
    return [
        draw((4, 2), (2, 3), 2, 3),
        draw((6, 2), (3, 2), 4, 2),
        draw((6, 3), (2, 4), 3, 5),
        draw((2, 1), (3, 2), 4, 3),
        draw((2, 2), (3, 4), 2, 3),
        draw((4, 2), (3, 5), 4, 2, mask=chequered(3, 5)),
        draw((4, 2), (2, 4), 3, 5, mask=chequered(1, 4)),
        large,
        masked,
        draw((4, 2), (3, 4), 2, 5, mask=one_empty_row),
        draw((4, 2), (3, 5), 2, 3, batch=(3,)),
        draw((4, 2), (2, 5), 3, 4, batch=(2, 3), mask=chequered(2, 5)),
        draw((4, 2), (3, 4), 2, 5, batch=(4,), mask=chequered(4, 3, 4)),
        draw(
            rng.integers(2, 4) * np.array([rng.integers(2, 4), 1]),
            *rng.integers(3, 6, (1, 2)),
            *rng.integers(2, 6, 2),
        ),
    ]


def _masked(scores, mask, fill=-np.inf):
    return scores if mask is None else np.where(mask[..., None, :, :], scores, fill)


def _attention(share=_shared, scale=lambda query, key: 1, mask=_masked, weigh=softmax):
    """Return grouped attention with one of its parts replaced."""

    def attention(query, key, value, allowed=None):
        key, value = share(query, key), share(query, value)
        scores = query @ key.mT * scale(query, key) / np.sqrt(query.shape[-1])
        weights = weigh(mask(scores, allowed))
        return weights @ value, weights

    return attention


def _tiled(query, x):
    return np.tile(x, (query.shape[-3] // x.shape[-3], 1, 1))


def _first_only(query, x):
    return np.repeat(x[..., :1, :, :], query.shape[-3], axis=-3)


def _mean_of_all(query, x):
    return np.repeat(x.mean(axis=-3, keepdims=True), query.shape[-3], axis=-3)


def _tokens_repeated(query, x):
    return np.repeat(x, query.shape[-3] // x.shape[-3], axis=-2)


def _by_groups(query, key):
    """Return the queries with the heads of each group on an axis of their own."""
    *batch, n_heads, tgt_len, d_k = query.shape
    return query.reshape(*batch, key.shape[-3], n_heads // key.shape[-3], tgt_len, d_k)


def _queries_merged(query, key, value, mask=None):
    return grouped_attention(_by_groups(query, key).mean(axis=-3), key, value, mask)


def _one_query_of_each_group(query, key, value, mask=None):
    return grouped_attention(_by_groups(query, key)[..., 0, :, :], key, value, mask)


def _axis_of_groups_left(query, key, value, mask=None):
    output, weights = grouped_attention(query, key, value, mask)
    return _by_groups(output, key), _by_groups(weights, key)


def _key_as_value(query, key, value, mask=None):
    return grouped_attention(query, key, key, mask)


def _three_axes(query, key, value, mask=None):
    if query.ndim != 3:
        raise ValueError("operands could not be broadcast together")
    return grouped_attention(query, key, value, mask)


def _mask_afterwards(query, key, value, mask=None):
    _, weights = grouped_attention(query, key, value)
    weights = weights if mask is None else weights * mask[..., None, :, :]
    return weights @ _shared(query, value), weights


def _maximum_before_mask(divide):
    return _attention(
        mask=lambda scores, mask: _masked(scores - wrong.peaks(scores), mask),
        weigh=lambda shifted: divide(np.exp(shifted)),
    )


MISTAKES = {
    "tiled": (_attention(share=_tiled),),
    "one_group": (_attention(share=_first_only), _attention(share=_mean_of_all)),
    "keys_not_shared": (_attention(share=lambda query, x: x),),
    "tokens_repeated": (_attention(share=_tokens_repeated),),
    "queries_merged": (_queries_merged, _one_query_of_each_group),
    "axis_of_groups_left": (_axis_of_groups_left,),
    "three_axes": (_three_axes,),
    "unscaled": (_attention(scale=lambda query, key: np.sqrt(query.shape[-1])),),
    "scaled_by_all_heads": (_attention(scale=lambda query, key: 1 / np.sqrt(query.shape[-3])),),
    "key_as_value": (_key_as_value,),
    "softmax_over_queries": (
        _attention(mask=lambda s, m: _masked(s, m, -1e9), weigh=lambda s: softmax(s, axis=-2)),
    ),
    "softmax_over_heads": (
        _attention(mask=lambda s, m: _masked(s, m, -1e9), weigh=lambda s: softmax(s, axis=-3)),
    ),
    "mask_without_if": (
        _attention(mask=lambda s, m: np.where(m, s, -np.inf)),
        _attention(mask=lambda s, m: np.where(m[..., None, :, :], s, -np.inf)),
    ),
    "mask_ignored": (_attention(mask=lambda s, m: s),),
    "mask_without_heads": (
        _attention(mask=lambda s, m: s if m is None else np.where(m, s, -np.inf)),
    ),
    "mask_inverted": (_attention(mask=lambda s, m: _masked(s, None if m is None else ~m)),),
    "mask_after_softmax": (_mask_afterwards,),
    "overflow": (_attention(weigh=wrong.unstable), _attention(weigh=wrong.unstable_or_zero)),
    "global_maximum": (
        _attention(weigh=wrong.global_peak),
        _attention(weigh=wrong.global_peak_or_zero),
    ),
    "maximum_of_forbidden": (
        _maximum_before_mask(wrong.share_or_zero),
        _maximum_before_mask(wrong.share),
    ),
    "finite_fill": (_attention(mask=lambda s, m: _masked(s, m, -1e9)),),
    "empty_row": (_attention(weigh=wrong.nan_if_empty),),
}

EXERCISE = Exercise.from_file(__file__, ("output", "weights"), grouped_attention, cases, MISTAKES)
