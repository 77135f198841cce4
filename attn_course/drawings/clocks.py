"""The clock hands of positions: each pair of columns of the encoding is the tip of one hand."""

import math

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_POSITIONS, _D_MODEL, _LIT = 5, 6, 3
_RADIUS, _LEFT, _STEP, _TOP, _ROW = 22, 98, 56, 62, 58
_TITLE = {"es": "Los relojes de las posiciones", "en": "The clocks of the positions"}
_DESCRIPTION = {
    "es": "Tres relojes, uno por fila, en las posiciones de 0 a 4, una por columna. En la posición 0 las tres agujas apuntan "
    "arriba. La del primero avanza un radián por posición; la del segundo, uno cada 21.5 posiciones; la del tercero casi no "
    "se mueve. La columna de la posición 3, resaltada, da la fila 0.14, −0.99, 0.14, 0.99, 0.01, 1.00 de la codificación: "
    "el seno y el coseno de cada aguja.",
    "en": "Three clocks, one a row, at the positions from 0 to 4, one a column. At position 0 all three hands point up. That "
    "of the first goes on one radian per position; that of the second, one every 21.5 positions; that of the third hardly "
    "moves. The column of position 3, which is lit, gives the row 0.14, −0.99, 0.14, 0.99, 0.01, 1.00 of the encoding: the "
    "sine and the cosine of each hand.",
}
_WORDS = {"es": ("posición", "reloj"), "en": ("position", "clock")}


def clocks():
    """Return the drawing of three clocks at five positions."""
    return Idea("clocks", 262, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    position, clock = _WORDS[language]
    drawn = [
        ink.rect(_LEFT + _STEP * _LIT - 27, 6, 54, 206, "now", 8),
        ink.text(0, 24, position, "small"),
    ]
    for p in range(_POSITIONS):
        drawn.append(
            ink.text(_LEFT + _STEP * p, 24, str(p), "strong" if p == _LIT else "", "middle")
        )
    found = []
    for i in range(_D_MODEL // 2):
        y = _TOP + _ROW * i
        drawn.append(ink.text(0, y - 1, f"{clock} {i}", "small strong"))
        drawn.append(ink.text(0, y + 15, f"p / {10_000 ** (2 * i / _D_MODEL):.3g}", "shape"))
        for p in range(_POSITIONS):
            angle = p / 10_000 ** (2 * i / _D_MODEL)
            drawn.append(_clock(_LEFT + _STEP * p, y, angle, p == _LIT))
            if p == _LIT:
                found += [math.sin(angle), math.cos(angle)]
    written = ", ".join(f"{x:.2f}".replace("-", "−") for x in found)
    drawn.append(ink.arrow([(_LEFT + _STEP * _LIT, 212), (_LEFT + _STEP * _LIT, 230)], "lit"))
    drawn.append(ink.text(356, 250, f"({written})", "shape", "end"))
    return "".join(drawn)


def _clock(x, y, angle, lit):
    """Draw a hand as a clock has it: it starts at the top, so that across is the sine and up the cosine."""
    tip = (x + (_RADIUS - 2) * math.sin(angle), y - (_RADIUS - 2) * math.cos(angle))
    return (
        ink.tag("circle", cx=x, cy=y, r=_RADIUS, class_="box")
        + ink.arrow([(x, y), tip], "lit" if lit else "")
        + ink.tag("circle", cx=x, cy=y, r=2, class_="tip lit" if lit else "tip")
    )
