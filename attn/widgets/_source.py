"""The JavaScript and CSS of the widgets, put together from the files beside this one.

Only the standard library and `attn.palette` are imported, so that the site can be
built where anywidget is not installed.
"""

import re
from pathlib import Path

from attn.palette import DARK, LIGHT, css_variables

FOLDER = Path(__file__).parent
WIDGETS = ("attention_explorer", "softmax_playground", "quiz")


def _mix(share, scheme):
    """Return red, green and blue of that much "weight" on "surface", for ``rgb()``."""
    pairs = zip(*(bytes.fromhex(scheme[name][1:]) for name in ("weight", "surface")), strict=True)
    return " ".join(str(round(share * top + (1 - share) * ground)) for top, ground in pairs)


# A cell of the heat map is `surface` under as much `heat` as its weight. At 0.757 (see
# attention_explorer.js) its number turns from `pale` to `deep`: in both schemes, that is
# where black and white have the same contrast with the colour, 4.58 to 1.
HEAT_LIGHT = {"scheme": "light", "heat": _mix(1, LIGHT), "pale": "#000", "deep": "#fff"}
HEAT_DARK = {"scheme": "dark", "heat": _mix(0.92, DARK), "pale": "#fff", "deep": "#000"}


def module(stem):
    """Return one widget as a self-contained ES module, as anywidget wants it."""
    return _read("shared.js") + _body(stem)


def classic_bundle():
    """Return every widget and the no-kernel mount as one classic script.

    A page opened from ``file://`` may not load modules; it may load this, with ``defer``.
    """
    widgets = [f"widgets.{stem} = (() => {{\n{_classic(_body(stem))}\n}})();" for stem in WIDGETS]
    parts = [_classic(_read("shared.js")), "const widgets = {};", *widgets, _read("host.js")]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();\n"


def stylesheet():
    """Return the CSS of the widgets with the colours of both schemes."""
    return (
        f":root {{ {css_variables(LIGHT)} {css_variables(HEAT_LIGHT)} }}\n"
        'html[data-theme="dark"], body[data-jp-theme-light="false"] '
        f"{{ {css_variables(DARK)} {css_variables(HEAT_DARK)} }}\n" + _read("widgets.css")
    )


def _read(name):
    return (FOLDER / name).read_text(encoding="utf-8")


def _body(stem):
    return re.sub(r'^import [^;]*"./shared.js";\n', "", _read(f"{stem}.js"), flags=re.MULTILINE)


def _classic(source):
    source = re.sub(r"^export default ", "return ", source, flags=re.MULTILINE)
    return re.sub(r"^export ", "", source, flags=re.MULTILINE)
