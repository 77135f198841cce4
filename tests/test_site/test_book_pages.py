"""The pages written from data, as built: the API, the source map, the links to the glossary."""

import html
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import attn_api

LANGUAGES = ("es", "en")
each_language = pytest.mark.parametrize("language", LANGUAGES)


def body(site, language, page):
    text = (site / language / f"{page}.html").read_text(encoding="utf-8")
    return text.partition("<article>")[2].partition("</article>")[0]


@each_language
def test_every_public_name_has_its_anchor_its_arguments_and_highlighted_examples(site, language):
    for source in (ROOT / "book" / language).glob("api_*.md"):
        page = body(site, language, source.stem)
        for module in re.findall(r"\{attn-api\} (\S+)", source.read_text(encoding="utf-8")):
            assert f'id="module-{module}"' in page
            for name in attn_api.public_names(module) if module not in attn_api.PROSE_ONLY else ():
                assert f'id="{module}.{name}"' in page
        assert '<span class="gp">&gt;&gt;&gt; </span>' in page
        assert 'lang="en"' in page
        # Nothing of the markup the docstrings are written in is left over.
        prose = html.unescape(
            re.sub(r"<pre.*?</pre>|<code.*?</code>|<[^>]+>", "", page, flags=re.DOTALL)
        )
        assert not re.search(r":param|:returns?:|:math:|``|\.\. \w+::|^-{4,}$", prose, re.MULTILINE)


def test_pages_of_the_api_are_light(site):
    for path in site.glob("*/api*.html"):
        assert path.stat().st_size < 320_000, path.name


@each_language
def test_every_row_of_the_coverage_table_leads_somewhere(site, language):
    """Only a row whose chapter is not in the book may be without a link."""
    rows = tomllib.loads((ROOT / "book" / "source_map.toml").read_text(encoding="utf-8"))["row"]
    table = body(site, language, "source_map").rpartition("<tbody>")[2]
    shown = re.findall(r"<tr.*?</tr>", table, flags=re.DOTALL)
    assert len(shown) == len(rows) == 25
    for row, cells in zip(rows, shown, strict=True):
        pages = {place["at"].partition("#")[0] for place in row["places"]}
        linked = set(re.findall(r'href="([^"#]+)\.html', cells))
        built = {page for page in pages if (site / language / f"{page}.html").exists()}
        assert linked == built, row["number"]


@each_language
def test_each_term_is_linked_once_on_a_page_and_never_in_a_heading(site, language):
    pages = [path for path in (site / language).glob("*.html") if re.match(r"\d\d_", path.name)]
    for path in pages:
        page = body(site, language, path.stem)
        anchors = re.findall(r'<a class="attn-term[^"]*" href="glossary\.html#([^"]+)"', page)
        assert len(anchors) == len(set(anchors)), path.name
        assert 8 <= len(anchors) <= 40, f"{path.name}: {len(anchors)}"
        for heading in re.findall(
            r"<h[1-6].*?</h[1-6]>|<pre.*?</pre>|<table.*?</table>", page, re.DOTALL
        ):
            assert "attn-term" not in heading
    assert "attn-term" not in body(site, language, "glossary")


def test_the_opening_page_is_alive_in_the_first_screen(browser, server):
    """Without scrolling, the way in can be seen and the widget answers, on a desk and in a hand."""
    for width, height in ((1280, 900), (390, 844)):
        context = browser.new_context(viewport={"width": width, "height": height})
        page = context.new_page()
        page.goto(f"{server}/es/index.html", wait_until="networkidle")
        for what in (
            page.locator(".attn-button").first,
            page.locator("[data-attn=live-machine], [data-attn=ribbons]").first.locator(
                "[data-attn=stage]"
            ),
        ):
            box = what.bounding_box()
            assert box["y"] + box["height"] < height, what
        context.close()
