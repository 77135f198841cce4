"""Text is legible: no colour is named that the dark scheme changes, and no type is too small."""

import io
import json
import re
from pathlib import Path

import lxml.html
import numpy as np
import pytest
from matplotlib.colors import rgb_to_hsv
from matplotlib.image import imread

from attn_course.palette import DARK, LIGHT
from tests.contrast import contrast
from tests.test_site.conftest import of_class

ROOT = Path(__file__).resolve().parents[2]
SCHEMES = ("light", "dark")
# The dark scheme exchanges light and dark but keeps hues, so a text may say "blue" but not "white".
LIGHTNESS = (
    r"(?i)\b(white|black|dark(er|est)?|lighter|lightest|pale[rs]?t?|bright(er|est)?|gr[ea]y"
    r"|blanc[oa]s?|negr[oa]s?|oscur[oa]s?|pálid[oa]s?|más clar[oa]s?|gris(es)?)\b"
)
# The pictures of A4 are pixels: white shapes on black in both schemes.
CHAPTERS = sorted(
    path.stem
    for path in (ROOT / "notebooks" / "es").glob("*.ipynb")
    if path.stem != "A4_image_applications"
)


def mended(text):
    """Remove quoted words, translations in brackets and the names of the schemes."""
    return re.sub(r"«[^»]*»|\([^)]*\)|“[^”]*”|\*[^*]+\*|modo oscuro|dark mode", "", text)


def spoken(article):
    """Yield what a page says of its figures and around them: quizzes, alternative texts, prose."""
    for script in article.xpath(".//*[@data-anywidget='quiz']/script"):
        yield json.dumps(json.loads(script.text)["questions"], ensure_ascii=False)
    figures = f".//img | .//*[{of_class('attn-figure')}]//svg | .//figcaption"
    for node in article.xpath(f"({figures})[not(ancestor::*[{of_class('tag_keep-colours')}])]"):
        yield node.get("alt") or node.get("aria-label") or node.text_content()
    quoted = ".//pre | .//code | .//em | .//table | .//script | .//*[@data-anywidget]"
    for node in article.xpath(f"{quoted} | .//*[{of_class('katex')}]"):
        node.drop_tree()
    for node in article.xpath(".//p | .//li | .//h2 | .//h3"):
        yield node.text_content()


@pytest.mark.parametrize("language", ("es", "en"))
def test_no_text_describes_a_figure_by_its_lightness(site, language):
    for chapter in CHAPTERS:
        page = lxml.html.document_fromstring((site / language / f"{chapter}.html").read_bytes())
        said = list(spoken(page.find(".//article")))
        assert len(said) > 5
        for text in said:
            assert not re.search(LIGHTNESS, mended(text)), f"{chapter}: {text}"


