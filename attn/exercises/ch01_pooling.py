"""Chapter 1, `attention_pooling`, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import attention_pooling, softmax


def cases(seed):
    """Return inputs for pooling: alone and in batches, with large scores here and there.

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
    uneven["query"][0], uneven["key"][..., 0] = 1000, [[1], [0]]  # those of one input only
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


def _returning(result):
    def pooling(query, key, value):
        output, weights = attention_pooling(query, key, value)
        return result(output, weights, key, value)

    return pooling


def _transposed(query, key, value):
    weights = softmax(query @ key.T)
    return weights @ value, weights


MISCONCEPTIONS = (
    Misconception(
        "uniform",
        (_pool(lambda scores: np.full_like(scores, 1 / scores.shape[-1])),),
        {
            "es": "Todas las posiciones pesan 1/n: eso es la media corriente, que diluye lo que "
            "buscas. Los pesos salen de comparar cada key con la query: "
            "`softmax(key @ query)`.",
            "en": "Every position weighs 1/n: that is the plain mean, which dilutes what you look "
            "for. The weights come from comparing each key with the query: "
            "`softmax(key @ query)`.",
        },
    ),
    Misconception(
        "scores_as_weights",
        (_pool(lambda scores: scores),),
        {
            "es": "Usas los puntajes como pesos. Pueden ser negativos y no suman 1, así que el "
            "resultado no es una media de los values: pásalos antes por la softmax.",
            "en": "You use the scores as weights. They may be negative and do not sum to 1, so the "
            "result is no mean of the values: pass them through the softmax first.",
        },
    ),
    Misconception(
        "divided_by_their_sum",
        (_pool(_sum_to_one),),
        {
            "es": "Divides cada puntaje entre la suma de todos. Suman 1, pero un puntaje negativo "
            "da un peso negativo, y una suma cercana a 0 los dispara: aplica antes `np.exp`.",
            "en": "You divide each score by the sum of all. They sum to 1, but a negative score "
            "gives a negative weight, and a sum near 0 blows them up: apply `np.exp` first.",
        },
    ),
    Misconception(
        "not_normalised",
        (_pool(np.exp),),
        {
            "es": "Aplicas la exponencial y te detienes ahí: los pesos son positivos, pero no "
            "suman 1, y la salida crece con el número de posiciones. Divide entre su suma.",
            "en": "You apply the exponential and stop there: the weights are positive but do not "
            "sum to 1, and the output grows with the number of positions. Divide by their sum.",
        },
    ),
    Misconception(
        "over_the_batch",
        (_pool(lambda scores: softmax(scores, axis=0)),),
        {
            "es": "Con un lote, normalizas sobre el primer eje: cada posición compite con la misma "
            "posición de las otras entradas. Deben competir las de una entrada: `axis=-1`.",
            "en": "With a batch, you normalise over the first axis: each position competes with "
            "the same position of the other inputs. Those of one input must compete: `axis=-1`.",
        },
    ),
    Misconception(
        "one_sum_for_all",
        (_pool(lambda s: np.exp(s - s.max()) / np.exp(s - s.max()).sum()),),
        {
            "es": "Divides entre la suma de todo el lote: los pesos de cada entrada suman menos de "
            "1. Suma solo sobre las posiciones, `sum(axis=-1, keepdims=True)`.",
            "en": "You divide by the sum over the whole batch: the weights of each input sum to "
            "less than 1. Sum over the positions only, `sum(axis=-1, keepdims=True)`.",
        },
    ),
    Misconception(
        "overflowing",
        (_pool(lambda s: np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True)),),
        {
            "es": "Con puntajes de 1000, `np.exp` se desborda y salen NaN. Resta antes a los "
            "puntajes su máximo: los pesos son los mismos y nada se desborda.",
            "en": "With scores of 1000, `np.exp` overflows and NaN comes out. Subtract their "
            "maximum from the scores first: the weights are the same and nothing overflows.",
        },
    ),
    Misconception(
        "one_maximum_for_all",
        (_pool(_one_largest),),
        {
            "es": "Restas un solo máximo a todo el lote: una entrada con puntajes mucho menores se "
            "queda en 0/0, que es NaN. Resta a cada una el suyo, `max(axis=-1, keepdims=True)`.",
            "en": "You subtract a single maximum from the whole batch: an input with much lower "
            "scores is left with 0/0, which is NaN. Subtract from each its own, "
            "`max(axis=-1, keepdims=True)`.",
        },
    ),
    Misconception(
        "only_the_best",
        (_pool(_one_hot),),
        {
            "es": "Das todo el peso a la posición de mayor puntaje. Esa elección no tiene "
            "gradiente con el que ajustar la query; la softmax reparte y sí lo tiene.",
            "en": "You give all the weight to the position with the highest score. That choice has "
            "no gradient to adjust the query with; the softmax shares, and has one.",
        },
    ),
    Misconception(
        "mean_of_keys",
        (_returning(lambda output, w, k, v: (np.einsum("...j,...jd->...d", w, k), w)),),
        {
            "es": "Los pesos son correctos, pero haces la media de las keys. La key dice dónde está lo "
            "que buscas; lo que se entrega es el value.",
            "en": "The weights are right, but you take the mean of the keys. The key tells where "
            "what you look for is; what is handed over is the value.",
        },
    ),
    Misconception(
        "scaled",
        (_pool(softmax, lambda q, k: k @ q / np.sqrt(len(q))),),
        {
            "es": "Divides los puntajes entre √d_k. Aquí no se pide: la query es un parámetro y "
            "su longitud se ajusta sola. La raíz llegará con la autoatención.",
            "en": "You divide the scores by √d_k. It is not asked for here: the query is a "
            "parameter and finds its own length. The root will come with self-attention.",
        },
    ),
    Misconception(
        "divided_by_n",
        (_returning(lambda output, w, k, v: (output / w.shape[-1], w)),),
        {
            "es": "Divides la salida entre el número de posiciones. Los pesos ya suman 1: la suma "
            "ponderada es la media, y dividirla otra vez la encoge.",
            "en": "You divide the output by the number of positions. The weights already sum to 1: "
            "the weighted sum is the mean, and dividing it again shrinks it.",
        },
    ),
    Misconception(
        "least_similar",
        (_pool(softmax, lambda q, k: -(k @ q)),),
        {
            "es": "El signo está al revés: pesa más la key que menos se parece a la query. Quita "
            "el menos de los puntajes.",
            "en": "The sign is the wrong way round: the key least like the query weighs most. "
            "Remove the minus from the scores.",
        },
    ),
    Misconception(
        "cosine",
        (_pool(softmax, _cosine),),
        {
            "es": "Divides entre las normas: el puntaje es un coseno y nunca pasa de 1, así que "
            "ningún peso puede destacar mucho. Usa el producto punto, `key @ query`.",
            "en": "You divide by the norms: the score is a cosine and never exceeds 1, so no "
            "weight can stand out much. Use the dot product, `key @ query`.",
        },
    ),
    Misconception(
        "batch_mixed",
        (_returning(lambda output, w, k, v: (w @ v, w)),),
        {
            "es": "En un lote, `weights @ value` toma los pesos por una matriz y combina los de "
            "una entrada con los values de otra. Añade un eje, `weights[..., None, :] @ value`, "
            "y quítalo después.",
            "en": "In a batch, `weights @ value` takes the weights for a matrix and combines those "
            "of one input with the values of another. Add an axis, `weights[..., None, :] @ "
            "value`, and remove it afterwards.",
        },
    ),
    Misconception(
        "key_transposed",
        (_transposed,),
        {
            "es": "`key.T` invierte todos los ejes: con una sola entrada funciona y con un lote "
            "no. `key @ query` da un puntaje por posición con los ejes que haya delante.",
            "en": "`key.T` reverses every axis: it works on a single input and not on a batch. "
            "`key @ query` gives one score per position whatever axes come first.",
        },
    ),
)

EXERCISE = Exercise(
    id="attention_pooling",
    chapter=1,
    outputs=("output", "weights"),
    oracle=attention_pooling,
    cases=cases,
    misconceptions=MISCONCEPTIONS,
)
