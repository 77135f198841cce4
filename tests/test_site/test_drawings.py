"""The drawings as a browser lays them out: nothing overlaps, nothing is too small or too pale."""

import json
from pathlib import Path

import lxml.html
import pytest

from attn_course import drawings
from attn_course.drawings import Machine
from attn_course.drawings.chapters import CHAPTERS
from attn_course.palette import DARK, LIGHT, css_variables
from tests.contrast import contrast
from tests.test_site.conftest import of_class

STATIC = Path(__file__).resolve().parents[2] / "book" / "_theme" / "attn" / "static"
# The widths of the column of text: on a laptop, and on a phone.
COLUMNS = {"wide": 900, "upright": 356}

# For each text: its size and box, how far it reaches outside the drawing (`out`) and beyond the sides of
# its frame (`over`), its colour (`ink`) and the one behind it (`ground`), and whether its frame is a pin.
MEASURE = """() => [...document.querySelectorAll("svg.attn-d")].filter(svg => svg.clientWidth).map(svg => {
  const around = svg.getBoundingClientRect();
  const scale = around.width / svg.viewBox.baseVal.width;
  const rects = [...svg.querySelectorAll("rect.box, rect.pin")];
  const inside = (x, y, r) => x > r.left && x < r.right && y > r.top && y < r.bottom;
  return [...svg.querySelectorAll("text")].map(text => {
    const box = text.getBoundingClientRect();
    const size = parseFloat(getComputedStyle(text).fontSize) * scale;
    // Some fonts leave far more room above and below their letters than others.
    const spare = Math.max(0, box.height - 1.2 * size) / 2;
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const home = rects.filter(r => inside(x, y, r.getBoundingClientRect())).at(-1);
    const r = home?.getBoundingClientRect();
    return {
      text: text.textContent,
      size,
      box: [box.left, box.top + spare, box.right, box.bottom - spare],
      out: Math.max(around.left - box.left, box.right - around.right, around.top - box.top - spare, box.bottom - spare - around.bottom),
      over: r ? Math.max(r.left - box.left, box.right - r.right) : -1,
      ink: getComputedStyle(text).fill,
      ground: home ? getComputedStyle(home).fill : getComputedStyle(document.body).backgroundColor,
      pin: home?.matches(".pin") ?? false,
    };
  });
}).flat()"""
# The shapes of a drawing that reach outside its view box, counting the strokes of rectangles and circles.
OUTSIDE = """() => {
  const { x, y, width, height } = document.querySelector("svg").viewBox.baseVal;
  return [...document.querySelectorAll("svg :is(rect, circle, path)")].filter((drawn) => {
    const box = drawn.getBBox();
    const { stroke, strokeWidth } = getComputedStyle(drawn);
    const half = stroke === "none" || drawn.matches("path") ? 0 : parseFloat(strokeWidth) / 2;
    return Math.min(box.x - x, box.y - y, x + width - box.x - box.width, y + height - box.y - box.height) < half - 0.6;
  }).map((drawn) => drawn.outerHTML);
}"""
PINS = """() => [...document.querySelectorAll("svg.attn-d rect.pin")].filter(pin => pin.getBoundingClientRect().width)
  .map(pin => { const r = pin.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })"""


def show(page, markup, scheme, width):
    """Show a drawing in a column of a width, in a colour scheme of the site; measure its texts."""
    page.set_viewport_size({"width": width, "height": 900})
    page.set_content(
        f"<style>:root {{ {css_variables(scheme)} }} body {{ margin: 0; background: var(--attn-page) }}"
        f" figure {{ margin: 0 !important }}</style>{markup}"
    )
    return page.evaluate(MEASURE)


