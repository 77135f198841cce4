"""Properties of every page in a browser: Spanish in the dark scheme, English in the light one.

Each edition has a file of its own, which derives from this one: the tests of one file run in one
process, and two processes are twice as fast.
"""

import functools
import gzip
import re
from collections import deque
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.test_site.conftest import AXE_TAGS, TWO_FRAMES

ROOT = Path(__file__).resolve().parents[2]
# From the table of contents, so that a page that fails to build is missed.
NAMES = [
    path.stem
    for page in re.findall(r"(?:root|file|glob): (\S+)", (ROOT / "_toc.yml").read_text())
    for path in sorted(ROOT.glob(f"{page}.*"))
] + ["search"]
CHAPTER = "03_self_attention.html"

WATCH_SHIFTS = """
window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({type: "layout-shift", buffered: true});
"""

# The mounted widgets: the height reserved for each, and the height that each takes.
ROOMS = """name => [...document.querySelectorAll("[data-anywidget][data-attn-mounted]")].flatMap(widget => {
  const kept = parseInt(widget.style.getPropertyValue(name));
  return kept ? [[widget.dataset.anywidget, kept, Math.round(widget.getBoundingClientRect().height)]] : [];
})"""


def open_page(browser, server, page, scheme):
    """Start loading a page in a new profile, which keeps nothing of other pages."""
    context = browser.new_context(
        short=True, color_scheme=scheme, viewport={"width": 1280, "height": 900}
    )
    tab = context.new_page()
    seen = {"requests": [], "errors": []}
    tab.on("request", lambda request: seen["requests"].append(request.url))
    tab.on("console", lambda m: m.type in ("error", "warning") and seen["errors"].append(m.text))
    tab.on("pageerror", lambda error: seen["errors"].append(str(error)))
    tab.add_init_script(WATCH_SHIFTS)
    tab.goto(f"{server}/{page}", wait_until="commit")
    return tab, seen


