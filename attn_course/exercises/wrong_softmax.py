"""Softmaxes with one fault each, for every exercise in which weights come out of scores.

They take scores of any shape and share out their last axis, like `attn.reference.softmax`.
"""

import numpy as np

from attn.reference import softmax


def peaks(scores, keepdims=True):
    """Return the largest score of each row, or 0 where all are -inf."""
    largest = scores.max(axis=-1, keepdims=keepdims)
    return np.where(np.isneginf(largest), 0, largest)


def share(values, keepdims=True):
    """Divide each row by its sum."""
    return values / values.sum(axis=-1, keepdims=keepdims)


def share_or_zero(values):
    """Divide each row by its sum, if that is not 0."""
    total = values.sum(axis=-1, keepdims=True)
    return np.where(total == 0, 0, values / total)


def zero_if_empty(scores, weights):
    """Set the weights to 0 where a row of scores is all -inf."""
    return np.where(np.isneginf(scores).all(axis=-1, keepdims=True), 0, weights)


def whole_array(scores):
    """Normalise over the whole array."""
    return softmax(scores, axis=None)


def whole_sum(scores):
    """Divide by the sum of the whole array, each row having lost its own maximum."""
    exponentials = np.exp(scores - peaks(scores))
    return exponentials / exponentials.sum()


def one_hot(scores):
    """Give weight 1 to the largest score of each row."""
    return np.eye(scores.shape[-1])[scores.argmax(axis=-1)]


def unstable(scores):
    """Subtract nothing, so that large scores overflow."""
    return zero_if_empty(scores, share(np.exp(scores)))


def unstable_or_zero(scores):
    """Subtract nothing, and give zeros where all exponentials are 0."""
    return share_or_zero(np.exp(scores))


def global_peak(scores):
    """Subtract the largest score of the whole array."""
    return zero_if_empty(scores, share(np.exp(scores - scores.max())))


def global_peak_or_zero(scores):
    """Subtract the largest score of all, and give zeros where all exponentials are 0."""
    return share_or_zero(np.exp(scores - scores.max()))


def unstable_without_nan(scores):
    """Subtract nothing, and hide the NaN that this gives."""
    return np.nan_to_num(share(np.exp(scores)))


def clipped(scores):
    """Clip large scores so that they do not overflow."""
    return share(np.exp(np.clip(scores, -700, 700)))


def clipped_above(scores):
    """Clip large scores, and give zeros where all exponentials are 0."""
    return share_or_zero(np.exp(np.minimum(scores, 700)))


def mean_subtracted(scores):
    """Subtract the mean of each row, where its largest score is needed."""
    return share(np.exp(scores - scores.mean(axis=-1, keepdims=True)))


def mean_without_nan(scores):
    """Subtract the mean of each row, and hide the NaN that this gives."""
    return np.nan_to_num(mean_subtracted(scores))


def nan_if_empty(scores):
    """Subtract the largest score, also from rows in which all are -inf."""
    return share(np.exp(scores - scores.max(axis=-1, keepdims=True)))
