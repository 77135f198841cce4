"""Shared parts of figures made of cells: their numbers, their tokens, their size."""

from itertools import pairwise

import numpy as np

from attn_course.palette import LIGHT


def numbers(name, values, masked=False):
    """Return `values` as an array of finite floats; with `masked`, -inf may be among them."""
    try:
        values = np.asarray(on_host(values), dtype=float)
    except (TypeError, ValueError):
        got = type(values).__name__
        raise ValueError(f"{name}: expected an array of numbers, got {got}") from None
    if values.size == 0:
        raise ValueError(f"{name}: expected at least one number, got shape {values.shape}")
    fine = np.isfinite(values) | (masked & (values == -np.inf))
    if not fine.all():
        also = ", or -inf where masked" if masked else ""
        raise ValueError(
            f"{name}: expected finite numbers{also}, got {(~fine).sum()} NaN or infinite"
        )
    return values


def on_host(values):
    """Return a PyTorch tensor without its gradient and in main memory; others as they are."""
    return values.detach().cpu() if hasattr(values, "detach") else values


def check_tokens(name, values, rows, columns):
    """Raise ``ValueError`` unless `values` has one row and one column for each token."""
    shape = (len(rows), len(columns))
    if values.shape != shape:
        raise ValueError(f"{name}: expected shape {shape} for these tokens, got {values.shape}")


def column_width(ax, columns):
    """Return how wide a column of `ax` is at present, in inches."""
    return ax.get_window_extent().width / ax.figure.dpi / len(columns)


def name_cells(ax, rows, columns, width):
    """Write the tokens: queries down the side, keys along the top, upright where too long.

    `width` is that of a column in inches.
    """
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.xaxis.tick_top()
    ax.tick_params(axis="x", labelcolor=LIGHT["key"])
    ax.tick_params(axis="y", labelcolor=LIGHT["query"])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    sizes = [extent(label)[0] for label in ax.get_xticklabels()]
    if any((left + right) / 2 > width - 0.07 for left, right in pairwise(sizes)):
        ax.tick_params(axis="x", labelrotation=90)


def extent(label):
    """Return how wide and how high a text is, in inches."""
    return label.get_window_extent().size / label.figure.dpi


def fit(ax, width, height, more=(0, 0)):
    """Size a figure so that `ax`, its top left, measures `width` by `height` inches.

    `more` is the room, in inches, of what is not part of `ax`.
    """
    fig, size = ax.figure, np.array([width, height])
    fig.set_size_inches(size / ax.get_position().size)
    around = (ax.get_tightbbox().size - ax.get_window_extent().size) / fig.dpi
    fig.set_size_inches(size + around + more + 0.1)
