"""How alike two vectors are, whatever their lengths."""

import numpy as np

from attn._checks import check_shape
from attn.reference._numbers import finite_numbers
from attn.reference._types import ArrayLike, Floats


def cosine_similarity(a: ArrayLike, b: ArrayLike) -> Floats:
    """Compare the direction of every vector of one list with every vector of another.

    Parameters
    ----------
    a : array_like, shape (..., n, d)
        Vectors.
    b : array_like, shape (..., m, d)
        Vectors to compare them with; leading dimensions broadcast.

    Returns
    -------
    ndarray, shape (..., n, m)
        The cosine of each angle, from -1 to 1. A vector of zeros has no direction: its
        similarity to anything is 0.

    Raises
    ------
    ValueError
        If the vectors have different sizes, or a component is not finite.

    References
    ----------
    Salton, Wong and Yang (1975), section 1.

    Examples
    --------
    >>> cosine_similarity([[1.0, 0.0]], [[3.0, 0.0], [0.0, 2.0], [-1.0, 0.0]])
    array([[ 1.,  0., -1.]])
    """
    a, b = finite_numbers(a=a, b=b)
    check_shape("a", a, (..., "n", "d"))
    check_shape("b", b, (..., "m", a.shape[-1]), "a")
    return _unit(a) @ _unit(b).mT


def _unit(vectors: Floats) -> Floats:
    # The norm squares the components, which overflows for very large ones and gives zero for
    # very small ones. Dividing by the largest component first avoids both.
    largest = np.abs(vectors).max(axis=-1, keepdims=True, initial=0)
    scaled = vectors / np.where(largest == 0, 1, largest)
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return scaled / np.where(length == 0, 1, length)
