"""The pages written from data (routes, API, results) agree with the data behind them."""

import doctest
import importlib
import importlib.util
import inspect
import re
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
from pybtex.database import parse_string
from pybtex.style.formatting.plain import Style as Plain

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import attn_api
import attn_citations
import attn_glossary
import attn_minutes
import attn_pages
import attn_search

import attn
import attn_course
from benchmarks.report import QUALITY, read
from experiments import __main__ as experiments
from experiments import quality

spec = importlib.util.spec_from_file_location("notebooks_build", ROOT / "notebooks" / "build.py")
notebooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(notebooks)

LANGUAGES = ("es", "en")
CHAPTERS = tomllib.loads((ROOT / "book" / "chapters.toml").read_text(encoding="utf-8"))
ENTRIES = [chapter["page"] for chapter in CHAPTERS["chapter"]]
WRITTEN = {path.stem for path in (ROOT / "notebooks" / "src").glob("*.md")}
PAGES = {path.stem for path in (ROOT / "book" / "es").glob("*.md")}
each_language = pytest.mark.parametrize("language", LANGUAGES)


def written(entries):
    return [entry for entry in entries if entry["page"] in WRITTEN]


def cells_of(page, language):
    """Return the cells of a chapter in one language, as the book shows them."""
    return notebooks.split(ROOT / "notebooks" / "src" / f"{page}.md", language).cells


def edition(page, language):
    """Return the prose of a chapter's source in one language."""
    cells = re.split(r"^\+\+\+ *|^```\{code-cell\}", page, flags=re.MULTILINE)
    return "\n".join(cell for cell in cells if cell.startswith(f'{{"lang": "{language}"}}'))


# The ways in which a chapter states its minutes: "40 minutes", "half an hour", "as many again".
SPOKEN = {
    r"media hora|half (?:an|a) hour|half hour": 30,
    r"una hora|an hour": 60,
    r"otros tantos|as many again": None,
}


def minutes(paragraph):
    """Return the reading and the exercise minutes that a chapter's opening promises.

    >>> minutes("Calcula 45 minutos de lectura y media hora más para los ejercicios.")
    [45, 30]
    >>> minutes("Reading takes some 40 minutes, and the exercises as many again.")
    [40, 40]
    """
    found = []
    pattern = (
        r"(?P<number>\d+)(?= minut| más para| de ejerc| more for| of exerc| for the| para los)|"
        + "|".join(f"(?P<w{i}>{words})" for i, words in enumerate(SPOKEN))
    )
    for match in re.finditer(pattern, paragraph):
        worth = list(SPOKEN.values())
        spoken = next((i for i in range(len(worth)) if match[f"w{i}"]), None)
        found.append(int(match["number"]) if spoken is None else worth[spoken] or found[0])
    return found


def opening(chapter, language):
    source = (ROOT / "notebooks" / "src" / f"{chapter['page']}.md").read_text(encoding="utf-8")
    paragraphs = edition(source, language).split("\n\n")
    return next(p for p in paragraphs if re.search(r"\d+ (minutos|minutes)", p))


@each_language
@pytest.mark.parametrize("chapter", written(CHAPTERS["chapter"]), ids=lambda each: each["page"])
def test_times_and_prerequisites_agree_with_the_chapters_opening(chapter, language):
    told = opening(chapter, language)
    assert minutes(told)[:2] == [chapter["reading"], chapter["exercises"]], told
    linked = set(re.findall(r"\((\w+)\.ipynb\)", told))
    earlier = {page for page in linked if page < chapter["page"]}
    for first, last in re.findall(r"(?:capítulos|chapters) (\d+) (?:a|to) (\d+)", told):
        earlier |= {page for page in ENTRIES if f"{first:0>2}" <= page[:2] <= f"{last:0>2}"}
    assert earlier == set(chapter["needs"]), told


