"""Fonts with only the glyphs that pages use, and system fonts adjusted to their width."""

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
# The two families of the site. "size": every letter is multiplied by it, because the sans is published smaller
# than the serif beside it and than the sans fonts of systems. "heights": above and below the line, in ems.
# The published sans has more than most of our lines are high, and boxes that can scroll would scroll for it.
# "kinds": the end of the name of a system's face, its style, and the weight in whose place it stands.
# "system": the names of its fonts, and the mean width of the sample in ems, for each kind. The widths of
# Georgia, Times New Roman and Arial were measured on Gelasio, Tinos and Arimo, which have the same.
FAMILIES = {
    "Serif": {
        "package": "@fontsource-variable/source-serif-4",
        "size": 1,
        "heights": (1.036, 0.335),
        "kinds": (("", "normal", 400), (" Bold", "normal", 700), (" Italic", "italic", 400)),
        "system": {
            "Georgia": (["Georgia"], (0.4407, 0.5124, 0.4543)),
            "Noto Serif": (["Noto Serif"], (0.4789, 0.5065, 0.4681)),
            "Times New Roman": (["Times New Roman", "Liberation Serif"], (0.4026, 0.4301, 0.4090)),
            "DejaVu Serif": (["DejaVu Serif"], (0.5163, 0.5671, 0.5163)),
        },
        "last": "Georgia, serif",
    },
    "Sans": {
        "package": "@fontsource-variable/source-sans-3",
        "size": 1.08,
        "heights": (0.92, 0.26),
        "kinds": (("", "normal", 400), (" Bold", "normal", 600)),
        "system": {
            "Arial": (["Arial", "Liberation Sans"], (0.4532, 0.4819)),
            "Roboto": (["Roboto"], (0.4480, 0.4533)),
            "Noto Sans": (["Noto Sans"], (0.4724, 0.5005)),
            "DejaVu Sans": (["DejaVu Sans"], (0.5115, 0.5750)),
        },
        "last": "system-ui, sans-serif",
    },
}
# What is fitted: the published fonts have no arrows and few signs, and a system's own keep their size.
LETTERS = "U+0-24F, U+2000-206F, U+20AC, U+2212"
LISTS = {
    **{
        name.lower(): ", ".join(
            [f'"Course {name}"', *(f'"Fitted {font}"' for font in family["system"]), family["last"]]
        )
        for name, family in FAMILIES.items()
    },
    "mono": 'ui-monospace, "Cascadia Code", "SF Mono", Menlo, "DejaVu Sans Mono", monospace',
}
# The faces of the course: the file on the site, the family and the style. Browsers slant the sans themselves, because a
# face that only some captions need comes too late to be drawn.
FACES = {
    "serif.woff2": ("Serif", "normal"),
    "serif-italic.woff2": ("Serif", "italic"),
    "sans.woff2": ("Sans", "normal"),
}


def files(fetch):
    """Return the published fonts, by the names that they have on the site.

    Parameters
    ----------
    fetch : callable
        Returns the folder of a package.

    Returns
    -------
    dict of str to Path
    """
    found = {}
    for name, (family, style) in FACES.items():
        package = FAMILIES[family]["package"]
        file = f"{package.rpartition('/')[2]}-latin-wght-{style}.woff2"
        found[name] = fetch(package) / "files" / file
    return found


def sheet(fonts):
    """Return the style sheet of the type: the course's faces, the fitted ones, and the lists of families.

    A page whose font arrives late keeps a fitted one, and the next page has the font: no line moves.

    Parameters
    ----------
    fonts : dict of str to Path
        As `files` returns them.

    Returns
    -------
    str
    """
    rules = []
    for name, (family, style) in FACES.items():
        source = f'url("fonts/{name}") format("woff2"); font-display: optional'
        rules.append(face(f"Course {family}", source, style, " ".join(map(str, WEIGHTS)), family))
        for n, (suffix, fitted, weight) in enumerate(FAMILIES[family]["kinds"]):
            if fitted != style:
                continue
            font = instancer.instantiateVariableFont(TTFont(fonts[name]), {"wght": weight})
            own = width(font)
            for system, (locals_, widths) in FAMILIES[family]["system"].items():
                source = ", ".join(f'local("{each}{suffix}")' for each in locals_)
                source += f"; unicode-range: {LETTERS}"
                rules.append(
                    face(f"Fitted {system}", source, style, weight, family, own / widths[n])
                )
    rules.append(f":root {{ {' '.join(f'--attn-{n}: {names};' for n, names in LISTS.items())} }}")
    return "\n".join(rules)


def face(name, source, style, weight, family, wider=1):
    """Return the CSS rule of a face.

    Parameters
    ----------
    name, source, style : str
    weight : int or str
    family : str
        A key of `FAMILIES`.
    wider : float
        How many times as wide the font of the course is as that of the source.

    Returns
    -------
    str
    """
    ascent, descent = (height / wider for height in FAMILIES[family]["heights"])
    return (
        f'@font-face {{ font-family: "{name}"; src: {source}; font-style: {style}; font-weight: {weight}; '
        f"size-adjust: {FAMILIES[family]['size'] * wider:.1%}; ascent-override: {ascent:.1%}; "
        f"descent-override: {descent:.1%}; line-gap-override: 0%; }}"
    )


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
