"""Problem set 1, `analogy`: a is to b as c is to which word?"""

import math

import numpy as np

from attn.exercises.ps1.nearest import lengths_of
from attn.exercises.spec import Exercise, Misconception


def analogy(vectors, a, b, c):
    """Return the word most similar to b - a + c, in unit vectors, that is none of the three."""
    return _answer(vectors, a, b, c)


def _answer(
    vectors, a, b, c, unit=True, signs=(-1, 1, 1), compare=lambda x, unit: x @ unit.mT,
    excluded=("a", "b", "c"), hide=-np.inf,
):  # fmt: skip
    words = vectors / lengths_of(vectors) if unit else vectors
    asked = sum(sign * words[ids] for sign, ids in zip(signs, (a, b, c), strict=True))
    score = compare(asked, vectors / lengths_of(vectors))
    given = {"a": a, "b": b, "c": c}
    for name in excluded:
        np.put_along_axis(score, given[name][..., None], hide, axis=-1)
    return score.argmax(axis=-1)


def cases(seed):
    """Return analogies: ordinary ones, few words, repeated ones, batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``vectors``, ``a``, ``b`` and ``c``, ids of one shape.
    """
    rng = np.random.default_rng(seed)

    def words(n, d):
        return rng.normal(size=(n, d)) * rng.uniform(0.3, 3, (n, 1))

    def questions(vectors, m, fits):
        """Return m questions whose best answer is as similar as `fits` asks, or None."""
        unit, words = vectors / lengths_of(vectors), np.arange(len(vectors))
        asked = rng.permuted(np.tile(words, (200, 1)), axis=1)[:, :3]
        a, b, c = asked.T
        score = (unit[b] - unit[a] + unit[c]) @ unit.T
        np.put_along_axis(score, asked, -np.inf, axis=-1)
        found = asked[fits(score.max(axis=-1))]
        return found[:m] if len(found) >= m else None

    def draw(n, d, *shape):
        # As many questions as it takes for no wrong way to answer all of them rightly.
        while True:
            vectors = words(n, d)
            asked = questions(vectors, math.prod(shape), lambda best: best > 0.05)
            if asked is not None:
                a, b, c = (asked[:, i].reshape(shape) for i in range(3))
                case = {"vectors": vectors, "a": a, "b": b, "c": c}
                if _tells_apart(case):
                    return case

    def few(n, d, m):
        # What is left is unlike what is asked for: every similarity is below 0.
        while True:
            vectors = words(n, d)
            asked = questions(vectors, m, lambda best: best < -0.05)
            if asked is not None:
                return {"vectors": vectors, **dict(zip("abc", asked.T.copy(), strict=True))}

    def repeated(n, d, m):
        case = draw(n, d, m)
        case["c"] = case["b"].copy()  # "a is to b as b is to ...": the vector is 2b - a
        return case

    return [
        draw(9, 3, 8), draw(12, 4, 10), draw(14, 5, 12), draw(11, 3, 9),
        few(5, 3, 3), few(6, 4, 4), repeated(9, 3, 6), draw(9, 4, 3, 4), draw(8, 3, 2, 2, 3),
    ]  # fmt: skip


def _tells_apart(case):
    right = analogy(**case)
    return not any(
        np.array_equal(function(*case.values()), right)
        for known in MISCONCEPTIONS
        for function in known.functions
        if known.id not in ("hidden_with_zero", "one_axis_only")
    )


# The wrong functions.


def _with(**changes):
    return lambda vectors, a, b, c: _answer(vectors, a, b, c, **changes)


def _one_axis(vectors, a, b, c):
    if a.ndim != 1:
        raise IndexError("too many indices for array")
    return analogy(vectors, a, b, c)


def _similarity(vectors, a, b, c):
    words = vectors / lengths_of(vectors)
    asked = words[b] - words[a] + words[c]
    score = asked / lengths_of(asked) @ words.mT
    for ids in (a, b, c):
        np.put_along_axis(score, ids[..., None], -np.inf, axis=-1)
    return score.max(axis=-1)


