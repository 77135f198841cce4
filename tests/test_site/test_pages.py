"""Every page of both editions, in both colour schemes, as a visitor's browser shows it."""

import gzip
import html.parser
import json
import re
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest

ROOT = Path(__file__).resolve().parents[2]
# From the two tables of contents, so that a page that fails to build is missed.
NAMES = [
    re.sub(r".*/", "", page)
    for page in re.findall(r"(?:root|file): (\S+)", (ROOT / "_toc.yml").read_text())
] + ["search"]
PAGES = ["index.html#", *(f"{lang}/{name}.html" for lang in ("es", "en") for name in NAMES)]
# The editions differ in words alone, so one of them shows what the dark scheme does to a page.
DARK = [page for page in PAGES if not page.startswith("en/")]
CHAPTER = "03_self_attention.html"


WATCH_SHIFTS = """
window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({type: "layout-shift", buffered: true});
"""


@pytest.fixture(scope="module")
def visits(browser, server, violations):
    """Visit a page once in a scheme; remember all that the tests below ask about."""
    known = {}

    def visit(page, scheme):
        if (page, scheme) in known:
            return known[page, scheme]
        context = browser.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 900})
        tab = context.new_page()
        seen = {"requests": [], "errors": []}
        tab.on("request", lambda request: seen["requests"].append(request.url))
        tab.on(
            "console", lambda m: m.type in ("error", "warning") and seen["errors"].append(m.text)
        )
        tab.on("pageerror", lambda error: seen["errors"].append(str(error)))
        tab.add_init_script(WATCH_SHIFTS)
        tab.goto(f"{server}/{page}", wait_until="networkidle")
        seen["theme"] = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        seen["shift"] = tab.evaluate("window.shift")
        tab.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
        # In the dark only colours can go wrong that were right in the light.
        rules = {} if scheme == "light" else {"rules": ["color-contrast"]}
        seen["axe"] = violations(tab, **rules)
        if scheme == "light":
            look_at_what_no_scheme_changes(tab, seen)
        context.close()
        known[page, scheme] = seen
        return seen

    return visit


def look_at_what_no_scheme_changes(tab, seen):
    seen["images"] = tab.evaluate(
        "[...document.images].map(i => [i.getAttribute('alt'), i.getAttribute('width')])"
    )
    seen["lang"] = tab.evaluate("document.documentElement.lang")
    seen["widgets"] = tab.evaluate("document.querySelectorAll('[data-anywidget]').length")
    seen["fallbacks"] = tab.evaluate(
        "[...document.querySelectorAll('[data-anywidget]')].filter(w => !w.querySelector('button, input')).length"
    )
    seen["math"] = tab.evaluate("document.querySelectorAll('.katex').length")
    seen["prose"] = tab.evaluate("""
        const copy = document.querySelector("main").cloneNode(true);
        for (const code of copy.querySelectorAll("pre, code, annotation")) code.remove();
        copy.textContent
    """)
    seen["wide"] = []
    for width in (390, 320):
        tab.set_viewport_size({"width": width, "height": 844})
        tab.wait_for_timeout(100)
        seen["wide"].append(tab.evaluate("document.documentElement.scrollWidth - innerWidth"))


def over_all(visits, wrong, dark=True):
    """Return what `wrong` finds on a visit, by page and scheme; where nothing is, nothing."""
    visited = [(page, "light") for page in PAGES] + [(page, "dark") for page in DARK if dark]
    found = {each: wrong(*each, visits(*each)) for each in visited}
    return {each: what for each, what in found.items() if what}


def test_nothing_is_asked_of_a_third_party(visits, server):
    def elsewhere(page, scheme, seen):
        return [url for url in seen["requests"] if not url.startswith((server, "data:"))]

    assert over_all(visits, elsewhere) == {}


def test_the_console_is_silent(visits):
    assert over_all(visits, lambda page, scheme, seen: seen["errors"]) == {}


def test_no_accessibility_violation(visits):
    assert over_all(visits, lambda page, scheme, seen: seen["axe"]) == {}


def test_nothing_sticks_out_on_a_phone(visits):
    def too_wide(page, scheme, seen):
        return [x for x in seen["wide"] if x > 0]

    assert over_all(visits, too_wide, dark=False) == {}


