"""What W_O does: each head goes through its own rows, and what comes out is added up."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_HEADS, _D_V, _D_MODEL = 3, 4, 12
_STRENGTH = (1, 0.6, 0.3)
_SIZE, _STEP = 9, 10
_TITLE = {"es": "Lo que aporta cada cabeza", "en": "What each head contributes"}
_DESCRIPTION = {
    "es": "Tres filas, una por cabeza. En cada una, los 4 números que la cabeza da a un token se multiplican por sus 4 filas de la "
    "proyección de salida, que tienen 12 columnas, y salen 12 números. Los 12 de la cabeza 1, los de la 2 y los de la 3 se "
    "suman abajo en una sola fila de 12, la salida, en la que cada componente tiene algo de las tres cabezas.",
    "en": "Three rows, one a head. In each, the 4 numbers that the head gives a token are multiplied by its 4 rows of the output "
    "projection, which have 12 columns, and 12 numbers come out. The 12 of head 1, those of head 2 and those of head 3 are "
    "added up at the bottom into a single row of 12, the output, in which each component has something of all three heads.",
}
_WORDS = {
    "es": ("cabeza", "sus filas de W_O", "lo que aporta", "salida"),
    "en": ("head", "its rows of W_O", "what it adds", "output"),
}
_ROWS, _ADDS = 86, 231


def contributions():
    """Return the drawing of one token's three heads, each with its rows of the output projection."""
    return Idea("contributions", 284, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    head, rows, adds, output = _WORDS[language]
    drawn = [
        ink.text(_ROWS + 60, 14, rows, "small soft", "middle"),
        ink.text(_ADDS + 60, 14, adds, "small soft", "middle"),
    ]
    for i in range(_HEADS):
        y = 50 + 72 * i
        drawn.append(ink.text(0, y - 12, f"{head} {i + 1}", "small strong"))
        drawn.append(_cells(1, y, 1, _D_V, i) + ink.text(64, y + 9, "×", "", "middle"))
        drawn.append(_cells(_ROWS, y - 15, _D_V, _D_MODEL, i))
        drawn.append(ink.arrow([(_ROWS + 124, y + 4.5), (_ADDS - 5, y + 4.5)]))
        drawn.append(_cells(_ADDS, y, 1, _D_MODEL, i))
        if i:
            drawn.append(ink.plus(_ADDS + 60, y - 31))
        drawn.append(_cells(_ADDS, 250 + _SIZE * i, 1, _D_MODEL, i))
    drawn.append(ink.arrow([(_ADDS + 60, 210), (_ADDS + 60, 244)]))
    drawn.append(ink.rect(_ADDS - 4, 246, 127, 35, "frame", 4))
    drawn.append(ink.text(_ADDS - 14, 268, output, "small strong", "end"))
    return "".join(drawn)


def _cells(x, y, rows, columns, head):
    """Draw a matrix of one head's numbers."""
    places = [(x + _STEP * j, y + _STEP * i) for i in range(rows) for j in range(columns)]
    squares = "".join(f"M{a} {b}h{_SIZE}v{_SIZE}h-{_SIZE}z" for a, b in places)
    return ink.tag("path", d=squares, class_="head", opacity=_STRENGTH[head])
