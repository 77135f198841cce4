"""What W_O does: each head goes through its own rows, and the results are added up."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea, step

_HEADS, _D_V, _D_MODEL = 2, 2, 4
_STRENGTH = (1, 0.45)
_SIZE, _STEP = 21, 22
_TITLE = {"es": "Lo que aporta cada cabeza", "en": "What each head contributes"}
_DESCRIPTION = {
    "es": "Dos filas, una por cabeza. En cada una, los 2 números que la cabeza da a un token se multiplican por sus 2 filas de la "
    "proyección de salida, que tienen 4 columnas, y salen 4 números. Los 4 de la cabeza 1 y los de la 2 se "
    "suman abajo en una sola fila de 4, la salida, en la que cada componente tiene algo de las dos cabezas.",
    "en": "Two rows, one a head. In each, the 2 numbers that the head gives a token are multiplied by its 2 rows of the output "
    "projection, which have 4 columns, and 4 numbers come out. The 4 of head 1 and those of head 2 are "
    "added up at the bottom into a single row of 4, the output, in which each component has something of both heads.",
}
_STEPS = {
    "es": (
        "Los 2 números de la cabeza 1 pasan por las 2 primeras filas de W_O, y salen 4.",
        "Los 2 de la cabeza 2 pasan por las otras 2 filas, y salen otros 4.",
        "La salida es la suma de las dos aportaciones: quita una, y esa cabeza queda cortada.",
    ),
    "en": (
        "The 2 numbers of head 1 go through the first 2 rows of W_O, and 4 come out.",
        "The 2 of head 2 go through the other 2 rows, and another 4 come out.",
        "The output is the sum of both contributions: take one away, and that head is cut.",
    ),
}
_WORDS = {
    "es": ("cabeza", "sus filas de W_O", "lo que aporta", "salida"),
    "en": ("head", "its rows of W_O", "what it adds", "output"),
}
_ROWS, _ADDS = 96, 243


def contributions():
    """Return the drawing of one token's two heads, each with its rows of the output projection."""
    return Idea("contributions", 250, _TITLE, _DESCRIPTION, _draw, _STEPS)


def _draw(language):
    head, rows, adds, output = _WORDS[language]
    drawn = [
        ink.text(_ROWS + 44, 14, rows, "small soft", "middle"),
        ink.text(_ADDS + 44, 14, adds, "small soft", "middle"),
    ]
    both = []
    for i in range(_HEADS):
        y = 48 + 76 * i
        drawn.append(
            step(
                i + 1,
                ink.text(0, y - 10, f"{head} {i + 1}", "small strong"),
                _cells(0, y, 1, _D_V, i),
                ink.text(70, y + 15, "×", "", "middle"),
                _cells(_ROWS, y - 11, _D_V, _D_MODEL, i),
                ink.arrow([(_ROWS + 96, y + 10.5), (_ADDS - 8, y + 10.5)]),
                _cells(_ADDS, y, 1, _D_MODEL, i),
            )
        )
        both.append(_cells(_ADDS, 200 + _SIZE * i, 1, _D_MODEL, i))
    arrow = ink.arrow([(_ADDS + 44, 152), (_ADDS + 44, 192)])
    frame = ink.rect(_ADDS - 4, 196, 95, 50, "frame", 4)
    name = ink.text(_ADDS - 14, 226, output, "small strong", "end")
    drawn.append(step(_HEADS + 1, ink.plus(_ADDS + 44, 96), *both, arrow, frame, name))
    return "".join(drawn)


def _cells(x, y, rows, columns, head):
    """Draw a matrix of one head's numbers."""
    places = [(x + _STEP * j, y + _STEP * i) for i in range(rows) for j in range(columns)]
    squares = "".join(f"M{a} {b}h{_SIZE}v{_SIZE}h-{_SIZE}z" for a, b in places)
    return ink.tag("path", d=squares, class_="head", opacity=_STRENGTH[head])
