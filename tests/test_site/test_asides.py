"""The short way through a chapter, and how its asides open."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = tomllib.loads((ROOT / "book" / "chapters.toml").read_text(encoding="utf-8"))["chapter"]
ASIDES = {chapter["page"]: chapter["aside"] for chapter in CHAPTERS if "aside" in chapter}
CHAPTER = "03_self_attention"
PHONE = {"width": 390, "height": 844}
OPEN = "all => all.map(aside => aside.open)"


def test_asides_open_without_a_script_and_say_what_they_bring(tab, server):
    page = tab(short=True, java_script_enabled=False)
    for name, asides in ASIDES.items():
        page.goto(f"{server}/en/{name}.html", wait_until="load")
        lines = page.locator("details.attn-more > summary > span").all_inner_texts()
        assert set(lines) >= {aside["en"] for aside in asides}
        assert len(lines) == len(asides) + 1, "the exercises are one as well"
        assert not any(page.locator("details.attn-more").evaluate_all(OPEN))
    aside = page.locator(".attn-aside").first
    assert aside.locator("> :is(h2, h3)").is_visible()
    assert not aside.locator("> details > p").first.is_visible()
    aside.locator("> details > summary").focus()
    page.keyboard.press("Enter")
    assert aside.locator("> details > p").first.is_visible()
    assert not page.locator(".attn-all").is_visible()


@pytest.mark.parametrize("language", ("es", "en"))
def test_no_chapter_is_long_on_a_phone_with_its_asides_closed(tab, server, language):
    page = tab(short=True, viewport=PHONE, reduced_motion="reduce")
    screens = {}
    for name in ASIDES:
        # Opened at a place, a page has its true height at once.
        page.goto(f"{server}/{language}/{name}.html#main", wait_until="networkidle")
        screens[name] = page.evaluate("document.documentElement.scrollHeight / innerHeight")
    assert {name: height for name, height in screens.items() if height > 25} == {}


def test_links_and_searches_lead_into_asides(tab, server):
    page = tab(short=True, viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    inside = "la-softmax-por-bloques"  # a section of an aside
    page.goto(f"{server}/es/{CHAPTER}.html#{inside}", wait_until="networkidle")
    top = f"document.getElementById({inside!r}).getBoundingClientRect().top"
    assert page.locator(".attn-aside:has(:target) > details").evaluate_all(OPEN) == [True]
    page.wait_for_function(f"0 < {top} && {top} < 200")
    assert page.locator("details.attn-more[open]").count() == 1
    # In the contents, where asides are marked.
    marked = page.locator("nav:visible a.attn-to-aside", has_text="Lo que los pesos no son")
    assert re.search(r"\(aparte\)\s+\d min", marked.text_content())
    marked.click()
    assert page.locator("#lo-que-los-pesos-no-son > details").evaluate("aside => aside.open")
    page.goto(f"{server}/es/search.html?q=explorer+softmax", wait_until="networkidle")
    link = page.locator(f".attn-results a[href*={CHAPTER!r}][href*='#']").first
    link.click()
    page.wait_for_url("**#*")
    assert page.locator("details.attn-more:not([open]) :target").count() == 0
    assert page.errors == []


def test_all_open_at_once_and_this_is_remembered(tab, server):
    page = tab(short=True)
    page.goto(f"{server}/en/{CHAPTER}.html")
    asides, button = page.locator("details.attn-more"), page.locator(".attn-all")
    assert re.fullmatch(
        r"Short way: \d\d min. With the \d+ asides: 60 min.", page.locator(".attn-way").inner_text()
    )
    assert button.inner_text() == "Open the asides"
    button.focus()
    page.keyboard.press("Enter")
    assert all(asides.evaluate_all(OPEN)) and button.inner_text() == "Close the asides"
    page.goto(f"{server}/en/01_why_attention.html")
    assert all(asides.evaluate_all(OPEN))
    button.click()
    assert not any(asides.evaluate_all(OPEN))
    page.reload()
    assert not any(asides.evaluate_all(OPEN))
    # One of them by its heading.
    page.locator(".attn-aside > h2").first.click()
    assert sum(asides.evaluate_all(OPEN)) == 1


def test_paper_has_the_asides(tab, server):
    page = tab(short=True)
    page.goto(f"{server}/en/{CHAPTER}.html")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert all(page.locator("details.attn-more").evaluate_all(OPEN))
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not any(page.locator("details.attn-more").evaluate_all(OPEN))


def test_the_language_switch_leads_into_the_same_aside(tab, server):
    page = tab(short=True, viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    page.goto(f"{server}/es/{CHAPTER}.html#lo-que-los-pesos-no-son", wait_until="networkidle")
    page.evaluate("scrollBy({top: 600, behavior: 'instant'})")
    page.wait_for_timeout(300)
    page.locator(".attn-twin").click()
    page.wait_for_url("**/en/*#what-the-weights-are-not")
    assert page.locator("details.attn-more[open]").count() == 1
    assert page.locator("#what-the-weights-are-not > details").evaluate("aside => aside.open")
    top = page.evaluate(
        "document.getElementById('what-the-weights-are-not').getBoundingClientRect().top"
    )
    assert -1000 < top < -200
