"""The time of Python in the page: the first run, which loads it, and later checks.

On an idle machine the first *Check* of a page should answer within 6 seconds, and the next within
300 milliseconds. ``python -m benchmarks.first_run`` prints both, as medians over several new
profiles with an empty cache, and how much of the first is loading. It needs a browser and chapter
03 of the built site.
"""

import functools
import http.server
import os
import statistics
import threading
import time

from playwright.sync_api import sync_playwright

from benchmarks.widget_latency import SITE, QuietHandler, browser_program

# The budgets in seconds.
BUDGETS = {"first check": 6.0, "next check": 0.3}
# The number of starts in a new profile, of which the median is reported.
COLD = 5
# The number of checks after each start.
NEXT = 5
# The longest wait in milliseconds.
WAIT = 120_000
ANSWER = (
    "def softmax(scores):\n"
    "    e = np.exp(scores - scores.max(axis=-1, keepdims=True))\n"
    "    return e / e.sum(axis=-1, keepdims=True)\n"
)


def timed_check(page, cell):
    """Return the seconds from pressing *Check* to the answer."""
    page.evaluate("cell => cell.querySelector('.attn-py-output').replaceChildren()", cell)
    began = time.perf_counter()
    cell.query_selector(".attn-py-controls button").click()
    page.wait_for_function("cell => cell.querySelector('.attn-check')", arg=cell)
    return time.perf_counter() - began


def measure(page, address):
    """Return the seconds of the first and of the next check."""
    page.set_default_timeout(WAIT)
    page.goto(f"{address}/es/03_self_attention.html")
    page.click("#exercise-softmax .attn-py-bar button")
    page.wait_for_selector("#exercise-softmax .cm-content")
    cell = page.query_selector("#exercise-softmax")
    page.click("#exercise-softmax .cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(ANSWER)
    page.evaluate(LOADED, cell)
    first = timed_check(page, cell)
    loaded = page.evaluate("window.attnLoaded")
    after = [timed_check(page, cell) for _ in range(NEXT)]
    return {
        "loading, of that": loaded,
        "first check": first,
        "next check": statistics.median(after),
    }


# Before that, the status text shows the size of the download, and a bar its progress.
LOADED = """cell => {
  const began = performance.now();
  new MutationObserver(() => {
    if (/ejecuta/.test(cell.querySelector('.attn-py-status').textContent)) {
      window.attnLoaded ??= (performance.now() - began) / 1000;
    }
  }).observe(cell, { childList: true, subtree: true, characterData: true });
}"""


def main():
    """Measure in fresh profiles, and print the medians of the seconds beside the budgets."""
    if not (SITE / "python").is_dir():
        print("The built site runs no Python: see `make book`.")
        return
    handler = functools.partial(QuietHandler, directory=str(SITE))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    program = browser_program()
    address = f"http://127.0.0.1:{server.server_port}"
    found, load = [], os.getloadavg()[0]
    with sync_playwright() as playwright:
        # Each run has its own browser, which has compiled nothing yet.
        for _ in range(COLD):
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            found.append(measure(browser.new_page(), address))
            browser.close()
    server.shutdown()
    print(f"Medians of {COLD} starts; {load:.1f} other processes wanted to run when it began.")
    print(f"{'Python in the page, seconds':<30}{'median':>8}{'fastest':>9}{'budget':>8}")
    for name in ("first check", "loading, of that", "next check"):
        took = [one[name] for one in found]
        budget = f"{BUDGETS[name]:.1f}" if name in BUDGETS else ""
        print(f"{name:<30}{statistics.median(took):>8.2f}{min(took):>9.2f}{budget:>8}")


if __name__ == "__main__":
    main()
