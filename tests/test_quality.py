"""The page of results states what the shipped translator gives."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from attn.applications.translation import PRETRAINED, RECIPES, TRAINING, Translator
from attn.metrics import wilson_interval
from attn_course.grammar import document_pairs
from benchmarks.report import PAGES, QUALITY
from experiments import ingredients, probes, quality, translators, translators_systems

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
NUMBER = re.compile(r"\d+(?:\.\d+)?")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
RATE = re.compile(r"(\d+(?:\.\d+)?)\N{NO-BREAK SPACE}% \((\d+(?:\.\d+)?)–(\d+(?:\.\d+)?)\)")
TOLD = json.loads(QUALITY.read_text(encoding="utf-8"))
# These need all the 100,000 training pairs, which take a minute to draw and to count.
NEEDS_ALL = {"one word apart", "IBM model 1"}


@pytest.fixture(scope="module")
def subject(corpus):
    return Translator.pretrained("grammar"), replace(corpus, train=corpus.train[:100])


# "memory" is left out because it searches all the training pairs, "cuts" because it takes minutes,
# and tables of systems trained for them because test_translation and its neighbours train each
# system.
@pytest.mark.parametrize(
    "name", ["translations", "alignments", "agreements", "meanings", "references"]
)
def test_the_page_of_results_gives_the_translators_results(subject, name):
    measured = quality.TABLES[name](*subject)
    assert len(measured) == len(TOLD[name])
    for row, told in zip(measured, TOLD[name], strict=True):
        assert row.keys() == told.keys()
        if not NEEDS_ALL & set(told.values()):
            for column in row.keys() - NEEDS_ALL:
                assert alike(row[column], told[column], told.get("number")), (row, told)


def alike(measured, told, number=None):
    """Compare two cells, the words to the letter.

    Another processor may round a prediction otherwise: a rate may be off by one of those it
    counts or by half a point, its interval by twice as much; an error rate by 0.005.
    """
    measured, told = str(measured), str(told)
    if NUMBER.sub("", measured) != NUMBER.sub("", told):
        return False
    if "/" in told:
        (right, n), (told_right, told_n) = (
            map(int, cell.split(" / ")) for cell in (measured, told)
        )
        return n == told_n and abs(right - told_right) <= 1
    near = max(0.5, 102 / number) if number else 0.5
    if not RATE.fullmatch(told) or "." not in told:
        near = max(near, 1)  # a rate in whole percent may differ by one
    allowed = [0.005] * 3 if "%" not in told and "(" in told else [near, 2 * near, 2 * near]
    return all(
        abs(float(a) - float(b)) <= most + 1e-9
        for a, b, most in zip(NUMBER.findall(measured), NUMBER.findall(told), allowed, strict=False)
    )


@pytest.mark.parametrize(
    "measured, told, number, same",
    [
        ("99.8\xa0% (98.9–100.0)", "99.4\xa0% (98.3–99.8)", None, True),
        ("99.8\xa0% (98.9–100.0)", "99.2\xa0% (98.0–99.7)", None, False),
        ("95.8\xa0% (79.8–99.3)", "100.0\xa0% (86.2–100.0)", 24, True),
        ("91.7\xa0% (74.2–97.7)", "100.0\xa0% (86.2–100.0)", 24, False),
        ("48\xa0% (39–56)", "47\xa0% (38–56)", 130, True),
        ("48\xa0% (39–56)", "46\xa0% (37–54)", 130, False),
        ("21 / 29", "22 / 29", None, True),
        ("21 / 29", "23 / 29", None, False),
        ("21 / 28", "21 / 29", None, False),
        ("0.034 (0.030–0.040)", "0.031 (0.027–0.036)", None, True),
        ("0.037 (0.030–0.040)", "0.031 (0.030–0.040)", None, False),
        ("–", "99.0\xa0% (97.0–100.0)", None, False),
    ],
)
def test_cells_are_compared_within_one_prediction(measured, told, number, same):
    assert alike(measured, told, number) is same


@pytest.mark.parametrize("name", TOLD)
def test_every_rate_has_its_number_and_its_interval(name):
    """The interval follows from the rate and the number, where the row gives the number."""
    for row in TOLD[name]:
        for cell in map(str, row.values()):
            for rate, low, high in RATE.findall(cell):
                assert float(low) <= float(rate) <= float(high)
                if isinstance(row.get("number"), int):
                    n, digits = row["number"], len(rate.partition(".")[2])
                    expected = wilson_interval(round(float(rate) * n / 100), n)
                    told = (float(low) / 100, float(high) / 100)
                    # A rate in whole percent may come from any of several counts.
                    assert told == pytest.approx(expected, abs=0.012 if digits == 0 else 0.001)
    rated = [cell for row in TOLD[name] for cell in map(str, row.values()) if "%" in cell]
    assert all(RATE.fullmatch(cell) for cell in rated if cell not in BARE), name


# These percentages are of the evaluated sentences and have no interval: the share with a neighbour,
# and the chance level of a head.
BARE = {row["one word apart"] for row in TOLD["translations"]}
BARE |= {row["head 1"] for row in TOLD["references"] if row["who looks"] == "by chance"}


@pytest.mark.parametrize("language", ["es", "en"])
def test_every_number_in_the_prose_is_a_setting_or_in_a_table(language):
    text = PAGES[QUALITY][language].read_text(encoding="utf-8")
    text = text.partition("(stored-measurements)=")[0]
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("|"))
    prose = THOUSANDS.sub("", re.sub(r"`[^`]*`|\]\([^)]*\)", "", prose.replace("\u2009", "")))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    model = Translator.pretrained("grammar").model.config
    assert (model.n_layers, model.n_heads) == (2, 4)
    settings = {
        model.d_model,
        PRETRAINED["n_train"],
        int(re.search(r"--steps (\d+)", makefile)[1]),
        TRAINING.steps,
        quality.N_MINUTE,
        95,
        probes.STEPS,
        probes.STEPS // probes.SWEEP,
    }
    # The settings for real sentences: common parameters, the probability called sure, the corpus.
    recipe, sizes = RECIPES["tatoeba"], translators_systems.KERAS
    settings |= {
        int(translators.BUDGET),
        translators_systems.VOCAB_SIZE,
        translators_systems.N_WORDS,
        recipe.vocab_size,
        sizes.d_model,
        sizes.d_ff,
        sizes.dropout,
        recipe.sizes["d_model"],
        0.05,
        json.loads(translators.RESULTS.read_text(encoding="utf-8"))["setting"]["corpus"]["train"],
    }
    # Those of the variants of its training.
    settings |= {ingredients.N_JOINED, recipe.sizes["d_ff"], *ingredients.WEIGHTS}
    settings |= {size["d_ff"] for size in ingredients.WIDE.values()}
    known = {str(number) for number in settings}
    for rows in TOLD.values():
        for cell in (str(cell) for row in rows for cell in row.values()):
            known |= set(NUMBER.findall(cell)) | set(NUMBER.findall(THOUSANDS.sub("", cell)))
    known |= {f"{float(number):.0f}" for number in known if number.count(".") == 1}
    assert set(NUMBER.findall(prose)) - known <= {"0", "1"}  # the ends of a scale


def test_counts_that_the_prose_spells_out(subject):
    """Ten references with a word that no training target has; sixteen sentences of documents."""
    translator, parts = subject
    unknown = {
        name: [
            word for pair in getattr(parts, name) for word in translator.target.unknown(pair.target)
        ]
        for name in quality.PARTS
    }
    assert unknown == {name: [] for name in quality.PARTS} | {
        "adjective_noun": ["peligrosa"] * 2,
        "polysemes": ["frías"] * 8,
    }
    assert not any(
        translator.source.unknown(pair.source)
        for name in quality.PARTS
        for pair in getattr(parts, name)
    )
    assert len(document_pairs()) == 16
