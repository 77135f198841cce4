"""The built site, a server for it, and a real browser."""

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "site"
sys.path.insert(0, str(ROOT / "book" / "_ext"))

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
            "microsoft-edge", "msedge")  # fmt: skip
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip


@pytest.fixture(scope="session")
def site():
    """The folder of the built site; it must be newer than what it is built from."""
    landing = SITE / "index.html"
    sources = [path for folder in ("book", "notebooks/es", "notebooks/en", "attn/widgets")
               for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts]  # fmt: skip
    if not landing.exists() or max(p.stat().st_mtime for p in sources) > SITE.stat().st_mtime:
        pytest.fail("build/site is missing or older than its sources: run `make book` first")
    return SITE


@pytest.fixture(scope="session")
def server(site):
    """The address of a server of the built site on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    handler = functools.partial(Quiet, directory=str(site))
    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()


@pytest.fixture(scope="session")
def browser():
    """Chromium or a relative of it; without one the tests are skipped, and the run says so."""
    with sync_playwright() as playwright:
        program = os.environ.get("ATTN_BROWSER") or next(
            filter(None, map(shutil.which, PROGRAMS)), None
        )
        if program is None and not Path(playwright.chromium.executable_path).exists():
            install = [sys.executable, "-m", "playwright", "install", "chromium"]
            subprocess.run(install, check=False, capture_output=True, timeout=600)
        try:
            running = playwright.chromium.launch(executable_path=program, args=QUIET)
        except Exception as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(f"no browser: {str(error).splitlines()[0]}")
        yield running
        running.close()
