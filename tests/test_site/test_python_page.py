"""Python in the page: exercises are written, run and checked where they are read."""

import gzip
import json
import re
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from attn_course.exercises import exercises
from attn_course.exercises.catalogue import load, modules
from attn_course.in_page.plan import EXERCISE
from notebooks.build import split

ROOT = Path(__file__).resolve().parents[2]
START = 120_000  # milliseconds that Python may take to start on a busy machine
PAGES = {
    1: "01_why_attention",
    2: "02_tokens_and_embeddings",
    3: "03_self_attention",
    4: "04_multi_head",
    5: "05_encoder_decoder",
    6: "06_masking",
    7: "07_positional_encoding",
    8: "08_training",
    9: "09_decoding",
    10: "10_applications",
    11: "11_landscape",
    12: "12_language_model",
    13: "13_what_attention_computes",
    14: "14_equation_changed",
    15: "15_from_predicting_to_answering",
    16: "16_size_and_speed",
    "A1": "A1_errata",
}
SOFTMAX = (
    "def softmax(scores):\n"
    "    peak = scores.max(axis=-1, keepdims=True)\n"
    "    e = np.exp(scores - np.where(np.isfinite(peak), peak, 0))\n"
    "    total = e.sum(axis=-1, keepdims=True)\n"
    "    return e / np.where(total == 0, 1, total)\n"
)
# This acts as a browser that blocks cookies.
NO_STORAGE = (
    "Object.defineProperty(window, 'localStorage', "
    "{ get() { throw new DOMException('off', 'SecurityError'); } })"
)


# What lends pages the Python that a page before them has begun in the same way: each gets it as a
# session that remembers nothing, as after *Start over*. What has drawn, or was stopped, is not lent again.
LENDER = """
const begun = {};
globalThis.Lent = class {
  constructor(address) { this.address = address; }
  postMessage(message) {
    if (message.kind === "start") {
      this.way = [this.address, message.base, message.language].join();
      const lent = begun[this.way];
      const worker = this.worker = begun[this.way] = lent ?? new Worker(this.address);
      worker.onmessage = (event) => this.onmessage(event);
      worker.onerror = (event) => this.onerror(event);
      worker.postMessage(lent ? { kind: "begin" } : message);
    } else {
      if (message.kind === "draw") this.keep();
      this.worker.postMessage(message);
    }
  }
  keep() { if (begun[this.way] === this.worker) delete begun[this.way]; }
  terminate() {
    this.keep();
    this.worker.terminate();
  }
};
"""
BORROWED = """
const { Lent } = opener;
window.Worker = function (address) { return new Lent(new URL(address, location.href).href); };
"""


@pytest.fixture(autouse=True)
def python(needed):
    needed("python_in_the_page")


def watched(page, server):
    """Keep what goes wrong in a page and its profile; every request of it must be to the server."""
    page.errors, page.elsewhere = [], []
    page.context.on("weberror", lambda error: page.errors.append(str(error.error)))
    page.context.on("console", lambda m: m.type == "error" and page.errors.append(m.text))
    page.context.on(
        "request",
        lambda r: r.url.startswith((server, "blob:", "data:")) or page.elsewhere.append(r.url),
    )
    return page


@pytest.fixture
def visit(browser, server):
    """Open a page in a profile of its own, in which no Python has begun."""
    contexts = []

    def visit(address):
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 900}))
        page = watched(contexts[-1].new_page(), server)
        page.set_default_timeout(START)
        page.goto(f"{server}/{address}")
        return page

    yield visit
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def lender(browser, server):
    """A page that lends its Python to others of its profile."""
    page = watched(browser.new_context().new_page(), server)
    body = f"<!doctype html><link rel=icon href=data:,><script>{LENDER}</script>"
    page.route(f"{server}/lender", lambda route: route.fulfill(content_type="text/html", body=body))
    page.goto(f"{server}/lender")
    page.context.add_init_script(BORROWED)
    yield page
    page.context.close()