MISCONCEPTIONS = (
    Misconception(
        "nothing_excluded",
        (_with(excluded=()),),
        {
            "es": "Das a menudo una de las tres palabras de la pregunta: b − a + c queda cerca "
            "de ellas casi siempre. Hay que excluirlas antes de elegir.",
            "en": "You often give one of the three words of the question: b − a + c nearly "
            "always lies close to them. They must be left out before you choose.",
        },
    ),
    Misconception(
        "only_c_excluded",
        (_with(excluded=("c",)), _with(excluded=("a", "c")), _with(excluded=("a",))),
        {
            "es": "Excluyes solo parte de las tres palabras dadas. También *b*, que es la más "
            "cercana con frecuencia, queda fuera.",
            "en": "You leave out only some of the three given words. *b*, often the closest, is "
            "left out as well.",
        },
    ),
    Misconception(
        "only_b_and_c_excluded",
        (_with(excluded=("b", "c")), _with(excluded=("a", "b")), _with(excluded=("b",))),
        {
            "es": "Excluyes solo parte de las tres palabras dadas: ni *a*, ni *b*, ni *c* pueden "
            "ser la respuesta.",
            "en": "You leave out only some of the three given words: neither *a* nor *b* nor *c* "
            "may be the answer.",
        },
    ),
    Misconception(
        "difference_reversed",
        (_with(signs=(1, -1, 1)),),
        {
            "es": "Restas al revés: de *a* se llega a *b* sumando b − a, y ese mismo paso se da "
            "desde *c*.",
            "en": "You subtract the other way round: from *a* one gets to *b* by adding b − a, and "
            "the same step is taken from *c*.",
        },
    ),
    Misconception(
        "c_subtracted",
        (_with(signs=(1, 1, -1)), _with(signs=(-1, 1, -1))),
        {
            "es": "El paso de *a* a *b* parte de *c*, así que *c* se suma y *a* se resta.",
            "en": "The step from *a* to *b* starts from *c*, so *c* is added and *a* is "
            "subtracted.",
        },
    ),
    Misconception(
        "all_added",
        (_with(signs=(1, 1, 1)),),
        {
            "es": "Sumas las tres: eso busca la palabra más parecida a todas ellas. *a* se resta.",
            "en": "You add all three: that looks for the word most like all of them. *a* is "
            "subtracted.",
        },
    ),
    Misconception(
        "only_c",
        (_with(signs=(0, 0, 1)), _with(signs=(0, 1, 1))),
        {
            "es": "Falta parte de la cuenta: buscas lo parecido a *c*, o a *b* y *c*, sin quitar "
            "lo que tiene *a*.",
            "en": "Part of the calculation is missing: you look for what is like *c*, or like *b* and *c*, "
            "without taking away what *a* has.",
        },
    ),
    Misconception(
        "not_unit_vectors",
        (_with(unit=False),),
        {
            "es": "Restas vectores de longitudes distintas, y el más largo decide la dirección. "
            "Divide cada palabra entre su longitud *antes* de sumar y restar.",
            "en": "You subtract vectors of different lengths, and the longest decides the "
            "direction. Divide each word by its length *before* you add and subtract.",
        },
    ),
    Misconception(
        "product_with_long_vectors",
        (
            lambda v, a, b, c: _answer(v, a, b, c, compare=lambda x, unit: x @ v.mT),
            lambda v, a, b, c: _answer(v, a, b, c, unit=False, compare=lambda x, unit: x @ v.mT),
        ),
        {
            "es": "Eliges con el producto punto con los vectores sin normalizar: gana una palabra "
            "larga. Compara direcciones.",
            "en": "You choose by the dot product with vectors that are not normalised: a long word "
            "wins. Compare directions.",
        },
    ),
    Misconception(
        "least_similar",
        (lambda v, a, b, c: _answer(v, a, b, c, compare=lambda x, u: -(x @ u.mT)),),
        {
            "es": "Eliges la palabra menos parecida: se busca el coseno más grande.",
            "en": "You choose the least similar word: the largest cosine is wanted.",
        },
    ),
    Misconception(
        "hidden_with_zero",
        (_with(hide=0),),
        {
            "es": "Excluyes poniendo un 0, pero un coseno puede ser negativo, y entonces 0 gana. "
            "Pon −∞.",
            "en": "You leave words out by writing a 0, but a cosine may be negative, and then 0 "
            "wins. Write −∞.",
        },
    ),
    Misconception(
        "similarity_returned",
        (_similarity,),
        {
            "es": "Devuelves lo parecida que es la palabra, y se pide cuál es: su id.",
            "en": "You return how similar the word is, and what is asked for is which one: its id.",
        },
    ),
    Misconception(
        "one_axis_only",
        (_one_axis,),
        {
            "es": "Funciona con una lista de preguntas y no con una tabla de ellas. Deja que los "
            "ejes de *a*, *b* y *c* sean los que sean.",
            "en": "It works on a list of questions and not on a table of them. Let the axes of "
            "*a*, *b* and *c* be what they are.",
        },
    ),
)

EXERCISE = Exercise("analogy", 2, ("ids",), analogy, cases, MISCONCEPTIONS, problem_set="ps1")
