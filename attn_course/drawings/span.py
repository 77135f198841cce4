"""A span of the text: the pair of start and end with the largest sum, and the one that runs backwards."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

# The tokens and the scores of chapter 10.
_TOKENS, _START, _END = ("1945", "by", "Anna", "Garza"), (1.0, 0.0, 3.0, 2.0), (3.2, 0.1, 1.0, 3.0)
_TITLE = {"es": "El tramo es una pareja", "en": "The span is a pair"}
_DESCRIPTION = {
    "es": "Cuatro tokens, 1945, by, Anna y Garza. Encima de cada uno, su puntaje como principio: 1.0, 0.0, 3.0 y 2.0. Debajo, su "
    "puntaje como final: 3.2, 0.1, 1.0 y 3.0. Abajo hay dos respuestas. Si se eligen por separado, el mejor principio es Anna "
    "y el mejor final es 1945: una flecha que va hacia atrás. Si se elige la pareja, gana la que va de Anna a Garza, que suma "
    "3.0 + 3.0 = 6.0.",
    "en": "Four tokens, 1945, by, Anna and Garza. Above each, its score as a start: 1.0, 0.0, 3.0 and 2.0. Below, its score as an "
    "end: 3.2, 0.1, 1.0 and 3.0. At the bottom are two answers. Chosen separately, the best start is Anna and the best end is "
    "1945: an arrow that runs backwards. Chosen as a pair, the one that goes from Anna to Garza wins, which adds up to "
    "3.0 + 3.0 = 6.0.",
}
_WORDS = {
    "es": (
        "principio",
        "final",
        "por separado: va hacia atrás",
        "la mejor pareja: 3.0 + 3.0 = 6.0",
    ),
    "en": ("start", "end", "separately: it runs backwards", "the best pair: 3.0 + 3.0 = 6.0"),
}
_X = (104, 176, 248, 320)


def span():
    """Return the drawing of four tokens with two scores each, and of two ways to choose a span."""
    return Idea("span", 180, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    start, end, apart, pair = _WORDS[language]
    first = max(range(4), key=_START.__getitem__)
    last = max(range(4), key=_END.__getitem__)
    best = max(
        ((i, j) for i in range(4) for j in range(i, min(i + 3, 4))),
        key=lambda p: _START[p[0]] + _END[p[1]],
    )
    left, right = _X[best[0]] - 32, _X[best[1]] + 32
    drawn = [ink.rect(left - 3, 72, right - left + 6, 34, "now", 17)]
    drawn.append(ink.text((_X[first] + _X[last]) / 2, 14, apart, "small bad", "middle"))
    drawn.append(
        ink.arrow([(_X[first], 44), (_X[first], 24), (_X[last], 24), (_X[last], 44)], "bad")
    )
    for y, label in ((60, start), (128, end)):
        drawn.append(ink.text(60, y, label, "small soft", "end"))
    for i, (x, token) in enumerate(zip(_X, _TOKENS, strict=True)):
        chosen = best[0] <= i <= best[1]
        drawn.append(ink.rect(x - 31, 76, 62, 26, "box lit" if chosen else "box", 13))
        drawn.append(ink.text(x, 93.5, token, "strong" if chosen else "", "middle"))
        drawn.append(
            ink.text(x, 60, f"{_START[i]:.1f}", "shape strong" if i == first else "shape", "middle")
        )
        drawn.append(
            ink.text(x, 128, f"{_END[i]:.1f}", "shape strong" if i == last else "shape", "middle")
        )
    drawn.append(
        ink.arrow(
            [(_X[best[0]], 136), (_X[best[0]], 150), (_X[best[1]], 150), (_X[best[1]], 136)], "lit"
        )
    )
    drawn.append(ink.text(352, 170, pair, "small accent", "end"))
    return "".join(drawn)
