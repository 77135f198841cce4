"""Chapter 01 in a real browser, by its address and from the folder, wide and narrow."""

import math

import pytest

CHAPTER = "01_why_attention.html"


@pytest.fixture(params=[("http", 1280), ("file", 390)], ids=["http-1280", "file-390"])
def page(browser, server, site, request):
    scheme, width = request.param
    address = server if scheme == "http" else site.as_uri()
    context = browser.new_context(viewport={"width": width, "height": 900})
    tab = context.new_page()
    tab.errors = []
    tab.on("pageerror", lambda error: tab.errors.append(str(error)))
    tab.goto(f"{address}/es/{CHAPTER}")
    tab.wait_for_selector("[data-anywidget=live_translator][data-attn-mounted]")
    yield tab
    assert tab.errors == []
    context.close()


def test_every_widget_is_alive_and_the_page_no_wider_than_the_window(page):
    assert page.locator("[data-anywidget]").count() == 5
    assert page.locator("[data-anywidget][data-attn-mounted]").count() == 5
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_is_asked_for_gets_the_weight_by_keyboard(page):
    asker = page.locator("[data-anywidget=patch_asker]")
    # The figure stands before the folded code that prepares it, which the notebook has first.
    follows = "node => node.compareDocumentPosition(document.querySelector('article details')) & 4"
    assert asker.evaluate(follows)
    weights = asker.locator("[data-attn=weight]")
    assert {weights.nth(i).inner_text() for i in range(9)} == {"0.11"}
    asker.locator("input[type=radio]").first.check()
    assert weights.nth(7).inner_text() == "0.85"
    for _ in range(4):  # the upright cross, the X, the T, the L
        page.keyboard.press("ArrowDown")
    assert float(weights.nth(0).inner_text()) > 0.9
    asker.locator("input[type=range]").focus()
    page.keyboard.press("Home")
    assert {weights.nth(i).inner_text() for i in range(9)} == {"0.11"}
    assert "mancha" in asker.locator("[data-attn=summary]").inner_text()


def test_the_marked_card_has_the_weight_that_the_prose_gives(page):
    playground = page.locator("[data-anywidget=softmax_playground]")
    # Four at e⁴ against two at 1, and a little more by keyboard.
    assert f"{math.exp(4) / (math.exp(4) + 2):.3f}" in playground.inner_text()
    playground.locator("input[type=range]").nth(2).focus()
    for _ in range(30):
        page.keyboard.press("ArrowRight")
        if playground.locator("[data-attn=weight]").nth(1).inner_text() >= "0.990":
            break
    else:
        pytest.fail("the weight of card 2 never reaches 0.99")


def test_the_translator_opens_on_the_red_house_and_translates_another(page):
    widget = page.locator("[data-anywidget=live_translator]")
    assert "la casa roja" in widget.inner_text()
    widget.locator("[data-attn=pick]").select_option("marta gives roses to sara")
    page.wait_for_function(
        "document.querySelector('[data-anywidget=live_translator]').innerText.includes('rosas')"
    )


def test_a_question_answers(page):
    quiz = page.locator("[data-anywidget=quiz]").nth(1)
    quiz.locator("input[type=radio]").nth(1).check()
    quiz.locator("[data-attn=check]").first.click()
    assert "qué iba con qué" in quiz.inner_text()
