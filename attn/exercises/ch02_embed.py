"""Chapter 2, `embed`: from words to rows of a table, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception

PAD, UNK = "<pad>", "<unk>"
WORDS = ("roses", "are", "red", "and", "violets", "blue", "sky", "the")


def embed(tokens, vocabulary, table):
    """Return the row of `table` of each token: `<unk>`'s for strangers, zeros for `<pad>`."""
    ids = look_up(tokens, vocabulary)
    return np.where((tokens == PAD)[..., None], 0, table[ids])


def cases(seed):
    """Return inputs for `embed`: sentences and batches, unknown words, padding.

    Parameters
    ----------
    seed : int
        Seed of the random numbers and of the order of the vocabulary.

    Returns
    -------
    list of dict
        With the keys ``tokens`` and ``vocabulary``, of strings, and ``table``.
    """
    rng = np.random.default_rng(seed)

    def case(sentences, d_model):
        # An order that is not that of the alphabet, which a binary search would need.
        words = rng.permutation(WORDS)
        while list(words) == sorted(words):
            words = rng.permutation(WORDS)
        vocabulary = np.array([PAD, UNK, *words])
        table = rng.uniform(-0.85, 0.85, (len(vocabulary), d_model))
        return {"tokens": np.array(sentences), "vocabulary": vocabulary, "table": table}

    roses = ["roses", "are", "red", "and", "violets", "are", "blue"]
    return [
        case(["the", "sky", "the"], 2),
        case(roses, 3),
        case(["the", "sea", "are"], 4),
        case(["red", "sky", PAD, PAD], 5),
        case([["the", "sky"], ["blue", "roses"], ["and", "red"]], 4),
        case([["the", "green", "sky", "are", "red"], ["blue", "roses", PAD, PAD, PAD]], 6),
    ]


# The wrong functions that need more than a line.


def look_up(tokens, vocabulary, unknown=1):
    """Return the id of each token, and `unknown` for one that is not in the vocabulary."""
    ids = {word: i for i, word in enumerate(vocabulary.tolist())}
    found = [ids.get(token, unknown) for token in tokens.ravel().tolist()]
    return np.array(found, dtype=int).reshape(tokens.shape)


def zero_padding(tokens, vectors):
    """Set the vectors of `<pad>` to zero."""
    return np.where((tokens == PAD)[..., None], 0, vectors)


def strict(tokens, vocabulary, table):
    ids = {word: i for i, word in enumerate(vocabulary.tolist())}
    found = [ids[token] for token in tokens.ravel().tolist()]
    return zero_padding(tokens, table[np.reshape(found, tokens.shape)])


def skipping(tokens, vocabulary, table):
    known = [token for token in tokens.ravel().tolist() if token in vocabulary.tolist()]
    kept = np.array(known)
    kept = kept.reshape(tokens.shape) if kept.size == tokens.size else kept
    return embed(kept, vocabulary, table)


def without_padding(tokens, vocabulary, table):
    kept = tokens[tokens != PAD]
    kept = kept.reshape(tokens.shape) if kept.size == tokens.size else kept
    return embed(kept, vocabulary, table)


def own_vocabulary(tokens, vocabulary, table):
    seen = {word: i for i, word in enumerate(dict.fromkeys(tokens.ravel().tolist()))}
    ids = np.reshape([seen[token] for token in tokens.ravel().tolist()], tokens.shape)
    return zero_padding(tokens, table[ids])


def alphabetical(tokens, vocabulary, table):
    return embed(tokens, np.sort(vocabulary), table)


def binary_search(tokens, vocabulary, table):
    ids = np.searchsorted(vocabulary, tokens).clip(max=len(vocabulary) - 1)
    return zero_padding(tokens, table[ids])


def from_one(tokens, vocabulary, table):
    ids = look_up(tokens, vocabulary) + 1
    return zero_padding(tokens, table[ids.clip(max=len(table) - 1)])


def from_one_strict(tokens, vocabulary, table):
    return zero_padding(tokens, table[look_up(tokens, vocabulary) + 1])


def one_hot(tokens, vocabulary, table):
    return zero_padding(tokens, np.eye(len(vocabulary))[look_up(tokens, vocabulary)])


def positions(tokens, vocabulary, table):
    places = np.broadcast_to(np.arange(tokens.shape[-1]), tokens.shape)
    return zero_padding(tokens, table[places])


def transposed(tokens, vocabulary, table):
    return table.T[:, look_up(tokens, vocabulary)]


