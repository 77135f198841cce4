"""Problem set 1, `sentence_vectors`: one vector for a sentence, and what padding does to it."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception


def sentence_vectors(table, ids):
    """Return the mean embedding of the real tokens of each sentence; zeros if there are none."""
    real = (ids != 0)[..., None]
    return (table[ids] * real).sum(axis=-2) / np.maximum(real.sum(axis=-2), 1)


def cases(seed):
    """Return sentences: without padding, with padding anywhere, of padding only, batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``table``, whose row 0 is not zero, and ``ids``.
    """
    rng = np.random.default_rng(seed)

    def draw(d_model, *rows, batch=()):
        table = rng.normal(size=(8, d_model)) + 0.5
        real = np.array(rows)
        ids = rng.integers(1, 8, real.shape)
        while any(len({*row.tolist()}) == len(row) for row in ids):
            ids = rng.integers(1, 8, real.shape)  # a word that stands twice counts twice
        return {"table": table, "ids": (ids * real).reshape(*batch, -1, real.shape[-1])}

    return [
        draw(2, [1, 1, 1], [1, 1, 1]),
        draw(3, [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]),
        draw(5, [1, 1, 1, 1, 1, 1]),
        draw(3, [1, 1, 1, 1], [1, 1, 1, 0]),
        draw(4, [1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]),
        draw(4, [0, 1, 1, 1, 1], [1, 1, 1, 1, 1]),
        draw(5, [0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 0, 1]),
        draw(3, [1, 1, 1, 0], [0, 0, 0, 0]),
        draw(4, *([1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 1, 1]), batch=(2,)),
        draw(2, *([1, 1, 1, 0], [0, 1, 1, 0], [1, 1, 1, 1]) * 2, batch=(2, 3)),
    ]


# The wrong functions.


def _mean(count, weigh=lambda ids: (ids != 0)[..., None]):
    def wrong(table, ids):
        return (table[ids] * weigh(ids)).sum(axis=-2) / np.maximum(count(ids), 1)

    return wrong


def _real(ids):
    return (ids != 0).sum(axis=-1)[..., None]


def _everything(ids):
    return np.ones((*ids.shape, 1))


def _nan_if_empty(table, ids):
    with np.errstate(all="ignore"):
        return (table[ids] * (ids != 0)[..., None]).sum(axis=-2) / _real(ids)


def _largest(table, ids):
    hidden = np.where((ids != 0)[..., None], table[ids], -np.inf).max(axis=-2)
    return np.where(np.isfinite(hidden), hidden, 0)


def _distinct(table, ids):
    vectors = np.zeros((*ids.shape[:-1], table.shape[1]))
    for place in np.ndindex(ids.shape[:-1]):
        found = sorted({*ids[place].tolist()} - {0})
        if found:
            vectors[place] = table[found].mean(axis=0)
    return vectors


def _mean_id(table, ids):
    mean = ids.sum(axis=-1) / np.maximum((ids != 0).sum(axis=-1), 1)
    return table[np.round(mean).astype(int)] * (ids != 0).any(axis=-1)[..., None]


def _first_tokens(table, ids):
    real = np.arange(ids.shape[-1]) < (ids != 0).sum(axis=-1, keepdims=True)
    return (table[ids] * real[..., None]).sum(axis=-2) / np.maximum(_real(ids), 1)


def _up_to_padding(table, ids):
    real = np.cumprod(ids != 0, axis=-1)[..., None]
    return (table[ids] * real).sum(axis=-2) / np.maximum(real.sum(axis=-2), 1)


def _over_sentences(table, ids):
    real = (ids != 0)[..., None]
    return (table[ids] * real).sum(axis=0) / np.maximum(real.sum(axis=0), 1)


def _one_count(table, ids):
    real = (ids != 0)[..., None]
    return (table[ids] * real).sum(axis=-2) / max(real.sum() / max(ids[..., 0].size, 1), 1)


def _unit(table, ids):
    vectors = sentence_vectors(table, ids)
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length == 0, 1, length)


def _matrix_only(table, ids):
    if ids.ndim != 2:
        raise ValueError("too many values to unpack (expected 2)")
    return sentence_vectors(table, ids)


MISCONCEPTIONS = (
    Misconception(
        "padding_counted",
        (_mean(lambda ids: ids.shape[-1], _everything),),
        {
            "es": "Tu media incluye el relleno: su fila de la tabla entra en la suma, y cuenta "
            "como un token. Deja fuera los ids que son 0.",
            "en": "You average the padding too: its row of the table enters the sum and counts as "
            "a token. Leave out the ids that are 0.",
        },
    ),
    Misconception(
        "divided_by_length",
        (_mean(lambda ids: ids.shape[-1]),),
        {
            "es": "El relleno no entra en la suma, pero sí en la cuenta: divides entre el ancho "
            "del lote. Divide entre cuántos tokens reales tiene cada oración.",
            "en": "The padding is not in the sum, but it is in the count: you divide by the width "
            "of the batch. Divide by how many real tokens each sentence has.",
        },
    ),
    Misconception(
        "padding_summed",
        (_mean(_real, _everything),),
        {
            "es": "Cuentas bien los tokens reales, pero sumas también la fila del relleno, que no "
            "es cero. Multiplica por la máscara antes de sumar.",
            "en": "You count the real tokens rightly, but also add the row of the padding, which "
            "is not zero. Multiply by the mask before you add.",
        },
    ),
    Misconception(
        "sum",
        (_mean(lambda ids: 1),),
        {
            "es": "Sumas y no divides: una oración larga tiene así un vector más largo que otra "
            "corta que dice lo mismo. Divide entre el número de tokens reales.",
            "en": "You add and do not divide: a long sentence then has a longer vector than a "
            "short one that says the same. Divide by the number of real tokens.",
        },
    ),
    Misconception(
        "maximum",
        (_largest,),
        {
            "es": "Tomas el máximo de cada rasgo. Es otra manera de resumir; aquí se pide la "
            "media.",
            "en": "You take the largest of each feature. That is another way to summarise; here "
            "the mean is asked for.",
        },
    ),
    Misconception(
        "distinct_words",
        (_distinct,),
        {
            "es": "Una palabra que aparece dos veces cuenta una sola. La media es sobre tokens, "
            "no sobre palabras distintas.",
            "en": "A word that stands twice counts only once. The mean is over tokens, not over "
            "distinct words.",
        },
    ),
    Misconception(
        "mean_of_ids",
        (_mean_id,),
        {
            "es": "Sacas la media de los ids y buscas la palabra que sale. Los ids son nombres: el 4 no "
            "está entre el 3 y el 5. Busca primero los vectores; la media, después.",
            "en": "You average the ids and look up the word that results. Ids are names: 4 is not "
            "between 3 and 5. Look the vectors up first and average afterwards.",
        },
    ),
    Misconception(
        "padding_at_the_end",
        (_first_tokens, _up_to_padding),
        {
            "es": "Tu función supone que el relleno está al final. Puede estar delante o en "
            "medio: mira cada id, no la posición.",
            "en": "Your function assumes that the padding is at the end. It may be in front or in "
            "between: look at each id, not at the position.",
        },
    ),
    Misconception(
        "over_sentences",
        (_over_sentences,),
        {
            "es": "Tomas la media entre oraciones y no dentro de cada una. El eje de los tokens, una "
            "vez buscados los vectores, es el penúltimo.",
            "en": "You average across sentences and not within each. The axis of the tokens, once "
            "the vectors are looked up, is the last but one.",
        },
    ),
    Misconception(
        "one_count_for_all",
        (_one_count,),
        {
            "es": "Divides todas las oraciones entre el mismo número. Cada una tiene su cuenta de "
            "tokens reales: suma la máscara sobre su eje.",
            "en": "You divide all sentences by the same number. Each has its own count of real "
            "tokens: sum the mask along their axis.",
        },
    ),
    Misconception(
        "empty_sentence",
        (_nan_if_empty,),
        {
            "es": "Una oración sin tokens reales da 0/0. Su vector son ceros: divide entre 1 "
            "cuando la cuenta es 0.",
            "en": "A sentence without real tokens gives 0/0. Its vector is zeros: divide by 1 "
            "where the count is 0.",
        },
    ),
    Misconception(
        "unit_length",
        (_unit,),
        {
            "es": "Además divides el resultado entre su longitud. Lo que se pide es la media, "
            "sin más.",
            "en": "You also divide the result by its length. What is asked for is the mean, and "
            "no more.",
        },
    ),
    Misconception(
        "matrix_only",
        (_matrix_only,),
        {
            "es": "Funciona con un lote de oraciones y no con más ejes. Cuenta los ejes desde el "
            "final, o usa `...`.",
            "en": "It works on a batch of sentences and not with more axes. Count axes from the "
            "end, or use `...`.",
        },
    ),
)

EXERCISE = Exercise(
    "sentence_vectors", 2, ("vectors",), sentence_vectors, cases, MISCONCEPTIONS, problem_set="ps1"
)
