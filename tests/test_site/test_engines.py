"""The heart of the site in Firefox and in WebKit: it mounts, it computes, it translates, it runs Python.

What each widget does is tested in Chromium, by the other files of this folder; here stands what another
engine could break: scripts, styles, input by mouse and keyboard, WebAssembly. `make test-engines`.
"""

import http.server
import json
import re
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from selenium.webdriver.common.keys import Keys

from attn import reference
from attn.applications.translation import Translator
from tests.test_site.engines import Firefox, WebKit
from tests.test_site.every_page import NAMES

pytestmark = pytest.mark.engines
SENTENCE = "My sister bought a red car."
EXPLORER = "[data-attn=explorer]"
# The first thing a page runs: note what goes wrong.
LISTEN = """<script>
localStorage.clear();
window.wrong = [];
for (const kind of ["error", "warn"]) {
  const say = console[kind];
  console[kind] = (...all) => { window.wrong.push(all.map(String).join(" ")); say(...all); };
}
// Observers whose answer changes a size are told the rest in the next frame: that is no fault.
const late = e => e.message?.startsWith("ResizeObserver loop");
addEventListener("error", e => late(e) || window.wrong.push(e.message || `not loaded: ${e.target.outerHTML?.slice(0, 200)}`), true);
addEventListener("unhandledrejection", e => window.wrong.push(String(e.reason)));
</script>"""
# The widgets of a window that have not mounted yet: they have no button and no input.
BARE = """[...arguments[0].document.querySelectorAll("[data-anywidget]")].filter(
  each => !each.querySelector("button, input")).map(each => {
    each.closest("details")?.setAttribute("open", ""); // some bring their script when they are near
    each.scrollIntoView();
    return each.dataset.anywidget;
  })"""
# The page is loaded in an iframe, because some engines allow no window as narrow as a phone.
FRAME = """
window.page?.remove();
const frame = document.createElement("iframe");
frame.id = "page";
frame.style = "position: fixed; inset: 0 auto auto 0; border: 0; width: 1280px; height: 800px";
frame.src = arguments[0];
frame.onload = () => frame.dataset.there = "yes";
document.body.append(frame);
"""
THERE = f"""const {{ page }} = window;
const bare = who => (function () {{ return {BARE} }})(who);
return page.dataset.there && page.contentDocument.fonts.status === "loaded" && !bare(page.contentWindow).length"""
WIDTH = "window.page.style.width = `${arguments[0]}px`"
ALL = "delete window.page.contentDocument.documentElement.dataset.layout"
STICKS_OUT = """const { scrollWidth, clientWidth } = window.page.contentDocument.documentElement;
return scrollWidth - clientWidth"""


class Listening(http.server.SimpleHTTPRequestHandler):
    """A server whose pages record their errors and warnings."""

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        if path.suffix != ".html" or not path.exists():
            super().do_GET()
            return
        text = path.read_bytes().replace(b"<head>", b"<head>" + LISTEN.encode(), 1)
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def address(serve, site):
    """The URL of the site."""
    return serve(site, Listening)


@pytest.fixture(
    scope="module",
    params=["firefox", "webkit"],
)
def tab(request, needed, address):
    """One tab of each engine; `visit` opens a page of the site."""
    parts = needed(request.param)
    tab = {"firefox": Firefox, "webkit": WebKit}[request.param](*parts)
    # Firefox tests the Spanish edition and WebKit the English one.
    tab.language = {"firefox": "es", "webkit": "en"}[request.param]
    tab.visit = lambda page: tab.open(f"{address}/{page}")
    yield tab
    tab.close()


@pytest.fixture
def visit(tab):
    """Return a function that opens a page and waits for its widgets; errors fail the test."""

    def visit(page):
        tab.visit(page)
        tab.wait("return !(function () { return " + BARE + " })(window).length")
        return tab

    yield visit
    assert tab.run("return window.wrong") == []


