"""Problem set 2, `packed_self_attention`: three projections in one, and how to get it wrong."""

import numpy as np

from attn.exercises import ch03_softmax as wrong
from attn.exercises.spec import Exercise, Misconception
from attn.reference import self_attention, softmax


def packed_self_attention(x, w_qkv, mask=None):
    """Return self-attention whose three matrices stand side by side in ``w_qkv``."""
    return self_attention(x, *np.split(w_qkv, 3, axis=-1), mask)


def with_large_scores(x, w_q, w_k):
    """Make all the scores of one query large and those of the next very negative, in place.

    Parameters
    ----------
    x : ndarray, shape (seq_len, d_model)
    w_q, w_k : ndarray, shape (d_model, d_k)
        Views will do.
    """
    x[:, 0], x[:, 1] = np.resize([40, -40], len(x)), 40
    for w, feature in ((w_q, 0), (w_k, 1)):
        w[:2], w[:, 0] = 0, 0
        w[feature, 0] = 1


def cases(seed):
    """Return inputs: with and without mask, in batches, with large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_qkv`` and, in some, ``mask``.
    """
    rng = np.random.default_rng(seed)

    def draw(seq_len, d_model, d_k, batch=(), mask=None):
        case = {
            "x": rng.uniform(-1, 1, (*batch, seq_len, d_model)),
            "w_qkv": rng.uniform(-0.6, 0.6, (d_model, 3 * d_k)),
        }
        return case if mask is None else case | {"mask": mask}

    one_empty_row = np.array([[True, False, True], [False, False, False], [True, True, True]])
    every_other = (np.arange(4)[:, None] + np.arange(4)) % 2 == 0
    padding = np.arange(5) < np.array([2, 4])[:, None, None]
    large = draw(3, 4, 2)
    with_large_scores(large["x"], *np.split(large["w_qkv"], 3, axis=-1)[:2])
    # The forbidden token has by far the highest score, and the rows are far apart.
    large_and_masked = draw(3, 4, 2, mask=np.array([[True, True, False]]))
    with_large_scores(large_and_masked["x"], *np.split(large_and_masked["w_qkv"], 3, axis=-1)[:2])
    large_and_masked["x"][:, :2] = [[40, -40], [40, -40], [10, 40]]
    return [
        draw(2, 3, 4),
        draw(3, 4, 2),
        draw(3, 3, 3),
        large,
        large_and_masked,
        draw(3, 6, 5, mask=np.tril(np.ones((3, 3), dtype=bool))),
        draw(4, 3, 6, mask=every_other),
        draw(3, 4, 5, mask=one_empty_row),
        draw(5, 4, 6, batch=(2,)),
        draw(5, 4, 3, batch=(2,), mask=padding),
        draw(4, 3, 2, batch=(2, 3), mask=every_other),
    ]


def _thirds(w_qkv):
    return np.split(w_qkv, 3, axis=-1)


def _masked(scores, mask, fill=-np.inf):
    return scores if mask is None else np.where(mask, scores, fill)


def _attention(split=_thirds, scale=lambda x, query: 1, mask=_masked, weigh=softmax):
    def packed_self_attention(x, w_qkv, allowed=None):
        query, key, value = (x @ w for w in split(w_qkv))
        scores = query @ key.mT * scale(x, query) / np.sqrt(query.shape[-1])
        weights = weigh(mask(scores, allowed))
        return weights @ value, weights

    return packed_self_attention


def _rearranged(*order):
    return _attention(lambda w: [_thirds(w)[i] for i in order])


def _values_not_projected(x, w_qkv, mask=None):
    _, weights = packed_self_attention(x, w_qkv, mask)
    return weights @ x, weights


def _mask_afterwards(x, w_qkv, mask=None):
    _, weights = packed_self_attention(x, w_qkv)
    weights = weights if mask is None else weights * mask
    return weights @ (x @ _thirds(w_qkv)[2]), weights


def _maximum_before_mask(divide):
    return _attention(
        mask=lambda scores, mask: _masked(scores - wrong.peaks(scores), mask),
        weigh=lambda shifted: divide(np.exp(shifted)),
    )


def _for_axes(number):
    def attention(x, w_qkv, mask=None):
        if x.ndim != number:
            raise ValueError("axes don't match array")
        return packed_self_attention(x, w_qkv, mask)

    return attention


