"""Masks that are applied too late or too weakly, for every exercise with attention.

Here are the wrong functions, and a change of the inputs on which they show.
"""

import numpy as np

from attn.reference import scaled_dot_product_attention, softmax


def make_padding_attractive(case, padding):
    """Change an input so that padding has high scores, which show a mask that is applied too late.

    Parameters
    ----------
    case : dict
        With ``x``, ``w_q`` and ``w_k``. The first query gives padding a score far above the rest.
    padding : ndarray of bool, shape (batch_size, 1, seq_len)
        True at the real tokens.
    """
    case["w_q"][0] = 0
    case["x"][..., 0] = np.where(padding[:, 0], case["x"][..., 0], 2000)
    query = case["x"][0, 0] @ case["w_q"]
    case["w_k"][0] = 0.15 * query / (query @ query)


def mask_afterwards(query, key, value, mask=None):
    """Mask the weights in place of the scores."""
    _, weights = scaled_dot_product_attention(query, key, value)
    weights = weights if mask is None else weights * mask
    return weights @ value, weights


def mask_and_share_again(query, key, value, mask=None):
    """Mask the weights, and divide the remaining ones by their sum."""
    output, weights = mask_afterwards(query, key, value, mask)
    total = np.maximum(weights.sum(axis=-1, keepdims=True), 1e-30)
    return output / total, weights / total


def penalty_too_small(query, key, value, mask=None):
    """Subtract 50 from the scores that are forbidden, where they may be in the thousands."""
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    weights = softmax(scores if mask is None else scores - 50 * ~mask)
    return weights @ value, weights


def share_nothing_left(query, key, value, mask=None):
    """Mask the weights and divide by their sum, which may be 0."""
    _, weights = mask_afterwards(query, key, value, mask)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ value, weights


def fill_too_high(query, key, value, mask=None):
    """Give forbidden keys a score above some allowed ones, and then no weight."""
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -100))
    weights = weights if mask is None else weights * mask
    return weights @ value, weights