def test_every_widget_mounts_and_every_kind_of_page_fits_a_phone(tab, site):
    folder = site / tab.language
    chapters = [
        name for name in NAMES if "data-anywidget" in (folder / f"{name}.html").read_text("utf-8")
    ]
    assert len(chapters) >= 15
    tab.visit("404.html")
    found = {}
    for name in [*chapters, "progress", "api_machine", "benchmarks", "glossary", "search"]:
        tab.run(FRAME, f"/{tab.language}/{name}.html")
        tab.wait(THERE)
        wide = {width: sticks_out(tab, width) for width in (390, 320)}
        wrong = [f"{n} px stick out of {width}" for width, n in wide.items() if n > 0]
        found[name] = wrong + tab.run("return window.page.contentWindow.wrong")
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def sticks_out(tab, width):
    """Set the width of the iframe; return how many pixels stick out once the page has settled."""
    tab.run(f"{WIDTH}; {ALL}", width)  # without lazy rendering, to measure far content too
    for _ in range(30):
        if (found := tab.run(STICKS_OUT)) <= 0:
            break
        time.sleep(0.1)
    return found


# Scroll the page in the iframe to its end, half a window at a time.
READ_ON = """const page = window.page.contentWindow, { documentElement } = page.document;
let y = 0;
page.requestAnimationFrame(function on() {
  page.scrollTo({ top: y += 400, behavior: "instant" });
  if (y < documentElement.scrollHeight) setTimeout(() => page.requestAnimationFrame(on), 30);
  else window.page.dataset.read = "yes";
});"""
PLACES = """const page = window.page.contentWindow;
return [...page.document.querySelectorAll("main section section > :is(h2, p, .cell)")].filter(
  node => !node.closest("details:not([open])")).map(node => node.getBoundingClientRect().top + page.scrollY)"""


def test_lazily_rendered_sections_reach_their_final_positions_after_scrolling(tab):
    """Sections are lazily rendered only in browsers with scroll anchoring; WebKit has none."""
    tab.visit("404.html")
    tab.run(FRAME, f"/{tab.language}/03_self_attention.html")
    tab.wait(THERE)
    tab.run(f"{WIDTH}; window.page.contentWindow.scrollTo(0, 0)", 390)
    estimated = tab.run(PLACES)
    tab.run(READ_ON)
    tab.wait("return window.page.dataset.read")
    read = tab.run(PLACES)
    tab.run(ALL)
    assert read == pytest.approx(tab.run(PLACES), abs=1)
    waited = tab.run("return CSS.supports('overflow-anchor', 'auto')")
    assert (estimated == pytest.approx(read, abs=1)) == (not waited)


def test_mouse_and_keyboard_reach_the_numbers_of_numpy(visit):
    tab = visit("en/L03_self_attention.html")
    state = json.loads(
        tab.run("""return document.querySelector(
          '[data-anywidget=attention_explorer] script[type="application/json"]').textContent""")
    )
    tab.click(f"{EXPLORER} [data-attn=mask][value=causal]")
    slider = f"{EXPLORER} [data-attn=temperature]"
    tab.run("document.querySelector(arguments[0]).focus()", slider)
    tab.press(Keys.ARROW_RIGHT)
    said = tab.run(
        "return document.querySelector(arguments[0]).getAttribute('aria-valuetext')", slider
    )
    temperature = float(said.split()[-1])
    assert temperature > 1
    tab.click(f"{EXPLORER} [data-attn=query-token]:nth-of-type(6)")
    query, key, value = (np.array(state[name], dtype=float) for name in ("query", "key", "value"))
    factor = (1 if state["scaled"] else np.sqrt(query.shape[-1])) / temperature
    _, weights = reference.scaled_dot_product_attention(
        query * factor, key, value, reference.causal_mask(len(key))
    )
    for hook, expected in (("heat-cell", weights), ("link", weights[5])):
        shown = tab.run(
            """const [where, hook] = arguments;
            const nodes = document.querySelector(where).querySelectorAll(`[data-attn=${hook}]`);
            return [...nodes].map(node => Number(node.dataset.weight ?? node.dataset.value))""",
            EXPLORER,
            hook,
        )
        np.testing.assert_allclose(np.reshape(shown, expected.shape), expected, atol=1e-6)


