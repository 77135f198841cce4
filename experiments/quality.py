"""The accuracy of the trained systems: tables for the page of results. ``make results``.

Everything is measured on sentences that are not in the training. The tables are printed, kept in
``quality.json`` and set into the page of both editions. Beside each rate is its 95% interval:
Wilson's where independent answers are counted, else one from resampled sentences.
"""

import json
import sys
import time
from dataclasses import replace
from functools import partial

import numpy as np

from attn.applications.question_answering import QuestionAnswerer
from attn.applications.summarization import Summarizer
from attn.applications.translation import PRETRAINED, TRAINING, Translator, facts
from attn.applications.visual_question import VisualQuestionAnswerer
from attn.metrics import one_word_apart, translation_memory
from attn_course.grammar import splits
from attn_course.images import make_examples
from attn_course.passages import questions
from attn_course.stories import stories
from benchmarks.report import QUALITY, publish, read, table
from experiments import (
    directions,
    ingredients,
    own_words,
    probes_tables,
    translators_tables,
    vocabularies,
)
from experiments.own_words import written
from experiments.rates import error_rate, out_of, percent, rate, share_of

PARTS = ("test", "adjective_noun", "verb_object", "polysemes", "longer")
NAMES = {name: probes_tables.PARTS[name] for name in PARTS}
# The columns of `first_minute`: kind of positions, stacks with uniform attention, seed.
RUNS = {
    "seed 0": ("rotary", (), 0),
    "seed 1": ("rotary", (), 1),
    "sinusoidal": ("sinusoidal", (), 0),
    "cross uniform": ("sinusoidal", ("cross",), 0),
    "all uniform": ("sinusoidal", facts.STACKS, 0),
}
# The number of pairs from which the one-minute training draws.
N_MINUTE = 20_000


def translations(translator, parts):
    """Return the share of right sentences of each part, and how similar they are to training."""
    known = [pair.source for pair in parts.train]
    rows = []
    for name in PARTS:
        pairs = getattr(parts, name)
        sources, right = [pair.source for pair in pairs], [pair.target for pair in pairs]
        found = written(translator, sources)
        rows.append(
            {
                "sentences": NAMES[name],
                "number": len(pairs),
                "one word apart": percent(np.mean(one_word_apart(sources, known))),
                "exact match": exact(found, right),
                "BLEU": bleu(found, right),
            }
        )
    return rows


def memory(translator, parts):
    """Return the accuracy of copying the most similar sentence, and its relation to similarity."""
    known = [pair.source for pair in parts.train]
    rows = []
    for name in PARTS:
        pairs = getattr(parts, name)
        sources, right = [pair.source for pair in pairs], [pair.target for pair in pairs]
        copied, _ = translation_memory(parts.train, sources)
        hits = np.equal(written(translator, sources), right)
        near = one_word_apart(sources, known)
        rows.append(
            {
                "sentences": NAMES[name],
                "number": len(pairs),
                "memory, exact match": exact(copied, right),
                "memory, BLEU": bleu(copied, right),
                "translator, one word apart": out_of(hits[near].sum(), near.sum()),
                "translator, further away": out_of(hits[~near].sum(), (~near).sum()),
            }
        )
    return rows


def alignments(translator, parts):
    """Return alignment error rates: of every head, of means over heads, of three baselines."""
    found = facts.alignment_errors(translator, parts.test, parts.train, rate=error_rate)
    rates = {
        f"layer {layer + 1}, head {head + 1}": found["heads"][layer, head]
        for layer, head in np.ndindex(found["heads"].shape[:2])
    }
    rates |= {
        f"layer {layer + 1}, mean": found["layers"][layer] for layer in range(len(found["layers"]))
    }
    for name, label in (
        ("average", "all layers and heads"),
        ("ibm_model_1", "IBM model 1"),
        ("diagonal", "diagonal"),
        ("uniform", "at random"),
    ):
        rates[label] = found[name]
    return [
        {"links from": label, "error rate": f"{rate:.3f} ({low:.3f}–{high:.3f})"}
        for label, (rate, low, high) in rates.items()
    ]