def test_nothing_moves_while_the_page_loads(visits):
    assert over_all(visits, lambda page, scheme, seen: seen["shift"] >= 0.02) == {}


def test_images_have_a_text_and_a_size(visits):
    def bare(page, scheme, seen):
        return [
            (alt, width)
            for alt, width in seen["images"]
            if not width or alt is None or re.search(r"\.(png|svg)$|_images", alt)
        ]

    assert over_all(visits, bare, dark=False) == {}


def test_the_page_says_its_language(visits):
    def other(page, scheme, seen):
        return seen["lang"] != page.split("/")[0].replace("index.html#", "es")

    assert over_all(visits, other, dark=False) == {}


def test_the_schemes_differ(visits):
    for page in DARK:
        assert visits(page, "light")["theme"] != visits(page, "dark")["theme"], page


@pytest.mark.parametrize("language", ("es", "en"))
def test_the_chapter_is_alive(visits, language):
    seen = visits(f"{language}/{CHAPTER}", "light")
    assert seen["widgets"] >= 9
    assert seen["fallbacks"] == 0
    assert seen["math"] > 50
    # Formulas reach the reader as formulas: no dollar signs, no commands, no error boxes.
    assert not re.search(r"\$[^$]+\$|\\(frac|sqrt|top|mathbb)\{|ParseError", seen["prose"])


# Without a browser ------------------------------------------------------------------------


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.targets, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.update(filter(None, (attributes.get("id"), attributes.get("name"))))
        self.targets += [attributes[key] for key in ("href", "src") if attributes.get(key)]


def test_every_internal_link_and_anchor_resolves(site):
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(pages) == len(PAGES)
    for path, page in pages.items():
        for target in page.targets:
            if urlparse(target).scheme in ("http", "https", "data", "mailto"):
                continue
            address, anchor = urldefrag(target)
            file = (path.parent / unquote(address)).resolve() if address else path
            assert file.is_file(), f"{path.relative_to(site)} links to {target}"
            if anchor and file in pages:
                assert unquote(anchor) in pages[file].ids, f"{path.relative_to(site)}: {target}"


@pytest.mark.parametrize("language, other", [("es", "en"), ("en", "es")])
def test_each_page_links_to_its_twin(site, language, other):
    for name in NAMES:
        text = (site / language / f"{name}.html").read_text(encoding="utf-8")
        assert f'rel="alternate" hreflang="{other}" href="../{other}/{name}.html"' in text
        assert f'class="attn-twin" href="../{other}/{name}.html"' in text


def test_social_cards_have_their_picture(site):
    for path in site.rglob("*.html"):
        (picture,) = re.findall(r'property="og:image" content="([^"]+)"', path.read_text("utf-8"))
        assert (path.parent / picture).read_bytes().startswith(b"\x89PNG")


def test_the_site_holds_nothing_of_the_environment(site):
    """No page of an installed package, no path of the machine that built it."""
    for path in site.rglob("*"):
        if path.suffix in {".html", ".js", ".css", ".json", ".ipynb"}:
            text = path.read_text(encoding="utf-8")
            assert str(ROOT) not in text and "site-packages" not in text, path


@pytest.mark.parametrize("language", ("es", "en"))
def test_the_notebook_can_be_downloaded(site, language):
    text = (site / language / CHAPTER).read_text(encoding="utf-8")
    (address,) = set(re.findall(r'download href="([^"]+)"', text))
    notebook = json.loads((site / language / address).read_text(encoding="utf-8"))
    assert notebook["metadata"]["attn"]["language"] == language


def test_scripts_of_a_page_with_widgets_are_light(site):
    static = site / "es" / "_static"
    weight = sum(
        len(gzip.compress((static / name).read_bytes())) for name in ("course.js", "widgets.js")
    )
    assert weight < 30_000


def test_every_formula_was_rendered_by_the_build(site):
    for language in ("es", "en"):
        text = (site / language / CHAPTER).read_text(encoding="utf-8")
        assert "katex-error" not in text
        assert text.count("<math") == text.count('class="katex"')
