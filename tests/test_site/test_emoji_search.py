"""The EmojiSearch of chapter 11, driven by keyboard, against the model in Python."""

import pytest

from attn_course.emoji.searcher import EmojiSearcher


@pytest.fixture(scope="module", params=("es", "en"))
def page(request, browser, server):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(f"{server}/{request.param}/11_landscape.html#buscar-emojis")
    # Its script comes when the reader is near.
    page.locator("[data-anywidget=emoji_search]").scroll_into_view_if_needed()
    page.locator("[data-attn=emoji-search]").wait_for()
    yield page
    context.close()
    assert not errors


@pytest.fixture(scope="module")
def searcher():
    return EmojiSearcher.pretrained()


def shown(page):
    return page.locator("[data-attn=found] .attn-emoji").all_inner_texts()


def wait_for(page, emoji):
    page.wait_for_function(
        "(one) => document.querySelector('[data-attn=found] .attn-emoji')?.innerText === one",
        arg=emoji,
    )


def test_it_opens_with_a_result_and_loads_no_model(page):
    assert len(shown(page)) == 12
    assert page.evaluate("globalThis.attnModels?.emoji === undefined")


def test_what_is_typed_is_found_as_python_finds_it(page, searcher):
    page.locator("[data-attn=query]").focus()
    for query in ("cara feliz", "yellow circle"):
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(query)
        found = searcher.search(query, 12)
        wait_for(page, found[0].emoji)
        assert shown(page) == [one.emoji for one in found]
        unseen = page.locator("[data-attn=found]").evaluate_all(
            "(tiles) => tiles.map((tile) => 'unseen' in tile.dataset)"
        )
        assert unseen == [not one.seen for one in found]


def test_it_searches_among_the_unseen_and_refuses_nothing_typed(page, searcher):
    page.locator("[data-attn=query]").fill("blue heart")
    page.locator("[data-attn=among][value=unseen]").check()
    unseen = [one for one in searcher.search("blue heart", 2000) if not one.seen][:12]
    wait_for(page, unseen[0].emoji)
    assert shown(page) == [one.emoji for one in unseen]
    page.locator("[data-attn=query]").fill("  ")
    page.locator("[data-attn=find]").click()
    page.wait_for_selector("[data-attn=emoji-search] [data-attn=note][data-bad]")
    assert not shown(page)


def test_a_phone_shows_it_without_scrolling_sideways(page):
    page.set_viewport_size({"width": 360, "height": 740})
    page.locator("[data-attn=query]").fill("train")
    page.locator("[data-attn=found]").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
