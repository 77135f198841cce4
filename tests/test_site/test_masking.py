"""The mask painter in its chapter: painted by mouse, finger and keyboard; its numbers by NumPy."""

import json

import numpy as np
import pytest

from attn import reference
from attn_course.widgets import MaskPainter, _source
from tests.test_site.conftest import each_edition

chapter = each_edition("06_masking.html")


@pytest.fixture
def painters(chapter):
    """The three painters of the chapter with their states, as they are when it is opened.

    The first shows which answers are in sight, the others what passes through layers.
    """
    chapter.reload()
    found = chapter.locator("[data-attn=painter]")
    found.first.wait_for()
    texts = chapter.locator("[data-anywidget=mask_painter]").evaluate_all(
        "ws => ws.map(w => w.querySelector('script[type=\"application/json\"]').textContent)"
    )
    return [(found.nth(i), json.loads(text)) for i, text in enumerate(texts)]


def square(locator, script):
    values = np.array(locator.evaluate_all(f"ns => ns.map(n => {script})"))
    n = int(np.sqrt(len(values)))
    return values.reshape(n, n)


def mask_of(painter):
    return square(painter.locator("[data-attn=cell]"), "n.getAttribute('aria-pressed') === 'true'")


def check(painter, state, mask, n_layers=1):
    """The mask is this one, and everything shown follows from it."""
    mask = np.asarray(mask)
    assert np.array_equal(mask_of(painter), mask)
    cells, reach = painter.locator("[data-attn=cell]"), painter.locator("[data-attn=reach]")
    weights = reference.softmax(np.where(mask, state["scores"], -np.inf))
    np.testing.assert_allclose(square(cells, "Number(n.dataset.weight)"), weights, atol=1e-9)
    reached = reference.reachable(mask, n_layers)
    assert np.array_equal(square(reach, "n.dataset.kind !== 'not'"), reached)
    later = np.triu(np.ones_like(mask), 1)
    assert np.array_equal(square(cells, "'leak' in n.dataset"), mask & later)
    assert np.array_equal(square(reach, "'leak' in n.dataset"), reached & later)
    dead = painter.locator("[data-attn=weights] tbody tr").evaluate_all(
        "ns => ns.map(n => 'dead' in n.dataset)"
    )
    assert dead == (~mask.any(axis=1)).tolist()


def test_each_painter_opens_with_its_mask(painters):
    assert len(painters) == 3
    assert mask_of(painters[0][0]).all()
    for painter, state in painters[1:]:
        check(painter, state, state["mask"], state["n_layers"])
    assert painters[2][0].locator("tr[data-dead]").count() == 4  # two rows, in both tables


def test_the_first_shows_which_answers_are_in_sight(chapter, painters):
    painter, state = painters[0]
    sight, said = painter.locator("[data-attn=next] b"), painter.locator("[data-attn=summary]")
    assert sight.all_inner_texts() == [*state["answers"][:-1], "?"]
    painter.locator("[data-name=causal]").click()
    assert sight.all_inner_texts() == ["?"] * 5
    blind = {
        "es": "Ninguna respuesta a la vista: en cada fila hay que adivinar la palabra siguiente.",
        "en": "No answer in sight: every row has to guess the next word.",
    }
    assert said.inner_text() == blind[chapter.language]
    # Only the next word is the answer: a row may see a later one and still have to guess.
    painter.locator("[data-attn=cell][data-row='0'][data-col='3']").click()
    assert sight.all_inner_texts() == ["?"] * 5 and said.inner_text() != blind[chapter.language]
    painter.locator("[data-attn=cell][data-row='0'][data-col='1']").click()
    assert sight.all_inner_texts() == [state["answers"][0], *["?"] * 4]


def test_every_preset_and_number_of_layers(painters):
    for painter, state in painters[1:]:
        n = len(state["tokens"])
        causal, everything = reference.causal_mask(n), np.ones((n, n), dtype=bool)
        wanted = {
            "all": everything,
            "causal": causal,
            "ahead": np.tri(n, k=1, dtype=bool),
            "inverted": ~causal,
        }
        if state["padding"]:
            real = everything & np.array(state["padding"])
            wanted |= {"padding": real, "both": causal & real}
        for layers in (1, 3):
            painter.locator("[data-attn=layers]").nth(layers - 1).check()
            for name, mask in wanted.items():
                painter.locator(f"[data-name={name}]").click()
                check(painter, state, mask, layers)
                pressed = painter.locator("[data-attn=preset][aria-pressed=true]")
                assert name in pressed.evaluate_all("ns => ns.map(n => n.dataset.name)")


