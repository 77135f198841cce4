"""Problem set 2, `mended_self_attention`: the fault of a given function, and other ones."""

import numpy as np

from attn.exercises import ch03_softmax as wrong
from attn.exercises.ps2.packed import with_large_scores
from attn.exercises.spec import Exercise, Misconception
from attn.reference import self_attention, softmax


def cases(seed):
    """Return inputs for self-attention without mask: one sentence, batches, large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_q``, ``w_k`` and ``w_v``.
    """
    rng = np.random.default_rng(seed)

    def draw(seq_len, d_model, d_k, d_v, batch=()):
        return {
            "x": rng.uniform(-1, 1, (*batch, seq_len, d_model)),
            "w_q": rng.uniform(-0.6, 0.6, (d_model, d_k)),
            "w_k": rng.uniform(-0.6, 0.6, (d_model, d_k)),
            "w_v": rng.uniform(-0.6, 0.6, (d_model, d_v)),
        }

    large = draw(3, 4, 2, 3)
    with_large_scores(large["x"], large["w_q"], large["w_k"])
    return [
        draw(2, 3, 4, 5),
        draw(3, 4, 2, 5),
        draw(3, 3, 3, 3),
        large,
        draw(5, 4, 6, 3, batch=(2,)),
        draw(3, 3, 3, 2, batch=(3,)),
        draw(4, 3, 2, 5, batch=(2, 3)),
    ]


def _attention(
    order=(0, 1, 2), score=lambda query, key: query @ key.mT, scale=np.sqrt, weigh=softmax
):
    def mended_self_attention(x, w_q, w_k, w_v):
        query, key, value = (x @ (w_q, w_k, w_v)[i] for i in order)
        weights = weigh(score(query, key) / scale(query.shape[-1]))
        return weights @ value, weights

    return mended_self_attention


def _returning(result):
    return lambda x, w_q, w_k, w_v: result(*self_attention(x, w_q, w_k, w_v), x, w_v)


def _as_given(x, w_q, w_k, w_v):
    return self_attention(x, w_k, w_q, w_v)


def _scaled_by_d_model(x, w_q, w_k, w_v):
    return self_attention(x, w_q * np.sqrt(w_q.shape[1] / w_q.shape[0]), w_k, w_v)


def _batch_only(x, w_q, w_k, w_v):
    _batch_size, _n_tokens, _d_model = x.shape
    return self_attention(x, w_q, w_k, w_v)


