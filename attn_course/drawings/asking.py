"""A word asks an image: the shape decides where to look, and the colour is what is brought back."""

import math

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

# The 2 x 2 cells of the image in chapter 10: the thing in each, its colour, and its score with
# "ball".
_SCORE = 6 / math.sqrt(3)
_CELLS = (("ball", "bad", _SCORE), ("box", "value", 0.0), ("tree", "accent", 0.0), ("", "", 0.0))
_TITLE = {"es": "Una palabra pregunta a una imagen", "en": "A word asks an image"}
_DESCRIPTION = {
    "es": "A la izquierda, la query de balón. En medio, las cuatro celdas de una imagen, cada una con su key, que dice qué hay en "
    "ella: un balón, una caja, un árbol y, en la última, nada. Sus puntajes son 3.46, 0, 0 y 0, y sus pesos, 0.91, 0.03, 0.03 y 0.03. A la "
    "derecha, los values, que dicen de qué color es cada cosa: rojo, verde y azul. La salida es casi todo el rojo y muy poco de "
    "los otros dos.",
    "en": "On the left, the query of ball. In the middle, the four cells of an image, each with its key, which says what is in it: "
    "a ball, a box, a tree and, in the last, nothing. Their scores are 3.46, 0, 0 and 0, and their weights 0.91, 0.03, 0.03 and 0.03. On the "
    "right, the values, which say what colour each thing has: red, green and blue. The output is nearly all of the red and very "
    "little of the other two.",
}
_WORDS = {
    "es": (
        "query",
        "keys",
        "puntaje",
        "peso",
        "value",
        ("balón", "caja", "árbol", "vacía"),
        ("rojo", "verde", "azul", "–"),
        "salida",
    ),
    "en": (
        "query",
        "keys",
        "score",
        "weight",
        "value",
        ("ball", "box", "tree", "empty"),
        ("red", "green", "blue", "–"),
        "output",
    ),
}
_TOP, _ROW = 32, 48


def asking():
    """Return the drawing of the query of *ball* and of the four cells of an image."""
    return Idea("asking", 256, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    query, keys, score, weight, value, shapes, colours, output = _WORDS[language]
    drawn = [
        ink.text(32, 16, query, "small query", "middle"),
        ink.text(130, 16, keys, "small key", "middle"),
        ink.text(200, 16, score, "small soft", "middle"),
        ink.text(236, 16, weight, "small soft"),
        ink.text(356, 16, value, "small value", "end"),
    ]
    total = sum(math.exp(score) for *_, score in _CELLS)
    asked = _TOP + 2 * _ROW - 4
    for i, (shape, hue, points) in enumerate(_CELLS):
        y, share = _TOP + _ROW * i + 20, math.exp(points) / total
        curve = f"M64 {asked}C84 {asked} 72 {y} 92 {y}"
        drawn.append(
            ink.tag(
                "path",
                d=curve,
                class_="line query",
                opacity=1 if points else 0.45,
                style=f"stroke-width:{ink.number(1 + 4 * share)}",
            )
        )
        drawn.append(ink.rect(92, y - 20, 76, 40, "box key", 4) + _thing(109, y, shape, "line"))
        drawn.append(ink.text(124, y + 4.5, shapes[i], "small strong" if points else "small"))
        drawn.append(ink.text(200, y + 4, f"{points:.2f}" if points else "0", "shape", "middle"))
        drawn.append(ink.rect(226, y - 7, 3 + 32 * share, 14, "cell", 2))
        drawn.append(ink.text(234 + 32 * share, y + 4, f"{share:.2f}", "shape"))
        drawn.append(ink.tag("circle", cx=308, cy=y, r=6, class_=f"tip {hue}") if hue else "")
        drawn.append(
            ink.text(356, y + 4.5, colours[i], "small strong" if points else "small", "end")
        )
    drawn.append(ink.rect(1, asked - 13, 63, 26, "box query", 13))
    drawn.append(ink.text(32.5, asked + 4.5, shapes[0], "strong small", "middle"))
    low = _TOP + 4 * _ROW
    drawn.append(
        ink.path([(222, low), (356, low)]) + ink.text(212, low + 21, output, "small soft", "end")
    )
    at = 222
    for _, hue, points in _CELLS[:3]:
        wide = 134 * math.exp(points) / total
        drawn.append(ink.rect(at, low + 8, wide, 18, f"cell {hue}", 0))
        at += wide
    drawn.append(ink.rect(222, low + 8, 134, 18, "bare", 0))
    return "".join(drawn)


def _thing(x, y, shape, kind):
    """Draw a thing by its outline: its key depends on the shape, not on the colour."""
    drawn = {
        "ball": ink.tag("circle", cx=x, cy=y, r=9, class_=kind),
        "box": ink.rect(x - 8, y - 8, 16, 16, kind, 1),
        "tree": ink.tag("path", d=f"M{x} {y - 10}l9 14h-18zM{x} {y + 4}v6", class_=kind),
    }
    return drawn.get(shape, "")
