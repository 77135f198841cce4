"""Parts of the machine that the tests need and pip does not bring, such as a browser or a sandbox.

`make test` runs this file first. It installs what is missing where it may do so without asking:
a headless Chromium inside `build/`, and packages of the system where `apt-get` can be run as root
or through a `sudo` that wants no password. What cannot be installed is named, and the tests that
need it are skipped through the one fixture `needed` of `tests/conftest.py`.
"""

import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

from attn_model import kernel
from vendor import PACKAGES, VENDOR, VendorError, fetch, node

from attn._fetch import fetched
from attn.corpus.tatoeba import FILE

# The first opens no window, and takes half the processor time of the other browsers.
BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
MACOS_BROWSERS = ("Google Chrome", "Chromium", "Microsoft Edge")
# Chromium's own sandbox needs namespaces that a container does not grant. The other options keep
# Chromium from contacting its maker's servers in the background.
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PINNED = VENDOR / "headless-chromium" / "chromium"
# PyTorch expects another version of Triton, so this folder is outside the environment.
TRITON = ROOT / "build" / "triton"


class Missing(Exception):
    """A part is not on this machine; the message names it, the reason and how to install it."""


class NotGiven(Missing):
    """A part that is only there where a user asked for it; CI need not have it either."""


def browser():
    """Return the path of a Chromium, Chrome or Edge that starts."""
    named = os.environ.get("ATTN_BROWSER")
    macos = (f"/Applications/{name}.app/Contents/MacOS/{name}" for name in MACOS_BROWSERS)
    with sync_playwright() as playwright:
        candidates = [*map(shutil.which, BROWSERS), *macos]
        candidates += [playwright.chromium.executable_path, str(PINNED)]
        for program in [named] if named else candidates:
            if program and Path(program).exists() and _starts(playwright, program):
                return program
    if named:
        raise Missing(f"no browser: ATTN_BROWSER names {named}, which does not start")
    raise Missing(
        "no browser: apt install chromium (Debian), brew install --cask chromium (macOS) or any "
        "Chrome or Edge; or name its program in ATTN_BROWSER"
    )


def _starts(playwright, program):
    """Tell whether a browser starts: Ubuntu's `chromium-browser` may only print how to get one."""
    try:
        playwright.chromium.launch(executable_path=program, args=QUIET, timeout=60_000).close()
    except PlaywrightError:
        return False
    return True


def sandbox():
    """Make sure that student code can be run in bubblewrap."""
    from grader.sandbox import NoSandbox, available

    try:
        available()
    except NoSandbox as reason:
        raise Missing(f"no sandbox for student code: {reason}") from None


def postgresql():
    """Return the folder with the programs of a PostgreSQL server."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = [*map(str, reversed(debian)), shutil.which("initdb")][0]
    # initdb may be a link into another program's folder, such as a wrapper's, which has no server.
    if found is None or not (Path(found).resolve().parent / "pg_ctl").exists():
        raise Missing("no PostgreSQL server: apt install postgresql")
    return Path(found).resolve().parent


def compiler():
    """Return the path of the C++ compiler that PyTorch's own compiler calls."""
    if " " in sys.prefix:
        raise Missing(
            f"no C++ compiler that links to PyTorch: PyTorch does not quote the blank in {sys.prefix}; "
            "clone into a folder without one"
        )
    if found := shutil.which("c++"):
        return found
    raise Missing("no C++ compiler: apt install g++")


def kernel_headers():
    """Return the header in which the kernel numbers its system calls."""
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if header.exists():
        return header
    raise Missing("no headers of the kernel: apt install linux-libc-dev (x86-64 alone has them)")


def git():
    """Return the path of git; the tree must be a clone."""
    if (found := shutil.which("git")) and (ROOT / ".git").exists():
        return found
    raise Missing("no git, or no clone: install git and clone the repository")


