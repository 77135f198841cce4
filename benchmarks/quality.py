"""What the trained systems get right: tables for the page of results. ``make results``.

Everything is measured on what the systems have never seen. The tables are printed, kept in
``quality.json`` and set into the page of both editions.
"""

import sys
import time

import numpy as np

from attn.applications.question_answering import QuestionAnswerer, questions
from attn.applications.summarization import Summarizer, stories
from attn.applications.translation import Translator, facts
from attn.applications.visual_question import VisualQuestionAnswerer, make_examples
from attn.corpus import document_pairs, splits
from benchmarks.report import QUALITY, publish, read, table

# Document 000, section 3.3.4.
ENIAC = (
    "The first general-purpose electronic computer, ENIAC, was completed in 1945.",
    "When was the first computer invented?",
)
PARTS = ("test", "adjective_noun", "verb_object", "polysemes", "longer")
NAMES = {
    "test": "drawn alike",
    "adjective_noun": "adjective and noun that never met",
    "verb_object": "verb and object that never met",
    "polysemes": "several meanings, new context",
    "longer": "longer than in training",
}


def translations(translator, parts):
    """Return how many sentences of each part come out right."""
    rows = []
    for name in PARTS:
        found = translator.evaluate(getattr(parts, name))
        rows.append(
            {
                "sentences": NAMES[name],
                "number": found["n_pairs"],
                "exact match": percent(found["exact_match"]),
                "BLEU": f"{found['bleu']:.1f}",
                "tokens": percent(found["token_accuracy"]),
            }
        )
    pairs = document_pairs()
    right = [translator.translate(pair.source) == pair.target for pair in pairs]
    rows.append(
        {
            "sentences": "the documents' own",
            "number": len(pairs),
            "exact match": percent(np.mean(right)),
            "BLEU": "–",
            "tokens": "–",
        }
    )
    return rows


def alignments(translator, parts):
    """Return alignment error rates: of every head, of means over heads, of three baselines."""
    found = facts.alignment_errors(translator, parts.test)
    rows = []
    for layer, heads in enumerate(found["heads"]):
        cells = {f"head {h + 1}": f"{rate:.3f}" for h, rate in enumerate(heads)}
        rows.append(
            {"cross-attention": f"layer {layer + 1}"}
            | cells
            | {"mean": f"{found['layers'][layer]:.3f}"}
        )
    empty = dict.fromkeys(cells, "")
    for name, label in (
        ("average", "all layers and heads"), ("ibm_model_1", "IBM model 1"),
        ("diagonal", "diagonal"), ("uniform", "at random"),
    ):  # fmt: skip
        rows.append({"cross-attention": label} | empty | {"mean": f"{found[name]:.3f}"})
    return rows


def agreements(translator, parts):
    """Return how often a word agrees with another, by the distance between them."""
    found = facts.agreement(translator, parts.test + parts.longer)
    groups = {"1": (1, 1), "2–3": (2, 3), "4–6": (4, 6), "7–9": (7, 9), "10+": (10, 99)}
    rows = []
    for label, (low, high) in groups.items():
        some = [(share, n) for distance, (share, n) in found.items() if low <= distance <= high]
        total = sum(n for _, n in some)
        if total:
            right = sum(share * n for share, n in some) / total
            rows.append({"distance": label, "number": total, "right": percent(right)})
    return rows


def meanings(translator, parts):
    """Return how often each meaning of a word is chosen, where its context is new and old."""
    new = facts.polysemy(translator, parts.polysemes)
    old = facts.polysemy(translator, parts.test + parts.validation)
    rows = []
    for key in sorted({*new, *old}):
        cells = [
            f"{percent(s)} ({n})" if n else "–" for s, n in (d.get(key, (0, 0)) for d in (old, new))
        ]
        rows.append(
            {
                "word": f"*{key[0]}*",
                "meaning": f"*{key[1]}*",
                "seen": cells[0],
                "new context": cells[1],
            }
        )
    return rows


def references(translator, parts):
    """Return how often each head looks at what a pronoun stands for."""
    found = facts.coreference(translator, parts.test + parts.validation)
    rows = []
    for who, shares in (("pronoun", found["points"]), ("word", found["word_points"])):
        for layer, heads in enumerate(shares):
            cells = {f"head {h + 1}": percent(share) for h, share in enumerate(heads)}
            rows.append({"who looks": f"{who}, layer {layer + 1}"} | cells)
    for label, share in (("by chance", found["chance"]), ("the word is right", found["right"])):
        rows.append({"who looks": label} | dict.fromkeys(cells, "") | {"head 1": percent(share)})
    return rows


