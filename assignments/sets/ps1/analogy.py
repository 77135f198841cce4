"""Problem set 1, `analogy`: a is to b as c is to which word?"""

import math

import numpy as np

from attn_course.exercises.spec import Exercise

from .nearest import lengths_of


def analogy(vectors, a, b, c):
    """Return the word most similar to b - a + c, in unit vectors, that is none of the three."""
    return _answer(vectors, a, b, c)


def _answer(
    vectors,
    a,
    b,
    c,
    unit=True,
    signs=(-1, 1, 1),
    compare=lambda x, unit: x @ unit.mT,
    excluded=("a", "b", "c"),
    hide=-np.inf,
):
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
        Seed of the random numbers, and of the sizes of some inputs.

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
        # No wrong function may answer all of the questions right.
        while True:
            vectors = words(n, d)
            asked = questions(vectors, math.prod(shape), lambda best: best > 0.05)
            if asked is not None:
                a, b, c = (asked[:, i].reshape(shape) for i in range(3))
                case = {"vectors": vectors, "a": a, "b": b, "c": c}
                if _tells_apart(case):
                    return case

    def few(n, d, m):
        # All words but the given three score below 0 here, and in the last question below -1: there
        # 0 or -1 does not hide a given word. (The sum of three unit vectors may be longer than 1.)
        while True:
            vectors = words(n, d)
            asked = questions(vectors, m, lambda best: best < -0.05)
            unlike = questions(vectors, 1, lambda best: best < -1.05)
            if asked is not None and unlike is not None:
                asked[-1] = unlike[0]
                return {"vectors": vectors, **dict(zip("abc", asked.T.copy(), strict=True))}

    def repeated(n, d, m):
        case = draw(n, d, m)
        case["c"] = case["b"].copy()  # "a is to b as b is to ...": the vector is 2b - a
        return case

    return [
        draw(9, 3, 8),
        draw(12, 4, 10),
        draw(14, 5, 12),
        draw(11, 3, 9),
        few(5, 3, 3),
        few(6, 4, 4),
        repeated(9, 3, 6),
        draw(9, 4, 3, 4),
        draw(8, 3, 2, 2, 3),
        draw(*rng.integers((9, 3, 8), (15, 6, 13))),
    ]


def _tells_apart(case):
    right = analogy(**case)
    return not any(
        np.array_equal(function(*case.values()), right)
        for mistake, functions in MISTAKES.items()
        for function in functions
        if mistake not in ("hidden_with_zero", "one_axis_only")
    )


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


MISTAKES = {
    "nothing_excluded": (_with(excluded=()),),
    "only_c_excluded": (_with(excluded=("c",)), _with(excluded=("a", "c")), _with(excluded=("a",))),
    "only_b_and_c_excluded": (
        _with(excluded=("b", "c")),
        _with(excluded=("a", "b")),
        _with(excluded=("b",)),
    ),
    "difference_reversed": (_with(signs=(1, -1, 1)),),
    "c_subtracted": (_with(signs=(1, 1, -1)), _with(signs=(-1, 1, -1))),
    "all_added": (_with(signs=(1, 1, 1)),),
    "only_c": (_with(signs=(0, 0, 1)), _with(signs=(0, 1, 1))),
    "not_unit_vectors": (_with(unit=False),),
    "product_with_long_vectors": (
        lambda v, a, b, c: _answer(v, a, b, c, compare=lambda x, unit: x @ v.mT),
        lambda v, a, b, c: _answer(v, a, b, c, unit=False, compare=lambda x, unit: x @ v.mT),
    ),
    "least_similar": (lambda v, a, b, c: _answer(v, a, b, c, compare=lambda x, u: -(x @ u.mT)),),
    "hidden_with_zero": (_with(hide=0), _with(hide=-1)),
    "similarity_returned": (_similarity,),
    "one_axis_only": (_one_axis,),
}

EXERCISE = Exercise.from_file(__file__, ("ids",), analogy, cases, MISTAKES)
