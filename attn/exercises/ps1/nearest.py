"""Problem set 1, `nearest`: the words most like another, and the ways to get them wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import cosine_similarity


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
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``vectors``, ``query`` and ``k``.
    """
    rng = np.random.default_rng(seed)

    def draw(n, d, k, *batch):
        while True:
            # Lengths that differ, so that a long vector is not for that a similar one.
            vectors = rng.normal(size=(n, d)) * rng.uniform(0.3, 4, (n, 1))
            query = rng.normal(size=(*batch, d)) * (0.2 if n % 2 else 1.7)
            case = {"vectors": vectors, "query": query, "k": np.array(k)}
            if _tells_apart(case):
                return case

    def tied(n, k):
        # Whole numbers and powers of two: whoever computes them, equal cosines come out equal.
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
        draw(4, 3, 2), draw(6, 4, 3), draw(7, 3, 4), draw(5, 6, 1),
        tied(8, 3), tied(9, 4),
        with_zeros(6, 3, 5), with_zeros(7, 4, 6),
        draw(6, 3, 2, 4), draw(5, 4, 3, 2, 3),
    ]  # fmt: skip


def _tells_apart(case):
    """Say whether lengths matter: products and distances must rank otherwise than cosines."""
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


MISCONCEPTIONS = (
    Misconception(
        "dot_product",
        (_product, lambda v, q, k: best(_dot(q / lengths_of(q), v), k)),
        {
            "es": "Ordenas por el producto punto, y un vector largo gana por largo, no por "
            "parecido. Divide también entre la longitud de cada vector.",
            "en": "You rank by the dot product, and a long vector wins for being long, not for "
            "being alike. Divide by the length of each vector as well.",
        },
    ),
    Misconception(
        "query_not_divided",
        (lambda v, q, k: best(_dot(q, v / lengths_of(v)), k),),
        {
            "es": "El orden es correcto, pero tus similitudes dependen de lo larga que es la "
            "query: el coseno se divide entre las dos longitudes.",
            "en": "The order is right, but your similarities depend on how long the query is: the "
            "cosine is divided by both lengths.",
        },
    ),
    Misconception(
        "distance",
        (_distance, _distance_returned),
        {
            "es": "Ordenas por distancia. Dos vectores con la misma dirección pueden estar lejos "
            "si uno es mucho más largo: lo que se pide es el coseno.",
            "en": "You rank by distance. Two vectors of one direction may be far apart if one is "
            "much longer: what is asked for is the cosine.",
        },
    ),
    Misconception(
        "columns_divided",
        (_columns,),
        {
            "es": "Tomas la longitud de cada columna, que es la de un rasgo. Cada palabra es una "
            "fila: su longitud se calcula sobre el último eje.",
            "en": "You take the length of each column, which is that of a feature. Each word is a "
            "row: its length is computed along the last axis.",
        },
    ),
    Misconception(
        "one_length_for_all",
        (lambda v, q, k: best(_dot(q / lengths_of(q), v) / np.linalg.norm(v), k),),
        {
            "es": "Divides entre la longitud de la matriz entera, un solo número, y el orden sigue "
            "siendo el de los productos. Cada vector se divide entre su propia longitud.",
            "en": "You divide by the length of the whole matrix, a single number, and the order is "
            "still that of the products. Each vector is divided by its own length.",
        },
    ),
    Misconception(
        "farthest",
        (_of(_farthest),),
        {
            "es": "Devuelves los menos parecidos: `argsort` ordena de menor a mayor. Ordena por "
            "la similitud cambiada de signo.",
            "en": "You return the least alike: `argsort` sorts from small to large. Sort by the "
            "similarity with its sign changed.",
        },
    ),
    Misconception(
        "ascending",
        (_of(_ascending), _of(_last_ascending)),
        {
            "es": "Los k son los debidos, pero empiezas por el menos parecido de ellos. Primero "
            "va el más parecido.",
            "en": "The k are the right ones, but you begin with the least alike of them. The most "
            "alike comes first.",
        },
    ),
    Misconception(
        "by_id",
        (_of(_by_id),),
        {
            "es": "Encuentras los k, pero quedan en orden de id. `np.argpartition` y las máscaras "
            "no ordenan por similitud: hazlo después.",
            "en": "You find the k, but they are left in the order of their ids. `np.argpartition` "
            "and masks do not sort by similarity: do it afterwards.",
        },
    ),
    Misconception(
        "ties_reversed",
        (_of(_reversed),),
        {
            "es": "Al dar la vuelta a `argsort` se dan la vuelta también los empates, y gana el "
            'id mayor. Ordena las similitudes negadas con `kind="stable"`.',
            "en": "Turning `argsort` round turns the ties round too, and the higher id wins. Sort "
            'the negated similarities with `kind="stable"`.',
        },
    ),
    Misconception(
        "absolute_value",
        (_of(_absolute), _of(_absolute_order)),
        {
            "es": "Tomas el valor absoluto: un coseno de −0.9 es casi lo contrario, no lo más "
            "parecido.",
            "en": "You take the absolute value: a cosine of −0.9 is almost the opposite, not the "
            "most alike.",
        },
    ),
    Misconception(
        "first_skipped",
        (_of(_skips_first),),
        {
            "es": "Saltas el primero, como si fuera la propia query. Aquí la query no tiene por "
            "qué ser una de las palabras: el más parecido cuenta.",
            "en": "You skip the first, as if it were the query itself. Here the query need not be "
            "one of the words: the most alike counts.",
        },
    ),
    Misconception(
        "similarities_unsorted",
        (_of(_first_similarities),),
        {
            "es": "Los ids son correctos, pero das las similitudes de las primeras k palabras. "
            "Toma las de esos ids, en ese orden.",
            "en": "The ids are right, but you give the similarities of the first k words. Take "
            "those of these ids, in that order.",
        },
    ),
    Misconception(
        "zero_vector",
        (_sorted_apart,),
        {
            "es": "Un vector de ceros tiene longitud 0, y 0/0 no es un número. Su similitud con "
            "cualquiera es 0: cambia la longitud 0 por 1 antes de dividir.",
            "en": "A vector of zeros has length 0, and 0/0 is not a number. Its similarity to "
            "anything is 0: replace length 0 by 1 before you divide.",
        },
    ),
    Misconception(
        "one_query_only",
        (_one_query,),
        {
            "es": "Funciona con una query y no con varias a la vez. Cuenta los ejes desde el "
            "final: el último es siempre el de los componentes.",
            "en": "It works on one query and not on several at once. Count axes from the end: the "
            "last is always that of the components.",
        },
    ),
)

EXERCISE = Exercise(
    "nearest", 2, ("ids", "similarities"), nearest, cases, MISCONCEPTIONS, problem_set="ps1"
)
