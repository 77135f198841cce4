"""Problem set 2, `attend_once`: attention for a single query, and the ways to get it wrong."""

import numpy as np

from attn.exercises import ch03_softmax as wrong
from attn.exercises.ps2.softmax import whole_sum
from attn.exercises.spec import Exercise, Misconception
from attn.reference import scaled_dot_product_attention, softmax


def attend_once(query, key, value, mask=None):
    """Return the output and the weights of one query for each set of keys and values."""
    if mask is not None:
        mask = mask[..., None, :]
    output, weights = scaled_dot_product_attention(query[..., None, :], key, value, mask)
    return output[..., 0, :], weights[..., 0, :]


def cases(seed):
    """Return inputs: one sequence and several, with and without mask, with large numbers.

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

    def draw(batch, src_len, d_k, d_v, mask=None):
        case = {
            "query": rng.uniform(-1, 1, (*batch, d_k)),
            "key": rng.uniform(-1, 1, (*batch, src_len, d_k)),
            "value": rng.normal(size=(*batch, src_len, d_v)),
        }
        return case if mask is None else case | {"mask": mask}

    def chequered(*shape):
        """Return a mask with True and False in every row."""
        return (np.arange(shape[-1]) + rng.integers(2, size=(*shape[:-1], 1))) % 2 == 0

    large = draw((2,), 3, 4, 2)
    large["query"][:, 0], large["key"][..., 0] = [40, -40], 40
    # A forbidden key has by far the highest score, and the two sentences are far apart.
    mask = np.array([[True, True, False], [False, True, True]])
    large_and_masked = draw((2,), 3, 4, 2, mask=mask)
    large_and_masked["query"][:, 0] = 40
    large_and_masked["key"][..., 0] = np.where(mask, [[-40], [40]], [[40], [80]])
    one_empty_row = chequered(3, 4)
    one_empty_row[1] = False
    return [
        draw((2,), 3, 4, 2),
        draw((3,), 3, 3, 5),
        draw((4,), 5, 6, 3),
        draw((2,), 4, 3, 2, mask=chequered(2, 4)),
        draw((3,), 5, 4, 6, mask=chequered(3, 5)),
        large,
        large_and_masked,
        draw((3,), 4, 2, 3, mask=one_empty_row),
        draw((), 3, 4, 2),
        draw((), 4, 3, 2, mask=chequered(4)),
        draw((2, 3), 4, 5, 6),
        draw((2, 3), 5, 4, 2, mask=chequered(2, 3, 5)),
    ]


def _scaled(query, key):
    return np.einsum("...d,...nd->...n", query, key) / np.sqrt(query.shape[-1])


def _mean(weights, value):
    return np.einsum("...n,...nd->...d", weights, value)


def _masked(scores, mask, fill=-np.inf):
    return scores if mask is None else np.where(mask, scores, fill)


def _attention(scores=_scaled, mask=_masked, weigh=softmax):
    def attend_once(query, key, value, allowed=None):
        weights = weigh(mask(scores(query, key), allowed))
        return _mean(weights, value), weights

    return attend_once


def _divided_by(divisor):
    return _attention(
        lambda q, k: _scaled(q, k) * np.sqrt(q.shape[-1]) / divisor(q.shape[-1], k.shape[-2])
    )


def _returning(result):
    def attention(query, key, value, mask=None):
        output, weights = attend_once(query, key, value, mask)
        return result(output, weights, key)

    return attention


def _scaled_after(query, key, value, mask=None):
    weights = softmax(_masked(_scaled(query, key) * np.sqrt(query.shape[-1]), mask))
    weights = weights / np.sqrt(query.shape[-1])
    return _mean(weights, value), weights


def _mask_afterwards(query, key, value, mask=None):
    _, weights = attend_once(query, key, value)
    weights = weights if mask is None else weights * mask
    return _mean(weights, value), weights


def _maximum_before_mask(divide):
    def attention(query, key, value, mask=None):
        scores = _scaled(query, key)
        exponentials = np.exp(_masked(scores - wrong.peaks(scores), mask))
        weights = divide(exponentials)
        return _mean(weights, value), weights

    return attention


def _crossed(query, key, value, mask=None):
    weights = softmax(_masked(query @ key.mT / np.sqrt(query.shape[-1]), mask))
    return weights @ value, weights


def _for_batch(number):
    def attention(query, key, value, mask=None):
        if query.ndim != 1 + number:
            raise ValueError("axes don't match array")
        return attend_once(query, key, value, mask)

    return attention


MISCONCEPTIONS = (
    Misconception(
        "unscaled",
        (_divided_by(lambda d_k, n: 1),),
        {
            "es": "Los puntajes llegan a la softmax sin escalar. Cada uno suma d_k productos, y su "
            "tamaño crece con √d_k: divídelos entre la raíz de `query.shape[-1]`.",
            "en": "The scores reach the softmax unscaled. Each sums d_k products, and its size "
            "grows with √d_k: divide them by the root of `query.shape[-1]`.",
        },
    ),
    Misconception(
        "scaled_by_d_k",
        (_divided_by(lambda d_k, n: d_k),),
        {
            "es": "El divisor es d_k y debería ser su raíz cuadrada. Con d_k los puntajes se "
            "acercan tanto a 0 que casi no distinguen unas keys de otras.",
            "en": "The divisor is d_k and should be its square root. With d_k the scores come so "
            "near 0 that they hardly tell the keys apart.",
        },
    ),
    Misconception(
        "scaled_by_length",
        (_divided_by(lambda d_k, n: np.sqrt(n)),),
        {
            "es": "La raíz que tomas es la del número de keys, `key.shape[-2]`. Lo que se suma en "
            "un puntaje son las componentes: la raíz es la de `key.shape[-1]`.",
            "en": "The root you take is that of the number of keys, `key.shape[-2]`. What a score "
            "sums is the components: the root is that of `key.shape[-1]`.",
        },
    ),
    Misconception(
        "scaled_after_softmax",
        (_scaled_after,),
        {
            "es": "La división entre √d_k llega tarde: los pesos ya salieron de la softmax y al "
            "dividirlos dejan de sumar 1. Divide los puntajes.",
            "en": "The division by √d_k comes too late: the weights have left the softmax, and "
            "once divided they no longer sum to 1. Divide the scores.",
        },
    ),
    Misconception(
        "softmax_over_batch",
        (_attention(mask=lambda s, m: _masked(s, m, -1e9), weigh=lambda s: softmax(s, axis=0)),),
        {
            "es": "Tu softmax recorre el primer eje, el del lote: unas oraciones compiten con "
            "otras. Quienes compiten son las keys de una misma oración, el último eje.",
            "en": "Your softmax runs along the first axis, the batch: sentences compete with each "
            "other. Those that compete are the keys of one sentence, the last axis.",
        },
    ),
    Misconception(
        "softmax_over_everything",
        (_attention(weigh=wrong.whole_array), _attention(weigh=whole_sum)),
        {
            "es": "Los pesos de todo el lote suman 1 entre todos. Cada oración del lote tiene su "
            "propia query, que reparte un 1 entero entre sus keys: `axis=-1`.",
            "en": "The weights of the whole batch sum to 1 between them. Each sentence in the "
            "batch has a query of its own, which shares a full 1 among its keys: `axis=-1`.",
        },
    ),
    Misconception(
        "no_softmax",
        (_attention(weigh=lambda s: s),),
        {
            "es": "Ponderas los values con los puntajes tal cual. Para que sea una media hacen "
            "falta pesos no negativos que sumen 1: pásalos antes por una softmax.",
            "en": "You weight the values with the bare scores. For it to be a mean you need "
            "weights that are not negative and sum to 1: put them through a softmax first.",
        },
    ),
    Misconception(
        "argmax",
        (_attention(weigh=wrong.one_hot),),
        {
            "es": "Copias el value de la key que más se parece. La atención toma de todas, cada "
            "una según su peso: cambia el `argmax` por una softmax.",
            "en": "You copy the value of the key that matches best. Attention takes from all of "
            "them, each by its weight: replace the `argmax` by a softmax.",
        },
    ),
    Misconception(
        "key_as_value",
        (_returning(lambda output, weights, key: (_mean(weights, key), weights)),),
        {
            "es": "Haces la media de las keys. Ya cumplieron su papel al dar los pesos; lo que se "
            "entrega son los values, y la salida tiene su tamaño, d_v.",
            "en": "You take the mean of the keys. They have done their part by giving the weights; "
            "what is handed over is the values, and the output has their size, d_v.",
        },
    ),
    Misconception(
        "batch_crossed",
        (_crossed,),
        {
            "es": "`query @ key.mT` toma el lote de queries por una matriz, y pregunta con cada "
            "query a las keys de todas las oraciones. Dale un eje propio: "
            "`query[..., None, :] @ key.mT`, y quítalo después.",
            "en": "`query @ key.mT` takes the batch of queries for a matrix, and puts every query "
            "to the keys of every sentence. Give it an axis of its own, "
            "`query[..., None, :] @ key.mT`, and remove it afterwards.",
        },
    ),
    Misconception(
        "axis_left_over",
        (
            _returning(lambda output, weights, key: (output[..., None, :], weights[..., None, :])),
            _returning(lambda output, weights, key: (output[..., None, :], weights)),
        ),
        {
            "es": "Los números están bien, pero queda un eje de tamaño 1, el que diste a la query "
            "para multiplicarla. Quítalo de los dos resultados: `output[..., 0, :]`.",
            "en": "The numbers are right, but an axis of size 1 is left, the one you gave the "
            "query to multiply it. Remove it from both results: `output[..., 0, :]`.",
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
            "es": "Sin máscara, `mask` es `None`, y tu código lo toma por un arreglo: o prohíbe "
            "todo, o se detiene. Pregunta antes: `if mask is not None:`.",
            "en": "Without a mask, `mask` is `None`, and your code takes it for an array: it "
            "forbids everything, or it stops. Ask first: `if mask is not None:`.",
        },
    ),
    Misconception(
        "mask_ignored",
        (_attention(mask=lambda s, m: s),),
        {
            "es": "Das peso a keys que la máscara prohíbe: es como si no estuviera. Donde `mask` "
            "sea False, el puntaje que entra en la softmax debe ser −inf.",
            "en": "You give weight to keys that the mask forbids, as if it were not there. Where "
            "`mask` is False, the score that enters the softmax must be −inf.",
        },
    ),
    Misconception(
        "mask_inverted",
        (_attention(mask=lambda s, m: _masked(s, None if m is None else ~m)),),
        {
            "es": "Lees la máscara con el sentido contrario y prohíbes lo permitido. True es «sí "
            "puede»: la condición de `np.where` es `mask`, no `~mask`.",
            "en": "You read the mask the wrong way and forbid what is allowed. True is “yes, it "
            "may”: the condition of `np.where` is `mask`, not `~mask`.",
        },
    ),
    Misconception(
        "mask_after_softmax",
        (_mask_afterwards,),
        {
            "es": "Borras pesos cuando la softmax ya repartió, y lo borrado se pierde: lo que "
            "queda suma menos de 1. Prohíbe antes, en los puntajes, con −inf.",
            "en": "You erase weights once the softmax has shared them out, and what you erase is "
            "lost: the rest sums to less than 1. Forbid earlier, in the scores, with −inf.",
        },
    ),
    Misconception(
        "mask_as_factor",
        (_attention(mask=lambda s, m: _masked(s, m, 0)),),
        {
            "es": "Un puntaje de 0 no prohíbe nada: su exponencial es 1, y hay puntajes permitidos "
            "más bajos. No multipliques por la máscara; pon −inf.",
            "en": "A score of 0 forbids nothing: its exponential is 1, and there are allowed "
            "scores below it. Do not multiply by the mask; put −inf.",
        },
    ),
    Misconception(
        "one_batch_axis",
        (_for_batch(1), _for_batch(0)),
        {
            "es": "Tu función cuenta con un número fijo de ejes de lote, y puede haber ninguno, "
            "uno o más. Escribe los índices desde el final, con `...` delante, y usa `.mT`.",
            "en": "Your function counts on a fixed number of batch axes, and there may be none, "
            "one or more. Write indices from the end, with `...` in front, and use `.mT`.",
        },
    ),
    Misconception(
        "only_output",
        (_returning(lambda output, weights, key: output),),
        {
            "es": "Falta la segunda mitad de la respuesta. Quien llama espera una pareja: la "
            "salida y los pesos, `return output, weights`.",
            "en": "Half the answer is missing. The caller expects a pair: the output and the "
            "weights, `return output, weights`.",
        },
    ),
    Misconception(
        "overflow",
        (_attention(weigh=wrong.unstable), _attention(weigh=wrong.unstable_or_zero)),
        {
            "es": "Con puntajes de varios cientos tu exponencial llega a infinito, o se queda toda "
            "en 0. Resta a los puntajes de cada query el mayor de ellos.",
            "en": "With scores of several hundred your exponential reaches infinity, or stays at 0 "
            "throughout. Subtract from the scores of each query the largest of them.",
        },
    ),
    Misconception(
        "global_maximum",
        (_attention(weigh=wrong.global_peak), _attention(weigh=wrong.global_peak_or_zero)),
        {
            "es": "Restas el máximo de todo el lote. A la oración con puntajes muy negativos no le "
            "queda ninguna exponencial distinta de 0: toma el máximo con "
            "`axis=-1, keepdims=True`.",
            "en": "You subtract the maximum of the whole batch. The sentence with very negative "
            "scores is left with no exponential but 0: take the maximum with "
            "`axis=-1, keepdims=True`.",
        },
    ),
    Misconception(
        "maximum_of_forbidden",
        (_maximum_before_mask(wrong.share_or_zero), _maximum_before_mask(wrong.share)),
        {
            "es": "Tomas el máximo antes de aplicar la máscara. Si el puntaje más alto está "
            "prohibido, los permitidos quedan muy por debajo y sus exponenciales son 0: prohíbe "
            "primero y toma el máximo después.",
            "en": "You take the maximum before you apply the mask. If the highest score is "
            "forbidden, the allowed ones are left far below it and their exponentials are 0: "
            "forbid first, then take the maximum.",
        },
    ),
    Misconception(
        "finite_fill",
        (_attention(mask=lambda s, m: _masked(s, m, -1e9)),),
        {
            "es": "Si todo está prohibido y el relleno es −1e9, todos los puntajes son iguales y "
            "la softmax reparte entre lo prohibido. Rellena con −inf y da ceros en ese caso.",
            "en": "If everything is forbidden and the fill is −1e9, all the scores are equal and "
            "the softmax shares among the forbidden. Fill with −inf, and give zeros in that case.",
        },
    ),
    Misconception(
        "empty_row",
        (_attention(weigh=wrong.nan_if_empty),),
        {
            "es": "Cuando la máscara prohíbe todas las keys devuelves NaN, y NaN contagia cuanto "
            "toca. Ahí los pesos y la salida son 0: la suma de exponenciales es 0, no dividas "
            "entre ella.",
            "en": "When the mask forbids every key you return NaN, and NaN infects whatever it "
            "touches. There the weights and the output are 0: the exponentials sum to 0, so do "
            "not divide by that sum.",
        },
    ),
)

EXERCISE = Exercise(
    "attend_once",
    3,
    ("output", "weights"),
    attend_once,
    cases,
    MISCONCEPTIONS,
    problem_set="ps2",
)
