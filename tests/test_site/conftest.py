"""The built site, a server for it, and a real browser."""

import functools
import http.server
import json
import sys
import threading
from itertools import islice
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from attn.applications import models
from attn.applications.translation import Translator
from attn.training import TrainingConfig
from attn_course.grammar import generate
from attn_course.widgets import _source
from tests.machine import QUIET

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "site"
sys.path.insert(0, str(ROOT / "book" / "_ext"))
TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def of_class(name):
    """Return the XPath condition of an element of a class."""
    return f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"


@pytest.fixture(scope="session")
def site():
    """The folder of the built site; it must be newer than what it is built from."""
    landing = SITE / "index.html"
    folders = (
        "book",
        "notebooks/es",
        "notebooks/en",
        "attn_course/widgets",
        "attn_course/drawings",
    )
    # Files alone: a folder changes when a module in it is imported, and Python keeps its bytecode.
    sources = [
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    if not landing.exists() or max(p.stat().st_mtime for p in sources) > SITE.stat().st_mtime:
        pytest.fail("build/site is missing or older than its sources: run `make book` first")
    return SITE


@pytest.fixture(scope="session")
def serve():
    """Serve a folder on this machine, and return the address."""
    servers = []

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    def serve(folder, handler=Quiet):
        handler = functools.partial(handler, directory=str(folder))
        httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        servers.append(httpd)
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{httpd.server_port}"

    yield serve
    for httpd in servers:
        httpd.shutdown()


@pytest.fixture(scope="session")
def server(serve, site):
    """The address of a server of the built site on this machine."""
    return serve(site)


# Pages act as if reloaded: then they are laid out completely, since a reader may be anywhere.
AGAIN = (
    "Object.defineProperty(PerformanceNavigationTiming.prototype, 'type', {get: () => 'reload'});"
)


@pytest.fixture(scope="session")
def browser(needed):
    """Chromium or a browser based on it.

    Nothing of a page waits until its reader comes near: what a test asks for is there. With
    `short=True` a context is that of a reader who begins at the top.
    """
    program = needed("browser")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=QUIET)
        make = {name: getattr(running, name) for name in ("new_context", "new_page")}

        def laid_out(kind):
            def made(short=False, **options):
                context_or_page = make[kind](**options)
                if not short:
                    context_or_page.add_init_script(AGAIN)
                return context_or_page

            return made

        running.new_context, running.new_page = map(laid_out, make)
        yield running
        running.close()


# Texts in the same kind of element, with the same colours and size, have the same contrast: one of
# them is marked for axe-core. In an SVG, text may lie on anything, so each text is marked.
MARK_CONTRASTS = """() => {
  const known = new Set();
  for (const node of document.querySelectorAll("body, body *")) {
    node.removeAttribute("data-contrast");
    const hasText = [...node.childNodes].some((each) => each.nodeType === 3 && each.data.trim());
    if (!hasText && !node.matches("input, select, textarea") || !node.checkVisibility()) continue;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(node);
    const looks = [color, fontSize, fontWeight, textShadow];
    for (let each = node; each; each = each.parentElement) {
      const { backgroundColor, backgroundImage, opacity, filter } = getComputedStyle(each);
      const ground = [backgroundColor, backgroundImage, opacity, filter].join();
      if (ground !== "rgba(0, 0, 0, 0),none,1,none") looks.push(ground);
    }
    const off = node.closest(":disabled, [aria-disabled=true], [inert], [aria-hidden=true]");
    const isLong = node.textContent.trim().length > 1; // of one letter axe-core says nothing
    const kind = [node.tagName, node.className, isLong, Boolean(off), ...looks].join("|");
    if (node.closest("svg") || !known.has(kind)) node.dataset.contrast = "";
    known.add(kind);
  }
  axe.configure({ rules: [{ id: "color-contrast", selector: "[data-contrast]" }] });
}"""


