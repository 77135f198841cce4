"""The SamplingExplorer of chapter 09, driven by mouse and keyboard, against attn.decoding."""

import numpy as np
import pytest
import torch

from attn.decoding import next_token_probabilities
from tests.test_site.conftest import each_edition, state_of

SHOWN = 9

chapter = each_edition("09_decoding.html")


@pytest.fixture
def page(chapter):
    chapter.reload()
    chapter.locator("[data-attn=sampling]").wait_for()
    return chapter


def column(page, hook):
    script = "(nodes) => nodes.map((node) => Number(node.getAttribute('data-value')))"
    return np.array(page.locator(f"td[data-attn={hook}]").evaluate_all(script))


def wanted(page, context=0, **settings):
    """Return what the table should show: the largest, and the sum of the rest."""
    logits = torch.tensor(
        state_of(page, "sampling_explorer")["contexts"][context]["logits"], dtype=torch.float64
    )
    order = logits.argsort(descending=True, stable=True)
    p = next_token_probabilities(logits, **settings)[order].numpy()
    return np.append(p[:SHOWN], p[SHOWN:].sum())


def test_it_opens_with_what_the_model_says(page):
    for hook in ("model", "draw"):
        np.testing.assert_allclose(column(page, hook), wanted(page), atol=1e-9)


def test_filters_by_keyboard(page):
    for context in range(3):
        page.locator("[data-attn=context]").nth(context).check()
        page.locator("[data-attn=top_k]").focus()
        page.keyboard.press("Home")
        for _ in range(2):
            page.keyboard.press("ArrowRight")
        np.testing.assert_allclose(column(page, "draw"), wanted(page, context, top_k=3), atol=1e-9)
        page.keyboard.press("End")
        page.locator("[data-attn=top_p]").focus()
        for _ in range(10):
            page.keyboard.press("ArrowLeft")
        np.testing.assert_allclose(
            column(page, "draw"), wanted(page, context, top_p=0.9), atol=1e-9
        )
        page.keyboard.press("End")
    slider = page.locator("[data-attn=temperature]")
    slider.focus()
    page.keyboard.press("Home")
    np.testing.assert_allclose(column(page, "draw"), wanted(page, 2, temperature=0.1), atol=1e-9)


def test_what_is_removed_is_said_in_words_too(page):
    page.locator("[data-attn=top_k]").focus()
    page.keyboard.press("Home")
    assert page.locator("[data-attn=row][data-gone]").count() == SHOWN
    gone = {"es": "quitada", "en": "removed"}[page.evaluate("document.documentElement.lang")]
    assert gone in page.locator("[data-attn=row][data-gone] th").first.text_content()
    assert "0.938" in page.locator("[data-attn=sampling] [data-attn=summary]").inner_text()


def test_draws_come_from_what_is_kept_and_are_forgotten_with_it(page):
    counts = page.locator("td[data-attn=count]")
    for _ in range(2):
        page.locator("button[data-attn=draw]").click()
    drawn = [int(text) for text in counts.all_inner_texts()]
    assert sum(drawn) == 200 and drawn[0] > 160 and drawn[-1] > 0
    page.locator("[data-attn=top_p]").focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    assert set(counts.all_inner_texts()) == {""}
    page.locator("button[data-attn=draw]").click()
    assert [int(text) for text in counts.all_inner_texts()] == [100] + SHOWN * [0]
    page.locator("[data-attn=again]").click()
    assert set(counts.all_inner_texts()) == {""}


def test_nothing_jumps_when_its_hand_moves(page):
    widget = page.locator("[data-attn=sampling]")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        heights = {widget.bounding_box()["height"]}
        page.locator("button[data-attn=draw]").click()
        heights.add(widget.bounding_box()["height"])
        page.locator("[data-attn=top_k]").focus()
        page.keyboard.press("Home")
        heights.add(widget.bounding_box()["height"])
        page.keyboard.press("End")
        assert max(heights) - min(heights) <= 1
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
