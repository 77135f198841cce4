"""The tables of the page of results that show the rows of `experiments.translators`.

A system that was not run has no row. For several seeds a cell shows the mean, and in brackets the
lowest and the highest.
"""

import json
from pathlib import Path

import numpy as np

from attn.metrics import wilson_interval
from benchmarks.report import PAGES, QUALITY, publish, read
from experiments import charts

RESULTS = Path(__file__).with_name("translators.json")
RECIPES = Path(__file__).with_name("recipes.json")
NAMES = {
    "memory": "translation memory",
    "model_1": "IBM model 1, word by word",
    "apertium": "Apertium",
    "gru": "GRU without attention",
    "gru_attention": "GRU with attention",
    "transformer": "our Transformer",
    "torch": "`nn.Transformer`",
    "keras": "shape of Keras's tutorial",
    "shipped": "the translator that ships",
}
TESTS = {"clusters": "without near neighbours", "plain": "drawn alike"}


def stored():
    """Return the stored results, by kind and name."""
    told = json.loads(RESULTS.read_text(encoding="utf-8"))
    return told | {"recipes": json.loads(RECIPES.read_text(encoding="utf-8"))}


def runs_of(told, system):
    """Return the results of a system, one for each seed; none if it was not run."""
    return [run for name, run in told.get("runs", {}).items() if name.split()[0] == system]


def whole(told, test):
    """Return a row for each system: its size and training, and its scores on a test."""
    rows = []
    for system, label in NAMES.items():
        runs = runs_of(told, system)
        if not runs:
            continue
        parts, is_trained = [run[test] for run in runs], "steps" in runs[0]
        cells = {"seeds": "–", "parameters": "–", "steps": "–", "seconds of processor": "–"}
        if is_trained:
            cells = {
                "seeds": len(runs),
                "parameters": f"{runs[0]['parameters'] / 1e6:.1f} M",
                "steps": runs[0]["steps"],
                "seconds of processor": round(np.mean([run["seconds"] for run in runs])),
            }
        n, right = parts[0]["n"], round(np.mean([part["exact"] for part in parts]))
        share, low, high = (100 * x for x in (right / n, *wilson_interval(right, n)))
        rows.append(
            {"system": label}
            | cells
            | {
                "BLEU": with_interval([part["bleu"] for part in parts]),
                "chrF": with_interval([part["chrf"] for part in parts]),
                "exact match": f"{share:.1f}\N{NO-BREAK SPACE}% ({low:.1f}–{high:.1f})",
                "BLEU, bare words": with_interval([part["bleu_stripped"] for part in parts]),
            }
        )
    return rows


def clusters(told):
    """Return the scores of each system on sentences without near neighbours in training."""
    return whole(told, "clusters")


def plain(told):
    """Return the scores of each system on randomly drawn sentences."""
    rows = whole(told, "plain")
    kept = ("system", "BLEU", "chrF", "exact match", "BLEU, bare words")
    return [{name: row[name] for name in kept} for row in rows]


def with_interval(scores):
    """Return the mean of scores, with half an interval each, and the range of several.

    Examples
    --------
    >>> with_interval([[24.04, 1.31]]), with_interval([[24.0, 1.3], [25.0, 1.5]])
    ('24.0 ± 1.3', '24.5 ± 1.4 (24.0–25.0)')
    """
    values, halves = zip(*scores, strict=True)
    spread = f" ({min(values):.1f}–{max(values):.1f})" if len(values) > 1 else ""
    return f"{np.mean(values):.1f} ± {np.mean(halves):.1f}{spread}"


def grouped(told, kind):
    """Return BLEU by group of the sentences without near neighbours, a column for each group."""
    rows = []
    for system, label in NAMES.items():
        parts = [run["clusters"][kind] for run in runs_of(told, system)]
        if not parts:
            continue
        if not rows:
            rows.append({"system": "number"} | {name: part["n"] for name, part in parts[0].items()})
        cells = {
            name: f"{np.mean([part[name]['bleu'] for part in parts]):.1f}" for name in parts[0]
        }
        rows.append({"system": label} | cells)
    return rows


