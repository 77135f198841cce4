"""Make the PDF, the EPUB and the zip of notebooks of each edition, and link them in the site.

See `make editions`. The same site, browser and fonts give the same bytes, except in the pictures of
widgets, in which Chromium may round the colour of a pixel by one step of 255.
"""

import functools
import os
import shutil
import sys
import tomllib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "_ext")]

import pages
import paper
import reader
from playwright.sync_api import sync_playwright

import notebooks
from tests.machine import QUIET, Missing, browser, install_browser

OUT = pages.ROOT / "build" / "editions"
KINDS = ("pdf", "epub", "zip")

FRONT = {
    "es": "Versión {version}. Texto y figuras: CC BY 4.0. Código: MIT. Las figuras interactivas son "
    "aquí imágenes; en el sitio del curso{address} funcionan, y sus ejercicios contestan.",
    "en": "Version {version}. Text and figures: CC BY 4.0. Code: MIT. Interactive figures are "
    "pictures here; on the site of the course{address} they work, and its exercises answer.",
}
OFFERS = {
    "es": {
        "pdf": "PDF, para imprimir",
        "epub": "EPUB, para un lector de libros o un teléfono",
        "zip": "los cuadernos, para una clase sin red",
    },
    "en": {
        "pdf": "PDF, to print",
        "epub": "EPUB, for an e-reader or a phone",
        "zip": "the notebooks, for a class without network",
    },
}


def size(path):
    """Return the size of a file for people to read.

    >>> size(Path(__file__))
    '0.1 MB'
    """
    return f"{max(path.stat().st_size / 1e6, 0.1):.1f} MB"


def offer(language):
    """Copy the files into the site, and link them in the pages that have a place for it."""
    site, rows = pages.SITE / language, []
    for kind in KINDS:
        made = OUT / f"attn-{language}.{kind}"
        shutil.copy(made, site / made.name)
        rows.append(f'<li><a href="{made.name}">{OFFERS[language][kind]}</a> ({size(made)})</li>')
    page = site / "how_to_use.html"
    text = page.read_text(encoding="utf-8")
    before, place, after = text.partition('<div class="attn-editions docutils container">')
    if not place:
        raise ValueError(f"{page}: expected a place for the editions, got none; run make book")
    after = after[after.index("</div>") :]
    page.write_text(f"{before}{place}<ul>{''.join(rows)}</ul>{after}", encoding="utf-8")


def make(program, version, wheel, language):
    """Make the three files of an edition with a browser, and link them in the site."""
    home = os.environ.get("ATTN_SITE_URL", "")
    address = f" ({home}{language}/)" if home else ""
    with sync_playwright() as playwright:
        launch = functools.partial(
            playwright.chromium.launch, executable_path=program, args=QUIET + pages.STEADY
        )
        chromium = launch()
        wide = pages.take(chromium, language)
        front = (
            "attn",
            wide[0].title,
            FRONT[language].format(version=version, address=address),
        )
        paper.write(launch, wide, language, OUT / f"attn-{language}.pdf", front)
        narrow = pages.take(chromium, language, narrow=True)
        chromium.close()
    reader.write(narrow, language, OUT / f"attn-{language}.epub", front)
    notebooks.write(language, OUT / f"attn-{language}.zip", wheel)
    offer(language)


def main():
    """Make the files of both editions at the same time; return the exit status."""
    OUT.mkdir(parents=True, exist_ok=True)
    try:
        program = browser()
    except Missing:
        install_browser()
        program = browser()
    version = tomllib.loads((pages.ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "version"
    ]
    wheel = notebooks.wheel_of_the_package()
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(functools.partial(make, program, version, wheel), ("es", "en")))
    for made in sorted(OUT.glob("attn-*.*")):
        print(f"build/editions/{made.name}: {size(made)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
