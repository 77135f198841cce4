"""The place in the book: marked and in view in the contents, and kept by the language switch."""

import runpy
from pathlib import Path

import lxml.html
import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADINGS = ("h1", "h2", "h3", "h4", "h5")
IN_VIEW = """link => {
  const [box, frame] = [link, link.closest("nav")].map(node => node.getBoundingClientRect());
  return box.height > 0 && box.top >= frame.top && box.bottom <= Math.min(frame.bottom, innerHeight);
}"""


def marked(page, nav):
    """Return the text of the link that marks the current place; the link must be in view."""
    link = page.locator(
        f"{nav} a[aria-current=location], {nav}:not(:has([aria-current=location])) a[aria-current=page]"
    )
    page.wait_for_function(IN_VIEW, arg=link.element_handle())
    return link.inner_text().strip()


@pytest.mark.parametrize(
    ("language", "last"), [("es", "Para seguir leyendo"), ("en", "Further reading")]
)
@pytest.mark.parametrize(
    ("width", "nav", "links"),
    [(1100, ".attn-sidebar", "li.current li > a"), (1280, ".attn-own", "li > a")],
)
def test_the_contents_show_where_one_is(tab, server, language, last, width, nav, links):
    page = tab(viewport={"width": width, "height": 720})
    page.goto(f"{server}/{language}/11_landscape.html")
    assert nav == ".attn-own" or marked(page, nav).startswith("11")
    sections = page.locator(f"{nav} {links}")
    assert sections.nth(3).evaluate(IN_VIEW)
    third = sections.nth(12).get_attribute("href").removeprefix("#")
    page.evaluate(
        "id => scrollTo({top: document.getElementById(id).getBoundingClientRect().top + scrollY - 80, behavior: 'instant'})",
        third,
    )
    page.locator(f"{nav} a[href='#{third}'][aria-current]").wait_for()
    assert marked(page, nav) == sections.nth(12).inner_text()
    page.evaluate("scrollTo({top: document.documentElement.scrollHeight, behavior: 'instant'})")
    page.locator(f"{nav} a[aria-current=location]", has_text=last).wait_for()
    assert marked(page, nav) == last
    # One that is too short to come to the top is marked all the same when its link is followed.
    before = sections.nth(sections.count() - 2)
    before.click()
    page.wait_for_timeout(1200)
    assert marked(page, nav) == before.inner_text()
    page.mouse.wheel(0, -1)  # the reader moves: what was followed no longer counts
    page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    page.wait_for_function(IN_VIEW, arg=sections.first.element_handle())


@pytest.mark.parametrize("width", (1100, 1280, 1600))
def test_the_sections_of_a_page_are_listed_once_and_beside_the_text(tab, server, width):
    """Without a script as well: on the left where that is all there is room for, else on the right."""
    page = tab(viewport={"width": width, "height": 800}, java_script_enabled=False)
    page.goto(f"{server}/en/09_decoding.html", wait_until="load")
    lists = page.locator("nav:visible a:visible", has_text="The cache: never compute twice")
    assert lists.count() == 1
    link, text = lists.bounding_box(), page.locator("article").bounding_box()
    assert link["x"] > text["x"] + text["width"] if width > 1200 else link["x"] < text["x"]
    assert page.locator(".attn-sidebar").is_visible() == (width != 1280)
    assert page.locator(".attn-menu").is_visible() == (width == 1280)
    assert width == 1100 or text["width"] >= 820, "the machine has room to lie down"


def test_the_menu_of_a_phone_opens_where_one_is(tab, server):
    page = tab(viewport={"width": 390, "height": 700})
    page.goto(f"{server}/es/A1_errata.html", wait_until="networkidle")
    page.locator(".attn-menu summary").click()
    assert marked(page, ".attn-menu nav") == "Erratas de los documentos"
    page.locator(".attn-menu summary").click()
    page.evaluate("scrollTo({top: document.documentElement.scrollHeight, behavior: 'instant'})")
    last = page.locator(".attn-menu li.current li > a").last
    page.locator(".attn-menu li.current > ul > li:last-child > a[aria-current]").wait_for(
        state="attached"
    )
    page.locator(".attn-menu summary").evaluate("node => node.click()")  # Playwright's own scrolls
    assert marked(page, ".attn-menu nav") == last.inner_text().strip()
    # A link to a section of this page shows it, and not the menu over it.
    page.locator(".attn-menu li.current li > a").nth(2).click()
    assert not page.locator(".attn-menu nav").is_visible()


