"""The Continuation of chapter 12, driven by mouse and keyboard, against the state in its page."""

import json

import pytest

from tests.test_site.conftest import each_edition

chapter = each_edition("12_language_model.html", reduced_motion="reduce")


@pytest.fixture
def page(chapter):
    chapter.reload()
    chapter.locator("[data-attn=continuation]").first.wait_for()
    return chapter


def texts(page):
    text = page.locator("[data-anywidget=continuation] script").first.text_content()
    return json.loads(text)["texts"]


def part(page, name):
    return page.locator("[data-attn=continuation]").first.locator(f"[data-attn={name}]")


def shown(token):
    return token.replace("\n", "⏎").strip() or "␣"


def written(page):
    return part(page, "token").locator("span").all_inner_texts()


def along(tree, choices):
    for choice in choices:
        yield tree["best"][choice][0]
        tree = tree["next"][choice]


def test_the_text_goes_on_by_the_most_probable_token_and_each_step_shows_its_five(page):
    tree = texts(page)[0]["tree"]
    node, steps = tree, []
    while node:
        steps.append(node)
        node = node["next"][0]
    assert written(page) == [shown(step["best"][0][0]) for step in steps]
    for i, step in enumerate(steps):
        part(page, "token").nth(i).click()
        found = part(page, "option").evaluate_all("ns => ns.map(n => Number(n.dataset.p))")
        assert found == [p for _, p in step["best"]]
        assert part(page, "word").all_inner_texts() == [shown(token) for token, _ in step["best"]]


def test_another_token_leads_to_another_text(page):
    tree = texts(page)[0]["tree"]
    part(page, "token").nth(1).click()
    part(page, "option").nth(2).click()
    wanted, choices = [shown(token) for token in along(tree, [0, 2])], [0, 2]
    node = tree["next"][0]["next"][2]
    while node:
        wanted.append(shown(node["best"][0][0]))
        choices, node = [*choices, 0], node["next"][0]
    assert written(page) == wanted
    assert part(page, "token").nth(1).get_attribute("data-other") is not None
    part(page, "again").click()
    assert written(page) == ["…"]
    part(page, "one").click()
    assert written(page) == [shown(tree["best"][0][0]), "…"]


def test_steps_are_chosen_by_arrow_keys_and_a_token_by_enter(page):
    part(page, "token").first.focus()
    page.keyboard.press("ArrowRight")
    assert part(page, "token").nth(1).get_attribute("aria-checked") == "true"
    part(page, "option").nth(1).focus()
    page.keyboard.press("Enter")
    tree = texts(page)[0]["tree"]
    assert written(page)[:2] == [shown(token) for token in along(tree, [0, 1])]


def test_each_beginning_has_its_own_text(page):
    for i, told in enumerate(texts(page)):
        part(page, "prompt").nth(i).check()
        assert part(page, "begun").inner_text().strip() == told["prompt"].strip()
        assert written(page)[0] == shown(told["tree"]["best"][0][0])


def test_the_model_in_the_page_writes_what_python_stored(needed, browser, server):
    """And it takes another branch, is kept by the browser, and is forgotten."""
    needed("model_in_the_page")
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{server}/en/12_language_model.html")
    told = texts(page)[0]
    part(page, "load").click()
    part(page, "own").wait_for(state="visible")
    part(page, "own-prompt").fill(told["prompt"])
    part(page, "begin").click()
    node, steps = told["tree"], []
    while node:
        steps.append(node)
        node = node["next"][0]
    part(page, "token").nth(len(steps)).wait_for()
    part(page, "play").click()
    assert written(page)[: len(steps)] == [shown(step["best"][0][0]) for step in steps]
    for i, step in enumerate(steps):
        part(page, "token").nth(i).click()
        found = part(page, "option").evaluate_all("ns => ns.map(n => Number(n.dataset.p))")
        assert found == pytest.approx([p for _, p in step["best"]], abs=2e-3)
    part(page, "token").nth(1).click()
    part(page, "option").nth(1).click()
    part(page, "token").nth(4).wait_for()
    part(page, "play").click()
    assert written(page)[1] == shown(steps[1]["best"][1][0])
    assert page.evaluate("async () => (await (await caches.open('attn-model')).keys()).length") > 3
    part(page, "forget").click()
    page.wait_for_function("async () => !(await caches.has('attn-model'))")
    assert part(page, "prompt").count() == len(texts(page))
    assert part(page, "begun").inner_text().strip() == told["prompt"]
    context.close()


def test_nothing_is_clipped_on_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    inside = """(box) => [...box.querySelectorAll('button, label')].every((node) =>
        node.getBoundingClientRect().right <= box.getBoundingClientRect().right + 1)"""
    for box in page.locator("[data-attn=continuation]").all():
        assert box.evaluate(inside)
    page.set_viewport_size({"width": 1280, "height": 900})
