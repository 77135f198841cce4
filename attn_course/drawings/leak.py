"""A leak that grows with the layers: one key too far in each layer makes two in two layers."""

import itertools

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_TOKENS = {
    "es": ("<sos>", "El", "cielo", "es", "azul"),
    "en": ("<sos>", "The", "sky", "is", "blue"),
}
_TITLE = {"es": "Una fuga que crece con las capas", "en": "A leak that grows with the layers"}
_DESCRIPTION = {
    "es": "Cinco posiciones, <sos>, El, cielo, es y azul, y dos capas por encima. En cada capa, una posición lee las anteriores, "
    "lee la suya y, por error, también la siguiente. Está resaltado un camino: la capa 1 lleva cielo a la posición de El, y "
    "la capa 2 lo lleva de ahí a la de <sos>. A las cinco salidas les llegan 3, 4, 5, 5 y 5 entradas; con la máscara causal "
    "les llegarían 1, 2, 3, 4 y 5.",
    "en": "Five positions, <sos>, The, sky, is and blue, and two layers above them. In each layer a position reads those before "
    "it, reads its own and, by mistake, also the next one. One path is lit: layer 1 takes sky to the position of The, and "
    "layer 2 takes it from there to the position of <sos>. The five outputs receive 3, 4, 5, 5 and 5 inputs; with the "
    "causal mask they would receive 1, 2, 3, 4 and 5.",
}
_WORDS = {
    "es": ("entrada", "capa 1", "capa 2", "corrida", "causal", "entradas que llegan a cada salida"),
    "en": ("input", "layer 1", "layer 2", "shifted", "causal", "inputs that arrive at each output"),
}
_X, _Y = (92, 150, 208, 266, 324), (236, 166, 96)


def leak():
    """Return the drawing of a mask that allows one key too many, through two layers."""
    return Idea("leak", 254, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    *rows, shifted, causal, heading = _WORDS[language]
    drawn, front = [ink.text(66, 14, heading, "small soft")], []
    for below, above in itertools.pairwise(_Y):
        for i, x in enumerate(_X):
            for j in range(min(i + 2, 5)):
                line = [(_X[j], below - 14), (x, above + 14)]
                if (i, j) == ((1, 2) if below == _Y[0] else (0, 1)):
                    front.append(ink.arrow(line, "bad"))
                elif j > i:
                    drawn.append(ink.path(line, "line bad dashed"))
                else:
                    drawn.append(ink.path(line, "frame"))
    reached = [{0, 1, 2, 3, 4} & set(range(i + 3)) for i in range(5)]
    for y, row in zip(_Y, rows, strict=True):
        drawn.append(ink.text(54, y + 4.5, row, "small soft", "end"))
        for i, x in enumerate(_X):
            on_path = (i, y) in ((2, _Y[0]), (1, _Y[1]), (0, _Y[2]))
            front.append(ink.rect(x - 26, y - 13, 52, 26, "box bad" if on_path else "box", 13))
            front.append(
                ink.text(
                    x,
                    y + 4.5,
                    _TOKENS[language][i],
                    "small strong" if on_path else "small",
                    "middle",
                )
            )
    for y, label in ((36, shifted), (54, causal)):
        drawn.append(ink.text(54, y + 4.5, label, "small" if y == 36 else "small soft", "end"))
    for i, x in enumerate(_X):
        drawn.append(
            ink.text(
                x,
                40.5,
                str(len(reached[i])),
                "shape bad" if len(reached[i]) > i + 1 else "shape",
                "middle",
            )
        )
        drawn.append(ink.text(x, 58.5, str(i + 1), "shape", "middle"))
    return "".join(drawn + front)