def tatoeba():
    """Return the path of the corpus of real sentences; a test downloads nothing."""
    try:
        return fetched(FILE, download=False)
    except ValueError as error:
        kind = Missing if "ATTN_DATA" in os.environ else NotGiven
        raise kind(f"no corpus of real sentences: {error}") from None


def emoji_pictures():
    """Return the folder of the fetched pictures and names of emoji; a test downloads nothing."""
    packages = ("emoji-datasource-twitter", "emoji-datasource-google", "emojibase-data")
    if all((VENDOR / f"{name}-{PACKAGES[name][0]}").exists() for name in packages):
        return VENDOR
    raise NotGiven("no pictures of emoji: make emoji fetches them and trains for ten minutes")


def python_in_the_page():
    """Return the folder of the built site with the Python that its pages run."""
    if (ROOT / "build" / "site" / "python" / "files.json").exists():
        return ROOT / "build" / "site" / "python"
    raise Missing("no Python in the pages: `make book` had no NumPy for the browser, and said why")


def java():
    """Return the path of a Java that runs; the checker of EPUB files is written in Java."""
    if (found := shutil.which("java")) and _runs([found, "-version"]):
        return found
    raise Missing("no Java: apt install default-jre-headless")


def editions():
    """Return the folder with the PDF, EPUB and zip files, which must be newer than the site."""
    made, site = ROOT / "build" / "editions", ROOT / "build" / "site" / "es" / "index.html"
    files = [
        made / f"attn-{language}.{kind}"
        for language in ("es", "en")
        for kind in ("pdf", "epub", "zip")
    ]
    if not all(
        f.exists() and site.exists() and f.stat().st_mtime > site.stat().st_mtime for f in files
    ):
        raise NotGiven("no PDF and EPUB of this site: make test-editions")
    return made


def hub():
    """Return the path of the JupyterHub that `make hub` installs, with its proxy."""
    installed = Path(sys.executable).with_name("jupyterhub")
    if installed.exists() and (ROOT / ".venv" / "hub" / "node_modules").exists():
        return installed
    raise Missing("no JupyterHub: make hub")


def firefox():
    """Return a tuple that holds only the path of Firefox."""
    for name in ("firefox-esr", "firefox"):
        if (found := shutil.which(name)) and _runs([found, "--version"]):
            return (found,)
    raise Missing("no Firefox: apt install firefox-esr (Debian), or Mozilla's own")


def webkit():
    """Return the paths of WebKit's driver and of a virtual screen."""
    found = tuple(map(shutil.which, ("WebKitWebDriver", "Xvfb")))
    if all(found):
        return found
    raise Missing("no WebKit: apt install webkit2gtk-driver xvfb")


def triton():
    """Return the folder with Triton and its interpreter, which a test adds to Python's path."""
    if (TRITON / "triton").exists():
        return TRITON
    raise NotGiven("no Triton: make test-kernel fetches it (Linux, 1 GB)")


def smollm2():
    """Return the path of the file with SmolLM2; a test downloads nothing."""
    return _published("smollm2")


def minilm():
    """Return the path of the folder with MiniLM; a test downloads nothing."""
    return _published("minilm")


def model_in_the_page():
    """Return the folder of the built site with the language model that its pages run."""
    if (ROOT / "build" / "site" / "model" / "smollm2.json").exists():
        return ROOT / "build" / "site" / "model"
    raise Missing("no language model in the pages: `make book` had none, and said why")


def packed_kernel():
    """Return the path of the compiled kernel of the language model in the page."""
    try:
        return kernel(kept_only=True)
    except VendorError as error:
        raise Missing(f"no kernel of the language model in the page: {error}") from None


def _published(name):
    from attn.pretrained import published  # This import loads PyTorch.

    try:
        return published.fetched(name, download=False)
    except ValueError as error:
        raise Missing(f"no pretrained model: {error}") from None


