"""Chapter 3, `scaled_dot_product_attention`, and the ways to get it wrong."""

import numpy as np

from attn.reference import scaled_dot_product_attention, softmax
from attn_course.exercises import masked_too_late, wrong_attention
from attn_course.exercises import wrong_softmax as wrong
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return inputs for attention: with and without mask, in batches, with large numbers.

    Dimensions differ where a mistake could hide behind equal ones, and components are small,
    so that no query gives almost all its weight to one key and the scale shows.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key``, ``value`` and, in some, ``mask``.
    """
    rng = np.random.default_rng(seed)

    def draw(tgt_len, src_len, d_k, d_v, batch=(), mask=None):
        case = {
            "query": rng.uniform(-1, 1, (*batch, tgt_len, d_k)),
            "key": rng.uniform(-1, 1, (*batch, src_len, d_k)),
            "value": rng.normal(size=(*batch, src_len, d_v)),
        }
        return case if mask is None else case | {"mask": mask}

    def chequered(tgt_len, src_len):
        """Return a mask with True and False in every row and in every column."""
        return (np.arange(tgt_len)[:, None] + rng.permutation(src_len)) % 2 == 0

    large = draw(2, 3, 4, 2)
    large["query"][:, 0], large["key"][:, 0] = [40, -40], 40
    one_empty_row = chequered(3, 4)
    one_empty_row[1:] = [[False], [True]]
    per_sequence = np.stack([chequered(3, 5), chequered(3, 5)])
    padding = np.arange(5) < np.array([2, 4])[:, None, None]
    found = [
        draw(2, 3, 4, 2),
        draw(3, 3, 4, 4),  # here key and value have the same shape, so they can be exchanged
        draw(4, 2, 3, 5),
        draw(2, 4, 3, 2, mask=chequered(2, 4)),
        large,
        draw(3, 4, 2, 3, mask=one_empty_row),
        draw(3, 4, 5, 6, batch=(2,)),
        draw(3, 5, 4, 6, batch=(2,), mask=per_sequence),
        draw(3, 5, 4, 6, batch=(2,), mask=chequered(3, 5)),
        draw(3, 5, 4, 6, batch=(2,), mask=padding),
        draw(4, 5, 6, 7, batch=(2, 3), mask=padding[:, None]),
    ]
    padded = found[-2]
    # Forbidden keys with scores in the thousands show a mask that is applied too late or too
    # weakly.
    attractive = 2000 * np.sign(padded["query"][:, :1])
    padded["key"] = np.where(padding.mT, padded["key"], attractive)
    # And allowed scores far below 0, so that a fill value such as -100 is not the minimum of a row.
    padded["query"][:, -1, 0] = -40
    padded["key"][..., 0] = np.where(padding[:, 0], 40, attractive[..., 0])
    return found


def _scaled(query, key, value):
    return query @ key.mT / np.sqrt(query.shape[-1])


def _masked(scores, mask, fill=-np.inf):
    return scores if mask is None else np.where(mask, scores, fill)


def _attention(scores=_scaled, mask=_masked, weigh=softmax):
    def attention(query, key, value, allowed=None):
        weights = weigh(mask(scores(query, key, value), allowed))
        return weights @ value, weights

    return attention


def _divided_by(divisor):
    return _attention(lambda q, k, v: q @ k.mT / divisor(q, k, v))


def _returning(result):
    def attention(query, key, value, mask=None):
        output, weights = scaled_dot_product_attention(query, key, value, mask)
        return result(output, weights, query, key, value, mask)

    return attention


def _weights_scaled(query, key, value, mask=None):
    weights = softmax(_masked(query @ key.mT, mask)) / np.sqrt(query.shape[-1])
    return weights @ value, weights


def _output_scaled(query, key, value, mask=None):
    weights = softmax(_masked(query @ key.mT, mask))
    return weights @ value / np.sqrt(query.shape[-1]), weights


def _infinite_weights(query, key, value, mask=None):
    _, weights = scaled_dot_product_attention(query, key, value)
    weights = _masked(weights, mask)
    return weights @ value, weights


def _infinite_weights_of_the_allowed(query, key, value, mask=None):
    _, weights = scaled_dot_product_attention(query, key, value, mask)
    weights = _masked(weights, mask)
    return weights @ value, weights


def _by_element(query, key, value, mask=None):
    scores = _scaled(query, key, value)
    if mask is not None:
        for i in range(scores.shape[0]):
            for j in range(scores.shape[1]):
                if not mask[i, j]:
                    scores[i, j] = -np.inf
    weights = softmax(scores)
    return weights @ value, weights


def _by_element_of_the_mask(query, key, value, mask=None):
    scores = _scaled(query, key, value)
    for i, row in enumerate([] if mask is None else mask):
        for j, allowed in enumerate(row):
            if not allowed:
                scores[i, j] = -np.inf
    weights = softmax(scores)
    return weights @ value, weights


def _added(scores, mask):
    return scores if mask is None else scores + np.where(mask, 0, -1e9)


def _assigned(scores, mask):
    if mask is not None:
        scores[~mask] = -np.inf
    return scores


def _if_mask(scores, mask):
    return np.where(mask, scores, -np.inf) if mask else scores


def _infinity_times_zero(scores, mask):
    return scores if mask is None else scores + -np.inf * (1 - mask)


def _for_axes(number):
    def attention(query, key, value, mask=None):
        if query.ndim != number:
            raise ValueError("axes don't match array")
        return scaled_dot_product_attention(query, key, value, mask)

    return attention


def _causal(query, key, value, mask=None):
    causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
    allowed = causal if mask is None else causal & mask
    return scaled_dot_product_attention(query, key, value, allowed)


MISTAKES = {
    "unscaled": (_divided_by(lambda q, k, v: 1),),
    "scaled_by_d_k": (_divided_by(lambda q, k, v: q.shape[-1]),),
    "power_before_division": (
        _divided_by(lambda q, k, v: q.shape[-1] / 2),
        _divided_by(lambda q, k, v: q.shape[-1] * 2),
    ),
    "multiplied_by_root": (_divided_by(lambda q, k, v: 1 / np.sqrt(q.shape[-1])),),
    "scaled_by_d_v": (_divided_by(lambda q, k, v: np.sqrt(v.shape[-1])),),
    "scaled_after_softmax": (_weights_scaled, _output_scaled),
    "scaled_by_length": (
        _divided_by(lambda q, k, v: np.sqrt(k.shape[-2])),
        _divided_by(lambda q, k, v: np.sqrt(q.shape[-2])),
        _divided_by(lambda q, k, v: np.sqrt(k.shape[0])),
        _divided_by(lambda q, k, v: np.sqrt(q.shape[0])),
    ),
    "softmax_over_queries": (
        _attention(mask=lambda s, m: _masked(s, m, -1e9), weigh=lambda s: softmax(s, axis=-2)),
    ),
    "softmax_over_everything": (
        _attention(weigh=wrong.whole_array),
        _attention(weigh=wrong.whole_sum),
    ),
    "no_softmax": (_attention(weigh=lambda s: s),),
    "argmax": (_attention(weigh=wrong.one_hot),),
    "query_key_swapped": (_attention(lambda q, k, v: _scaled(k, q, v)),),
    "key_reshaped": (_attention(lambda q, k, v: _scaled(q, k.reshape(k.mT.shape).mT, v)),),
    "key_as_value": (_returning(lambda output, weights, q, k, v, mask: (weights @ k, weights)),),
    "mask_as_condition": (_attention(mask=_if_mask),),
    "mask_without_if": (
        _attention(mask=lambda s, m: np.where(m, s, -np.inf)),
        _attention(mask=lambda s, m: np.where(m, s, -np.inf), weigh=wrong.nan_if_empty),
        _attention(mask=lambda s, m: np.where(m, s, -1e9)),
        _attention(mask=lambda s, m: np.where(~m, -np.inf, s)),
    ),
    "infinity_times_zero": (
        _attention(mask=_infinity_times_zero, weigh=lambda s: np.nan_to_num(wrong.nan_if_empty(s))),
        _attention(mask=_infinity_times_zero, weigh=wrong.nan_if_empty),
    ),
    "mask_added": (_attention(mask=lambda s, m: s if m is None else s + m),),
    "mask_ignored": (_attention(mask=lambda s, m: s),),
    "mask_inverted": (_attention(mask=lambda s, m: _masked(s, None if m is None else ~m)),),
    "mask_after_softmax": (masked_too_late.mask_afterwards,),
    "fill_too_high": (masked_too_late.fill_too_high,),
    "infinite_weights": (_infinite_weights, _infinite_weights_of_the_allowed),
    "mask_by_element": (_by_element, _by_element_of_the_mask),
    "mask_as_factor": (_attention(mask=lambda s, m: _masked(s, m, 0)),),
    "mask_not_broadcast": (_attention(mask=_assigned),),
    "unbatched_only": (_attention(lambda q, k, v: q @ k.T / np.sqrt(q.shape[-1])),),
    "fixed_axes": (_for_axes(3), _for_axes(4)),
    "only_output": (_returning(lambda output, *_: output),),
    "outputs_swapped": (_returning(lambda output, weights, *_: (weights, output)),),
    "scores_returned": (
        _returning(lambda o, w, q, k, v, mask: (o, _masked(_scaled(q, k, v), mask))),
        _returning(lambda o, w, q, k, v, mask: (o, _scaled(q, k, v))),
        _returning(lambda o, w, q, k, v, mask: (o, q @ k.mT)),
    ),
    "overflow": tuple(
        _attention(weigh=weigh)
        for weigh in (wrong.unstable, wrong.unstable_or_zero, wrong.unstable_without_nan)
    ),
    "clipped": (_attention(weigh=wrong.clipped),),
    "mean_subtracted": (
        _attention(weigh=wrong.mean_subtracted),
        _attention(weigh=wrong.mean_without_nan),
    ),
    "global_maximum": (
        _attention(weigh=wrong.global_peak),
        _attention(weigh=wrong.global_peak_or_zero),
    ),
    "finite_fill": (_attention(mask=lambda s, m: _masked(s, m, -1e9)), _attention(mask=_added)),
    "empty_row": (_attention(weigh=wrong.nan_if_empty),),
    "forbidden_takes_it_all": (
        masked_too_late.mask_and_share_again,
        masked_too_late.share_nothing_left,
        masked_too_late.penalty_too_small,
    ),
    "causal": (_causal,),
    "fill_not_low_enough": (
        _attention(mask=lambda s, m: _masked(s, m, -10)),
        _attention(mask=lambda s, m: _masked(s, m, -50)),
        _attention(mask=lambda s, m: _masked(s, m, -100)),
    ),
    "key_value_swapped": (lambda q, k, v, mask=None: scaled_dot_product_attention(q, v, k, mask),),
    **wrong_attention.in_each(lambda attention: attention, but=("mask_added", "mask_as_factor")),
}

EXERCISE = Exercise.from_file(
    __file__, ("output", "weights"), scaled_dot_product_attention, cases, MISTAKES
)
