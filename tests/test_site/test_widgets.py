"""The explorers of chapter 3's laboratory and the quiz of chapter 3, driven by hand and keyboard."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from attn import reference

LANGUAGES = ("es", "en")
TOLERANCE = 1e-6


@pytest.fixture(scope="module", params=LANGUAGES)
def window(request, browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.language = request.param
    yield page
    context.close()


def opened(page, server, name):
    page.goto("about:blank")
    page.goto(f"{server}/{page.language}/{name}.html")
    page.locator("[data-attn=explorer], [data-attn=quiz]").first.wait_for()
    return page


@pytest.fixture
def page(window, server):
    """The laboratory as it is when it is opened."""
    return opened(window, server, "L03_self_attention")


@pytest.fixture
def story(window, server):
    """The chapter as it is when it is opened."""
    return opened(window, server, "03_self_attention")


def states(page, name):
    """Return the JSON state of every widget of a kind, in page order."""
    script = "ws => ws.map(w => w.querySelector('script[type=\"application/json\"]').textContent)"
    found = page.locator(f"[data-anywidget={name}]").evaluate_all(script)
    return [json.loads(text) for text in found]


def values(locator, attribute="data-value"):
    texts = locator.evaluate_all("(ns, a) => ns.map(n => n.getAttribute(a))", attribute)
    return np.array([float(text.replace("Infinity", "inf")) for text in texts])


def expected(state, *, scaled=True, mask="none", temperature=1.0):
    """Return scores, weights and output, computed by the NumPy oracle."""
    query, key, value = (np.array(state[name], dtype=float) for name in ("query", "key", "value"))
    n = len(key)
    allowed = reference.causal_mask(n) if mask == "causal" else None
    # The oracle always divides by √d_k: undo it where the widget does not, apply the temperature.
    factor = (1 if scaled else np.sqrt(query.shape[-1])) / temperature
    output, weights = reference.scaled_dot_product_attention(query * factor, key, value, allowed)
    return query @ key.T, weights, output


def heat(explorer):
    weights = values(explorer.locator("[data-attn=heat-cell]"), "data-weight")
    return weights.reshape(2 * [int(np.sqrt(len(weights)))])


def explorers(page):
    return [
        (page.locator("[data-attn=explorer]").nth(i), state)
        for i, state in enumerate(states(page, "attention_explorer"))
    ]


def test_every_explorer_opens_with_the_right_weights(page):
    found = explorers(page)
    assert len(found) == 3
    for explorer, state in found:
        _, weights, _ = expected(state, scaled=state["scaled"])
        np.testing.assert_allclose(heat(explorer), weights, atol=TOLERANCE)
        lines = values(explorer.locator("[data-attn=link]"), "data-weight")
        np.testing.assert_allclose(lines, weights[state["row"]], atol=TOLERANCE)


def test_scaling_mask_and_temperature_by_keyboard(page):
    for explorer, state in explorers(page):
        scaled = not state["scaled"]
        explorer.locator("[data-attn=scaled]").focus()
        page.keyboard.press("Space")
        explorer.locator("[data-attn=mask]").first.focus()
        page.keyboard.press("ArrowRight")
        slider = explorer.locator("[data-attn=temperature]")
        slider.focus()
        page.keyboard.press("ArrowRight")
        # What is shown is what is computed with: the slider rounds it to two decimals.
        temperature = float(slider.get_attribute("aria-valuetext").split()[-1])
        assert temperature > 1
        shown = heat(explorer)
        _, weights, _ = expected(state, scaled=scaled, mask="causal", temperature=temperature)
        np.testing.assert_allclose(shown, weights, atol=TOLERANCE)
        assert (shown[np.triu_indices(len(shown), 1)] == 0).all()
        masked = explorer.locator("[data-attn=heat-cell][data-masked]")
        assert masked.count() == len(shown) * (len(shown) - 1) / 2


def test_mask_and_scaling_to_full_precision(page):
    for explorer, state in explorers(page):
        explorer.locator("[data-attn=mask][value=causal]").check()
        for scaled in (True, False):
            explorer.locator("[data-attn=scaled]").set_checked(scaled)
            _, weights, _ = expected(state, scaled=scaled, mask="causal")
            np.testing.assert_allclose(heat(explorer), weights, atol=TOLERANCE)


@pytest.mark.parametrize("by", ["click", "keyboard", "heat map"])
def test_a_token_is_chosen(page, by):
    explorer, state = explorers(page)[0]
    if by == "click":
        explorer.locator("[data-attn=query-token]").nth(5).click()
    elif by == "keyboard":
        explorer.locator("[data-attn=query-token][aria-checked=true]").focus()
        for _ in range(3):
            page.keyboard.press("ArrowRight")
    else:
        explorer.locator("[data-attn=heat-row]").nth(5).click()
    _, weights, _ = expected(state, scaled=state["scaled"])
    page.mouse.move(0, 0)
    lines = values(explorer.locator("[data-attn=link]"), "data-weight")
    np.testing.assert_allclose(lines, weights[5], atol=TOLERANCE)
    said = explorer.locator("[data-attn=summary]").inner_text()
    assert state["tokens"][5] in said


def test_hovering_shows_a_row_and_leaving_restores_it(page):
    explorer, state = explorers(page)[0]
    _, weights, _ = expected(state, scaled=state["scaled"])
    explorer.locator("[data-attn=query-token]").nth(1).hover()
    np.testing.assert_allclose(
        values(explorer.locator("[data-attn=link]"), "data-weight"), weights[1], atol=TOLERANCE
    )
    page.mouse.move(0, 0)
    np.testing.assert_allclose(
        values(explorer.locator("[data-attn=link]"), "data-weight"), weights[2], atol=TOLERANCE
    )


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_a_key_pointed_at_is_marked_in_every_view(page, by):
    for explorer, _ in explorers(page):
        key = explorer.locator("[data-attn=key-token]").nth(1)
        page.mouse.move(0, 0)
        if by == "mouse":
            key.hover()
        else:
            explorer.locator("[data-attn=key-token]").first.focus()
            page.keyboard.press("ArrowRight")
        marked = explorer.locator("[data-hot]").evaluate_all(
            "ns => ns.map(n => [n.localName, n.dataset.col])"
        )
        assert sorted(marked) == [[name, "1"] for name in ("button", "path", "td", "th", "tr")]
        head = explorer.locator("th[data-hot][scope=col]")
        assert head.evaluate("n => getComputedStyle(n).boxShadow") != "none"
        line = explorer.locator("path[data-hot]").evaluate(
            "n => { const s = getComputedStyle(n); return [s.stroke, s.strokeOpacity, s.strokeWidth]; }"
        )
        assert line[:2] == [key.evaluate("n => getComputedStyle(n).color"), "1"]
        assert float(line[2].removesuffix("px")) >= 2
        page.mouse.move(0, 0)
        page.keyboard.press("Tab")
        assert explorer.locator("[data-hot]").count() == 0


def test_the_summary_names_every_key_that_ties(page):
    explorer, state = explorers(page)[1]
    assert state["tokens"][state["row"]] == "they"
    said = {
        "es": "«they» atiende sobre todo a «John» y «Paul»: 0.47 cada uno.",
        "en": "“they” attends most to “John” and “Paul”: 0.47 each.",
    }
    assert explorer.locator("[data-attn=summary]").inner_text() == said[page.language]


def test_the_four_steps_show_the_arithmetic_of_the_row(page):
    for explorer, state in explorers(page):
        row = state["row"]
        scores, weights, output = expected(state, scaled=state["scaled"])
        root = np.sqrt(len(state["query"][0])) if state["scaled"] else 1
        np.testing.assert_allclose(
            values(explorer.locator("[data-step='1'] [data-attn=score]")),
            scores[row],
            atol=TOLERANCE,
        )
        explorer.locator("[data-attn=next]").click()
        np.testing.assert_allclose(
            values(explorer.locator("[data-step='2'] [data-attn=scaled-score]")),
            scores[row] / root,
            atol=TOLERANCE,
        )
        explorer.locator("[data-attn=step][data-step='2']").focus()
        page.keyboard.press("ArrowRight")
        np.testing.assert_allclose(
            values(explorer.locator("[data-step='3'] [data-attn=weight]")),
            weights[row],
            atol=TOLERANCE,
        )
        explorer.locator("[data-attn=step][data-step='4']").click()
        shown = explorer.locator("[data-step='4'] [data-attn=output]").evaluate_all(
            "ns => ns.flatMap(n => n.getAttribute('data-value').split(' ').map(Number))"
        )
        np.testing.assert_allclose(shown, output[row], atol=TOLERANCE)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_button_stays_under_the_finger_that_presses_it(tab, server, width):
    finger = width == 390
    page = tab(viewport={"width": width, "height": 844}, has_touch=finger, is_mobile=finger)
    page.goto(f"{server}/es/L03_self_attention.html")
    for explorer, _ in explorers(page):
        button = explorer.locator("[data-attn=next]")
        tops = []
        for step in range(1, 5):
            shown = explorer.locator("[data-attn=panel]:visible")
            assert shown.get_attribute("data-step") == str(step)
            tops.append(button.evaluate("n => n.getBoundingClientRect().top + scrollY"))
            button.press("Enter")
        assert np.ptp(tops) <= 1
        assert page.evaluate("document.activeElement.dataset.attn") == "next"
        # Whoever tabs on from the buttons comes to what they changed.
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.dataset.attn") == "panel"


def test_a_finger_can_do_it_too(browser, server):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.goto(f"{server}/es/L03_self_attention.html")
    for explorer, state in explorers(page):
        explorer.locator("[data-attn=query-token]").last.tap()
        _, weights, _ = expected(state, scaled=state["scaled"])
        lines = values(explorer.locator("[data-attn=link]"), "data-weight")
        np.testing.assert_allclose(lines, weights[-1], atol=TOLERANCE)
        box = explorer.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    targets = page.locator(".attn-w :is(button, label:has(input), input[type=range]):visible")
    heights = targets.evaluate_all("ns => ns.map(n => n.getBoundingClientRect().height)")
    assert min(heights) >= 43.9
    context.close()


@pytest.mark.parametrize("width, last", [(390, "matrix"), (1280, "steps")])
def test_on_a_phone_the_steps_come_before_the_matrix(browser, server, width, last):
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.goto(f"{server}/es/L03_self_attention.html")
    for explorer, _ in explorers(page):
        parts = explorer.locator(".attn-explorer-matrix, .attn-explorer-steps")
        order = parts.evaluate_all("ns => ns.map(n => n.className.split('-').at(-1))")
        assert order[-1] == last
        tops = parts.evaluate_all("ns => ns.map(n => n.getBoundingClientRect().top)")
        assert tops == sorted(tops)
    page.set_viewport_size({"width": 1670 - width, "height": 844})
    for explorer, _ in explorers(page):
        parts = explorer.locator(".attn-explorer-matrix, .attn-explorer-steps")
        expect(parts.last).not_to_have_class(re.compile(last))
    page.close()


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_every_number_of_a_step_fits_without_scrolling(browser, server, width):
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.goto(f"{server}/es/L03_self_attention.html")
    for explorer, _ in explorers(page):
        for step in range(1, 5):
            explorer.locator(f"[data-attn=step][data-step='{step}']").click()
            room = explorer.locator(f"[data-attn=panel][data-step='{step}'] .attn-w-scroll")
            assert room.evaluate("n => n.scrollWidth - n.clientWidth") <= 1
        tokens = explorer.locator(".attn-explorer-sentence > .attn-w-scroll")
        assert tokens.evaluate("n => n.scrollWidth - n.clientWidth") <= 1
    page.close()


def test_the_softmax_playground_by_keyboard(page):
    playground = page.locator("[data-attn=playground]").first
    (state,) = states(page, "softmax_playground")
    scores = np.array(state["scores"])
    shown = values(playground.locator("[data-attn=weight]"))
    np.testing.assert_allclose(shown, reference.softmax(scores), atol=TOLERANCE)
    slider = playground.locator("[data-attn=score-slider]").nth(0)
    slider.focus()
    page.keyboard.press("End")
    scores[0] = float(slider.input_value())
    shown = values(playground.locator("[data-attn=weight]"))
    np.testing.assert_allclose(shown, reference.softmax(scores), atol=TOLERANCE)
    bits = -(shown * np.log2(shown)).sum()
    np.testing.assert_allclose(values(playground.locator("[data-attn=entropy]")), [bits], atol=1e-6)


def test_adding_the_same_to_every_score_changes_nothing(page):
    """The answer to the chapter's first question, found by hand in the widget."""
    playground = page.locator("[data-attn=playground]").first
    before = values(playground.locator("[data-attn=weight]"))
    for slider in playground.locator("[data-attn=score-slider]").all():
        slider.focus()
        page.keyboard.press("ArrowRight")
    (state,) = states(page, "softmax_playground")
    sliders = playground.locator("[data-attn=score-slider]")
    moved = [float(slider.input_value()) for slider in sliders.all()]
    np.testing.assert_allclose(moved, np.array(state["scores"]) + 0.05, atol=TOLERANCE)
    after = values(playground.locator("[data-attn=weight]"))
    np.testing.assert_allclose(after, before, atol=TOLERANCE)


