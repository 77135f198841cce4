"""Chapter 2, `cosine_similarity`: comparing directions, and the ways to get it wrong."""

import numpy as np

from attn.reference import cosine_similarity
from attn_course.exercises.spec import Exercise


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
            # Lengths differ and no two vectors are almost parallel, which would hide mistakes.
            a *= rng.uniform(0.5, 3, (*batch, n, 1))
            b *= rng.uniform(0.5, 3, (*batch, m, 1))
            if np.abs(cosine_similarity(a, b)).max() < 0.85:
                return {"a": a, "b": b}

    empty = draw(3, 2, 4)
    empty["a"][1] = 0
    found = [
        draw(1, 2, 3),
        draw(2, 3, 4),
        draw(4, 2, 5),
        draw(3, 3, 3),
        draw(3, 4, 5, 2),
        draw(2, 3, 4, 3, 2),
        empty,
    ]
    # One input has vectors so short that a small number added to the denominator shows.
    found[2] = {name: 1e-3 * vectors for name, vectors in found[2].items()}
    return found


def norms(x, axis=-1, power=2):
    return (np.abs(x) ** power).sum(axis=axis, keepdims=True) ** (1 / power)


def over(a, b, length_a, length_b):
    """Divide the dot products by these lengths; return zero where a length is zero."""
    lengths = length_a * np.swapaxes(length_b, -1, -2)
    return np.divide(a @ b.mT, lengths, out=np.zeros_like(a @ b.mT), where=lengths != 0)


def plus(number):
    """Add a number to every product of lengths."""
    return lambda a, b: a @ b.mT / (norms(a) * norms(b).mT + number)


def plus_each(number):
    """Add a number to every length."""
    return lambda a, b: a @ b.mT / ((norms(a) + number) * (norms(b) + number).mT)


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


MISTAKES = {
    "dot_product": (lambda a, b: a @ b.mT,),
    "one_norm": (
        lambda a, b: over(a, b, norms(a), np.ones_like(norms(b))),
        lambda a, b: over(a, b, np.ones_like(norms(a)), norms(b)),
    ),
    "squared_norms": (lambda a, b: over(a, b, norms(a) ** 2, norms(b) ** 2),),
    "root_of_norms": (lambda a, b: over(a, b, norms(a) ** 0.5, norms(b) ** 0.5),),
    "sum_of_norms": (lambda a, b: a @ b.mT / (norms(a) + norms(b).mT),),
    "norms_out_of_shape": (flat_norms, untransposed_norms),
    "columns": (
        lambda a, b: (a / norms(a, -2)) @ (b / norms(b, -2)).mT,
        lambda a, b: (a / norms(a, 0)) @ (b / norms(b, 0)).mT,
    ),
    "whole_norm": (lambda a, b: a @ b.mT / (np.linalg.norm(a) * np.linalg.norm(b)),),
    "city_block": (
        lambda a, b: over(a, b, norms(a, power=1), norms(b, power=1)),
        lambda a, b: over(a, b, np.abs(a).max(-1, keepdims=True), np.abs(b).max(-1, keepdims=True)),
    ),
    "euclidean": (distances, lambda a, b: 1 / (1 + distances(a, b))),
    "cosine_distance": (lambda a, b: 1 - cosine_similarity(a, b),),
    "angle": (lambda a, b: np.arccos(np.clip(cosine_similarity(a, b), -1, 1)),),
    "no_sign": (
        lambda a, b: np.abs(cosine_similarity(a, b)),
        lambda a, b: cosine_similarity(a, b) ** 2,
    ),
    "zero_to_one": (lambda a, b: (1 + cosine_similarity(a, b)) / 2,),
    "centred": (centred,),
    "paired": (paired, lambda a, b: np.nan_to_num(paired(a, b))),
    "ignores_b": (lambda a, b: cosine_similarity(a, a),),
    "swapped": (lambda a, b: cosine_similarity(b, a),),
    "transposes_the_batch": (all_axes_transposed,),
    "nan_for_zeros": (nan_for_zeros,),
    "number_added": (
        plus_each(1e-3),
        plus(1e-3),
        plus_each(1e-4),
        plus(1e-4),
        *(plus(number) for number in (1e-5, 1e-6, 1e-7, 1e-8, 1e-9)),
        *(plus_each(number) for number in (1e-5, 1e-6, 1e-7, 1e-8)),
    ),
    "one_for_zeros": (ones_for_zeros,),
}

EXERCISE = Exercise.from_file(__file__, ("similarity",), cosine_similarity, cases, MISTAKES)
