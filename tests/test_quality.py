"""The page of results tells what the shipped translator does."""

import json
import re

import pytest

from attn.applications.translation import Translator
from attn.corpus import splits
from benchmarks import quality
from benchmarks.report import QUALITY

DECIMAL = re.compile(r"\d+\.\d+")
TOLD = json.loads(QUALITY.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def subject():
    return Translator.pretrained(), splits(n_train=0)


# Not "cuts", which takes minutes, nor what is trained there: test_translation and its neighbours
# train each system and ask that it be good.
@pytest.mark.parametrize(
    "name", ["translations", "alignments", "agreements", "meanings", "references"]
)
def test_the_page_of_results_tells_what_it_does(subject, name):
    measured = quality.TABLES[name](*subject)
    assert len(measured) == len(TOLD[name])
    for row, told in zip(measured, TOLD[name], strict=True):
        assert row.keys() == told.keys()
        for column in row:
            assert alike(row[column], told[column], told.get("number")), (row, told)


def alike(measured, told, number=None):
    """Compare two cells, the words to the letter.

    Another processor may round a prediction otherwise: a share may be off by one of those it
    counts, or by half a point, a rate by 0.005.
    """
    measured, told = str(measured), str(told)
    if DECIMAL.sub("", measured) != DECIMAL.sub("", told):
        return False
    in_brackets = re.search(r"\((\d+)\)", told)
    count = int(in_brackets[1]) if in_brackets else number
    near = max(0.5, 102 / count) if count else 0.5
    return all(
        abs(float(a) - float(b)) <= (0.005 if len(b.partition(".")[2]) == 3 else near)
        for a, b in zip(DECIMAL.findall(measured), DECIMAL.findall(told), strict=True)
    )


@pytest.mark.parametrize(
    "measured, told, number, same",
    [
        ("99.8 %", "99.4 %", None, True),
        ("99.8 %", "99.2 %", None, False),
        ("95.8 %", "100.0 %", 24, True),
        ("91.7 %", "100.0 %", 24, False),
        ("75.9 % (29)", "72.4 % (29)", None, True),
        ("72.4 % (28)", "72.4 % (29)", None, False),
        ("0.034", "0.031", None, True),
        ("0.037", "0.031", None, False),
        ("–", "99.0 %", None, False),
    ],
)
def test_cells_are_compared_within_one_prediction(measured, told, number, same):
    assert alike(measured, told, number) is same
