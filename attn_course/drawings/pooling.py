"""Nine patches become one: by their mean, and by a mean weighted with a query."""

import math

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_SHAPES = {"+": "010111010", "×": "101010101", "T": "111010010", "L": "100100111"}
# The patches of the figure in chapter 1, without their noise. The eighth has the frame.
_PATCHES, _FRAMED = "LTT××++++", 7
_SCORES = [16 / 4 if i == _FRAMED else 0 for i in range(9)]
_TITLE = {"es": "La media y la media ponderada", "en": "The mean and the weighted mean"}
_DESCRIPTION = {
    "es": "Dos veces los mismos nueve parches, en 3 por 3, con sus pesos debajo: una L, dos T, dos aspas y cuatro signos más; el "
    "octavo, un signo más, lleva un marco. A la izquierda todos pesan 0.11, y del conjunto sale una mancha en la que no se ve "
    "qué figura llevaba el marco. A la derecha el parche enmarcado pesa 0.87 y los demás 0.02, y sale casi ese parche.",
    "en": "The same nine patches twice, in 3 by 3, with their weights below: an L, two letters T, two crosses and four plus signs; the "
    "eighth, a plus sign, has a frame. On the left all of them weigh 0.11, and out of them comes a blot in which one cannot "
    "see which shape had the frame. On the right the framed patch weighs 0.87 and the others 0.02, and almost that patch comes out.",
}
_HEADS = {"es": ("media", "atención"), "en": ("mean", "attention")}
_FOUND = {
    "es": ("¿cuál tenía el marco?", "el signo más"),
    "en": ("which had the frame?", "the plus sign"),
}
_SIZE, _LEFT = 30, (22, 214)


def pooling():
    """Return the drawing of nine patches that become one, by both means."""
    return Idea("pooling", 296, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    exponentials = [math.exp(score) for score in _SCORES]
    weighted = [e / sum(exponentials) for e in exponentials]
    drawn = []
    both = zip(_LEFT, _HEADS[language], _FOUND[language], ([1 / 9] * 9, weighted), strict=True)
    for x, name, found, weights in both:
        drawn.append(ink.text(x + 60, 16, name, "strong", "middle"))
        for i, weight in enumerate(weights):
            here = (x + 45 * (i % 3), 28 + 50 * (i // 3))
            drawn.append(_patch(*here, i, 0.35 + 0.65 * min(1, max(0, 3 * weight - 0.1))))
            kind = "shape strong" if weight > 0.5 else "shape"
            drawn.append(ink.text(here[0] + 15, here[1] + 43, f"{weight:.2f}", kind, "middle"))
        drawn.append(ink.arrow([(x + 60, 180), (x + 60, 200)]))
        drawn.append(_mixed(x + 30, 206, weights))
        drawn.append(ink.text(x + 60, 288, found, "small", "middle"))
    return "".join(drawn)


def _pixels(i):
    """Return the 25 pixels of a patch, in order."""
    shape, edge = _SHAPES[_PATCHES[i]], int(i == _FRAMED)
    inner = {(r, c): int(shape[3 * (r - 1) + c - 1]) for r in (1, 2, 3) for c in (1, 2, 3)}
    return [inner.get((r, c), edge) for r in range(5) for c in range(5)]


def _patch(x, y, i, strength):
    return _picture(x, y, _SIZE, [strength * pixel for pixel in _pixels(i)])


def _mixed(x, y, weights):
    """Draw the sum of the patches times their weights, twice as large."""
    patches = [_pixels(i) for i in range(9)]
    mean = [sum(w * patch[p] for w, patch in zip(weights, patches, strict=True)) for p in range(25)]
    return _picture(x, y, 2 * _SIZE, [round(pixel, 2) for pixel in mean])


def _picture(x, y, side, pixels):
    """Draw 25 pixels, those of one strength together."""
    size, drawn = side // 5, [ink.rect(x, y, side, side, "frame", 2)]
    for strength in sorted({pixel for pixel in pixels if pixel}):
        places = [
            (x + size * (p % 5), y + size * (p // 5)) for p in range(25) if pixels[p] == strength
        ]
        squares = "".join(f"M{a} {b}h{size}v{size}h-{size}z" for a, b in places)
        drawn.append(ink.tag("path", d=squares, class_="cell value", opacity=strength))
    return "".join(drawn)