def test_every_question_answers_every_option(story):
    page, quizzes = story, states(story, "quiz")
    assert sum(len(state["questions"]) for state in quizzes) >= 4
    for i, state in enumerate(quizzes):
        quiz = page.locator("[data-attn=quiz]").nth(i)
        many = len(state["questions"]) > 1
        if many:  # it opens at the first that has no answer yet
            quiz.locator("[data-attn=back]").press("ArrowLeft")
        for n, question in enumerate(state["questions"], 1):
            if n > 1:
                quiz.locator("[data-attn=next]").click()
            if many:
                assert quiz.locator("[data-attn=question]:visible").count() == 1
                assert f"{n} " in quiz.locator("[data-attn=place]").inner_text()
            form = quiz.locator(f"[data-question={question['id']}]")
            for j, option in enumerate(question["options"]):
                form.locator("[data-attn=option]").nth(j).focus()
                page.keyboard.press("Space")
                form.locator("[data-attn=check]").click()
                said = form.locator("[data-attn=feedback]")
                assert said.get_attribute("data-verdict") == (
                    "right" if option["correct"] else "wrong"
                )
                assert len(said.inner_text()) > 40
                assert said.get_attribute("role") == "status"


def test_an_empty_answer_asks_for_one(story):
    page = story
    page.evaluate("localStorage.clear()")  # answers given before are kept
    page.reload()
    form = page.locator("[data-attn=question]").first
    form.locator("[data-attn=check]").click()
    asked = {"es": "Elige primero una opción.", "en": "Choose an option first."}
    assert form.locator("[data-attn=feedback]").inner_text() == asked[page.language]


def test_jupyterlab_gets_its_own_keys_back_and_no_others(page):
    """Lab looks at the attribute in the same event, when it comes down to the document."""
    page.evaluate(
        "document.addEventListener('keydown', (event) => { event.preventDefault(); window.seen = "
        "event.target.closest('[data-lm-suppress-shortcuts]') === null; }, true)"
    )
    control = page.locator("[data-attn=explorer] button[data-lm-suppress-shortcuts]:visible").first
    for key, is_labs in (
        ("Control+s", True),
        ("ArrowRight", False),
        ("x", False),
        ("Meta+s", True),
    ):
        control.press(key)
        assert page.evaluate("window.seen") == is_labs, key
        page.wait_for_function("document.activeElement.matches('[data-lm-suppress-shortcuts]')")
