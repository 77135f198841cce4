"""What a mask removes: scores above the diagonal, before the softmax."""

import math

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea, step

_TOKENS = {
    "es": ("<sos>", "El", "cielo", "es", "azul"),
    "en": ("<sos>", "The", "sky", "is", "blue"),
}
# The scores of chapter 6, which works out the second row by hand.
_SCORES = ((2, 1, 0, 0, 1), (0, 1, 3, 0, 1), (0, 1, 2, 1, 2), (0, 0, 2, 1, 3), (0, 1, 3, 1, 2))
_TITLE = {"es": "Lo que quita la máscara causal", "en": "What the causal mask removes"}
_DESCRIPTION = {
    "es": "Tres matrices de 5 por 5 con una fila por query y una columna por key, de los tokens <sos>, El, cielo, es y azul. "
    "En la primera están los puntajes; los de encima de la diagonal están tachados, porque la máscara los quita. En la "
    "segunda esos lugares valen menos infinito. En la tercera, los pesos: lo quitado no pesa nada, y cada fila reparte 1 "
    "entre lo que queda. La fila de El, resaltada, pasa de los puntajes 0, 1 y 3 con los tres primeros tokens a los pesos "
    "0.27 y 0.73.",
    "en": "Three matrices of 5 by 5 with a row for each query and a column for each key, of the tokens <sos>, The, sky, is "
    "and blue. In the first are the scores; those above the diagonal are crossed out, since the mask removes them. In the "
    "second those places are minus infinity. In the third, the weights: what was removed weighs nothing, and each row "
    "shares out 1 among what remains. The row of The, which is lit, goes from the scores 0, 1 and 3 with the first three "
    "tokens to the weights 0.27 and 0.73.",
}
_STEPS = {
    "es": (
        "Cada fila es una query, y cada columna, una key: El da a las tres primeras los puntajes 0, 1 y 3.",
        "La máscara pone menos infinito encima de la diagonal: El ya no puede mirar a cielo.",
        "La softmax reparte 1 entre lo que queda, que para la fila de «El» son los puntajes 0 y 1.",
    ),
    "en": (
        "Each row is a query and each column a key: The gives the first three the scores 0, 1 and 3.",
        "The mask puts minus infinity above the diagonal: The may no longer look at sky.",
        "The softmax shares out 1 among what is left, which for The are the scores 0 and 1.",
    ),
}
_HEADS = {"es": ("puntajes", "+ máscara", "pesos"), "en": ("scores", "+ mask", "weights")}
_CELL, _STEP, _TOP = 16, 18, 30
_LEFT = (52, 158, 264)


def mask():
    """Return the drawing of five tokens whose scores above the diagonal are removed."""
    return Idea("mask", 152, _TITLE, _DESCRIPTION, _draw, _STEPS)


def _draw(language):
    drawn = [ink.rect(1, _TOP + _STEP - 2, 354, _STEP + 2, "now", 4)]
    for i, token in enumerate(_TOKENS[language]):
        y = _TOP + _STEP * i + 12.5
        drawn.append(ink.text(47, y, token, "small strong" if i == 1 else "small", "end"))
    # What appears at each step: the scores, what the mask leaves of them, and the weights.
    scores, masked, shared = groups = [], [], []
    for group, x, label in zip(groups, _LEFT, _HEADS[language], strict=True):
        group.append(ink.text(x + 44, 18, label, "small", "middle"))
        if x > _LEFT[0]:
            group.append(ink.arrow([(x - 15, _TOP + 44), (x - 3, _TOP + 44)]))
    for i, row in enumerate(_SCORES):
        weights = _weights(row[: i + 1])
        for j, score in enumerate(row):
            here = [(x + _STEP * j, _TOP + _STEP * i) for x in _LEFT]
            scores.append(_cell(here[0], 0.15 + 0.22 * score))
            if j <= i:
                masked.append(_cell(here[1], 0.15 + 0.22 * score))
                shared.append(_cell(here[2], max(weights[j], 0.06)))
            else:
                masked.append(_cross(here[0]) + _empty(here[1]))
                shared.append(_empty(here[2]))
    below = _TOP + 5 * _STEP + 18
    drawn.append(ink.text(47, below, f"{_TOKENS[language][1]}:", "small strong", "end"))
    rows = (("0", "1", "3"), ("0", "1", "−∞"), ("0.27", "0.73", "0"))
    for group, x, numbers in zip(groups, _LEFT, rows, strict=True):
        for j, number in enumerate(numbers):
            at = x + 10 + (33 if x == _LEFT[2] else 27) * j
            group.append(ink.text(at, below, number, "shape", "middle"))
    return "".join([*drawn, *(step(n, *group) for n, group in enumerate(groups, 1))])


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