def agreements(translator, parts):
    """Return how often a word agrees with another, by the distance between them."""
    found = facts.agreement(translator, parts.test + parts.longer)
    rows = []
    for label, (low, high) in probes_tables.DISTANCES.items():
        some = [(share, n) for distance, (share, n) in found.items() if low <= distance <= high]
        total = sum(n for _, n in some)
        if total:
            right = sum(round(share * n) for share, n in some)
            rows.append({"distance": label, "number": total, "right": rate(right, total)})
    return rows


def meanings(translator, parts):
    """Return how often a word of several meanings is right, in old and in new contexts."""
    places = {
        "drawn alike": parts.test + parts.validation,
        "new context": parts.polysemes,
        "new, in vocabulary": [
            pair for pair in parts.polysemes if not translator.target.unknown(pair.target)
        ],
    }
    found = {place: facts.polysemy(translator, pairs) for place, pairs in places.items()}
    senses = sorted({key for counts in found.values() for key in counts})
    rows = [
        {"word": f"*{word}*", "meaning": f"*{sense}*"}
        | {
            place: out_of(*tally(counts, (word, sense)), interval=False)
            for place, counts in found.items()
        }
        for word, sense in senses
    ]
    totals = {place: tally(counts, *counts) for place, counts in found.items()}
    rows.append({"word": "all", "meaning": ""} | {p: rate(*total) for p, total in totals.items()})
    own = {p: own_words.meanings(translator, some) for p, some in places.items()}
    cells = {place: rate(sum(hits), len(hits)) for place, hits in own.items()}
    rows.append({"word": "all, in its own translation", "meaning": ""} | cells)
    common = {
        place: sum(
            max(n for (other, _), (_, n) in counts.items() if other == word)
            for word in {word for word, _ in counts}
        )
        for place, counts in found.items()
    }
    cells = {place: rate(common[place], totals[place][1]) for place in found}
    return [*rows, {"word": "always the commoner meaning", "meaning": ""} | cells]


def tally(counts, *keys):
    """Return the number right under these keys, and the number of all."""
    some = [counts[key] for key in keys if key in counts]
    return sum(round(share * n) for share, n in some), sum(n for _, n in some)


def references(translator, parts):
    """Return how often each head attends most to what a pronoun stands for."""
    found = facts.coreference(translator, parts.test + parts.validation)
    n, rows = found["n"], []
    for who, shares in (("pronoun", found["points"]), ("word", found["word_points"])):
        for layer, heads in enumerate(shares):
            cells = {f"head {h + 1}": share_of(n, share) for h, share in enumerate(heads)}
            rows.append({"who looks": f"{who}, layer {layer + 1}", "number": n} | cells)
    pairs = parts.test + parts.validation
    own = own_words.references(translator, pairs)
    for label, cell in (
        ("by chance", percent(found["chance"])),
        ("always the commonest place", rate(*own_words.commonest_place(pairs), 0)),
        ("the word is right", share_of(n, found["right"])),
        ("right in its own translation", rate(sum(own), n, 0)),
        ("always the commonest form", rate(*own_words.commonest_forms(pairs), 0)),
    ):
        rows.append({"who looks": label, "number": n} | dict.fromkeys(cells, "") | {"head 1": cell})
    return rows


def cuts(translator, parts):
    """Return the share of test sentences that are right without each head."""

    def share(translator, pairs):
        return translator.evaluate(pairs)["exact_match"]

    found, n = facts.ablation(translator, parts.test, share), len(parts.test)
    return [
        {"cut": f"{stack}, layer {layer + 1}", "number": n}
        | {f"head {h + 1}": share_of(n, share) for h, share in enumerate(heads)}
        for stack, numbers in found.items()
        for layer, heads in enumerate(numbers)
    ]


def first_minute(translator, parts):
    """Return the results of one minute of training, with attention and with uniform weights."""
    rows = [{"sentences": NAMES[name], "number": len(getattr(parts, name))} for name in PARTS]
    for label, (positions, stacks, seed) in RUNS.items():
        quick = Translator.fit(
            parts.train[:N_MINUTE],
            sizes={"dropout": 0.05, "positions": positions},
            training=replace(TRAINING, seed=seed),
            prepare=partial(facts.make_uniform, stacks=stacks),
        )
        for row, name in zip(rows, PARTS, strict=True):
            share = quick.evaluate(getattr(parts, name))["exact_match"]
            row[label] = share_of(row["number"], share)
    return rows


