"""Chapter 3, `softmax`: from scores to weights, and the ways to get it wrong."""

import math

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import softmax


def cases(seed):
    """Return inputs for `softmax`: a vector, matrices, batches, large numbers and -inf.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the key ``scores``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return rng.uniform(-1, 1, shape)

    large = draw(2, 3) + [[1000], [-1000]]
    holes = draw(2, 4)
    holes[[0, 1], rng.permutation(4)[:2]] = -np.inf
    empty = draw(3, 4)
    empty[1] = -np.inf
    ordinary = [draw(3), draw(2, 2), draw(2, 3), draw(2, 3, 4), draw(2, 3, 2, 4)]
    return [{"scores": scores} for scores in (*ordinary, large, holes, empty)]


# The wrong functions that need more than a line. Attention goes wrong in the same ways, so
# `ch03_attention` uses some of them.


def peaks(scores, keepdims=True):
    """Return the largest score of each row, or 0 where all are -inf."""
    largest = scores.max(axis=-1, keepdims=keepdims)
    return np.where(np.isneginf(largest), 0, largest)


def share(values, keepdims=True):
    """Divide each row by its sum."""
    return values / values.sum(axis=-1, keepdims=keepdims)


def share_or_zero(values):
    """Divide each row by its sum, if that is not 0."""
    total = values.sum(axis=-1, keepdims=True)
    return np.where(total == 0, 0, values / total)


def zero_if_empty(scores, weights):
    """Set the weights to 0 where a row of scores is all -inf."""
    return np.where(np.isneginf(scores).all(axis=-1, keepdims=True), 0, weights)


def vector_only(scores):
    exponentials = np.array([math.exp(score) for score in scores])
    return exponentials / exponentials.sum()


def matrix_only(scores):
    _rows, _columns = scores.shape
    return softmax(scores)


def whole_array(scores):
    return softmax(scores, axis=None)


def one_hot(scores):
    return np.eye(scores.shape[-1])[scores.argmax(axis=-1)]


def unstable(scores):
    return zero_if_empty(scores, share(np.exp(scores)))


def unstable_or_zero(scores):
    return share_or_zero(np.exp(scores))


def global_peak(scores):
    return zero_if_empty(scores, share(np.exp(scores - scores.max())))


def global_peak_or_zero(scores):
    return share_or_zero(np.exp(scores - scores.max()))


def nan_if_empty(scores):
    return share(np.exp(scores - scores.max(axis=-1, keepdims=True)))


MISCONCEPTIONS = (
    Misconception(
        "columns",
        (lambda scores: softmax(scores, axis=0),),
        {
            "es": "Normalizaste por columnas (`axis=0`): las que suman 1 son las columnas, no las "
            "filas. Cada fila contiene los puntajes de una query, y sus pesos deben sumar 1: usa "
            "el último eje, `axis=-1`.",
            "en": "You normalised down the columns (`axis=0`): they sum to 1 and the rows do not. "
            "Each row holds the scores of one query, and its weights must sum to 1: use the last "
            "axis, `axis=-1`.",
        },
    ),
    Misconception(
        "whole_array",
        (whole_array,),
        {
            "es": "Divides entre la suma de todo el arreglo, así que todas las filas se reparten "
            "un solo 1. Cada fila es una distribución aparte: suma solo sobre el último eje, con "
            "`axis=-1, keepdims=True`.",
            "en": "You divide by the sum of the whole array, so all the rows share a single 1. "
            "Each row is a distribution of its own: sum over the last axis only, with "
            "`axis=-1, keepdims=True`.",
        },
    ),
    Misconception(
        "matrix_only",
        (matrix_only,),
        {
            "es": "Tu función sirve para una matriz, pero no para un vector ni para un lote. No "
            "des por hecho que hay filas y columnas: con `axis=-1, keepdims=True` el mismo código "
            "vale para cualquier número de ejes.",
            "en": "Your function handles a matrix, but not a vector or a batch. Do not count on "
            "rows and columns: with `axis=-1, keepdims=True` the same code works for any number "
            "of axes.",
        },
    ),
    Misconception(
        "axis_one",
        (lambda scores: softmax(scores, axis=1),),
        {
            "es": "`axis=1` es el último eje solo si el arreglo tiene dos. En un vector no existe, "
            "y en un lote de matrices es el de las filas: escribe `axis=-1`, que siempre es el "
            "último.",
            "en": "`axis=1` is the last axis only if the array has two. A vector has no such axis, "
            "and in a batch of matrices it is that of the rows: write `axis=-1`, which is always "
            "the last.",
        },
    ),
    Misconception(
        "vector_only",
        (vector_only,),
        {
            "es": "Tu función sirve para un vector, pero no para una matriz ni para un lote. Deja "
            "que NumPy recorra el arreglo: `np.exp` actúa elemento por elemento, y `max` y `sum` "
            "aceptan `axis=-1, keepdims=True`.",
            "en": "Your function handles a vector, but not a matrix or a batch. Let NumPy walk "
            "through the array: `np.exp` works element by element, and `max` and `sum` take "
            "`axis=-1, keepdims=True`.",
        },
    ),
    Misconception(
        "keepdims_forgotten",
        (
            lambda scores: share(np.exp(scores), keepdims=False),
            lambda scores: share(np.exp(scores - peaks(scores)), keepdims=False),
            lambda scores: share(np.exp(scores - peaks(scores, keepdims=False))),
            lambda scores: share(np.exp(scores - peaks(scores, keepdims=False)), keepdims=False),
        ),
        {
            "es": "Falta `keepdims=True`: el máximo o la suma de cada fila pierde su eje, y NumPy "
            "lo alinea con las columnas. En una matriz cuadrada eso no da error, solo números "
            "equivocados; en otras formas, un error de broadcasting.",
            "en": "`keepdims=True` is missing: the maximum or the sum of each row loses its axis, "
            "and NumPy lines it up with the columns. On a square matrix that raises no error and "
            "just gives wrong numbers; on other shapes, a broadcasting error.",
        },
    ),
    Misconception(
        "no_exponential",
        (share,),
        {
            "es": "Divides los puntajes entre su suma, sin la exponencial. Un puntaje negativo "
            "daría un peso negativo, y una suma cercana a 0, pesos enormes: aplica `np.exp` antes "
            "de dividir.",
            "en": "You divide the scores by their sum, without the exponential. A negative score "
            "would give a negative weight, and a sum near 0, huge weights: apply `np.exp` before "
            "you divide.",
        },
    ),
    Misconception(
        "base_two",
        (lambda scores: softmax(scores * math.log(2)),),
        {
            "es": "Usaste potencias de 2, y la softmax usa potencias de e. Con base 2 los pesos "
            "salen más parejos, como si multiplicaras los puntajes por 0.69: cambia `2 ** scores` "
            "por `np.exp(scores)`.",
            "en": "You used powers of 2, and the softmax uses powers of e. With base 2 the weights "
            "come out more even, as if you multiplied the scores by 0.69: change `2 ** scores` to "
            "`np.exp(scores)`.",
        },
    ),
    Misconception(
        "log_softmax",
        (lambda scores: np.log(softmax(scores)),),
        {
            "es": "Devuelves el logaritmo de los pesos: son números negativos y no suman 1. Eso "
            "sirve para la función de pérdida, no para una media de vectores: quita el `log`.",
            "en": "You return the logarithm of the weights: negative numbers that do not sum to 1. "
            "That is for a loss, not for averaging vectors: drop the `log`.",
        },
    ),
    Misconception(
        "argmax",
        (one_hot, lambda scores: scores.argmax(axis=-1)),
        {
            "es": "Te quedas solo con el puntaje mayor. Eso es un argmax: no tiene gradiente con "
            "el que entrenar. La softmax reparte: la exponencial de cada puntaje entre la suma de "
            "todas.",
            "en": "You keep only the largest score. That is an argmax, and it has no gradient to "
            "train with. The softmax shares out: the exponential of each score over the sum of "
            "them all.",
        },
    ),
    Misconception(
        "sign_flipped",
        (lambda scores: softmax(-scores),),
        {
            "es": "El signo está al revés: a menor puntaje das más peso. Lo que se pasa a `np.exp` "
            "es el puntaje menos el máximo, no el máximo menos el puntaje.",
            "en": "The sign is the wrong way round: the lower the score, the more weight you give. "
            "What goes into `np.exp` is the score minus the maximum, not the maximum minus the "
            "score.",
        },
    ),
    Misconception(
        "sigmoid",
        (lambda scores: 1 / (1 + np.exp(-scores)),),
        {
            "es": "Eso es una sigmoide: convierte cada puntaje por separado en un número entre 0 y "
            "1, y la fila no suma 1. En la softmax los puntajes compiten: divide cada exponencial "
            "entre la suma de su fila.",
            "en": "That is a sigmoid: it turns each score separately into a number between 0 and "
            "1, and the row does not sum to 1. In the softmax the scores compete: divide each "
            "exponential by the sum of its row.",
        },
    ),
    Misconception(
        "overflow",
        (unstable, unstable_or_zero),
        {
            "es": "Con puntajes como 1000, `exp` se desborda a infinito; con −1000, todo se "
            "redondea a 0. En ambos casos la división falla: resta antes a cada fila su máximo, que no "
            "cambia el resultado.",
            "en": "With scores like 1000, `exp` overflows to infinity; with −1000, everything "
            "rounds to 0. Either way the division fails: subtract each row's maximum first, which "
            "does not change the result.",
        },
    ),
    Misconception(
        "global_maximum",
        (global_peak, global_peak_or_zero),
        {
            "es": "Restas el máximo de todo el arreglo. En una fila con puntajes muy por debajo de "
            "él, todas las exponenciales se redondean a 0: resta a cada fila su propio máximo, "
            "con `axis=-1, keepdims=True`.",
            "en": "You subtract the maximum of the whole array. In a row whose scores lie far "
            "below it, all the exponentials round to 0: subtract from each row its own maximum, "
            "with `axis=-1, keepdims=True`.",
        },
    ),
    Misconception(
        "empty_row",
        (nan_if_empty,),
        {
            "es": "Una fila llena de −inf te da NaN, porque −inf − (−inf) no está definido. Es el "
            "caso de una query que no puede atender a nada, y por convenio sus pesos son 0: "
            "termina con `np.where(scores == -np.inf, 0, weights)`.",
            "en": "A row full of −inf gives you NaN, because −inf − (−inf) is undefined. It is the "
            "case of a query that may attend to nothing, and by convention its weights are 0: "
            "finish with `np.where(scores == -np.inf, 0, weights)`.",
        },
    ),
)

EXERCISE = Exercise("softmax", 3, ("weights",), softmax, cases, MISCONCEPTIONS)
