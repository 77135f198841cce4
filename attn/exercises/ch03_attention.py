"""Chapter 3, `scaled_dot_product_attention`, and the ways to get it wrong."""

import numpy as np

from attn.exercises import ch03_softmax as wrong
from attn.exercises.spec import Exercise, Misconception
from attn.reference import scaled_dot_product_attention, softmax


def cases(seed):
    """Return inputs for attention: with and without mask, in batches, with large numbers.

    Dimensions differ where a mistake could hide behind equal ones, and components are small,
    so that no query gives almost all its weight to one key and the scale shows.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key``, ``value`` and, in some, ``mask``.
    """
    rng = np.random.default_rng(seed)

    def draw(tgt_len, src_len, d_k, d_v, batch=(), mask=None):
        case = {
            "query": rng.uniform(-1, 1, (*batch, tgt_len, d_k)),
            "key": rng.uniform(-1, 1, (*batch, src_len, d_k)),
            "value": rng.normal(size=(*batch, src_len, d_v)),
        }
        return case if mask is None else case | {"mask": mask}

    def chequered(tgt_len, src_len):
        """Return a mask with True and False in every row and in every column."""
        return (np.arange(tgt_len)[:, None] + rng.permutation(src_len)) % 2 == 0

    large = draw(2, 3, 4, 2)
    large["query"][:, 0], large["key"][:, 0] = [40, -40], 40
    one_empty_row = chequered(3, 4)
    one_empty_row[1:] = [[False], [True]]
    per_sequence = np.stack([chequered(3, 5), chequered(3, 5)])
    padding = np.arange(5) < np.array([2, 4])[:, None, None]
    return [
        draw(2, 3, 4, 2),
        draw(3, 3, 4, 5),
        draw(4, 2, 3, 5),
        draw(2, 4, 3, 2, mask=chequered(2, 4)),
        large,
        draw(3, 4, 2, 3, mask=one_empty_row),
        draw(3, 4, 5, 6, batch=(2,)),
        draw(3, 5, 4, 6, batch=(2,), mask=per_sequence),
        draw(3, 5, 4, 6, batch=(2,), mask=chequered(3, 5)),
        draw(3, 5, 4, 6, batch=(2,), mask=padding),
        draw(4, 5, 6, 7, batch=(2, 3), mask=padding[:, None]),
    ]


def _scaled(query, key, value):
    return query @ key.mT / np.sqrt(query.shape[-1])


def _masked(scores, mask, fill=-np.inf):
    return scores if mask is None else np.where(mask, scores, fill)


def _attention(scores=_scaled, mask=_masked, weigh=softmax):
    def attention(query, key, value, allowed=None):
        weights = weigh(mask(scores(query, key, value), allowed))
        return weights @ value, weights

    return attention


def _divided_by(divisor):
    return _attention(lambda q, k, v: q @ k.mT / divisor(q, k, v))


def _returning(result):
    def attention(query, key, value, mask=None):
        output, weights = scaled_dot_product_attention(query, key, value, mask)
        return result(output, weights, query, key, value, mask)

    return attention


def _weights_scaled(query, key, value, mask=None):
    weights = softmax(_masked(query @ key.mT, mask)) / np.sqrt(query.shape[-1])
    return weights @ value, weights


def _output_scaled(query, key, value, mask=None):
    weights = softmax(_masked(query @ key.mT, mask))
    return weights @ value / np.sqrt(query.shape[-1]), weights


def _mask_afterwards(query, key, value, mask=None):
    _, weights = scaled_dot_product_attention(query, key, value)
    weights = weights if mask is None else weights * mask
    return weights @ value, weights


def _added(scores, mask):
    return scores if mask is None else scores + np.where(mask, 0, -1e9)


def _assigned(scores, mask):
    if mask is not None:
        scores[~mask] = -np.inf
    return scores


def _if_mask(scores, mask):
    return np.where(mask, scores, -np.inf) if mask else scores


def _infinity_times_zero(scores, mask):
    return scores if mask is None else scores + -np.inf * (1 - mask)


def _for_axes(number):
    def attention(query, key, value, mask=None):
        if query.ndim != number:
            raise ValueError("axes don't match array")
        return scaled_dot_product_attention(query, key, value, mask)

    return attention


