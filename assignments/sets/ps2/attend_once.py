"""Problem set 2, `attend_once`: attention for a single query, and the ways to get it wrong."""

import numpy as np

from attn.reference import scaled_dot_product_attention, softmax
from attn_course.exercises import wrong_softmax as wrong
from attn_course.exercises.spec import Exercise


def attend_once(query, key, value, mask=None):
    """Return the output and the weights of one query for each set of keys and values."""
    if mask is not None:
        mask = mask[..., None, :]
    output, weights = scaled_dot_product_attention(query[..., None, :], key, value, mask)
    return output[..., 0, :], weights[..., 0, :]


def cases(seed):
    """Return inputs: one sequence and several, with and without mask, with large numbers.

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

    def draw(batch, src_len, d_k, d_v, mask=None):
        case = {
            "query": rng.uniform(-1, 1, (*batch, d_k)),
            "key": rng.uniform(-1, 1, (*batch, src_len, d_k)),
            "value": rng.normal(size=(*batch, src_len, d_v)),
        }
        return case if mask is None else case | {"mask": mask}

    def chequered(*shape):
        """Return a mask with True and False in every row."""
        return (np.arange(shape[-1]) + rng.integers(2, size=(*shape[:-1], 1))) % 2 == 0

    large = draw((2,), 3, 4, 2)
    large["query"][:, 0], large["key"][..., 0] = [40, -40], 40
    # A forbidden key has by far the highest score, and the two sentences are far apart.
    mask = np.array([[True, True, False], [False, True, True]])
    large_and_masked = draw((2,), 3, 4, 2, mask=mask)
    large_and_masked["query"][:, 0] = 40
    large_and_masked["key"][..., 0] = np.where(mask, [[-40], [40]], [[40], [80]])
    # The only allowed key has a lower score than many finite numbers used for -inf.
    far_below = draw((2,), 3, 4, 2, mask=np.array([[False, True, False], [True, False, False]]))
    far_below["query"][:, 0], far_below["key"][..., 0] = 200, -200
    one_empty_row = chequered(3, 4)
    one_empty_row[1] = False
    return [
        draw((2,), 3, 4, 2),
        draw((3,), 3, 3, 5),
        draw((4,), 5, 6, 3),
        draw((2,), 4, 3, 2, mask=chequered(2, 4)),
        draw((3,), 5, 4, 6, mask=chequered(3, 5)),
        large,
        large_and_masked,
        far_below,
        draw((3,), 4, 2, 3, mask=one_empty_row),
        draw((), 3, 4, 2),
        draw((), 4, 3, 2, mask=chequered(4)),
        draw((2, 3), 4, 5, 6),
        draw((2, 3), 5, 4, 2, mask=chequered(2, 3, 5)),
        draw((rng.integers(2, 6),), *rng.integers(3, 7, 3)),
    ]


def _scaled(query, key):
    return np.einsum("...d,...nd->...n", query, key) / np.sqrt(query.shape[-1])


def _mean(weights, value):
    return np.einsum("...n,...nd->...d", weights, value)


def _masked(scores, mask, fill=-np.inf):
    return scores if mask is None else np.where(mask, scores, fill)


def _attention(scores=_scaled, mask=_masked, weigh=softmax):
    def attend_once(query, key, value, allowed=None):
        weights = weigh(mask(scores(query, key), allowed))
        return _mean(weights, value), weights

    return attend_once


def _divided_by(divisor):
    return _attention(
        lambda q, k: _scaled(q, k) * np.sqrt(q.shape[-1]) / divisor(q.shape[-1], k.shape[-2])
    )


def _returning(result):
    def attention(query, key, value, mask=None):
        output, weights = attend_once(query, key, value, mask)
        return result(output, weights, key)

    return attention


def _scaled_after(query, key, value, mask=None):
    weights = softmax(_masked(_scaled(query, key) * np.sqrt(query.shape[-1]), mask))
    weights = weights / np.sqrt(query.shape[-1])
    return _mean(weights, value), weights


def _mask_afterwards(query, key, value, mask=None):
    _, weights = attend_once(query, key, value)
    weights = weights if mask is None else weights * mask
    return _mean(weights, value), weights


def _filled_and_zeroed(query, key, value, mask=None):
    weights = softmax(_masked(_scaled(query, key), mask, -5000))
    weights = weights if mask is None else weights * mask
    return _mean(weights, value), weights


def _maximum_before_mask(divide):
    def attention(query, key, value, mask=None):
        scores = _scaled(query, key)
        exponentials = np.exp(_masked(scores - wrong.peaks(scores), mask))
        weights = divide(exponentials)
        return _mean(weights, value), weights

    return attention


def _crossed(query, key, value, mask=None):
    weights = softmax(_masked(query @ key.mT / np.sqrt(query.shape[-1]), mask))
    return weights @ value, weights


def _for_batch(number):
    def attention(query, key, value, mask=None):
        if query.ndim != 1 + number:
            raise ValueError("axes don't match array")
        return attend_once(query, key, value, mask)

    return attention


MISTAKES = {
    "unscaled": (_divided_by(lambda d_k, n: 1),),
    "scaled_by_d_k": (_divided_by(lambda d_k, n: d_k),),
    "scaled_by_length": (_divided_by(lambda d_k, n: np.sqrt(n)),),
    "scaled_after_softmax": (_scaled_after,),
    "softmax_over_batch": (
        _attention(mask=lambda s, m: _masked(s, m, -1e9), weigh=lambda s: softmax(s, axis=0)),
    ),
    "softmax_over_everything": (
        _attention(weigh=wrong.whole_array),
        _attention(weigh=wrong.whole_sum),
    ),
    "no_softmax": (_attention(weigh=lambda s: s),),
    "argmax": (_attention(weigh=wrong.one_hot),),
    "key_as_value": (_returning(lambda output, weights, key: (_mean(weights, key), weights)),),
    "batch_crossed": (_crossed,),
    "axis_left_over": (
        _returning(lambda output, weights, key: (output[..., None, :], weights[..., None, :])),
        _returning(lambda output, weights, key: (output[..., None, :], weights)),
    ),
    "mask_without_if": (
        _attention(mask=lambda s, m: np.where(m, s, -np.inf)),
        _attention(mask=lambda s, m: np.where(m, s, -np.inf), weigh=wrong.nan_if_empty),
        _attention(mask=lambda s, m: np.where(~m, -np.inf, s)),
    ),
    "mask_ignored": (_attention(mask=lambda s, m: s),),
    "mask_inverted": (_attention(mask=lambda s, m: _masked(s, None if m is None else ~m)),),
    "mask_after_softmax": (_mask_afterwards,),
    "mask_as_factor": (_attention(mask=lambda s, m: _masked(s, m, 0)),),
    "one_batch_axis": (_for_batch(1), _for_batch(0)),
    "only_output": (_returning(lambda output, weights, key: output),),
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
        _filled_and_zeroed,
    ),
    "empty_row": (_attention(weigh=wrong.nan_if_empty),),
}

EXERCISE = Exercise.from_file(__file__, ("output", "weights"), attend_once, cases, MISTAKES)
