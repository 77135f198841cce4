"""What a mask removes: scores above the diagonal, before the softmax."""

import math

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_TOKENS = ("<sos>", "El", "cielo", "es", "azul")
# The scores of chapter 6, which works out the row of "El" by hand.
_SCORES = ((2, 1, 0, 0, 1), (0, 1, 3, 0, 1), (0, 1, 2, 1, 2), (0, 0, 2, 1, 3), (0, 1, 3, 1, 2))
_TITLE = {"es": "Lo que quita la máscara causal", "en": "What the causal mask removes"}
_DESCRIPTION = {
    "es": "Tres matrices de 5 por 5 con una fila por query y una columna por key, de los tokens <sos>, El, cielo, es y azul. "
    "En la primera están los puntajes; los de encima de la diagonal están tachados, porque la máscara los quita. En la "
    "segunda esos lugares valen menos infinito. En la tercera, los pesos: lo quitado no pesa nada, y cada fila reparte 1 "
    "entre lo que queda. La fila de El, resaltada, pasa de los puntajes 0, 1 y 3 con los tres primeros tokens a los pesos "
    "0.27 y 0.73.",
    "en": "Three matrices of 5 by 5 with a row for each query and a column for each key, of the tokens <sos>, El, cielo, es "
    "and azul. In the first are the scores; those above the diagonal are crossed out, since the mask removes them. In the "
    "second those places are minus infinity. In the third, the weights: what was removed weighs nothing, and each row "
    "shares out 1 among what remains. The row of El, which is lit, goes from the scores 0, 1 and 3 with the first three "
    "tokens to the weights 0.27 and 0.73.",
}
_HEADS = {"es": ("puntajes", "+ máscara", "pesos"), "en": ("scores", "+ mask", "weights")}
_CELL, _STEP, _TOP = 16, 18, 30
_LEFT = (52, 158, 264)


def mask():
    """Return the drawing of five tokens whose scores above the diagonal are removed."""
    return Idea("mask", 152, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    drawn = [ink.rect(1, _TOP + _STEP - 2, 354, _STEP + 2, "now", 4)]
    for i, token in enumerate(_TOKENS):
        y = _TOP + _STEP * i + 12.5
        drawn.append(ink.text(47, y, token, "small strong" if i == 1 else "small", "end"))
    for x, label in zip(_LEFT, _HEADS[language], strict=True):
        drawn.append(ink.text(x + 44, 18, label, "small", "middle"))
    for x in _LEFT[1:]:
        drawn.append(ink.arrow([(x - 15, _TOP + 44), (x - 3, _TOP + 44)]))
    for i, row in enumerate(_SCORES):
        weights = _weights(row[: i + 1])
        for j, score in enumerate(row):
            here = [(x + _STEP * j, _TOP + _STEP * i) for x in _LEFT]
            drawn.append(_cell(here[0], 0.15 + 0.22 * score))
            if j <= i:
                drawn.append(_cell(here[1], 0.15 + 0.22 * score))
                drawn.append(_cell(here[2], max(weights[j], 0.06)))
            else:
                drawn.append(_cross(here[0]))
                drawn.append(_empty(here[1]) + _empty(here[2]))
    below = _TOP + 5 * _STEP + 18
    drawn.append(ink.text(47, below, "El:", "small strong", "end"))
    for x, numbers in zip(
        _LEFT, (("0", "1", "3"), ("0", "1", "−∞"), ("0.27", "0.73", "0")), strict=True
    ):
        for j, number in enumerate(numbers):
            at = x + 10 + (33 if x == _LEFT[2] else 27) * j
            drawn.append(ink.text(at, below, number, "shape", "middle"))
    return "".join(drawn)


def _weights(scores):
    exponentials = [math.exp(score) for score in scores]
    return [e / sum(exponentials) for e in exponentials]


def _cell(place, strength):
    return ink.tag(
        "rect", x=place[0], y=place[1], width=_CELL, height=_CELL, class_="cell", opacity=strength
    )


def _cross(place):
    x, y = place
    return ink.tag("path", d=f"M{x + 3} {y + 3}l10 10M{x + 13} {y + 3}l-10 10", class_="line bad")


def _empty(place):
    return ink.tag(
        "rect", x=place[0] + 0.5, y=place[1] + 0.5, width=_CELL - 1, height=_CELL - 1, class_="bare"
    )
