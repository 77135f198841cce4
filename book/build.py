"""Build the site: both editions side by side, then the landing page. See `make book`."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import yaml

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
SITE = BUILD / "site"
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import attn_fonts
import attn_launch
import attn_model
import attn_python
from vendor import VendorError, fetch

from attn.io import locked


def merge(base, changes):
    """Return `base` updated with `changes`, recursively in nested mappings."""
    if not isinstance(base, dict) or not isinstance(changes, dict):
        return changes
    return {**base, **{key: merge(base.get(key), value) for key, value in changes.items()}}


def edition_config(language):
    """Write the edition's whole configuration where the builder reads it; return its path."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    if language != "es":
        changes = yaml.safe_load((ROOT / f"_config.{language}.yml").read_text(encoding="utf-8"))
        config = merge(config, changes)
    # Jupyter Book resolves this path against the folder of the configuration.
    config["sphinx"]["local_extensions"] = {"attn_book": str(ROOT / "book" / "_ext")}
    path = BUILD / f"_config.{language}.yml"
    path.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    return path


def start(language, folder, sphinx_alone):
    """Start the builder on one edition; return the process and the path of its log."""
    toc = ROOT / ("_toc.yml" if language == "es" else f"_toc.{language}.yml")
    config = edition_config(language)
    command = [sys.executable]
    if sphinx_alone:
        command += ["-m", "sphinx", str(ROOT), str(folder / language / "_build" / "html")]
        command += ["-c", str(ROOT / "book"), "-D", f"external_toc_path={toc}"]
        command += ["-d", str(folder / language / "doctrees")]
    else:
        jupyter_book = "import sys; from jupyter_book.cli.main import main; sys.exit(main())"
        command += ["-c", jupyter_book, "build", str(ROOT), "--all", "--config", str(config)]
        command += ["--toc", str(toc), "--path-output", str(folder / language)]
    command += ["-W", "--keep-going", "--quiet"]
    # A file, not a pipe, because a child process that outlives the build would keep a pipe open.
    report = folder / f"{language}.log"
    with report.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "ATTN_BOTH_EDITIONS": "yes", "ATTN_CONFIG": str(config)},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    return process, report


def main(sphinx_alone=False):
    """Build everything into ``build/site``, one build at a time; return the exit status."""
    BUILD.mkdir(exist_ok=True)
    with locked(SITE, wait=True):
        return build(sphinx_alone)


def build(sphinx_alone):
    """Build everything; return the exit status."""
    began = time.monotonic()
    folder = BUILD / "sphinx" if sphinx_alone else BUILD
    site = folder / SITE.name
    folder.mkdir(exist_ok=True)
    address = os.environ.get("ATTN_SITE_URL", "")
    said = urlsplit(address)
    if address and not (said.scheme in ("http", "https") and said.netloc and address.endswith("/")):
        print(f"ATTN_SITE_URL: expected an address such as https://attn.example/, got {address!r}")
        return 1
    print("Building the site ...", flush=True)
    try:
        fetch("katex")
        attn_fonts.files(fetch)
    except VendorError as error:
        print(error)
        return 1
    python = BUILD / "python"
    shutil.rmtree(python, ignore_errors=True)
    missing = attn_python.assemble(python)
    if missing:
        print(f"The pages will not run Python: {missing}")
        os.environ.pop("ATTN_PYTHON", None)
    else:
        files = json.loads((python / "files.json").read_text(encoding="utf-8"))
        os.environ["ATTN_PYTHON"] = "drawing" if files["drawing"] else "yes"
    model = BUILD / "model"
    shutil.rmtree(model, ignore_errors=True)
    for name, reason in attn_model.assemble(model).items():
        print(f"{name} is not in the pages: {reason}", flush=True)
    os.environ["ATTN_MODEL"] = str(model)
    for language in ("es", "en"):  # a page that is no longer in the book must not remain
        shutil.rmtree(folder / language, ignore_errors=True)
    processes = {language: start(language, folder, sphinx_alone) for language in ("es", "en")}
    failed = False
    try:
        for language, (process, report) in processes.items():
            if process.wait():
                failed = True
                print(report.read_text(encoding="utf-8"))
                print(f"The {language} edition has errors or warnings: see above.")
    finally:  # A stopped build leaves no process in a folder that the next one empties.
        for process, _ in processes.values():
            process.terminate()
            process.wait()
    if failed:
        return 1
    fresh = folder / "site.new"
    shutil.rmtree(fresh, ignore_errors=True)
    # Sphinx's note contains the path of this folder, which differs between machines.
    notes = shutil.ignore_patterns(".buildinfo")
    for language in processes:
        shutil.copytree(folder / language / "_build" / "html", fresh / language, ignore=notes)
        for notebook in (fresh / language / "_sources").rglob("*.ipynb"):
            notebook.write_text(
                attn_launch.prepared(notebook.read_text("utf-8"), language), "utf-8"
            )
    if not missing:
        python.rename(fresh / "python")
    if model.exists():
        model.rename(fresh / "model")
    shutil.copytree(ROOT / "book" / "landing", fresh, dirs_exist_ok=True)
    # A server sends this page for any URL, so it must contain the path of the site.
    lost = (fresh / "404.html").read_text(encoding="utf-8")
    lost = lost.replace('<base href="/">', f'<base href="{said.path or "/"}">')
    (fresh / "404.html").write_text(lost, encoding="utf-8")
    for name in ("palette.css", "type.css"):
        shutil.copy(BUILD / "assets" / name, fresh)
    (fresh / "fonts").mkdir()
    for name in attn_fonts.files(fetch):
        shutil.copy(BUILD / "assets" / "fonts" / name, fresh / "fonts")
    shutil.copy(ROOT / "book" / "_static" / "favicon.svg", fresh)
    # Without this file GitHub Pages omits the folders whose names begin with an underscore.
    (fresh / ".nojekyll").touch()
    attn_fonts.trim(fresh)
    shutil.rmtree(site, ignore_errors=True)
    fresh.rename(site)
    seen = "" if sphinx_alone else " See it: make serve"
    print(f"Built {site.relative_to(ROOT)} in {time.monotonic() - began:.0f} s.{seen}")
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    parser = argparse.ArgumentParser(description=__doc__)
    help = "build with Sphinx and no Jupyter Book, into build/sphinx: see `make book-newest`"
    parser.add_argument("--sphinx-alone", action="store_true", help=help)
    sys.exit(main(**vars(parser.parse_args())))
