"""The number of layers between two positions."""

import numpy as np

from attn._checks import check_mask, check_shape
from attn.reference._types import ArrayLike, Ints


def path_lengths(mask: ArrayLike) -> Ints:
    """Count the layers that information needs between every two positions under a mask.

    In each layer a position receives from those that it may attend to. So the input at j
    reaches i after as many layers as the shortest path from i to j has steps.

    Parameters
    ----------
    mask : array_like of bool, shape (seq_len, seq_len)
        True where position i may attend to position j. A position always keeps what it has,
        whatever the diagonal says.

    Returns
    -------
    ndarray of int, shape (seq_len, seq_len)
        The fewest layers that bring j to i: 0 from a position to itself, -1 where no number
        of layers is enough.

    Raises
    ------
    ValueError
        If `mask` is not a square boolean array.

    References
    ----------
    Vaswani et al. (2017), Table 1, "Maximum Path Length".

    Examples
    --------
    Each position hears of the one before, as in a recurrent network:

    >>> path_lengths(np.eye(3, k=-1, dtype=bool))
    array([[ 0, -1, -1],
           [ 1,  0, -1],
           [ 2,  1,  0]])
    """
    mask = np.asarray(mask)
    check_mask("mask", mask)
    check_shape("mask", mask, (len(mask) if mask.ndim else "seq_len",) * 2)
    heard = np.eye(len(mask), dtype=bool)
    lengths = np.where(heard, 0, -1)
    for layer in range(1, len(mask)):
        heard = heard | (mask @ heard)
        lengths[heard & (lengths < 0)] = layer
    return lengths
