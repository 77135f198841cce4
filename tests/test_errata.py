"""The errata: a consistent ledger, and a chapter that treats every row that is not right."""

import functools
import json
import re
from collections import Counter
from pathlib import Path

import jupytext
import pytest

from tests.test_source_map import sections

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "notebooks" / "src"
LANGUAGES = ("es", "en")
LEDGERS = sorted((ROOT / "notebooks" / "data").glob("errata_*.json"))
ROWS = [row for path in LEDGERS for row in json.loads(path.read_text(encoding="utf-8"))]
NOT_RIGHT = [row for row in ROWS if row["verdict"] != "right"]

REQUIRED = {"id", "section", "kind", "verdict", "es", "en"}
CORRECTION = {"right_es", "right_en", "harm"}
MENDED = {"mended_es", "mended_en"}
KINDS = {"statement", "number", "formula", "shape", "listing"}
VERDICTS = {"right", "wrong", "misleading", "dated"}

# Pairs of rows that judge the same statement of two documents, so their verdicts must agree.
SAID_TWICE = (
    ("000-09", "004-06"),
    ("000-26", "003-06"),
    ("000-36", "001-11"),
    ("003-14", "004-42"),
)

# The pattern matches a link to the errata that is a line of its own.
ERRATUM_LINK = re.compile(
    r"^\[(?:Erratas de(?:l| los) documentos?|Errata of documents?) ([\dyand, ]+)\]"
    r"\(A1_errata\.ipynb#([\w-]+)\)\{\.attn-erratum\}$",
    re.MULTILINE,
)

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


def test_each_document_has_a_ledger_with_consecutive_ids():
    assert [path.stem for path in LEDGERS] == [f"errata_00{n}" for n in range(5)]
    for path in LEDGERS:
        ids = [row["id"] for row in json.loads(path.read_text(encoding="utf-8"))]
        assert ids == [f"{path.stem[-3:]}-{n:02}" for n in range(1, len(ids) + 1)]


def test_a_row_has_exactly_the_fields_of_its_kind():
    for row in ROWS:
        wanted = REQUIRED | (CORRECTION if row["verdict"] != "right" else set())
        wanted |= MENDED | {"test"} if row["kind"] == "listing" else set()
        assert wanted <= set(row) <= wanted | {"places", "proof", "test"}, row
        assert {"proof", "test"} & set(row), row
        assert row["kind"] in KINDS and row["verdict"] in VERDICTS, row
        assert row.get("harm", 1) in {1, 2, 3} and row.get("places", 1) >= 1, row
        for name in wanted - {"harm"}:
            assert row[name].strip() == row[name] and row[name], (name, row)


def test_a_row_is_written_in_both_languages():
    for row in ROWS:
        for name in ("", "right_"):
            spanish, english = (row.get(f"{name}{language}") for language in LANGUAGES)
            if spanish is not None:
                assert spanish != english, row
                assert 0.5 < len(spanish) / len(english) < 2, row


def test_a_proof_leads_to_a_section_with_a_cell():
    entries = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    for row in ROWS:
        for proof in row.get("proof", "").split():
            if proof.startswith("@"):
                assert f"{{{proof[1:]}," in entries, row
            else:
                stem, anchor = proof.replace("A1#", "A1_errata#").split("#")
                assert anchor in anchors(stem), row
                shown = re.compile(r"drawings\.|Quiz\(|from |import ")
                assert any(not shown.match(text) for text, _ in sections(stem)[anchor]), row


def test_the_tests_of_programs_are_those_that_rows_name():
    """The tests in `test_listings.py` are exactly those that the rows name."""
    source = (ROOT / "tests" / "test_listings.py").read_text(encoding="utf-8")
    written = set(re.findall(r"^def (test_\w+)", source, re.MULTILINE))
    assert {row["test"] for row in ROWS if "test" in row} == written
    for row in ROWS:
        assert "test" not in row or f"_{row['id'][:3]}_" in row["test"], row["id"]


def test_equal_statements_have_equal_verdicts():
    verdicts = {row["id"]: (row["verdict"], row.get("harm")) for row in ROWS}
    for one, other in SAID_TWICE:
        assert verdicts[one] == verdicts[other], (one, other)


def test_the_summary_proves_only_a_few_rows():
    """A summary proves at most four rows: those whose claim its cell computes again."""
    proofs = Counter(proof for row in ROWS for proof in row.get("proof", "").split())
    assert proofs["A1#como-se-comprobo"] <= 4


@each_language
def test_the_chapter_treats_every_row_that_is_not_right(language):
    named = re.findall(r"`(00\d-\d\d)`", prose(language))
    assert {row["id"] for row in NOT_RIGHT} <= set(named) <= {row["id"] for row in ROWS}
    for document in ("000", "001", "002", "003", "004"):
        section = prose(language).split(f"(errata-{document})=")[1]
        section = re.split(r"^\(errata-00\d\)=$", section, flags=re.MULTILINE)[0]
        section = section.split("(lo-que-ningun-error-dice)=")[0]
        for row in NOT_RIGHT:
            if row["id"].startswith(document):
                assert f"`{row['id']}`" in section, row["id"]


@each_language
def test_a_row_of_the_short_tables_links_to_its_proof(language):
    proofs = {row["id"]: row.get("proof", "").split() for row in NOT_RIGHT}
    for line in prose(language).splitlines():
        if line.startswith("| `"):
            ids = re.findall(r"`(00\d-\d\d)`", line)
            wanted = {re.split("[#@]", proof)[-1] for i in ids for proof in proofs[i]}
            links = re.findall(r"\]\(#([^)]*)\)|\{cite:t\}`(\w+)`", line)
            linked = {anchor or key for anchor, key in links}
            assert linked & wanted or (not wanted and "`test_listings`" in line), line


@pytest.mark.parametrize("path", sorted(SOURCES.glob("*.md")), ids=lambda path: path.stem)
def test_a_section_has_at_most_one_link_to_its_errata_and_it_resolves(path):
    entries, linked = anchors("A1_errata"), {}
    cells = jupytext.read(path, fmt="md:myst").cells
    for language in LANGUAGES:
        text = "\n\n".join(c.source for c in cells if c.metadata.get("lang") == language)
        links = [ERRATUM_LINK.findall(part) for part in re.split(r"^#+ ", text, flags=re.MULTILINE)]
        assert all(len(found) <= 1 for found in links), links
        linked[language] = [anchor for found in links for _, anchor in found]
        assert text.count("attn-erratum") == len(linked[language]), "a link is written otherwise"
        for words, anchor in (link for found in links for link in found):
            assert anchor in entries
            assert anchor.split("-")[1] in re.findall(r"\d+", words), (words, anchor)
    assert linked["es"] == linked["en"]


@each_language
def test_the_counts_in_the_prose_are_those_of_the_ledger(language):
    verdicts = Counter(row["verdict"] for row in ROWS)
    order = ("right", "wrong", "misleading", "dated")
    told = re.findall(r"\*\*(\d+)\*\*", prose(language))
    assert [int(number) for number in told] == [len(ROWS), *(verdicts[name] for name in order)]


def test_every_document_has_more_right_than_wrong_rows():
    for path in LEDGERS:
        rows = json.loads(path.read_text(encoding="utf-8"))
        verdicts = Counter(row["verdict"] for row in rows)
        assert verdicts["right"] > verdicts["wrong"]
