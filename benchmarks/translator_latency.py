"""The latency of a translator in the page: of the first request, and of every sentence after it.

The budgets: 2 s from the first request to the first translation, on a page from this machine's own
server, the download of the model included; after that, a median of 40 ms for a sentence of ten
words with greedy search. Give the name of the model to measure: ``python -m
benchmarks.translator_latency grammar``.
"""

import statistics
import sys
import tempfile
from itertools import islice
from pathlib import Path

from playwright.sync_api import sync_playwright

from attn.applications.models import TRANSLATOR
from attn.applications.translation import Translator
from attn_course.grammar import generate
from attn_course.widgets import LiveTranslator, _source
from benchmarks.widget_latency import browser_program, serving

SENTENCES = 100
TEN_WORDS = (
    "I have never seen such a beautiful library in here.",
    "She has lived in a small house for three years.",
    "Do you know where I can find a good doctor?",
    "The children were playing in the garden when it rained.",
    "He told me that he would come back next week.",
    "I don't think that we have enough money for that.",
    "If I were you, I would not buy that car.",
    "My brother wants to learn how to play the guitar.",
    "Nobody knows why the train was so late this morning.",
    "Would you mind if I opened the window a little?",
)
VISITS = 7

FIRST = """async () => {
  const note = document.querySelector("[data-attn=note]");
  const began = performance.now();
  document.querySelector("[data-attn=translate]").click();
  await new Promise((resolve) => new MutationObserver(() => {
    if (/\\d ms/.test(note.textContent)) resolve();
  }).observe(note, { childList: true, characterData: true, subtree: true }));
  return performance.now() - began;
}"""

# The computation of the widget without the drawing.
EACH = """([texts, width, pretrained]) => {
  const { loadTranslator, encodeSource, translate } = globalThis.attnForBenchmark;
  const model = { get: (name) => ({ pretrained })[name] };
  return loadTranslator(model).then((translator) => texts.map((text) => {
    const began = performance.now();
    translate(translator, encodeSource(translator, text).ids, width);
    return performance.now() - began;
  }));
}"""


def sentences(name):
    """Return the sentences to translate: of ten words, or those of the grammar."""
    if name == "tatoeba":
        return [*TEN_WORDS] * (SENTENCES // len(TEN_WORDS))
    source = Translator.pretrained(name).source
    return list(islice((p.source for p in generate(0) if not source.unknown(p.source)), SENTENCES))


def write_page(folder, widget):
    """Write a page with the widget and its files, as on the site."""
    exposed = "globalThis.attnForBenchmark = { loadTranslator, encodeSource, translate };"
    files = _source.model_scripts() | {
        "translator_widgets.js": _source.classic_bundle("translator_widgets"),
        "widgets.css": _source.stylesheet(),
        # A classic script is needed, because it finds the files beside it.
        "exposed.js": _source._classic(_source.module("live_translator")).replace(
            "return { render };", exposed
        ),
        "index.html": '<!doctype html><meta charset="utf-8"><link rel="stylesheet" '
        'href="widgets.css"><script defer src="translator_widgets.js"></script>'
        f'<script defer src="exposed.js"></script>{widget._html()}',
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def main(name=TRANSLATOR):
    """Measure and print medians and 95th percentiles, in milliseconds."""
    texts = sentences(name)
    example = Translator.pretrained(name).attention(texts[0])
    widget = LiveTranslator(example, pretrained=name, language="en")
    program = browser_program()
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(folder) as address,
        sync_playwright() as playwright,
    ):
        write_page(Path(folder), widget)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        print(f"{'milliseconds':<34}{'median':>8}{'p95':>8}")
        first = []
        for _ in range(VISITS):
            page = browser.new_context().new_page()
            page.goto(f"{address}/")
            first.append(page.evaluate(FIRST))
        report("first translation, model included", first)
        for width in (1, 2, 4):
            page.evaluate(EACH, [texts, width, widget.pretrained])
            times = page.evaluate(EACH, [texts, width, widget.pretrained])
            report(f"a sentence, beam width {width}", times)
        browser.close()


def report(name, times):
    """Print one row."""
    times = sorted(times)
    print(f"{name:<34}{statistics.median(times):>8.1f}{times[int(0.95 * len(times))]:>8.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
