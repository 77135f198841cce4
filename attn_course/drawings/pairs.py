"""CLIP's batch: every image against every text, a softmax along the rows and one along the columns."""

import math

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

# The cosines and the temperature that chapter 11 works out by hand.
_COSINES, _TAU = ((0.9, 0.5), (0.1, 0.7)), 0.2
_TITLE = {"es": "Cada imagen frente a cada texto", "en": "Every image against every text"}
_DESCRIPTION = {
    "es": "Una matriz de 2 imágenes por 2 textos con sus cosenos: 0.9 y 0.5 en la primera fila, 0.1 y 0.7 en la segunda. Las "
    "parejas verdaderas están en la diagonal, resaltada. Una softmax por filas, con temperatura 0.2, da a cada imagen su texto "
    "con probabilidad 0.88 y 0.95; otra por columnas da a cada texto su imagen con 0.98 y 0.73.",
    "en": "A matrix of 2 images by 2 texts with their cosines: 0.9 and 0.5 in the first row, 0.1 and 0.7 in the second. The true "
    "pairs stand on the diagonal, which is lit. A softmax along the rows, with temperature 0.2, gives each image its text with "
    "probability 0.88 and 0.95; another along the columns gives each text its image with 0.98 and 0.73.",
}
_WORDS = {
    "es": (
        "texto",
        "imagen",
        ("codificador", "de textos"),
        ("codificador", "de imágenes"),
        "softmax",
    ),
    "en": ("text", "image", ("text", "encoder"), ("image", "encoder"), "softmax"),
}
_LEFT, _TOP, _STEP, _CELL = 178, 92, 62, 54


def pairs():
    """Return the drawing of two images and two texts, and of the loss that compares them."""
    return Idea("pairs", 272, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    text, image, texts, images, softmax = _WORDS[language]
    centres = [_STEP * i + _CELL / 2 for i in (0, 1)]
    middle = _STEP - 4
    drawn = [
        ink.rect(_LEFT - 2, 36, 120, 36, "box extra"),
        ink.lines(_LEFT + middle, 54, texts, "small", leading=14),
    ]
    drawn += [
        ink.rect(74, _TOP - 2, 86, 120, "box extra"),
        ink.lines(117, _TOP + middle, images, "small", leading=14),
    ]
    for i, at in enumerate(centres):
        x, y = _LEFT + at, _TOP + at
        drawn.append(
            ink.text(x, 14, f"{text} {i + 1}", "small", "middle") + ink.arrow([(x, 20), (x, 36)])
        )
        drawn.append(ink.arrow([(x, 72), (x, _TOP)]))
        drawn.append(
            ink.text(58, y + 4.5, f"{image} {i + 1}", "small", "end")
            + ink.arrow([(61, y), (74, y)])
        )
        drawn.append(ink.arrow([(160, y), (_LEFT, y)]))
        for j, across in enumerate(centres):
            lit = i == j
            drawn.append(
                ink.rect(_LEFT + across - 27, y - 27, _CELL, _CELL, "now" if lit else "box", 5)
            )
            drawn.append(
                ink.text(
                    _LEFT + across,
                    y + 4.5,
                    f"{_COSINES[i][j]:g}",
                    "strong" if lit else "",
                    "middle",
                )
            )
        row, column = _share(_COSINES[i], i), _share([line[i] for line in _COSINES], i)
        drawn.append(
            ink.arrow([(_LEFT + 120, y), (_LEFT + 140, y)], "lit")
            + ink.text(354, y + 4, f"{row:.2f}", "shape strong", "end")
        )
        drawn.append(
            ink.arrow([(x, _TOP + 120), (x, _TOP + 140)], "lit")
            + ink.text(x, _TOP + 156, f"{column:.2f}", "shape strong", "middle")
        )
    drawn.append(ink.text(354, _TOP - 8, softmax, "small soft", "end"))
    drawn.append(ink.text(_LEFT - 14, _TOP + 156, softmax, "small soft", "end"))
    return "".join(drawn)


def _share(cosines, right):
    exponentials = [math.exp(cosine / _TAU) for cosine in cosines]
    return exponentials[right] / sum(exponentials)
