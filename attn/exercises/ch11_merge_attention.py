"""Chapter 11, `merge_attention`: two parts of the keys put together, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import merge_attention, partial_attention, softmax


def cases(seed):
    """Return pairs of parts: either may hold the largest score, or see nothing for a query.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``peak_a``, ``total_a``, ``output_a``, ``peak_b``, ``total_b`` and
        ``output_b``.
    """
    rng = np.random.default_rng(seed)

    def draw(tgt_len, lengths, d_v, lifts, *, batch=(), blind=()):
        """Return a case; ``lifts[i]`` is added to the scores of query i in the second part."""
        case = {}
        query = np.concatenate([rng.uniform(0.5, 1.5, (*batch, tgt_len, 2)),
                                np.ones((*batch, tgt_len, 1))], axis=-1)  # fmt: skip
        lifts = np.resize(lifts, tgt_len)
        for part, length in zip("ab", lengths, strict=True):
            key = rng.uniform(-1, 1, (*batch, length, 3))
            value = rng.uniform(0.5, 2, (*batch, length, d_v)) * rng.choice((-1, 1), (length, 1))
            seen = np.ones((tgt_len, length), dtype=bool)
            seen[[row for row, parts in blind if part in parts]] = False
            peak, total, output = partial_attention(query, key, value, seen)
            lift = lifts[:, None] if part == "b" else 0
            case |= {f"peak_{part}": peak + lift, f"total_{part}": total, f"output_{part}": output}
        return case

    return [
        draw(1, (2, 2), 2, [1.5]),
        draw(2, (3, 2), 2, [-1.5, 2.0]),
        draw(3, (2, 4), 2, [2.5, -1.0, 0.7]),
        draw(3, (3, 3), 4, [-2.0, 1.0, -0.6], batch=(2,)),
        draw(4, (2, 5), 3, [1.2, -2.2, 0.8, -0.5], batch=(2, 2)),
        draw(3, (4, 3), 2, [1.4, -1.3, 2.1], blind=[(1, "a"), (2, "b")]),
        draw(3, (3, 4), 3, [-1.1, 1.7, 0.9], blind=[(0, "ab")]),
    ]


def _scaled(peak, scale_a, scale_b, answer=lambda peak, total, output: (peak, total, output)):
    """Return a merge with its own peak, its own factors, and its own use of the three results."""

    def merge(peak_a, total_a, output_a, peak_b, total_b, output_b):
        m = peak(peak_a, peak_b)
        a, b = scale_a(peak_a, peak_b, m), scale_b(peak_a, peak_b, m)
        return answer(m, a * total_a + b * total_b, a * output_a + b * output_b)

    return merge


def _larger(peak_a, peak_b):
    return np.maximum(peak_a, peak_b)


def _finite(m):
    return np.where(m == -np.inf, 0, m)


def _down_a(peak_a, peak_b, m):
    return np.exp(peak_a - _finite(m))


def _down_b(peak_a, peak_b, m):
    return np.exp(peak_b - _finite(m))


def _one(peak_a, peak_b, m):
    return 1.0


def _right(answer):
    """Return a merge whose three results are right, but handed back as something else."""
    return _scaled(_larger, _down_a, _down_b, answer)


def _totals_only(peak_a, total_a, output_a, peak_b, total_b, output_b):
    peak, total, _ = merge_attention(peak_a, total_a, output_a, peak_b, total_b, output_b)
    return peak, total, output_a + output_b


def _outputs_only(peak_a, total_a, output_a, peak_b, total_b, output_b):
    peak, _, output = merge_attention(peak_a, total_a, output_a, peak_b, total_b, output_b)
    return peak, total_a + total_b, output


def _weighed_twice(peak_a, total_a, output_a, peak_b, total_b, output_b):
    return merge_attention(peak_a, total_a, total_a * output_a, peak_b, total_b, total_b * output_b)


def _mean_of_the_two(peak_a, total_a, output_a, peak_b, total_b, output_b):
    peak, total, _ = merge_attention(peak_a, total_a, output_a, peak_b, total_b, output_b)
    return peak, total, (output_a / total_a + output_b / total_b) / 2


def _half_the_sum(peak_a, total_a, output_a, peak_b, total_b, output_b):
    peak, total, output = merge_attention(peak_a, total_a, output_a, peak_b, total_b, output_b)
    return peak, total / 2, output / 2


def _shares(peak_a, total_a, output_a, peak_b, total_b, output_b):
    peak, total, _ = merge_attention(peak_a, total_a, output_a, peak_b, total_b, output_b)
    a, b = np.moveaxis(softmax(np.concatenate([peak_a, peak_b], axis=-1)), -1, 0)[..., None]
    return peak, total, a * output_a + b * output_b


def _product_of_totals(peak_a, total_a, output_a, peak_b, total_b, output_b):
    peak, _, output = merge_attention(peak_a, total_a, output_a, peak_b, total_b, output_b)
    return peak, total_a * total_b, output


def _stacked(peak_a, total_a, output_a, peak_b, total_b, output_b):
    return (
        np.maximum(peak_a, peak_b),
        np.concatenate([total_a, total_b], axis=-1),
        np.concatenate([output_a, output_b], axis=-1),
    )


MISCONCEPTIONS = (
    Misconception(
        "no_correction",
        (_scaled(_larger, _one, _one),),
        {
            "es": "Sumas los totales y las salidas tal como llegan, y cada parte los midió desde su "
            "propio máximo. Es sumar metros con pies: lleva antes ambas al máximo común, "
            "con `np.exp(peak_a - peak)` y `np.exp(peak_b - peak)`.",
            "en": "You sum the totals and the outputs as they come, and each part measured them "
            "from its own maximum. That is summing metres and feet: bring both to the common "
            "maximum first, with `np.exp(peak_a - peak)` and `np.exp(peak_b - peak)`.",
        },
    ),
    Misconception(
        "output_left_behind",
        (_totals_only,),
        {
            "es": "Corriges los totales y olvidas las salidas. El numerador y el denominador llevan "
            "la misma escala o la división no la cancela: multiplica también `output_a` y "
            "`output_b` por sus factores.",
            "en": "You correct the totals and forget the outputs. Numerator and denominator must "
            "have the same scale or the division does not cancel it: multiply `output_a` and "
            "`output_b` by their factors as well.",
        },
    ),
    Misconception(
        "total_left_behind",
        (_outputs_only,),
        {
            "es": "Corriges las salidas y olvidas los totales, así que los pesos ya no suman 1 "
            "después de dividir. Los totales son sumas de las mismas exponenciales y llevan los "
            "mismos factores.",
            "en": "You correct the outputs and forget the totals, so that the weights no longer sum "
            "to 1 after the division. The totals are sums of the same exponentials and take the "
            "same factors.",
        },
    ),
    Misconception(
        "sign_reversed",
        (
            _scaled(
                _larger,
                lambda peak_a, peak_b, m: np.exp(m - peak_a),
                lambda peak_a, peak_b, m: np.exp(m - peak_b),
            ),
        ),
        {
            "es": "Tus factores crecen en vez de encoger. Una exponencial medida desde un máximo "
            "menor es demasiado grande, así que se multiplica por algo menor que 1: el exponente "
            "es el máximo viejo menos el nuevo.",
            "en": "Your factors grow instead of shrinking. An exponential measured from a smaller "
            "maximum is too large, so it is multiplied by something below 1: the exponent is the "
            "old maximum minus the new one.",
        },
    ),
    Misconception(
        "only_the_first",
        (_scaled(_larger, _down_a, _one),),
        {
            "es": "Corriges solo la primera parte, como si la segunda trajera siempre el máximo. "
            "Cuando lo tiene la primera, quien debe encoger es la segunda: da un factor a cada "
            "una, y el de la que manda valdrá 1 por sí solo.",
            "en": "You correct the first part only, as if the second always brought the maximum. "
            "When the first has it, the one to shrink is the second: give each a factor, and "
            "that of the winner will be 1 by itself.",
        },
    ),
    Misconception(
        "only_the_second",
        (_scaled(_larger, _one, _down_b),),
        {
            "es": "Corriges solo la segunda parte, y el máximo puede estar en ella. Entonces es lo "
            "acumulado en la primera lo que quedó medido desde un máximo viejo: cada parte "
            "necesita su factor.",
            "en": "You correct the second part only, and the maximum may be there. Then it is what "
            "the first had gathered that was measured from an old maximum: each part needs its "
            "factor.",
        },
    ),
    Misconception(
        "factors_swapped",
        (_scaled(_larger, _down_b, _down_a),),
        {
            "es": "Cruzaste los factores: la parte *a* lleva el de la *b* y al revés, con lo que se "
            "encoge la que tiene el máximo. A `total_a` y `output_a` les toca "
            "`np.exp(peak_a - peak)`.",
            "en": "You crossed the factors: part *a* takes that of *b* and the other way round, so "
            "that the one with the maximum shrinks. `total_a` and `output_a` take "
            "`np.exp(peak_a - peak)`.",
        },
    ),
    Misconception(
        "divided_already",
        (_right(lambda m, total, output: (m, total, output / np.where(total == 0, 1, total))),),
        {
            "es": "Divides ya entre el total. Eso se hace una sola vez, cuando no quedan partes: "
            "dividida, la salida no sirve para unirla con la siguiente. Devuelve la suma sin "
            "dividir.",
            "en": "You divide by the total already. That is done once, when no part is left: "
            "divided, the output cannot be put together with the next. Return the sum "
            "undivided.",
        },
    ),
    Misconception(
        "weighed_twice",
        (_weighed_twice,),
        {
            "es": "Multiplicas cada salida por su total, como si fuera una media. Estas llegan sin "
            "dividir: ya son sumas de values por su exponencial, y solo les falta el factor que "
            "las lleva al máximo común.",
            "en": "You multiply each output by its total, as if it were a mean. These come "
            "undivided: they are already sums of values times their exponentials, and lack only "
            "the factor that brings them to the common maximum.",
        },
    ),
    Misconception(
        "parts_alike",
        (_mean_of_the_two, _half_the_sum),
        {
            "es": "Haces la media de las dos partes, y cada una contaría lo mismo. Una softmax no "
            "sabe de partes: la que tiene puntajes más altos, o más keys, debe pesar más. Suma, "
            "con cada una en la escala común.",
            "en": "You take the mean of the two parts, so that each would count the same. A softmax "
            "knows nothing of parts: the one with higher scores, or more keys, must weigh more. "
            "Sum them, each on the common scale.",
        },
    ),
    Misconception(
        "softmax_of_the_peaks",
        (_shares,),
        {
            "es": "Mezclas las salidas con la softmax de los dos máximos. Sus pesos suman 1, y eso "
            "divide antes de tiempo y entre lo que no es: los factores son las exponenciales "
            "solas, sin repartir nada.",
            "en": "You mix the outputs by the softmax of the two maxima. Its weights sum to 1, "
            "which divides too early and by the wrong thing: the factors are the exponentials "
            "alone, with nothing shared out.",
        },
    ),
    Misconception(
        "smaller_peak",
        (_scaled(np.minimum, _down_a, _down_b),),
        {
            "es": "Tomas el menor de los dos máximos. El cociente saldría bien, hasta que un puntaje "
            "lo supere en 710 y su exponencial se desborde. Con el mayor, `np.maximum`, ningún "
            "factor pasa de 1.",
            "en": "You take the smaller of the two maxima. The quotient would come out right, until "
            "a score exceeds it by 710 and its exponential overflows. With the larger, "
            "`np.maximum`, no factor exceeds 1.",
        },
    ),
    Misconception(
        "one_peak_for_all",
        (
            _scaled(
                lambda peak_a, peak_b: np.full_like(peak_a, max(peak_a.max(), peak_b.max())),
                _down_a,
                _down_b,
            ),
        ),
        {
            "es": "Usas un solo máximo para todas las queries. La que tenga puntajes mucho menores "
            "verá sus exponenciales redondeadas a 0. Compara fila a fila con `np.maximum`; "
            "`max` o `np.max` juntan todo el arreglo.",
            "en": "You use a single maximum for all the queries. One with much lower scores will see "
            "its exponentials rounded to 0. Compare row by row with `np.maximum`; `max` or "
            "`np.max` pool the whole array.",
        },
    ),
    Misconception(
        "peaks_summed",
        (_scaled(lambda peak_a, peak_b: peak_a + peak_b, _down_a, _down_b),),
        {
            "es": "Sumas los dos máximos. El máximo de todas las keys es el mayor de los dos, y "
            "nada se suma: `np.maximum(peak_a, peak_b)`.",
            "en": "You sum the two maxima. The maximum over all the keys is the larger of the two, "
            "and nothing is summed: `np.maximum(peak_a, peak_b)`.",
        },
    ),
    Misconception(
        "peak_not_updated",
        (
            lambda *parts: (parts[0], *merge_attention(*parts)[1:]),
            lambda *parts: (parts[3], *merge_attention(*parts)[1:]),
        ),
        {
            "es": "Las sumas están bien, pero devuelves el máximo de una de las partes. Quien una "
            "esto con la parte siguiente partirá de una escala que no es la suya: devuelve el "
            "máximo nuevo, el que usaste en los factores.",
            "en": "The sums are right, but you return the maximum of one of the parts. Whoever puts "
            "this together with the next part would start from a scale that is not its own: "
            "return the new maximum, the one in your factors.",
        },
    ),
    Misconception(
        "log_of_the_sum",
        (_right(lambda m, total, output: (m + np.log(total), total, output)),),
        {
            "es": "Devuelves $m + \\log \\ell$ como máximo. Es otra manera de guardar lo mismo, con "
            "el total ya dentro; aquí se piden los dos por separado, y juntos contarían el total "
            "dos veces.",
            "en": "You return $m + \\log \\ell$ as the maximum. It is another way of keeping the "
            "same thing, with the total already inside; here the two are asked for apart, and "
            "together they would count the total twice.",
        },
    ),
    Misconception(
        "no_exponential",
        (
            _scaled(
                _larger,
                lambda peak_a, peak_b, m: peak_a - m,
                lambda peak_a, peak_b, m: peak_b - m,
            ),
            _scaled(
                _larger,
                lambda peak_a, peak_b, m: peak_a / m,
                lambda peak_a, peak_b, m: peak_b / m,
            ),
        ),
        {
            "es": "Falta la exponencial en los factores. El máximo se restó dentro de `exp`, y fuera "
            "esa resta es un producto: $e^{s - m'} = e^{s - m}\\,e^{m - m'}$.",
            "en": "The exponential is missing from the factors. The maximum was subtracted inside "
            "`exp`, and outside that subtraction is a product: $e^{s - m'} = e^{s - m}\\,e^{m - m'}$.",
        },
    ),
    Misconception(
        "totals_multiplied",
        (_product_of_totals,),
        {
            "es": "Multiplicas los totales. Cada uno es una suma sobre sus keys, y la suma sobre "
            "todas las keys es la suma de las dos, después de llevarlas a la misma escala.",
            "en": "You multiply the totals. Each is a sum over its keys, and the sum over all the "
            "keys is the sum of the two, once they are on the same scale.",
        },
    ),
    Misconception(
        "side_by_side",
        (_stacked,),
        {
            "es": "Pones las dos partes una al lado de la otra. Han de quedar tres arreglos de la "
            "forma de los de una parte, para poder unir la siguiente: súmalas en la escala del "
            "máximo común.",
            "en": "You put the two parts side by side. What remains must be three arrays shaped "
            "like those of one part, so that the next can join: sum them on the scale of the "
            "common maximum.",
        },
    ),
    Misconception(
        "nothing_minus_nothing",
        (
            _scaled(
                _larger,
                lambda peak_a, peak_b, m: np.exp(peak_a - m),
                lambda peak_a, peak_b, m: np.exp(peak_b - m),
            ),
        ),
        {
            "es": "Casi. Si una query no ve nada en ninguna de las dos partes, ambos máximos son "
            "−inf y su resta es NaN. Resta 0 en esas filas, "
            "`np.where(peak == -np.inf, 0, peak)`, y las sumas quedan en 0.",
            "en": "Almost. If a query sees nothing in either part, both maxima are −inf and their "
            "difference is NaN. Subtract 0 in those rows, "
            "`np.where(peak == -np.inf, 0, peak)`, and the sums stay at 0.",
        },
    ),
)

EXERCISE = Exercise(
    id="merge_attention",
    chapter=11,
    outputs=("peak", "total", "output"),
    oracle=merge_attention,
    cases=cases,
    misconceptions=MISCONCEPTIONS,
)
