"""Chapter 1, `attention_pooling`, and the ways to get it wrong."""

import numpy as np

from attn.reference import attention_pooling, softmax
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return inputs for pooling: alone and in batches, some with large scores.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key`` and ``value``.
    """
    rng = np.random.default_rng(seed)

    def draw(src_len, d_k, d_v, batch=()):
        return {
            "query": rng.uniform(0.4, 1, d_k) * rng.choice([-1, 1], d_k),
            "key": rng.uniform(-0.6, 0.6, (*batch, src_len, d_k)),
            "value": rng.normal(size=(*batch, src_len, d_v)),
        }

    large = draw(4, 3, 5)
    large["query"][0], large["key"][:, 0] = 1000, 1  # every score grows by 1000
    uneven = draw(3, 4, 5, batch=(2,))
    uneven["query"][0], uneven["key"][..., 0] = 1000, [[1], [0]]  # the scores of one input only
    return [
        draw(2, 3, 4),
        draw(3, 4, 2),
        draw(5, 2, 3),
        draw(7, 3, 6),
        large,
        draw(3, 4, 5, batch=(2,)),
        draw(4, 5, 6, batch=(2, 3)),
        uneven,
    ]


def _pool(weigh, scores=lambda query, key: key @ query):
    def pooling(query, key, value):
        weights = weigh(scores(query, key))
        return np.einsum("...j,...jd->...d", weights, value), weights

    return pooling


def _one_hot(scores):
    return (np.arange(scores.shape[-1]) == scores.argmax(axis=-1)[..., None]).astype(float)


def _one_largest(scores):
    return _sum_to_one(np.exp(scores - scores.max()))


def _sum_to_one(scores):
    return scores / scores.sum(axis=-1, keepdims=True)


def _cosine(query, key):
    return key @ query / np.linalg.norm(key, axis=-1) / np.linalg.norm(query)


def _unit(scores):
    return scores / np.linalg.norm(scores, axis=-1, keepdims=True)


def _returning(result):
    def pooling(query, key, value):
        output, weights = attention_pooling(query, key, value)
        return result(output, weights, key, value)

    return pooling


def _transposed(query, key, value):
    weights = softmax(query @ key.T)
    return weights @ value, weights


MISTAKES = {
    "uniform": (_pool(lambda scores: np.full_like(scores, 1 / scores.shape[-1])),),
    "scores_as_weights": (_pool(lambda scores: scores),),
    "divided_by_their_sum": (_pool(_sum_to_one),),
    "not_normalised": (_pool(np.exp),),
    "over_the_batch": (_pool(lambda scores: softmax(scores, axis=0)),),
    "one_sum_for_all": (_pool(lambda s: np.exp(s - s.max()) / np.exp(s - s.max()).sum()),),
    "overflowing": (_pool(lambda s: np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True)),),
    "one_maximum_for_all": (_pool(_one_largest),),
    "only_the_best": (
        _pool(_one_hot),
        lambda q, k, v: (_pool(_one_hot)(q, k, v)[0], softmax(k @ q)),
    ),
    "unit_length": (_pool(_unit), _pool(lambda s: _unit(np.exp(s - s.max(-1, keepdims=True))))),
    "distance_scores": (
        _pool(softmax, lambda q, k: -((k - q) ** 2).sum(axis=-1)),
        _pool(softmax, lambda q, k: -np.linalg.norm(k - q, axis=-1)),
    ),
    "mean_of_keys": (_returning(lambda output, w, k, v: (np.einsum("...j,...jd->...d", w, k), w)),),
    "scaled": (_pool(softmax, lambda q, k: k @ q / np.sqrt(len(q))),),
    "divided_by_n": (_returning(lambda output, w, k, v: (output / w.shape[-1], w)),),
    "least_similar": (_pool(softmax, lambda q, k: -(k @ q)),),
    "cosine": (_pool(softmax, _cosine),),
    "batch_mixed": (_returning(lambda output, w, k, v: (w @ v, w)),),
    "key_transposed": (_transposed,),
    "scores_returned": (
        lambda query, key, value: (attention_pooling(query, key, value)[0], key @ query),
    ),
    "components_summed": (
        _returning(lambda output, w, k, v: ((w[..., None] * v).sum(axis=-1), w)),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("output", "weights"), attention_pooling, cases, MISTAKES)
