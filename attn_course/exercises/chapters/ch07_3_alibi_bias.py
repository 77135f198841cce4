"""Chapter 7, `alibi_bias`: a penalty for distance, and the ways to get it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise


def alibi_bias(slopes, tgt_len, src_len):
    """Return minus each slope times each distance; the last query stands at the last key."""
    return -slopes[:, None, None] * _distances(tgt_len, src_len)


def cases(seed):
    """Return slopes and lengths: as many queries as keys, and fewer, as when generating.

    Parameters
    ----------
    seed : int
        Seed of the random slopes; the sizes are always the same.

    Returns
    -------
    list of dict
        With the keys ``slopes``, ``tgt_len`` and ``src_len``.
    """
    rng = np.random.default_rng(seed)
    sizes = [(1, 3, 3), (2, 3, 3), (2, 4, 4), (3, 2, 4), (3, 5, 5), (4, 1, 6), (5, 3, 7)]
    return [
        {
            "slopes": rng.uniform(0.05, 0.4, n_heads),
            "tgt_len": np.int64(tgt_len),
            "src_len": np.int64(src_len),
        }
        for n_heads, tgt_len, src_len in sizes
    ]


def _offsets(tgt_len, src_len, first=None):
    """Return the distance of each key before its query; negative if the key comes after it."""
    first = src_len - tgt_len if first is None else first
    return first + np.arange(tgt_len)[:, None] - np.arange(src_len)


def _distances(tgt_len, src_len, first=None):
    return abs(_offsets(tgt_len, src_len, first))


def _of(penalty):
    """Return a bias that is, in every head, this function of its slope and the offsets."""

    def bias(slopes, tgt_len, src_len):
        return penalty(slopes[:, None, None], _offsets(tgt_len, src_len).astype(float))

    return bias


def _from_the_start(slopes, tgt_len, src_len):
    return -slopes[:, None, None] * _distances(tgt_len, src_len, first=0)


def _reward_from_the_start(slopes, tgt_len, src_len):
    return -_from_the_start(slopes, tgt_len, src_len)


def _square_only(slopes, tgt_len, src_len):
    return alibi_bias(slopes, src_len, src_len)


def _own_slopes(slopes, tgt_len, src_len):
    n_heads = len(slopes)
    return alibi_bias(2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads), tgt_len, src_len)


def _without_future(slopes, tgt_len, src_len):
    bias = alibi_bias(slopes, tgt_len, src_len)
    return np.where(_offsets(tgt_len, src_len) < 0, -np.inf, bias)


def _changed(change):
    return lambda slopes, tgt_len, src_len: change(alibi_bias(slopes, tgt_len, src_len))


def _one_slope(slopes, tgt_len, src_len):
    return np.repeat(alibi_bias(slopes[:1], tgt_len, src_len), len(slopes), axis=0)


def _shifted(by):
    def bias(slopes, tgt_len, src_len):
        return -slopes[:, None, None] * _distances(tgt_len, src_len, by(tgt_len, src_len))

    return bias


def _place_of_the_key(slopes, tgt_len, src_len):
    places = slopes[:, None, None] * np.arange(src_len)
    return np.broadcast_to(places, (len(slopes), tgt_len, src_len)).copy()


MISTAKES = {
    "reward": (_of(lambda m, offset: m * abs(offset)), _reward_from_the_start),
    "signed_distance": (_of(lambda m, offset: -m * offset), _of(lambda m, offset: m * offset)),
    "free_future": (_of(lambda m, offset: -m * np.maximum(offset, 0)),),
    "future_masked": (_without_future,),
    "queries_from_the_start": (_from_the_start,),
    "square_only": (_square_only,),
    "keys_by_queries": (_changed(lambda bias: bias.swapaxes(1, 2).copy()),),
    "heads_last": (_changed(lambda bias: np.moveaxis(bias, 0, -1).copy()),),
    "heads_merged": (
        _changed(lambda bias: bias.sum(axis=0)),
        _changed(lambda bias: bias.mean(axis=0)),
        _changed(lambda bias: bias[0].copy()),
    ),
    "own_slopes": (_own_slopes,),
    "divided": (_of(lambda m, offset: -abs(offset) / m),),
    "squared": (_of(lambda m, offset: -m * offset**2),),
    "logarithm": (_of(lambda m, offset: -m * np.log1p(abs(offset))),),
    "one_step_too_many": (_of(lambda m, offset: -m * (abs(offset) + 1)),),
    "exponential": (_of(lambda m, offset: np.exp(-m * abs(offset))),),
    "share_of_length": (_of(lambda m, offset: -m * abs(offset) / offset.shape[-1]),),
    "one_slope": (_one_slope,),
    "power_of_the_slope": (_of(lambda m, offset: -(m ** abs(offset))),),
    "queries_before_the_keys": (_shifted(lambda n, m: n - m),),
    "place_of_the_key": (_place_of_the_key,),
    "one_place_off": (
        _shifted(lambda n, m: m - n + 1),
        _shifted(lambda n, m: m - n - 1),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("bias",), alibi_bias, cases, MISTAKES)
