"""Chapter 12, `normed_scores`: scores of queries and keys that were normalised, and how to get them wrong."""

import math

import numpy as np

from attn.reference import softmax
from attn_course.exercises.spec import Exercise

EPS = 1e-5


def normed_scores(query, key, query_gain, key_gain):
    """Return the scaled products of queries and keys, each normalised by RMSNorm within its head.

    Parameters
    ----------
    query : array, shape (..., n_queries, d_k)
    key : array, shape (..., n_keys, d_k)
    query_gain, key_gain : array, shape (d_k,)

    Returns
    -------
    array, shape (..., n_queries, n_keys)

    References
    ----------
    Zhang and Sennrich (2019), Root Mean Square Layer Normalization, Eq. 4; Henry et al. (2020),
    Query-Key Normalization for Transformers, for the place.
    """
    return _scaled(query_gain * _divided(query), key_gain * _divided(key))


def cases(seed):
    """Return one head, several, and batches; with vectors of zeros, tiny, and far from zero.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key``, ``query_gain`` and ``key_gain``.
    """
    rng = np.random.default_rng(seed)

    def draw(*heads, n, m, d_k, scale=1.0, shift=0.5):
        sizes = np.exp(
            rng.uniform(-1, 1, (2, *heads, n + m, 1))
        )  # no two vectors are alike in size
        return {
            "query": scale * sizes[0, ..., :n, :] * (rng.normal(size=(*heads, n, d_k)) + shift),
            "key": scale * sizes[1, ..., n:, :] * (rng.normal(size=(*heads, m, d_k)) + shift),
            "query_gain": rng.uniform(0.4, 1.6, d_k),
            "key_gain": rng.uniform(0.4, 1.6, d_k),
        }

    zeros = draw(n=3, m=4, d_k=4)
    zeros["key"][1] = 0.0
    return [
        draw(n=2, m=3, d_k=4),
        draw(n=4, m=3, d_k=3),
        draw(n=4, m=4, d_k=4),
        draw(n=2, m=3, d_k=5, scale=0.004),
        draw(n=3, m=2, d_k=6, scale=30.0, shift=3.0),
        zeros,
        draw(2, n=3, m=4, d_k=4),
        draw(3, n=3, m=3, d_k=5),
        draw(2, 3, n=2, m=4, d_k=3),
    ]


def _divided(x, axis=-1, *, inside=EPS, outside=0.0):
    return x / (np.sqrt((x**2).mean(axis=axis, keepdims=True) + inside) + outside)


def _scaled(query, key):
    return query @ key.mT / np.sqrt(query.shape[-1])


def _with(norm=_divided, score=_scaled):
    def wrong(query, key, query_gain, key_gain):
        return score(query_gain * norm(query), key_gain * norm(key))

    return wrong


def _eps(**options):
    return _with(lambda x: _divided(x, **options))


def _layer_norm(x):
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + EPS)


def _after_the_product(query, key, query_gain, key_gain):
    return _divided(_scaled(query_gain * query, key_gain * key))


def _gain_inside(query, key, query_gain, key_gain):
    return _scaled(_divided(query_gain * query), _divided(key_gain * key))


def _by_hand(x):
    """Divide by the root of the mean of the squares, and leave vectors of zeros as they are."""
    size = np.sqrt((x**2).mean(axis=-1, keepdims=True))
    return x / np.where(size == 0, 1, size)


def _not_transposed(query, key, query_gain, key_gain):
    query, key = query_gain * _divided(query), key_gain * _divided(key)
    return query @ key / np.sqrt(query.shape[-1])


def _matrix_only(query, key, query_gain, key_gain):
    _n_queries, _d_k = query.shape
    return normed_scores(query, key, query_gain, key_gain)


def _divided_by(divisor):
    return lambda query, key: query @ key.mT / divisor(query, key)


def _gain_by_matmul(query, key, query_gain, key_gain):
    q, k = _divided(query) @ query_gain, _divided(key) @ key_gain
    return q[..., :, None] * k[..., None, :] / np.sqrt(query.shape[-1])