def test_no_widget_text_describes_colours_by_their_lightness():
    for path in (ROOT / "attn_course" / "widgets").glob("*.js"):
        for text in re.findall(r'"((?:[^"\\]|\\.)*)"', path.read_text(encoding="utf-8")):
            if " " in text:
                assert not re.search(LIGHTNESS, mended(text)), f"{path.name}: {text}"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_figures_keep_their_hues_and_their_scale_in_both_schemes(tab, server, scheme):
    """The map of chapter 07 goes from orange over the page's own colour to blue."""
    page = tab(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    page.goto(f"{server}/en/07_positional_encoding.html", wait_until="networkidle")
    about = "A heat map of 50"
    figure = page.locator(
        f".cell_output :is(img[alt^='{about}'], svg[aria-label^='{about}']):visible"
    )
    figure.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    drawn = imread(io.BytesIO(figure.screenshot()))[..., :3]
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    ground = np.array(re.findall(r"\d+", ground), float) / 255
    hue, saturation, _ = np.moveaxis(rgb_to_hsv(drawn), -1, 0)
    strong = saturation > 0.3
    shares = {
        "blue": (strong & (hue > 0.52) & (hue < 0.62)).mean(),
        "orange": (strong & (hue > 0.03) & (hue < 0.12)).mean(),
        "ground": (abs(drawn - ground).max(axis=-1) < 0.05).mean(),
    }
    assert min(shares.values()) > 0.04, shares


@pytest.mark.parametrize("scheme", SCHEMES)
def test_figures_have_the_colours_of_the_scheme_chosen_by_hand(tab, server, scheme):
    page = tab(color_scheme=SCHEMES[scheme == "light"])  # the machine asks for the other
    page.goto(f"{server}/en/03_self_attention.html", wait_until="networkidle")
    page.locator(".attn-theme").click()
    figure = page.locator(".attn-figure").first
    seen = figure.evaluate("""figure => {
      const shown = [...figure.children].find(svg => svg.getBoundingClientRect().width);
      const key = [...shown.querySelectorAll("text")].find(text => text.textContent === "they");
      return {
        key: getComputedStyle(key).fill,
        ramp: getComputedStyle(shown.querySelector("image")).filter.split("(")[0],
      };
    }""")
    colour = {"light": LIGHT, "dark": DARK}[scheme]["key"]
    channels = ", ".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    assert seen == {"key": f"rgb({channels})", "ramp": "none" if scheme == "light" else "url"}


@pytest.mark.parametrize("chapter", ["14_equation_changed", "L02_tokens_and_embeddings"])
def test_the_letters_of_figures_can_be_read_on_a_phone(tab, server, chapter):
    page = tab(viewport={"width": 390, "height": 800})
    page.goto(f"{server}/es/{chapter}.html", wait_until="networkidle")
    sizes = page.evaluate("""() => [...document.querySelectorAll(".attn-figure svg")].flatMap(svg => {
      const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      // What stands lower or higher in a formula is smaller everywhere.
      const texts = [...svg.querySelectorAll("text")].filter(text => !text.querySelector("tspan"));
      return scale ? texts.map(text => parseFloat(getComputedStyle(text).fontSize) * scale) : [];
    })""")
    assert len(sizes) > 50 and min(sizes) > 10.95


COVERED = """() => {
  const within = { "attn-copy": ".cell", "attn-py-corner": ".cell", "attn-enlarge": "figure" };
  for (const details of document.querySelectorAll("details")) details.open = true;
  return [...document.querySelectorAll(".attn-copy, button.attn-py-corner, .attn-enlarge")].flatMap(button => {
    const own = button.getBoundingClientRect();
    const texts = document.createTreeWalker(button.closest(within[button.className]), NodeFilter.SHOW_TEXT);
    const found = [];
    while (own.width && texts.nextNode()) {
      const { currentNode: text } = texts;
      if (!text.data.trim() || text.parentElement.closest("button, script")) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      for (const { left, right, top, bottom } of range.getClientRects()) {
        const apart = right < own.left + 1 || left > own.right - 1 || bottom < own.top + 1 || top > own.bottom - 1;
        if (!apart) found.push([button.className, text.data]);
      }
    }
    return found;
  });
}"""


@pytest.mark.parametrize("chapter", ["L03_self_attention", "L05_encoder_decoder"])
def test_what_a_finger_presses_is_drawn_and_covers_no_code_and_no_label(tab, server, chapter):
    page = tab(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.goto(f"{server}/es/{chapter}.html", wait_until="networkidle")
    runs_python = page.locator("body[data-python]").count() > 0
    for button in (".attn-copy", ".attn-enlarge", *[".attn-py-corner"] * runs_python):
        assert page.locator(f"{button}:visible").count() >= 1
    assert page.evaluate(COVERED) == []
    # Where a cell follows another, the buttons of both are near each other.
    assert (
        page.evaluate("""() => {
      const boxes = [...document.querySelectorAll(".attn-copy, button.attn-py-corner")].map(b => b.getBoundingClientRect());
      return boxes.filter((a, i) => a.width && boxes.slice(i + 1, i + 5).some(b => b.width &&
        a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;
    }""")
        == 0
    )
    # No font need have a sign for it.
    sign = page.evaluate("""() => {
      const { content, maskImage, width } = getComputedStyle(document.querySelector(".attn-copy"), "::before");
      return [content, maskImage.slice(0, 8), parseFloat(width) > 10];
    }""")
    assert sign == ['""', 'url("dat', True]


def test_the_table_beside_a_figure_has_no_caption_of_its_own(tab, server):
    page = tab()
    page.goto(f"{server}/en/L02_tokens_and_embeddings.html", wait_until="domcontentloaded")
    tables = page.locator(".cell:has(figcaption) .attn-table")
    assert tables.count() >= 1
    assert page.locator("figure:not(:has(img, svg)) figcaption").count() == 0


SMALL = """() => [...document.querySelectorAll(".attn-w")].flatMap(widget => {
  const found = [];
  const texts = document.createTreeWalker(widget, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const parent = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || parent.closest(".attn-w-hidden, svg.attn-d")) continue; // drawings have a rule of their own
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const { width, height } = range.getBoundingClientRect();
    const size = parseFloat(getComputedStyle(parent).fontSize);
    if (width && height && size < 12) found.push([widget.dataset.attn, texts.currentNode.data, size]);
  }
  return found;
})"""
CUT = """() => [...document.querySelectorAll(".attn-explorer-heat tbody td > span:first-child")].filter(span => {
  const range = document.createRange();
  range.selectNodeContents(span);
  const frame = parseFloat(getComputedStyle(span.parentElement, "::after").borderLeftWidth) || 0;
  const { clientWidth } = span;
  return clientWidth && range.getBoundingClientRect().width > clientWidth - 2 * frame;
}).map(span => span.textContent)"""


def test_nothing_in_a_widget_is_too_small_or_cut_on_a_phone(tab, server):
    page = tab(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    for chapter in CHAPTERS:
        page.goto(f"{server}/en/{chapter}.html", wait_until="networkidle")
        assert page.evaluate(SMALL) == [], chapter
        assert page.evaluate(CUT) == [], chapter
    page.goto(f"{server}/en/translator.html", wait_until="networkidle")
    live = page.locator("[data-attn=live-translator]").last  # of the grammar: whole words
    longest = max(live.locator("option").all_inner_texts()[1:], key=lambda text: len(text.split()))
    assert len(longest.split()) >= 12
    live.locator("[data-attn=pick]").select_option(longest)
    page.wait_for_function(
        "n => [...document.querySelectorAll('[data-attn=live-translator]')].at(-1)"
        ".querySelectorAll('[data-attn=heat-cell][data-row=\"0\"]').length === n",
        arg=len(longest.split()),
    )
    assert page.evaluate(SMALL) == [] and page.evaluate(CUT) == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_dashes_of_a_leak_stand_out(tab, server, scheme):
    """Around the dashes, on both sides, is the widget's own ground, whatever the weight."""
    page = tab(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    page.goto(f"{server}/en/06_masking.html")
    painter = page.locator("[data-attn=painter]").first
    painter.locator("[data-name=inverted]").click()
    leaks = painter.locator("[data-attn=cell][data-leak]")
    assert leaks.count() == 10
    for pointed in (False, True):
        for leak in leaks.all()[:3]:
            if pointed:
                leak.hover()
            dash, ring, border, width, line = leak.evaluate("""cell => {
              const own = getComputedStyle(cell), after = getComputedStyle(cell, "::after");
              return [after.borderTopColor, own.boxShadow, own.borderTopColor, own.boxShadow.match(/(\\d+)px inset/)?.[1], after.borderTopWidth];
            }""")
            ring = re.match(r"rgba?\([^)]*\)", ring)[0]
            assert contrast(dash, ring) >= 3 and contrast(dash, border) >= 3
            assert int(width) > float(line.removesuffix("px"))
            assert leak.get_attribute("aria-label").endswith("leak")


@pytest.mark.parametrize("width", (1280, 390))
def test_no_word_of_the_guesser_is_printed_over_a_bar(tab, server, width):
    page = tab(viewport={"width": width, "height": 900})
    page.goto(f"{server}/es/11_landscape.html")
    guesser = page.locator("[data-attn=guesser]")
    guesser.scroll_into_view_if_needed()
    seen = 0
    for sentence in guesser.locator("[data-attn=sentence]").all():
        sentence.check()
        for word in guesser.locator("[data-attn=word]").all():
            word.click()
            seen += guesser.locator("[data-attn=note]", has_text="puesto").count()
            over = guesser.evaluate("""guesser => [...guesser.querySelectorAll("[data-attn=row]")].filter(row => {
              const [name, bar] = row.cells;
              const range = document.createRange();
              range.selectNodeContents(name.querySelector("small"));
              const right = Math.max(range.getBoundingClientRect().right, name.firstChild.getBoundingClientRect().right);
              return right > bar.firstChild.getBoundingClientRect().left;
            }).map(row => row.innerText)""")
            assert over == []
    assert seen > 5


def test_the_two_figures_of_the_translator_agree(tab, server):
    """The same rows, the same colour for the same weight, the same way to choose a sentence."""
    for language in ("es", "en"):
        page = tab(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        page.goto(f"{server}/{language}/translator.html", wait_until="networkidle")
        live = page.locator("[data-attn=live-translator]").first  # the same model and sentence
        micro = page.locator("[data-attn=microscope]")
        # One takes a text of several lines and the other a sentence, in boxes that look alike.
        for hook, name in (("pick", "localName"), ("sentence", "type"), ("translate", "localName")):
            look = (
                f"node => [node.{name}.replace('textarea', 'text'), node.className, node.innerText]"
            )
            one, other = (figure.locator(f"[data-attn={hook}]") for figure in (live, micro))
            assert one.evaluate(look) == other.evaluate(look)
        rows = "all => all.map(head => head.textContent)"
        own = live.locator(".attn-live-heat tbody th").evaluate_all(rows)
        assert own == micro.locator("[data-attn=matrix] tbody th").evaluate_all(rows)
        assert own[0] == {"es": "<sos> → Where", "en": "<sos> → ¿"}[language]
        # One head of one layer in both, so the weights are the same numbers.
        live.locator("[data-attn=layer][value='2']").check()
        live.locator("[data-attn=head][value='0']").check()
        painted = "all => all.map(node => getComputedStyle(node))"
        painted += ".map(style => [style.backgroundColor, style.color])"
        heat = live.locator("[data-attn=heat-cell]").evaluate_all(painted)
        other = micro.locator("[data-attn=matrix] [data-attn=number]").evaluate_all(painted)
        # A browser keeps opacities in steps of 1/255, of which rounded weights may miss one, and prints
        # the shortest number that stands for a step.
        shades = [np.array(re.findall(r"[.\d]+", str(one)), float) for one in (heat, other)]
        np.testing.assert_allclose(*shades, atol=2 / 255)
        assert len({colour for colour, _ in heat}) > 3


@pytest.mark.parametrize("language", ("es", "en"))
@pytest.mark.parametrize("width", (390, 1280))
def test_a_wide_table_scrolls_beside_what_its_rows_are_about(tab, server, width, language):
    """Its numbers stand on the right of their columns, and none is broken into two lines."""
    page = tab(viewport={"width": width, "height": 900})
    page.goto(f"{server}/{language}/results.html")
    page.evaluate("for (const fold of document.querySelectorAll('.attn-fold')) fold.open = true")
    tables = page.evaluate("""() => [...document.querySelectorAll("table.docutils")].map((table) => {
      const box = table.getBoundingClientRect(), wide = table.scrollWidth > table.clientWidth;
      table.scrollLeft = table.scrollWidth;
      const rows = [...table.rows].map((row) => [...row.cells].map((cell) => cell.getBoundingClientRect()));
      const line = parseFloat(getComputedStyle(table).lineHeight);
      return {
        wide, right: Math.max(...rows.map((cells) => cells.at(-1).right)) - box.right,
        left: Math.max(...rows.map(([first]) => Math.abs(first.left - box.left))),
        share: rows[0][0].width / box.width,
        ends: [...table.querySelectorAll("td.text-right")].map((cell) => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          const text = range.getBoundingClientRect(), style = getComputedStyle(cell);
          const gap = cell.getBoundingClientRect().right - parseFloat(style.paddingRight) - text.right;
          return cell.textContent ? [gap, text.height < 1.5 * line] : [0, true];
        }),
      };
    })""")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert sum(table["wide"] for table in tables) >= 5 or width == 1280
    for table in tables:
        assert table["left"] <= 1 and table["right"] <= 1, table
        assert table["share"] < 0.55
        assert all(abs(gap) <= 1 and is_one_line for gap, is_one_line in table["ends"])


@pytest.mark.parametrize("language", ("es", "en"))
@pytest.mark.parametrize("name, place", [("results", "real-words"), ("benchmarks", "machine")])
def test_a_page_of_tables_is_short_until_a_link_opens_a_fold(tab, server, language, name, place):
    page = tab(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    page.goto(f"{server}/{language}/{name}.html")
    assert page.locator(".attn-fold").count() > 10 and not page.locator(".attn-fold[open]").count()
    assert page.evaluate("document.documentElement.scrollHeight") < 15 * 844
    first = page.locator(".attn-chart:visible svg:visible")
    assert first.count() == 3 and first.nth(1).bounding_box()["y"] < 844
    for figure in first.all():
        letters = figure.evaluate("""figure => Math.min(...[...figure.querySelectorAll("text")].map(text =>
          parseFloat(getComputedStyle(text).fontSize) * figure.getBoundingClientRect().width / figure.viewBox.baseVal.width))""")
        assert letters >= 10.5
    page.goto(f"{server}/{language}/{name}.html#{place}")
    page.wait_for_function(
        f"Math.abs(document.getElementById('{place}').getBoundingClientRect().y - 85) < 9"
    )
    assert page.locator(".attn-fold[open]").count() == 1 and not page.errors


@pytest.mark.parametrize("language", ("es", "en"))
def test_the_page_of_looks_shows_every_colour(tab, server, language, violations):
    page = tab(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page.goto(f"{server}/{language}/look.html", wait_until="networkidle")
    rows = dict(
        page.locator("table.docutils tr:has([style*='background'])").evaluate_all(
            "rows => rows.map(row => [row.cells[0].textContent, getComputedStyle(row.querySelector('span')).backgroundColor])"
        )
    )
    for name, colour in DARK.items():
        red, green, blue = bytes.fromhex(colour[1:])
        assert rows[f"--attn-{name}"] == f"rgb({red}, {green}, {blue})"
    for shown in (".attn-button", ".attn-w-button[data-main]", ".attn-w-table", ".attn-figure"):
        assert page.locator(shown).first.is_visible(), shown
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(page) == [] and page.errors == []
