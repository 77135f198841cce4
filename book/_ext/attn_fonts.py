"""Fonts with only the glyphs that pages use, and system serif fonts adjusted to their width."""

import html
import re
import string

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

# The font weights that the styles use.
WEIGHTS = (400, 700)
# KaTeX writes a formula twice: first for screen readers, then for display.
FORMULA = re.compile(
    r'class="katex-html"(.*?)(?=<(?:p|math|script|div)\b|</(?:p|li|td|div)>|$)', re.DOTALL
)
# Ordinary text in both languages, for comparing the widths of fonts.
SAMPLE = (
    "Chapter 3 asks who is meant by they when John and Paul wrote several songs. La respuesta está en 4 líneas "
    "de NumPy, y en la máscara que no deja ver el futuro: cada palabra mira hacia atrás, and each weight is a share of 1."
)
# The serif fonts of systems: the names of their faces, and the mean width of the sample in ems, for
# each of KINDS. The widths of Georgia and Times New Roman were measured on Gelasio and Tinos, which
# have the same.
KINDS = (("", "normal", 400), (" Bold", "normal", 700), (" Italic", "italic", 400))
SYSTEM = {
    "Georgia": (["Georgia"], (0.4407, 0.5124, 0.4543)),
    "Noto": (["Noto Serif"], (0.4789, 0.5065, 0.4681)),
    "Times": (["Times New Roman", "Liberation Serif"], (0.4026, 0.4301, 0.4090)),
    "DejaVu": (["DejaVu Serif"], (0.5163, 0.5671, 0.5163)),
}


def width(font):
    """Return the mean width of the letters of `SAMPLE`, in ems.

    Parameters
    ----------
    font : TTFont

    Returns
    -------
    float
    """
    letters, advances = font.getBestCmap(), font["hmtx"]
    total = sum(advances[letters[ord(letter)]][0] for letter in SAMPLE)
    return total / len(SAMPLE) / font["head"].unitsPerEm


def fitted(upright, italic):
    """Return CSS font faces that fit system serif fonts to the course's widths and heights.

    A page whose font arrives late keeps one of them, and the next page has the font: no line moves.

    Parameters
    ----------
    upright, italic : Path
        The variable fonts of the course.

    Returns
    -------
    str
    """
    faces = []
    for n, (suffix, style, weight) in enumerate(KINDS):
        font = TTFont({"normal": upright, "italic": italic}[style])
        font = instancer.instantiateVariableFont(font, {"wght": weight})
        own, per_em = font["hhea"], font["head"].unitsPerEm
        for name, (locals_, widths) in SYSTEM.items():
            size = width(font) / widths[n]
            heights = "".join(
                f"{side}-override: {abs(height) / per_em / size:.1%}; "
                for side, height in (
                    ("ascent", own.ascent),
                    ("descent", own.descent),
                    ("line-gap", own.lineGap),
                )
            )
            source = ", ".join(f'local("{each}{suffix}")' for each in locals_)
            faces.append(
                f'@font-face {{ font-family: "Fitted {name}"; src: {source}; font-style: {style}; '
                f"font-weight: {weight}; size-adjust: {size:.1%}; {heights}}}"
            )
    return "\n".join(faces)


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
    """Reduce the fonts of a built site to the characters and weights of its formulas and text.

    Parameters
    ----------
    site : Path
    """
    pages = [page.read_text(encoding="utf-8") for page in site.rglob("*.html")]
    # Readers may type every character of a keyboard.
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
    # The time in a font's head is kept, so that the same sources give the same site.
    font = TTFont(path, recalcTimestamp=False)
    options = subset.Options(layout_features=["*"], notdef_outline=True, flavor="woff2")
    is_of_text = "fvar" in font
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=needed["letters" if is_of_text else "signs"])
    subsetter.subset(font)
    if is_of_text:
        font = instancer.instantiateVariableFont(font, {"wght": WEIGHTS})
    subset.save_font(font, path, options)
