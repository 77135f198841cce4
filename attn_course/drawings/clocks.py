"""The clock hands of positions: each pair of columns of the encoding is the tip of one hand."""

import math

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea, only, step

_POSITIONS, _D_MODEL, _LIT = 5, 6, 3
_RADIUS, _LEFT, _STEP, _TOP, _ROW = 22, 98, 56, 62, 58
_TITLE = {"es": "Los relojes de las posiciones", "en": "The clocks of the positions"}
_DESCRIPTION = {
    "es": "Tres relojes, uno por fila, en las posiciones de 0 a 4, una por columna. En la posición 0 las tres agujas apuntan "
    "arriba. La del primero avanza un radián por posición; la del segundo, uno cada 21.5 posiciones; la del tercero casi no "
    "se mueve. La columna de la posición 3, resaltada, da la fila 0.14, −0.99, 0.14, 0.99, 0.01, 1.00 de la codificación: "
    "el seno y el coseno de cada aguja.",
    "en": "Three clocks, one a row, at the positions from 0 to 4, one a column. At position 0 all three hands point up. The "
    "first hand goes on one radian per position and the second, one every 21.5 positions; the third hardly moves. The "
    "column of position 3, which is lit, gives the row 0.14, −0.99, 0.14, 0.99, 0.01, 1.00 of the encoding: the "
    "sine and the cosine of each hand.",
}
_STEPS = {
    "es": (
        "Posición 0: las tres agujas apuntan arriba.",
        "Posición 1: la primera aguja avanza un radián; la segunda y la tercera, mucho menos.",
        "Posición 2: la primera ya lleva dos radianes, y la segunda ha girado 5 grados.",
        "Posición 3: la primera ha dado casi media vuelta.",
        "Posición 4: cada posición muestra otra hora, y por ella se la reconoce.",
        "El seno y el coseno de cada aguja, uno tras otro, son la fila de la posición: aquí, la de la 3.",
    ),
    "en": (
        "Position 0: all three hands point up.",
        "Position 1: the first hand goes on one radian; the second and the third, far less.",
        "Position 2: the first has gone two radians by now, and the second has turned 5 degrees.",
        "Position 3: the first has turned almost half way round.",
        "Position 4: each position shows a different time, by which it can be told.",
        "The sine and the cosine of each hand, one after the other, make up the row of position 3.",
    ),
}
_WORDS = {"es": ("posición", "reloj"), "en": ("position", "clock")}


def clocks():
    """Return the drawing of three clocks at five positions."""
    return Idea("clocks", 262, _TITLE, _DESCRIPTION, _draw, _STEPS)


def _draw(language):
    position, clock = _WORDS[language]
    drawn, rows = [ink.text(0, 24, position, "small")], []
    for i in range(_D_MODEL // 2):
        drawn.append(ink.text(0, _TOP + _ROW * i - 1, f"{clock} {i}", "small strong"))
        drawn.append(
            ink.text(0, _TOP + _ROW * i + 15, f"p / {10_000 ** (2 * i / _D_MODEL):.3g}", "shape")
        )
    for p in range(_POSITIONS):
        x = _LEFT + _STEP * p
        angles = [p / 10_000 ** (2 * i / _D_MODEL) for i in range(_D_MODEL // 2)]
        row = ", ".join(
            f"{end(a):.2f}".replace("-", "−") for a in angles for end in (math.sin, math.cos)
        )
        lit = (
            ink.rect(x - 27, 6, 54, 206, "now", 8),
            ink.arrow([(x, 212), (x, 230)], "lit"),
            ink.text(356, 250, f"({row})", "shape", "end"),
        )
        column = [ink.text(x, 24, str(p), "strong" if p == _LIT else "", "middle")]
        column += [_clock(x, _TOP + _ROW * i, angle) for i, angle in enumerate(angles)]
        drawn.append(
            only(p + 1, *lit) + (step(6, *lit[:2]) if p == _LIT else "") + step(p + 1, *column)
        )
        if p == _LIT:
            drawn += [step(6, *(_hand(x, _TOP + _ROW * i, a, "lit") for i, a in enumerate(angles)))]
            rows = [step(6, lit[2])]
    return "".join(drawn + rows)


def _clock(x, y, angle):
    return ink.tag("circle", cx=x, cy=y, r=_RADIUS, class_="box") + _hand(x, y, angle)


def _hand(x, y, angle, kind=""):
    """Draw a hand as a clock has it: it starts at the top, so that across is the sine and up the cosine."""
    tip = (x + (_RADIUS - 2) * math.sin(angle), y - (_RADIUS - 2) * math.cos(angle))
    hub = ink.tag("circle", cx=x, cy=y, r=2, class_=f"tip {kind}".strip())
    return ink.arrow([(x, y), tip], kind) + hub
