"""What the page of results shows of `experiments.probes`: rows from its file.

A seed has a column when every system was trained with it.
"""

import json
from pathlib import Path

import numpy as np

from attn.metrics import diagonal_alignment, ibm_model_1, one_word_apart, translation_memory
from benchmarks.report import QUALITY, publish, read
from experiments import own_words
from experiments.rates import apart, error_rate, mcnemar, rate

RESULTS = Path(__file__).with_name("probes.json")
SYSTEMS = {
    "transformer": "Transformer",
    "gru_attention": "GRU with attention",
    "gru": "GRU without attention",
}
PARTS = {
    "test": "drawn alike",
    "adjective_noun": "adjective and noun that never met",
    "verb_object": "verb and object that never met",
    "polysemes": "several meanings, new context",
    "longer": "longer than in training",
    "templates": "new template",
}
SEEDS = (0, 1, 2)
DISTANCES = {"1": (1, 1), "2–3": (2, 3), "4–6": (4, 6), "7–9": (7, 9), "10+": (10, 99)}


def baselines(parts):
    """Return the results of systems without gradient training, on the same split."""
    known = [pair.source for pair in parts.train]
    model_1 = ibm_model_1([(p.source.split(), p.target.split()) for p in parts.train])
    texts = [(pair.source.split(), pair.target.split()) for pair in parts.test]
    links = {
        "IBM model 1": [model_1.align(*text) for text in texts],
        "diagonal": [diagonal_alignment(*map(len, text)) for text in texts],
    }
    sure, possible = ([getattr(pair, name) for pair in parts.test] for name in ("sure", "possible"))
    memory, near = {}, {}
    for name in PARTS:
        pairs = getattr(parts, name)
        sources = [pair.source for pair in pairs]
        copied, _ = translation_memory(parts.train, sources)
        memory[name] = [sum(a == p.target for a, p in zip(copied, pairs, strict=True)), len(pairs)]
        near[name] = int(one_word_apart(sources, known).sum())
    return {
        "pairs": len(parts.train),
        "one word apart": near,
        "memory": memory,
        "commonest forms": own_words.commonest_forms(parts.test + parts.validation),
        "alignments": {
            name: [round(float(x), 4) for x in error_rate(found, sure, possible)]
            for name, found in links.items()
        },
    }


def stored():
    """Return the stored results, by kind and name."""
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def seeds_of(told):
    """Return the seeds that every system was trained with."""
    return [s for s in SEEDS if all(f"{name} {s}" in told.get("runs", {}) for name in SYSTEMS)]


def runs_of(told, system):
    """Return the results of a system, by the heading of the column."""
    return {f"seed {seed}": told["runs"][f"{system} {seed}"] for seed in seeds_of(told)}


def counted(told, first, labels, counts_of):
    """Return a row for each label and system, with a rate for each seed.

    Parameters
    ----------
    told : dict
    first : str
        The heading of the labels.
    labels : dict of str to str
        The label of a row on the page, by name.
    counts_of : callable, (run, name) -> (right, n)
    """
    rows = []
    for name, label in labels.items():
        for system, its_label in SYSTEMS.items():
            found = {seed: counts_of(run, name) for seed, run in runs_of(told, system).items()}
            # All systems were asked the same number of questions.
            number = max((n for _, n in found.values()), default=0)
            if number:
                cells = {seed: rate(*counts) for seed, counts in found.items()}
                rows.append({first: label, "system": its_label, "number": number} | cells)
    return rows


def systems(told):
    """Return the systems that are compared: three of about one size."""
    rows = []
    for system, label in SYSTEMS.items():
        runs = [*runs_of(told, system).values()]
        if runs:
            seconds = np.mean([run["seconds"] for run in runs])
            row = {"system": label, "parameters": f"{runs[0]['parameters']:,}"}
            row |= {"learning rate": f"{runs[0]['learning_rate']:g}", "steps": runs[0]["steps"]}
            rows.append(row | {"seconds of processor": round(seconds)})
    return rows