# How many are not laid out yet.
WAITING = """all => all.filter(node => node.checkVisibility()
    && !node.checkVisibility({contentVisibilityAuto: true})).length"""
READ_ON = """async () => {
  for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight / 2) {
    scrollTo({top: y, behavior: "instant"});
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  }
}"""


@pytest.mark.parametrize("language", ("es", "en"))
def test_on_a_phone_distant_content_is_lazy_and_places_do_not_move(tab, server, language):
    """Places are as in a page that was opened at the section, where nothing is rendered lazily."""
    address = f"{server}/{language}/09_decoding.html"
    parts = "main section section > .cell > *"
    phone = {"viewport": {"width": 390, "height": 800}, "reduced_motion": "reduce"}
    page = tab(short=True, **phone)
    page.goto(address, wait_until="networkidle")
    section = page.locator("main section:has(> h2)").nth(4).get_attribute("id")
    assert page.locator(parts).evaluate_all(WAITING) > 20
    page.locator(".attn-menu summary").click()
    page.locator(f".attn-menu a[href='#{section}']").click()
    page.wait_for_function("scrollY > 0")
    assert page.locator(parts).evaluate_all(WAITING) == 0
    there = tab(short=True, **phone)
    there.goto(f"{address}#{section}", wait_until="networkidle")
    assert there.locator(parts).evaluate_all(WAITING) == 0
    top = "id => document.getElementById(id).getBoundingClientRect().top"
    assert page.evaluate(top, section) == pytest.approx(there.evaluate(top, section), abs=1)
    # After reading to the end, places are as without lazy rendering. On a busy machine one reading
    # sometimes leaves a part out, so there are two.
    page.goto(f"{server}/{language}/index.html")
    page.goto(address, wait_until="networkidle")
    page.evaluate(READ_ON)
    page.evaluate(READ_ON)
    assert page.locator(parts).evaluate_all(WAITING) == 0
    places = """all => all.filter(node => node.checkVisibility())
        .map(node => node.getBoundingClientRect().top + scrollY)"""
    shown = page.locator("main section section > :is(h2, p, .cell)")
    read = shown.evaluate_all(places)
    page.evaluate("delete document.documentElement.dataset.layout")
    assert read == pytest.approx(shown.evaluate_all(places), abs=1)
    # A wide window shows contents or notes beside the text, which need all heights, so nothing is
    # lazy.
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{server}/{language}/index.html")
    page.goto(address, wait_until="networkidle")
    assert page.locator(parts).evaluate_all(WAITING) == 0
    assert page.errors == there.errors == []


def place(page):
    """Return the number of the last section that begins above the middle, and its top."""
    return page.evaluate("""() => {
      const sections = [...document.querySelectorAll("main section[id]")];
      const tops = sections.map(section => section.getBoundingClientRect().top);
      const i = tops.findLastIndex(top => top <= 360);
      return [i, tops[i]];
    }""")


@pytest.mark.parametrize("language", ("es", "en"))
def test_the_language_switch_keeps_the_place(tab, server, language):
    page, other = tab(viewport={"width": 1280, "height": 720}), "en" if language == "es" else "es"
    page.goto(f"{server}/{language}/09_decoding.html", wait_until="networkidle")
    page.evaluate("scrollTo({top: 15709, behavior: 'instant'})")
    page.wait_for_timeout(300)
    section, above = place(page)
    page.locator(".attn-twin").click()
    page.wait_for_url(f"**/{other}/09_decoding.html#*", wait_until="networkidle")
    page.wait_for_url(lambda url: "#place" not in url)
    there, now = place(page)
    # The sentences of one language are longer than those of the other, but not by a screen.
    assert there == section and abs(now - above) < 500
    # With the address of a section, and by keyboard.
    anchor = page.locator("main section section[id]").nth(4).get_attribute("id")
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{server}/{other}/index.html")
    page.goto(f"{server}/{other}/09_decoding.html#{anchor}", wait_until="networkidle")
    page.wait_for_timeout(1000)
    section, above = place(page)
    page.locator(".attn-twin").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{language}/09_decoding.html#*", wait_until="networkidle")
    page.wait_for_url(lambda url: "#place" not in url)
    there, now = place(page)
    assert there == section and abs(now - above) < 30
    assert page.errors == []


