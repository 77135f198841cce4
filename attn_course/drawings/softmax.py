"""One row of softmax: scores, exponentials, weights that sum to 1, and the mean that they give."""

import math

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_TOKENS = {
    "es": ("El", "gato", "camina", "en", "la", "calle"),
    "en": ("The", "cat", "walks", "in", "the", "street"),
}
# The vectors of chapter 3, one for each token. The third is the query.
_X = ((0, -0.5, 0), (1.5, 1, 0), (1, 1.5, 0.5), (-0.5, 0, 0.5), (0, -0.5, 0.5), (0, 0.5, 2))
_ASKS = 2
_SCORES = [sum(a * b for a, b in zip(_X[_ASKS], x, strict=True)) for x in _X]
_EXPONENTIALS = [math.exp(score) for score in _SCORES]
_WEIGHTS = [e / sum(_EXPONENTIALS) for e in _EXPONENTIALS]
_MEAN = [sum(w * x[j] for w, x in zip(_WEIGHTS, _X, strict=True)) for j in range(3)]
_TITLE = {"es": "De los puntajes a la media", "en": "From scores to the mean"}
_DESCRIPTION = {
    "es": "Una columna por palabra de «El gato camina en la calle». Arriba, los puntajes de camina con cada una, que pueden ser "
    "negativos: −0.75, 3.00, 3.50, −0.25, −0.50 y 1.75. Debajo, sus exponenciales, todas positivas: 0.47, 20.09, 33.12, 0.78, "
    "0.61 y 5.75. Después, una barra de longitud 1 repartida en proporción a ellas: gato se lleva 0.33, camina 0.54, calle "
    "0.09. Abajo, la media de los vectores con esos pesos: 1.03, 1.19, 0.47.",
    "en": "One column for each word of “The cat walks in the street”. At the top, the scores of walks with each of them, which "
    "may be negative: −0.75, 3.00, 3.50, −0.25, −0.50 and 1.75. Below, their exponentials, all positive: 0.47, 20.09, 33.12, "
    "0.78, 0.61 and 5.75. Then a bar of length 1 shared out in proportion to them: cat gets 0.33, walks 0.54, street 0.09. At "
    "the bottom, the mean of the vectors with those weights: 1.03, 1.19, 0.47.",
}
_HEADS = {"es": ("puntaje", "exp", "peso"), "en": ("score", "exp", "weight")}
_LEFT, _STEP = 84, 50


def softmax():
    """Return the drawing of the scores of *walks*, their softmax and the weighted mean."""
    return Idea("softmax", 356, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    score, exp, weight = _HEADS[language]
    words = _TOKENS[language]
    drawn = [
        ink.text(0, 102, score, "small soft"),
        ink.text(0, 210, exp, "small soft"),
        ink.text(0, 260, weight, "small soft"),
    ]
    drawn += [ink.path([(56, y), (356, y)], "frame") for y in (98, 206)]
    start = 56
    for i, word in enumerate(words):
        x, found = _LEFT + _STEP * i, _WEIGHTS[i] > 0.05
        kind = "strong" if i == _ASKS else ""
        drawn.append(ink.text(x, 16, word, f"small {kind}".strip(), "middle"))
        height = 17 * _SCORES[i]
        drawn.append(ink.rect(x - 12, 98 - max(height, 0), 24, abs(height), "cell query", 2))
        above = 98 - height - 5 if height > 0 else 98 - height + 13
        drawn.append(ink.text(x, above, _written(_SCORES[i]), "shape", "middle"))
        tall = 1.5 * _EXPONENTIALS[i]
        drawn.append(ink.rect(x - 12, 206 - tall, 24, tall, "cell query", 2))
        drawn.append(ink.text(x, 206 - tall - 5, f"{_EXPONENTIALS[i]:.2f}", "shape", "middle"))
        width = 300 * _WEIGHTS[i]
        drawn.append(
            ink.rect(start + 0.5, 244, width - 1, 24, "cell value", 2, opacity=1 if found else 0.45)
        )
        if found:
            last = i == len(words) - 1
            at = (356, "end") if last else (start + width / 2, "middle")
            drawn.append(ink.text(at[0], 236, word, "small", at[1]))
            drawn.append(ink.text(at[0], 283, f"{_WEIGHTS[i]:.2f}", "shape", at[1]))
        start += width
    drawn.append(ink.arrow([(206, 292), (206, 310)]))
    mean = ", ".join(_written(x) for x in _MEAN)
    drawn += [
        ink.rect(106, 314, 200, 30, "box value"),
        ink.text(206, 333, f"z = ({mean})", "shape", "middle"),
    ]
    return "".join(drawn)


def _written(x):
    return f"{x:.2f}".replace("-", "−")
