"""Three ways to share a layer between two processes: what each has, and what travels between them."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_TITLE = {"es": "Tres maneras de repartir", "en": "Three ways to share"}
_DESCRIPTION = {
    "es": "Tres filas con dos procesos cada una; de lo que un proceso no tiene se ve solo el borde, en línea discontinua. En la "
    "primera, cada proceso tiene la mitad de los tokens y todos los pesos, y viajan los gradientes, una vez por paso. En la segunda, "
    "cada uno tiene todos los tokens y la mitad de las columnas de pesos, y viajan sumas parciales, 4 veces por capa. En la tercera, "
    "cada uno tiene la mitad de los tokens y 2 de los 4 expertos, y viajan tokens, 4 veces por capa.",
    "en": "Three rows of two processes each; of what a process does not have only the dashed outline is seen. In the first row each "
    "process has half of the tokens and all the weights, and gradients travel, once a step. In the second each has all the tokens and "
    "half of the columns of weights, and partial sums travel, 4 times a layer. In the third each has half of the tokens and 2 of the "
    "4 experts, and tokens travel, 4 times a layer.",
}
_LABELS = {
    "es": {
        "processes": ("un proceso", "el otro"),
        "rows": (
            ("datos", "gradientes, una vez por paso"),
            ("tensores", "sumas parciales, 4 veces por capa"),
            ("expertos", "tokens, 4 veces por capa"),
        ),
        "has": ("tokens", "pesos", "expertos"),
    },
    "en": {
        "processes": ("one process", "the other"),
        "rows": (
            ("data", "gradients, once a step"),
            ("tensor", "partial sums, 4 times a layer"),
            ("experts", "tokens, 4 times a layer"),
        ),
        "has": ("tokens", "weights", "experts"),
    },
}
_WIDE, _TALL, _GAP = 151, 62, 52


def sharing():
    """Return the drawing of data, tensor and expert parallel, one below the other."""
    return Idea("sharing", 312, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    labels = _LABELS[language]
    tokens, weights, experts = labels["has"]
    drawn = [
        ink.text(_left(j) + _WIDE / 2, 14, name, "small soft", "middle")
        for j, name in enumerate(labels["processes"])
    ]
    for i, (name, travels) in enumerate(labels["rows"]):
        top = 44 + 102 * i
        drawn.append(ink.text(0, top - 8, name, "strong"))
        drawn.append(ink.text(356, top - 8, travels, "small", "end"))
        for j in range(2):
            left = _left(j)
            drawn.append(ink.rect(left, top, _WIDE, _TALL))
            halves = ((j, None), (None, j), (j, j))[i]
            drawn += [_tokens(left + 10, top + 14, halves[0])]
            drawn += [(_experts if i == 2 else _weights)(left + 86, top + 6, halves[1])]
            drawn.append(ink.text(left + 40, top + 56, tokens, "small soft", "middle"))
            has = experts if i == 2 else weights
            drawn.append(ink.text(left + 115, top + 56, has, "small soft", "middle"))
        for y, ends in ((22, (0, 1)), (40, (1, 0))):
            start, end = ((_WIDE + 6, _WIDE + _GAP - 6)[k] for k in ends)
            drawn.append(ink.arrow([(start, top + y), (end, top + y)], "lit"))
    return "".join(drawn)


def _left(process):
    return 1 + process * (_WIDE + _GAP)


def _kind(place, half):
    """Return how one of 4 parts is drawn: a process has all parts, or those in its half."""
    return "now" if half is None or place // 2 == half else "bare"


def _tokens(x, y, half):
    return "".join(ink.rect(x + 16 * n, y, 13, 18, _kind(n, half), 3) for n in range(4))


def _weights(x, y, half):
    return "".join(ink.rect(x + 15 * n, y, 13, 36, _kind(n, half), 2) for n in range(4))


def _experts(x, y, half):
    places = [(x + 31 * (n % 2), y + 19 * (n // 2), _kind(n, half)) for n in range(4)]
    return "".join(ink.rect(left, top, 27, 16, kind, 8) for left, top, kind in places)