PARTS = {
    "browser": browser,
    "sandbox": sandbox,
    "postgresql": postgresql,
    "hub": hub,
    "compiler": compiler,
    "kernel_headers": kernel_headers,
    "git": git,
    "tatoeba": tatoeba,
    "emoji_pictures": emoji_pictures,
    "python_in_the_page": python_in_the_page,
    "smollm2": smollm2,
    "minilm": minilm,
    "packed_kernel": packed_kernel,
    "model_in_the_page": model_in_the_page,
    "java": java,
    "editions": editions,
    "firefox": firefox,
    "webkit": webkit,
    "triton": triton,
}


def install_browser():
    """Unpack the pinned headless Chromium from npm, which brings the libraries it needs.

    It is built for Linux on x86-64; elsewhere Playwright downloads its own.
    """
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        command = [sys.executable, "-m", "playwright", "install", "chromium"]
        subprocess.run(command, check=False, timeout=600)
        return
    package = fetch("@sparticuz/chromium") / "bin"
    with tempfile.TemporaryDirectory(dir=VENDOR) as scratch:
        folder = Path(scratch, "unpacked")
        folder.mkdir()
        for packed in sorted(package.glob("*.br")):
            unpacked = folder / packed.stem
            subprocess.run([node(), "-e", _UNPACK, packed, unpacked], check=True)
            if unpacked.suffix == ".tar":
                with tarfile.open(unpacked) as tar:
                    tar.extractall(folder, filter="data")
                unpacked.unlink()
        # Like any browser's program, this one finds its libraries and fonts by itself.
        (folder / "chromium").rename(folder / "headless")
        (folder / "chromium").write_text(_START, encoding="utf-8")
        for name in ("chromium", "headless"):
            (folder / name).chmod(0o755)
        (folder / "fonts.conf").write_text(_FONTS, encoding="utf-8")
        folder.rename(PINNED.parent)


def install_triton():
    """Install the pinned Triton into a folder of its own."""
    pip = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    if not _runs([*pip, "--no-deps", "--target", TRITON, "triton==3.9.0"]):
        shutil.rmtree(TRITON, ignore_errors=True)


_UNPACK = """
const { createReadStream, createWriteStream } = require("node:fs");
const { createBrotliDecompress } = require("node:zlib");
const [packed, unpacked] = process.argv.slice(1);
createReadStream(packed).pipe(createBrotliDecompress()).pipe(createWriteStream(unpacked));
"""

_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""

_START = """#!/bin/sh
here=$(dirname -- "$(readlink -f -- "$0")")
export LD_LIBRARY_PATH="$here/lib" FONTCONFIG_PATH="$here"
exec "$here/headless" "$@"
"""


def install_package(*names):
    """Install packages of Debian or Ubuntu, if that takes no password.

    Parameters
    ----------
    *names : str
    """
    apt = shutil.which("apt-get")
    as_root = [] if not hasattr(os, "geteuid") or os.geteuid() == 0 else ["sudo", "-n"]
    if apt is None or (as_root and not _runs([*as_root, "true"])):
        return
    print(f"Installing {' '.join(names)}, which the tests need (apt-get) ...", flush=True)
    command = [*as_root, apt, "-qq", "-o", "Acquire::Retries=1"]
    _runs([*command, "update"])
    _runs([*command, "install", "-y", "--no-install-recommends", *names])


def _runs(command):
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=environment,
            timeout=600,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


INSTALL = {
    "browser": install_browser,
    "sandbox": lambda: install_package("bubblewrap"),
    "postgresql": lambda: install_package("postgresql"),
    "java": lambda: install_package("default-jre-headless"),
    "hub": lambda: _runs(["make", "-C", str(ROOT), "hub"]),
    "firefox": lambda: install_package("firefox-esr"),
    "webkit": lambda: install_package("webkit2gtk-driver", "xvfb"),
    "triton": install_triton,
}


def main(names):
    """Find the named parts, install missing ones, and print which are still missing."""
    for name in names:
        try:
            PARTS[name]()
            continue
        except Missing:
            pass
        try:
            INSTALL[name]()
        except VendorError as error:
            print(error)
        try:
            PARTS[name]()
        except Missing as missing:
            print(f"The tests go on without it: {missing}.", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