@pytest.fixture
def lent(lender, server):
    """Open a page that is lent a Python; nothing is stored in its profile."""
    pages = []

    def lent(address, width=1280, height=900, has_touch=False, scheme="light"):
        lender.evaluate("localStorage.clear()")
        with lender.expect_popup() as found:
            lender.evaluate("void open('about:blank')")
        page = found.value
        pages.append(page)
        page.errors, page.elsewhere = lender.errors, lender.elsewhere
        page.errors.clear()
        page.elsewhere.clear()
        page.set_default_timeout(START)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        if has_touch:  # Playwright gives it to a whole profile, and each would begin a Python.
            device = page.context.new_cdp_session(page)
            device.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
        page.goto(f"{server}/{address}")
        return page

    yield lent
    for page in pages:
        page.close()


class Panel:
    """What is in the place of an exercise or a cell."""

    def __init__(self, cell):
        self.cell = cell
        self.output = cell.locator(".attn-py-output")
        self.status = cell.locator(".attn-py-status")

    def open(self, button=".attn-py-bar button"):
        self.cell.locator(button).click()
        self.cell.locator(".cm-editor").wait_for()
        return self

    def write(self, code):
        editor = self.cell.locator(".cm-content")
        editor.click()
        editor.press("Control+a")
        editor.page.keyboard.insert_text(code)

    def press(self, name):
        self.cell.get_by_role("button", name=name, exact=True).click()

    def done(self):
        """Wait for the end of a run."""
        expect(self.cell.locator(".attn-py-controls button").nth(-2)).to_be_hidden(timeout=START)
        return self

    def check(self, code, language):
        self.write(code)
        self.press({"es": "Comprobar", "en": "Check"}[language])
        self.done()
        return self.output.inner_text()


def exercise(page, name):
    return Panel(page.locator(f"#exercise-{name.replace('_', '-')}"))


def mistaken(name):
    """Return code that makes a known mistake of an exercise, and the mistake."""
    mistake = load(name).misconceptions[0]
    code = (
        "from attn_course.exercises.catalogue import load\n"
        f"{name} = load('{name}').misconceptions[0].functions[0]\n"
    )
    return code, mistake


@pytest.mark.parametrize("chapter", PAGES)
def test_every_exercise_is_solved_in_its_page(lent, chapter):
    language = "es" if chapter in (1, 4, 6, 8, 10, "A1") else "en"
    page = lent(f"{language}/{PAGES[chapter]}.html")
    for name in exercises()[chapter]:
        panel = exercise(page, name).open()
        code, mistake = mistaken(name)
        said = panel.check(code, language)
        hint = mistake.hint[language].replace("`", "").replace("*", "")
        assert hint[:60] in said.replace("*", ""), (name, said)
        right = (
            f"from attn_course.exercises.catalogue import load\n{name} = load('{name}').oracle\n"
        )
        assert panel.check(right, language).startswith(
            {"es": "Correcto.", "en": "Correct."}[language]
        )
    assert page.errors == []
    assert page.elsewhere == []


