"""Tables of results: the same cells as text and as HTML; rows of another length are refused."""

from xml.etree import ElementTree

import numpy as np

from attn_course.tables import Table
from tests.refusals import refusals

COLUMNS = {"token": "", "n": "", "weight": ".2f"}
ROWS = [("<pad>", 7, np.float32(-0.125)), ("sum", None, 10.0), ("none", 12, "–")]


def cells(table):
    root = ElementTree.fromstring(table._repr_html_())
    return [[cell.text or "" for cell in row] for row in root.iter("tr")]


def test_text_and_html_hold_the_same_cells():
    expected = [
        ["token", "n", "weight"],
        ["<pad>", "7", "−0.12"],
        ["sum", "", "10.00"],
        ["none", "12", "–"],
    ]
    assert cells(Table(COLUMNS, ROWS)) == expected
    lines = repr(Table(COLUMNS, iter(ROWS))).splitlines()
    assert [line.split() for line in lines] == [[cell for cell in row if cell] for row in expected]


def test_numbers_are_right_aligned_and_words_left_aligned():
    first, *rest = repr(Table(COLUMNS, ROWS)).splitlines()
    assert first.endswith("weight") and all(len(line) == len(first) for line in rest)
    assert [line[:5] for line in rest] == ["<pad>", "sum  ", "none "]
    assert [line[7:9] for line in (first, *rest)] == [" n", " 7", "  ", "12"]
    root = ElementTree.fromstring(Table(COLUMNS, ROWS)._repr_html_())
    for row in root.iter("tr"):
        sides = [cell.get("style").removeprefix("text-align: ") for cell in row]
        assert sides == ["left", "right", "right"]


def test_headings_and_first_cells_with_words_are_headers():
    root = ElementTree.fromstring(Table(COLUMNS, ROWS)._repr_html_())
    assert [cell.get("scope") for cell in root.iter("th")] == ["col"] * 3 + ["row"] * 3
    nameless = ElementTree.fromstring(Table({"": "", "a": ""}, [("x", 1)])._repr_html_())
    assert [cell.text for cell in nameless.iter("th")] == ["a", "x"]
    numbered = ElementTree.fromstring(Table({"n": "", "a": ""}, [(1, "x")])._repr_html_())
    assert [cell.get("scope") for cell in numbered.iter("th")] == ["col"] * 2


def test_booleans_are_printed_as_words():
    assert cells(Table({"same": ".2f"}, [(True,), (np.bool_(False),)])) == [
        ["same"],
        ["True"],
        ["False"],
    ]


def test_numbers_in_strings_are_aligned_as_numbers():
    table = ElementTree.fromstring(
        Table({"a": "", "b": ""}, [("12%", "–"), ("–", "a 1")])._repr_html_()
    )
    sides = [cell.get("style").removeprefix("text-align: ") for cell in table.iter("td")]
    assert sides == ["right", "left"] * 2


test_invalid_tables_are_refused = refusals(
    ({}, [(1,)], "columns: expected at least one, got none$"),
    ({"a": ""}, [], "rows: expected at least one, got none$"),
    ({"a": "", "b": ""}, [(1,)], r"rows: expected 2 cells for \('a', 'b'\), got \[1\]$"),
    ({"a": ""}, [(1, 2)], r"rows: expected 1 cells for \('a',\), got \[1, 2\]$"),
    of=Table,
)
