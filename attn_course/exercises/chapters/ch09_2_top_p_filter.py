"""Chapter 9, `top_p_filter`: the nucleus of a distribution, and the ways to get it wrong."""

import numpy as np

from attn.reference import softmax, top_p_filter
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return inputs: vectors, batches, and values of p that cut early and late.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``logits`` and ``p``.
    """
    rng = np.random.default_rng(seed)
    steps = np.array([1.6, 0.9, 0.3, -0.2, -0.8, -1.3, -1.9, -2.4])

    def draw(*shape, p, scale=1):
        noise = rng.uniform(-0.15, 0.15, shape)
        # The most probable token is never the first, and the tokens are not sorted.
        logits = rng.permuted(np.broadcast_to(scale * steps[: shape[-1]], shape), axis=-1) + noise
        first = logits[..., 0] == logits.max(axis=-1)
        return {"logits": np.where(first[..., None], logits[..., ::-1], logits), "p": np.array(p)}

    # Powers of one half, whose sum reaches p exactly; and a p that removes nothing. The largest
    # logit is 0, so that every way to write the softmax gives exactly one half.
    exact = {"logits": -np.log([2.0, 1, 4, 4]), "p": np.array(0.5)}
    return [
        exact,
        draw(4, p=0.95),
        draw(4, p=0.6),
        draw(5, p=0.75),
        # The most probable token alone reaches p, although others would reach it alone as well.
        draw(6, p=0.18, scale=0.4),
        draw(2, 5, p=0.8),
        draw(3, 7, p=0.55),
        draw(2, 3, 6, p=0.9),
        # These rows are nearly flat: no token stands out, and many are kept.
        draw(3, 8, p=0.65, scale=0.4),
    ]


def _sorted(logits):
    probabilities = softmax(logits)
    order = np.argsort(-probabilities, axis=-1)
    return probabilities, order, np.take_along_axis(probabilities, order, axis=-1)


def _back(kept, order):
    result = np.zeros_like(kept)
    np.put_along_axis(result, order, kept, axis=-1)
    return result


def _share(kept):
    total = kept.sum(axis=-1, keepdims=True)
    return kept / np.where(total == 0, 1, total)


def _unguarded(kept):
    return kept / kept.sum(axis=-1, keepdims=True)


def _keeping(keep, share=_share):
    """Return a filter that applies a rule to the sorted probabilities."""

    def nucleus(logits, p):
        _, order, best = _sorted(logits)
        return share(_back(np.where(keep(best, p), best, 0), order))

    return nucleus


def _right(best, p):
    return np.cumsum(best, axis=-1) - best < p


def _kept(logits, p):
    _, order, best = _sorted(logits)
    return _back(_right(best, p), order).astype(bool)


def _unsorted(logits, p):
    probabilities = softmax(logits)
    return _share(np.where(_right(probabilities, p), probabilities, 0))


def _least_first(logits, p):
    probabilities = softmax(logits)
    order = np.argsort(probabilities, axis=-1)
    best = np.take_along_axis(probabilities, order, axis=-1)
    return _share(_back(np.where(_right(best, p), best, 0), order))


def _left_sorted(logits, p):
    _, _, best = _sorted(logits)
    return _share(np.where(_right(best, p), best, 0))


def _mask_left_sorted(logits, p):
    probabilities, _, best = _sorted(logits)
    return _share(np.where(_right(best, p), probabilities, 0))


def _sorted_twice(logits, p):
    _, order, best = _sorted(logits)
    kept = np.where(_right(best, p), best, 0)
    return _share(np.take_along_axis(kept, order, axis=-1))


def _share_of_vocabulary(logits, p):
    _, order, best = _sorted(logits)
    count = np.ceil(p * logits.shape[-1])
    return _share(_back(np.where(np.arange(logits.shape[-1]) < count, best, 0), order))


def _softmax_of_probabilities(logits, p):
    return softmax(np.where(_kept(logits, p), softmax(logits), -np.inf))


def _whole_batch(logits, p):
    return _keeping(_right)(logits.reshape(-1), p).reshape(logits.shape)


def _logits_as_probabilities(logits, p):
    order = np.argsort(-logits, axis=-1)
    best = np.take_along_axis(logits, order, axis=-1)
    kept = _back(np.cumsum(best, axis=-1) - best < p, order)
    return _share(softmax(logits) * kept)


def _complement(logits, p):
    return _share(np.where(_kept(logits, p), 0, softmax(logits)))


def _vector_only(logits, p):
    if logits.ndim != 1:
        raise ValueError("one row of logits at a time")
    return top_p_filter(logits, p)


def _by_logits(logits, p):
    order = np.argsort(-logits, axis=-1)
    best = np.take_along_axis(logits, order, axis=-1)
    return _unguarded(_back(np.where(np.cumsum(best, axis=-1) - best < p, best, 0), order))


def _top_share(logits, p):
    probabilities = softmax(logits)
    k = max(1, int(p * logits.shape[-1]))
    least = np.sort(probabilities, axis=-1)[..., -k, None]
    return _share(np.where(probabilities >= least, probabilities, 0))


def _from_what_is_kept(logits, p):
    kept = _kept(logits, p)
    return kept / kept.sum(axis=-1, keepdims=True)


def _batch_accumulated(logits, p):
    _, order, best = _sorted(logits)
    keep = np.cumsum(best).reshape(best.shape) - best < p
    return _unguarded(_back(np.where(keep, best, 0), order))


def _one_softmax(logits, p):
    probabilities = softmax(logits, axis=None)
    order = np.argsort(-probabilities, axis=-1)
    best = np.take_along_axis(probabilities, order, axis=-1)
    return _share(_back(np.where(_right(best, p), best, 0), order))


MISTAKES = {
    "not_renormalised": (_keeping(_right, share=lambda kept: kept),),
    "unit_length": (
        _keeping(_right, share=lambda kept: kept / np.linalg.norm(kept, axis=-1, keepdims=True)),
    ),
    "crossing_token_dropped": (
        _keeping(lambda best, p: np.cumsum(best, axis=-1) < p, share=_unguarded),
        _keeping(lambda best, p: np.cumsum(best, axis=-1) <= p, share=_unguarded),
        _keeping(lambda best, p: np.cumsum(best, axis=-1) < p),
        _keeping(lambda best, p: np.cumsum(best, axis=-1) <= p),
        _keeping(lambda best, p: (np.cumsum(best, axis=-1) < p) | (best == best[..., :1])),
        _keeping(lambda best, p: (np.cumsum(best, axis=-1) <= p) | (best == best[..., :1])),
    ),
    "one_too_many": (
        _keeping(
            lambda best, p: (
                np.cumsum(best, axis=-1)
                - best
                - np.roll(best, 1, -1) * (np.arange(best.shape[-1]) > 0)
                < p
            )
        ),
    ),
    "boundary_passed": (_keeping(lambda best, p: np.cumsum(best, axis=-1) - best <= p),),
    "threshold": (
        _keeping(lambda best, p: best >= p),
        _keeping(lambda best, p: best >= p, share=_unguarded),
        _keeping(lambda best, p: (best >= p) | (best == best[..., :1])),
        _keeping(lambda best, p: best >= 1 - p),
        _keeping(lambda best, p: best >= p * best[..., :1]),
        _keeping(lambda best, p: best >= (1 - p) * best[..., :1]),
        _keeping(lambda best, p: best > (1 - p) * best[..., :1]),
    ),
    "share_of_vocabulary": (
        _top_share,
        _share_of_vocabulary,
    ),
    "unsorted": (_unsorted,),
    "least_first": (_least_first,),
    "left_sorted": (_left_sorted,),
    "mask_left_sorted": (_mask_left_sorted,),
    "sorted_twice": (_sorted_twice,),
    "softmax_of_probabilities": (
        lambda logits, p: softmax(np.where(_kept(logits, p), softmax(logits), 0)),
        _softmax_of_probabilities,
    ),
    "zero_logits": (lambda logits, p: softmax(np.where(_kept(logits, p), logits, 0)),),
    "logits_returned": (lambda logits, p: np.where(_kept(logits, p), logits, -np.inf),),
    "shared_with_the_batch": (_keeping(_right, share=lambda kept: kept / kept.sum()),),
    "whole_batch": (
        _batch_accumulated,
        _one_softmax,
        _whole_batch,
    ),
    "logits_accumulated": (
        _by_logits,
        _logits_as_probabilities,
    ),
    "tail_kept": (_complement,),
    "vector_only": (_vector_only,),
    "only_the_best": (_keeping(lambda best, p: best == best[..., :1]),),
    "all_alike": (_from_what_is_kept,),
    "complement_of_p": (_keeping(lambda best, p: np.cumsum(best, axis=-1) - best < 1 - p),),
}

EXERCISE = Exercise.from_file(__file__, ("probabilities",), top_p_filter, cases, MISTAKES)
