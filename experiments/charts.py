"""The charts of the pages of results and of benchmarks, drawn from the tables of those pages.

``python -m experiments.charts`` draws all of them into ``book/figures``, in both languages.
"""

import re

import matplotlib.pyplot as plt
import numpy as np

from attn.io import write_whole
from attn_course.language import get_language, set_language, text
from attn_course.palette import LIGHT
from attn_course.plots import curves, use_style
from attn_course.plots.vector import svg
from benchmarks.report import PAGES, QUALITY, RESULTS, ROOT, SPANISH, SPANISH_REAL, read

FIGURES = ROOT / "book" / "figures"
# In inches: on the site there is room left beside a chart for a sentence.
WIDTH = 5.6


def number(cell):
    """Return the number with which a cell begins, or its median.

    >>> number("51.8\N{NO-BREAK SPACE}% (47.4–56.1)"), number({"median": 0.5}), number("1.90 M")
    (51.8, 0.5, 1.9)
    """
    return float(cell["median"] if isinstance(cell, dict) else re.match(r"[\d.]+", str(cell))[0])


def called(name):
    """Return the name of a row, without its backticks, in the language in use."""
    name = text(es=(SPANISH | SPANISH_REAL).get(name, name), en=name)
    return name.replace("`", "")


def rows_of(names, height):
    """Return axes with a named row for each of `names`, the first on top, and with no frame."""
    _, ax = plt.subplots(figsize=(WIDTH, height), layout="constrained")
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def keyed(ax):
    """Draw the legend of the marks above the axes."""
    ax.figure.legend(
        loc="outside upper left",
        ncols=3,
        borderpad=0,
        fontsize=9,
        handletextpad=0.2,
        columnspacing=0.8,
        handlelength=1.0,
    )


def at_mark(ax, said, x, y, *, before=False):
    """Write a text beside a mark, or before it, in the room that the axis limits leave."""
    ax.annotate(
        said,
        (x, y),
        (-7 if before else 7, 0),
        textcoords="offset points",
        ha="right" if before else "left",
        va="center",
    ).set_in_layout(False)


def attention(results):
    """Return a chart of three systems on six kinds of new sentences, the mean of the seeds."""
    found = {}
    for row in results["probe_translations"]:
        rates = [number(cell) for name, cell in row.items() if name.startswith("seed ")]
        found.setdefault(row["sentences"], {})[row["system"]] = np.mean(rates)
    short = text(
        es={
            "adjective and noun that never met": "adjetivo y sustantivo nuevos",
            "verb and object that never met": "verbo y objeto nuevos",
            "several meanings, new context": "significado en otro contexto",
            "longer than in training": "más larga que todas",
            "new template": "construcción nueva",
            "drawn alike": "como las aprendidas",
        },
        en={
            "adjective and noun that never met": "new adjective and noun",
            "verb and object that never met": "new verb and object",
            "several meanings, new context": "meaning in a new context",
            "longer than in training": "longer than any learnt",
            "new template": "new construction",
            "drawn alike": "like those learnt from",
        },
    )
    ax = rows_of([short[name] for name in found], 1.6)
    without, with_, transformer = (
        np.array([of[system] for of in found.values()])
        for system in ("GRU without attention", "GRU with attention", "Transformer")
    )
    places = np.arange(len(found))
    ax.hlines(places, without, with_, color=LIGHT["line"], linewidth=2)
    marks = (
        (without, "o", LIGHT["surface"], LIGHT["muted"], "GRU without attention"),
        (with_, "o", LIGHT["query"], LIGHT["query"], "GRU with attention"),
        (transformer, "D", LIGHT["key"], LIGHT["key"], "Transformer"),
    )
    for values, marker, fill, edge, name in marks:
        ax.plot(
            values,
            places,
            marker,
            color=fill,
            markeredgecolor=edge,
            markeredgewidth=1.4,
            markersize=6,
            label=called(name),
        )
    for y, low, high, other in zip(places, without, with_, transformer, strict=True):
        at_mark(ax, f"{low:.0f}", low, y, before=True)
        at_mark(ax, f"{max(high, other):.0f}", max(high, other), y)
    ax.set_xlim(-9, 110)
    ax.set_xticks([])
    keyed(ax)
    return ax.figure


def systems(results):
    """Return a chart of BLEU on sentences that people wrote, the best system on top."""
    rows = sorted(
        results["real_clusters"], key=lambda row: number(row["BLEU, bare words"]), reverse=True
    )
    ax = rows_of([called(row["system"]).partition(",")[0] for row in rows], 2.0)
    attends = [row["steps"] != "–" and row["system"] != "GRU without attention" for row in rows]
    attends[0] = True  # the translator that ships, whose row does not tell its architecture
    values = np.array([number(row["BLEU, bare words"]) for row in rows])
    places = np.arange(len(rows))
    for kind, fill, edge, name in (
        (True, LIGHT["query"], LIGHT["query"], text(es="con atención", en="with attention")),
        (False, LIGHT["surface"], LIGHT["muted"], text(es="sin atención", en="without attention")),
    ):
        chosen = np.array(attends) == kind
        ax.barh(
            places[chosen],
            values[chosen],
            height=0.62,
            facecolor=fill,
            edgecolor=edge,
            linewidth=1.2,
            label=name,
        )
    for y, value in zip(places, values, strict=True):
        at_mark(ax, f"{value:.1f}", value, y)
    ax.set_xlim(0, 62)
    ax.set_xticks([])
    keyed(ax)
    return ax.figure


