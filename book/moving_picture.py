"""Record the opening page for the README: the machine's drawing as it translates.

Run it with the site built: ``python book/moving_picture.py``. It writes ``book/readme.webp``.
"""

import io
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.machine import QUIET, browser

EVERY = 3  # every third step is as clear, in a file a third as large
SHOWN_MS = 550


def main():
    """Take a picture of each step and join them into an animation."""
    program, frames = browser(), []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=QUIET)
        page = chromium.new_page(
            viewport={"width": 1000, "height": 900}, color_scheme="light", reduced_motion="reduce"
        )
        page.goto((ROOT / "build" / "site" / "en" / "index.html").as_uri())
        widget = page.locator("[data-attn=live-machine]")
        slider = widget.locator("[data-attn=step]")
        slider.wait_for()
        last = int(slider.get_attribute("max"))
        for step in [*range(1, last, EVERY), last]:
            slider.fill(str(step))
            page.wait_for_timeout(150)
            frames.append(Image.open(io.BytesIO(widget.screenshot())).convert("RGB"))
        chromium.close()
    margin = 16
    size = (max(f.width for f in frames) + 2 * margin, max(f.height for f in frames) + 2 * margin)
    film = []
    for frame in frames:
        whole = Image.new("RGB", size, frame.getpixel((2, 2)))
        whole.paste(frame, (margin, margin))
        film.append(whole)
    shown = [SHOWN_MS] * (len(film) - 1) + [4000]
    film[0].save(
        ROOT / "book" / "readme.webp",
        save_all=True,
        append_images=film[1:],
        duration=shown,
        loop=0,
        quality=60,
        method=6,
        minimize_size=True,
    )


if __name__ == "__main__":
    main()
