"""(i) A page's size, loading time, layout shift, and Lighthouse scores.

The pages of the built site are served with gzip, as hosts of pages do, and opened in the tests'
browser on a processor slowed down four times. They are compared with chapter 03 published in two
other ways, both built here: Jupyter Book with its own theme, and the HTML of nbconvert. The
requests of those two to other servers are not counted: no other machine is reached.

``python -m benchmarks audit`` needs the built site, a browser, and npm's registry the first time.
The lock file in ``benchmarks/lighthouse`` pins Lighthouse and all its packages, with a checksum
each.
"""

import functools
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.report import ROOT, Target
from benchmarks.timing import spread
from benchmarks.widget_latency import SITE, QuietHandler, browser_program, serving

sys.path.insert(0, str(ROOT / "book" / "_ext"))

from vendor import VENDOR, install, node

BUILT = ROOT / "build" / "audit"
CHAPTER = "03_self_attention"
OURS = "`attn`"
PAGES = {"opening page": "index", "chapter 03": CHAPTER, "translator": "translator"}
CATEGORIES = {
    "performance": "performance",
    "accessibility": "accessibility",
    "best-practices": "best practices",
    "seo": "SEO",
}
# How often a page is opened, and how often Lighthouse times it.
TURNS = 5
SLOWER = 4
# Requests within so many milliseconds after loading still count.
WAIT_MS = 1000
TARGETS = (
    Target("KB", at_most=300, where={"made by": OURS}),
    Target("largest paint, s", at_most=1, where={"made by": OURS}),
    Target("shift", at_most=0.02, where={"made by": OURS}),
    *(Target(name, at_least=98, where={"made by": OURS}) for name in CATEGORIES.values()),
)
PAINT = """() => new Promise(done => new PerformanceObserver(list => done(list.getEntries().at(-1).startTime))
  .observe({ type: "largest-contentful-paint", buffered: true }))"""
SHIFTS = """window.shift = 0; new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true })"""


class Packing(QuietHandler):
    """A server that compresses what can be compressed, and allows caching for ten minutes."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        """Send a file."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.exists():
            self.send_error(404)
            return
        content, is_packed = packed(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Cache-Control", "max-age=600")
        if is_packed:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@functools.cache
def packed(path):
    """Return the content sent for a file, and whether it is compressed."""
    content = path.read_bytes()
    is_packed = path.suffix not in {".woff2", ".woff", ".png", ".jpg", ".zip", ".whl"}
    return (gzip.compress(content) if is_packed else content), is_packed


def opened(browser, address, slower=SLOWER, wait_ms=WAIT_MS):
    """Open a page in a new profile; return its kilobytes, largest-paint seconds and shift."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    devtools = page.context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    sizes = []
    devtools.on("Network.loadingFinished", lambda told: sizes.append(told["encodedDataLength"]))
    page.add_init_script(SHIFTS)
    page.goto(address, wait_until="load", timeout=120_000)
    page.wait_for_timeout(wait_ms)
    seconds = page.evaluate(PAINT) / 1000
    shift = page.evaluate("window.shift")
    page.close()
    return sum(sizes) / 1000, seconds, shift


def lighthouse(program, address, turns=TURNS):
    """Return Lighthouse's score of a page in each category, of 100; performance is a median."""
    folder = VENDOR / "lighthouse"
    pinned = ROOT / "benchmarks" / "lighthouse"
    lock = (pinned / "package-lock.json").read_bytes()
    if not (folder / "installed").exists() or (folder / "installed").read_bytes() != lock:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(pinned, folder)
        install(folder)
        (folder / "installed").write_bytes(lock)
    reports = []
    for turn in range(turns):
        categories = CATEGORIES if turn == 0 else ["performance"]
        done = subprocess.run(
            [
                node(),
                folder / "node_modules/lighthouse/cli/index.js",
                address,
                "--output=json",
                "--quiet",
                "--no-enable-error-reporting",
                f"--only-categories={','.join(categories)}",
                "--chrome-flags=--headless=new --no-sandbox --disable-gpu",
            ],
            env={**os.environ, "CHROME_PATH": program},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        reports.append(json.loads(done.stdout))
    explain(address, reports[0])
    scores = {name: reports[0]["categories"][name]["score"] for name in CATEGORIES}
    scores["performance"] = statistics.median(
        report["categories"]["performance"]["score"] for report in reports
    )
    return {title: round(100 * scores[name]) for name, title in CATEGORIES.items()}


def explain(address, report):
    """Print the findings of Lighthouse in all categories but performance."""
    for name in list(CATEGORIES)[1:]:
        for each in report["categories"][name]["auditRefs"]:
            found = report["audits"][each["id"]]
            if each["weight"] and found["score"] is not None and found["score"] < 1:
                print(f"  {address}: {name}: {found['title']}", flush=True)


def peers():
    """Build chapter 03 with other tools; return the path of each page within `BUILT`."""
    shutil.rmtree(BUILT, ignore_errors=True)
    source = BUILT / "source"
    source.mkdir(parents=True)
    notebook = ROOT / "notebooks" / "en" / f"{CHAPTER}.ipynb"
    shutil.copy(notebook, source)
    (source / "_config.yml").write_text(
        "title: Attention\nexecute: {execute_notebooks: 'off'}\n", "utf-8"
    )
    (source / "_toc.yml").write_text(f"format: jb-book\nroot: {CHAPTER}\n", "utf-8")
    programs = {
        "jupyter_book": "import sys; from jupyter_book.cli.main import main; sys.exit(main())",
        "nbconvert": "from nbconvert.nbconvertapp import main; main()",
    }
    arguments = {
        "jupyter_book": ["build", source, "--quiet"],
        "nbconvert": [
            "--to",
            "html",
            notebook,
            "--output-dir",
            BUILT / "nbconvert",
            "--log-level=ERROR",
        ],
    }
    for name, code in programs.items():
        subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments[name])],
            check=True,
            capture_output=True,
            cwd=BUILT,
        )
    return {
        "Jupyter Book": f"source/_build/html/{CHAPTER}.html",
        "nbconvert": f"nbconvert/{CHAPTER}.html",
    }


def measure(turns=TURNS):
    """Return one row per page: ours, our heaviest, and the chapter built by other tools."""
    from tests.machine import QUIET

    program = browser_program()
    with (
        serving(SITE, Packing) as site,
        serving(BUILT, Packing) as elsewhere,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=program, args=QUIET)
        addresses = {
            path.relative_to(SITE).as_posix(): f"{site}/{path.relative_to(SITE).as_posix()}"
            for path in sorted(SITE.glob("e[sn]/*.html"))
        }
        weights = {
            name: opened(browser, address, slower=1, wait_ms=300)[0]
            for name, address in addresses.items()
        }
        heaviest = max(weights, key=weights.get)
        print(f"The heaviest of {len(weights)} pages: {heaviest}", flush=True)
        asked = [
            *((title, OURS, f"{site}/en/{name}.html") for title, name in PAGES.items()),
            ("heaviest of all", OURS, addresses[heaviest]),
            *(("chapter 03", name, f"{elsewhere}/{path}") for name, path in peers().items()),
        ]
        rows = []
        for title, maker, address in asked:
            found = [opened(browser, address) for _ in range(turns)]
            kilobytes, seconds, shifts = zip(*found, strict=True)
            rows.append(
                {
                    "page": title,
                    "made by": maker,
                    "KB": round(statistics.median(kilobytes)),
                    "largest paint, s": spread(seconds),
                    "shift": round(max(shifts), 3),
                }
                | lighthouse(program, address, turns)
            )
            print(rows[-1], flush=True)
        browser.close()
    return rows
