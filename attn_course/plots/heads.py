"""The weights of several heads, side by side on one scale."""

import matplotlib.pyplot as plt
import numpy as np

from attn_course.language import text
from attn_course.palette import LIGHT
from attn_course.plots._cells import extent, fit, name_cells, numbers
from attn_course.plots.style import DEEP_WEIGHTS

CELL = 0.18
ACROSS = 4


def head_grid(weights, rows, columns):
    """Draw one small heat map per head, all on one scale from 0 to 1.

    Parameters
    ----------
    weights : array_like, shape (n_heads, tgt_len, src_len) or (n_layers, n_heads, ...)
        The attention weights. With layers, each is a line of the grid; without, the heads
        fill lines of up to four.
    rows, columns : sequence of str
        The tokens: queries down the left side, keys along the top.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If `weights` has another shape, or a number that is not between 0 and 1.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2 and the figures of its appendix.

    Examples
    --------
    >>> layers = [[[[0.9, 0.1]]], [[[0.5, 0.5]]]]
    >>> figure = head_grid(layers, ["sky"], ["The", "sky"])
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['capa 1', 'capa 2', 'peso']
    """
    weights = numbers("weights", weights)
    size = (len(rows), len(columns))
    if weights.ndim not in (3, 4) or weights.shape[-2:] != size:
        raise ValueError(
            f"weights: expected shape ([n_layers,] n_heads, {size[0]}, {size[1]}) "
            f"for these tokens, got {weights.shape}"
        )
    outside = (weights < 0) | (weights > 1 + 1e-6)
    if outside.any():
        raise ValueError(
            f"weights: expected numbers between 0 and 1, got {weights[outside][0]:.4g}"
        )
    layered = weights.ndim == 4
    lines = weights if layered else np.array_split(weights, -(-len(weights) // ACROSS))
    figure, grid = plt.subplots(len(lines), len(lines[0]), squeeze=False, layout="constrained")
    for i, (line, axes) in enumerate(zip(lines, grid, strict=True)):
        # The last lines may have one head less.
        for ax in axes[len(line) :]:
            ax.remove()
        for ax, matrix in zip(axes, line, strict=False):
            image = ax.imshow(matrix, cmap=DEEP_WEIGHTS, vmin=0, vmax=1, aspect="auto")
            name_cells(ax, rows, columns, CELL)
            ax.tick_params(labelsize=9, labeltop=i == 0, labelleft=ax is axes[0])
            ax.spines[:].set(visible=True, color=LIGHT["line"])

    titles = [
        ax.set_title(text(es=f"cabeza {head}", en=f"head {head}"), fontsize=10)
        for head, ax in enumerate(grid[0] if layered else figure.axes, start=1)
    ]
    names = [
        ax.set_ylabel(text(es=f"capa {layer}", en=f"layer {layer}"))
        for layer, ax in enumerate(grid[:, 0] if layered else [], start=1)
    ]
    width = max([CELL * len(columns), *(extent(title)[0] + 0.05 for title in titles)])
    height = max([CELL * len(rows), *(extent(name)[1] + 0.05 for name in names)])
    n_lines, n_across = grid.shape
    # Without layers every head has a title, which needs room.
    between = 0.1 if layered else 0.3
    more = (n_across - 1) * (width + 0.1) + 0.5, (n_lines - 1) * (height + between) + 0.07
    fit(grid[0, 0], width, height, more)
    _add_scale(figure, image, width + more[0], height + more[1])
    return figure


def _add_scale(figure, image, width, height):
    """Add the bar from 0 to 1, 0.12 inches wide and 0.08 beside heads of this size together."""
    bar = figure.colorbar(image, ax=figure.axes, aspect=height / 0.12, pad=0.08 / width)
    bar.set_ticks([0, 1])
    bar.set_label(text(es="peso", en="weight"))
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
