"""Type and look: a page with the site's own styles, for developers of pages and figures.

Colours come from the palette and font families from the fonts. The rest is the markup of
pages and widgets, so that the page shows the current styles.
"""

import re
from html import escape
from pathlib import Path

import attn_figures
import attn_fonts

from attn_course.palette import DARK, LIGHT

ROOT = Path(__file__).resolve().parents[2]
PAGE = "look"
TEXT = {
    "es": {
        "title": "Letra y aspecto",
        "lead": "Para quien haga la página o la figura que sigue: esto es lo que hay, con los estilos del sitio.",
        "type": "Letra",
        "families": ["familia", "lo que declara", "muestra"],
        "used": {"serif": "texto", "sans": "interfaz", "mono": "código"},
        "sample": "Ñandú, 1 024 × 0.25 = 256",
        "bold": "negrita",
        "italic": "cursiva",
        "label": "etiqueta, de 12 px o más",
        "colours": "Colores",
        "palette": ["nombre", "color", "claro", "contraste", "oscuro", "contraste"],
        "palette_text": "El contraste es con el fondo de una figura, y de 4.5 o más si el color lleva texto. Una query "
        "es azul, una key es naranja y un value es verde en todas las páginas; un peso es tinta de la rampa.",
        "buttons": "Botones y controles",
        "way": ["Seguir", "Otra cosa"],
        "off": "Ahora no",
        "controls": {
            "main": "Lo principal",
            "other": "Lo demás",
            "radios": "Elección",
            "one": "una",
            "two": "otra",
            "switch": "interruptor",
            "slider": "valor",
            "box": "Una oración",
            "note": "Lo que pasó, en una frase.",
            "bad": "Lo que falta, en una frase.",
        },
        "buttons_text": "Una figura tiene como mucho un botón lleno. En un teléfono, cada control mide 44 px de alto.",
        "tables": "Tablas",
        "table": [["medida", "antes", "ahora"], ["una", "0.50", "0.75"], ["otra", "12", "8"]],
        "figures": "Figuras",
        "figure": "Un dibujo tiene su tamaño natural, y sus letras, las de la interfaz.",
        "alt": "Un gráfico de la página de rendimiento.",
    },
    "en": {
        "title": "Type and look",
        "lead": "For whoever builds the next page or figure: this is what there is, in the styles of the site.",
        "type": "Type",
        "families": ["family", "as declared", "sample"],
        "used": {"serif": "text", "sans": "interface", "mono": "code"},
        "sample": "Quartz, 1 024 × 0.25 = 256",
        "bold": "bold",
        "italic": "italic",
        "label": "a label, of 12 px or more",
        "colours": "Colours",
        "palette": ["name", "colour", "light", "contrast", "dark", "contrast"],
        "palette_text": "The contrast is with the ground of a figure, and 4.5 or more where the colour carries text. A query "
        "is blue, a key orange and a value green on every page; a weight is ink of the ramp.",
        "buttons": "Buttons and controls",
        "way": ["Go on", "Something else"],
        "off": "Not now",
        "controls": {
            "main": "The main thing",
            "other": "The rest",
            "radios": "Choice",
            "one": "one",
            "two": "another",
            "switch": "switch",
            "slider": "value",
            "box": "A sentence",
            "note": "What happened, in one sentence.",
            "bad": "What is missing, in one sentence.",
        },
        "buttons_text": "A figure has one filled button at most. On a phone each control is 44 px high.",
        "tables": "Tables",
        "table": [["measure", "before", "now"], ["one", "0.50", "0.75"], ["another", "12", "8"]],
        "figures": "Figures",
        "figure": "A drawing has its natural size, and the letters of the interface.",
        "alt": "A chart of the page of benchmarks.",
    },
}


def pages(app):
    """Give Sphinx the page, which is not in the contents: developers open its URL."""
    language = app.config.language
    yield PAGE, {"title": TEXT[language]["title"], "body": body(language)}, "page.html"


