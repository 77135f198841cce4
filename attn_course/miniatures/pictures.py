"""Grey pictures of simple shapes, drawn with NumPy: what the miniatures look at."""

import numpy as np

KINDS = ("circle", "square", "triangle", "cross", "ring")
# The grey of a pixel is the mean of this number of points squared.
_FINE = 4


def draw(kind, x, y, radius, size=24, wraps=False):
    """Draw pictures, white shapes on black.

    Parameters
    ----------
    kind : array of int, shape (n_pictures, n_shapes)
        Places in `KINDS`; -1 draws nothing.
    x, y, radius : array of float, shape (n_pictures, n_shapes)
        Where the middle of each shape is, from the top left corner, and half its width, in pixels.
    size : int, default 24
        Pixels of a side.
    wraps : bool, default False
        Whether what leaves on one side comes in on the other.

    Returns
    -------
    array of float, shape (n_pictures, size, size)
        From 0 to 1.

    Examples
    --------
    >>> square = [[KINDS.index("square")]]
    >>> draw(square, [[2]], [[2]], [[1]], size=4).astype(int)
    array([[[0, 0, 0, 0],
            [0, 1, 1, 0],
            [0, 1, 1, 0],
            [0, 0, 0, 0]]])
    """
    given = [np.asarray(each)[..., None, None] for each in (kind, x, y, radius)]
    some = [
        _drawn(*(each[i : i + 100] for each in given), size, wraps)
        for i in range(0, len(given[0]), 100)
    ]
    return np.concatenate(some)


def _drawn(kind, x, y, radius, size, wraps):
    at = (np.arange(size * _FINE) + 0.5) / _FINE
    across, down = at[None, :] - x, at[:, None] - y
    if wraps:
        across, down = ((d + size / 2) % size - size / 2 for d in (across, down))
    across, down = across / radius, down / radius
    far = np.hypot(across, down)
    wide, high = abs(across), abs(down)
    inside = [
        far <= 1,
        np.maximum(wide, high) <= 1,
        (high <= 1) & (2 * wide <= 1 + down),
        (np.maximum(wide, high) <= 1) & (np.minimum(wide, high) <= 0.35),
        (far <= 1) & (far >= 0.5),
    ]
    drawn = sum(those & (kind == i) for i, those in enumerate(inside)) > 0
    points = drawn.any(axis=1).reshape(-1, size, _FINE, size, _FINE)
    return points.mean(axis=(2, 4))


def patches(pictures, side=4):
    """Cut pictures into square patches, in the order of reading.

    Parameters
    ----------
    pictures : array or Tensor, shape (..., size, size)
    side : int, default 4
        Pixels of a side of a patch.

    Returns
    -------
    array or Tensor, shape (..., (size / side)**2, side**2)

    Examples
    --------
    >>> patches(np.arange(16).reshape(4, 4), side=2).tolist()
    [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
    """
    *front, size, _ = pictures.shape
    cut = pictures.reshape(*front, size // side, side, size // side, side).swapaxes(-3, -2)
    return cut.reshape(*front, (size // side) ** 2, side**2)
