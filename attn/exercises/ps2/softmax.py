"""Problem set 2, `softmax_with_temperature`: every row with its own, and how to get it wrong."""

import numpy as np

from attn.exercises import ch03_softmax as wrong
from attn.exercises.spec import Exercise, Misconception
from attn.reference import softmax


def softmax_with_temperature(scores, temperature):
    """Return the softmax of each row of ``scores``, divided by its own temperature."""
    return softmax(scores / temperature[..., None])


def cases(seed):
    """Return inputs: matrices and batches, holes and empty rows of -inf, large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``scores`` and ``temperature``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return {
            "scores": rng.uniform(-0.6, 0.6, shape),
            "temperature": rng.uniform(0.6, 2, shape[:-1]),
        }

    large, holes, empty = draw(3, 3), draw(2, 4), draw(3, 4)
    large["scores"] += [[3000], [-3000], [800]]
    # At 0.7 the largest score and the largest scaled one are far apart; at 1, the same.
    large["temperature"][:] = [0.7, 1.6, 1]
    holes["scores"][[0, 1], rng.permutation(4)[:2]] = -np.inf
    empty["scores"][1] = -np.inf
    ordinary = [draw(2, 3), draw(3, 3), draw(4, 2), draw(2, 3, 4), draw(2, 2, 2, 3)]
    return [*ordinary, large, holes, empty]


def _weighing(weigh):
    """Return a function that scales rightly and goes wrong afterwards."""
    return lambda scores, temperature: weigh(scores / temperature[..., None])


def whole_sum(scores):
    """Divide by the sum of the whole array, each row having lost its own maximum."""
    exponentials = np.exp(scores - wrong.peaks(scores))
    return exponentials / exponentials.sum()


def _matrix_only(scores, temperature):
    return softmax(scores / temperature[:, None])


def _two_axes(scores, temperature):
    _rows, _columns = scores.shape
    return softmax_with_temperature(scores, temperature)


def _unscaled_maximum(scores, temperature):
    exponentials = np.exp(scores / temperature[..., None] - wrong.peaks(scores))
    return wrong.zero_if_empty(scores, wrong.share(exponentials))


MISCONCEPTIONS = (
    Misconception(
        "temperature_ignored",
        (lambda scores, temperature: softmax(scores),),
        {
            "es": "La temperatura no cambia nada. Si divides entre ella las exponenciales, se "
            "cancela al normalizar: divide los puntajes, antes de `np.exp`.",
            "en": "The temperature changes nothing. If you divide the exponentials by it, it "
            "cancels when you normalise: divide the scores, before `np.exp`.",
        },
    ),
    Misconception(
        "temperature_multiplied",
        (lambda scores, temperature: softmax(scores * temperature[..., None]),),
        {
            "es": "Multiplicas por la temperatura, y tu reparto va al revés: al subirla, los pesos "
            "se concentran. Una temperatura alta debe igualarlos: divide.",
            "en": "You multiply by the temperature, and your sharing runs backwards: raise it and "
            "the weights concentrate. A high temperature must even them out: divide.",
        },
    ),
    Misconception(
        "temperature_after_softmax",
        (lambda scores, temperature: softmax(scores) / temperature[..., None],),
        {
            "es": "Divides los pesos entre la temperatura, después de la softmax, y las filas ya "
            "no suman 1. La temperatura actúa sobre los puntajes, antes de la exponencial.",
            "en": "You divide the weights by the temperature, after the softmax, and the rows no "
            "longer sum to 1. The temperature acts on the scores, before the exponential.",
        },
    ),
    Misconception(
        "temperature_per_column",
        (lambda scores, temperature: softmax(scores / temperature),),
        {
            "es": "NumPy alinea `temperature` con las columnas de `scores`, por la derecha, y hay "
            "una temperatura por fila. Ponle un eje de tamaño 1 al final: "
            "`temperature[..., None]`.",
            "en": "NumPy lines `temperature` up with the columns of `scores`, from the right, and "
            "there is one temperature per row. Give it an axis of size 1 at the end: "
            "`temperature[..., None]`.",
        },
    ),
    Misconception(
        "one_temperature",
        (
            lambda scores, temperature: softmax(scores / temperature.mean()),
            lambda scores, temperature: softmax(scores / temperature.flat[0]),
        ),
        {
            "es": "Usas la misma temperatura en todas las filas. Cada fila trae la suya: la fila "
            "`i` se divide entre `temperature[i]`.",
            "en": "You use the same temperature for every row. Each row comes with its own: row "
            "`i` is divided by `temperature[i]`.",
        },
    ),
    Misconception(
        "columns",
        (
            _weighing(lambda scaled: softmax(scaled, axis=0)),
            _weighing(lambda scaled: softmax(scaled, axis=-2)),
        ),
        {
            "es": "En tu resultado suman 1 las columnas. Cada fila es un reparto aparte, así que "
            "la suma recorre el último eje: `axis=-1`.",
            "en": "In your result it is the columns that sum to 1. Each row is a sharing of its "
            "own, so the sum runs along the last axis: `axis=-1`.",
        },
    ),
    Misconception(
        "whole_array",
        (_weighing(wrong.whole_array), _weighing(whole_sum)),
        {
            "es": "Todas tus filas juntas suman 1, porque `sum()` sin `axis` suma el arreglo "
            "entero. Suma fila por fila: `sum(axis=-1, keepdims=True)`.",
            "en": "All your rows together sum to 1, because `sum()` without `axis` takes the whole "
            "array. Sum row by row: `sum(axis=-1, keepdims=True)`.",
        },
    ),
    Misconception(
        "no_exponential",
        (_weighing(wrong.share),),
        {
            "es": "Repartes los puntajes mismos, sin exponencial, y un puntaje negativo termina en "
            "un peso negativo. Pasa por `np.exp` los puntajes ya divididos entre la temperatura.",
            "en": "You share out the scores themselves, without the exponential, and a negative "
            "score ends as a negative weight. Pass the scores through `np.exp` once they are "
            "divided by the temperature.",
        },
    ),
    Misconception(
        "argmax",
        (_weighing(wrong.one_hot),),
        {
            "es": "Das todo el peso al puntaje mayor. Eso es el límite de temperatura 0; con una "
            "temperatura positiva, todos los puntajes finitos reciben algo.",
            "en": "You give the whole weight to the largest score. That is the limit of "
            "temperature 0; at a positive temperature every finite score gets something.",
        },
    ),
    Misconception(
        "sign_flipped",
        (_weighing(lambda scaled: softmax(-scaled)),),
        {
            "es": "El puntaje más bajo recibe el peso más alto: hay un signo menos de más. El "
            "máximo se resta del puntaje, no el puntaje del máximo.",
            "en": "The lowest score gets the highest weight: there is a minus sign too many. "
            "Subtract the maximum from the score, not the score from the maximum.",
        },
    ),
    Misconception(
        "matrix_only",
        (_matrix_only, _two_axes),
        {
            "es": "Con una matriz aciertas; con un lote, no. `temperature[:, None]` pone el eje "
            "nuevo en segundo lugar, y hace falta al final: `temperature[..., None]`.",
            "en": "You are right on a matrix and wrong on a batch. `temperature[:, None]` puts the "
            "new axis second, and it is needed at the end: `temperature[..., None]`.",
        },
    ),
    Misconception(
        "overflow",
        (_weighing(wrong.unstable), _weighing(wrong.unstable_or_zero)),
        {
            "es": "Con puntajes de 3000 la exponencial pasa a infinito, y con −3000, a 0. Resta a "
            "cada fila su máximo antes de `np.exp`: el reparto no cambia.",
            "en": "With scores of 3000 the exponential becomes infinite, and with −3000 it becomes "
            "0. Subtract its maximum from each row before `np.exp`: the sharing stays the same.",
        },
    ),
    Misconception(
        "global_maximum",
        (_weighing(wrong.global_peak), _weighing(wrong.global_peak_or_zero)),
        {
            "es": "El máximo que restas es el de todo el arreglo, y a una fila muy por debajo no "
            "le queda más que ceros. Cada fila necesita el suyo: `max(axis=-1, keepdims=True)`.",
            "en": "The maximum you subtract is that of the whole array, and a row far below it is "
            "left with zeros only. Each row needs its own: `max(axis=-1, keepdims=True)`.",
        },
    ),
    Misconception(
        "unscaled_maximum",
        (_unscaled_maximum,),
        {
            "es": "Restas el máximo de los puntajes sin dividir a los puntajes ya divididos. Si "
            "son grandes, eso no los acerca a 0: divide primero, y toma el máximo después.",
            "en": "You subtract the maximum of the undivided scores from the divided ones. When "
            "they are large, that brings them no nearer to 0: divide first, take the maximum "
            "afterwards.",
        },
    ),
    Misconception(
        "empty_row",
        (_weighing(wrong.nan_if_empty),),
        {
            "es": "En una fila toda −inf divides 0 entre 0 o restas infinito de infinito, y sale "
            "NaN. Ahí no hay nada que repartir: esa fila debe ser de ceros.",
            "en": "On a row that is all −inf you divide 0 by 0, or take infinity from infinity, "
            "and get NaN. There is nothing to share there: that row must be zeros.",
        },
    ),
)

EXERCISE = Exercise(
    "softmax_with_temperature",
    3,
    ("weights",),
    softmax_with_temperature,
    cases,
    MISCONCEPTIONS,
    problem_set="ps2",
)
