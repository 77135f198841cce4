"""Nothing that is published holds the answer key of a problem set."""

import functools
import html
import json
import re
from pathlib import Path

import pytest

from notebooks.build import split

ROOT = Path(__file__).resolve().parents[2]
MASTERS = sorted((ROOT / "assignments" / "sets").glob("*/master.md"))
TEXT = {".css", ".html", ".ipynb", ".js", ".json", ".md", ".py", ".txt", ".xml"}


def one_line(text):
    return re.sub(r"\s+", " ", text).strip()


@functools.cache
def published(root):
    """Return all the text of a folder, without markup and on one line."""
    found = []
    for path in sorted(root.rglob("*")):
        if path.suffix in TEXT:
            text = path.read_text(encoding="utf-8", errors="replace")
            # Highlighted code is one element a word; notebooks and scripts keep text in strings.
            text = html.unescape(re.sub(r"<[^>]+>", "", text))
            found.append(one_line(text.replace("\\n", " ").replace('\\"', '"')))
    return "\n".join(found)


def answers(master, kind):
    """Return the lines of the solutions of a set, of code or of prose, that are long enough."""
    return {
        one_line(line)
        for language in ("es", "en")
        for cell in split(master, language).cells
        if cell.cell_type == kind
        for block in cell.source.split("### BEGIN SOLUTION")[1:]
        for line in block.split("### END SOLUTION")[0].splitlines()
        if len(one_line(line)) > 25
    }


@pytest.mark.parametrize("master", MASTERS, ids=lambda path: path.parent.name)
def test_no_model_answer_and_no_rubric_is_published(site, master):
    prose = answers(master, "markdown")
    assert len(prose) > 4
    assert {line for line in prose if line in published(site)} == set()


@pytest.mark.parametrize("master", MASTERS, ids=lambda path: path.parent.name)
def test_no_line_of_a_solution_is_published_but_those_a_chapter_teaches(site, master):
    code = answers(master, "code")
    assert code or master.parent.name == "project"
    taught = published(ROOT / "notebooks" / "src")
    shown = {line for line in code if line in published(site)}
    assert {line for line in shown if line not in taught} == set()
    assert len(shown) <= len(code) / 2


@pytest.mark.parametrize("language", ["es", "en"])
def test_no_set_is_a_page_or_in_the_search_index(site, language):
    names = {path.parent.name for path in MASTERS}
    assert names and not [p for p in site.rglob("*") if p.name.partition(".")[0] in names]
    script = (site / language / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(script.removeprefix("globalThis.attnSearch = ").removesuffix(";\n"))
    indexed = {page["address"] for page in index["pages"]}
    assert len(indexed) > 20
    assert not indexed & names