@each_language
@pytest.mark.parametrize("chapter", written(CHAPTERS["chapter"]), ids=lambda each: each["page"])
def test_the_stated_reading_time_is_the_measured_one(chapter, language):
    if chapter["page"] < "04" and f"L{chapter['page']}" not in WRITTEN:
        return  # chapters 1 to 3 are measured only if their laboratory page is written
    measured = attn_minutes.minutes(cells_of(chapter["page"], language))
    assert chapter["reading"] == pytest.approx(measured, rel=0.15)


def test_reading_is_measured_by_words_lines_questions_and_widgets():
    prose, code = nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    folded = {"tags": ["hide-input"]}
    imports = code("from attn_course.widgets import (\n    Board,\n    Quiz,\n)", metadata=folded)
    exercises = [prose(f"## {attn_minutes.EXERCISES[1]}\n" + "word " * 600), code("1")]
    for cells, expected in (
        ([prose("word " * 240 + "\n\n$$\na + b\n$$")], 2),
        ([code("a = 1\n\nb = 2\nc = 3"), code("d = 4", metadata=folded)], 0.4),
        ([imports, code("Board(3)", metadata=folded), code("Other(3)", metadata=folded)], 2),
        ([code('Quiz(load_quiz("03_self_attention", "shift", "roles"))', metadata=folded)], 2),
        ([*exercises, prose("## Quiz\n" + "word " * 118)], 1),
    ):
        assert attn_minutes.minutes(cells) == pytest.approx(expected)


def test_every_chapter_has_an_entry_and_is_on_every_long_route():
    numbered = {name for name in WRITTEN if re.match(r"\d\d_|A\d_", name)}
    assert numbered <= set(ENTRIES) and sorted(ENTRIES) == ENTRIES
    known = WRITTEN | PAGES
    for route in CHAPTERS["route"]:
        pages = [page for part in route.get("parts", ()) for page in part]
        pages += route.get("unlisted", [])
        assert set(pages) <= known, route["name"]["en"]
        if "week" in route["name"]["en"].split()[-1].lower() and route["exercises"]:
            assert numbered <= set(pages), route["name"]["en"]


def test_the_six_week_route_takes_the_promised_hours():
    hours = {c["page"]: (c["reading"] + c["exercises"]) / 60 for c in CHAPTERS["chapter"]}
    (route,) = (route for route in CHAPTERS["route"] if route["name"]["en"] == "Six weeks")
    weeks = [sum(hours.get(page, 0) for page in part) for part in route["parts"]]
    assert (
        "some three and a half hours a week on average and never more than five"
        in route["why"]["en"]
    )
    assert (
        "unas tres horas y media por semana en promedio y nunca más de cinco" in route["why"]["es"]
    )
    assert 3.25 < sum(weeks) / len(weeks) < 3.75
    assert 4.25 < max(weeks) <= 5


@pytest.mark.parametrize(
    "authors, english, spanish",
    [
        ("Jain, Sarthak and Wallace, Byron C.", "Sarthak Jain and Byron", "Sarthak Jain y Byron"),
        ("Ba, Lei and Kiros, Ryan and Hinton, Geoff", "Kiros, and Geoff", "Kiros y Geoff"),
        ("Kaiser, Lukasz and Polosukhin, Illia", "Kaiser and Illia", "Kaiser e Illia"),
        ("Merrill, William and Hieu, Pham and Ian, Iago", "and Iago", "y Iago"),
    ],
)
def test_the_bibliography_joins_names_in_the_language_of_its_edition(authors, english, spanish):
    entry = parse_string(
        f"@book{{a, author={{{authors}}}, title={{T}}, publisher={{P}}, year=2000}}", "bibtex"
    ).entries["a"]
    for style, expected in ((Plain, english), (attn_citations.SpanishPlain, spanish)):
        assert expected in style().format_entry("a", entry).text.render_as("text")