MISCONCEPTIONS = (
    Misconception(
        "unscaled",
        (_attention(scale=lambda x, query: np.sqrt(query.shape[-1])),),
        {
            "es": "Entre `query @ key.mT` y la softmax falta un paso: dividir entre √d_k. Aquí d_k "
            "es la anchura de la query, un tercio de la de `w_qkv`.",
            "en": "Between `query @ key.mT` and the softmax a step is missing: dividing by √d_k. "
            "Here d_k is the width of the query, a third of that of `w_qkv`.",
        },
    ),
    Misconception(
        "scaled_by_d_model",
        (_attention(scale=lambda x, query: np.sqrt(query.shape[-1] / x.shape[-1])),),
        {
            "es": "Escalas con la anchura de `x`, d_model. El puntaje compara queries y keys, que "
            "ya están proyectadas: usa la anchura de la query, d_k.",
            "en": "You scale by the width of `x`, d_model. The score compares queries and keys, "
            "which are already projected: use the width of the query, d_k.",
        },
    ),
    Misconception(
        "scaled_by_packed_width",
        (_attention(scale=lambda x, query: 1 / np.sqrt(3)),),
        {
            "es": "Escalas con la anchura de las tres proyecciones juntas. En un puntaje solo se "
            "suman d_k productos, un tercio de `w_qkv.shape[-1]`.",
            "en": "You scale by the width of the three projections together. A score sums only d_k "
            "products, a third of `w_qkv.shape[-1]`.",
        },
    ),
    Misconception(
        "query_and_key_exchanged",
        (_rearranged(1, 0, 2),),
        {
            "es": "Tomas el segundo tercio como query y el primero como key, o multiplicas "
            "`key @ query.mT`. El orden en `w_qkv` es query, key, value, y la fila es de quien "
            "pregunta.",
            "en": "You take the second third as the query and the first as the key, or multiply "
            "`key @ query.mT`. The order in `w_qkv` is query, key, value, and the row belongs to "
            "the one who asks.",
        },
    ),
    Misconception(
        "thirds_in_another_order",
        (_rearranged(1, 2, 0), _rearranged(2, 0, 1), _rearranged(2, 1, 0), _rearranged(0, 2, 1)),
        {
            "es": "Los tres tercios son los que son, pero los repartes mal: el último es el value. "
            "De izquierda a derecha: query, key, value.",
            "en": "The three thirds are the right ones, but you deal them out wrongly: the last is "
            "the value. From left to right: query, key, value.",
        },
    ),
    Misconception(
        "interleaved",
        (
            _attention(lambda w: [w[:, i::3] for i in range(3)]),
            _attention(lambda w: w.reshape(3, len(w), -1)),
        ),
        {
            "es": "Mezclas columnas de unas proyecciones con otras. Cada matriz es un bloque de "
            "columnas seguidas, las primeras d_k, las siguientes y las últimas: "
            "`np.split(w_qkv, 3, axis=-1)`.",
            "en": "You mix columns of one projection with those of another. Each matrix is a block "
            "of adjacent columns, the first d_k, the next and the last: "
            "`np.split(w_qkv, 3, axis=-1)`.",
        },
    ),
    Misconception(
        "one_projection_for_both",
        (_rearranged(0, 0, 2), _rearranged(1, 1, 2)),
        {
            "es": "Query y key te salen del mismo tercio, así que todo token puntúa a los demás "
            "como ellos a él. El primero es la query y el segundo la key.",
            "en": "Your query and key come from the same third, so every token scores the others "
            "as they score it. The first is the query and the second the key.",
        },
    ),
    Misconception(
        "key_as_value",
        (_rearranged(0, 1, 1),),
        {
            "es": "El value te sale del segundo tercio, el de la key. Los pesos son correctos; lo "
            "que ponderan es el tercer bloque de columnas.",
            "en": "Your value comes from the second third, that of the key. The weights are right; "
            "what they weight is the third block of columns.",
        },
    ),
    Misconception(
        "values_not_projected",
        (_values_not_projected,),
        {
            "es": "Con los pesos haces la media de `x`, y ese es el embedding, no el value. "
            "Proyecta con el último tercio: la salida tiene d_k columnas, no d_model.",
            "en": "With the weights you take the mean of `x`, which is the embedding and not the "
            "value. Project with the last third: the output has d_k columns, not d_model.",
        },
    ),
    Misconception(
        "softmax_over_queries",
        (_attention(mask=lambda s, m: _masked(s, m, -1e9), weigh=lambda s: softmax(s, axis=-2)),),
        {
            "es": "Son tus columnas las que suman 1: cada key se reparte entre quienes la miran. "
            "Quien reparte es la query, y su fila se recorre con `axis=-1`.",
            "en": "It is your columns that sum to 1: each key is shared among those who look at "
            "it. The one who shares is the query, along its row, with `axis=-1`.",
        },
    ),
    Misconception(
        "mask_without_if",
        (
            _attention(mask=lambda s, m: np.where(m, s, -np.inf)),
            _attention(mask=lambda s, m: np.where(m, s, -np.inf), weigh=wrong.nan_if_empty),
            _attention(mask=lambda s, m: np.where(~m, -np.inf, s)),
        ),
        {
            "es": "No siempre hay máscara, y `np.where(None, ...)` prohíbe todo. Cuando `mask` es "
            "`None`, deja los puntajes como están.",
            "en": "There is not always a mask, and `np.where(None, ...)` forbids everything. When "
            "`mask` is `None`, leave the scores as they are.",
        },
    ),
    Misconception(
        "mask_dropped",
        (_attention(mask=lambda s, m: s),),
        {
            "es": "El resultado es el mismo con máscara y sin ella: te llega como argumento y se "
            "queda ahí. Aplícala a los puntajes o pásala a la función que los calcula.",
            "en": "The result is the same with and without a mask: it reaches you as an argument "
            "and stays there. Apply it to the scores, or pass it to the function that computes "
            "them.",
        },
    ),
    Misconception(
        "mask_inverted",
        (_attention(mask=lambda s, m: _masked(s, None if m is None else ~m)),),
        {
            "es": "Los ceros de tus pesos están donde la máscara dice True. Es donde dice False "
            "donde no se puede atender: intercambia las dos ramas.",
            "en": "The zeros of your weights are where the mask says True. It is where it says "
            "False that attending is forbidden: swap the two branches.",
        },
    ),
    Misconception(
        "mask_after_softmax",
        (_mask_afterwards,),
        {
            "es": "Donde hay máscara tus filas no suman 1: multiplicas por ella lo que la softmax "
            "ya repartió. El −inf va en los puntajes, un paso antes.",
            "en": "Your masked rows do not sum to 1: you multiply by the mask what the softmax has "
            "already shared out. The −inf goes into the scores, one step earlier.",
        },
    ),
    Misconception(
        "matrix_only",
        (_for_axes(2),),
        {
            "es": "Aciertas con una oración y fallas con un lote. Mira qué pasa con los ejes de "
            "delante al trasponer la key y al partir la matriz: `x` puede tener tres ejes o más.",
            "en": "You are right on one sentence and wrong on a batch. See what happens to the "
            "axes in front when you transpose the key and split the matrix: `x` may have three "
            "axes or more.",
        },
    ),
    Misconception(
        "overflow",
        (_attention(weigh=wrong.unstable), _attention(weigh=wrong.unstable_or_zero)),
        {
            "es": "Tu softmax no resiste puntajes de mil: `np.exp` da infinito y la división, NaN. "
            "Resta el máximo de cada fila, como en la tarea 1.",
            "en": "Your softmax does not survive scores of a thousand: `np.exp` gives infinity and "
            "the division NaN. Subtract the maximum of each row, as in task 1.",
        },
    ),
    Misconception(
        "global_maximum",
        (_attention(weigh=wrong.global_peak), _attention(weigh=wrong.global_peak_or_zero)),
        {
            "es": "Tu máximo es uno solo para toda la matriz de puntajes. La fila de un token con "
            "puntajes muy negativos se queda sin nada que dividir: uno por fila.",
            "en": "Your maximum is a single one for the whole matrix of scores. The row of a token "
            "with very negative scores is left with nothing to divide: one for each row.",
        },
    ),
    Misconception(
        "maximum_of_forbidden",
        (_maximum_before_mask(wrong.share_or_zero), _maximum_before_mask(wrong.share)),
        {
            "es": "El máximo que restas puede ser el de un token prohibido, y entonces a los "
            "permitidos no les queda nada. La máscara va antes que el máximo.",
            "en": "The maximum you subtract may be that of a forbidden token, and then nothing is "
            "left to the allowed ones. The mask comes before the maximum.",
        },
    ),
    Misconception(
        "finite_fill",
        (_attention(mask=lambda s, m: _masked(s, m, -1e9)),),
        {
            "es": "El token al que se le prohíbe todo reparte su peso por igual, porque −1e9 es un "
            "número como otro. Con −inf, su fila sale de ceros.",
            "en": "The token that is forbidden everything shares its weight evenly, because −1e9 "
            "is a number like any other. With −inf its row comes out as zeros.",
        },
    ),
    Misconception(
        "empty_row",
        (_attention(weigh=wrong.nan_if_empty),),
        {
            "es": "El token al que se le prohíbe todo te da NaN. Su fila de pesos y su salida son "
            "0: protege la resta del máximo y la división.",
            "en": "The token that is forbidden everything gives you NaN. Its row of weights and "
            "its output are 0: protect the subtraction of the maximum and the division.",
        },
    ),
)

EXERCISE = Exercise(
    "packed_self_attention",
    3,
    ("output", "weights"),
    packed_self_attention,
    cases,
    MISCONCEPTIONS,
    problem_set="ps2",
)
