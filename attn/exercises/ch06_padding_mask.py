"""Chapter 6, `padding_mask`: which keys are real, sentence by sentence, and how to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import padding_mask


def cases(seed):
    """Return the lengths of the sentences of a batch and the length they are padded to.

    The batch, the lengths and the common length differ, so that no axis passes for another.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``lengths`` and ``seq_len``, the second an array without axes.
    """
    rng = np.random.default_rng(seed)

    def draw(batch_size, seq_len):
        """Return lengths of which the first is neither the longest nor full, and one is."""
        rest = rng.integers(1, seq_len, batch_size - 2)
        lengths = [rng.integers(2, seq_len - 1), seq_len - 1, *rest]
        return {"lengths": np.array(lengths[:batch_size]), "seq_len": np.array(seq_len)}

    return [draw(2, 4), draw(2, 5), draw(3, 5), draw(4, 6), draw(3, 7), draw(5, 8)]


def _real(lengths, seq_len):
    return np.arange(seq_len) < lengths[:, None]


def _rows(change):
    """Return a mask made of the (batch_size, seq_len) array that says which tokens are real."""
    return lambda lengths, seq_len: change(_real(lengths, seq_len))


def _until(change):
    """Return a mask whose lengths were changed before they were compared."""

    def mask(lengths, seq_len):
        ends = np.broadcast_to(change(lengths, seq_len), lengths.shape)
        return np.arange(seq_len) < ends[:, None, None]

    return mask


MISCONCEPTIONS = (
    Misconception(
        "without_the_axis",
        (_rows(lambda real: real),),
        {
            "es": "Los valores son correctos, pero falta un eje: con forma (lote, keys), NumPy toma "
            "las filas de tu máscara por queries y no por oraciones. Intercala un eje de tamaño 1 "
            "para las queries: `real[:, None, :]`.",
            "en": "The values are right, but an axis is missing: at shape (batch, keys), NumPy "
            "takes the rows of your mask for queries and not for sentences. Insert an axis of "
            "size 1 for the queries: `real[:, None, :]`.",
        },
    ),
    Misconception(
        "on_the_queries",
        (_rows(lambda real: real[:, :, None]),),
        {
            "es": "Pusiste el relleno en el eje de las queries: callas al relleno, pero los tokens "
            "reales lo siguen mirando. Lo que hay que esconder son las keys: el eje de tamaño 1 va "
            "en el centro.",
            "en": "You put the padding on the axis of the queries: the padding is silenced, but "
            "the real tokens still look at it. What has to be hidden are the keys: the axis of "
            "size 1 goes in the middle.",
        },
    ),
    Misconception(
        "real_as_false",
        (_rows(lambda real: ~real[:, None, :]),),
        {
            "es": "Marcas con True el relleno, como el `key_padding_mask` de PyTorch. En el curso "
            "True es «puede atender»: compara con `<` y no con `>=`.",
            "en": "You mark the padding with True, like the `key_padding_mask` of PyTorch. In the "
            "course True is “may attend”: compare with `<` and not with `>=`.",
        },
    ),
    Misconception(
        "one_pad_too_many",
        (_until(lambda lengths, _: lengths + 1),),
        {
            "es": "Dejas pasar el primer token de relleno de cada oración. Las posiciones se "
            "cuentan desde 0, así que las de una oración de 3 tokens son 0, 1 y 2: compara con `<`.",
            "en": "You let the first padding token of each sentence through. Positions count from "
            "0, so those of a sentence of 3 tokens are 0, 1 and 2: compare with `<`.",
        },
    ),
    Misconception(
        "one_token_too_few",
        (_until(lambda lengths, _: lengths - 1),),
        {
            "es": "Escondes el último token real de cada oración. La última posición real es la "
            "longitud menos 1, y esa todavía cuenta: compara las posiciones con `lengths`, sin "
            "restar nada.",
            "en": "You hide the last real token of each sentence. The last real position is the "
            "length minus 1, and that one still counts: compare the positions with `lengths`, "
            "subtracting nothing.",
        },
    ),
    Misconception(
        "padding_on_the_left",
        (_rows(lambda real: real[:, None, ::-1]),),
        {
            "es": "Tomas por relleno el principio de la oración. Aquí los tokens reales van primero "
            "y el relleno al final: permite las posiciones menores que la longitud.",
            "en": "You take the start of the sentence for padding. Here the real tokens come first "
            "and the padding last: allow the positions below the length.",
        },
    ),
    Misconception(
        "longest_for_all",
        (_until(lambda lengths, _: lengths.max()),),
        {
            "es": "Usas la longitud de la oración más larga para todas, y las cortas ven su "
            "relleno. Compara cada oración con su propia longitud: `lengths[:, None, None]`.",
            "en": "You use the length of the longest sentence for all of them, and the short ones "
            "see their padding. Compare each sentence with its own length: "
            "`lengths[:, None, None]`.",
        },
    ),
    Misconception(
        "first_for_all",
        (_until(lambda lengths, _: lengths[0]),),
        {
            "es": "Usas la longitud de la primera oración para todo el lote. Falta recorrer las "
            "demás, o dejar que la comparación lo haga: `lengths[:, None, None]`.",
            "en": "You use the length of the first sentence for the whole batch. The others still "
            "have to be gone through, or left to the comparison: `lengths[:, None, None]`.",
        },
    ),
    Misconception(
        "silent_padding_too",
        (_rows(lambda real: real[:, None, :] & real[:, :, None]),),
        {
            "es": "Además de esconder las keys de relleno, dejas sus queries sin nada que mirar. "
            "Son filas muertas que nadie necesita: lo que calcula una query de relleno se descarta "
            "después. Esconde solo las keys.",
            "en": "Besides hiding the padding keys, you leave its queries with nothing to look at. "
            "Those dead rows help nobody: what a padding query computes is thrown away later. Hide "
            "only the keys.",
        },
    ),
    Misconception(
        "repeated_for_every_query",
        (_rows(lambda real: np.repeat(real[:, None, :], real.shape[1], axis=1)),),
        {
            "es": "Repites la misma fila para cada query. Daría los mismos pesos, pero ocupa más y "
            "fija cuántas queries hay, y en la atención cruzada son otras: deja un eje de tamaño 1, "
            "que se extiende solo.",
            "en": "You repeat the same row for every query. The weights would be the same, but it "
            "takes more room and fixes how many queries there are, and in cross-attention they are "
            "others: leave an axis of size 1, which broadcasts.",
        },
    ),
    Misconception(
        "axis_of_the_heads_too",
        (_rows(lambda real: real[:, None, None, :]),),
        {
            "es": "Sobra un eje: tienes (lote, 1, 1, keys). El de las cabezas lo añade la atención "
            "multicabeza por su cuenta; aquí se pide (lote, 1, keys).",
            "en": "There is one axis too many: you have (batch, 1, 1, keys). Multi-head attention "
            "inserts that of the heads by itself; the task asks for (batch, 1, keys).",
        },
    ),
    Misconception(
        "axis_in_front",
        (_rows(lambda real: real[None]),),
        {
            "es": "El eje de tamaño 1 quedó delante: (1, lote, keys). Así la oración número i del "
            "lote le pone su relleno a la query número i de todas. El lote va primero: "
            "`real[:, None, :]`.",
            "en": "The axis of size 1 ended up in front: (1, batch, keys). Sentence number i of the "
            "batch then lends its padding to query number i of every sentence. The batch comes "
            "first: `real[:, None, :]`.",
        },
    ),
    Misconception(
        "numbers_for_the_keys",
        (
            _rows(lambda real: np.where(real, 0.0, -1e9)[:, None, :]),
            _rows(lambda real: np.where(real, 0.0, -1e9)),
        ),
        {
            "es": "Devuelves ceros y números muy negativos, que es lo que se suma a los puntajes. "
            "Devuelve la comparación tal cual: True en cada token real, False en el relleno.",
            "en": "You return zeros and very negative numbers, which is what gets added to the "
            "scores. Return the comparison as it is: True at each real token, False at the "
            "padding.",
        },
    ),
)

EXERCISE = Exercise("padding_mask", 6, ("mask",), padding_mask, cases, MISCONCEPTIONS)
