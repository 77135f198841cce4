"""Fonts with what the pages use, and no more: they were half of what a page weighed."""

import html
import re
import string

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

# The weights that the styles ask for.
WEIGHTS = (400, 700)
# KaTeX writes a formula twice: for those who listen, and after that for those who see.
FORMULA = re.compile(
    r'class="katex-html"(.*?)(?=<(?:p|math|script|div)\b|</(?:p|li|td|div)>|$)', re.DOTALL
)


def signs(site):
    """Return the characters in the formulas of a built site, those inside widgets included.

    Parameters
    ----------
    site : Path

    Returns
    -------
    set of str
    """
    found = set()
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8").replace('\\"', '"').replace("\\u003c", "<")
        for formula in FORMULA.findall(text):
            found.update(html.unescape(re.sub(r"<[^>]*>", "", formula)))
    return found


def trim(site):
    """Make the fonts of a built site smaller: to the signs in formulas, the letters and weights in text.

    Parameters
    ----------
    site : Path
    """
    pages = [page.read_text(encoding="utf-8") for page in site.rglob("*.html")]
    # Those that a keyboard has, a reader may write.
    letters = set(string.printable).union(*pages)
    needed = {"signs": "".join(sorted(signs(site))), "letters": "".join(sorted(letters))}
    done = {}
    for path in sorted(site.rglob("*.woff2")):
        key = path.read_bytes()
        if key not in done:
            _smaller(path, needed)
            done[key] = path.read_bytes()
        path.write_bytes(done[key])


def _smaller(path, needed):
    # The time in a font's head stays what it was, so that the same sources give the same site.
    font = TTFont(path, recalcTimestamp=False)
    options = subset.Options(layout_features=["*"], notdef_outline=True, flavor="woff2")
    is_of_text = "fvar" in font
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=needed["letters" if is_of_text else "signs"])
    subsetter.subset(font)
    if is_of_text:
        font = instancer.instantiateVariableFont(font, {"wght": WEIGHTS})
    subset.save_font(font, path, options)