def test_what_is_solved_is_kept_used_exported_and_erased(lent):
    page = lent("en/03_self_attention.html")
    panel = exercise(page, "softmax").open()
    assert panel.check(SOFTMAX, "en").startswith("Correct.")
    mine = (
        "def scaled_dot_product_attention(query, key, value, mask=None):\n"
        "    scores = query @ key.mT / np.sqrt(query.shape[-1])\n"
        "    if mask is not None:\n"
        "        scores = np.where(mask, scores, -np.inf)\n"
        "    weights = softmax(scores)\n"
        "    return weights @ value, weights\n"
    )
    panel = exercise(page, "scaled_dot_product_attention").open()
    panel.check(mine, "en")
    assert "Correct." in panel.output.inner_text()
    assert "With functions of yours: softmax." in panel.status.inner_text()

    with page.expect_download() as found:
        page.get_by_role("button", name="Download with your answers").click()
    notebook = nbformat.read(found.value.path(), 4)
    nbformat.validate(notebook)
    sources = [cell.source for cell in notebook.cells]
    assert f'{SOFTMAX}\ncheck("softmax", softmax)' in sources
    assert mine.splitlines()[4] in "\n".join(sources)

    page.reload()
    bar = page.locator("#exercise-softmax .attn-py-bar")
    expect(bar).to_contain_text("Solved")
    panel = exercise(page, "softmax").open()
    assert "peak = scores.max" in panel.cell.locator(".cm-content").inner_text()
    panel.press("Start over")
    expect(panel.cell.locator(".cm-content")).not_to_contain_text("peak")

    page.locator("[data-attn=option]").first.check()
    page.locator("[data-attn=check]").first.click()
    said = page.locator("[data-attn=feedback]").first.inner_text()
    assert said
    page.reload()
    assert page.locator("[data-attn=feedback]").first.inner_text() == said

    page.goto(page.url.replace("03_self_attention", "progress"))
    expect(page.locator("[data-exercise=softmax]")).to_contain_text("Solved")
    expect(page.locator("[data-exercise=self_attention]")).not_to_contain_text("Solved")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Erase all that is stored").click()
    expect(page.locator("[data-exercise=softmax]")).not_to_contain_text("Solved")
    assert (
        page.evaluate(
            "Object.keys(localStorage).filter(name => /^attn-(code|solved|quiz)-/.test(name))"
        )
        == []
    )
    assert page.errors == []


def solutions():
    """Return the code of the worked solution of every exercise up to chapter 9."""
    found = {}
    for path in sorted((ROOT / "notebooks" / "src").glob("0*_*.md")):
        for cell in split(path, "es").cells:
            asked = EXERCISE.search(cell.source)
            if asked and "hide-cell" in cell.metadata.get("tags", ()):
                found[asked[1]] = cell.source.replace(asked[0], "")
    return found


def test_what_was_solved_translates_at_the_end_of_chapter_9(lent, violations):
    page = lent("en/03_self_attention.html")
    assert exercise(page, "softmax").open().check(SOFTMAX, "en").startswith("Correct.")
    page.goto(page.url.replace("03_self_attention", "09_decoding"))
    machine = Panel(page.locator("#own-machine"))
    stored = machine.cell.locator(".cell_output")
    machine.press("Translate with my code")  # with what stands in the cell
    machine.done()
    expect(stored).to_have_count(0, timeout=START)
    expect(machine.output).to_contain_text("→ la mujer dio el libro rojo al niño")
    sentence = machine.cell.get_by_label("An English sentence")
    sentence.fill('the white "cat" slept')
    sentence.press("Enter")
    expect(machine.output).to_contain_text('The machine does not know: ".')
    machine.done()
    sentence.fill("the white cat slept")
    sentence.press("Enter")
    expect(machine.output).to_contain_text("the white cat slept → el gato blanco durmió")
    expect(machine.output).to_contain_text("Your code: softmax.")
    expect(machine.output).to_contain_text(
        "Lent by the course: embed, scaled_dot_product_attention,"
    )
    lit = machine.output.locator(".attn-machine-wide text.name.lit")
    assert lit.all_text_contents() == ["softmax", "softmax"]
    assert violations(page) == []
    assert page.errors == []
    assert page.elsewhere == []


