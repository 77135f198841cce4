"""Problem set 6, `relative_scores`: a vector for each distance, and one for all beyond."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import softmax


def relative_scores(query, key, table):
    """Return the scaled scores of keys to which the vector of their distance is added.

    Shaw, Uszkoreit and Vaswani (2018), section 3.
    """
    vectors = table[_rows(query, table)]
    content = query @ key.mT
    return (content + np.einsum("...id,ijd->...ij", query, vectors)) / np.sqrt(query.shape[-1])


def cases(seed):
    """Return queries, keys and tables: every distance in the table, distances beyond, batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key`` and ``table``.
    """
    rng = np.random.default_rng(seed)

    def draw(seq_len, d_k, farthest, batch=()):
        return {
            "query": rng.uniform(-1, 1, (*batch, seq_len, d_k)),
            "key": rng.uniform(-1, 1, (*batch, seq_len, d_k)),
            "table": rng.uniform(-1, 1, (2 * farthest + 1, d_k)),
        }

    return [
        draw(2, 3, 2),
        draw(3, 2, 3),
        draw(4, 6, 5),
        draw(4, 2, 1),
        draw(6, 3, 2),
        draw(5, 4, 3, batch=(2,)),
        draw(4, 4, 1, batch=(4,)),
        draw(3, 5, 4, batch=(2, 3)),
    ]


def _offsets(query):
    """Return how far after its query each key stands; negative if it comes before."""
    place = np.arange(query.shape[-2])
    return place - place[:, None]


def _rows(query, table):
    farthest = len(table) // 2
    return np.clip(_offsets(query), -farthest, farthest) + farthest


def _with(
    rows=_rows,
    content=lambda query, key: query @ key.mT,
    position=lambda query, key, vectors: np.einsum("...id,ijd->...ij", query, vectors),
    scale=np.sqrt,
):
    """Return the scores with one of their ingredients exchanged for another."""

    def scores(query, key, table):
        total = content(query, key) + position(query, key, table[rows(query, table)])
        return total / scale(query.shape[-1])

    return scores


def _clipped(change):
    """Return the rows of the table when something is done to the offsets."""

    def rows(query, table):
        farthest = len(table) // 2
        return np.clip(change(_offsets(query), farthest), -farthest, farthest) + farthest

    return rows


def _no_middle(query, table):
    farthest = len(table) // 2
    return np.clip(_offsets(query), -farthest, farthest)


def _middle_of_the_sentence(query, table):
    return np.clip(_offsets(query) + query.shape[-2] - 1, 0, len(table) - 1)


def _unclipped(query, table):
    return _offsets(query) + len(table) // 2


def _wrapped(query, table):
    return _unclipped(query, table) % len(table)


def _nothing_beyond(query, key, table):
    reached = np.abs(_offsets(query)) <= len(table) // 2
    vectors = np.where(reached[..., None], table[_rows(query, table)], 0)
    position = np.einsum("...id,ijd->...ij", query, vectors)
    return (query @ key.mT + position) / np.sqrt(query.shape[-1])


def _forbidden_beyond(query, key, table):
    reached = np.abs(_offsets(query)) <= len(table) // 2
    return np.where(reached, relative_scores(query, key, table), -np.inf)


def _one_short(query, table):
    farthest = len(table) // 2
    return np.clip(_offsets(query), -farthest + 1, farthest - 1) + farthest


def _scaled_in_part(query, key, table):
    position = np.einsum("...id,ijd->...ij", query, table[_rows(query, table)])
    return query @ key.mT / np.sqrt(query.shape[-1]) + position


def _all_axes_transposed(query, key, table):
    position = np.einsum("...id,ijd->...ij", query, table[_rows(query, table)])
    return (query @ key.T + position) / np.sqrt(query.shape[-1])


def _matrix_only(query, key, table):
    _n_queries, _d_k = query.shape
    return relative_scores(query, key, table)


def _bias(query, key, vectors):
    return vectors.sum(axis=-1)


MISCONCEPTIONS = (
    Misconception(
        "direction_reversed",
        (_with(rows=_clipped(lambda offset, farthest: -offset)),),
        {
            "es": "Antes y después están cambiados: para la key que viene detrás tomas la fila de "
            "la que va delante. El desplazamiento es `j - i`, la key menos la query.",
            "en": "Before and after are exchanged: for the key that comes later you take the row "
            "of the one that comes earlier. The offset is `j - i`, the key minus the query.",
        },
    ),
    Misconception(
        "no_direction",
        (_with(rows=_clipped(lambda offset, farthest: np.abs(offset))),),
        {
            "es": "Tomas la distancia sin signo, así que media tabla no se usa nunca y la palabra "
            "anterior vale lo mismo que la siguiente. Conserva el signo de `j - i`.",
            "en": "You take the distance without its sign, so half the table is never used and the "
            "word before counts the same as the word after. Keep the sign of `j - i`.",
        },
    ),
    Misconception(
        "middle_forgotten",
        (_with(rows=_no_middle),),
        {
            "es": "El desplazamiento 0 está en la fila K de la tabla, la de en medio, y tú lees la "
            "fila 0. Con un índice negativo NumPy cuenta desde el final sin avisar: suma K.",
            "en": "Offset 0 is in row K of the table, the one in the middle, and you read row 0. "
            "Given a negative index NumPy counts from the end without a word: add K.",
        },
    ),
    Misconception(
        "middle_of_the_sentence",
        (_with(rows=_middle_of_the_sentence),),
        {
            "es": "Sumas n − 1, que depende de la oración. El centro de la tabla es suyo, la fila "
            "K: de otro modo un mismo desplazamiento cambia de vector con la longitud.",
            "en": "You add n − 1, which depends on the sentence. The middle of the table is its "
            "own, row K: otherwise the same offset changes vector with the length.",
        },
    ),
    Misconception(
        "unclipped",
        (_with(rows=_unclipped), _with(rows=_wrapped)),
        {
            "es": "Con desplazamientos mayores que K te sales de la tabla: por arriba NumPy se "
            "detiene, por abajo da la vuelta. Recórtalos antes entre −K y K: `np.clip`.",
            "en": "With offsets larger than K you leave the table: at the top NumPy stops, at the "
            "bottom it wraps round. Clip them first between −K and K: `np.clip`.",
        },
    ),
    Misconception(
        "nothing_beyond",
        (_nothing_beyond,),
        {
            "es": "Más allá de K no sumas ningún vector. Lo que está a K + 1 pasos no se queda sin "
            "posición: usa el último vector de su lado, el de K.",
            "en": "Beyond K you add no vector. What stands K + 1 steps away is not left without a "
            "position: it uses the last vector on its side, that of K.",
        },
    ),
    Misconception(
        "forbidden_beyond",
        (_forbidden_beyond,),
        {
            "es": "Prohíbes las keys que están a más de K pasos. Eso sería una ventana; aquí se "
            "ven todas, y las lejanas comparten el vector de K.",
            "en": "You forbid the keys more than K steps away. That would be a window; here all "
            "are seen, and the distant ones share the vector of K.",
        },
    ),
    Misconception(
        "one_row_short",
        (_with(rows=_one_short),),
        {
            "es": "Recortas en K − 1, y la primera y la última fila no se usan. La tabla tiene "
            "2K + 1 filas: K antes, K después y la de en medio.",
            "en": "You clip at K − 1, and the first and the last row go unused. The table has "
            "2K + 1 rows: K before, K after and the one in the middle.",
        },
    ),
    Misconception(
        "content_only",
        (_with(position=lambda query, key, vectors: 0),),
        {
            "es": "La tabla no interviene: son los puntajes de siempre, que no saben nada del "
            "orden. Falta el producto de cada query con el vector del desplazamiento.",
            "en": "The table plays no part: these are the usual scores, which know nothing of "
            "order. The product of each query with the vector of the offset is missing.",
        },
    ),
    Misconception(
        "position_only",
        (_with(content=lambda query, key: 0),),
        {
            "es": "Solo queda la posición: la key desaparece de tus puntajes. El vector de la "
            "tabla se suma a la key, no la sustituye.",
            "en": "Only position is left: the key vanishes from your scores. The vector of the "
            "table is added to the key, it does not replace it.",
        },
    ),
    Misconception(
        "added_to_the_query",
        (_with(position=lambda q, key, vectors: np.einsum("...jd,ijd->...ij", key, vectors)),),
        {
            "es": "Sumas el vector a la query, y es la key quien lo multiplica. Va con la key, así "
            "que quien pregunta por él es la query: la suma recorre las componentes de `query[i]`.",
            "en": "You add the vector to the query, so it is the key that multiplies it. It goes "
            "with the key, so the one who asks for it is the query: the sum runs over the "
            "components of `query[i]`.",
        },
    ),
    Misconception(
        "vector_summed",
        (_with(position=_bias),),
        {
            "es": "Añades la suma de las componentes del vector, la misma para cualquier query. "
            "Cada query lo lee a su manera: multiplícalas antes de sumar.",
            "en": "You add the sum of the components of the vector, the same for any query. Each "
            "query reads it in its own way: multiply by them before you sum.",
        },
    ),
    Misconception(
        "unscaled",
        (_with(scale=lambda d_k: 1), _scaled_in_part),
        {
            "es": "La parte de la posición no se divide entre √d_k, o no se divide nada. Las dos "
            "partes son productos de d_k componentes: suma primero y divide el total.",
            "en": "The part of the position is not divided by √d_k, or nothing is. Both parts are "
            "products of d_k components: add first, then divide the total.",
        },
    ),
    Misconception(
        "scaled_by_d_k",
        (_with(scale=lambda d_k: d_k),),
        {
            "es": "Divides entre d_k sin la raíz. Nada se detiene, pero los puntajes quedan "
            "demasiado pequeños y los pesos, demasiado parejos.",
            "en": "You divide by d_k without the root. Nothing stops, but the scores come out "
            "too small and the weights too even.",
        },
    ),
    Misconception(
        "transposed",
        (_with(lambda q, t: _rows(q, t).T, lambda q, k: k @ q.mT,
               lambda q, k, v: np.einsum("...jd,ijd->...ij", q, v)),),
        {
            "es": "Tu matriz está tumbada: cada fila es una key. Los puntajes llevan una fila por "
            "query y una columna por key.",
            "en": "Your matrix lies on its side: each row is a key. Scores have a row per query "
            "and a column per key.",
        },
    ),
    Misconception(
        "weights_instead",
        (lambda query, key, table: softmax(relative_scores(query, key, table)),),
        {
            "es": "Devuelves pesos: ya pasaste los puntajes por la softmax. Se piden los puntajes, "
            "que todavía admiten una máscara.",
            "en": "You return weights: you have put the scores through the softmax already. The "
            "scores are asked for, which can still take a mask.",
        },
    ),
    Misconception(
        "matrix_only",
        (_matrix_only, _all_axes_transposed),
        {
            "es": "Con una oración aciertas; con un lote, no. Transpón solo los dos últimos ejes "
            "de `key`, y deja unos puntos suspensivos delante en `einsum`.",
            "en": "You are right on one sentence and not on a batch. Transpose only the last two "
            "axes of `key`, and leave an ellipsis in front in `einsum`.",
        },
    ),
)  # fmt: skip

EXERCISE = Exercise(
    "relative_scores",
    7,
    ("scores",),
    relative_scores,
    cases,
    MISCONCEPTIONS,
    problem_set="ps6",
)