def overlap(one, other):
    """Return by how much two boxes overlap, across or down, whichever is less; negative if apart."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    return min(width, min(one[3], other[3]) - max(one[1], other[1]))


def check(texts, pins):
    """Assert what holds of every drawing."""
    assert texts
    for i, one in enumerate(texts):
        assert one["size"] >= 11, one
        assert one["out"] < 0.5 and one["over"] <= 0, one
        for other in texts[i + 1 :]:
            # The boxes of two lines of one label overlap by their leading, their letters do not.
            assert overlap(one["box"], other["box"]) < 2.5, (one["text"], other["text"])
        for pin in pins:
            assert one["pin"] or overlap(one["box"], pin) < 3.5, one["text"]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("language", ["es", "en"])
def test_texts_of_the_machine_keep_clear_of_each_other(tab, language, column):
    page = tab()
    for chapter in CHAPTERS:
        texts = show(page, Machine(chapter, language)._repr_html_(), LIGHT, COLUMNS[column])
        assert sum(text["pin"] for text in texts) == 1, chapter
        check(texts, page.evaluate(PINS))


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_of_the_machine_stand_out(tab, scheme):
    page = tab()
    for chapter in CHAPTERS:
        for text in show(page, Machine(chapter, "es")._repr_html_(), scheme, 900):
            assert contrast(text["ink"], text["ground"]) >= 4.5, (chapter, text)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_of_the_ideas_keep_clear_of_each_other_and_stand_out(tab, language, scheme):
    page = tab()
    for name in filter(str.islower, drawings.__all__):
        texts = show(page, getattr(drawings, name)()._repr_html_(), scheme, 356)
        check(texts, [])
        assert page.evaluate(OUTSIDE) == [], name
        for text in texts:
            assert contrast(text["ink"], text["ground"]) >= 4.5, (name, text)


def show_in_steps(page, name):
    """Show a drawing as the site does, with a clock that the test moves; return the texts of its steps."""
    page.clock.install()
    show(page, getattr(drawings, name)()._repr_html_(), LIGHT, 356)
    page.add_style_tag(path=STATIC / "course.css")
    page.add_script_tag(path=STATIC / "steps.js")
    return json.loads(page.locator("svg").get_attribute("data-steps"))


SHOWN = """() => [...document.querySelectorAll("[data-step]")].filter(part => !part.matches(".attn-later"))
  .map(part => Number(part.dataset.step))"""


def test_a_drawing_is_stepped_through_by_keyboard_and_says_each_step(tab, language, violations):
    page = tab()
    words = show_in_steps(page, "beam")
    status, last = page.get_by_role("status"), len(words["told"])
    assert status.text_content() == words["told"][-1] and page.evaluate(SHOWN).count(last)
    page.get_by_role("button", name=words["back"]).focus()
    for at in range(last - 1, 0, -1):
        page.keyboard.press("Enter")
        assert status.text_content() == words["told"][at - 1]
        assert max(page.evaluate(SHOWN)) == at
        assert page.get_by_text(f"{at} / {last}").is_visible()
    page.keyboard.press("Enter")  # there is nothing before the first step
    assert status.text_content() == words["told"][0]
    page.keyboard.press("ArrowRight")
    assert status.text_content() == words["told"][1]
    assert not violations(
        page, ["button-name", "color-contrast", "aria-allowed-attr", "aria-allowed-role"]
    )


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_drawing_plays_when_asked_to_and_fades_only_where_motion_is_welcome(tab, motion):
    page = tab(reduced_motion=motion)
    words = show_in_steps(page, "cache")
    for milliseconds in (500, 60_000):  # nothing moves by itself
        assert page.get_by_text("4 / 4").is_visible()
        page.clock.run_for(milliseconds)
    assert page.get_by_text("4 / 4").is_visible()
    page.get_by_role("button", name=words["play"]).click()
    assert page.get_by_text("1 / 4").is_visible() and set(page.evaluate(SHOWN)) == {1}
    page.clock.run_for(6_000)
    page.get_by_role("button", name=words["pause"]).click()
    assert page.get_by_text("2 / 4").is_visible()
    page.clock.run_for(60_000)
    assert page.get_by_text("2 / 4").is_visible()
    page.get_by_role("button", name=words["play"]).click()
    page.clock.run_for(60_000)
    assert page.get_by_text("4 / 4").is_visible()
    assert page.get_by_role("button", name=words["play"]).is_visible()
    fades = "getComputedStyle(document.querySelector('[data-step]')).transitionDuration"
    assert page.evaluate(fades) == ("0.45s" if motion == "no-preference" else "0s")


def test_on_paper_a_drawing_is_whole_and_without_buttons(tab):
    page = tab()
    words = show_in_steps(page, "clocks")
    page.get_by_role("button", name=words["back"]).click()
    assert page.locator("[data-only='5']").is_visible()
    page.emulate_media(media="print")
    assert page.locator(".attn-steps, [data-only]").filter(visible=True).count() == 0
    pale = "() => [...document.querySelectorAll('[data-step]')].filter(p => getComputedStyle(p).opacity < 1).length"
    page.clock.run_for(1_000)
    assert page.evaluate(pale) == 0


def test_the_script_of_the_steps_is_light():
    assert (STATIC / "steps.js").stat().st_size < 3_000


def test_outside_the_site_the_drawing_brings_its_own_colours(tab):
    page = tab()
    page.set_content(
        f"<body style='background: #111'>{Machine('05_encoder_decoder', 'en')._repr_html_()}</body>"
    )
    style = "getComputedStyle(document.querySelector('svg.attn-d')).backgroundColor"
    ink = page.evaluate("getComputedStyle(document.querySelector('svg.attn-d .shape')).fill")
    assert contrast(page.evaluate(style), ink) > 10


@pytest.mark.parametrize("language", ["es", "en"])
def test_every_chapter_of_the_site_has_the_machine_and_its_links_lead_somewhere(site, language):
    drawn = f"[{of_class('attn-machine')}]"
    for chapter in CHAPTERS:
        page = lxml.html.document_fromstring((site / language / f"{chapter}.html").read_bytes())
        # A chapter that has a laboratory begins with the strip; its drawing is in the section labelled `now-`.
        # In any other chapter the drawing comes after the first paragraph.
        strip = page.xpath(f"//h1/following-sibling::*[1][{of_class('attn-strip')}]")
        now = f"now-{chapter[:2]}"
        machine = page.xpath(f"//section[@id='{now}' or *[@id='{now}']]//*{drawn}")
        if not strip:
            machine = page.xpath(
                f"//h1/following-sibling::*[1][self::p]/following-sibling::*[1]{drawn}"
            )
        assert len(machine) == 1, chapter
        anchors = [a for each in machine + strip for a in each.iter("a")]
        assert len(anchors) > 15
        assert all((site / language / a.get("href")).exists() for a in anchors)
        here = [a.get("href") for a in anchors if a.get("aria-current") == "page"]
        assert all(link == f"{chapter}.html" for link in here)


def test_a_part_can_be_followed_to_its_chapter(tab, server):
    page = tab(viewport={"width": 1280, "height": 900}, java_script_enabled=False)
    page.goto(f"{server}/en/05_encoder_decoder.html")
    page.locator(".attn-machine-wide").get_by_text("scores", exact=True).click()
    assert page.url.endswith("/en/03_self_attention.html")


def test_the_css_of_a_drawing_does_not_change_the_others_on_its_page(tab):
    page = tab()
    machine = Machine("06_masking", "en")._repr_html_()
    letters = """() => [...document.querySelectorAll(".attn-machine text:not(.halo)")]
      .map(text => { const { stroke, fontWeight, fill } = getComputedStyle(text); return [stroke, fontWeight, fill]; })"""
    show(page, machine, LIGHT, 900)
    alone = page.evaluate(letters)
    ideas = "".join(
        getattr(drawings, name)()._repr_html_()
        for name in drawings.__all__
        if "Machine" not in name
    )
    show(page, machine + ideas, LIGHT, 900)
    assert page.evaluate(letters) == alone
    show(page, ideas + machine, LIGHT, 900)
    widths = page.evaluate(
        "[...document.querySelectorAll('.attn-idea')].map(svg => svg.clientWidth / parseFloat(getComputedStyle(document.body).fontSize))"
    )
    # The widest drawing of an idea has 30 em, a third more than a phone, also with a machine after it.
    assert len(widths) > 5 and max(widths) == 30
