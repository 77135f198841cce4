"""Chapter 1, `read_alignment`, and the ways to get it wrong."""

import numpy as np

from attn.reference import softmax
from attn_course.exercises.spec import Exercise


def read_alignment(weights):
    """Link each word of the translation to the source word with the largest weight.

    Parameters
    ----------
    weights : ndarray, shape (n_layers, n_heads, tgt_len, src_len)
        Cross-attention: row i is the query that predicts target token i, the last of which
        is the end of the sentence.

    Returns
    -------
    ndarray of bool, shape (tgt_len - 1, src_len)
        One True in each row, the first of equals; none for the end of the sentence.
    """
    return _links(_mean(weights)[:-1])


def _mean(weights):
    return weights.mean(axis=(0, 1))


def _links(mean):
    return np.arange(mean.shape[-1]) == mean.argmax(axis=-1)[:, None]


def cases(seed):
    """Return the weights of a few decoders, one of them with two equal words in a row.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the key ``weights``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_layers, n_heads, tgt_len, src_len):
        return {"weights": softmax(1.5 * rng.normal(size=(n_layers, n_heads, tgt_len, src_len)))}

    ties = draw(2, 2, 4, 6)
    # Quarters are added exactly, so that no order of the sum breaks the tie.
    ties["weights"][:, :, 1] = rng.permutation([0.0, 0.25, 0.0, 0.25, 0.25, 0.25])
    return [draw(1, 3, 3, 2), draw(2, 3, 4, 5), ties, draw(3, 2, 6, 4), draw(2, 4, 8, 7)]


def _from(choose):
    return lambda weights: _links(choose(weights)[:-1])


def _vote(weights):
    best = weights.reshape(-1, *weights.shape[2:]).argmax(axis=-1)
    return (best[..., None] == np.arange(weights.shape[-1])).mean(axis=0)


def _by_source(weights):
    mean = _mean(weights)[:-1]
    return np.arange(len(mean))[:, None] == mean.argmax(axis=0)


def _last_of_equals(weights):
    mean = _mean(weights)[:-1]
    return _links(mean[:, ::-1])[:, ::-1]


MISTAKES = {
    "off_by_one": (lambda weights: _links(_mean(weights)[1:]),),
    "end_included": (lambda weights: _links(_mean(weights)),),
    "by_source": (_by_source,),
    "smallest": (_from(lambda weights: -_mean(weights)),),
    "one_layer": (
        _from(lambda weights: weights[-1].mean(axis=0)),
        _from(lambda w: w[0].mean(axis=0)),
    ),
    "one_head": (
        _from(lambda weights: weights[:, 0].mean(axis=0)),
        _from(lambda weights: weights[:, -1].mean(axis=0)),
        _from(lambda weights: weights[0, 0]),
        _from(lambda weights: weights[-1, -1]),
    ),
    "strongest_head": (_from(lambda weights: weights.max(axis=(0, 1))),),
    "vote": (_from(_vote),),
    "all_equals": (
        lambda weights: _mean(weights)[:-1] == _mean(weights)[:-1].max(axis=-1, keepdims=True),
    ),
    "last_of_equals": (_last_of_equals,),
    "over_a_half": (lambda weights: _mean(weights)[:-1] > 0.5,),
    "above_uniform": (lambda weights: _mean(weights)[:-1] > 1 / weights.shape[-1],),
    "positions": (lambda weights: _mean(weights)[:-1].argmax(axis=-1),),
    "columns_for_rows": (lambda weights: read_alignment(weights).T,),
    "one_for_all": (lambda weights: _mean(weights)[:-1] == _mean(weights)[:-1].max(),),
}

EXERCISE = Exercise.from_file(__file__, ("links",), read_alignment, cases, MISTAKES)
