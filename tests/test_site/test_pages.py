"""The pages as they were built, read without a browser: links, twins, pictures, weight."""

import gzip
import json
import re
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urldefrag, urlparse

import lxml.html
import matplotlib
import pytest
from attn_fonts import FAMILIES, SAMPLE
from fontTools.ttLib import TTFont
from PIL import ImageFont
from vendor import fetch

from tests.test_site.every_page import CHAPTER, NAMES, ROOT


def test_every_internal_link_and_anchor_resolves(site):
    pages = {
        path: lxml.html.document_fromstring(path.read_bytes()) for path in site.rglob("*.html")
    }
    # Where one chooses, where nothing is, and the looks, which no list of contents names.
    assert len(pages) == 2 + 2 * (len(NAMES) + 1)
    ids = {path: {*page.xpath("//@id"), *page.xpath("//@name")} for path, page in pages.items()}
    for path, page in pages.items():
        for target in {*page.xpath("//@href"), *page.xpath("//@src")} - {""}:
            if path.name == "404.html" and target == "/":
                continue  # the start of the site, from which its other links go on
            if urlparse(target).scheme in ("http", "https", "data", "mailto"):
                continue
            address, anchor = urldefrag(target)
            file = (path.parent / unquote(address)).resolve() if address else path
            assert file.is_file(), f"{path.relative_to(site)} links to {target}"
            if anchor and file in pages:
                assert unquote(anchor) in ids[file], f"{path.relative_to(site)}: {target}"


@pytest.mark.parametrize("language, other", [("es", "en"), ("en", "es")])
def test_each_page_links_to_its_translation(site, language, other):
    for name in NAMES:
        text = (site / language / f"{name}.html").read_text(encoding="utf-8")
        assert f'class="attn-twin" href="../{other}/{name}.html"' in text


def test_the_translation_is_declared_by_its_absolute_url_or_not_at_all():
    import attn_book

    app = SimpleNamespace(config=SimpleNamespace(language="en"))
    for base, told in (("", ""), ("https://a.b/c/en/", "https://a.b/c/es/index.html")):
        app.config.html_baseurl = base
        assert attn_book.whole_address(app, "es", "index") == told


def test_the_canonical_url_is_that_of_the_page():
    import attn_book

    config = SimpleNamespace(language="en", html_baseurl="https://a.b/c/en/", root_doc="index")
    context = {"content_root": "../"}
    app = SimpleNamespace(config=config)
    attn_book.page_context(app, "notebooks/en/03_self_attention", "page.html", context, None)
    assert context["pageurl"] == "https://a.b/c/en/03_self_attention.html"


def test_no_line_breaks_inside_a_number_and_no_markup_comes_where_none_may_be():
    import attn_book

    number = "1\u2009234\u2009567.5"
    kept = (
        f'<p title="{number}">',
        f'<svg role="img"><text>{number}</text></svg>',
        f"<script>{number}</script>",
        f"<option>{number}</option>",
        "7\u200912",
    )
    for text in kept:
        assert attn_book._bind_numbers(text) == text
    bound = f'<td>de <span class="attn-bound">{number}</span>, a <b>2</b></td>'
    assert attn_book._bind_numbers(f"<td>de {number}, a <b>2</b></td>") == bound


def test_a_page_waits_for_one_stylesheet(site):
    for language in ("es", "en"):
        for name in NAMES:
            text = (site / language / f"{name}.html").read_text(encoding="utf-8")
            sheets = re.findall(r'<link rel="stylesheet" href="([^"]+)"', text)
            assert sheets == ["_static/site.css"], name
        sheet = (site / language / "_static" / "site.css").read_text(encoding="utf-8")
        for part in ("--attn-page", ".katex", ".attn-header", ".attn-fallback"):
            assert part in sheet
        assert "/*" not in sheet
        assert ".attn-w " not in sheet  # the look of mounted widgets comes with what mounts them
        for family in FAMILIES.values():
            for name in family["system"]:
                # It stands in the list once, and there is a face of each kind.
                assert sheet.count(f'"Fitted {name}"') == 1 + len(family["kinds"])


@pytest.mark.parametrize("family", FAMILIES)
def test_the_stated_widths_of_system_fonts_are_right(family):
    """Matplotlib brings one of them: its width is drawn text, measured by another library."""
    folder = Path(matplotlib.get_data_path(), "fonts", "ttf")
    kinds, system = FAMILIES[family]["kinds"], FAMILIES[family]["system"]
    for (suffix, *_), said in zip(kinds, system[f"DejaVu {family}"][1], strict=True):
        name = f"DejaVu{family}{suffix.replace(' ', '-')}.ttf"
        font = ImageFont.truetype(folder / name, 2048)
        drawn = sum(font.getlength(letter) for letter in SAMPLE)
        assert drawn / len(SAMPLE) / 2048 == pytest.approx(said, abs=0.0005)


def test_social_cards_have_their_picture(site):
    for path in {*site.rglob("*.html")} - {site / "404.html"}:
        (picture,) = re.findall(r'property="og:image" content="([^"]+)"', path.read_text("utf-8"))
        assert (path.parent / picture).read_bytes().startswith(b"\x89PNG")


def test_the_site_holds_nothing_of_the_environment(site):
    """No page of an installed package, no path of the machine that built it."""
    for path in site.rglob("*"):
        if path.suffix in {".html", ".js", ".css", ".json", ".ipynb"}:
            text = path.read_text(encoding="utf-8")
            assert str(ROOT) not in text, path
            # Pyodide has an environment of its own.
            assert path.is_relative_to(site / "python") or "site-packages" not in text, path


@pytest.mark.parametrize("language", ("es", "en"))
def test_the_notebook_can_be_downloaded(site, language):
    text = (site / language / CHAPTER).read_text(encoding="utf-8")
    (address,) = set(re.findall(r'download href="([^"]+)"', text))
    notebook = json.loads((site / language / address).read_text(encoding="utf-8"))
    assert notebook["metadata"]["attn"]["language"] == language


def test_scripts_of_a_page_with_widgets_are_light(site):
    static = site / "es" / "_static"
    weight = sum(
        len(gzip.compress((static / name).read_bytes())) for name in ("course.js", "widgets.js")
    )
    assert weight < 30_000


def test_every_formula_was_rendered_by_the_build(site):
    for language in ("es", "en"):
        text = (site / language / CHAPTER).read_text(encoding="utf-8")
        assert "katex-error" not in text
        assert text.count("<math") == text.count('class="katex"')


def test_fonts_hold_every_sign_of_every_formula(site):
    """What KaTeX's own fonts can draw of a page's formulas, those of the site can."""
    used = set()
    for path in site.rglob("*.html"):
        page = lxml.html.document_fromstring(path.read_bytes())
        for formula in page.find_class("katex-html"):
            used |= set(formula.text_content())
    assert len(used) > 80
    for font in (fetch("katex") / "dist" / "fonts").glob("*.woff2"):
        held = set(map(chr, TTFont(site / "es" / "_static" / "fonts" / font.name).getBestCmap()))
        assert used & set(map(chr, TTFont(font).getBestCmap())) <= held, font.name