MISTAKES = {
    "query_only": (
        lambda query, key, g, h: _scaled(g * _divided(query), h * key),
        lambda query, key, g, h: _scaled(g * _divided(query), key),
    ),
    "key_only": (
        lambda query, key, g, h: _scaled(g * query, h * _divided(key)),
        lambda query, key, g, h: _scaled(query, h * _divided(key)),
    ),
    "plain": (lambda query, key, g, h: _scaled(query, key),),
    "not_normalised": (lambda query, key, g, h: _scaled(g * query, h * key),),
    "after_the_product": (_after_the_product,),
    "layer_norm": (_with(_layer_norm),),
    "by_length": (
        _with(lambda x: x / np.sqrt((x**2).sum(axis=-1, keepdims=True) + EPS)),
        _with(lambda x: x / (np.linalg.norm(x, axis=-1, keepdims=True) + 1e-300)),
    ),
    "cosine": (
        _with(
            lambda x: x / np.sqrt((x**2).sum(axis=-1, keepdims=True) + EPS),
            lambda query, key: query @ key.mT,
        ),
        _with(
            lambda x: x / (np.linalg.norm(x, axis=-1, keepdims=True) + 1e-300),
            lambda query, key: query @ key.mT,
        ),
    ),
    "by_deviation": (
        _with(lambda x: x / (x.std(axis=-1, keepdims=True) + EPS)),
        _with(lambda x: x / np.sqrt(x.var(axis=-1, keepdims=True) + EPS)),
    ),
    "one_less": (
        _with(lambda x: x / np.sqrt((x**2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1) + EPS)),
    ),
    "square_of_the_mean": (
        _with(lambda x: x / np.sqrt(x.mean(axis=-1, keepdims=True) ** 2 + EPS)),
    ),
    "by_the_largest": (_with(lambda x: x / (np.abs(x).max(axis=-1, keepdims=True) + EPS)),),
    "without_root": (_with(lambda x: x / ((x**2).mean(axis=-1, keepdims=True) + EPS)),),
    "mean_of_sizes": (_with(lambda x: x / (np.abs(x).mean(axis=-1, keepdims=True) + EPS)),),
    "no_eps": (_eps(inside=0.0),),
    "eps_by_hand": (_with(_by_hand),),
    "eps_outside": (_eps(inside=0.0, outside=EPS),),
    "other_eps": (_eps(inside=1e-6), _eps(inside=1e-8), _eps(inside=1e-3)),
    "over_the_tokens": (
        _eps(axis=-2),
        _with(lambda x: x / np.sqrt((x**2).mean(axis=0) + EPS)),
    ),
    "over_everything": (_eps(axis=None),),
    "gains_dropped": (lambda query, key, g, h: _scaled(_divided(query), _divided(key)),),
    "one_gain_dropped": (
        lambda query, key, g, h: _scaled(g * _divided(query), _divided(key)),
        lambda query, key, g, h: _scaled(_divided(query), h * _divided(key)),
        lambda query, key, g, h: normed_scores(query, key, g, g),
    ),
    "gain_inside": (_gain_inside,),
    "gain_below": (
        lambda query, key, g, h: _scaled(_divided(query) / g, _divided(key) / h),
        lambda query, key, g, h: _scaled(
            query / np.sqrt(((g * query) ** 2).mean(axis=-1, keepdims=True) + EPS),
            key / np.sqrt(((h * key) ** 2).mean(axis=-1, keepdims=True) + EPS),
        ),
    ),
    "one_plus_gain": (lambda query, key, g, h: normed_scores(query, key, 1 + g, 1 + h),),
    "gain_added": (lambda query, key, g, h: _scaled(_divided(query) + g, _divided(key) + h),),
    "unscaled": (_with(score=lambda query, key: query @ key.mT),),
    "scaled_by_d_k": (_with(score=lambda query, key: query @ key.mT / query.shape[-1]),),
    "softmax_applied": (_with(score=lambda query, key: softmax(_scaled(query, key))),),
    "root_rounded": tuple(
        _with(score=_divided_by(lambda q, k, whole=whole: whole(math.sqrt(q.shape[-1]))))
        for whole in (int, round, math.ceil)
    ),
    "scaled_by_length": (
        _with(score=_divided_by(lambda q, k: np.sqrt(k.shape[-2]))),
        _with(score=_divided_by(lambda q, k: np.sqrt(q.shape[-2]))),
        _with(score=_divided_by(lambda q, k: np.sqrt(len(k)))),
        _with(score=_divided_by(lambda q, k: np.sqrt(len(q)))),
        _with(score=_divided_by(lambda q, k: np.sqrt(q.size))),
    ),
    "multiplied_by_root": (_with(score=_divided_by(lambda q, k: 1 / np.sqrt(q.shape[-1]))),),
    "gain_by_matmul": (_gain_by_matmul,),
    "key_not_transposed": (_not_transposed,),
    "keys_by_queries": (lambda *arguments: normed_scores(*arguments).mT,),
    "matrix_only": (
        _matrix_only,
        _with(score=lambda query, key: query @ key.T / np.sqrt(query.shape[-1])),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("scores",), normed_scores, cases, MISTAKES)
