"""How good is the translator from Spanish, and do the two of real sentences keep names and numbers?

``python -m experiments directions`` asks the one that reads Spanish the sentences of both tests, turned
round. What the one that reads English makes of them, `experiments.translators` measures. Then it asks
both for sentences of the tests in which a name is exchanged for one that nobody has, or a number for
another one. Each was trained once, with one seed.
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
DIRECTIONS = {"en": "English to Spanish", "es": "Spanish to English"}
TESTS = {"clusters": "without near neighbours", "plain": "drawn alike"}
corpus = cache(tatoeba)


def pairs_of(language, part):
    """Return the pairs of a part of the corpus, from a language."""
    pairs = corpus()[part]
    return pairs if language == "en" else [pair.turned() for pair in pairs]


@cache
def known(language):
    """Return the sentences of the training that are read in a direction."""
    return {pair.source for pair in pairs_of(language, "train")}


def scores(language, test):
    """Return BLEU and chrF by search, and those of the sentences that training never shows."""
    pairs = pairs_of(language, test)
    translator, right = _translator(language), [pair.target for pair in pairs]
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


def copied(language):
    """Return how many names and numbers come through, and of how many."""
    pairs = [pair for test in TESTS for pair in pairs_of(language, test)]
    asked = {"names": named(pairs), "numbers": numbered(pairs)}
    told = {}
    for kind, some in asked.items():
        texts = [source for source, _ in some]
        found = _translator(language).translate(texts, **SEARCHES["beam"])
        kept = sum(
            word in re.findall(r"\w+", text) for text, (_, word) in zip(found, some, strict=True)
        )
        told[kind] = [kept, len(some)]
    return told


def named(pairs):
    """Return the sources that name Tom or Mary once, with a name that nobody has, and that name."""
    some = []
    for pair in pairs:
        for name, endings in (
            (mixture.MAN, mixture.MANS_ENDINGS),
            (mixture.WOMAN, mixture.WOMANS_ENDINGS),
        ):
            word = re.compile(rf"\b{name}\b")
            if [len(word.findall(text)) for text in (pair.source, pair.target)] == [1, 1]:
                # Other dice than those of the training.
                other = mixture.invented(random.Random(pair.source), endings)
                some.append((word.sub(other, pair.source), other))
    return some


def numbered(pairs):
    """Return the sources with one number that the target has too, with other digits, and those."""
    some = []
    for pair in pairs:
        changed = mixture.with_other_digits(pair, "asked")
        if changed and len(mixture.NUMBER.findall(changed.source)) == 1:
            some.append((changed.source, mixture.NUMBER.search(changed.source)[0]))
    return some


@cache
def _translator(language):
    return Translator.pretrained("tatoeba", source_language=language)


def stored():
    """Return what was measured."""
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def directions(told):
    """Return the scores of the translator from Spanish on both tests."""
    rows = []
    for test, sentences in TESTS.items():
        row = told[f"es {test}"]
        cells = {"sentences": sentences, "number": row["n"]}
        for search in ("greedy", "beam"):
            for metric, (value, half) in zip(("BLEU", "chrF"), row[search], strict=True):
                cells[f"{metric}, {search}"] = f"{value:.1f} ± {half:.1f}"
        value, half = row["beam, new"][0]
        cells |= {"never read": row["new"], "BLEU of those": f"{value:.1f} ± {half:.1f}"}
        rows.append(cells)
    return rows


def kept(told):
    """Return how many names and numbers each translator keeps."""
    columns = {"names": "invented names kept", "numbers": "other numbers kept"}
    return [
        {"translator": label}
        | {name: out_of(*told[f"{language} copied"][kind]) for kind, name in columns.items()}
        for language, label in DIRECTIONS.items()
    ]


TABLES = {"real_directions": directions, "real_copies": kept}


def rows():
    """Return what is measured: scores on each test, and what each translator copies."""
    found = {f"es {test}": partial(scores, "es", test) for test in TESTS}
    found |= {f"{language} copied": partial(copied, language) for language in DIRECTIONS}
    return {name: Row(measure, (name,)) for name, measure in found.items()}


def set_tables():
    """Set both tables into the page of results."""
    told = stored()
    if len(told) == len(rows()):
        publish(read(QUALITY) | {name: make(told) for name, make in TABLES.items()}, QUALITY)


EXPERIMENT = Experiment(
    "How good is the translator from Spanish, and do names and numbers come through?",
    RESULTS,
    rows,
    minutes=2,
    publish=set_tables,
)