def cuts(translator, parts):
    """Return the share of test sentences that still come out right without each head."""

    def exact(translator, pairs):
        return translator.evaluate(pairs)["exact_match"]

    found = facts.ablation(translator, parts.test, exact)
    return [
        {"cut": f"{stack}, layer {layer + 1}"}
        | {f"head {h + 1}": percent(share) for h, share in enumerate(heads)}
        for stack, numbers in found.items()
        for layer, heads in enumerate(numbers)
    ]


def first_minute(translator, parts):
    """Return what a translator gets right after a minute of training on one processor."""
    start = time.process_time()
    quick = Translator.fit(splits().train, sizes={"dropout": 0.05})
    seconds = time.process_time() - start
    rows = [{"sentences": "seconds of processor", "exact match": f"{seconds:.0f}"}]
    for name in ("test", "adjective_noun", "verb_object"):
        share = quick.evaluate(getattr(parts, name))["exact_match"]
        rows.append({"sentences": NAMES[name], "exact match": percent(share)})
    return rows


def systems(translator, parts):
    """Return what the three other systems get right, each trained here with its defaults."""
    rows = []

    def row(system, asked, measure, value):
        rows.append({"system": system, "asked": asked, "measure": measure, "value": value})

    def timed(fit):
        start = time.process_time()
        return fit(), f"{time.process_time() - start:.0f}"

    reader, seconds = timed(QuestionAnswerer.fit)
    unseen = questions(2000, seed=1, unseen=True)
    found = reader.evaluate(unseen)
    row("question answering", "facts never seen", "exact match", percent(found["exact_match"]))
    row("question answering", "is there an answer?", "right", percent(found["knows_if"]))
    row("question answering", "ENIAC", "answer", reader.answer(*ENIAC).text)
    row("question answering", "training", "seconds of processor", seconds)
    unmarked = QuestionAnswerer.fit(marks_question_words=False).evaluate(unseen)
    row("without marked words", "facts never seen", "exact match", percent(unmarked["exact_match"]))

    writer, seconds = timed(Summarizer.fit)
    found = writer.evaluate(stories(1000, seed=1, unseen=True))
    row("summaries", "headlines never seen", "exact match", percent(found["exact_match"]))
    for name, label in (("extract", "sentence by attention"), ("lead", "first sentence")):
        row("summaries", label, "ROUGE-1", f"{found[name]['rouge1']:.2f}")
    row("summaries", "training", "seconds of processor", seconds)

    looker, seconds = timed(lambda: VisualQuestionAnswerer.fit(make_examples(20_000, "es")))
    found = looker.evaluate(make_examples(2000, "es", seed=1))
    row("visual questions", "images never seen", "right", percent(found["accuracy"]))
    for kind in ("colour", "count", "where", "exists", "left"):
        row("visual questions", kind, "right", percent(found[kind]))
    row("visual questions", "weight on what is asked about", "share", percent(found["mass"]))
    row("visual questions", "weight on what is asked about", "by chance", percent(found["chance"]))
    row("visual questions", "training", "seconds of processor", seconds)
    found = looker.evaluate(make_examples(1000, "es", seed=2, held_out=True))
    row("visual questions", "pairs that never met", "right", percent(found["accuracy"]))
    return rows


def percent(share):
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


TABLES = {
    "translations": translations, "alignments": alignments, "agreements": agreements,
    "meanings": meanings, "references": references, "cuts": cuts,
    "first_minute": first_minute, "systems": systems,
}  # fmt: skip


def main(names):
    """Measure the tables of these names, or all; print and publish them."""
    for name in names:
        if name not in TABLES:
            sys.exit(f"names: expected some of {', '.join(TABLES)}, got {name}")
    translator, parts = Translator.pretrained(), splits(n_train=0)
    results = read(QUALITY)
    for name in names or TABLES:
        measure = TABLES[name]
        results[name] = measure(translator, parts)
        about = measure.__doc__.splitlines()[0].removeprefix("Return ")
        print(about, table(results[name]), sep="\n\n", end="\n\n", flush=True)
    publish({name: results[name] for name in TABLES if name in results}, QUALITY)


if __name__ == "__main__":
    main(sys.argv[1:])