def systems(translator, parts):
    """Return the results of the three other systems, each trained here with its defaults."""
    rows = []

    def row(system, asked, measure, n, share):
        cells = {"number": n, "value": share_of(n, share, 1)}
        rows.append({"system": system, "asked": asked, "measure": measure} | cells)

    def timed(system, fit):
        start = time.process_time()
        fitted = fit()
        cells = {"number": "–", "value": f"{time.process_time() - start:.0f}"}
        rows.append(
            {"system": system, "asked": "training", "measure": "seconds of processor"} | cells
        )
        return fitted

    passages = questions(16_000, seed=0)
    reader = timed("question answering", lambda: QuestionAnswerer.fit(passages))
    unseen = questions(2000, seed=1, unseen=True)
    n, found = len(unseen), reader.evaluate(unseen)
    row("question answering", "facts never seen", "exact match", n, found["exact_match"])
    row("question answering", "is there an answer?", "right", n, found["knows_if"])
    found = QuestionAnswerer.fit(passages, marks_question_words=False).evaluate(unseen)
    row("without marked words", "facts never seen", "exact match", n, found["exact_match"])

    writer = timed("summaries", lambda: Summarizer.fit(stories(12_000, seed=0)))
    unseen = stories(1000, seed=1, unseen=True)
    found = writer.evaluate(unseen)
    row("summaries", "headlines never seen", "exact match", len(unseen), found["exact_match"])

    examples = make_examples(20_000, "es")
    looker = timed("visual questions", lambda: VisualQuestionAnswerer.fit(examples))
    unseen = make_examples(2000, "es", seed=1)
    found = looker.evaluate(unseen)
    row("visual questions", "images never seen", "right", len(unseen), found["accuracy"])
    for kind in ("colour", "count", "where", "exists", "left"):
        n = sum(example.kind == kind for example in unseen)
        row("visual questions", kind, "right", n, found[kind])
    unseen = make_examples(1000, "es", seed=2, held_out=True)
    found = looker.evaluate(unseen)
    row("visual questions", "pairs that never met", "right", len(unseen), found["accuracy"])
    return rows


def exact(found, right):
    """Return the `rate` of translations that are right as a whole."""
    return rate(sum(a == b for a, b in zip(found, right, strict=True)), len(right))


def bleu(found, right):
    """Return BLEU and half of its interval, from sacrebleu's bootstrap."""
    from sacrebleu.metrics import BLEU

    metric = BLEU()
    score = metric.corpus_score(found, [right], n_bootstrap=1000)
    told = json.loads(score.format(signature=str(metric.get_signature()), is_json=True))
    return f"{told['score']:.1f} ± {told['confidence_var']:.1f}"


def from_stored(make, stored):
    """Return a function that makes a table from stored results."""

    def rows(translator, parts):
        return make(stored())

    rows.__doc__ = make.__doc__
    return rows


STORED = {
    name: from_stored(make, module.stored)
    for module in (probes_tables, translators_tables, directions, ingredients, vocabularies)
    for name, make in module.TABLES.items()
}
TABLES = {
    "translations": translations,
    "memory": memory,
    "first_minute": first_minute,
    "alignments": alignments,
    "agreements": agreements,
    "meanings": meanings,
    "references": references,
    "cuts": cuts,
    "systems": systems,
    **STORED,
}


def main(names):
    """Measure the tables of these names, or all; print and publish them."""
    for name in names:
        if name not in TABLES:
            sys.exit(f"names: expected some of {', '.join(TABLES)}, got {name}")
    translator = parts = None
    if not names or set(names) - STORED.keys():
        translator, parts = Translator.pretrained("grammar"), splits(n_train=PRETRAINED["n_train"])
    results = read(QUALITY)
    for name in names or TABLES:
        measure = TABLES[name]
        rows = measure(translator, parts)
        if not rows:
            print(f"{name}: nothing is stored yet, see the page of results", flush=True)
            continue
        results[name] = rows
        about = measure.__doc__.splitlines()[0].removeprefix("Return ")
        print(about, table(results[name]), sep="\n\n", end="\n\n", flush=True)
    publish(results, QUALITY)


if __name__ == "__main__":
    main(sys.argv[1:])
