"""What a visitor does: choose a language, switch the scheme, read without JavaScript."""

import itertools
import re

import pytest
from attn_fonts import FAMILIES, SAMPLE

from tests.test_site.conftest import TWO_FRAMES
from tests.test_site.every_page import WATCH_SHIFTS

CHAPTER = "03_self_attention.html"
LANGUAGES = ("es", "en")


@pytest.mark.parametrize(("locale", "edition"), [("es-MX", "es"), ("es-ES", "es"), ("en-GB", "en")])
def test_the_landing_page_goes_to_the_edition_of_the_browser(tab, server, locale, edition):
    page = tab(locale=locale)
    page.goto(f"{server}/index.html")
    page.wait_for_url(f"**/{edition}/index.html")


def test_the_landing_page_lets_others_choose(tab, server):
    page = tab(locale="fr-FR")
    page.goto(f"{server}/index.html")
    page.get_by_role("link", name="Español").click()
    page.wait_for_url("**/es/index.html")


def test_the_language_menu_does_not_redirect(tab, server):
    page = tab(locale="es-MX")
    page.goto(f"{server}/es/index.html")
    page.get_by_role("link", name="Elegir idioma").click()
    page.get_by_role("link", name="English").click()
    page.wait_for_url("**/en/index.html")


def test_the_scheme_is_switched_by_keyboard_and_remembered(tab, server):
    page = tab(color_scheme="light")
    page.goto(f"{server}/es/index.html")
    scheme = "document.documentElement.dataset.theme"
    assert page.evaluate(scheme) == "light"
    page.locator(".attn-theme").focus()
    page.keyboard.press("Enter")
    assert page.evaluate(scheme) == "dark"
    page.goto(f"{server}/es/{CHAPTER}")
    assert page.evaluate(scheme) == "dark"


@pytest.mark.parametrize("width", (390, 1280))
def test_the_contents_can_be_reached(tab, server, width):
    page = tab(viewport={"width": width, "height": 800})
    page.goto(f"{server}/es/index.html")
    page.locator(".attn-menu summary").click()
    page.locator("nav:visible a", has_text="Autoatención").first.click()
    page.wait_for_url(f"**/es/{CHAPTER}")


def test_the_first_tab_stop_skips_to_the_text(tab, server):
    page = tab()
    page.goto(f"{server}/es/{CHAPTER}")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#main"


@pytest.mark.parametrize("language", LANGUAGES)
def test_code_can_be_copied(tab, server, language):
    page = tab(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{server}/{language}/{CHAPTER}")
    block = page.locator(".cell_input .highlight").nth(1)
    block.hover()
    block.locator(".attn-copy").click()
    # The code of a page is in its language alone.
    sentence = {"es": "Ana libros", "en": "John songs"}[language]
    assert page.evaluate("navigator.clipboard.readText()").startswith(f'words = "{sentence}')
    # Where the browser refuses, the code is selected for the reader to copy.
    page.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }"
    )
    block.locator(".attn-copy").click()
    page.wait_for_function("getSelection().toString() !== ''")
    assert page.evaluate("getSelection().toString()").startswith(f'words = "{sentence}')


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_javascript_tables_and_formulas_are_there(tab, server, language):
    page = tab(java_script_enabled=False)
    page.goto(f"{server}/{language}/{CHAPTER}")
    mounts = page.locator("[data-anywidget]")
    assert mounts.count() >= 6
    for i in range(mounts.count()):
        inside = mounts.nth(i).locator("table, fieldset, ol, ul, dl, details").first
        assert inside.is_visible()
        assert len(mounts.nth(i).inner_text()) > 60
    assert page.locator("main .katex").first.is_visible()


DEAD = """() => {
  for (const box of document.querySelectorAll("details")) box.open = true;
  const there = [...document.querySelectorAll("form, input, button, select, textarea, [role=slider], a:not([href])")];
  return there.filter(each => each.checkVisibility({ visibilityProperty: true })).map(each => each.outerHTML.slice(0, 120));
}"""


def test_without_javascript_no_page_offers_what_only_a_script_can_do(tab, site):
    page = tab(java_script_enabled=False)
    # The page of looks shows controls that do nothing with scripts either.
    pages = [
        site / "index.html",
        *sorted({*(site / "en").glob("*.html")} - {site / "en/look.html"}),
    ]
    assert len(pages) > 25
    # What a width hides or shows is the head of the page, which is the same on all of them.
    for path, width in zip(pages, itertools.cycle((1280, 390)), strict=False):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(path.as_uri(), wait_until="load")
        assert page.evaluate(DEAD) == [], path.name
        # A wider page would have to be scrolled sideways.
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
        # Without the search there is another way to find a term.
        if path.stem not in ("index", "glossary"):
            assert page.locator("header .attn-find").get_attribute("href") == "glossary.html"
    for name, said in (
        ("search", "a"),
        ("progress", ".attn-no-script"),
        ("translator", ".attn-no-script"),
    ):
        page.goto((site / "en" / f"{name}.html").as_uri(), wait_until="load")
        assert page.locator(f"main {said}").first.is_visible(), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_opened_from_a_folder_it_is_alive_too(tab, site, language):
    page = tab()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / language / CHAPTER).as_uri())
    page.locator("[data-anywidget] input[type=range]").first.wait_for()
    assert page.locator("main .katex").first.is_visible()
    assert page.evaluate(
        "document.fonts.ready.then(f => [...f].some(x => x.family.includes('KaTeX') && x.status === 'loaded'))"
    )
    assert page.errors == []
    assert all(url.startswith(("file:", "data:")) for url in asked)