def test_the_switch_leads_to_the_beginning_from_the_beginning(tab, server):
    page = tab()
    page.goto(f"{server}/es/03_self_attention.html")
    page.locator(".attn-twin").click()
    page.wait_for_url("**/en/03_self_attention.html")
    assert page.evaluate("scrollY") == 0


def test_both_editions_of_a_page_have_the_same_sections_and_the_same_look(site):
    """The switch counts sections, so their number, and the level of each, must be the same.

    And since they have the same elements with the same classes, one may be looked at in the light
    and the other in the dark: what a scheme does to either it does to both.
    """
    api = 'contains(concat(" ", @class, " "), " attn-api ")'
    for path in sorted((site / "es").glob("*.html")):
        sections, looks = [], []
        for language in ("es", "en"):
            page = lxml.html.document_fromstring((site / language / path.name).read_bytes())
            found = page.xpath(f"//main//section[@id] | //*[{api}]//dt[@id]")
            sections.append([[n.tag for n in each if n.tag in HEADINGS][:1] for each in found])
            looks.append(
                {
                    (node.tag, node.get("class"))
                    for node in page.body.iter(lxml.etree.Element)
                    # Code has the words of its language, and a text its numbers.
                    if node.getparent().tag != "pre" and node.get("class") != "attn-bound"
                }
            )
        assert sections[0] == sections[1], path.name
        assert looks[0] == looks[1], path.name


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_opening_page_leads_back_to_what_was_read_last(tab, server, language):
    page = tab(viewport={"width": 1280, "height": 720})
    page.goto(f"{server}/{language}/index.html")
    assert page.locator(".attn-resume").count() == 0
    page.goto(f"{server}/{language}/03_self_attention.html")
    chapter = page.locator("h1").evaluate("h => h.firstChild.textContent")
    section = page.locator("article section section:has(> h2)").nth(1)
    place, title = section.evaluate("s => [s.id, s.querySelector('h2').firstChild.textContent]")
    section.evaluate(
        "s => scrollTo({top: s.getBoundingClientRect().top + scrollY - 60, behavior: 'instant'})"
    )
    page.locator(f".attn-own a[href='#{place}'][aria-current]").wait_for()
    page.goto(f"{server}/{language}/index.html")
    link = page.locator(".attn-resume a")
    assert link.inner_text() == f"{chapter} › {title.strip()}"
    link.click()
    page.wait_for_url(f"**/{language}/03_self_attention.html#{place}")


def test_a_page_is_turned_at_its_top_and_by_access_keys(tab, server):
    page = tab()
    page.goto(f"{server}/en/03_self_attention.html")
    before, after = page.locator(".attn-turn a").all()
    assert before.get_attribute("aria-label") == "Previous: Tokens and embeddings"
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        seen = page.locator("[accesskey]:visible")
        keys = seen.evaluate_all("all => all.map(one => one.accessKey).sort()")
        assert keys == ["n", "p", "s"]
    after.click()
    page.wait_for_url("**/04_multi_head.html")


def test_the_404_page_links_back_to_the_course(tab, serve, site):
    handler = runpy.run_path(str(ROOT / "book" / "serve.py"))["Handler"]
    page = tab()
    answer = page.goto(f"{serve(site, handler)}/en/far/away/nothing.html")
    assert answer.status == 404
    for link in page.locator("main a").all():
        assert page.request.get(link.evaluate("a => a.href")).status == 200
    page.evaluate("localStorage['attn-theme'] = 'dark'")
    page.reload()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
