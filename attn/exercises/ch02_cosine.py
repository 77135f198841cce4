"""Chapter 2, `cosine_similarity`: comparing directions, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import cosine_similarity


def cases(seed):
    """Return inputs for `cosine_similarity`: matrices, batches, and a vector of zeros.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``a`` and ``b``.
    """
    rng = np.random.default_rng(seed)

    def draw(n, m, d, *batch):
        while True:
            a, b = rng.normal(size=(*batch, n, d)), rng.normal(size=(*batch, m, d))
            # Lengths that differ, and no two vectors almost parallel: that would hide mistakes.
            a *= rng.uniform(0.5, 3, (*batch, n, 1))
            b *= rng.uniform(0.5, 3, (*batch, m, 1))
            if np.abs(cosine_similarity(a, b)).max() < 0.85:
                return {"a": a, "b": b}

    empty = draw(3, 2, 4)
    empty["a"][1] = 0
    return [
        draw(1, 2, 3), draw(2, 3, 4), draw(4, 2, 5), draw(3, 3, 3),
        draw(3, 4, 5, 2), draw(2, 3, 4, 3, 2), empty,
    ]  # fmt: skip


# The wrong functions.


def norms(x, axis=-1, power=2):
    return (np.abs(x) ** power).sum(axis=axis, keepdims=True) ** (1 / power)


def over(a, b, length_a, length_b):
    """Divide the dot products by these lengths, and give zero where one of them is zero."""
    lengths = length_a * np.swapaxes(length_b, -1, -2)
    return np.divide(a @ b.mT, lengths, out=np.zeros_like(a @ b.mT), where=lengths != 0)


def nan_for_zeros(a, b):
    return a @ b.mT / (norms(a) * norms(b).mT)


def all_axes_transposed(a, b):
    similarity = a @ b.T / (norms(a) * norms(b).T)
    return np.where(np.isnan(similarity), 0, similarity)


def paired(a, b):
    return (a * b).sum(-1) / (norms(a) * norms(b))[..., 0]


def distances(a, b):
    return np.linalg.norm(a[..., :, None, :] - b[..., None, :, :], axis=-1)


def centred(a, b):
    return cosine_similarity(a - a.mean(-1, keepdims=True), b - b.mean(-1, keepdims=True))


def untransposed_norms(a, b):
    return a @ b.mT / (norms(a) * norms(b))


def flat_norms(a, b):
    return a @ b.mT / (norms(a)[..., 0] * norms(b)[..., 0])


def ones_for_zeros(a, b):
    zero = (norms(a) * norms(b).mT) == 0
    return np.where(zero, 1, cosine_similarity(a, b))


MISCONCEPTIONS = (
    Misconception(
        "dot_product",
        (lambda a, b: a @ b.mT,),
        {
            "es": "Eso es el producto punto. Crece con la longitud de los vectores, no solo con "
            "su parecido: divídelo entre las dos normas y quedará entre −1 y 1.",
            "en": "That is the dot product. It grows with the length of the vectors and not only "
            "with their similarity: divide it by both norms and it stays between −1 and 1.",
        },
    ),
    Misconception(
        "one_norm",
        (
            lambda a, b: over(a, b, norms(a), np.ones_like(norms(b))),
            lambda a, b: over(a, b, np.ones_like(norms(a)), norms(b)),
        ),
        {
            "es": "Divides entre la norma de uno solo de los dos vectores; la longitud del otro "
            "sigue contando. El coseno divide entre las dos: `a · b / (‖a‖ ‖b‖)`.",
            "en": "You divide by the norm of only one of the two vectors; the length of the other "
            "still counts. The cosine divides by both: `a · b / (‖a‖ ‖b‖)`.",
        },
    ),
    Misconception(
        "squared_norms",
        (lambda a, b: over(a, b, norms(a) ** 2, norms(b) ** 2),),
        {
            "es": "Divides entre las normas al cuadrado: falta la raíz. La norma es "
            "`sqrt((a**2).sum(axis=-1))`; sin ella, los vectores largos salen castigados.",
            "en": "You divide by the squared norms: the root is missing. The norm is "
            "`sqrt((a**2).sum(axis=-1))`; without it, long vectors are punished.",
        },
    ),
    Misconception(
        "root_of_norms",
        (lambda a, b: over(a, b, norms(a) ** 0.5, norms(b) ** 0.5),),
        {
            "es": "Sacas una raíz de más: `np.linalg.norm` ya devuelve la raíz de la suma de "
            "cuadrados. Divide entre el producto de las normas, sin otra raíz.",
            "en": "You take one root too many: `np.linalg.norm` already returns the root of the "
            "sum of squares. Divide by the product of the norms, with no other root.",
        },
    ),
    Misconception(
        "sum_of_norms",
        (lambda a, b: a @ b.mT / (norms(a) + norms(b).mT),),
        {
            "es": "Divides entre la suma de las normas. Para que la longitud desaparezca hay que "
            "dividir entre su producto: si `a` se duplica, el numerador y el denominador se "
            "duplican a la vez.",
            "en": "You divide by the sum of the norms. For length to disappear, divide by their "
            "product: if `a` doubles, numerator and denominator then double together.",
        },
    ),
    Misconception(
        "norms_out_of_shape",
        (flat_norms, untransposed_norms),
        {
            "es": "Divides entre las dos normas, pero no están puestas en forma. Las de `a` van en "
            "columna y las de `b` en fila: `na[..., :, None] * nb[..., None, :]`, y así a cada par "
            "le toca su producto.",
            "en": "You divide by both norms, but they lack the right shape. Those of `a` go in a "
            "column and those of `b` in a row, `na[..., :, None] * nb[..., None, :]`, so that each "
            "pair gets its own product.",
        },
    ),
    Misconception(
        "columns",
        (
            lambda a, b: (a / norms(a, -2)) @ (b / norms(b, -2)).mT,
            lambda a, b: (a / norms(a, 0)) @ (b / norms(b, 0)).mT,
        ),
        {
            "es": "Calculas las normas por columnas, es decir, de cada componente a lo largo de "
            "todos los vectores. Cada vector es una fila: su norma suma sobre el último eje, con "
            "`axis=-1, keepdims=True`.",
            "en": "You compute the norms down the columns, that is, of each component across all "
            "the vectors. Each vector is a row: its norm sums over the last axis, with "
            "`axis=-1, keepdims=True`.",
        },
    ),
    Misconception(
        "whole_norm",
        (lambda a, b: a @ b.mT / (np.linalg.norm(a) * np.linalg.norm(b)),),
        {
            "es": "Usas una sola norma para todo el arreglo: `np.linalg.norm(a)` sin `axis` junta "
            "todos los números. Cada vector se divide entre su propia norma.",
            "en": "You use one norm for the whole array: `np.linalg.norm(a)` without `axis` takes "
            "all the numbers together. Each vector is divided by a norm of its own.",
        },
    ),
    Misconception(
        "city_block",
        (
            lambda a, b: over(a, b, norms(a, power=1), norms(b, power=1)),
            lambda a, b: over(
                a, b, np.abs(a).max(-1, keepdims=True), np.abs(b).max(-1, keepdims=True)
            ),
        ),
        {
            "es": "Tu norma suma valores absolutos o toma el mayor. El coseno usa la longitud "
            "euclídea, `sqrt((a**2).sum(axis=-1))`: solo así un vector consigo mismo da 1.",
            "en": "Your norm adds absolute values or takes the largest. The cosine uses Euclidean "
            "length, `sqrt((a**2).sum(axis=-1))`: only so does a vector with itself give 1.",
        },
    ),
    Misconception(
        "euclidean",
        (distances, lambda a, b: 1 / (1 + distances(a, b))),
        {
            "es": "Mides la distancia entre las puntas de los vectores, y esa depende de sus "
            "longitudes. El coseno compara direcciones: producto punto entre producto de normas.",
            "en": "You measure the distance between the tips of the vectors, which depends on "
            "their lengths. The cosine compares directions: dot product over product of norms.",
        },
    ),
    Misconception(
        "cosine_distance",
        (lambda a, b: 1 - cosine_similarity(a, b),),
        {
            "es": "Devuelves la distancia coseno, 1 menos la similitud: los parecidos quedan en 0. "
            "Se pide la similitud, que vale 1 para dos vectores con la misma dirección.",
            "en": "You return the cosine distance, 1 minus the similarity: those alike end up at "
            "0. The similarity is asked for, which is 1 for two vectors of one direction.",
        },
    ),
    Misconception(
        "angle",
        (lambda a, b: np.arccos(np.clip(cosine_similarity(a, b), -1, 1)),),
        {
            "es": "Devuelves el ángulo, y se pide su coseno. El arcocoseno sobra: "
            "`a · b / (‖a‖ ‖b‖)` ya es la respuesta.",
            "en": "You return the angle, and its cosine is asked for. The arccosine has no place "
            "here: `a · b / (‖a‖ ‖b‖)` is already the answer.",
        },
    ),
    Misconception(
        "no_sign",
        (lambda a, b: np.abs(cosine_similarity(a, b)), lambda a, b: cosine_similarity(a, b) ** 2),
        {
            "es": "Pierdes el signo, con `abs` o con un cuadrado. Un coseno de −1 dice que dos "
            "vectores se oponen, que es lo más distinto que pueden ser.",
            "en": "You lose the sign, with `abs` or with a square. A cosine of −1 says that two "
            "vectors oppose each other, which is as different as they can be.",
        },
    ),
    Misconception(
        "zero_to_one",
        (lambda a, b: (1 + cosine_similarity(a, b)) / 2,),
        {
            "es": "Llevas el resultado al intervalo de 0 a 1. El coseno va de −1 a 1 y su cero "
            "significa algo: dos direcciones sin nada en común. No lo desplaces.",
            "en": "You move the result to the range from 0 to 1. The cosine goes from −1 to 1 and "
            "its zero means something: two directions with nothing in common. Do not shift it.",
        },
    ),
    Misconception(
        "centred",
        (centred,),
        {
            "es": "Restas a cada vector la media de sus componentes: eso es la correlación de "
            "Pearson. El coseno compara los vectores tal como vienen, desde el origen.",
            "en": "You subtract from each vector the mean of its components: that is Pearson's "
            "correlation. The cosine compares the vectors as they come, from the origin.",
        },
    ),
    Misconception(
        "paired",
        (paired, lambda a, b: np.nan_to_num(paired(a, b))),
        {
            "es": "Comparas cada vector de `a` solo con el de `b` que está en su misma fila. Se "
            "piden todos los pares: una matriz de `n` por `m`, la que da `a @ b.mT`.",
            "en": "You compare each vector of `a` only with the one of `b` in the same row. All "
            "the pairs are asked for: a matrix of `n` by `m`, which `a @ b.mT` gives.",
        },
    ),
    Misconception(
        "ignores_b",
        (lambda a, b: cosine_similarity(a, a),),
        {
            "es": "Comparas `a` consigo misma: la diagonal sale llena de unos. Los vectores con "
            "los que hay que compararla están en `b`.",
            "en": "You compare `a` with itself: the diagonal comes out full of ones. The vectors "
            "to compare it with are in `b`.",
        },
    ),
    Misconception(
        "swapped",
        (lambda a, b: cosine_similarity(b, a),),
        {
            "es": "La matriz sale traspuesta: has puesto `b` en las filas. El elemento `[i, j]` "
            "compara el vector `i` de `a` con el vector `j` de `b`.",
            "en": "The matrix comes out transposed: you put `b` in the rows. Element `[i, j]` "
            "compares vector `i` of `a` with vector `j` of `b`.",
        },
    ),
    Misconception(
        "transposes_the_batch",
        (all_axes_transposed,),
        {
            "es": "Con un lote, `.T` invierte también sus ejes y los vectores de una oración se "
            "cruzan con los de otra. `.mT` traspone solo los dos últimos.",
            "en": "With a batch, `.T` reverses its axes too, and the vectors of one sentence meet "
            "those of another. `.mT` transposes the last two only.",
        },
    ),
    Misconception(
        "nan_for_zeros",
        (nan_for_zeros,),
        {
            "es": "Un vector de ceros tiene norma 0, y 0 entre 0 da NaN. No apunta a ningún lado: "
            "su similitud con todo es 0. Sustituye la norma por 1 donde sea 0 antes de dividir.",
            "en": "A vector of zeros has norm 0, and 0 over 0 gives NaN. It points nowhere: its "
            "similarity to everything is 0. Replace the norm by 1 where it is 0 before dividing.",
        },
    ),
    Misconception(
        "one_for_zeros",
        (ones_for_zeros,),
        {
            "es": "Das similitud 1 a un vector de ceros, como si fuera idéntico a todos. No tiene "
            "dirección que comparar: devuelve 0.",
            "en": "You give a vector of zeros a similarity of 1, as if it were identical to all "
            "others. It has no direction to compare: return 0.",
        },
    ),
)

EXERCISE = Exercise(
    id="cosine_similarity",
    chapter=2,
    outputs=("similarity",),
    oracle=cosine_similarity,
    cases=cases,
    misconceptions=MISCONCEPTIONS,
)