# One page of each kind. Fonts that are not of formulas begin with an s.
KINDS = (
    f"en/{CHAPTER}",
    "es/index.html",
    "es/translator.html",
    "es/look.html",
    "en/results.html",
    "en/api_machine.html",
    "404.html",
    "index.html#",
)


@pytest.mark.parametrize("come", ["late", "never"])
@pytest.mark.parametrize("kind", KINDS)
def test_fonts_that_come_late_or_never_move_nothing(tab, server, kind, come):
    page = tab(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page.add_init_script(WATCH_SHIFTS)
    held = []
    page.route("**/s*.woff2", lambda route: held.append(route) if come == "late" else route.abort())
    page.goto(f"{server}/{kind}", wait_until="domcontentloaded")
    if page.locator("[data-anywidget]").count():
        page.wait_for_selector("[data-anywidget][data-attn-mounted]")
    page.wait_for_timeout(500)  # The text is drawn in another font.
    assert bool(held) == (come == "late")
    for font in held:
        font.continue_()
    page.wait_for_load_state("load")
    page.evaluate("document.fonts.ready.then(() => null)")
    page.evaluate(TWO_FRAMES)
    assert page.evaluate("window.shift") < 0.02


def test_the_next_page_has_the_fonts_that_came_late(tab, server):
    page = tab()
    page.goto(f"{server}/en/{CHAPTER}", wait_until="networkidle")
    page.goto(f"{server}/en/glossary.html", wait_until="networkidle")
    loaded = "[...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)"
    assert {"Course Serif", "Course Sans"} <= set(page.evaluate(loaded))


def test_text_is_as_wide_and_as_high_in_a_fitted_font(tab, server, site):
    """Each family with its own font and without it, where this machine has one of the fitted fonts."""
    page = tab()
    page.goto(f"{server}/en/look.html")
    sheet = (site / "type.css").read_text(encoding="utf-8").replace("optional", "block")
    page.add_style_tag(
        content=re.sub('(?<=")(Course|Fitted) ', r"Own \1 ", sheet).replace(
            "fonts/", "_static/fonts/"
        )
    )
    for name, family in FAMILIES.items():
        boxes = page.evaluate(
            """async ([fonts, sample]) => {
              const line = document.createElement("span");
              document.body.append(line);
              Object.assign(line.style, { position: "absolute", fontSize: "60px", lineHeight: "normal", whiteSpace: "nowrap" });
              line.textContent = sample;
              const boxes = [];
              for (const fontWeight of [400, 600]) for (const fontFamily of fonts) {
                const found = await document.fonts.load(`${fontWeight} 60px "${fontFamily}"`).catch(() => []);
                if (!found.length) continue;
                Object.assign(line.style, { fontFamily, fontWeight });
                const { width, height } = line.getBoundingClientRect();
                boxes.push([fontWeight, fontFamily, width, height]);
              }
              return boxes;
            }""",
            [[f"Own Course {name}", *(f"Own Fitted {each}" for each in family["system"])], SAMPLE],
        )
        own = {weight: size for weight, font, *size in boxes if "Course" in font}
        assert [*own] == [400, 600] and len(boxes) > 2
        for weight, font, *size in boxes:
            assert size == pytest.approx(own[weight], rel=0.04), (font, weight)


def test_a_widget_that_fails_leaves_its_table(tab, server):
    page = tab()

    def break_the_first(route):
        response = route.fetch()
        broken = response.text().replace(
            '<script type="application/json">{',
            '<script type="application/json">{"language": "xx", "rest": {',
            1,
        )
        broken = broken.replace("}</script>", "}}</script>", 1)
        route.fulfill(response=response, body=broken)

    page.route(f"**/{CHAPTER}", break_the_first)
    page.goto(f"{server}/es/{CHAPTER}")
    page.locator("[data-attn-mounted]").first.wait_for()
    mounts = page.locator("[data-anywidget]")
    assert mounts.nth(0).locator(".attn-fallback table").is_visible()
    assert mounts.nth(1).get_attribute("data-attn-mounted") == "true"
    assert len(page.errors) == 1