MISCONCEPTIONS = (
    Misconception(
        "unscaled",
        (_divided_by(lambda q, k, v: 1),),
        {
            "es": "Falta dividir los puntajes entre √d_k. Su desviación típica crece como √d_k, y "
            "con puntajes grandes la softmax se queda con un solo token: divide entre "
            "`np.sqrt(query.shape[-1])`.",
            "en": "The scores are not divided by √d_k. Their standard deviation grows as √d_k, and "
            "with large scores the softmax settles on a single token: divide by "
            "`np.sqrt(query.shape[-1])`.",
        },
    ),
    Misconception(
        "scaled_by_d_k",
        (_divided_by(lambda q, k, v: q.shape[-1]),),
        {
            "es": "Divides entre d_k y no entre su raíz. La desviación típica de los puntajes es "
            "√d_k: entre d_k quedan demasiado pequeños, y los pesos casi iguales. Usa "
            "`np.sqrt(d_k)`.",
            "en": "You divide by d_k and not by its root. The standard deviation of the scores is "
            "√d_k: divided by d_k they become too small, and the weights nearly equal. Use "
            "`np.sqrt(d_k)`.",
        },
    ),
    Misconception(
        "power_before_division",
        (
            _divided_by(lambda q, k, v: q.shape[-1] / 2),
            _divided_by(lambda q, k, v: q.shape[-1] * 2),
        ),
        {
            "es": "Divides entre d_k/2 o entre 2·d_k, no entre √d_k. ¿Escribiste `d_k**1/2`? La "
            "potencia se calcula antes que la división, así que no es la raíz: usa "
            "`np.sqrt(d_k)` o `d_k**0.5`.",
            "en": "You divide by d_k/2 or by 2·d_k, not by √d_k. Did you write `d_k**1/2`? The "
            "power is computed before the division, so that is not the root: use "
            "`np.sqrt(d_k)` or `d_k**0.5`.",
        },
    ),
    Misconception(
        "multiplied_by_root",
        (_divided_by(lambda q, k, v: 1 / np.sqrt(q.shape[-1])),),
        {
            "es": "Multiplicas por √d_k en vez de dividir. Los puntajes crecen todavía más y la "
            "softmax se satura: divide.",
            "en": "You multiply by √d_k instead of dividing. The scores grow even larger and the "
            "softmax saturates: divide.",
        },
    ),
    Misconception(
        "scaled_by_d_v",
        (_divided_by(lambda q, k, v: np.sqrt(v.shape[-1])),),
        {
            "es": "Tomaste la raíz de d_v, la dimensión de `value`. Un puntaje es la suma de d_k "
            "productos entre query y key, y value no interviene: la raíz es la de "
            "`query.shape[-1]`.",
            "en": "You took the root of d_v, the dimension of `value`. A score is the sum of d_k "
            "products of query and key, and value has no part in it: the root is that of "
            "`query.shape[-1]`.",
        },
    ),
    Misconception(
        "scaled_after_softmax",
        (_weights_scaled, _output_scaled),
        {
            "es": "Divides entre √d_k después de la softmax, y a ella le llegan los puntajes sin "
            "escalar: se satura igual, y lo que divides ya no suma 1. Divide antes los puntajes: "
            "`softmax(scores / np.sqrt(d_k))`.",
            "en": "You divide by √d_k after the softmax, which still receives unscaled scores: it "
            "saturates all the same, and what you divide no longer sums to 1. Divide the scores "
            "first: `softmax(scores / np.sqrt(d_k))`.",
        },
    ),
    Misconception(
        "scaled_by_length",
        (
            _divided_by(lambda q, k, v: np.sqrt(k.shape[-2])),
            _divided_by(lambda q, k, v: np.sqrt(q.shape[-2])),
            _divided_by(lambda q, k, v: np.sqrt(k.shape[0])),
            _divided_by(lambda q, k, v: np.sqrt(q.shape[0])),
        ),
        {
            "es": "Divides entre la raíz del número de tokens (o de oraciones), no de la "
            "dimensión d_k. Así la escala depende de lo larga que sea la oración: toma el último "
            "eje, `query.shape[-1]`.",
            "en": "You divide by the root of the number of tokens (or of sentences), not of the "
            "dimension d_k. The scale then depends on how long the sentence is: take the last "
            "axis, `query.shape[-1]`.",
        },
    ),
    Misconception(
        "softmax_over_queries",
        (_attention(mask=lambda s, m: _masked(s, m, -1e9), weigh=lambda s: softmax(s, axis=-2)),),
        {
            "es": "Aplicaste la softmax sobre las queries. Es cada query la que reparte un total "
            "de 1 entre las keys: usa el último eje, el de las keys (`axis=-1`).",
            "en": "You applied the softmax over the queries. It is each query that shares out a "
            "total of 1 among the keys: use the last axis, the keys (`axis=-1`).",
        },
    ),
    Misconception(
        "softmax_over_everything",
        (_attention(weigh=wrong.whole_array),),
        {
            "es": "Tu softmax normaliza todos los puntajes juntos, y los pesos de todas las "
            "queries suman 1 entre sí. Cada query tiene su propia distribución: normaliza sobre "
            "el último eje, `axis=-1`.",
            "en": "Your softmax normalises all the scores together, and the weights of all the "
            "queries sum to 1 between them. Each query has a distribution of its own: normalise "
            "over the last axis, `axis=-1`.",
        },
    ),
    Misconception(
        "no_softmax",
        (_attention(weigh=lambda s: s),),
        {
            "es": "Usas los puntajes como pesos, sin pasarlos por la softmax. Pueden ser negativos "
            "y no suman 1, así que la salida no es una media de los values: aplica la softmax "
            "sobre las keys.",
            "en": "You use the scores as weights, without passing them through the softmax. They "
            "can be negative and do not sum to 1, so the output is not a mean of the values: "
            "apply the softmax over the keys.",
        },
    ),
    Misconception(
        "argmax",
        (_attention(weigh=wrong.one_hot),),
        {
            "es": "Cada query se queda solo con la key de mayor puntaje. La atención es una media "
            "ponderada de todo, y por eso se puede derivar y entrenar: usa la softmax en lugar de "
            "`argmax`.",
            "en": "Each query keeps only the key with the highest score. Attention is a weighted "
            "mean of everything, which is why it can be differentiated and trained: use the "
            "softmax instead of `argmax`.",
        },
    ),
    Misconception(
        "query_key_swapped",
        (_attention(lambda q, k, v: _scaled(k, q, v)),),
        {
            "es": "Intercambiaste query y key: `key @ query.mT` tiene forma (keys, queries). Cada "
            "fila debe ser la de una query: calcula `query @ key.mT`, con forma (queries, keys).",
            "en": "You swapped query and key: `key @ query.mT` has shape (keys, queries). Each row "
            "must be that of a query: compute `query @ key.mT`, with shape (queries, keys).",
        },
    ),
    Misconception(
        "key_reshaped",
        (_attention(lambda q, k, v: _scaled(q, k.reshape(k.mT.shape).mT, v)),),
        {
            "es": "Usaste `reshape` para trasponer la key. Da la forma correcta, pero reparte los "
            "números en el orden en que estaban y mezcla unas keys con otras: para intercambiar "
            "los dos últimos ejes usa `key.mT`.",
            "en": "You used `reshape` to transpose the key. It gives the right shape, but deals "
            "the numbers out in their old order and mixes the keys: to swap the last two axes, "
            "use `key.mT`.",
        },
    ),
    Misconception(
        "key_as_value",
        (_returning(lambda output, weights, q, k, v, mask: (weights @ k, weights)),),
        {
            "es": "Tu salida es una media de las keys: `weights @ key`. La key sirve para decidir "
            "a qué se atiende; la media ponderada es la de los values: `weights @ value`.",
            "en": "Your output is a mean of the keys: `weights @ key`. The key serves to decide "
            "what to attend to; the weighted mean is that of the values: `weights @ value`.",
        },
    ),
    Misconception(
        "mask_as_condition",
        (_attention(mask=_if_mask),),
        {
            "es": "Una máscara tiene muchos valores, y ni `if mask:` ni `if mask != None:` saben "
            "cuál mirar. Lo que quieres saber es si hay máscara: escribe `if mask is not None:`.",
            "en": "A mask has many values, and neither `if mask:` nor `if mask != None:` knows "
            "which one to look at. What you want to know is whether there is a mask: write "
            "`if mask is not None:`.",
        },
    ),
    Misconception(
        "mask_without_if",
        (
            _attention(mask=lambda s, m: np.where(m, s, -np.inf)),
            _attention(mask=lambda s, m: np.where(m, s, -np.inf), weigh=wrong.nan_if_empty),
            _attention(mask=lambda s, m: np.where(m, s, -1e9)),
            _attention(mask=lambda s, m: np.where(~m, -np.inf, s)),
        ),
        {
            "es": "`mask` puede ser `None`, y entonces nada está prohibido; `np.where` toma `None` "
            "por False y lo prohíbe todo, y `~None` es un error. Aplica la máscara solo dentro "
            "de un `if mask is not None:`.",
            "en": "`mask` may be `None`: then nothing is forbidden. `np.where` takes `None` for "
            "False and forbids everything, and `~None` is an error. Apply the mask only inside "
            "`if mask is not None:`.",
        },
    ),
    Misconception(
        "infinity_times_zero",
        (_attention(mask=_infinity_times_zero, weigh=wrong.nan_if_empty),),
        {
            "es": "Multiplicas −inf por 0 donde la máscara permite atender, y ∞ · 0 no es 0 sino "
            "NaN, que llega a toda la fila. Elige en vez de multiplicar: "
            "`np.where(mask, scores, -np.inf)`.",
            "en": "You multiply −inf by 0 where the mask allows attending, and ∞ · 0 is not 0 but "
            "NaN, which reaches the whole row. Choose instead of multiplying: "
            "`np.where(mask, scores, -np.inf)`.",
        },
    ),
    Misconception(
        "mask_added",
        (_attention(mask=lambda s, m: s if m is None else s + m),),
        {
            "es": "Sumas la máscara a los puntajes: True vale 1 y False vale 0, así que lo "
            "prohibido conserva su puntaje y recibe peso. Ponle −inf: "
            "`np.where(mask, scores, -np.inf)`.",
            "en": "You add the mask to the scores: True counts as 1 and False as 0, so what is "
            "forbidden keeps its score and receives weight. Give it −inf: "
            "`np.where(mask, scores, -np.inf)`.",
        },
    ),
    Misconception(
        "mask_ignored",
        (_attention(mask=lambda s, m: s),),
        {
            "es": "La máscara no cambia nada: das peso a posiciones prohibidas. Antes de la "
            "softmax, pon −inf en los puntajes donde `mask` es False.",
            "en": "The mask changes nothing: you give weight to forbidden positions. Before the "
            "softmax, put −inf in the scores where `mask` is False.",
        },
    ),
    Misconception(
        "mask_inverted",
        (_attention(mask=lambda s, m: _masked(s, None if m is None else ~m)),),
        {
            "es": "La máscara está al revés: atiendes justo a lo prohibido. En este curso True "
            "significa «puede atender»: pon −inf donde `mask` es False, con "
            "`np.where(mask, scores, -np.inf)`.",
            "en": "The mask is inverted: you attend to exactly what is forbidden. In this course "
            "True means “may attend”: put −inf where `mask` is False, with "
            "`np.where(mask, scores, -np.inf)`.",
        },
    ),
    Misconception(
        "mask_after_softmax",
        (_mask_afterwards,),
        {
            "es": "Aplicas la máscara después de la softmax, y los pesos que quedan ya no suman 1. "
            "Aplícala antes, a los puntajes: con −inf en lo prohibido, la softmax reparte todo el "
            "peso entre lo permitido.",
            "en": "You apply the mask after the softmax, and the weights that remain no longer sum "
            "to 1. Apply it before, to the scores: with −inf in what is forbidden, the softmax "
            "shares all the weight among what is allowed.",
        },
    ),
    Misconception(
        "mask_as_factor",
        (_attention(mask=lambda s, m: _masked(s, m, 0)),),
        {
            "es": "Das puntaje 0 a lo prohibido, pero exp(0) = 1: sigue recibiendo peso. El "
            "puntaje que da peso 0 es −inf: `np.where(mask, scores, -np.inf)`.",
            "en": "You give what is forbidden a score of 0, but exp(0) = 1: it still receives "
            "weight. The score that gives weight 0 is −inf: `np.where(mask, scores, -np.inf)`.",
        },
    ),
    Misconception(
        "mask_not_broadcast",
        (_attention(mask=_assigned),),
        {
            "es": "`scores[~mask] = ...` exige que la máscara tenga la forma exacta de los "
            "puntajes, y una máscara común a todo el lote no la tiene: usa "
            "`np.where(mask, scores, -np.inf)`, que la extiende.",
            "en": "`scores[~mask] = ...` wants the mask to have the exact shape of the scores, and "
            "one mask for the whole batch does not: use `np.where(mask, scores, -np.inf)`, which "
            "broadcasts it.",
        },
    ),
    Misconception(
        "unbatched_only",
        (_attention(lambda q, k, v: q @ k.T / np.sqrt(q.shape[-1])),),
        {
            "es": "Tu función sirve para una oración, pero no para un lote. Si usas `key.T`, "
            "invierte todos los ejes: intercambia solo los dos últimos, `key.mT`.",
            "en": "Your function handles one sentence, but not a batch. If you use `key.T`, it "
            "reverses all the axes: swap only the last two, `key.mT`.",
        },
    ),
    Misconception(
        "fixed_axes",
        (_for_axes(3), _for_axes(4)),
        {
            "es": "Tu función cuenta con un número fijo de ejes, como `key.transpose(0, 2, 1)`. "
            "Puede haber cero, uno o varios ejes de lote: intercambia siempre los dos últimos, "
            "con `key.mT`.",
            "en": "Your function counts on a fixed number of axes, as `key.transpose(0, 2, 1)` "
            "does. There may be zero, one or several batch axes: always swap the last two, with "
            "`key.mT`.",
        },
    ),
    Misconception(
        "only_output",
        (_returning(lambda output, *_: output),),
        {
            "es": "Devuelves solo la salida. También hacen falta los pesos, que dicen a qué "
            "atendió cada query: termina con `return output, weights`.",
            "en": "You return only the output. The weights, which say what each query attended "
            "to, are needed too: finish with `return output, weights`.",
        },
    ),
    Misconception(
        "outputs_swapped",
        (_returning(lambda output, weights, *_: (weights, output)),),
        {
            "es": "Devuelves los dos resultados en el orden contrario. Primero va la salida: "
            "`return output, weights`.",
            "en": "You return the two results in the wrong order. The output comes first: "
            "`return output, weights`.",
        },
    ),
    Misconception(
        "scores_returned",
        (
            _returning(lambda o, w, q, k, v, mask: (o, _masked(_scaled(q, k, v), mask))),
            _returning(lambda o, w, q, k, v, mask: (o, _scaled(q, k, v))),
            _returning(lambda o, w, q, k, v, mask: (o, q @ k.mT)),
        ),
        {
            "es": "La salida es correcta, pero junto a ella devuelves los puntajes y no los pesos. "
            "Los pesos son lo que sale de la softmax: cada fila suma 1.",
            "en": "The output is right, but you return the scores with it and not the weights. The "
            "weights are what comes out of the softmax: each row sums to 1.",
        },
    ),
    Misconception(
        "overflow",
        (_attention(weigh=wrong.unstable), _attention(weigh=wrong.unstable_or_zero)),
        {
            "es": "Con puntajes grandes tu softmax falla: `exp` se desborda a infinito o redondea "
            "todo a 0. Resta a los puntajes de cada query su máximo antes de `np.exp`; los pesos "
            "no cambian.",
            "en": "With large scores your softmax fails: `exp` overflows to infinity or rounds "
            "everything to 0. Subtract from the scores of each query their maximum before "
            "`np.exp`; the weights do not change.",
        },
    ),
    Misconception(
        "global_maximum",
        (_attention(weigh=wrong.global_peak), _attention(weigh=wrong.global_peak_or_zero)),
        {
            "es": "Restas un mismo máximo a los puntajes de todas las queries. Si los de una "
            "quedan muy por debajo, todas sus exponenciales se redondean a 0: resta a cada fila "
            "su propio máximo.",
            "en": "You subtract one maximum from the scores of all the queries. If those of one "
            "lie far below it, all its exponentials round to 0: subtract from each row its own "
            "maximum.",
        },
    ),
    Misconception(
        "finite_fill",
        (_attention(mask=lambda s, m: _masked(s, m, -1e9)), _attention(mask=_added)),
        {
            "es": "Con un número como −1e9 en lugar de −inf, una query que no puede atender a nada "
            "termina atendiendo a lo prohibido. Sus pesos deben ser 0: si hay máscara, tras la "
            "softmax haz `weights = np.where(mask, weights, 0)`.",
            "en": "With a number like −1e9 in place of −inf, a query that may attend to nothing "
            "ends up attending to what is forbidden. Its weights must be 0: if there is a mask, "
            "follow the softmax with `weights = np.where(mask, weights, 0)`.",
        },
    ),
    Misconception(
        "empty_row",
        (_attention(weigh=wrong.nan_if_empty),),
        {
            "es": "Una query que no puede atender a nada te da NaN: toda su fila es −inf, y la "
            "división es 0 entre 0. Por convenio sus pesos y su salida son 0: si hay máscara, haz "
            "`weights = np.where(mask, weights, 0)` antes de hacer la media.",
            "en": "A query that may attend to nothing gives you NaN: its whole row is −inf, and "
            "the division is 0 by 0. By convention its weights and its output are 0: if there is "
            "a mask, set `weights = np.where(mask, weights, 0)` before you take the mean.",
        },
    ),
)

EXERCISE = Exercise(
    "scaled_dot_product_attention",
    3,
    ("output", "weights"),
    scaled_dot_product_attention,
    cases,
    MISCONCEPTIONS,
)