def one_sentence(tokens, vocabulary, table):
    ids = {word: i for i, word in enumerate(vocabulary.tolist())}
    rows = [table[ids.get(token, 1)] * (token != PAD) for token in tokens.tolist()]
    return np.array(rows)


def unit_length(tokens, vocabulary, table):
    rows = table / np.linalg.norm(table, axis=-1, keepdims=True)
    return embed(tokens, vocabulary, rows)


MISCONCEPTIONS = (
    Misconception(
        "padding_has_a_vector",
        (lambda tokens, vocabulary, table: table[look_up(tokens, vocabulary)],),
        {
            "es": "Das a `<pad>` su fila de la tabla. El relleno no es una palabra: si lleva un "
            "vector, cualquier suma o media posterior lo cuenta. Pon ceros donde el token sea "
            "`<pad>`.",
            "en": "You give `<pad>` its row of the table. Padding is not a word: if it has a "
            "vector, any sum or mean further on counts it. Put zeros where the token is `<pad>`.",
        },
    ),
    Misconception(
        "no_unknown",
        (strict,),
        {
            "es": "Tu función se detiene con una palabra que no está en el vocabulario. Siempre "
            "llegará alguna: dale la fila de `<unk>`, por ejemplo con "
            '`ids.get(token, ids["<unk>"])`.',
            "en": "Your function stops at a word that is not in the vocabulary. One will always "
            "come: give it the row of `<unk>`, for instance with "
            '`ids.get(token, ids["<unk>"])`.',
        },
    ),
    Misconception(
        "unknown_is_padding",
        (
            lambda tokens, vocabulary, table: zero_padding(
                tokens, table[look_up(tokens, vocabulary, unknown=0)]
            ),
        ),
        {
            "es": "A la palabra desconocida le das la fila 0, que es la de `<pad>`. Así el modelo "
            "no distingue una palabra que no conoce de un hueco: la suya es la fila de `<unk>`.",
            "en": "You give the unknown word row 0, which belongs to `<pad>`. The model then "
            "cannot tell a word it does not know from a gap: its row is that of `<unk>`.",
        },
    ),
    Misconception(
        "unknown_is_zero",
        (
            lambda tokens, vocabulary, table: np.where(
                np.isin(tokens, vocabulary[1:])[..., None], embed(tokens, vocabulary, table), 0
            ),
        ),
        {
            "es": "A la palabra desconocida le das ceros, como al relleno. Ahí había una palabra, "
            "aunque no sepas cuál, y `<unk>` tiene para eso su propia fila en la tabla.",
            "en": "You give the unknown word zeros, as if it were padding. There was a word "
            "there, even if you cannot say which, and `<unk>` has a row of its own for that.",
        },
    ),
    Misconception(
        "unknown_is_last",
        (
            lambda tokens, vocabulary, table: zero_padding(
                tokens, table[look_up(tokens, vocabulary, unknown=-1)]
            ),
        ),
        {
            "es": "La palabra desconocida recibe la última fila. Suele venir de un −1 que "
            "significaba «no está»: NumPy cuenta los índices negativos desde el final y no avisa. "
            "Usa el id de `<unk>`.",
            "en": "The unknown word gets the last row. That often comes from a −1 that meant “not "
            "found”: NumPy counts negative indices from the end and says nothing. Use the id of "
            "`<unk>`.",
        },
    ),
    Misconception(
        "unknown_is_dropped",
        (skipping,),
        {
            "es": "Te saltas las palabras desconocidas y la oración se acorta: las que siguen "
            "cambian de lugar. Cada token de la entrada necesita su vector a la salida, y el de "
            "estas es el de `<unk>`.",
            "en": "You skip unknown words and the sentence gets shorter: those that follow change "
            "places. Each token that goes in needs its vector to come out, and for these it is "
            "that of `<unk>`.",
        },
    ),
    Misconception(
        "padding_is_dropped",
        (without_padding,),
        {
            "es": "Quitas el relleno. Está ahí para que todas las oraciones del lote midan lo "
            "mismo: devuelve un vector por token, con ceros para `<pad>`.",
            "en": "You remove the padding. It is there so that all the sentences of a batch have "
            "one length: return a vector for each token, zeros for `<pad>`.",
        },
    ),
    Misconception(
        "own_vocabulary",
        (own_vocabulary,),
        {
            "es": "Numeras las palabras según aparecen en la entrada, y la misma palabra recibe "
            "filas distintas en oraciones distintas. El id es su lugar en `vocabulary`, siempre "
            "el mismo.",
            "en": "You number the words as they appear in the input, and one word gets different "
            "rows in different sentences. Its id is its place in `vocabulary`, always the same.",
        },
    ),
    Misconception(
        "alphabetical",
        (alphabetical, binary_search),
        {
            "es": "Buscas como si el vocabulario estuviera en orden alfabético: `np.sort`, "
            "`np.unique` y `np.searchsorted` lo dan por hecho. La fila de una palabra es la de su "
            "lugar en `vocabulary`, tal como viene.",
            "en": "You search as if the vocabulary were in alphabetical order: `np.sort`, "
            "`np.unique` and `np.searchsorted` take that for granted. The row of a word is that "
            "of its place in `vocabulary` as it stands.",
        },
    ),
    Misconception(
        "off_by_one",
        (from_one, from_one_strict),
        {
            "es": "Cada palabra recibe la fila de la siguiente: cuentas desde 1. Los ids cuentan "
            "desde 0, como las filas de la tabla; basta con `enumerate(vocabulary)`.",
            "en": "Each word gets the row of the next one: you count from 1. Ids count from 0, "
            "like the rows of the table; `enumerate(vocabulary)` is enough.",
        },
    ),
    Misconception(
        "one_hot",
        (one_hot,),
        {
            "es": "Devuelves los vectores one-hot. Falta el último paso: multiplicarlos por "
            "`table`, que es lo mismo que tomar de ella la fila `ids[i]`.",
            "en": "You return the one-hot vectors. The last step is missing: multiply them by "
            "`table`, which is the same as taking its row `ids[i]`.",
        },
    ),
    Misconception(
        "positions",
        (positions,),
        {
            "es": "Usas el lugar de cada token en la oración como id: la primera palabra recibe "
            "siempre la fila 0, diga lo que diga. El id depende de la palabra, no de dónde está.",
            "en": "You use each token's place in the sentence as its id: the first word always "
            "gets row 0, whatever it says. The id depends on the word and on nothing else.",
        },
    ),
    Misconception(
        "transposed",
        (transposed,),
        {
            "es": "El resultado sale con las componentes en el primer eje. Cada token es una "
            "*fila*: `table[ids]` añade `d_model` al final, y vale también para un lote.",
            "en": "The result has its components on the first axis. Each token is a *row*: "
            "`table[ids]` puts `d_model` last, and works for a batch too.",
        },
    ),
    Misconception(
        "sum_of_words",
        (
            lambda tokens, vocabulary, table: embed(tokens, vocabulary, table).sum(axis=-2),
            lambda tokens, vocabulary, table: embed(tokens, vocabulary, table).mean(axis=-2),
        ),
        {
            "es": "Juntas la oración en un solo vector, y ya no se sabe qué palabras había ni en "
            "qué lugar. Devuelve un vector por token: los ejes de `tokens`, y después `d_model`.",
            "en": "You merge the sentence into one vector, and which words it had, and where, is "
            "lost. Return one vector per token: the axes of `tokens`, and then `d_model`.",
        },
    ),
    Misconception(
        "one_sentence",
        (one_sentence,),
        {
            "es": "Funciona con una oración y no con un lote: al recorrer un arreglo de dos ejes "
            "obtienes oraciones, no palabras. Busca en `tokens.ravel()` y devuelve los ids a su "
            "forma con `reshape`.",
            "en": "It works for one sentence and not for a batch: looping over an array of two "
            "axes gives sentences, not words. Search in `tokens.ravel()` and `reshape` the ids "
            "afterwards.",
        },
    ),
    Misconception(
        "rescaled",
        (
            unit_length,
            lambda tokens, vocabulary, table: (
                embed(tokens, vocabulary, table) * np.sqrt(table.shape[1])
            ),
        ),
        {
            "es": "Las direcciones son correctas y las longitudes no: normalizas o multiplicas "
            "por la raíz de `d_model`. Aquí se pide la fila tal como está en la tabla.",
            "en": "The directions are right and the lengths are not: you normalise, or multiply "
            "by the root of `d_model`. The row is asked for here as it stands in the table.",
        },
    ),
)

EXERCISE = Exercise(
    id="embed",
    chapter=2,
    outputs=("vectors",),
    oracle=embed,
    cases=cases,
    misconceptions=MISCONCEPTIONS,
)