def look(tab, seen, violations, rules):
    """Return what the tests below ask about, once the page is there; close it."""
    tab.wait_for_load_state("load")
    tab.evaluate("document.fonts.ready.then(() => null)")
    # Chromium may never report a page as idle that loaded in the background: the page makes its
    # last requests within this time.
    tab.wait_for_timeout(300)
    ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    seen["ground"] = [int(channel) for channel in re.findall(r"\d+", ground)]
    seen["shift"] = tab.evaluate("window.shift")
    seen["untouched"] = set(seen["requests"])
    seen["rooms"] = tab.evaluate(ROOMS, "--attn-desk")
    folds = tab.evaluate_handle("[...document.querySelectorAll('details:not([open])')]")
    folds.evaluate("folds => folds.forEach(fold => { fold.open = true })")
    seen["axe"] = violations(tab, rules)
    seen["images"] = tab.evaluate(
        "[...document.querySelectorAll('img, .attn-figure svg')].map("
        "i => [i.getAttribute(i.alt === undefined ? 'aria-label' : 'alt'), i.getAttribute('width')])"
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
    tab.evaluate("delete document.documentElement.dataset.layout")  # lays out everything
    for width in (390, 320):
        tab.set_viewport_size({"width": width, "height": 844})
        tab.evaluate(TWO_FRAMES)  # scripts respond to the new width
        seen["wide"].append(tab.evaluate("document.documentElement.scrollWidth - innerWidth"))
        if width == 390:
            folds.evaluate("folds => folds.forEach(fold => { fold.open = false })")
            seen["rooms"] += tab.evaluate(ROOMS, "--attn-hand")
            folds.evaluate("folds => folds.forEach(fold => { fold.open = true })")
    tab.context.close()
    return seen


@functools.cache
def packed(path):
    """Return a file as a server sends it: compressed, except fonts and pictures."""
    content = path.read_bytes()
    return content if path.suffix in {".woff2", ".png"} else gzip.compress(content)


class EveryPage:
    """The tests of one edition in one scheme, and of the page that leads to both."""

    language: str
    scheme: str

    @pytest.fixture(scope="class")
    @classmethod
    def visits(cls, browser, server, violations):
        """What was seen on each page: page -> seen.

        While one page is looked at, the next one loads, and falls silent. Contrasts are measured
        on each page of both editions; their elements are the same, so that all other rules of
        axe-core, which take longer, look at every second page of the one and the rest of the other.
        """
        pages = ["index.html#", *(f"{cls.language}/{name}.html" for name in NAMES)]
        whole = set(pages[cls.language == "en" :: 2])
        known, loading = {}, deque()
        for page in [*pages, None]:
            if page:
                loading.append((page, *open_page(browser, server, page, cls.scheme)))
            if loading and (len(loading) > 1 or not page):
                earlier, tab, seen = loading.popleft()
                rules = AXE_TAGS if earlier in whole else ["color-contrast"]
                known[earlier] = look(tab, seen, violations, rules)
        return known

    def test_no_request_goes_to_a_third_party(self, visits, server):
        def elsewhere(page, seen):
            return [url for url in seen["requests"] if not url.startswith((server, "data:"))]

        assert over_all(visits, elsewhere) == {}

    def test_a_page_loads_little_before_any_interaction(self, visits, server, site):
        def too_heavy(page, seen):
            paths = {urlsplit(url).path for url in seen["untouched"] if url.startswith(server)}
            weight = sum(len(packed(site / path.lstrip("/"))) for path in paths)
            return weight if weight > 300_000 else 0

        assert over_all(visits, too_heavy) == {}

    def test_the_console_is_silent(self, visits):
        assert over_all(visits, lambda page, seen: seen["errors"]) == {}

    def test_no_accessibility_violation(self, visits):
        assert over_all(visits, lambda page, seen: seen["axe"]) == {}

    def test_no_page_is_wider_than_a_phone(self, visits):
        def too_wide(page, seen):
            return [x for x in seen["wide"] if x > 0]

        assert over_all(visits, too_wide) == {}

    def test_nothing_moves_while_the_page_loads(self, visits):
        assert over_all(visits, lambda page, seen: seen["shift"] >= 0.02) == {}

    def test_a_widget_has_the_height_reserved_for_it(self, visits):
        """What it takes stands last: book/_ext/heights.toml says it, per page and widget."""

        def other(page, seen):
            return [room for room in seen["rooms"] if abs(room[1] - room[2]) > 40 + room[2] / 10]

        assert over_all(visits, other) == {}

    def test_images_have_a_text_and_a_size(self, visits):
        def bare(page, seen):
            return [
                (alt, width)
                for alt, width in seen["images"]
                if not width or alt is None or re.search(r"\.(png|svg)$|_images", alt)
            ]

        assert over_all(visits, bare) == {}

    def test_the_page_follows_the_preferred_colour_scheme(self, visits):
        def other(page, seen):
            return (min(seen["ground"]) > 200) != (self.scheme == "light")

        assert over_all(visits, other) == {}

    def test_the_page_declares_its_language(self, visits):
        def other(page, seen):
            return seen["lang"] != (self.language if "/" in page else "es")

        assert over_all(visits, other) == {}

    def test_the_chapter_is_alive(self, visits):
        seen = visits[f"{self.language}/{CHAPTER}"]
        assert seen["widgets"] >= 6
        assert seen["fallbacks"] == 0
        assert seen["math"] > 30
        # Formulas reach the reader as formulas: no dollar signs, no commands, no error boxes.
        assert not re.search(r"\$[^$]+\$|\\(frac|sqrt|top|mathbb)\{|ParseError", seen["prose"])


def over_all(visits, wrong):
    """Return what `wrong` finds on a visit, by page; where nothing is, nothing."""
    found = {page: wrong(page, seen) for page, seen in visits.items()}
    return {page: what for page, what in found.items() if what}
