"""References stand beside the text or open at a tap; a figure opens at the window's size, and is saved."""

import io

import numpy as np
import pytest
from PIL import Image

LANGUAGES = ("es", "en")
CHAPTER = "11_landscape.html"
NOTES = """() => {
  const box = node => { const r = node.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  return {
    notes: [...document.querySelectorAll(".attn-note.attn-placed")].map(box),
    others: [...document.querySelectorAll("article :is(p, li, h2, h3, .cell, figure, table, [data-anywidget]), .attn-own")]
      .filter(node => node.checkVisibility()).map(box),
    links: [...document.querySelectorAll(".bibtex-citation a")].filter(link => link.checkVisibility()).map(box),
  };
}"""


@pytest.mark.parametrize("width", (1280, 1600))
def test_references_stand_beside_their_lines_and_on_nothing_else(tab, server, width):
    page = tab(viewport={"width": width, "height": 900})
    page.goto(f"{server}/en/{CHAPTER}", wait_until="networkidle")
    page.wait_for_selector(".attn-note.attn-placed")
    seen = page.evaluate(NOTES)
    assert len(seen["notes"]) >= 8
    for i, (left, top, right, bottom) in enumerate(seen["notes"]):
        assert any(-170 < top - link[1] < 10 for link in seen["links"])
        for other in seen["others"] + seen["notes"][i + 1 :]:
            apart = other[2] <= left or other[0] >= right or other[3] <= top or other[1] >= bottom
            assert apart, (other, (left, top, right, bottom))
    assert page.locator(".attn-note", has_text="Quoc V").count() == 0, "authors are in the text"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_tap_shows_the_reference_and_escape_takes_it_away(tab, server, language, violations):
    page = tab(viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto(f"{server}/{language}/{CHAPTER}", wait_until="networkidle")
    link = page.locator(".bibtex-citation a").first
    reference, shown = link.get_attribute("title"), page.locator(".attn-source")
    link.tap()
    assert page.url.endswith(CHAPTER) and shown.is_visible()
    assert shown.inner_text().startswith(reference[:40])
    assert violations(page, ["color-contrast", "aria-allowed-role", "link-name"]) == []
    box = shown.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["y"] + box["height"] <= 844
    page.keyboard.press("Escape")
    assert not shown.is_visible()
    assert link.evaluate("link => document.activeElement === link")
    page.keyboard.press("Enter")
    assert shown.is_visible()
    page.touchscreen.tap(200, 100)
    assert not shown.is_visible()
    link.tap()
    shown.get_by_role("link").tap()
    page.wait_for_url("**/bibliography.html#*")
    assert page.errors == []


@pytest.mark.parametrize("width", (390, 1280))
def test_a_figure_is_seen_as_large_as_the_window(tab, server, width, violations):
    page = tab(viewport={"width": width, "height": 800})
    page.goto(f"{server}/en/L03_self_attention.html", wait_until="networkidle")
    figures = page.locator(".cell_output figure:has(> .attn-enlarge)")
    assert figures.count() >= 3
    before = figures.first.locator("svg:visible").bounding_box()["width"]
    large = page.locator("dialog.attn-large")
    figures.first.locator(".attn-enlarge").focus()
    page.keyboard.press("Enter")
    assert large.is_visible()
    shown = large.locator("svg:visible")
    label = figures.first.locator("svg").first.get_attribute("aria-label")
    assert shown.get_attribute("aria-label") == label
    assert shown.bounding_box()["width"] > 1.2 * before
    assert violations(page) == []
    page.keyboard.press("Escape")
    assert not large.is_visible()
    assert page.evaluate("document.activeElement.className") == "attn-enlarge"
    figures.first.locator("svg:visible").click()
    assert large.is_visible()
    large.get_by_role("button").click()
    assert not large.is_visible()
    assert page.errors == []


SAVED = """text => {
  const drawing = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  document.body.replaceChildren(document.adoptNode(drawing));
  document.body.style = "margin: 0";
}"""
FIGURES = (
    "06_masking",
    "07_positional_encoding",
    "12_language_model",
    "13_what_attention_computes",
)


@pytest.mark.parametrize("chapter", FIGURES)
def test_a_figure_is_saved_as_it_stands(tab, server, chapter, violations):
    """The file is drawn again with the fonts of the page, and compared dot by dot."""

    def seen(part):
        """Return how dark each square of four by four dots is: letters may stand half a dot apart."""
        grey = 255 - np.asarray(Image.open(io.BytesIO(part.screenshot())).convert("L"), float)
        height, width = ((side - 2) // 4 for side in grey.shape)
        return grey[: 4 * height, : 4 * width].reshape(height, 4, width, 4).mean(axis=(1, 3))

    page = tab(viewport={"width": 1280, "height": 1200})
    page.goto(f"{server}/en/{chapter}.html", wait_until="networkidle")
    figure = page.locator("[data-attn-mounted]").first
    figure.scroll_into_view_if_needed()
    button = figure.locator(".attn-save")
    assert violations(page, ["color-contrast", "target-size"]) == []
    with page.expect_download() as waiting:
        button.click()
    assert waiting.value.suggested_filename.startswith(chapter)
    text, leaks = waiting.value.path().read_text("utf-8"), figure.locator("td [data-leak]").count()
    assert text.count('stroke-dasharray="4 3"') >= leaks, "what only pseudo-elements show"
    button.evaluate("button => button.remove()")
    aside = figure.locator(".attn-model, details")  # They are no part of the figure.
    aside.evaluate_all("all => all.forEach(one => { one.style.visibility = 'hidden'; })")
    expected = seen(figure.locator(".attn-w"))
    page.evaluate(SAVED, text)
    found = seen(page.locator("svg").first)
    assert np.corrcoef(expected.ravel(), found.ravel())[0, 1] > 0.94
    assert page.errors == []
