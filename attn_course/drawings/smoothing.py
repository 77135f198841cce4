"""Label smoothing: the target probability of the right word, and of the others."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

# The words of chapter 8, of which the second is the right one.
_FOUR = {"es": ("verde", "azul", "gris", "cielo"), "en": ("green", "blue", "grey", "sky")}
_RIGHT, _EPSILON = 1, 0.1
_TITLE = {"es": "Suavizado de etiquetas", "en": "Label smoothing"}
_DESCRIPTION = {
    "es": "A la izquierda, lo que se pide sin suavizar: 1 para azul y 0 para verde, gris y cielo. A la derecha, con ε = 0.1: a azul "
    "se le quita 0.1, que se reparte en cuatro partes iguales de 0.025, una para cada palabra, también para azul. A azul le "
    "queda 0.925 y las otras tres reciben 0.025 cada una.",
    "en": "On the left, what is asked without smoothing: 1 for blue and 0 for green, grey and sky. On the right, with ε = 0.1: 0.1 "
    "is taken from blue and shared out in four equal parts of 0.025, one for each word, blue too. blue is left with 0.925 "
    "and the other three receive 0.025 each.",
}
_HEADS = {"es": ("y, sin suavizar", "q, suavizada"), "en": ("y, not smoothed", "q, smoothed")}
_FLOOR, _TALL, _STEP, _WIDE = 176, 128, 39, 28


def smoothing():
    """Return the drawing of four words, one of them right, before and after smoothing."""
    return Idea("smoothing", 222, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    plain, smooth = _HEADS[language]
    part = _EPSILON / len(_FOUR[language])
    drawn = []
    for left, head, taken in ((4, plain, 0), (204, smooth, _EPSILON)):
        drawn.append(ink.text(left + 73, 16, head, "strong", "middle"))
        for i, word in enumerate(_FOUR[language]):
            x, middle = left + _STEP * i, left + _STEP * i + _WIDE / 2
            kept = (1 - taken) * _TALL if i == _RIGHT else 0
            gift = part * _TALL if taken else 0
            if taken and i == _RIGHT:
                drawn.append(ink.rect(x, _FLOOR - _TALL, _WIDE, _TALL - kept - gift, "bare", 0))
            drawn.append(ink.rect(x, _FLOOR - kept, _WIDE, kept, "cell", 0) if kept else "")
            drawn.append(
                ink.rect(x, _FLOOR - kept - gift, _WIDE, gift, "cell extra", 0) if gift else ""
            )
            value = (1 - taken) * (i == _RIGHT) + (part if taken else 0)
            drawn.append(
                ink.text(
                    middle,
                    _FLOOR - (_TALL if i == _RIGHT else gift) - 7,
                    f"{value:g}",
                    "shape",
                    "middle",
                )
            )
            drawn.append(
                ink.text(
                    middle, _FLOOR + 18, word, "small strong" if i == _RIGHT else "small", "middle"
                )
            )
        drawn.append(ink.path([(left - 3, _FLOOR), (left + 148, _FLOOR)]))
    drawn.append(
        ink.arrow([(160, 112), (196, 112)])
        + ink.text(178, 102, f"ε = {_EPSILON}", "small", "middle")
    )
    drawn.append(ink.rect(204, 206, 12, 12, "cell extra", 2))
    drawn.append(ink.text(222, 216.5, f"ε / 4 = {part:g}", "shape"))
    return "".join(drawn)
