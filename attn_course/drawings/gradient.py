"""The gradient of the loss: every word is pushed by the distance from its probability to what was asked."""

import math

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

# The logits of chapter 8, whose second word is the right one.
_LOGITS, _RIGHT = (1, 3, 2, 0), 1
FOUR = {"es": ("verde", "azul", "gris", "cielo"), "en": ("green", "blue", "grey", "sky")}
_TITLE = {"es": "Hacia dónde va cada logit", "en": "Where each logit goes"}
_DESCRIPTION = {
    "es": "Cuatro palabras, una por fila, con su logit, su probabilidad y su empujón. verde: logit 1, probabilidad 0.09, baja "
    "0.09. azul, que es la correcta: logit 3, probabilidad 0.64, sube 0.36. gris: logit 2, probabilidad 0.24, baja 0.24. cielo: "
    "logit 0, probabilidad 0.03, baja 0.03. Lo que la correcta sube es lo que bajan las otras tres juntas.",
    "en": "Four words, one a row, each with its logit, its probability and its push. green: logit 1, probability 0.09, falls by "
    "0.09. blue, the right one: logit 3, probability 0.64, rises by 0.36. grey: logit 2, probability 0.24, falls by 0.24. sky: "
    "logit 0, probability 0.03, falls by 0.03. The right one rises by as much as the other three fall together.",
}
_WORDS = {
    "es": ("logit", "p", "y − p", "baja", "sube"),
    "en": ("logit", "p", "y − p", "falls", "rises"),
}
_LEFT, _ZERO, _SCALE = 94, 268, 210


def gradient():
    """Return the drawing of four probabilities and of the step that each logit takes."""
    return Idea("gradient", 178, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    logit, p, push, falls, rises = _WORDS[language]
    total = sum(math.exp(z) for z in _LOGITS)
    drawn = [
        ink.text(70, 16, logit, "small soft", "middle"),
        ink.text(_LEFT, 16, p, "small soft"),
        ink.text(_ZERO, 16, push, "small soft", "middle"),
        ink.text(216, 34, f"← {falls}", "small bad"),
        ink.text(352, 34, f"{rises} →", "small value", "end"),
    ]
    for i, (word, z) in enumerate(zip(FOUR[language], _LOGITS, strict=True)):
        y, share, right = 58 + 32 * i, math.exp(z) / total, i == _RIGHT
        step = right - share
        drawn.append(ink.text(48, y + 4.5, word, "strong" if right else "", "end"))
        drawn.append(ink.text(70, y + 4, str(z), "shape", "middle"))
        drawn.append(ink.rect(_LEFT, y - 10, 100 * share, 20, "cell", 2))
        drawn.append(ink.text(_LEFT + 100 * share + 5, y + 4, f"{share:.2f}", "shape"))
        end, hue = _ZERO + _SCALE * step, "value" if right else "bad"
        start = min(_ZERO, end)
        drawn.append(ink.rect(start, y - 7, abs(end - _ZERO), 14, f"cell {hue}", 2))
        written = f"{step:+.2f}".replace("-", "−")
        drawn.append(
            ink.text(
                _ZERO + (-6 if right else 6), y + 4, written, "shape", "end" if right else "start"
            )
        )
    drawn.append(ink.path([(_ZERO, 42), (_ZERO, 172)]))
    return "".join(drawn)
