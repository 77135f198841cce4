"""The map of families and the WordGuesser of chapter 11, by mouse and keyboard, against their state."""

import pytest

from attn_course.widgets import load_families
from tests.test_site.conftest import each_edition, state_of

MODELS = ("masked", "causal", "recurrent")

chapter = each_edition("11_landscape.html")


@pytest.fixture
def page(chapter):
    chapter.reload()
    chapter.locator("[data-attn=guesser]").wait_for()
    return chapter


def assert_shows(page, told, hidden):
    checked = page.locator("[data-attn=word][aria-checked=true]")
    assert checked.all_inner_texts() == [told["words"][hidden]]
    for name in MODELS:
        guess, column = told[name][hidden], page.locator(f"[data-attn={name}]")
        right = column.locator("tr[data-right]")
        assert right.count() == 1
        assert right.locator("th > span").first.inner_text() == told["words"][hidden]
        shown = float(right.locator("[data-attn=p]").get_attribute("data-value"))
        assert shown == guess["right"]
        first = column.locator("[data-attn=row] th > span:first-child").first.inner_text()
        assert first == guess["best"][0][0]


def test_every_word_of_every_sentence_can_be_hidden(page):
    for i, told in enumerate(state_of(page, "word_guesser")["sentences"]):
        page.locator("[data-attn=sentence]").nth(i).check()
        assert_shows(page, told, 0)
        for hidden in range(len(told["words"])):
            page.locator("[data-attn=word]").nth(hidden).click()
            assert_shows(page, told, hidden)


def test_words_are_chosen_by_arrow_keys(page):
    told = state_of(page, "word_guesser")["sentences"][0]
    page.locator("[data-attn=word]").first.focus()
    page.keyboard.press("ArrowRight")
    assert_shows(page, told, 1)
    page.keyboard.press("End")
    assert_shows(page, told, len(told["words"]) - 1)
    # From the last word of a long sentence to a short one.
    page.locator("[data-attn=sentence]").nth(2).check()
    assert_shows(page, state_of(page, "word_guesser")["sentences"][2], 0)


def test_the_decoder_is_not_shown_what_follows(page):
    words = state_of(page, "word_guesser")["sentences"][0]["words"]
    page.locator("[data-attn=word]").nth(1).click()
    read = page.locator("[data-attn=causal] [data-attn=reads]").inner_text()
    assert words[0] in read and not any(word in read.split() for word in words[1:])


def test_nothing_is_clipped_on_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    inside = """(box) => [...box.querySelectorAll('td, th, button')].every((node) =>
        node.getBoundingClientRect().right <= box.getBoundingClientRect().right + 1)"""
    assert page.locator("[data-attn=guesser]").evaluate(inside)
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.fixture
def families(page):
    """The map as it is when the page is opened, and the families in its language."""
    found = page.locator("[data-attn=families]")
    found.wait_for()
    return found, {f["name"]: f for f in load_families(page.locator("html").get_attribute("lang"))}


def test_a_family_that_is_touched_says_what_it_changed_and_lights_its_parts(families):
    found, by_name = families
    assert found.locator("[data-attn=model]").all_inner_texts() == list(by_name)
    for name in ("gpt-oss", "SmolLM2"):
        found.locator("[data-attn=model]", has_text=name).click()
        told = found.locator("[data-attn=told]").inner_text()
        assert by_name[name]["change"] in told and by_name[name]["course"] in told
        lit = found.locator("[data-attn=part][data-changed]")
        parts = [part.get_attribute("data-part") for part in lit.all()]
        assert sorted(parts) == sorted(by_name[name]["parts"])


def test_a_part_that_is_touched_marks_the_families_that_changed_it(families):
    found, by_name = families
    weights = found.locator("[data-part=weights]")
    weights.click()
    changed = [name for name, family in by_name.items() if "weights" in family["parts"]]
    assert found.locator("[data-marked]").all_inner_texts() == changed
    said = found.locator("[data-attn=who]").inner_text()
    assert all(name in said for name in changed)
    weights.click()
    assert found.locator("[data-marked]").count() == 0


def test_families_are_chosen_by_arrow_keys(families):
    found, by_name = families
    chosen = found.locator("[data-attn=model][aria-checked=true]")
    chosen.focus()
    found.page.keyboard.press("ArrowRight")
    assert chosen.inner_text() == list(by_name)[list(by_name).index("BERT") + 1]
    found.page.keyboard.press("End")
    assert chosen.inner_text() == list(by_name)[-1]


def test_the_map_fits_on_a_phone(families):
    found, _ = families
    page = found.page
    page.set_viewport_size({"width": 360, "height": 740})
    inside = """(box) => [...box.querySelectorAll('button')].every((node) =>
        node.getBoundingClientRect().right <= box.getBoundingClientRect().right)"""
    assert found.evaluate(inside)
    page.set_viewport_size({"width": 1280, "height": 900})
