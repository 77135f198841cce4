"""Fonts with what the pages use, and no more; and a system's own serif, made as wide, where they come late."""

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
# Ordinary text in both languages, by which the widths of fonts are compared.
SAMPLE = (
    "Chapter 3 asks who is meant by they when John and Paul wrote several songs. La respuesta está en 4 líneas "
    "de NumPy, y en la máscara que no deja ver el futuro: cada palabra mira hacia atrás, and each weight is a share of 1."
)
# The serifs of the systems: the names of their faces, and the mean width of the sample in ems, for each of
# KINDS. Those of Georgia and Times New Roman were measured on Gelasio and Tinos, which share their widths.
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
    """Return faces in CSS that give the serifs of systems the widths and heights of the course's own.

    A page whose font comes late stays in one of them, and the next page has the font: no line moves.

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
