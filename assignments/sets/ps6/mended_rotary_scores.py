"""Problem set 6, `mended_rotary_scores`: rotary positions that turn too slowly, and wrong repairs."""

import numpy as np

from attn.reference import rotary
from attn_course.exercises.spec import Exercise


def mended_rotary_scores(query, key, base):
    """Return the scaled scores of queries and keys, each turned by its position."""
    return _scores(rotary(query, base=base), rotary(key, base=base))


def cases(seed):
    """Return queries and keys: one sentence, and several.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key`` and ``base``.
    """
    rng = np.random.default_rng(seed)
    shapes = [(3, 4), (4, 6), (6, 4), (5, 8), (2, 3, 4), (3, 3, 6), (2, 3, 5, 4)]
    shapes.append((rng.integers(3, 7), 2 * rng.integers(2, 5)))
    return [
        {
            "query": rng.uniform(-1, 1, shape),
            "key": rng.uniform(-1, 1, shape),
            "base": np.float64(rng.uniform(30, 300)),
        }
        for shape in shapes
    ]


def _scores(query, key):
    return query @ key.mT / np.sqrt(query.shape[-1])


def _turned(x, speeds, positions):
    angles = positions[:, None] * speeds
    even, odd, cos, sin = x[..., 0::2], x[..., 1::2], np.cos(angles), np.sin(angles)
    return np.concatenate([even * cos - odd * sin, even * sin + odd * cos], axis=-1)


def _with(
    exponents=lambda d: np.arange(0, d, 2) / d,
    base=lambda base: base,
    query_sign=1,
    key_sign=1,
    score=_scores,
    scale=1.0,
):
    """Return the scores with one of their ingredients exchanged for another."""

    def scores(query, key, number):
        speeds = scale * base(number) ** -exponents(query.shape[-1])
        place = np.arange(query.shape[-2])
        turned = (
            _turned(x, speeds, sign * place) for x, sign in ((query, query_sign), (key, key_sign))
        )
        return score(*turned)

    return scores


def _no_minus(query, key, base):
    def stretched(x):
        angles = np.arange(x.shape[-2])[:, None] * base ** -(
            np.arange(0, x.shape[-1], 2) / x.shape[-1]
        )
        even, odd, cos, sin = x[..., 0::2], x[..., 1::2], np.cos(angles), np.sin(angles)
        return np.concatenate([even * cos + odd * sin, even * sin + odd * cos], axis=-1)

    return _scores(stretched(query), stretched(key))


def _in_halves(query, key, base):
    def halves(x):
        return np.stack(np.split(x, 2, axis=-1), axis=-1).reshape(x.shape)

    return mended_rotary_scores(halves(query), halves(key), base)


def _all_axes(query, key, base):
    query, key = rotary(query, base=base), rotary(key, base=base)
    return query @ key.T / np.sqrt(query.shape[-1])


def _matrix_only(query, key, base):
    _seq_len, _d_k = query.shape
    return mended_rotary_scores(query, key, base)


def _sentences_numbered(query, key, base):
    turned = (
        _turned(x, base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]), np.arange(len(x)))
        for x in (query, key)
    )
    return _scores(*turned)


MISTAKES = {
    "doubled_exponent": (_with(lambda d: 2 * np.arange(0, d, 2) / d),),
    "halved_exponent": (_with(lambda d: np.arange(d // 2) / d),),
    "one_speed": (_with(lambda d: np.zeros(d // 2)),),
    "exponent_positive": (_with(lambda d: -np.arange(0, d, 2) / d),),
    "base_fixed": (_with(base=lambda base: 10000.0),),
    "unscaled": (_with(score=lambda query, key: query @ key.mT),),
    "scaled_by_d_k": (_with(score=lambda query, key: query @ key.mT / query.shape[-1]),),
    "query_only": (_with(key_sign=0), _with(query_sign=0)),
    "turned_apart": (_with(key_sign=-1), _with(query_sign=-1)),
    "both_backwards": (_with(query_sign=-1, key_sign=-1),),
    "no_minus": (_no_minus,),
    "in_halves": (_in_halves,),
    "degrees": (_with(scale=np.pi / 180),),
    "matrix_only": (_all_axes, _matrix_only),
    "sentences_numbered": (_sentences_numbered,),
}

EXERCISE = Exercise.from_file(__file__, ("scores",), mended_rotary_scores, cases, MISTAKES)