def words(results):
    """Return a chart of BLEU by how many training pairs have the rarest word of a sentence."""
    shown = {
        "the translator that ships": text(
            es="el traductor\nque trae el curso", en="the translator\nthat ships"
        ),
        "our Transformer": called("our Transformer"),
        "Apertium": "Apertium",
    }
    found = {row["system"]: row for row in results["real_words"]}
    groups = list(found["Apertium"])[1:]
    series = {
        name: [number(found[system][group]) for group in groups] for system, name in shown.items()
    }
    _, ax = plt.subplots(figsize=(WIDTH, 1.8), layout="constrained")
    curves(
        range(len(groups)),
        series,
        xlabel=text(
            es="parejas con su palabra más rara",
            en="training pairs with its rarest word",
        ),
        ax=ax,
    )
    ax.set_xticks(range(len(groups)), groups)
    ax.set_yticks([0, 20, 40, 60])
    return ax.figure


def pairs(results):
    """Return a chart of the loss by the number of training pairs, with its power law."""
    return _curve(
        [(row["pairs"], row["best loss"], row["power law"]) for row in results["real_pairs"]],
        text(es="parejas de entrenamiento", en="training pairs"),
    )


def sizes(results):
    """Return a chart of the loss by the number of parameters, with its power law."""
    return _curve(
        [(row["parameters"], row["loss"], row["power law"]) for row in results["real_parameters"]],
        text(es="millones de parámetros", en="millions of parameters"),
    )


def _curve(rows, xlabel):
    x, losses, law = (list(map(number, column)) for column in zip(*rows, strict=True))
    names = text(es=("medida", "ley de potencias"), en=("measured", "power law"))
    _, ax = plt.subplots(figsize=(WIDTH, 2.6), layout="constrained")
    ylabel = text(es="pérdida de validación", en="loss on validation")
    curves(
        x,
        dict(zip(names, (losses, law), strict=True)),
        xlabel=xlabel,
        ylabel=ylabel,
        ax=ax,
        log="x",
    )
    return ax.figure


def layer(results):
    """Return a chart of our time over that of other layers, a mark for each shape and mask."""
    rows = results["attention_layer"]
    peers = [name for name in rows[0] if name not in ("shape", "weights", "mask", "ms")]
    ax = rows_of([called(name) for name in peers], 1.4)
    for y, name in enumerate(peers):
        ratios = [number(row[name]) for row in rows]
        ax.plot(
            ratios,
            [y] * len(ratios),
            "o",
            color=LIGHT["query"],
            markersize=6,
            alpha=0.35,
            markeredgewidth=0,
        )
        at_mark(ax, f"{min(ratios):.2f}–{max(ratios):.2f}", 1.06, y)
    ax.axvline(1, color=LIGHT["muted"], linewidth=1)
    ax.set_xlim(0.28, 1.5)
    ax.set_xticks([0.5, 1], ["0.5", "1"])
    ax.xaxis.tick_top()
    return ax.figure


def cache(results):
    """Return a chart of the time without a cache over that with it, by the number of tokens."""
    rows = results["decoding"]
    ax = rows_of([f"{row['tokens']} tokens" for row in rows], 1.3)
    ratios = [number(row["without cache"]) for row in rows]
    ax.barh(range(len(rows)), ratios, height=0.62, color=LIGHT["query"])
    for y, ratio in enumerate(ratios):
        at_mark(ax, f"× {ratio:.1f}", ratio, y)
    ax.set_xlim(0, 1.25 * max(ratios))
    ax.set_xticks([])
    return ax.figure


def memory(results):
    """Return a chart of the memory of one head, with the whole matrix and in blocks."""
    rows = results["attention_memory"]
    names = {
        "NumPy whole, MB": text(es="matriz entera", en="whole matrix"),
        "NumPy in blocks, MB": text(es="por bloques", en="in blocks"),
    }
    _, ax = plt.subplots(figsize=(WIDTH, 1.8), layout="constrained")
    series = {name: [number(row[column]) for row in rows] for column, name in names.items()}
    curves([row["tokens"] for row in rows], series, xlabel="tokens", ylabel="MB", ax=ax, log="xy")
    ax.set_yticks([1, 10, 100, 1000], ["1", "10", "100", text(es="1\u2009000", en="1,000")])
    ax.minorticks_off()
    return ax.figure


# Each chart by the name of its file, with the tables that it shows.
CHARTS = {
    "results_attention": (attention, QUALITY),
    "results_systems": (systems, QUALITY),
    "results_words": (words, QUALITY),
    "curve_pairs": (pairs, QUALITY),
    "curve_sizes": (sizes, QUALITY),
    "benchmarks_layer": (layer, RESULTS),
    "benchmarks_cache": (cache, RESULTS),
    "benchmarks_memory": (memory, RESULTS),
}


def draw(name, language):
    """Return a chart as SVG; the same tables always give the same text.

    Parameters
    ----------
    name : str
        One of `CHARTS`.
    language : {"es", "en"}
    """
    make, file = CHARTS[name]
    before = get_language()
    set_language(language)
    try:
        with plt.rc_context():
            use_style()
            figure = make(read(file))
            drawn = svg(figure)
    finally:
        set_language(before)
    plt.close(figure)
    return drawn + "\n"


def draw_all():
    """Draw every chart in both languages into the book."""
    FIGURES.mkdir(exist_ok=True)
    for name in CHARTS:
        for language in PAGES[QUALITY]:
            write_whole(FIGURES / f"{name}.{language}.svg", draw(name, language))


if __name__ == "__main__":
    draw_all()
