"""The course's matplotlib figures, in the style and the colours of its widgets."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from attn.palette import LIGHT

# Light enough for black numbers everywhere, also when the site's dark scheme inverts the figure.
_BLUE, _ORANGE = "#78acd8", "#e89c66"
WEIGHTS = LinearSegmentedColormap.from_list("attn_weights", [LIGHT["surface"], _BLUE])
SCORES = LinearSegmentedColormap.from_list("attn_scores", [_ORANGE, LIGHT["surface"], _BLUE])

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


def heatmap(values, rows, columns, *, ax=None, title=None, vmax=None, decimals=2):
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
    vmax : float, optional
        The value of the full colour; by default the largest there is.
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
    high = vmax or np.abs(values).max() or 1.0
    low, cmap = (-high, SCORES) if (values < 0).any() else (0.0, WEIGHTS)
    ax.imshow(values, cmap=cmap, vmin=low, vmax=high, aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        label = f"{value:.{decimals}f}".replace("-", "−")
        ax.text(j, i, label, ha="center", va="center", fontsize=9, color="black")
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.xaxis.tick_top()
    ax.tick_params(axis="x", labelcolor=LIGHT["key"])
    ax.tick_params(axis="y", labelcolor=LIGHT["query"])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if title:
        ax.set_title(title, pad=10)
    return ax


def curves(x, series, *, ax, title, xlabel, log=""):
    """Draw one line per series, each named at its end.

    Parameters
    ----------
    x : array_like, shape (n_points,)
    series : dict of str to array_like, shape (n_points,)
        What to draw, by the name to write beside it.
    ax : matplotlib Axes
    title, xlabel : str
    log : {"", "x", "y", "xy"}, default ""
        Which axes are logarithmic; `x` in powers of two.

    Returns
    -------
    matplotlib Axes
    """
    for name, y in series.items():
        (line,) = ax.plot(x, y, "o-")
        ax.annotate(name, (x[-1], y[-1]), xytext=(8, 0), textcoords="offset points",
                    va="center", color=line.get_color(), annotation_clip=False)  # fmt: skip
    if "x" in log:
        ax.set_xscale("log", base=2)
        ax.set_xticks(x, [str(tick) for tick in x])
    if "y" in log:
        ax.set_yscale("log")
    ax.set(xlabel=xlabel)
    ax.set_title(title)
    return ax