def translations(told):
    """Return how many sentences are right without similar sentences in training."""
    return counted(told, "sentences", PARTS, lambda run, name: run["exact"][name][:2])


def agreements(told):
    """Return how often a word agrees with another, by the distance between them, in three systems."""

    def some(run, name):
        low, high = DISTANCES[name]
        counts = [c for distance, c in run["agreements"].items() if low <= int(distance) <= high]
        return sum(right for right, _ in counts), sum(n for _, n in counts)

    return counted(told, "distance", {name: name for name in DISTANCES}, some)


def meanings(told):
    """Return how often a word of several meanings is right in three systems."""
    labels = {
        f"{kind}{name}": f"{name}{told_apart}"
        for name in ("drawn alike", "new, in vocabulary")
        for kind, told_apart in (("", ""), ("own ", ", on its own"))
    }

    def counts(run, name):
        own, name = name.startswith("own "), name.removeprefix("own ")
        return (run["own"] if own else run)["meanings"][name][:2]

    return counted(told, "sentences", labels, counts)


def references(told):
    """Return how often the word that a pronoun decides is right in three systems."""
    labels = {"given": "the right words precede", "own": "in its own translation"}
    rows = counted(
        told,
        "asked",
        labels,
        lambda run, name: (run["own"] if name == "own" else run)["references"][:2],
    )
    if not rows:
        return []
    right, n = told["setting"]["baselines"]["commonest forms"]
    *about, first = list(rows[0])[:4]
    rule = dict.fromkeys(rows[0], "") | {about[0]: "always the commonest form", "number": n}
    return [*rows, rule | {first: rate(right, n)}]


def differences(told):
    """Return tests of the difference between the Transformer and the GRU with attention.

    A cell counts the questions that only the Transformer gets right, those that only the GRU
    does, and gives the p-value of McNemar's exact test.
    """
    asked = {f"exact {name}": label for name, label in PARTS.items()}
    asked |= {
        f"meanings {name}": f"meanings: {name}" for name in ("drawn alike", "new, in vocabulary")
    }
    asked |= {"references": "pronouns"}

    def answers(run, name):
        kind, _, part = name.partition(" ")
        own = run["own"]
        return run[kind][part] if kind == "exact" else own[kind][part] if part else own[kind]

    one, other = (runs_of(told, system) for system in ("transformer", "gru_attention"))
    rows = []
    for name, label in asked.items() if one else ():
        cells = {}
        for seed in one:
            a, b = answers(one[seed], name), answers(other[seed], name)
            only_one, only_other = apart(a, b)
            cells["number"] = a[1]
            p = mcnemar(only_one, only_other)
            told_p = f"{p:.3f}" if p >= 0.001 else "<0.001"
            cells[seed] = f"{only_one} : {only_other} ({told_p})"
        rows.append({"asked": label} | cells)
    return rows


def alignments(told):
    """Return alignment error rates of the weights' mean, and of two baselines without a network."""
    rows = []
    for system, label in SYSTEMS.items():
        found = {seed: run["alignments"] for seed, run in runs_of(told, system).items()}
        if found and all(found.values()):
            rows.append({"links from": label} | {s: _interval(cell) for s, cell in found.items()})
    if not rows:
        return []
    _, *seeds = rows[0]
    for label, cell in told["setting"]["baselines"]["alignments"].items():
        # Baselines have no seed, so their result is in the first column.
        cells = dict.fromkeys(seeds, "") | {seeds[0]: _interval(cell)}
        rows.append({"links from": label} | cells)
    return rows


def _interval(cell):
    return "{:.3f} ({:.3f}–{:.3f})".format(*cell)


# The tables by their labels on the page, in its order.
TABLES = {
    "probe_systems": systems,
    "probe_translations": translations,
    "probe_differences": differences,
    "probe_alignments": alignments,
    "probe_agreements": agreements,
    "probe_meanings": meanings,
    "probe_references": references,
}


def set_tables():
    """Set the tables into the page of results."""
    told = stored()
    rows = {name: make(told) for name, make in TABLES.items()}
    publish(read(QUALITY) | {name: some for name, some in rows.items() if some}, QUALITY)
