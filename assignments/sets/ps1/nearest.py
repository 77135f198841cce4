"""Problem set 1, `nearest`: the words most like another, and the ways to get them wrong."""

import numpy as np

from attn.reference import cosine_similarity
from attn_course.exercises.spec import Exercise


def nearest(vectors, query, k):
    """Return the ids of the k vectors most similar to each query, and the similarities."""
    similarity = cosine_similarity(query[..., None, :], vectors)[..., 0, :]
    return best(similarity, k)


def best(similarity, k):
    """Return the k largest of each row, the lower id first where they tie."""
    ids = np.argsort(-similarity, axis=-1, kind="stable")[..., :k]
    return ids, np.take_along_axis(similarity, ids, axis=-1)


def cases(seed):
    """Return vectors to search: single queries, ties, vectors of zeros, batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``vectors``, ``query`` and ``k``.
    """
    rng = np.random.default_rng(seed)

    def draw(n, d, k, *batch):
        while True:
            # Lengths differ, so that a vector with a large product need not be a similar one.
            vectors = rng.normal(size=(n, d)) * rng.uniform(0.3, 4, (n, 1))
            query = rng.normal(size=(*batch, d)) * (0.2 if n % 2 else 1.7)
            case = {"vectors": vectors, "query": query, "k": np.array(k)}
            if _tells_apart(case):
                return case

    def tied(n, k):
        # Whole numbers and powers of two, so that equal cosines are equal in any order of
        # operations.
        while True:
            vectors = rng.choice([-1.0, 1.0], (n, 4)) * 2.0 ** rng.integers(-1, 3, (n, 1))
            query = rng.choice([-1.0, 1.0], 4) * 2
            case = {"vectors": vectors, "query": query, "k": np.array(k)}
            similarity = cosine_similarity(query[None], vectors)[0]
            first = nearest(**case)[0]
            backwards = np.argsort(similarity, kind="stable")[::-1][:k]
            if set(first.tolist()) != set(backwards.tolist()) and _tells_apart(case):
                return case

    def with_zeros(n, d, k):
        while True:
            case = draw(n, d, k)
            case["vectors"][rng.integers(n)] = 0
            if (nearest(**case)[1] == 0).any():
                return case

    lost = draw(5, 3, 3)
    lost["query"][:] = 0  # alike to nothing: the lowest ids
    return [
        lost,
        draw(4, 3, 2),
        draw(6, 4, 3),
        draw(7, 3, 4),
        draw(5, 6, 1),
        # Among many, a sort that is not stable mixes ties up; among few, not on every machine.
        tied(8, 3),
        tied(60, 30),
        with_zeros(6, 3, 5),
        with_zeros(7, 4, 6),
        draw(6, 3, 2, 4),
        draw(5, 4, 3, 2, 3),
        draw(*rng.integers((7, 3, 2), (13, 6, 6))),
    ]


def _tells_apart(case):
    """Return whether lengths matter: products and distances must rank otherwise than cosines."""
    right = nearest(**case)[0]
    return not any(
        np.array_equal(wrong(**case)[0], right) for wrong in (_product, _distance, _columns)
    )


# The wrong functions.


def lengths_of(x, axis=-1):
    length = np.linalg.norm(x, axis=axis, keepdims=True)
    return np.where(length == 0, 1, length)


def _dot(query, vectors):
    return (query[..., None, :] @ vectors.mT)[..., 0, :]


def _product(vectors, query, k):
    return best(_dot(query, vectors), k)


def _distance(vectors, query, k):
    distance = np.linalg.norm(query[..., None, :] - vectors, axis=-1)
    ids = best(-distance, k)[0]
    similarity = cosine_similarity(query[..., None, :], vectors)[..., 0, :]
    return ids, np.take_along_axis(similarity, ids, axis=-1)


def _distance_returned(vectors, query, k):
    ids, distance = best(-np.linalg.norm(query[..., None, :] - vectors, axis=-1), k)
    return ids, -distance


def _columns(vectors, query, k):
    return best(_dot(query / lengths_of(query), vectors / lengths_of(vectors, axis=0)), k)


def _of(change):
    """Return a function that changes the right similarities before it takes the best."""

    def wrong(vectors, query, k):
        return change(cosine_similarity(query[..., None, :], vectors)[..., 0, :], int(k))

    return wrong


def _take(similarity, ids):
    return ids, np.take_along_axis(similarity, ids, axis=-1)


def _reversed(similarity, k):
    return _take(similarity, np.argsort(similarity, axis=-1, kind="stable")[..., ::-1][..., :k])


def _by_id(similarity, k):
    ids = np.sort(np.argsort(-similarity, axis=-1, kind="stable")[..., :k], axis=-1)
    return _take(similarity, ids)


def _farthest(similarity, k):
    return _take(similarity, np.argsort(similarity, axis=-1, kind="stable")[..., :k])


def _ascending(similarity, k):
    ids = np.argsort(-similarity, axis=-1, kind="stable")[..., :k]
    return _take(similarity, ids[..., ::-1])


def _last_ascending(similarity, k):
    return _take(similarity, np.argsort(similarity, axis=-1, kind="stable")[..., -k:])


def _absolute(similarity, k):
    return best(np.abs(similarity), k)


def _absolute_order(similarity, k):
    return _take(similarity, np.argsort(-np.abs(similarity), axis=-1, kind="stable")[..., :k])


def _skips_first(similarity, k):
    ids = np.argsort(-similarity, axis=-1, kind="stable")[..., 1 : k + 1]
    return _take(similarity, ids)


def _first_similarities(similarity, k):
    ids = np.argsort(-similarity, axis=-1, kind="stable")[..., :k]
    return ids, similarity[..., :k]


def _sorted_apart(vectors, query, k):
    with np.errstate(all="ignore"):
        length = np.linalg.norm(query, axis=-1)[..., None] * np.linalg.norm(vectors, axis=-1)
        return best(_dot(query, vectors) / length, k)


def _one_query(vectors, query, k):
    if query.ndim != 1:
        raise ValueError("operands could not be broadcast together")
    return nearest(vectors, query, k)


MISTAKES = {
    "dot_product": (_product, lambda v, q, k: best(_dot(q / lengths_of(q), v), k)),
    "query_not_divided": (lambda v, q, k: best(_dot(q, v / lengths_of(v)), k),),
    "distance": (_distance, _distance_returned),
    "columns_divided": (_columns,),
    "one_length_for_all": (
        lambda v, q, k: best(_dot(q / lengths_of(q), v) / np.linalg.norm(v), k),
    ),
    "farthest": (_of(_farthest),),
    "ascending": (_of(_ascending), _of(_last_ascending)),
    "by_id": (_of(_by_id),),
    "ties_reversed": (_of(_reversed),),
    "absolute_value": (_of(_absolute), _of(_absolute_order)),
    "first_skipped": (_of(_skips_first),),
    "similarities_unsorted": (_of(_first_similarities),),
    "zero_vector": (_sorted_apart,),
    "one_query_only": (_one_query,),
}

EXERCISE = Exercise.from_file(__file__, ("ids", "similarities"), nearest, cases, MISTAKES)
