"""Curves, each named at its end."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.transforms import Affine2D

from attn_course.plots._cells import numbers
from attn_course.plots.style import SERIES

# Up to this many points, each has a marker and, on a logarithmic axis, a tick.
FEW = 12


def curves(x, series, *, xlabel, ylabel=None, ax=None, title=None, log=""):
    """Draw one line per series, each named at its end; from the sixth on they are dashed.

    Names whose lines end close together are moved apart.

    Parameters
    ----------
    x : array_like, shape (n_points,)
    series : dict of str to array_like, shape (n_points,)
        What to draw, by the name to write beside it.
    xlabel : str
    ylabel : str, optional
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    title : str, optional
    log : {"", "x", "y", "xy"}, default ""
        Which axes are logarithmic; `x` in powers of two.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there is nothing to draw, a series has not one finite number for each `x`, an
        axis is neither of those, or a number on a logarithmic axis is not above zero.

    Examples
    --------
    >>> ax = curves([1, 2, 4], {"loss": [3.0, 2.0, 1.5]}, xlabel="step", log="x")
    >>> [tick.get_text() for tick in ax.get_xticklabels()]
    ['1', '2', '4']
    """
    if log not in ("", "x", "y", "xy"):
        raise ValueError(f'log: expected "", "x", "y" or "xy", got {log!r}')
    if not series:
        raise ValueError("series: expected at least one, got none")
    x = _points("x", x, "x" in log)
    if x.ndim != 1:
        raise ValueError(f"x: expected shape (n_points,), got {x.shape}")
    series = {name: _points(f"series {name!r}", y, "y" in log) for name, y in series.items()}
    for name, y in series.items():
        if y.shape != x.shape:
            raise ValueError(f"series {name!r}: expected shape {x.shape} to match x, got {y.shape}")
    if ax is None:
        _, ax = plt.subplots(layout="constrained")

    ends = [(x[-1], y[-1]) for y in series.values()]
    for i, (name, y) in enumerate(series.items()):
        # When the colours repeat, the lines are dashed.
        dashes = "-" if i < len(SERIES) else "--"
        (line,) = ax.plot(x, y, dashes, marker="o" if len(x) <= FEW else None)
        ax.annotate(
            name,
            ends[i],
            xytext=(8, 0),
            textcoords=_beside(ax, ends, i),
            va="center",
            color=line.get_color(),
            annotation_clip=False,
        )
    if "x" in log:
        ax.set_xscale("log", base=2)
        if len(x) <= FEW:
            ax.set_xticks(x, [f"{tick:.10g}" for tick in x])
    if "y" in log:
        ax.set_yscale("log")
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.set_title(title)
    return ax


def _points(name, values, positive):
    values = numbers(name, values)
    if positive and not (values > 0).all():
        raise ValueError(
            f"{name}: expected numbers above 0 on a logarithmic axis, got {values.min():g}"
        )
    return values


def _beside(ax, ends, i):
    """Return the place of name `i` as matplotlib asks for it: whenever it draws.

    Only then is it known how far apart on paper the lines end.
    """

    def place(renderer):
        pixels = ax.transData.transform(ends)
        point = renderer.points_to_pixels(1)
        gap, (bottom, top) = 13 * point, ax.bbox.intervaly
        height = spread(pixels[:, 1], gap, bottom + gap / 2, top)[i]
        return Affine2D().scale(point).translate(pixels[i, 0], height)

    return place


def spread(wanted, gap, low, high):
    """Return places from `low` to `high`, at least `gap` apart, as near those wanted as can be.

    Nearest in squares, and in the same order: an isotonic regression.

    Examples
    --------
    >>> spread([0.0, 10.0, 1.0], gap=3.0, low=-0.5, high=20.0).tolist()
    [-0.5, 10.0, 2.5]
    """
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(order))
    free = np.asarray(wanted)[order] - steps
    fitted = [
        max(min(free[a : b + 1].mean() for b in range(i, len(free))) for a in range(i + 1))
        for i in range(len(free))
    ]
    places = np.empty(len(free))
    places[order] = np.clip(fitted, low, high - steps[-1]) + steps
    return places