def lengths(told):
    """Return BLEU by the number of words of the source."""
    return grouped(told, "length")


def rare_words(told):
    """Return BLEU by how many training pairs have the rarest word of the source."""
    return grouped(told, "rarest")


def pairs_of(told, one, other):
    """Return the comparisons of two systems, one for each seed with both."""
    return [
        part for name, part in told.get("paired", {}).items() if name.split()[:2] == [one, other]
    ]


def _paired(parts, test, kind, group):
    """Return cells of a comparison: mean BLEU of both, mean difference, largest p of the seeds."""
    cells = [part[test][kind][group] for part in parts]
    one, other = (float(np.mean([cell[i] for cell in cells])) for i in (1, 2))
    differences = [cell[2] - cell[1] for cell in cells]
    spread = f" ({signed(min(differences))} … {signed(max(differences))})" * (len(cells) > 1)
    return {
        "number": cells[0][0],
        "without": f"{one:.1f}",
        "with": f"{other:.1f}",
        "difference": signed(np.mean(differences)) + spread,
        "p": f"{max(cell[3] for cell in cells):.3f}",
    }


def signed(number, digits=1):
    """Return a number with its sign; the minus is as wide as a plus.

    Examples
    --------
    >>> signed(2.04), signed(-0.5)
    ('+2.0', '−0.5')
    """
    return f"{number:+.{digits}f}".replace("-", "−")


def attention(told):
    """Return the gain of the GRU from attention, by test, length and rarest word."""
    parts = pairs_of(told, "gru", "gru_attention")
    if not parts:
        return []
    rows = []
    for test, label in TESTS.items():
        for kind, groups in parts[0][test].items():
            for group in groups:
                rows.append(
                    {
                        "sentences": label,
                        "words": group if kind == "length" else "all",
                        "rarest word": group if kind == "rarest" else "all",
                    }
                    | _paired(parts, test, kind, group)
                )
    return rows


def differences(told):
    """Return the differences in BLEU between systems, and their *p*."""
    rows = []
    for one, other in (
        ("gru", "gru_attention"),
        ("gru_attention", "transformer"),
        ("torch", "transformer"),
    ):
        parts = pairs_of(told, one, other)
        for test, label in TESTS.items():
            if parts:
                cells = _paired(parts, test, "all", "all")
                rows.append(
                    {"system": NAMES[other], "against": NAMES[one], "sentences": label}
                    | {"difference": cells["difference"], "p": cells["p"]}
                )
    return rows


def rates(told):
    """Return the validation loss by learning rate, a row for each system that was run."""
    rows = []
    for system, label in NAMES.items():
        losses = {
            float(name.split()[1]): loss
            for name, loss in told.get("rates", {}).items()
            if name.split()[0] == system
        }
        if losses and runs_of(told, system):
            rows.append(
                {
                    "system": label,
                    "learning rate": " / ".join(f"{rate:g}" for rate in losses),
                    "loss": " / ".join(f"{loss:.2f}" for loss in losses.values()),
                    "taken": f"{min(losses, key=losses.get):g}",
                }
            )
    return rows