@each_language
def test_a_link_to_a_chapter_names_the_chapter_it_leads_to(language):
    pages = [*(ROOT / "book" / language).glob("*.md"), *(ROOT / "notebooks" / "src").glob("*.md")]
    for path in pages:
        links = re.findall(
            r"\[(?:cap[ií]tulo|chapter|cap\.|ch\.)\s(\d+)\]\([\w./]*?(\d\d)_",
            path.read_text("utf-8"),
            re.IGNORECASE,
        )
        assert [link for link in links if int(link[0]) != int(link[1])] == [], path.name


def test_the_doctests_of_the_page_modules_pass():
    for module in (attn_api, attn_citations, attn_glossary, attn_pages, attn_search):
        tried = doctest.testmod(module)
        assert tried.attempted and not tried.failed, module.__name__


# The API --------------------------------------------------------------------------------------

MODULES = [
    name
    for package in (attn, attn_course)
    for name in re.findall(r"^`((?:attn|attn_course)\.\w+)`", package.__doc__, re.MULTILINE)
]


def on_api_pages(language):
    for path in (ROOT / "book" / language).glob("api*.md"):
        yield from re.findall(r"```\{attn-api\} (\S+)", path.read_text(encoding="utf-8"))


@each_language
def test_every_module_of_the_map_has_its_place_in_the_api(language):
    shown = list(on_api_pages(language))
    assert len(shown) == len(set(shown))
    assert {"attn", "attn_course", *MODULES} <= set(shown)


def shape(function):
    """Return the name and kind of each argument, and whether it has a default."""
    arguments = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default is each.empty) for each in arguments]


@pytest.mark.slow
@pytest.mark.parametrize("module", sorted(set(on_api_pages("en")) - attn_api.PROSE_ONLY))
def test_the_parsed_api_is_that_of_the_imported_modules(module):
    """The parser of the API pages finds in the files what Python finds in the imported module."""
    live = importlib.import_module(module)
    public = getattr(live, "__all__", None) or [
        name
        for name, what in vars(live).items()
        if not name.startswith("_") and getattr(what, "__module__", None) == module
    ]
    kinds = (type, type(inspect.unwrap))
    expected = [name for name in public if isinstance(inspect.unwrap(getattr(live, name)), kinds)]
    assert sorted(attn_api.public_names(module)) == sorted(expected)
    for name in expected:
        home, node = attn_api.find(module, name)
        what = getattr(live, name)
        assert home == what.__module__
        told = inspect.getdoc(what) or ""
        text = attn_api.reference(module)
        assert told.splitlines()[0] in text, name
        if not inspect.isclass(what):
            namespace = {}
            # A default that is a name cannot be evaluated here, so any object stands in for the
            # value.
            arguments = re.sub(r"=[A-Za-z_][\w.]*", "=...", attn_api.signature(node))
            exec(f"from __future__ import annotations\ndef read{arguments}: pass", namespace)  # noqa: S102 - the text of our own module
            assert shape(namespace["read"]) == shape(what), name
            continue
        for method, member in vars(what).items():
            if not method.startswith("_") and inspect.getdoc(member) and callable(member):
                assert re.search(rf"py:(method|property):: {method}\b", text), f"{name}.{method}"


# Results --------------------------------------------------------------------------------------


@each_language
def test_every_table_of_results_names_its_command(language):
    text = (ROOT / "book" / language / "results.md").read_text(encoding="utf-8")
    # A table about real sentences is stored only after its run has finished.
    assert read(QUALITY).keys() <= quality.TABLES.keys()
    for name in read(QUALITY):
        section = text.partition(f"({name})=")[2].partition(")=\n## ")[0]
        assert f"|\n\n`python -m experiments.quality {name}`\n" in section, name


@each_language
def test_every_stored_measurement_names_its_command(language):
    text = (ROOT / "book" / language / "results.md").read_text(encoding="utf-8")
    for name in experiments.names():
        assert f"`python -m experiments {name}`" in text, name
