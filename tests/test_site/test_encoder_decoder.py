"""The layer explorer of chapter 05, used by mouse and keyboard; its numbers against NumPy."""

import numpy as np
import pytest

from attn_course.widgets import layer_explorer
from tests.test_site.conftest import each_edition, state_of

chapter = each_edition("05_encoder_decoder.html")


@pytest.fixture
def page(chapter):
    chapter.set_viewport_size({"width": 1280, "height": 900})
    chapter.reload()
    chapter.locator("[data-attn=layers]").wait_for()
    return chapter


@pytest.fixture
def figure(page):
    return page.locator("[data-attn=layers]")


def vectors(page, residual=True, norm="post"):
    given = state_of(page, "layer_explorer")
    return layer_explorer.stack(given["x"], given["layers"], residual, norm)


def shown(figure, name):
    cells = figure.locator(f"[data-attn=matrix-{name}] td")
    values = cells.evaluate_all("ns => ns.map(n => Number(n.getAttribute('data-value')))")
    return np.reshape(values, (-1, 4))


def curve(figure, name):
    text = figure.locator(f"b[data-attn={name}]").get_attribute("data-values")
    return np.array([float(value) for value in text.split()])


def test_the_input_of_each_layer_is_the_output_of_the_previous_one(page, figure):
    expected = vectors(page)
    for layer in (1, 7, 12):
        figure.locator("[data-attn=layer]").fill(str(layer))
        figure.locator("[data-attn=step]").first.click()
        np.testing.assert_allclose(shown(figure, "before"), expected[layer - 1], atol=1e-6)
        figure.locator("[data-attn=step]").last.click()
        np.testing.assert_allclose(shown(figure, "after"), expected[layer], atol=1e-6)


@pytest.mark.parametrize("norm", layer_explorer.NORMS)
def test_removing_residuals_or_norms_changes_the_similarity_and_gradient_curves(page, figure, norm):
    figure.locator(f"[data-attn=norm][value={norm}]").check()
    for residual in (True, False):
        figure.locator("[data-attn=residual]").set_checked(residual)
        expected = [layer_explorer._mean_cosine(x) for x in vectors(page, residual, norm)]
        np.testing.assert_allclose(curve(figure, "similarity"), expected, atol=1e-6)
        first = curve(figure, "gradient")[0]
        assert (first > 0.01) == residual
        skipped = figure.locator("[data-attn=step][data-skipped]").count()
        assert skipped == 2 * (not residual) + 2 * (norm == "none")


def test_the_three_matrices_of_a_sum_add_up(figure):
    figure.locator("[data-attn=step]").nth(1).click()
    before, computed, after = (shown(figure, n) for n in ("before", "computed", "after"))
    np.testing.assert_allclose(before + computed, after, atol=1e-9)


def test_steps_and_switch_by_keyboard(page, figure):
    figure.locator("[data-attn=step]").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    assert figure.locator("[data-attn=step]").nth(5).get_attribute("aria-selected") == "true"
    figure.locator("[data-attn=residual]").focus()
    page.keyboard.press("Space")
    assert curve(figure, "similarity")[4] > 0.999
    figure.locator("[data-attn=layer]").focus()
    page.keyboard.press("ArrowRight")
    assert "2" in figure.locator("[data-attn=summary]").inner_text()


def test_a_token_is_chosen_in_any_matrix(figure):
    row = figure.locator("[data-attn=matrix-after] [data-attn=row]").nth(2)
    row.click()
    assert row.inner_text() in ("camina", "walks")
    assert row.inner_text() in figure.locator("[data-attn=sum]").inner_text()
    pressed = figure.locator("[data-attn=row][aria-pressed=true]")
    assert set(pressed.all_inner_texts()) == {row.inner_text()}


@pytest.mark.parametrize("width", (1280, 390))
def test_stepping_does_not_move_the_buttons(tab, server, width):
    finger = width == 390
    page = tab(viewport={"width": width, "height": 900}, has_touch=finger, is_mobile=finger)
    page.goto(f"{server}/en/05_encoder_decoder.html")
    figure = page.locator("[data-attn=layers]")
    button = figure.locator("[data-attn=next]")
    tops = []
    for step in range(6):
        chosen = figure.locator("[data-attn=step][aria-selected=true]")
        assert chosen.get_attribute("data-step") == str(step + 1)
        tops.append(button.evaluate("n => n.getBoundingClientRect().top + scrollY"))
        button.press("Enter")
    assert max(tops) - min(tops) <= 1
    assert page.evaluate("document.activeElement.dataset.attn") == "next"


def test_a_number_that_rounds_to_zero_has_no_sign(figure):
    figure.locator("[data-attn=residual]").uncheck()
    figure.locator("[data-attn=norm][value=none]").check()
    figure.locator("[data-attn=layer]").fill("11")
    texts = set(figure.locator("[data-attn=matrix-after] td").all_inner_texts())
    assert texts == {"0"} and (shown(figure, "after") < 0).any()
