"""Heat maps of one matrix: scores or weights with their numbers, and positional encodings."""

import matplotlib.pyplot as plt
import numpy as np

from attn_course.language import text
from attn_course.palette import LIGHT
from attn_course.plots._cells import check_tokens, column_width, extent, fit, name_cells, numbers
from attn_course.plots.style import DEEP_SIGNED, HATCH, SCORES, WEIGHTS


def heatmap(values, rows, columns, *, ax=None, title=None, vmax=None, decimals=2):
    """Draw a matrix with its tokens, the number written in every cell.

    Blue grows with the value. Where some are negative the scale is symmetric, and orange
    grows below zero. A masked score, -inf, is hatched.

    Parameters
    ----------
    values : array_like, shape (n_rows, n_columns)
        What to draw: scores or weights.
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
        If `values` does not have one row and one column for each token, or holds a NaN or
        an infinity other than -inf, or if `vmax` or
        `decimals` is not such a number.

    Examples
    --------
    >>> ax = heatmap([[0.9, 0.1]], ["sky"], ["The", "sky"], title="weights")
    >>> [number.get_text() for number in ax.texts]
    ['0.90', '0.10']
    """
    values = numbers("values", values, masked=True)
    check_tokens("values", values, rows, columns)
    if vmax is not None and not 0 < vmax < np.inf:
        raise ValueError(f"vmax: expected a number above 0, got {vmax}")
    if not (isinstance(decimals, int) and decimals >= 0):
        raise ValueError(f"decimals: expected an integer of at least 0, got {decimals!r}")
    own = ax is None
    if own:
        _, ax = plt.subplots(layout="constrained")

    seen = np.ma.masked_where(values == -np.inf, values)
    high = vmax or np.abs(seen).max() or 1.0
    low, cmap = (-high, SCORES) if (seen < 0).any() else (0.0, WEIGHTS)
    ax.imshow(seen, cmap=cmap, vmin=low, vmax=high, aspect="auto")
    if seen.mask.any():
        ax.patch.set(**HATCH)
    for (i, j), value in np.ndenumerate(values):
        label = f"{value:z.{decimals}f}".replace("-", "−").replace("inf", "∞")
        number = ax.text(j, i, label, ha="center", va="center", fontsize=9, color="black")
        if value == -np.inf:
            number.set_bbox({"facecolor": LIGHT["surface"], "linewidth": 0, "pad": 1})

    width = max(0.6, *(extent(label)[0] + 0.12 for label in ax.texts))
    name_cells(ax, rows, columns, width if own else column_width(ax, columns))
    if title:
        ax.set_title(title, pad=10)
    if own:
        fit(ax, width * len(columns), 0.34 * len(rows))
    return ax


def position_map(encodings, *, ax=None, title=None):
    """Draw positional encodings: a row per position, a column per dimension.

    Blue is positive and orange negative, from -1 to 1, or as far as the largest magnitude
    if that is more.

    Parameters
    ----------
    encodings : array_like, shape (n_positions, d_model)
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    title : str, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If `encodings` is not a matrix of finite numbers.

    References
    ----------
    Vaswani et al. (2017), section 3.5.

    Examples
    --------
    >>> position_map([[0.0, 1.0], [0.84, 0.54]]).get_ylabel()
    'posición'
    """
    encodings = numbers("encodings", encodings)
    if encodings.ndim != 2:
        raise ValueError(f"encodings: expected shape (n_positions, d_model), got {encodings.shape}")
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    high = max(1.0, np.abs(encodings).max())
    image = ax.imshow(encodings, cmap=DEEP_SIGNED, vmin=-high, vmax=high, aspect="auto")
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, aspect=25)
    bar.set_ticks([-high, 0, high], labels=[f"−{high:.3g}", "0", f"{high:.3g}"])
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    ax.set(xlabel=text(es="dimensión", en="dimension"), ylabel=text(es="posición", en="position"))
    ax.locator_params(integer=True)
    ax.spines[:].set_visible(False)
    if title:
        ax.set_title(title)
    return ax