def test_the_translation_is_that_of_python(visit):
    tab = visit("en/translator.html")
    tab.write("[data-attn=live-translator] [data-attn=sentence]", SENTENCE)
    tab.press(Keys.ENTER)
    tab.wait(
        """const note = document.querySelector("[data-attn=live-translator] [data-attn=note]");
        return / ms/.test(note.textContent)"""
    )
    width = tab.run(
        "return document.querySelector('[data-attn=live-translator] [data-attn=width]:checked').value"
    )
    expected = Translator.pretrained().translate(SENTENCE, beam_width=int(width))
    output = "return document.querySelector('[data-attn=live-translator] [data-attn=output]')"
    assert tab.wait(f"{output}.textContent === arguments[0]", expected)


def test_the_drawing_of_the_opening_page_is_stepped_through(visit):
    tab = visit("es/index.html")
    tab.click("[data-attn=live-machine] [data-attn=forward]")
    count = "return document.querySelector('[data-attn=live-machine] [data-attn=count]').innerText"
    assert re.fullmatch(r"2 de \d\d", tab.wait(f"{count}.match(/^2 .*/)?.[0]"))
    tab.run(
        "document.querySelector(arguments[0]).focus()", "[data-attn=live-machine] [data-attn=step]"
    )
    tab.press(Keys.END)
    output = tab.text("[data-attn=live-machine] [data-attn=output]")
    assert output == "We bought a white table yesterday."


def test_a_figure_is_saved_as_shapes(visit):
    tab = visit("en/13_what_attention_computes.html")
    tab.wait("return document.querySelector('[data-attn-mounted] .attn-all-tile') !== null")
    tab.run(
        "drawingOf(document.querySelector('[data-attn-mounted] .attn-w'))"
        ".then(({ text }) => { window.saved = text; })"
    )
    text = tab.wait("return window.saved")
    shown = "[...document.querySelectorAll('.attn-all-tile')].filter(one => one.checkVisibility())"
    tiles = tab.run(f"return {shown}.length")
    assert text.startswith("<svg") and "NaN" not in text
    assert text.count("<image") >= tiles > 100 and "songs</text>" in text


def test_an_exercise_is_answered_wrongly_then_rightly(visit, needed):
    needed("python_in_the_page")
    tab = visit("en/03_self_attention.html")
    tab.click("#exercise-softmax .attn-py-bar button")
    tab.wait("return document.querySelectorAll('#exercise-softmax .cm-content').length")
    for code, answer in (
        ("def softmax(scores): return scores", "Not yet"),
        (
            "from attn_course.exercises.catalogue import load; softmax = load('softmax').oracle",
            "Correct.",
        ),
    ):
        tab.write("#exercise-softmax .cm-content", code)
        tab.click("#exercise-softmax .attn-py-controls button:first-of-type")
        tab.wait(
            "return document.querySelector('#exercise-softmax .attn-py-output').innerText.startsWith(arguments[0])",
            answer,
        )


def test_the_language_model_of_the_page_continues_as_in_python(visit, needed, smollm2):
    """Read the prompt and write two tokens: WebAssembly SIMD, a worker and cached model files."""
    needed("model_in_the_page")
    model, tokenizer = smollm2
    tab = visit("en/12_language_model.html")
    figure = "[data-attn=continuation]"
    tab.click(f"{figure} [data-attn=load]")
    tab.wait(
        f"return document.querySelector('{figure} [data-attn=own-prompt]').offsetParent !== null"
    )
    # In plain JavaScript it would be slow, and the figure would say so.
    assert tab.text(f"{figure} [data-attn=model-note]") == "The model is in the page."
    tab.write(f"{figure} [data-attn=own-prompt]", "The capital of France is")
    tab.click(f"{figure} [data-attn=begin]")
    tab.wait(f"return document.querySelectorAll('{figure} [data-attn=token]').length > 3")
    tab.click(f"{figure} [data-attn=play]")
    ids = tokenizer.encode("The capital of France is")
    for i in range(2):
        tab.click(f"{figure} [data-attn=token]:nth-of-type({i + 1})")
        shown = tab.run(
            f"return [...document.querySelectorAll('{figure} [data-attn=option]')].slice(0, 5).map((n) => Number(n.dataset.p))"
        )
        with torch.no_grad():
            best = model(torch.tensor([ids]))[0][0, -1].softmax(dim=-1).topk(5)
        np.testing.assert_allclose(shown, best.values, atol=1e-3)
        ids.append(int(best.indices[0]))
