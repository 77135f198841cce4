"""(m) Python in the page: the first check, which loads it, and later ones.

Processor time of the browser in all its processes, from pressing *Check* to the verdict, since the
time on the clock depends on what else runs on the machine. Each start is a new profile with an empty
cache. It needs a browser and chapter 03 of the built site.
"""

import psutil
from playwright.sync_api import sync_playwright

from benchmarks.report import Target
from benchmarks.timing import spread
from benchmarks.widget_latency import SITE, browser_program, serving

TARGETS = (
    Target("seconds of processor", at_most=6.0, where={"check": "the first"}),
    Target("seconds of processor", at_most=0.3, where={"check": "the next"}),
)
# The number of starts, and of later checks after each.
COLD = 3
NEXT = 5
# The longest wait in milliseconds.
WAIT = 180_000
ANSWER = (
    "def softmax(scores):\n"
    "    e = np.exp(scores - scores.max(axis=-1, keepdims=True))\n"
    "    return np.nan_to_num(e / e.sum(axis=-1, keepdims=True))\n"
)


def processor_seconds():
    """Return the processor time of the processes that this one has started."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


def timed_check(page, cell, code=None):
    """Return the processor seconds from pressing *Check* to the verdict on the code, or on what stands there."""
    if code:
        page.click("#exercise-softmax .cm-content")
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(code)
    page.evaluate("cell => cell.querySelector('.attn-py-output')?.replaceChildren()", cell)
    began = processor_seconds()
    cell.query_selector(".attn-py-controls button").click()
    page.wait_for_function("cell => cell.querySelector('.attn-check')", arg=cell)
    return processor_seconds() - began


def checks(page, address):
    """Return the processor seconds of each kind of check, after one start."""
    page.set_default_timeout(WAIT)
    page.goto(f"{address}/es/03_self_attention.html")
    page.click("#exercise-softmax .attn-py-bar button")
    page.wait_for_selector("#exercise-softmax .cm-content")
    cell = page.query_selector("#exercise-softmax")
    first = timed_check(page, cell, ANSWER)
    after = [timed_check(page, cell) for _ in range(NEXT)]
    wrong = timed_check(page, cell, ANSWER.replace("sum(axis=-1", "sum(axis=0"))
    return {"the first": [first], "the next": after, "of a wrong answer": [wrong]}


def measure():
    """Return a row for each kind of check, over several starts of a browser."""
    program, found = browser_program(), {}
    with serving(SITE) as address, sync_playwright() as playwright:
        # Each run has its own browser, which has compiled nothing yet.
        for _ in range(COLD):
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            for check, seconds in checks(browser.new_page(), address).items():
                found.setdefault(check, []).extend(seconds)
            browser.close()
    return [
        {"check": check, "seconds of processor": spread(seconds)}
        for check, seconds in found.items()
    ]