def test_with_all_exercises_solved_nothing_is_lent(lent):
    page = lent("es/09_decoding.html", width=390, height=844)
    kept = {f"attn-solved-{name}": code for name, code in solutions().items()}
    page.evaluate("kept => Object.assign(localStorage, kept)", kept)
    machine = Panel(page.locator("#own-machine"))
    machine.press("Traducir con mi código")
    machine.done()
    written = machine.output.get_by_text("→ la mujer dio el libro rojo al niño")
    expect(written).to_be_visible(timeout=START)  # Python is being loaded before it runs
    expect(machine.output.get_by_text("Prestado por el curso: ninguna función.")).to_be_visible()
    expect(machine.output.locator(".attn-machine-upright text.name.lit").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.evaluate(
        "localStorage['attn-solved-layer_norm'] = 'def layer_norm(x, gain, bias): return x'"
    )
    machine.press("Traducir con mi código")
    machine.done()
    expect(machine.output).to_contain_text(
        "Tu layer_norm ya no pasa la comprobación de su ejercicio."
    )
    expect(machine.output).to_contain_text("Prestado por el curso: layer_norm.")
    assert page.errors == []
    assert page.elsewhere == []


def test_a_run_can_be_stopped_and_ends_by_itself(visit):
    page = visit("es/03_self_attention.html")
    panel = exercise(page, "softmax").open()
    panel.press("Ejecutar")
    panel.press("Detener")  # while Python is still loading
    expect(panel.status).to_contain_text("Detenido.")
    panel.done()
    panel.write("print('antes')\nwhile True:\n    pass")
    panel.press("Ejecutar")
    expect(panel.output).to_contain_text("antes", timeout=START)
    panel.press("Detener")
    expect(panel.status).to_contain_text("Detenido.")
    panel.done()
    panel.write("while True:\n    print('x' * 100)")
    panel.press("Ejecutar")
    expect(panel.status).to_contain_text("Se cortó a los 10 segundos.", timeout=START)
    shown = panel.output.inner_text()
    assert len(shown) < 25_000
    assert "aquí se corta" in shown
    panel.write("1 + 1")
    panel.press("Ejecutar")
    expect(panel.output).to_have_text("2", timeout=START)
    panel.write("def softmax(scores):\n    return scores / 0 +")
    panel.press("Comprobar")
    expect(panel.output).to_contain_text("SyntaxError: invalid syntax")
    assert page.errors == []


def test_a_cell_runs_after_those_before_it(lent):
    page = lent("en/03_self_attention.html")
    cell = page.locator(".attn-py-run", has=page.locator(":scope > .cell_output")).nth(3)
    cell.evaluate("cell => { cell.id = 'tried'; }")  # it will have another output
    cell = page.locator("#tried")
    stored = cell.locator(".cell_output").inner_text().split()
    panel = Panel(cell).open(".attn-py-corner")
    panel.done()
    assert panel.output.inner_text().split() == stored
    expect(panel.status).to_contain_text("earlier cells ran first.")
    panel.write("print(6 * 7)")
    panel.cell.locator(".cm-content").press("Shift+Enter")
    expect(panel.output).to_have_text("42")
    expect(panel.status).not_to_contain_text("earlier")
    assert page.errors == []


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_editor_is_for_everyone(lent, violations, width, scheme):
    page = lent("es/03_self_attention.html", width, 844, has_touch=width == 390, scheme=scheme)
    page.locator("#exercise-softmax .attn-py-bar button").focus()
    page.keyboard.press("Enter")
    panel = exercise(page, "softmax")
    panel.cell.locator(".cm-editor").wait_for()
    expect(panel.cell.locator(".cm-content")).to_be_focused()
    page.keyboard.press("Tab")  # it indents
    expect(panel.cell.locator(".cm-line").first).to_have_text("    import numpy as np")
    page.keyboard.press("Shift+Tab")
    expect(panel.cell.locator(".cm-content")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(panel.cell.get_by_role("button", name="Comprobar")).to_be_focused()
    page.keyboard.press("Enter")
    panel.done()
    expect(panel.output).to_contain_text("Sin responder.")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []


def test_opened_as_a_file_the_page_explains_why_python_cannot_run(tab, site):
    page = tab()
    page.goto((site / "es" / "03_self_attention.html").as_uri())
    page.locator("#exercise-softmax .attn-py-bar button").click()
    note = page.locator("#exercise-softmax [role=status]")
    expect(note).to_contain_text("Python no puede ejecutarse en una página abierta como archivo")
    assert page.errors == []


def a_copy(site, folder, *names):
    """Put links to some of the site's files and folders into a folder."""
    folder.mkdir(parents=True)
    for name in names:
        assert (site / name).exists(), name
        (folder / name).symlink_to(site / name)
    return folder


REST = ("palette.css", "type.css", "fonts", "favicon.svg", "index.html", ".nojekyll", "404.html")


@pytest.mark.parametrize(
    ("held", "gone", "sentence"),
    [
        ("en", "es", "Esta copia del curso no trae la edición en español."),
        ("es", "en", "This copy of the course comes without its English edition."),
    ],
)
def test_one_edition_under_any_address_is_whole(serve, site, tab, tmp_path, held, gone, sentence):
    a_copy(site, tmp_path / "some" / "sub" / "attn", held, "python", *REST)
    server = serve(tmp_path)
    page = tab()
    page.set_default_timeout(START)
    outside, lost = [], []
    page.on("request", lambda r: "/some/sub/attn/" in r.url or outside.append(r.url))
    page.on("response", lambda r: r.status == 404 and lost.append(r.url.partition("/attn/")[2]))
    page.goto(f"{server}/some/sub/attn/{held}/03_self_attention.html")
    said = exercise(page, "softmax").open().check(SOFTMAX, held)
    assert said.startswith({"es": "Correcto.", "en": "Correct."}[held])
    slider = page.locator("[data-anywidget=softmax_playground] [data-attn=score-slider]").first
    readout = page.locator("[data-anywidget=softmax_playground]").first
    before = readout.inner_text()
    slider.press("ArrowRight")
    expect(readout).not_to_have_text(before)
    assert lost == []
    page.locator(".attn-twin").click()
    expect(page.get_by_text(sentence)).to_be_visible()
    assert page.url.endswith(f"/{held}/03_self_attention.html")
    assert lost == [f"{gone}/03_self_attention.html"]
    # Who reads the language that is missing stays here; for the other the page must be asked to.
    page.goto(f"{server}/some/sub/attn/index.html{'#' if held == 'en' else ''}")
    expect(page.get_by_text(sentence)).to_be_visible()
    page.locator(f"a[hreflang={held}]").click()
    page.wait_for_url(f"**/some/sub/attn/{held}/index.html")
    assert [url for url in outside if not url.startswith(("blob:", "data:"))] == []


@pytest.mark.slow
def test_a_site_built_of_registries_alone_runs_and_draws(serve, site, tab, tmp_path, monkeypatch):
    """Without a folder of wheels, and where Pyodide's own distribution cannot be reached."""
    import attn_python
    from vendor import VendorError

    def unreachable(*args):
        raise VendorError("no way there")

    monkeypatch.setenv("ATTN_WASM", "")
    monkeypatch.setattr(attn_python, "_from_pyodide", unreachable)
    folder = a_copy(site, tmp_path / "site", "es", "en", *REST)
    if why := attn_python.assemble(folder / "python"):
        pytest.skip(
            why
        )  # The registry cannot be reached either, and no earlier build has asked it.
    assert json.loads((folder / "python" / "files.json").read_text())["drawing"]
    page = tab()
    page.set_default_timeout(START)
    page.goto(f"{serve(folder)}/en/03_self_attention.html")
    panel = exercise(page, "softmax").open()
    assert panel.check(SOFTMAX, "en").startswith("Correct.")
    panel.write("import matplotlib.pyplot as plt\nplt.plot(np.arange(3))\nplt.show()")
    panel.press("Run")
    panel.done()
    picture = panel.output.locator("img")
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 300
    assert page.errors == []


def test_reading_costs_little_and_loads_nothing(visit, site):
    page = visit("en/03_self_attention.html")
    page.wait_for_load_state("networkidle")
    assert not page.evaluate(
        "performance.getEntriesByType('resource').some(r => r.name.includes('/python/'))"
    )
    script = (site / "en" / "_static" / "python.js").read_bytes()
    settings = json.dumps(page.evaluate("document.body.dataset.python")).encode()
    assert len(gzip.compress(script)) + len(gzip.compress(settings)) < 3_600


def test_an_exercise_in_which_somebody_draws_gets_matplotlib(lent):
    page = lent("es/03_self_attention.html")
    panel = exercise(page, "softmax").open()
    panel.write("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    panel.press("Ejecutar")
    panel.done()
    assert panel.output.locator("img").count() == 1
    assert page.errors == []


def test_each_run_prints_its_own_and_an_error_is_pythons(lent):
    page = lent("en/03_self_attention.html")
    panel = exercise(page, "softmax").open()

    def shown(code):
        panel.write(code)
        panel.press("Run")
        return panel.done().output.inner_text().strip()

    assert shown("print('no end of line', end='')") == "no end of line"
    assert "no keyboard" in shown("name = input('Your name? ')")
    assert shown("print('next')") == "next"
    assert "RecursionError" in shown("def f():\n    return f()\nf()")
    assert "NameError: name 'mth' is not defined" in shown("import math\nprint(mth.pi)")
    assert shown("1 + 1") == "2"
    # What shows itself badly, and streams that are taken away, end nothing.
    bad = "class R:\n    def __repr__(self):\n        raise ValueError('in repr')\nR()"
    assert shown(bad).endswith("ValueError: in repr")
    assert shown("import sys\nprint('so far')\nsys.stdout.close()") == "so far"
    assert "SystemExit" in shown("exit()")
    assert shown("help(len)").startswith("Help on built-in function len")
    assert "cut here" in shown("'x' * 10**5")
    # Where Python itself ends, nothing is shown but a sentence.
    assert shown("x = []\nfor i in range(10**5): x = [x]\nx") == ""
    expect(panel.status).to_contain_text("Python itself has ended (Maximum call stack size")
    page.errors.clear()  # Pyodide says so, too.
    # What a run has spoilt comes back with *Start over*.
    shown("np = 3")
    assert "An earlier run has changed or deleted np." in shown("np.ones(2)")
    panel.press("Start over")
    assert shown("np.ones(2)") == "array([1., 1.])"
    assert page.errors == []


def test_with_storage_off_it_runs_and_says_that_nothing_is_kept(lent):
    page = lent("en/notation.html")
    page.add_init_script(NO_STORAGE)
    page.goto(page.url.replace("notation", "03_self_attention"))
    panel = exercise(page, "softmax").open()
    assert panel.check(SOFTMAX, "en").startswith("Correct.")
    assert "The browser keeps nothing" in panel.status.inner_text()
    page.goto(page.url.replace("03_self_attention", "progress"))
    expect(page.locator(".attn-progress-none")).to_be_visible()
    assert page.errors == []


def test_a_cell_draws(lent):
    """With the matplotlib of the browser, which comes when the first cell draws and not before."""
    page = lent("en/L03_self_attention.html")
    loaded = []
    page.context.on("request", lambda request: loaded.append(request.url.split("/")[-1]))
    first = page.locator(".attn-py-run:not(:has(details))").first
    first.evaluate("cell => { cell.id = 'computes'; }")
    Panel(page.locator("#computes")).open(".attn-py-corner").done()
    assert not any("matplotlib" in name for name in loaded)

    cell = page.locator(".attn-py-draws", has=page.locator("svg[role=img]")).first
    cell.evaluate(
        "cell => { cell.id = 'tried'; cell.querySelectorAll('details').forEach(d => { d.open = true; }); }"
    )
    panel = Panel(page.locator("#tried"))
    said = panel.cell.locator(".cell_output svg[role=img]").first.get_attribute("aria-label")
    panel.open(".attn-py-corner").done()
    assert any(name.startswith("matplotlib-") for name in loaded)
    panel.write("fig, ax = plt.subplots()\nax.plot([1, 2])\nplt.show()\nprint(len(tokens))")
    panel.press("Run")
    expect(panel.output.locator("pre")).to_have_text(re.compile(r"^\d+\n$"), timeout=START)
    picture = panel.output.locator("img")
    assert picture.get_attribute("alt") == said
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 300
    # The figure of the run before is gone, in Python too.
    panel.write("print('nothing drawn')")
    panel.press("Run")
    expect(panel.output).to_have_text("nothing drawn")
    expect(picture).to_have_count(0)
    assert page.errors == []


def test_two_tabs_with_one_exercise_hold_the_same_answer(visit):
    page = visit("en/03_self_attention.html")
    other = page.context.new_page()
    other.goto(page.url)
    panels = [exercise(tab, "softmax").open() for tab in (page, other)]
    panels[1].cell.get_by_role("button", name="Start over").focus()
    other.evaluate("document.activeElement.blur()")
    panels[0].write("softmax = 'written in the first tab'")
    expect(panels[1].cell.locator(".cm-content")).to_contain_text("written in the first tab")
    assert page.errors == []


def test_the_focus_stays_on_the_button_and_the_verdict_is_in_sight(lent):
    page = lent("es/03_self_attention.html", width=390, height=664, has_touch=True)
    panel = exercise(page, "softmax").open()
    panel.write(SOFTMAX)
    button = panel.cell.get_by_role("button", name="Comprobar")
    button.press("Enter")
    panel.done()
    expect(button).to_be_focused()
    expect(panel.output).to_be_in_viewport()
    expect(panel.cell.locator(".attn-py-keys")).to_be_hidden()
    assert button.bounding_box()["height"] >= 44
    letters = panel.cell.locator(".cm-content").evaluate(
        "e => parseFloat(getComputedStyle(e).fontSize)"
    )
    assert letters >= 16


@pytest.mark.parametrize("language", ["es", "en"])
@pytest.mark.parametrize("kept", [True, False])
def test_the_machine_says_on_opening_how_many_parts_are_ready(visit, language, kept):
    page = visit(f"{language}/notation.html")
    if not kept:
        page.add_init_script(NO_STORAGE)
    page.goto(page.url.replace("notation", "09_decoding"))
    machine = page.locator("#own-machine")
    bar, stored = machine.locator(".attn-py-bar"), machine.locator(".cell_output")
    said = {"es": "{} de 13 partes son tuyas", "en": "{} of 13 parts are yours"}[language]
    none = {"es": "Tu código: todavía ninguno.", "en": "Your code: none yet."}[language]
    expect(bar).to_contain_text(said.format(0))
    expect(stored.get_by_text(none)).to_be_visible()
    if not kept:
        assert page.errors == []
        return
    for solved, name in enumerate(["softmax", "rotate"], 1):
        page.goto(page.url.replace("09_decoding", "notation"))
        page.evaluate(
            "([name, code]) => { localStorage[name] = code; }", [f"attn-solved-{name}", SOFTMAX]
        )
        page.go_back()
        expect(bar).to_contain_text(said.format(solved))
        expect(stored).to_contain_text("→ la mujer dio el libro rojo al niño")
        expect(stored.get_by_text(none)).to_be_hidden()
        expect(stored.locator("code").first).to_be_hidden()  # what the course lent
        expect(stored.locator(".attn-machine")).to_be_hidden()  # with nothing lit
    # In this page, too.
    page.evaluate(
        "localStorage['attn-solved-beam_step'] = '-'; dispatchEvent(new CustomEvent('attn-solved'))"
    )
    expect(bar).to_contain_text(said.format(3))
    page.evaluate("localStorage.clear(); dispatchEvent(new Event('storage'))")
    expect(bar).to_contain_text(said.format(0))
    expect(stored.get_by_text(none)).to_be_visible()
    assert page.errors == []


def test_the_page_of_progress_names_every_exercise(visit):
    page = visit("es/progress.html")
    names = page.locator("[data-exercise]").evaluate_all(
        "items => items.map(i => i.dataset.exercise)"
    )
    assert sorted(names) == sorted([*modules(), "probable_text", "carried_vector"])
    figures = page.locator("[data-exercise][data-figure]")
    assert figures.evaluate_all("items => items.map(i => i.dataset.exercise)") == [
        "probable_text",
        "carried_vector",
    ]
    assert "[](" not in page.locator("article").inner_text()  # every chapter is a link
    for item in page.locator("[data-exercise] a").all()[::13]:
        target = item.get_attribute("href")
        page.goto(page.url.rsplit("/", 1)[0] + "/" + target)
        assert page.locator(f"#{target.split('#')[1]}").count() == 1
        page.go_back()
