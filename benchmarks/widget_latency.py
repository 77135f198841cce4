"""The time that a widget of the built page takes from a slider's move to a finished layout.

The budget is one frame of a 60 Hz screen, 16.7 ms: style, script and layout of every move
must fit in it. Times are of this machine's browser, so they are given as a share of a frame.
"""

import contextlib
import functools
import http.server
import statistics
import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

SITE = Path(__file__).resolve().parents[1] / "build" / "site"
FRAME_MS = 1000 / 60
MOVES = 200

# Every move waits for its own frame, so that two are not painted as one.
MEASURE = """async ([selector, moves]) => {
  const slider = document.querySelector(selector);
  slider.scrollIntoView({ block: "center" });
  const [low, high] = [Number(slider.min), Number(slider.max)];
  const times = [];
  for (let i = 0; i < moves; i += 1) {
    await new Promise(requestAnimationFrame);
    const began = performance.now();
    slider.value = low + ((high - low) * (i % 40)) / 39;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    slider.closest("[data-anywidget]").getBoundingClientRect();
    times.push(performance.now() - began);
  }
  return times;
}"""

WIDGETS = {
    "explorer, 6 tokens": "[data-anywidget=attention_explorer] [data-attn=temperature]",
    "softmax playground": "[data-anywidget=softmax_playground] [data-attn=score-slider]",
}


def browser_program():
    """Return the path of the browser that the tests use, or exit with a readable error."""
    from tests.machine import Missing, browser

    try:
        return browser()
    except Missing as missing:
        sys.exit(str(missing))


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """A handler that does not log requests between the measurements."""

    def log_message(self, *args):
        """Log nothing."""


@contextlib.contextmanager
def serving(folder, handler=QuietHandler):
    """Serve a folder; yield its URL."""
    handler = functools.partial(handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def main():
    """Measure each widget of chapter 03 and print medians and 95th percentiles."""
    program = browser_program()
    with serving(SITE) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{address}/es/03_self_attention.html")
        print(f"{'one slider move, as a share of a 60 Hz frame':<46}{'median':>8}{'p95':>8}")
        for name, selector in WIDGETS.items():
            times = sorted(page.evaluate(MEASURE, [selector, MOVES])[10:])
            shares = statistics.median(times) / FRAME_MS, times[int(0.95 * len(times))] / FRAME_MS
            print(f"{name:<46}{shares[0]:>8.2f}{shares[1]:>8.2f}")
        browser.close()


if __name__ == "__main__":
    main()
