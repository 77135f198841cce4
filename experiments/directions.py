"""How good are the translators of real sentences, and what does their training mixture contribute?

``python -m experiments directions`` tests the two translators that ship and one from English that
was trained on the pairs of Tatoeba alone. They translate the sentences of both tests; those in
which a name is replaced by an invented one, or a number by another; and a hundred sentences with
words of the documents. Each was trained once, with one seed.
"""

import json
import random
import re
from functools import cache, partial
from pathlib import Path

from sacrebleu.metrics import BLEU, CHRF

from attn.applications.translation import Translator
from attn.corpus import tatoeba
from attn_course import mixture
from benchmarks.report import QUALITY, publish, read
from experiments.calibration import SEARCHES
from experiments.rates import out_of
from experiments.runner import Experiment, Row
from experiments.translators import score

RESULTS = Path(__file__).with_name("directions.json")
# A source sentence, and a regular expression for its right translations.
NEIGHBOURS = Path(__file__).with_name("neighbours.tsv")
# The folder of the translator that does not ship; its training takes an hour and a half.
ALONE = RESULTS.parents[1] / "build" / "pairs_alone"
TRAINED = "python -m attn train --corpus tatoeba --device cpu --quantised --out build/pairs_alone"
# The first two letters name the source language.
TRANSLATORS = {
    "en alone": "English to Spanish, pairs as they are",
    "en": "English to Spanish, mixture",
    "es": "Spanish to English, mixture",
}
TESTS = {"clusters": "without near neighbours", "plain": "drawn alike"}
# Of so many pairs of the training, the first with a number are asked again with another one.
N_DRAWN, N_FAMILIAR = 50_000, 100
corpus = cache(tatoeba)


def pairs_of(language, part):
    """Return the pairs of a part of the corpus, with this source language."""
    pairs = corpus()[part]
    return pairs if language == "en" else [pair.turned() for pair in pairs]


@cache
def known(language):
    """Return the source sentences of the training in a direction."""
    return {pair.source for pair in pairs_of(language, "train")}


def scores(name, test):
    """Return BLEU and chrF by search, and with the beam also on sentences not in the training."""
    language = name[:2]
    pairs = pairs_of(language, test)
    translator, right = _translator(name), [pair.target for pair in pairs]
    found = {
        search: translator.translate([pair.source for pair in pairs], **options)
        for search, options in SEARCHES.items()
    }
    new = [i for i, pair in enumerate(pairs) if pair.source not in known(language)]
    told = {"n": len(pairs), "new": len(new)}
    for search, texts in found.items():
        told[search] = [score(metric(), texts, right) for metric in (BLEU, CHRF)]
    beam = [found["beam"][i] for i in new], [right[i] for i in new]
    return told | {"beam, new": [score(metric(), *beam) for metric in (BLEU, CHRF)]}


def copied(name):
    """Return how many invented names and numbers the translation keeps, and their number."""
    pairs = [pair for test in TESTS for pair in pairs_of(name[:2], test)]
    asked = {"names": named(pairs), "numbers": numbered(pairs)}
    return {kind: kept_words(_translator(name), some) for kind, some in asked.items()}


def kept_familiar(name):
    """Return how many new numbers a translator keeps in sentences of its training."""
    return kept_words(_translator(name), familiar(name))


def kept_words(translator, some):
    """Return how many translations hold the word that stands beside their source, of how many."""
    found = translator.translate([source for source, _ in some], **SEARCHES["beam"])
    kept = [word in re.findall(r"\w+", text) for text, (_, word) in zip(found, some, strict=True)]
    return [sum(kept), len(some)]


def named(pairs):
    """Return the sources that name Tom or Mary once, with an invented name, and that name."""
    some = []
    for pair in pairs:
        for name, endings in (
            (mixture.MAN, mixture.MANS_ENDINGS),
            (mixture.WOMAN, mixture.WOMANS_ENDINGS),
        ):
            word = re.compile(rf"\b{name}\b")
            if [len(word.findall(text)) for text in (pair.source, pair.target)] == [1, 1]:
                # The generator is not the one of the training.
                other = mixture.invented(random.Random(pair.source), endings)
                some.append((word.sub(other, pair.source), other))
    return some


