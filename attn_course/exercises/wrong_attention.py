"""Attentions with one fault each in their scores or weights, for every exercise with attention.

Each takes query, key, value and a mask, like `attn.reference.scaled_dot_product_attention`.
"""

import math

import numpy as np

from attn.reference import softmax


def attending(scores, weigh=softmax):
    """Return attention with other scores, or with another softmax.

    Parameters
    ----------
    scores : callable
        Of query and key.
    weigh : callable
        Of the masked scores.

    Returns
    -------
    callable
    """

    def attention(query, key, value, mask=None):
        found = scores(query, key)
        weights = weigh(found if mask is None else np.where(mask, found, -np.inf))
        return weights @ value, weights

    return attention


def _scaled(query, key):
    return query @ key.mT / np.sqrt(query.shape[-1])


def _divided(divisor):
    return attending(lambda q, k: q @ k.mT / divisor(q, k))


def _masked_by(change):
    def attention(query, key, value, mask=None):
        scores = _scaled(query, key)
        weights = softmax(scores if mask is None else change(scores, mask))
        return weights @ value, weights

    return attention


def _zeroed_too_late(query, key, value, mask=None):
    """Set the weights to 0 where attention is forbidden after the output is computed."""
    output, weights = _masked_by(lambda s, m: np.where(m, s, -1e9))(query, key, value, mask)
    return output, weights if mask is None else np.where(mask, weights, 0)


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _distances(query, key):
    return np.linalg.norm(query[..., :, None, :] - key[..., None, :, :], axis=-1)


def _unit_shares(scores):
    peak = scores.max(axis=-1, keepdims=True)
    return np.nan_to_num(_unit(np.exp(scores - np.where(np.isfinite(peak), peak, 0))))


def _softmax_twice(scores):
    return softmax(softmax(scores))


def _masked_again(scores):
    return softmax(np.where(np.isneginf(scores), -np.inf, softmax(scores)))


# The root of d_k as a whole number is 1 for d_k below 4, as though there were no root.
ROOT_ROUNDED = tuple(
    _divided(lambda q, k, whole=whole: whole(math.sqrt(q.shape[-1])))
    for whole in (int, round, math.ceil)
)
SCORES_FLOORED = (
    attending(lambda q, k: q @ k.mT // np.sqrt(q.shape[-1])),
    attending(lambda q, k: np.trunc(_scaled(q, k))),
    attending(lambda q, k: np.round(_scaled(q, k))),
)
COSINE = (
    attending(lambda q, k: _unit(q) @ _unit(k).mT),
    attending(lambda q, k: _unit(q) @ _unit(k).mT / np.sqrt(q.shape[-1])),
    attending(lambda q, k: _unit(q) @ k.mT),
    attending(lambda q, k: q @ _unit(k).mT),
)
DISTANCE = (
    attending(lambda q, k: -_distances(q, k)),
    attending(lambda q, k: -_distances(q, k) / np.sqrt(q.shape[-1])),
    attending(lambda q, k: -(_distances(q, k) ** 2)),
    attending(lambda q, k: -(_distances(q, k) ** 2) / np.sqrt(q.shape[-1])),
)
UNIT_WEIGHTS = (attending(_scaled, _unit_shares), attending(_scaled, _unit))
SOFTMAX_TWICE = (attending(_scaled, _softmax_twice), attending(_scaled, _masked_again))
ROOT_OF_SIZE = (
    _divided(lambda q, k: np.sqrt(q.size)),
    _divided(lambda q, k: np.sqrt(k.size)),
    _divided(lambda q, k: np.linalg.norm(q)),
)
MANY = {
    "root_rounded": ROOT_ROUNDED,
    "scores_floored": SCORES_FLOORED,
    "cosine_scores": COSINE,
    "distance_scores": DISTANCE,
    "unit_weights": UNIT_WEIGHTS,
    "softmax_twice": SOFTMAX_TWICE,
    "root_of_size": ROOT_OF_SIZE,
    "mask_added": (_masked_by(np.add),),
    "mask_as_factor": (_masked_by(np.multiply),),
    "zeroed_too_late": (_zeroed_too_late,),
}


def in_each(wrap, but=()):
    """Return the mistakes of this module inside of another function, by id.

    Parameters
    ----------
    wrap : callable
        From an attention to an answer to the exercise.
    but : sequence of str
        Ids left out.

    Returns
    -------
    dict of str to tuple of callable
    """
    return {name: tuple(map(wrap, some)) for name, some in MANY.items() if name not in but}
