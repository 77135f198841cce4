"""The map of sentences in appendix A3 and laboratory 13, driven by mouse and keyboard, with MiniLM in the page."""

import numpy as np
import pytest

from attn_course import minilm
from tests.test_site.conftest import each_edition, state_of

chapter = each_edition("A3_text_applications.html", reduced_motion="reduce")


@pytest.fixture
def page(chapter):
    chapter.goto(chapter.url.split("?")[0].split("#")[0])
    part(chapter, "point").first.wait_for()
    return chapter


def part(page, name):
    return page.locator("[data-attn=sentences]").first.locator(f"[data-attn={name}]")


def matrix(below, n):
    whole = np.zeros((n, n))
    whole[np.tril_indices(n, -1)] = below
    return whole + whole.T


def shown(page):
    return part(page, "near").evaluate_all("ns => ns.map((n) => Number(n.dataset.value))")


def test_the_map_and_its_list_follow_the_layer_and_the_point(page):
    one = state_of(page, "sentence_map")["sets"][0]
    n = len(one["sentences"])
    groups = np.array([sentence["group"] for sentence in one["sentences"]])
    for layer in (6, 0):
        part(page, "layer").fill(str(layer))
        cosines = matrix(one["cosines"][layer], n)
        for point in (0, 9):
            part(page, "point").nth(point).click()
            assert shown(page) == sorted(cosines[point], reverse=True)[:5]
        np.fill_diagonal(cosines, -1)
        same = int((groups[cosines.argmax(axis=1)] == groups).sum())
        assert int(part(page, "summary").get_attribute("data-value")) == same
        whole = np.eye(n) + matrix(one["cosines"][layer], n)
        centred = whole - whole.mean(axis=0) - whole.mean(axis=1)[:, None] + whole.mean()
        values = np.linalg.eigvalsh(centred)
        share = float(part(page, "share").get_attribute("data-value"))
        assert share == pytest.approx(values[-2:].sum() / values.clip(0).sum(), abs=1e-6)


def test_points_are_chosen_by_arrow_keys_and_the_address_holds_them(page):
    part(page, "point").first.focus()
    page.keyboard.press("ArrowRight")
    assert part(page, "point").nth(1).get_attribute("aria-checked") == "true"
    part(page, "layer").fill("2")
    wanted, sent = shown(page), page.evaluate("location.href")
    assert "?point=2&layer=2#clas" in sent
    page.goto("about:blank")
    page.goto(sent)
    part(page, "near").first.wait_for()
    assert shown(page) == wanted and part(page, "address").is_hidden()
    page.goto(sent.split("?")[0] + "?layer=9")
    part(page, "address").wait_for()
    assert part(page, "address").inner_text().count(".") == 1


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible_and_no_wider_than_the_page(page, violations, width, scheme):
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = [one for one in violations(page) if "attn-sentences" in one or "attn-map" in one]
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")
    assert not found


def test_the_model_in_the_page_puts_sentences_of_ones_own_on_the_map(needed, browser, server):
    """And a word in contexts of one's own; the address shows a friend the same."""
    needed("model_in_the_page")
    needed("minilm")
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(60_000)
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(f"{server}/en/L13_what_attention_computes.html")
    part(page, "load").click()
    part(page, "own").wait_for(state="visible")
    part(page, "begin").click()
    assert part(page, "own-note").inner_text() == "Write a sentence first."
    part(page, "own-sentences").fill("\n".join(f"Bank {n}" for n in range(13)))
    part(page, "begin").click()
    few = "There is room for 12 sentences, and you wrote 13."
    assert part(page, "own-note").inner_text() == few
    mine = ["We sat by the water on the bank", "The bank closed my account", "No such word here"]
    part(page, "own-sentences").fill("\n".join(mine))
    part(page, "begin").click()
    stored = state_of(page, "sentence_map")["sets"][0]["sentences"]
    part(page, "point").nth(len(stored) + 1).wait_for()
    assert part(page, "point").count() == len(stored) + 2
    assert part(page, "own-note").inner_text().endswith("“bank” are left out: 1 of yours.")
    texts = [one["text"] for one in stored] + mine[:2]
    vectors = minilm.at_every_layer(*minilm.model(), texts, "bank")
    for layer in (0, 6):
        part(page, "layer").fill(str(layer))
        cosines = vectors[layer] @ vectors[layer].T
        wanted = sorted(np.delete(cosines[len(stored)], len(stored)), reverse=True)[:5]
        assert shown(page) == pytest.approx(wanted, abs=0.01)
    sent, wanted = page.evaluate("location.href"), shown(page)
    assert "sentences=We+sat" in sent and "&word=bank#bank-" in sent
    page.goto("about:blank")
    page.goto(sent)
    assert (
        part(page, "address").inner_text().startswith("The address of this page holds sentences.")
    )
    page.get_by_role("button", name="Open the model, already kept").last.click()
    part(page, "point").nth(len(stored) + 1).wait_for()
    assert shown(page) == pytest.approx(wanted, abs=1e-6) and page.evaluate("location.href") == sent
    part(page, "own-word").fill("blue")
    part(page, "own-sentences").fill("The sky is blue\nI feel blue today\nShe is sad and blue")
    part(page, "begin").click()
    page.wait_for_function("() => document.querySelectorAll('[data-attn=point]').length === 3")
    part(page, "own-word").fill("whale")
    part(page, "begin").click()
    few = "It takes at least three sentences with “whale”."
    part(page, "own-note").filter(has_text=few).wait_for()
    part(page, "forget").click()
    page.wait_for_function("async () => !(await caches.has('attn-minilm'))")
    assert part(page, "point").count() == len(stored) and not errors
    context.close()