@pytest.fixture(scope="session")
def violations():
    """Return a list of what axe-core finds wrong in a tab, by all its rules or by some.

    axe-core spends most of its time on contrast, so it checks one of the texts that look alike.
    """
    from vendor import fetch

    axe = (fetch("axe-core") / "axe.min.js").read_text(encoding="utf-8")

    def violations(page, rules=AXE_TAGS):
        if not page.evaluate("'axe' in globalThis"):
            page.evaluate(axe)
        # Scripts respond to opened or widened content in the next frame, which may be late.
        page.evaluate(TWO_FRAMES)
        page.evaluate(MARK_CONTRASTS)
        # axe-core takes longer to describe what is right than to find violations.
        run = "rules => axe.run({runOnly: rules, resultTypes: ['violations']})"
        return [
            f"{rule['id']}: {node['html'][:160]} {node['failureSummary']}"
            for rule in page.evaluate(run, rules)["violations"]
            for node in rule["nodes"]
        ]

    return violations


@pytest.fixture(scope="session")
def translator():
    """The translator of the grammar; no test changes it."""
    return Translator.pretrained("grammar")


@pytest.fixture(scope="session")
def byte_pairs(tmp_path_factory):
    """A translator of byte pairs with one vocabulary, which has learned a little, and its folder.

    It stands where that of real sentences does, so that pages hold it in a few small pieces.
    """
    folder = tmp_path_factory.mktemp("models") / "tatoeba_translator"
    short = (pair for pair in generate(5) if len(pair.source.split()) <= 5)
    translator = Translator.fit(
        list(islice(short, 300)),
        tokenizer="bpe",
        vocab_size=500,
        joint_vocabulary=True,
        sizes={"d_model": 48, "n_layers": 2, "d_ff": 96, "dropout": 0.0},
        training=TrainingConfig(steps=150, learning_rate=5e-3),
    )
    translator.max_len = 40  # its positions know no limit
    translator.save(folder, quantised=True)
    with pytest.MonkeyPatch.context() as patch:
        here = {folder.name: folder}
        patch.setattr(_source, "folder", lambda name: here.get(name) or models.folder(name))
        patch.setattr(_source, "PIECE", 30_000)
        yield Translator.load(folder)


@pytest.fixture
def tab(browser):
    """Open a tab in a fresh profile; options are those of a Playwright context."""
    contexts = []

    def open_tab(**options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("console", lambda m: m.type == "error" and page.errors.append(m.text))
        return page

    yield open_tab
    for context in contexts:
        context.close()


def each_edition(name, **options):
    """Return a fixture of a module: a page of each edition, in which no test may cause an error.

    `options` are those of a Playwright context; the page knows its `language`.
    """

    @pytest.fixture(scope="module", params=("es", "en"))
    def chapter(request, browser, server):
        context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        page = context.new_page()
        page.language, page.errors = request.param, []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.goto(f"{server}/{request.param}/{name}")
        yield page
        context.close()
        assert page.errors == []

    return chapter


def state_of(page, widget):
    """Return the state with which the first widget of a kind begins."""
    return json.loads(page.locator(f"[data-anywidget={widget}] script").first.text_content())


WIDGET = """<!doctype html><html lang="{language}"><meta charset="utf-8"><title>attn</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<script>document.documentElement.dataset.theme =
  matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"</script>
<link rel="stylesheet" href="widgets.css"><script defer src="{script}"></script>
<style>body {{ margin: 1rem; background: var(--attn-page); color: var(--attn-ink); }}</style>
<main><h1>attn</h1><div style="height: {above}px"></div>{html}</main>"""


def page_of(widget, script, above=0):
    """Return a page that holds a widget alone, with its script; `above` it are that many pixels."""
    html = widget._html()
    return WIDGET.format(language=widget.language, script=script, above=above, html=html)


def write_beside(folder, bundle, models=None):
    """Write what the site has beside its pages: a bundle of widgets, their styles, the models' scripts."""
    files = (_source.model_scripts() if models is None else models) | {
        f"{bundle}.js": _source.classic_bundle(bundle),
        "widgets.css": _source.stylesheet(),
    }
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")


@pytest.fixture
def opened(browser):
    """Open a page of a folder offline and wait for a part of it; an error on the way fails the test."""
    contexts, errors = [], []

    def opened(folder, name, part, width=1280, motion="no-preference", **options):
        context = browser.new_context(
            offline=True, viewport={"width": width, "height": 900}, reduced_motion=motion, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.requests = []
        page.on("request", lambda request: page.requests.append(request.url.rpartition("/")[2]))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((folder / f"{name}.html").as_uri())
        page.locator(part).first.wait_for()
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []
