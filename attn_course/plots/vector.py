"""Figures as SVG, each drawn twice: for a wide page and, stacked, for a narrow one."""

import io
import re
from contextlib import contextmanager
from itertools import pairwise

import matplotlib.pyplot as plt

# In inches: at this width a phone shows text of 9 points with 11 pixels.
NARROW = 4.0
# The largest height of one panel in inches, and the smallest gap between labels in pixels.
TALLEST, GAP = 3.4, 5
# The same figure gives the same text on every run.
STABLE = {"svg.fonttype": "none", "svg.hashsalt": "attn"}


def svg(figure):
    """Return a figure as SVG. A wide figure carries a second SVG, for phones, in its metadata.

    Image viewers show the wide figure. The site reads both (book/_ext/attn_figures.py), and
    shows the one that the page has room for.

    Parameters
    ----------
    figure : matplotlib Figure
        Where its axes are in one row, the narrow one has them in a column.

    Returns
    -------
    str

    Examples
    --------
    >>> figure, _ = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
    >>> wide, narrow = re.findall(r'viewBox="0 0 (\\d+)', svg(figure))
    >>> int(wide) > 2 * int(narrow)
    True
    """
    wide = _saved(figure)
    with _narrowed(figure) as narrowed:
        narrow = _saved(figure) if narrowed else None
    if narrow is None:
        return wide
    return wide.replace("</svg>", f"<metadata>{narrow.strip()}</metadata>\n</svg>")


def _saved(figure):
    file = io.StringIO()
    with plt.rc_context(STABLE):
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(file, format="svg", bbox_inches="tight", pad_inches=0.04, metadata=nothing)
    drawn = file.getvalue()
    # Coordinates inside tags are rounded; numbers in the text are kept.
    digits = r"\d+\.\d{3,}(?=[^<>]*>)"
    drawn = re.sub(digits, lambda number: f"{float(number[0]):.2f}", drawn)
    drawn = re.sub(r"font-family: 'DejaVu Sans'[^;]*", "font-family: sans-serif", drawn)
    # Readers lack the font of mathtext, so its root sign is written in another.
    root = r"font-size: ([\d.]+)px; font-family: 'STIXSizeOneSym'"
    drawn = re.sub(root, lambda sign: f"font-size: {1.6 * float(sign[1]):.1f}px", drawn)
    drawn = re.sub(r"\n\s*", " ", drawn.replace("base64,\n", "base64,"))
    return drawn[drawn.index("<svg") :]


@contextmanager
def _narrowed(figure):
    """Give `figure` the width of a phone for a while; yield whether that was possible."""
    size = figure.get_size_inches().copy()
    axes = [ax for ax in figure.axes if ax.get_subplotspec()]
    grids = {ax.get_subplotspec().get_gridspec().get_geometry() for ax in axes}
    if size[0] <= NARROW or {rows for rows, _ in grids} != {1}:
        yield False
        return
    before = [(ax, ax.get_subplotspec(), _labels(ax)) for ax in axes]
    try:
        grid = figure.add_gridspec(len(axes), 1)
        figure.set_size_inches(NARROW, len(axes) * min(size[1], TALLEST))
        for i, ax in enumerate(axes):
            ax.set_subplotspec(grid[i])
            # An axis that shared the numbers of its neighbour gets its own.
            ax.tick_params(axis="y", **before[0][2]["y"])
        figure.draw_without_rendering()
        for ax in axes:
            labels = [label.get_window_extent() for label in ax.get_xticklabels()]
            if any(one.x1 + GAP > other.x0 for one, other in pairwise(labels)):
                ax.tick_params(axis="x", labelrotation=90)
        yield True
    finally:
        for ax, place, labels in before:
            ax.set_subplotspec(place)
            for axis, settings in labels.items():
                ax.tick_params(axis=axis, **settings)
        figure.set_size_inches(size)


def _labels(ax):
    """Return what `_narrowed` changes of the labels of `ax`, as ``tick_params`` takes it."""
    y, x = ax.yaxis.get_tick_params(), ax.get_xticklabels()
    return {
        "y": {"labelleft": y.get("labelleft", True)},
        "x": {"labelrotation": x[0].get_rotation() if x else 0},
    }
