"""The course's matplotlib figures, in the style and the colours of its widgets."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from attn.palette import LIGHT

# From the surface of the page to the deep blue of a weight of 1, as in the widgets.
WEIGHTS = LinearSegmentedColormap.from_list(
    "attn_weights", [LIGHT["surface"], "#9cc4e2", LIGHT["weight"], "#062f55"]
)

# Signed numbers: orange below zero, blue above, the colour of the page at zero.
SCORES = LinearSegmentedColormap.from_list(
    "attn_scores",
    ["#6b2b00", LIGHT["key"], "#e3b18c", LIGHT["surface"], "#9cc4e2", LIGHT["weight"], "#062f55"],
)

SERIES = [LIGHT[name] for name in ("query", "key", "value", "extra", "muted")]


def use_style():
    """Draw every figure of this session in the course's style, sharp on any screen."""
    plt.rcParams.update(
        {
            "figure.figsize": (7.2, 3.2),
            "figure.dpi": 100,
            "figure.facecolor": LIGHT["surface"],
            "figure.constrained_layout.use": True,
            "savefig.facecolor": LIGHT["surface"],
            "axes.facecolor": LIGHT["surface"],
            "axes.edgecolor": LIGHT["muted"],
            "axes.labelcolor": LIGHT["ink"],
            "axes.titlesize": 11,
            "axes.titlelocation": "left",
            "axes.titlecolor": LIGHT["ink"],
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": plt.cycler(color=SERIES),
            "axes.grid": False,
            "font.size": 10,
            "text.color": LIGHT["ink"],
            "xtick.color": LIGHT["muted"],
            "ytick.color": LIGHT["muted"],
            "xtick.labelcolor": LIGHT["ink"],
            "ytick.labelcolor": LIGHT["ink"],
            "lines.linewidth": 2,
            "lines.markersize": 5,
            "legend.frameon": False,
        }
    )
    try:
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:  # plain Python, outside a notebook: nothing to sharpen
        return
    set_matplotlib_formats("retina")


def heatmap(values, rows, columns, *, ax=None, title=None, decimals=2):
    """Draw a matrix with its tokens, the number written in every cell.

    Blue grows with the value. Where some are negative the scale is symmetric, and orange
    grows below zero.

    Parameters
    ----------
    values : array_like, shape (n_rows, n_columns)
        What to draw: weights, scores, a mask.
    rows, columns : sequence of str
        The tokens: queries down the side, keys along the top.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    title : str, optional
    decimals : int, default 2
        How many decimals each cell shows.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If `values` does not have one row and one column for each token.
    """
    values = np.asarray(values, dtype=float)
    if values.shape != (len(rows), len(columns)):
        raise ValueError(
            f"values: expected shape {(len(rows), len(columns))} for these tokens, "
            f"got {values.shape}"
        )
    if ax is None:
        _, ax = plt.subplots(figsize=(0.62 * len(columns) + 1.4, 0.46 * len(rows) + 0.9))
    high = np.abs(values).max() or 1.0
    low, cmap = (-high, SCORES) if (values < 0).any() else (0.0, WEIGHTS)
    image = ax.imshow(values, cmap=cmap, vmin=low, vmax=high, aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        label = f"{value:.{decimals}f}".replace("-", "−")
        # Where black and white have the same contrast with the cell, it is 4.58 to 1.
        colour = "white" if _luminance(image.to_rgba(value)) < 0.179 else "black"
        ax.text(j, i, label, ha="center", va="center", fontsize=9, color=colour)
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if title:
        ax.set_title(title, pad=10)
    return ax


def _luminance(colour):
    """Return the relative luminance of a colour as WCAG 2 defines it, from 0 to 1."""
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
