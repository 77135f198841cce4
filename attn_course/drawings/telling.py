"""Captions: each word, while it is written, attends to the patches of the picture."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_SIDE, _LEFT, _TOP = 36, 4, 46
_ENDS = ((94, 82), (76, 118), (94, 154))
_TITLE = {"es": "Cada palabra le pregunta a la imagen", "en": "Each word asks the picture"}
_DESCRIPTION = {
    "es": "A la izquierda, una imagen cortada en cuatro por cuatro parches, que son keys y values, con un círculo arriba y un cuadrado abajo. A "
    "la derecha, las palabras que se escriben, de arriba abajo: círculo, sobre y cuadrado. Cada una es una query. De la primera sale una línea hacia los "
    "parches del círculo; de la segunda, hacia el espacio entre las dos figuras; de la tercera, hacia los parches del cuadrado. Entre las palabras "
    "bajan flechas: cada una se escribe después de leer las anteriores.",
    "en": "On the left, a picture cut into four by four patches, which are keys and values, with a circle at the top and a square at the bottom. On the "
    "right, the words as they are written, from top to bottom: circle, above and square. Each is a query. From the first a line leads to the "
    "patches of the circle; from the second, to the space between the two shapes; from the third, to the patches of the square. Arrows "
    "lead down between the words: each is written after those before it have been read.",
}
_WORDS = {
    "es": ("keys y values", "queries", ("círculo", "sobre", "cuadrado")),
    "en": ("keys, values", "queries", ("circle", "above", "square")),
}


def telling():
    """Return the drawing of a picture of two shapes and the three words that describe it."""
    return Idea("telling", 212, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    keys, queries, words = _WORDS[language]
    drawn = [
        ink.text(_LEFT, 30, keys, "small key"),
        ink.text(300, 30, queries, "small query", "middle"),
    ]
    for i in range(16):
        drawn.append(
            ink.rect(
                _LEFT + (_SIDE + 2) * (i % 4),
                _TOP + (_SIDE + 2) * (i // 4),
                _SIDE,
                _SIDE,
                "sunk",
                2,
            )
        )
    drawn.append(ink.tag("circle", cx=80, cy=84, r=19, class_="cell value"))
    drawn.append(ink.rect(62, 140, 36, 36, "cell value", 0))
    for i, (word, (x, y)) in enumerate(zip(words, _ENDS, strict=True)):
        at = 68 + 54 * i
        drawn.append(
            ink.tag(
                "path",
                d=f"M252 {at}C200 {at} 180 {y} {x} {y}",
                class_="line query",
                style="stroke-width:2.4",
            )
        )
        drawn.append(ink.rect(252, at - 15, 96, 30, "box query", 15))
        drawn.append(ink.text(300, at + 4.5, word, "strong", "middle"))
        if i < 2:
            drawn.append(ink.arrow([(300, at + 16), (300, at + 38)]))
    return "".join(drawn)