def test_a_click_a_key_and_a_stroke_paint(chapter, painters):
    painter, state = painters[1]
    mask = np.array(state["mask"])
    cell = lambda i, j: painter.locator(f"[data-attn=cell][data-row='{i}'][data-col='{j}']")
    cell(1, 3).click()
    mask[1, 3] = True
    check(painter, state, mask)
    chapter.keyboard.press("ArrowDown")
    chapter.keyboard.press("ArrowLeft")
    chapter.keyboard.press("Space")
    mask[2, 2] = False
    check(painter, state, mask)
    chapter.keyboard.press("End")
    chapter.keyboard.press("Enter")
    mask[2, 4] = True
    check(painter, state, mask)
    # A stroke paints what its first cell became, also over cells that were so already.
    cell(4, 0).scroll_into_view_if_needed()
    start, end = cell(4, 0).bounding_box(), cell(4, 3).bounding_box()
    chapter.mouse.move(start["x"] + 9, start["y"] + 9)
    chapter.mouse.down()
    chapter.mouse.move(end["x"] + 9, end["y"] + 9, steps=12)
    chapter.mouse.up()
    mask[4, :4] = False
    check(painter, state, mask)
    cell(4, 0).click()
    mask[4, 0] = True
    check(painter, state, mask)


def test_there_is_one_tab_stop_in_the_grid(painters):
    painter, _ = painters[1]
    painter.locator("[data-attn=cell]").nth(10).click()
    assert painter.locator("[data-attn=cell][tabindex='0']").count() == 1
    assert painter.locator("[data-attn=cell]").nth(10).get_attribute("tabindex") == "0"


def test_the_summary_describes_leaks_in_words(chapter, painters):
    painter, state = painters[1]
    painter.locator("[data-name=causal]").click()
    said, (_, query, key, *_) = painter.locator("[data-attn=summary]"), state["tokens"]
    clean = {
        "es": "Sin fugas: ninguna query ve una key posterior.",
        "en": "No leaks: no query sees a later key.",
    }
    assert said.inner_text() == clean[chapter.language]
    painter.locator("[data-attn=cell][data-row='1'][data-col='2']").click()
    painter.locator("[data-attn=layers]").nth(1).check()
    leak = {
        "es": f"Fugas: 1. «{query}» ve lo que viene después. Con 2 capas: 1.",
        "en": f"Leaks: 1. “{query}” sees what comes after. With 2 layers: 1.",
    }
    assert said.inner_text() == leak[chapter.language]
    status = painter.locator("[role=status]")
    chapter.wait_for_timeout(500)
    assert status.inner_text() == leak[chapter.language]
    label = painter.locator("[data-attn=cell][data-row='1'][data-col='2']").get_attribute(
        "aria-label"
    )
    spoken = {
        "es": f"«{query}» a «{key}», permitido, peso 0.84, fuga",
        "en": f"“{query}” to “{key}”, allowed, weight 0.84, leak",
    }
    assert label == spoken[chapter.language]


def test_tokens_of_one_name_are_told_apart_where_they_attend_to_nothing(chapter, painters):
    said = painters[2][0].locator("[data-attn=summary]")
    dead = {
        "es": "<pad> (1) y <pad> (2) no atienden a nada: la atención les da cero.",
        "en": "<pad> (1) and <pad> (2) attend to nothing: attention gives them zero.",
    }
    assert said.inner_text().endswith(dead[chapter.language])


@pytest.mark.parametrize("width", [320, 390])
def test_a_finger_paints_and_nothing_needs_scrolling(browser, server, width):
    context = browser.new_context(
        viewport={"width": width, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.goto(f"{server}/es/06_masking.html")
    painter = page.locator("[data-attn=painter]").first
    cell = painter.locator("[data-attn=cell][data-row='0'][data-col='4']")
    for pressed in ("false", "true"):
        cell.tap()
        assert cell.get_attribute("aria-pressed") == pressed
    for box in painter.locator(".attn-w-scroll").all():
        assert box.evaluate("n => n.scrollWidth - n.clientWidth") <= 1
    sizes = painter.locator("[data-attn=cell]").evaluate_all(
        "ns => ns.map(n => { const b = n.getBoundingClientRect(); return [b.width, b.height]; })"
    )
    assert np.min(sizes) >= 24
    context.close()


def test_it_works_from_a_file(browser, tmp_path):
    widget = MaskPainter(["a", "b", "c"], np.eye(3), language="en")
    (tmp_path / "page.html").write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title>'
        f"<style>{_source.stylesheet()}</style>"
        f'<script defer src="mask_widgets.js"></script>{widget._html()}',
        encoding="utf-8",
    )
    bundle = _source.classic_bundle("mask_widgets")
    (tmp_path / "mask_widgets.js").write_text(bundle, encoding="utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    painter = page.locator("[data-attn=painter]")
    assert painter.locator("[data-attn=preset]").count() == 4  # no padding, no masks of padding
    painter.locator("[data-name=inverted]").click()
    check(painter, {"scores": np.eye(3)}, ~reference.causal_mask(3))
    context.close()