def body(language):
    """Return the content of the page, as HTML."""
    text = TEXT[language]
    kinds = [
        [
            f"<code>--attn-{name}</code> {text['used'][name]}",
            f"<code>{escape(declared)}</code>",
            f'<span style="font: 1.1rem/1.4 var(--attn-{name})">{text["sample"]} <b>{text["bold"]}</b> <em>{text["italic"]}</em></span>',
        ]
        for name, declared in attn_fonts.LISTS.items()
    ]
    colours = [
        [
            f"<code>--attn-{name}</code>",
            f'<span style="{SWATCH} background: var(--attn-{name})"></span>',
            *(
                cell
                for scheme in (LIGHT, DARK)
                for cell in (scheme[name], f"{contrast(scheme[name], scheme['surface']):.1f}")
            ),
        ]
        for name in LIGHT
    ]
    ramp = "".join(
        f'<span style="{SWATCH} background: rgb(var(--attn-heat) / {n / 10})"></span>'
        for n in range(11)
    )
    chart = (ROOT / "book" / "figures" / f"benchmarks_layer.{language}.svg").read_text("utf-8")
    return f"""<section><h1>{text["title"]}</h1><p>{text["lead"]}</p>
<section><h2>{text["type"]}</h2>{table(text["families"], kinds)}
<h3>{text["type"]}: h3</h3><p class="attn-eyebrow">attn-eyebrow</p>
<div class="attn-w"><p class="attn-w-label">attn-w-label: {text["label"]}</p></div></section>
<section><h2>{text["colours"]}</h2><p>{text["palette_text"]}</p>{table(text["palette"], colours)}
<div class="attn-w">{ramp}</div></section>
<section><h2>{text["buttons"]}</h2><p>{text["buttons_text"]}</p>
<p><a class="attn-button" href="#">{text["way"][0]}</a> <a class="attn-button" href="#">{text["way"][1]}</a></p>
<div class="attn-steps"><div><button type="button">{text["controls"]["other"]}</button>
<button type="button" aria-disabled="true">{text["off"]}</button></div></div>
{controls(text["controls"])}</section>
<section><h2>{text["tables"]}</h2>{table(text["table"][0], text["table"][1:])}
<div class="attn-w">{table(text["table"][0], text["table"][1:], "attn-w-table")}</div></section>
<section><h2>{text["figures"]}</h2><figure>{attn_figures.inline(chart, text["alt"], PAGE)}
<figcaption>{text["figure"]}</figcaption></figure></section></section>"""


SWATCH = "display: inline-block; width: 3em; height: 1.5em; border: 1px solid var(--attn-line);"


def table(head, rows, style="docutils"):
    """Return a table whose cells are HTML; numbers are aligned on the right."""

    def cell(content):
        is_number = re.fullmatch(r"[\d.]+", content)
        return (
            f"<td{' class=' + chr(34) + 'text-right' + chr(34) if is_number else ''}>{content}</td>"
        )

    heads = "".join(f'<th scope="col">{name}</th>' for name in head)
    lines = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    return f'<table class="{style}"><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>'


def controls(text):
    """Return the controls of the widgets, with the markup of their scripts."""
    return f"""<div class="attn-w"><div class="attn-w-controls">
<button type="button" class="attn-w-button" data-main>{text["main"]}</button>
<button type="button" class="attn-w-button">{text["other"]}</button>
<fieldset class="attn-w-inline"><legend>{text["radios"]}</legend>
<label class="attn-w-choice"><input type="radio" name="look" checked>{text["one"]}</label>
<label class="attn-w-choice"><input type="radio" name="look">{text["two"]}</label></fieldset>
<label class="attn-w-choice"><input type="checkbox" role="switch" checked>{text["switch"]}</label>
<div class="attn-w-slider"><label for="look-range">{text["slider"]}</label><input type="range" id="look-range"></div></div>
<label class="attn-w-label" for="look-box">{text["box"]}</label><textarea class="attn-live-input" rows="1" id="look-box"></textarea>
<p class="attn-live-note">{text["note"]}</p><p class="attn-live-note" data-bad>{text["bad"]}</p></div>"""


def contrast(one, other):
    """Return the contrast of two colours, as WCAG 2 defines it.

    >>> round(contrast("#000000", "#ffffff"), 1)
    21.0
    """
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour):
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def setup(app):
    app.connect("html-collect-pages", pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
