"""Small images: coloured things on a pale ground, one to a patch, drawn with NumPy alone."""

from typing import NamedTuple

import numpy as np

from attn.applications.visual_question.patches import (
    GROUND,
    N_COLUMNS,
    N_ROWS,
    PATCH_SIZE,
)

COLOURS = {
    "red": (206, 44, 38),
    "green": (46, 150, 62),
    "blue": (38, 92, 200),
    "yellow": (240, 190, 20),
    "purple": (140, 60, 160),
}

# Each character is a pixel: # has the colour of the thing, + is lighter, - is darker, and a dot is
# the background.
SHAPES = {
    "ball": """
        ..###..
        .#++##.
        ##+####
        #######
        ######-
        .####-.
        ..#--..
        """,
    "box": """
        +++++++
        #######
        -------
        #######
        ###-###
        #######
        #######
        """,
    "star": """
        ...#...
        ...#...
        #######
        .#####.
        ..###..
        .##.##.
        ##...##
        """,
    "tree": """
        ...#...
        ..###..
        .#####.
        ..###..
        .#####.
        #######
        ...-...
        """,
}
# Each shade multiplies the colour and adds a constant.
SHADES = {"#": (1.0, 0), "+": (0.5, 127), "-": (0.5, 0)}


class Thing(NamedTuple):
    """One thing of a scene: what it is, and the patch that it stands in."""

    shape: str
    colour: str
    row: int
    column: int


def draw(things, rng=None):
    """Draw a scene, never twice the same: places waver by a pixel, colours by a little.

    Parameters
    ----------
    things : iterable of Thing
        In patches of their own.
    rng : numpy.random.Generator, optional
        Without it nothing wavers, and things stand at the top left of their patches: the
        images that the page draws.

    Returns
    -------
    array of uint8, shape (N_ROWS * PATCH_SIZE, N_COLUMNS * PATCH_SIZE, 3)
        Red, green and blue of each pixel.

    Examples
    --------
    >>> draw([Thing("ball", "red", 0, 2)], np.random.default_rng(0)).shape
    (48, 48, 3)
    """
    image = np.empty((N_ROWS * PATCH_SIZE, N_COLUMNS * PATCH_SIZE, 3))
    image[:] = GROUND
    for shape, colour, row, column in things:
        marks = _MARKS[shape]
        top, left = (0, 0)
        if rng is not None:
            top, left = rng.integers(0, PATCH_SIZE - len(marks), size=2, endpoint=True)
        top, left = top + row * PATCH_SIZE, left + column * PATCH_SIZE
        patch = image[top : top + len(marks), left : left + len(marks)]
        wavering = np.array(COLOURS[colour]) + (0 if rng is None else rng.normal(0, 8, size=3))
        for mark, (factor, offset) in SHADES.items():
            patch[marks == mark] = factor * wavering + offset
    if rng is not None:
        image += rng.normal(0, 8, size=image.shape)
    return image.round().clip(0, 255).astype(np.uint8)


_MARKS = {name: np.array([list(row) for row in art.split()]) for name, art in SHAPES.items()}