def power_law(x, y):
    """Fit ``a + b * x ** -c`` by least squares, with a, b and c at least zero.

    For each of many exponents, a and b are the solution of a linear problem.

    Parameters
    ----------
    x, y : array_like, shape (n_points,)

    Returns
    -------
    a, b, c : float

    Raises
    ------
    ValueError
        If there are fewer than four points, because three parameters fit any three.

    Examples
    --------
    >>> x = np.array([1.0, 4, 16, 64, 256])
    >>> [round(number, 2) for number in power_law(x, 2 + 3 * x**-0.5)]
    [2.0, 3.0, 0.5]
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    if len(x) < 4:
        raise ValueError(f"x: expected at least 4 points, got {len(x)}")
    best = None
    for c in np.arange(0.01, 3.001, 0.01):
        falling = (x / x[0]) ** -c
        a, b = np.linalg.lstsq(np.stack([np.ones_like(x), falling], 1), y, rcond=None)[0]
        if a < 0:
            a, b = 0.0, falling @ y / (falling @ falling)
        if b < 0:
            a, b = y.mean(), 0.0
        error = np.square(a + b * falling - y).sum()
        if best is None or error < best[0]:
            best = error, float(a), float(b * x[0] ** c), float(c)
    return best[1:]


def _fitted(found):
    """Return each point with the values of a fitted power law; none if there are too few points."""
    if len(found) < 4:
        return [(*point, {}) for point in found]
    a, b, c = power_law([n for n, _, _ in found], [loss for _, loss, _ in found])
    fitted = []
    for n, loss, run in found:
        law = a + b * n**-c
        cells = {"power law": f"{law:.3f}", "residual": signed(loss - law, 3)}
        fitted.append((n, loss, run, cells))
    return fitted


def points(told, kind):
    """Return the points of a curve: number of pairs or parameters, loss, and run."""
    runs = sorted(told.get(kind, {}).items(), key=lambda item: float(item[0]))
    if kind == "curve_pairs":
        return [(int(name), run["validation_loss"], run) for name, run in runs]
    # The run of the main comparison is the point of the middle size.
    sizes = [run for _, run in runs] + runs_of(told, "transformer")[:1] * bool(runs)
    return sorted(
        ((run["parameters"], run["validation_loss"], run) for run in sizes), key=lambda p: p[0]
    )


def more_pairs(told):
    """Return the validation loss by the number of training pairs."""
    return [
        {"pairs": n, "best loss": f"{loss:.3f}", "last loss": f"{run['last_loss']:.3f}"} | fit
        for n, loss, run, fit in _fitted(points(told, "curve_pairs"))
    ]


def more_parameters(told):
    """Return the validation loss by the number of parameters, in the same time."""
    return [
        {"parameters": f"{n / 1e6:.2f} M", "steps": run["steps"], "loss": f"{loss:.3f}"} | fit
        for n, loss, run, fit in _fitted(points(told, "curve_sizes"))
    ]


def search(told):
    """Return BLEU and chrF of the translator that ships, by beam width and length penalty."""
    rows = {}
    for name, (bleu, chrf) in told.get("recipes", {}).get("search", {}).items():
        width, penalty = name.split()
        rows.setdefault(width, {"beam width": int(width)})[f"α = {penalty}"] = (
            f"{bleu:.1f} / {chrf:.1f}"
        )
    penalties = list(dict.fromkeys(name for row in rows.values() for name in row))
    return [{name: row.get(name, "–") for name in penalties} for row in rows.values()]


def choices(told):
    """Return the effect of each choice of the recipe, changed alone, after a tenth of its steps."""
    return [
        {
            "changed": "nothing" if name == "none" else name,
            "steps": run["steps"],
            "seconds of processor": round(run["seconds"]),
            "MB": f"{run['bytes'] / 1e6:.1f}",
            "BLEU, greedy": f"{run['greedy'][0]:.1f}",
            "BLEU, beam": f"{run['beam'][0]:.1f}",
            "chrF, beam": f"{run['beam'][1]:.1f}",
            "BLEU, averaged weights": f"{run['averaged'][0]:.1f}",
        }
        for name, run in told.get("recipes", {}).items()
        if name != "search"
    ]


# The tables by their labels on the page, in its order.
TABLES = {
    "real_clusters": clusters,
    "real_plain": plain,
    "real_attention": attention,
    "real_lengths": lengths,
    "real_words": rare_words,
    "real_differences": differences,
    "real_rates": rates,
    "real_pairs": more_pairs,
    "real_parameters": more_parameters,
    "real_search": search,
    "real_choices": choices,
}


def set_tables():
    """Set the tables that have rows into the page of results; return the names of those set.

    A table whose label is not on the page yet is left out. The charts are drawn as well.
    """
    told = stored()
    page = min(path.read_text(encoding="utf-8") for path in PAGES[QUALITY].values())
    rows = {name: make(told) for name, make in TABLES.items() if f"({name})=" in page}
    others = {name: table for name, table in read(QUALITY).items() if name not in TABLES}
    placed = {name: table for name, table in rows.items() if table}
    publish(others | placed, QUALITY)
    charts.draw_all()
    return list(placed)
