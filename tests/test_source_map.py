"""The source map has every section and row, and each place uses what the map says it uses.

A place that *runs* names words of the code that treats its subject; they are looked for in the
statements of that section, leaving out those that only show numbers read from a file. A place
that is *stored* names words of statements that do show them.
"""

import ast
import functools
import re
import symtable
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import attn_pages

from notebooks.build import split

LANGUAGES = ("es", "en")
SOURCES = tomllib.loads((ROOT / "book" / "source_map.toml").read_text(encoding="utf-8"))
CHAPTERS = {path.stem for path in (ROOT / "notebooks" / "src").glob("*.md")}
PAGES = {path.stem for path in (ROOT / "book" / "es").glob("*.md")}
ENTRIES = [part for document in SOURCES["document"] for part in document["section"]]
PLACES = [place for entry in [*ENTRIES, *SOURCES["row"]] for place in entry["places"]]
# A word that occurs in more sections than this does not identify a subject.
MANY = 4


def scopes(table):
    yield table
    for inner in table.get_children():
        yield from scopes(inner)


def names(text):
    """Return the global names that a statement reads and those that it assigns."""
    module = symtable.symtable(text, "cell", "exec")
    read = {
        symbol.get_name()
        for scope in scopes(module)
        for symbol in scope.get_symbols()
        if symbol.is_referenced() and (scope is module or symbol.is_global())
    }
    given = {symbol.get_name() for symbol in module.get_symbols() if symbol.is_assigned()}
    (node,) = ast.parse(text).body
    # The target of a loop is assigned before its body reads it.
    if isinstance(node, ast.For):
        read -= {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}
    return read, given


def statements(source, stored):
    """Yield each statement of a cell and whether it shows stored numbers; update `stored`.

    `stored` are the names that hold what was read from a file, or was made from it.
    """
    for node in ast.parse(source).body:
        text = ast.get_source_segment(source, node)
        read, given = names(text)
        shows = bool(read & stored) or "json.loads" in text
        stored.difference_update(given)
        stored.update(given if shows else ())
        yield text, shows


@functools.cache
def sections(chapter):
    """Return, for each label of a chapter, its statements: (text, whether stored).

    A section lasts until the next heading of its level or above. The key None is the whole page.
    """
    cells = split(ROOT / "notebooks" / "src" / f"{chapter}.md", "en").cells
    found, still_open, stored = {None: []}, {None: 0}, set()
    for cell in cells:
        if cell.cell_type == "code":
            written = list(statements(cell.source, stored))
            for label in still_open:
                found[label] += written
            continue
        label = None
        for line in cell.source.splitlines():
            named = re.fullmatch(r"\((\S+)\)=", line)
            heading = re.match(r"#+ ", line)
            if heading:
                level = len(heading[0])
                still_open = {each: depth for each, depth in still_open.items() if depth < level}
                if label:
                    still_open[label], found[label] = level, []
            label = named[1] if named else label if not line else None
    return found


def holds(code, words, shows):
    """Return whether each word is in some statement that shows stored numbers, or that does not."""
    texts = [text for text, stored in code if stored == shows]
    return all(any(word in text for text in texts) for word in words)


def fault(place):
    """Return what is wrong with a place of the map, or None."""
    page, _, label = place["at"].partition("#")
    how, words = place["how"], place.get("uses", [])
    if how == "mentioned":
        return "prose uses no words of code" if words else None
    if page not in CHAPTERS:
        section = (ROOT / "book" / "en" / f"{page}.md").read_text(encoding="utf-8")
        section = section.partition(f"({label})=")[2].partition(")=\n## ")[0]
        return None if how == "stored" and "`python -m experiments" in section else "not measured"
    if not words:
        return "no words to look for"
    if not holds(sections(page)[label or None], words, shows=how == "stored"):
        return f"no cell there has {words}"
    alike = [
        (chapter, name)
        for chapter in CHAPTERS
        for name, code in sections(chapter).items()
        if name and not name.startswith("ejercicios") and holds(code, words, how == "stored")
    ]
    return f"{words} are also in {alike}" if len(alike) > MANY else None


def test_every_row_of_the_coverage_table_is_there():
    assert [row["number"] for row in SOURCES["row"]] == list(range(1, 26))
    for row in SOURCES["row"]:
        assert row["places"] and set(row["documents"]) <= {"000", "001", "002", "003", "004"}


def test_every_section_of_every_document_is_counted():
    counted = {
        document["number"]: sum(part["headings"] for part in document["section"])
        for document in SOURCES["document"]
    }
    # The headings of the documents (slides of 001, parts of 002); equal headings count once.
    assert counted == {"000": 27, "001": 64, "002": 5, "003": 27, "004": 20}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_place_is_a_page_and_a_labelled_section_of_it(language):
    for place in PLACES:
        page, _, label = place["at"].partition("#")
        assert page in CHAPTERS | PAGES
        file = ROOT / ("notebooks/src" if page in CHAPTERS else f"book/{language}") / f"{page}.md"
        assert not label or f"({label})=" in file.read_text(encoding="utf-8"), place


def test_every_chapter_is_reached_from_the_source_map():
    reached = {place["at"].partition("#")[0] for place in PLACES}
    assert {name for name in CHAPTERS if re.match(r"\d\d_|A\d_", name)} <= reached


def test_the_map_is_right_about_each_place():
    assert {place["how"] for place in PLACES} == set(attn_pages.HOW)
    found = {(place["at"], place["how"]): fault(place) for place in PLACES}
    assert not {place: told for place, told in found.items() if told}


@pytest.mark.parametrize(
    ("at", "how", "uses"),
    [
        pytest.param("L08_training#l08-dropout", "runs", ["BLEU"], id="prose"),
        pytest.param("03_self_attention#forma-matricial", "runs", ["SwinIR"], id="no cell"),
        pytest.param("04_multi_head#cuantas-cabezas", "runs", ["two_places"], id="stored numbers"),
        pytest.param("L09_decoding#l09-language", "runs", ["far"], id="made from stored numbers"),
        pytest.param("02_tokens_and_embeddings#el-videoclub", "stored", ["films"], id="computed"),
        pytest.param("03_self_attention#forma-matricial", "runs", ["print"], id="any cell"),
        pytest.param("results#systems", "runs", ["ROUGE"], id="a page of results"),
    ],
)
def test_a_wrong_place_is_found(at, how, uses):
    assert fault({"at": at, "how": how, "uses": uses})


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_shows_all_the_data_and_explains_the_three_words(language):
    text = (ROOT / "book" / language / "source_map.md").read_text(encoding="utf-8")
    shown = re.findall(r"```\{source-map\} (\S+)", text)
    assert shown == [*(document["number"] for document in SOURCES["document"]), "rows"]
    for word in attn_pages.HOW.values():
        assert f"*{word[language]}*" in text
