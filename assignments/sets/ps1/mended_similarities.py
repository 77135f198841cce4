"""Problem set 1, `mended_similarities`: cosines divided by one length twice, and wrong repairs."""

import numpy as np

from attn.reference import cosine_similarity
from attn_course.exercises.spec import Exercise

from .nearest import lengths_of


def mended_similarities(x):
    """Return the cosine of every pair of rows."""
    return cosine_similarity(x, x)


def cases(seed):
    """Return words to compare: some, batches of them, and one that is all zeros.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the key ``x``, rows of lengths that differ.
    """
    rng = np.random.default_rng(seed)

    def draw(n, d, *batch):
        lengths = rng.permuted(np.broadcast_to(np.geomspace(0.4, 4, n), (*batch, n)), axis=-1)
        x = rng.normal(size=(*batch, n, d))
        return {"x": x / lengths_of(x) * lengths[..., None]}

    empty = draw(4, 3)
    empty["x"][2] = 0
    return [
        draw(2, 3),
        draw(3, 4),
        draw(4, 2),
        draw(5, 5),
        empty,
        draw(3, 4, 2),
        draw(4, 3, 3),
        draw(2, 3, 2, 2),
        draw(*rng.integers(3, 7, 2)),
    ]


def _over(length):
    """Return a function that divides the dot products by `length` of the norms of the rows."""

    def wrong(x):
        row = np.sqrt((x * x).sum(axis=-1, keepdims=True))
        lengths = length(row, row.mT, x)
        return x @ x.mT / np.where(lengths == 0, 1, lengths)

    return wrong


def _columns(x):
    unit = x / lengths_of(x, axis=-2)
    return unit @ unit.mT


def _symmetric(x):
    given = _over(lambda row, column, x: row * row)(x)
    return (given + given.mT) / 2


def _all_axes(x):
    product = x @ x.T
    length = np.sqrt((x * x).sum(axis=-1, keepdims=True))
    lengths = length * length.T
    return product / np.where(lengths == 0, 1, lengths)


def _nan_for_zeros(x):
    with np.errstate(all="ignore"):
        length = np.sqrt((x * x).sum(axis=-1, keepdims=True))
        return x @ x.mT / (length * length.mT)


def _matrix_only(x):
    _n, _d = x.shape
    return cosine_similarity(x, x)


MISTAKES = {
    "own_length_twice": (_over(lambda row, column, x: row * row),),
    "other_length_twice": (_over(lambda row, column, x: column * column),),
    "symmetric_mean": (_symmetric,),
    "once": (_over(lambda row, column, x: row), _over(lambda row, column, x: column)),
    "not_divided": (
        _over(lambda row, column, x: 1),
        _over(lambda row, column, x: np.linalg.norm(x) ** 2),
    ),
    "root_of_lengths": (_over(lambda row, column, x: np.sqrt(row * column)),),
    "squared_lengths": (_over(lambda row, column, x: (row * column) ** 2),),
    "columns": (_columns,),
    "distance": (lambda x: 1 - cosine_similarity(x, x),),
    "zero_row": (_nan_for_zeros,),
    "matrix_only": (_matrix_only, _all_axes),
}

EXERCISE = Exercise.from_file(__file__, ("similarities",), mended_similarities, cases, MISTAKES)
