"""The errata: a ledger that can be trusted, and a chapter that treats every row of it."""

import functools
import json
import re
from collections import Counter
from pathlib import Path

import jupytext
import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "notebooks" / "src"
LANGUAGES = ("es", "en")
LEDGERS = sorted((ROOT / "notebooks" / "data").glob("errata_*.json"))
ROWS = [row for path in LEDGERS for row in json.loads(path.read_text(encoding="utf-8"))]
NOT_RIGHT = [row for row in ROWS if row["verdict"] != "right"]

REQUIRED = {"id", "section", "kind", "verdict", "es", "en", "proof"}
CORRECTION = {"right_es", "right_en", "harm"}
MENDED = {"mended_es", "mended_en"}
KINDS = {"statement", "number", "formula", "shape", "listing"}
VERDICTS = {"right", "wrong", "misleading", "dated"}

each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
each_language = pytest.mark.parametrize("language", LANGUAGES)


@functools.cache
def prose(language):
    """Return the chapter's prose in one language, with its headings and anchors."""
    cells = jupytext.read(SOURCES / "A1_errata.md", fmt="md:myst").cells
    return "\n\n".join(cell.source for cell in cells if cell.metadata.get("lang") == language)


@functools.cache
def anchors(stem):
    """Return the anchors of a chapter."""
    return set(re.findall(r"^\((\S+)\)=$", (SOURCES / f"{stem}.md").read_text(), re.MULTILINE))


def test_there_is_a_ledger_for_each_document_in_its_order():
    assert [path.stem for path in LEDGERS] == [f"errata_00{n}" for n in range(5)]
    for path in LEDGERS:
        ids = [row["id"] for row in json.loads(path.read_text(encoding="utf-8"))]
        assert ids == [f"{path.stem[-3:]}-{n:02}" for n in range(1, len(ids) + 1)]


@each_row
def test_a_row_says_all_it_must_and_nothing_else(row):
    wanted = REQUIRED | (CORRECTION if row["verdict"] != "right" else set())
    wanted |= MENDED if row["kind"] == "listing" else set()
    assert wanted <= set(row) <= wanted | {"places"}
    assert row["kind"] in KINDS and row["verdict"] in VERDICTS
    assert row.get("harm", 1) in {1, 2, 3}
    assert row.get("places", 1) >= 1
    for name in wanted - {"harm"}:
        assert row[name].strip() == row[name] and row[name], name


@each_row
def test_a_row_is_written_in_both_languages(row):
    for name in ("", "right_"):
        spanish, english = (row.get(f"{name}{language}") for language in LANGUAGES)
        if spanish is not None:
            assert spanish != english
            assert 0.5 < len(spanish) / len(english) < 2


@each_row
def test_a_proof_leads_somewhere(row):
    if row["proof"].startswith("@"):
        entries = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
        assert f"{{{row['proof'][1:]}," in entries
    else:
        stem, anchor = row["proof"].replace("A1#", "A1_errata#").split("#")
        assert anchor in anchors(stem)


@each_language
def test_the_chapter_treats_whatever_is_not_right(language):
    named = re.findall(r"`(00\d-\d\d)`", prose(language))
    assert sorted(set(named)) == sorted(row["id"] for row in NOT_RIGHT)
    for document in ("000", "001", "002", "003", "004"):
        section = prose(language).split(f"(errata-{document})=")[1].split("(errata-")[0]
        section = section.split("(lo-que-ningun-error-dice)=")[0]
        for row in NOT_RIGHT:
            if row["id"].startswith(document):
                assert f"`{row['id']}`" in section, row["id"]


@each_language
def test_a_row_of_the_short_tables_links_to_a_proof_of_what_it_says(language):
    proofs = {row["id"]: row["proof"] for row in NOT_RIGHT}
    for line in prose(language).splitlines():
        named = [proofs[i] for i in re.findall(r"`(00\d-\d\d)`", line) if line.startswith("| `")]
        if named and not all(proof == "A1#como-se-comprobo" for proof in named):
            links = re.findall(r"\]\(#([^)]*)\)|\{cite:t\}`(\w+)`", line)
            linked = {anchor or key for anchor, key in links}
            assert linked & {re.split("[#@]", proof)[-1] for proof in named}, line


@each_language
def test_the_counts_in_the_prose_are_those_of_the_ledger(language):
    verdicts = Counter(row["verdict"] for row in ROWS)
    order = ("right", "wrong", "misleading", "dated")
    told = re.findall(r"\*\*(\d+)\*\*", prose(language))
    assert [int(number) for number in told] == [len(ROWS), *(verdicts[name] for name in order)]


def test_every_document_has_more_that_is_right_than_wrong():
    for path in LEDGERS:
        rows = json.loads(path.read_text(encoding="utf-8"))
        verdicts = Counter(row["verdict"] for row in rows)
        assert verdicts["right"] > verdicts["wrong"]