def numbered(pairs):
    """Return the sources that share a number with the target, with a new number, and that."""
    some = []
    for pair in pairs:
        changed = mixture.with_other_digits(pair, "asked")
        if changed and len(mixture.NUMBER.findall(changed.source)) == 1:
            some.append((changed.source, mixture.NUMBER.search(changed.source)[0]))
    return some


@cache
def familiar(language):
    """Return sources of the training with a number that is in none of them, and that number."""
    side = "source" if language == "en" else "target"
    known = {getattr(pair, side) for pair in mixture.mixture()["train"]}
    pairs = pairs_of(language, "train")
    asked = numbered([pairs[i] for i in random.Random(0).sample(range(len(pairs)), N_DRAWN)])
    return [one for one in asked if one[0] not in known][:N_FAMILIAR]


def neighbours(name):
    """Return how many sentences with words of documents are right, of how many, and the wrong."""
    return right_neighbours(_translator(name))


def right_neighbours(translator):
    """Return the same of a translator, not of its name."""
    asked = neighbouring()
    found = translator.translate(list(asked), **SEARCHES["beam"])
    wrong = {
        source: text
        for (source, right), text in zip(asked.items(), found, strict=True)
        if not right.fullmatch(text)
    }
    return {"right": [len(asked) - len(wrong), len(asked)], "wrong": wrong}


def neighbouring():
    """Return the sentences with words of documents, with the pattern of right translations."""
    lines = NEIGHBOURS.read_text(encoding="utf-8").splitlines()
    return {source: re.compile(right) for source, right in (line.split("\t") for line in lines)}


@cache
def _translator(name):
    if name in ("en", "es"):
        return Translator.pretrained("tatoeba", source_language=name)
    if not ALONE.exists():
        raise ValueError(f"{name}: expected a translator in {ALONE}, got none; train it: {TRAINED}")
    return Translator.load(ALONE)


def stored():
    """Return what was measured."""
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def directions(told):
    """Return the scores of each translator on both tests."""
    rows = []
    for name, label in TRANSLATORS.items():
        for test, sentences in TESTS.items():
            row = told[f"{name} {test}"]
            cells = {"translator": label, "sentences": sentences}
            for search in ("greedy", "beam"):
                for metric, (value, half) in zip(("BLEU", "chrF"), row[search], strict=True):
                    cells[f"{metric}, {search}"] = f"{value:.1f} ± {half:.1f}"
            value, half = row["beam, new"][0]
            cells |= {"never read": row["new"], "BLEU of those": f"{value:.1f} ± {half:.1f}"}
            rows.append(cells)
    return rows


def kept(told):
    """Return how many names and numbers each translator keeps, and how many sentences are right."""
    columns = {"names": "invented names kept", "numbers": "other numbers kept"}
    rows = []
    for name, label in TRANSLATORS.items():
        cells = {"translator": label}
        cells |= {column: out_of(*told[f"{name} copied"][kind]) for kind, column in columns.items()}
        known, near = (told.get(f"{name} {part}") for part in ("familiar", "neighbours"))
        cells["numbers kept, known sentences"] = out_of(*known) if known else "–"
        rows.append(cells | {"words of the documents": out_of(*near["right"]) if near else "–"})
    return rows


TABLES = {"real_directions": directions, "real_copies": kept}


def rows():
    """Return what is measured: scores on each test, and what each translator copies."""
    found = {
        f"{name} {test}": partial(scores, name, test) for name in TRANSLATORS for test in TESTS
    }
    found |= {f"{name} copied": partial(copied, name) for name in TRANSLATORS}
    # What the pairs alone would keep is a row of `experiments.ingredients`.
    found |= {f"{name} familiar": partial(kept_familiar, name) for name in ("en", "es")}
    # The sentences are English, so the translator from Spanish is not tested on them.
    found |= {
        f"{name} neighbours": partial(neighbours, name) for name in TRANSLATORS if name != "es"
    }
    return {name: Row(measure, (name,)) for name, measure in found.items()}


def set_tables():
    """Set both tables into the page of results."""
    told = stored()
    if len(told) == len(rows()):
        publish(read(QUALITY) | {name: make(told) for name, make in TABLES.items()}, QUALITY)


EXPERIMENT = Experiment(
    "How good are the two translators of real sentences, and what does their mixture bring?",
    RESULTS,
    rows,
    minutes=8,
    publish=set_tables,
)