MISCONCEPTIONS = (
    Misconception(
        "key_asks",
        (_as_given,),
        {
            "es": "El fallo sigue ahí: en la fila de cada token pregunta su key y responden las "
            "queries de los demás. Sigue a mano un puntaje de la fila de *old*: mira qué vector de "
            "*old* y cuál de *dog* se multiplican.",
            "en": "The fault is still there: in the row of each token its key asks, and the "
            "queries of the others answer. Follow one score of the row of *old* by hand: see which "
            "vector of *old* and which of *dog* are multiplied.",
        },
    ),
    Misconception(
        "columns_normalised",
        (_attention(weigh=lambda scores: softmax(scores, axis=-2)),),
        {
            "es": "Tus pesos suman 1 por columnas, porque cambiaste el eje de la softmax o los "
            "traspusiste después. Ninguna de las dos cosas deshace el fallo: corrige los puntajes "
            "y deja la softmax como estaba.",
            "en": "Your weights sum to 1 down the columns, because you changed the axis of the "
            "softmax or transposed them afterwards. Neither undoes the fault: mend the scores and "
            "leave the softmax as it was.",
        },
    ),
    Misconception(
        "softmax_changed",
        (_attention(order=(1, 0, 2), weigh=lambda scores: softmax(scores, axis=-2)),),
        {
            "es": "Cambiaste el eje de la softmax, y ese eje estaba bien. Deshaz el cambio y mira "
            "la línea de los puntajes: la fila debe ser de quien pregunta.",
            "en": "You changed the axis of the softmax, and that axis was right. Undo the change "
            "and look at the line of the scores: the row must be that of the one who asks.",
        },
    ),
    Misconception(
        "unscaled",
        (_attention(scale=lambda d_k: 1),),
        {
            "es": "Encontraste el fallo, pero por el camino se perdió la división entre √d_k. Los "
            "puntajes se dividen entre la raíz de la anchura de la query.",
            "en": "You found the fault, but lost the division by √d_k along the way. The scores "
            "are divided by the root of the width of the query.",
        },
    ),
    Misconception(
        "scaled_by_d_k",
        (_attention(scale=lambda d_k: d_k),),
        {
            "es": "Los papeles están bien; la escala ya no. El código dado dividía entre la raíz "
            "de d_k y tú divides entre d_k.",
            "en": "The roles are right; the scale no longer is. The given code divided by the root "
            "of d_k, and you divide by d_k.",
        },
    ),
    Misconception(
        "scaled_by_d_model",
        (_scaled_by_d_model,),
        {
            "es": "Los papeles están bien, pero la raíz es ahora la de `x.shape[-1]`. No era ese "
            "el fallo: d_k es la anchura de las queries y las keys.",
            "en": "The roles are right, but the root is now that of `x.shape[-1]`. That was not "
            "the fault: d_k is the width of the queries and the keys.",
        },
    ),
    Misconception(
        "one_projection_for_both",
        (_attention(order=(0, 0, 2)), _attention(order=(1, 1, 2))),
        {
            "es": "Ahora pregunta y responde el mismo vector, y la relación vale igual en los dos "
            "sentidos. Hacen falta los dos papeles: `x @ w_q` pregunta, `x @ w_k` responde.",
            "en": "Now the same vector asks and answers, and the relation holds equally both ways. "
            "Both roles are needed: `x @ w_q` asks, `x @ w_k` answers.",
        },
    ),
    Misconception(
        "values_changed",
        (
            _attention(order=(0, 1, 1)),
            _attention(order=(0, 1, 0)),
            _returning(lambda output, weights, x, w_v: (weights @ x, weights)),
        ),
        {
            "es": "Tus pesos son correctos y tu salida no: cambiaste lo que se pondera. El value "
            "era `x @ w_v`, y no tenía ningún fallo.",
            "en": "Your weights are right and your output is not: you changed what is weighted. "
            "The value was `x @ w_v`, and there was no fault in it.",
        },
    ),
    Misconception(
        "all_axes_transposed",
        (
            _attention(score=lambda query, key: query @ key.T),
            _attention(score=lambda query, key: (key @ query.mT).T),
        ),
        {
            "es": "Con una oración está arreglado; con un lote, no. `.T` da la vuelta a todos los "
            "ejes, también al del lote: usa `.mT`, que trae el código dado.",
            "en": "It is mended for one sentence and not for a batch. `.T` turns all the axes "
            "round, that of the batch too: use `.mT`, as the given code does.",
        },
    ),
    Misconception(
        "batch_only",
        (_batch_only,),
        {
            "es": "Ahora hacen falta tres ejes, y el código dado servía también para una oración "
            "suelta. Cuenta los ejes desde el final.",
            "en": "Three axes are needed now, and the given code served for a single sentence too. "
            "Count the axes from the end.",
        },
    ),
    Misconception(
        "overflow",
        (_attention(weigh=wrong.unstable), _attention(weigh=wrong.unstable_or_zero)),
        {
            "es": "La resta del máximo no era el fallo, y sin ella los puntajes grandes dan NaN: "
            "devuélvela a su sitio, antes de `np.exp`.",
            "en": "Subtracting the maximum was not the fault, and without it large scores give "
            "NaN: put it back where it was, before `np.exp`.",
        },
    ),
    Misconception(
        "global_maximum",
        (_attention(weigh=wrong.global_peak), _attention(weigh=wrong.global_peak_or_zero)),
        {
            "es": "El máximo perdió su `axis=-1`: ahora se resta el mismo a todas las filas, y la "
            "que está muy por debajo se queda en ceros.",
            "en": "The maximum lost its `axis=-1`: the same one is now subtracted from every row, "
            "and the one far below it is left with zeros.",
        },
    ),
    Misconception(
        "only_output",
        (_returning(lambda output, weights, x, w_v: output),),
        {
            "es": "El código dado devolvía dos cosas y el tuyo una. Devuelve también los pesos: "
            "sin ellos no se habría visto el fallo.",
            "en": "The given code returned two things and yours one. Return the weights as well: "
            "without them the fault would not have been seen.",
        },
    ),
)

EXERCISE = Exercise(
    "mended_self_attention",
    3,
    ("output", "weights"),
    self_attention,
    cases,
    MISCONCEPTIONS,
    problem_set="ps2",
)
