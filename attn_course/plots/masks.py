"""A mask as a map: which positions may attend to which."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch, Rectangle
from matplotlib.transforms import offset_copy

from attn_course.language import text
from attn_course.palette import LIGHT
from attn_course.plots._cells import check_tokens, column_width, fit, name_cells, on_host
from attn_course.plots.style import FILL, HATCH

CELL_WIDTH, CELL_HEIGHT = 0.52, 0.36


def mask_map(mask, rows, columns, *, ax=None, title=None):
    """Draw a mask: filled where a query may attend to a key, hatched where it may not.

    A query that may attend to nothing has a frame around its row, and a legend says what
    each of these means.

    Parameters
    ----------
    mask : array_like of bool, shape (tgt_len, src_len)
        True = may attend.
    rows, columns : sequence of str
        The tokens: queries down the side, keys along the top.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    title : str, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If `mask` is not boolean, is empty, or does not have one row and one column for each
        token.

    References
    ----------
    Vaswani et al. (2017), section 3.2.3.

    Examples
    --------
    >>> ax = mask_map([[True, False], [True, True]], ["El", "cielo"], ["El", "cielo"])
    >>> [entry.get_text() for entry in ax.get_legend().get_texts()]
    ['puede atender', 'enmascarado']
    """
    mask = np.asarray(on_host(mask))
    if mask.dtype != bool:
        raise ValueError(
            f"mask: expected a boolean array (True = may attend), got dtype {mask.dtype}"
        )
    if mask.size == 0:
        raise ValueError(f"mask: expected at least one row and column, got shape {mask.shape}")
    check_tokens("mask", mask, rows, columns)
    own = ax is None
    if own:
        _, ax = plt.subplots(layout="constrained")

    # Masked cells are not drawn, so that the hatched background shows.
    ax.patch.set(**HATCH)
    ax.imshow(
        np.ma.masked_where(~mask, mask), cmap=ListedColormap([FILL["facecolor"]]), aspect="auto"
    )
    name_cells(ax, rows, columns, CELL_WIDTH if own else column_width(ax, columns))
    _separate(ax, *mask.shape)
    entries = {
        Patch(**FILL): text(es="puede atender", en="may attend"),
        Patch(**HATCH, linewidth=0): text(es="enmascarado", en="masked"),
    }
    frame = {"fill": False, "edgecolor": LIGHT["bad"], "linewidth": 2}
    dead = np.flatnonzero(~mask.any(axis=1))
    for row in dead:
        ax.add_patch(
            Rectangle((-0.5, row - 0.5), len(columns), 1, clip_on=False, zorder=3, **frame)
        )
    if len(dead):
        entries[Patch(**frame)] = text(es="no atiende a nada", en="attends to nothing")
    below = offset_copy(ax.transAxes, fig=ax.figure, y=-0.1)
    ax.legend(
        entries.keys(),
        entries.values(),
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=below,
        borderaxespad=0,
        borderpad=0,
        handlelength=1.4,
        handleheight=0.9,
    )
    if title:
        ax.set_title(title, pad=10)
    if own:
        fit(ax, CELL_WIDTH * len(columns), CELL_HEIGHT * len(rows))
    return ax


def _separate(ax, n_rows, n_columns):
    """Draw white lines between the cells, so that they can be counted."""
    ax.set_xticks(np.arange(n_columns - 1) + 0.5, minor=True)
    ax.set_yticks(np.arange(n_rows - 1) + 0.5, minor=True)
    ax.grid(which="minor", color=LIGHT["surface"], linewidth=2)
    ax.tick_params(which="minor", length=0)
