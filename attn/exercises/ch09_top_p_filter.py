"""Chapter 9, `top_p_filter`: the nucleus of a distribution, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import softmax, top_p_filter


def cases(seed):
    """Return inputs: vectors, batches, and values of p that cut early and late.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``logits`` and ``p``.
    """
    rng = np.random.default_rng(seed)
    steps = np.array([1.6, 0.9, 0.3, -0.2, -0.8, -1.3, -1.9, -2.4])

    def draw(*shape, p):
        noise = rng.uniform(-0.15, 0.15, shape)
        # The most probable token is never the first, nor are the others in order.
        logits = rng.permuted(np.broadcast_to(steps[: shape[-1]], shape), axis=-1) + noise
        first = logits[..., 0] == logits.max(axis=-1)
        return {"logits": np.where(first[..., None], logits[..., ::-1], logits), "p": np.array(p)}

    # Halves of halves, whose sum reaches p exactly; and a p that removes nothing.
    exact = {"logits": -np.log([4.0, 2, 8, 8]), "p": np.array(0.5)}
    return [
        exact, draw(4, p=0.95), draw(4, p=0.6), draw(5, p=0.75), draw(6, p=0.3), draw(2, 5, p=0.8), draw(3, 7, p=0.55),
        draw(2, 3, 6, p=0.9), draw(3, 8, p=0.7),
    ]  # fmt: skip


def _sorted(logits):
    probabilities = softmax(logits)
    order = np.argsort(-probabilities, axis=-1)
    return probabilities, order, np.take_along_axis(probabilities, order, axis=-1)


def _back(kept, order):
    result = np.zeros_like(kept)
    np.put_along_axis(result, order, kept, axis=-1)
    return result


def _share(kept):
    total = kept.sum(axis=-1, keepdims=True)
    return kept / np.where(total == 0, 1, total)


def _unguarded(kept):
    return kept / kept.sum(axis=-1, keepdims=True)


def _keeping(keep, share=_share):
    """Return a filter that keeps, of the sorted probabilities, those that a rule keeps."""

    def nucleus(logits, p):
        _, order, best = _sorted(logits)
        return share(_back(np.where(keep(best, p), best, 0), order))

    return nucleus


def _right(best, p):
    return np.cumsum(best, axis=-1) - best < p


def _kept(logits, p):
    _, order, best = _sorted(logits)
    return _back(_right(best, p), order).astype(bool)


def _unsorted(logits, p):
    probabilities = softmax(logits)
    return _share(np.where(_right(probabilities, p), probabilities, 0))


def _least_first(logits, p):
    probabilities = softmax(logits)
    order = np.argsort(probabilities, axis=-1)
    best = np.take_along_axis(probabilities, order, axis=-1)
    return _share(_back(np.where(_right(best, p), best, 0), order))


def _left_sorted(logits, p):
    _, _, best = _sorted(logits)
    return _share(np.where(_right(best, p), best, 0))


def _sorted_twice(logits, p):
    _, order, best = _sorted(logits)
    kept = np.where(_right(best, p), best, 0)
    return _share(np.take_along_axis(kept, order, axis=-1))


def _share_of_vocabulary(logits, p):
    _, order, best = _sorted(logits)
    count = np.ceil(p * logits.shape[-1])
    return _share(_back(np.where(np.arange(logits.shape[-1]) < count, best, 0), order))


def _softmax_of_probabilities(logits, p):
    return softmax(np.where(_kept(logits, p), softmax(logits), -np.inf))


def _whole_batch(logits, p):
    return _keeping(_right)(logits.reshape(-1), p).reshape(logits.shape)


def _logits_as_probabilities(logits, p):
    order = np.argsort(-logits, axis=-1)
    best = np.take_along_axis(logits, order, axis=-1)
    kept = _back(np.cumsum(best, axis=-1) - best < p, order)
    return _share(softmax(logits) * kept)


def _complement(logits, p):
    return _share(np.where(_kept(logits, p), 0, softmax(logits)))


def _vector_only(logits, p):
    if logits.ndim != 1:
        raise ValueError("one row of logits at a time")
    return top_p_filter(logits, p)


MISCONCEPTIONS = (
    Misconception(
        "not_renormalised",
        (_keeping(_right, share=lambda kept: kept),),
        {
            "es": "Conservas los tokens correctos, pero sus probabilidades ya no suman 1: falta lo "
            "que quitaste. Divide entre la suma de lo que queda en cada fila, con "
            "`axis=-1, keepdims=True`.",
            "en": "You keep the right tokens, but their probabilities no longer sum to 1: what you "
            "removed is missing. Divide by the sum of what remains in each row, with "
            "`axis=-1, keepdims=True`.",
        },
    ),
    Misconception(
        "crossing_token_dropped",
        (_keeping(lambda best, p: np.cumsum(best, axis=-1) <= p),),
        {
            "es": "Quitas el token con el que la suma alcanza p, así que lo que queda no llega a "
            "p; y si el primero ya la supera, no queda nada. Conserva un token mientras los "
            "anteriores a él sumen menos de p.",
            "en": "You drop the token with which the sum reaches p, so that what remains falls "
            "short of p; and if the first one exceeds it, nothing remains. Keep a token while "
            "those before it sum to less than p.",
        },
    ),
    Misconception(
        "one_too_many",
        (
            _keeping(
                lambda best, p: (
                    np.cumsum(best, axis=-1)
                    - best
                    - np.roll(best, 1, -1) * (np.arange(best.shape[-1]) > 0)
                    < p
                )
            ),
        ),
        {
            "es": "Conservas un token de más. Si los que van delante ya suman p, el núcleo está "
            "completo: la suma que cuenta es la de todos los anteriores, "
            "`np.cumsum(best, axis=-1) - best`.",
            "en": "You keep one token too many. If those in front already sum to p, the nucleus is "
            "complete: the sum that counts is that of all those before, "
            "`np.cumsum(best, axis=-1) - best`.",
        },
    ),
    Misconception(
        "boundary_passed",
        (_keeping(lambda best, p: np.cumsum(best, axis=-1) - best <= p),),
        {
            "es": "Con p = 0.5 y una primera palabra de 0.5 guardas dos, y esa ya sumaba p. El "
            "núcleo son los menos tokens que llegan a p: la comparación con los anteriores es "
            "`<`, no `<=`.",
            "en": "With p = 0.5 and a first word of 0.5 you keep two, and that one already summed "
            "to p. The nucleus is the fewest tokens that reach p: compare those before with `<`, "
            "not `<=`.",
        },
    ),
    Misconception(
        "threshold",
        (
            _keeping(lambda best, p: best >= p),
            _keeping(lambda best, p: best >= p, share=_unguarded),
            _keeping(lambda best, p: best >= 1 - p),
            _keeping(lambda best, p: best >= p * best[..., :1]),
        ),
        {
            "es": "Comparas cada probabilidad con un umbral. Ese es otro filtro: top-p mira la suma "
            "acumulada de las mayores, y por eso guarda pocos tokens donde el modelo está seguro "
            "y muchos donde duda.",
            "en": "You compare each probability with a threshold. That is another filter: top-p "
            "looks at the running sum of the largest, which is why it keeps few tokens where the "
            "model is sure and many where it is not.",
        },
    ),
    Misconception(
        "share_of_vocabulary",
        (_share_of_vocabulary,),
        {
            "es": "Conservas una fracción p de los tokens. p es una cantidad de probabilidad, no de "
            "vocabulario: lo que hiciste es top-k con k proporcional al tamaño. Acumula las "
            "probabilidades y corta ahí.",
            "en": "You keep a fraction p of the tokens. p is an amount of probability, not of "
            "vocabulary: what you did is top-k with k proportional to its size. Accumulate the "
            "probabilities and cut there.",
        },
    ),
    Misconception(
        "unsorted",
        (_unsorted,),
        {
            "es": "Acumulas en el orden del vocabulario, que no dice nada de la probabilidad: la "
            "palabra número 0 se queda siempre. Ordena antes de mayor a menor, con "
            "`np.argsort(-probabilities, axis=-1)`.",
            "en": "You accumulate in the order of the vocabulary, which says nothing of "
            "probability: word number 0 always stays. Sort first from the largest down, with "
            "`np.argsort(-probabilities, axis=-1)`.",
        },
    ),
    Misconception(
        "least_first",
        (_least_first,),
        {
            "es": "Acumulas desde las menos probables, así que guardas la cola y tiras la cabeza. "
            "`np.argsort` ordena de menor a mayor: ordena `-probabilities`.",
            "en": "You accumulate from the least probable, so that you keep the tail and throw the "
            "head away. `np.argsort` sorts from small to large: sort `-probabilities`.",
        },
    ),
    Misconception(
        "left_sorted",
        (_left_sorted,),
        {
            "es": "Devuelves las probabilidades ordenadas, y la columna 3 ya no es la palabra 3. "
            "Lleva cada una a su lugar: `np.put_along_axis(kept, order, best, axis=-1)`.",
            "en": "You return the probabilities sorted, and column 3 is no longer word 3. Put each "
            "back in its place: `np.put_along_axis(kept, order, best, axis=-1)`.",
        },
    ),
    Misconception(
        "sorted_twice",
        (_sorted_twice,),
        {
            "es": "Deshaces el orden aplicándolo otra vez. Una permutación se deshace con su "
            "inversa: `np.argsort(order, axis=-1)`, o escribe directamente con "
            "`np.put_along_axis`.",
            "en": "You undo the order by applying it again. A permutation is undone by its inverse: "
            "`np.argsort(order, axis=-1)`, or write straight into place with "
            "`np.put_along_axis`.",
        },
    ),
    Misconception(
        "softmax_of_probabilities",
        (_softmax_of_probabilities,),
        {
            "es": "Aplicas la softmax a probabilidades. Están entre 0 y 1, así que salen casi "
            "iguales: para renormalizar basta dividir entre la suma; la softmax es para los "
            "logits.",
            "en": "You apply the softmax to probabilities. They lie between 0 and 1, so they come "
            "out almost equal: to normalise again, dividing by the sum is enough; the softmax is "
            "for logits.",
        },
    ),
    Misconception(
        "zero_logits",
        (lambda logits, p: softmax(np.where(_kept(logits, p), logits, 0)),),
        {
            "es": "Pones logit 0 a lo que quitas, y exp(0) = 1: sigue teniendo probabilidad, a "
            "veces más que antes. El logit de lo prohibido es −inf.",
            "en": "You give what you remove a logit of 0, and exp(0) = 1: it still has some "
            "probability, at times more than before. The logit of what is forbidden is −inf.",
        },
    ),
    Misconception(
        "logits_returned",
        (lambda logits, p: np.where(_kept(logits, p), logits, -np.inf),),
        {
            "es": "Devuelves logits con −inf en lo que quitas, como hacen muchas bibliotecas. Aquí "
            "se piden probabilidades: pásalos por la softmax y lo prohibido valdrá 0.",
            "en": "You return logits with −inf where you remove, as many libraries do. Here "
            "probabilities are asked for: pass them through the softmax, and what is forbidden "
            "becomes 0.",
        },
    ),
    Misconception(
        "shared_with_the_batch",
        (_keeping(_right, share=lambda kept: kept / kept.sum()),),
        {
            "es": "Divides entre la suma de todo el lote, así que ninguna fila suma 1. Cada fila es "
            "una distribución: usa `kept.sum(axis=-1, keepdims=True)`.",
            "en": "You divide by the sum of the whole batch, so that no row sums to 1. Each row is "
            "a distribution: use `kept.sum(axis=-1, keepdims=True)`.",
        },
    ),
    Misconception(
        "whole_batch",
        (_whole_batch,),
        {
            "es": "Tratas todo el lote como una sola distribución. Cada fila es el token siguiente "
            "de una oración distinta y tiene su propio núcleo: ordena, acumula y suma sobre el "
            "último eje.",
            "en": "You treat the whole batch as one distribution. Each row is the next token of a "
            "different sentence and has a nucleus of its own: sort, accumulate and sum over the "
            "last axis.",
        },
    ),
    Misconception(
        "logits_accumulated",
        (_logits_as_probabilities,),
        {
            "es": "Acumulas logits, que pueden ser negativos y no suman 1; compararlos con p no "
            "significa nada. Pásalos antes por la softmax.",
            "en": "You accumulate logits, which can be negative and do not sum to 1; to compare "
            "them with p means nothing. Pass them through the softmax first.",
        },
    ),
    Misconception(
        "tail_kept",
        (_complement,),
        {
            "es": "Guardas justo lo que había que quitar. Revisa el sentido de la comparación o los "
            "dos últimos argumentos de `np.where`: se conserva donde la condición es True.",
            "en": "You keep exactly what had to go. Check the direction of the comparison or the "
            "last two arguments of `np.where`: it keeps where the condition is True.",
        },
    ),
    Misconception(
        "vector_only",
        (_vector_only,),
        {
            "es": "Tu función sirve para una distribución, pero no para un lote. Con `order` no "
            "basta indexar: `np.take_along_axis` y `np.put_along_axis` siguen el último eje de "
            "cualquier arreglo.",
            "en": "Your function handles one distribution, but not a batch. Plain indexing with "
            "`order` is not enough: `np.take_along_axis` and `np.put_along_axis` follow the last "
            "axis of any array.",
        },
    ),
)

EXERCISE = Exercise("top_p_filter", 9, ("probabilities",), top_p_filter, cases, MISCONCEPTIONS)
