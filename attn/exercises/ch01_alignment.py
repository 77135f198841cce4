"""Chapter 1, `read_alignment`, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import softmax


def read_alignment(weights):
    """Link each word of the translation to the source word it looked at most.

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
    # In quarters, so that no order of adding rounds one of the two differently.
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


MISCONCEPTIONS = (
    Misconception(
        "off_by_one",
        (lambda weights: _links(_mean(weights)[1:]),),
        {
            "es": "Lees cada palabra en la fila siguiente, la de la query que ya la leyó y predice "
            "la próxima. La fila i predice la palabra i: quita la última fila, no la primera.",
            "en": "You read each word off the next row, that of the query which has already read "
            "it and predicts the one after. Row i predicts word i: drop the last row, not the "
            "first.",
        },
    ),
    Misconception(
        "end_included",
        (lambda weights: _links(_mean(weights)),),
        {
            "es": "Enlazas también la última fila, la que predice el fin de la oración. Ese token "
            "no traduce ninguna palabra: quita su fila con `[:-1]`.",
            "en": "You also link the last row, which predicts the end of the sentence. That token "
            "translates no word: drop its row with `[:-1]`.",
        },
    ),
    Misconception(
        "by_source",
        (_by_source,),
        {
            "es": "Buscas el máximo de cada columna: qué palabra de la traducción mira más a cada "
            "palabra de origen. Se pide al revés, un enlace por fila: `argmax(axis=-1)`.",
            "en": "You take the maximum of each column: which word of the translation looks most "
            "at each source word. The reverse is asked for, one link per row: "
            "`argmax(axis=-1)`.",
        },
    ),
    Misconception(
        "smallest",
        (_from(lambda weights: -_mean(weights)),),
        {
            "es": "Enlazas cada palabra con la que menos peso recibe. Un peso grande significa que "
            "de ahí se tomó más: usa `argmax`.",
            "en": "You link each word to the one that gets least weight. A large weight means that "
            "more was taken from there: use `argmax`.",
        },
    ),
    Misconception(
        "one_layer",
        (_from(lambda weights: weights[-1].mean(axis=0)), _from(lambda w: w[0].mean(axis=0))),
        {
            "es": "Haces la media de las cabezas de una sola capa. Se pide la de todas las capas y "
            "todas las cabezas: `weights.mean(axis=(0, 1))`.",
            "en": "You take the mean over the heads of one layer only. That of all layers and all "
            "heads is asked for: `weights.mean(axis=(0, 1))`.",
        },
    ),
    Misconception(
        "one_head",
        (_from(lambda weights: weights[0, 0]), _from(lambda weights: weights[-1, -1])),
        {
            "es": "Lees una sola cabeza. Otra puede mirar a otro sitio: haz antes la media de "
            "todas, capas incluidas.",
            "en": "You read a single head. Another may look elsewhere: take the mean of all of "
            "them first, layers included.",
        },
    ),
    Misconception(
        "strongest_head",
        (_from(lambda weights: weights.max(axis=(0, 1))),),
        {
            "es": "Tomas el mayor peso que da alguna cabeza, y así una sola decide por todas. La "
            "media, `mean(axis=(0, 1))`, las cuenta a todas por igual.",
            "en": "You take the largest weight that any head gives, so that a single one decides "
            "for all. The mean, `mean(axis=(0, 1))`, counts them all alike.",
        },
    ),
    Misconception(
        "vote",
        (_from(_vote),),
        {
            "es": "Cada cabeza elige su máximo y luego votan: una cabeza indecisa cuenta tanto "
            "como una segura. Haz la media de los pesos y elige después.",
            "en": "Each head picks its maximum and then they vote: an undecided head counts as "
            "much as a sure one. Take the mean of the weights and pick afterwards.",
        },
    ),
    Misconception(
        "all_equals",
        (lambda weights: _mean(weights)[:-1] == _mean(weights)[:-1].max(axis=-1, keepdims=True),),
        {
            "es": "Cuando dos palabras empatan las enlazas a las dos. Se pide un enlace por fila, "
            "el primero, que es el que devuelve `argmax`.",
            "en": "Where two words are equal you link both. One link per row is asked for, the "
            "first, which is the one `argmax` returns.",
        },
    ),
    Misconception(
        "last_of_equals",
        (_last_of_equals,),
        {
            "es": "En un empate te quedas con la última palabra. Cuenta la primera: compara con "
            "`>` y no con `>=`, o usa `argmax`.",
            "en": "Between equals you keep the last word. The first one counts: compare with `>` "
            "and not with `>=`, or use `argmax`.",
        },
    ),
    Misconception(
        "over_a_half",
        (lambda weights: _mean(weights)[:-1] > 0.5,),
        {
            "es": "Enlazas solo los pesos mayores que 0.5. Una fila repartida queda sin enlace, y "
            "se pide uno siempre: el mayor, aunque sea pequeño.",
            "en": "You link only weights above 0.5. A row that shares its weight is left without "
            "a link, and one is always asked for: the largest, small as it may be.",
        },
    ),
    Misconception(
        "above_uniform",
        (lambda weights: _mean(weights)[:-1] > 1 / weights.shape[-1],),
        {
            "es": "Enlazas todo peso mayor que 1/n, el del reparto por igual, y una fila puede dar "
            "varios. Se pide solo el mayor de cada fila.",
            "en": "You link every weight above 1/n, that of equal sharing, and a row can give "
            "several. Only the largest of each row is asked for.",
        },
    ),
    Misconception(
        "positions",
        (lambda weights: _mean(weights)[:-1].argmax(axis=-1),),
        {
            "es": "Devuelves posiciones; se pide una matriz booleana, con una fila por palabra y "
            "una columna por palabra de origen. Compara `np.arange(n)` con cada posición.",
            "en": "You return positions; a boolean matrix is asked for, with a row per word and a "
            "column per source word. Compare `np.arange(n)` with each position.",
        },
    ),
    Misconception(
        "columns_for_rows",
        (lambda weights: read_alignment(weights).T,),
        {
            "es": "La matriz está traspuesta: las filas son las palabras de la traducción, que "
            "preguntan, y las columnas las de origen, que responden.",
            "en": "The matrix is transposed: the rows are the words of the translation, which ask, "
            "and the columns those of the source, which answer.",
        },
    ),
)

EXERCISE = Exercise(
    id="read_alignment",
    chapter=1,
    outputs=("links",),
    oracle=read_alignment,
    cases=cases,
    misconceptions=MISCONCEPTIONS,
)
