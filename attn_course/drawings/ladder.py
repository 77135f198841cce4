"""A layer of 2017 beside one of 2024: the pieces that changed are lit."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_TITLE = {"es": "Un decodificador de 2017 y uno de 2024", "en": "A decoder of 2017 and one of 2024"}
_DESCRIPTION = {
    "es": "Dos columnas de piezas, de arriba abajo. A la izquierda, 2017: embeddings, sinusoides que se suman, y una capa con "
    "atención (con tantas keys como queries y con sesgos), suma y LayerNorm, red con ReLU y dos matrices, suma y LayerNorm; al "
    "final, la tabla de embeddings otra vez. A la derecha, 2024, con lo que cambió resaltado: embeddings sin nada que sumar, y una "
    "capa con RMSNorm antes de la atención (posiciones rotatorias, queries agrupadas, sin sesgos), suma, RMSNorm antes de la "
    "red SwiGLU de tres matrices, y suma; al final, una RMSNorm y la tabla de embeddings otra vez. Las dos sumas siguen donde estaban.",
    "en": "Two columns of pieces, from top to bottom. On the left, 2017: embeddings, sinusoids added to them, and a layer with "
    "attention (as many keys as queries, and biases), a sum and LayerNorm, a network with ReLU and two matrices, a sum and "
    "LayerNorm; at the end, the embedding table again. On the right, 2024, with what changed lit: embeddings with nothing "
    "added, and a layer with RMSNorm before attention (rotary positions, grouped queries, no biases), a sum, RMSNorm before the "
    "SwiGLU network of three matrices, and a sum; at the end, one RMSNorm and the embedding table again. The two sums are where they were.",
}
_NAMES = {
    "es": {
        "sines": "+ sinusoides",
        "attention": "atención",
        "equal": "keys = queries, sesgos",
        "grouped": "rotatoria, agrupada,",
        "bare": "sin sesgos",
        "relu": "ReLU: 2 matrices",
        "swiglu": "SwiGLU: 3 matrices",
        "again": "embeddings otra vez",
    },
    "en": {
        "sines": "+ sinusoids",
        "attention": "attention",
        "equal": "keys = queries, biases",
        "grouped": "rotary, grouped,",
        "bare": "no biases",
        "relu": "ReLU: 2 matrices",
        "swiglu": "SwiGLU: 3 matrices",
        "again": "embeddings again",
    },
}
_OLD, _NEW, _WIDE = 92, 268, 146


def ladder():
    """Return the drawing of both layers, with the parts before and after them."""
    return Idea("ladder", 434, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    name = _NAMES[language]
    drawn = [
        ink.text(_OLD, 16, "2017", "strong", "middle"),
        ink.text(_NEW, 16, "2024", "strong", "middle"),
    ]
    # The line on which both streams come down, under everything else.
    drawn += [ink.arrow([(x, 44), (x, 392)]) for x in (_OLD, _NEW)]
    drawn += [_around(_OLD, 104, 180), _around(_OLD, 236, 286)]
    drawn += [_around(_NEW, 104, 218), _around(_NEW, 232, 318)]
    drawn.append(_box(_OLD, 44, ("embeddings",)) + _box(_OLD, 78, (name["sines"],)))
    drawn.append(_box(_OLD, 140, (name["attention"], name["equal"]), 42))
    drawn.append(ink.plus(_OLD, 180) + _box(_OLD, 210, ("LayerNorm",)))
    drawn.append(_box(_OLD, 258, (name["relu"],)) + ink.plus(_OLD, 286))
    drawn.append(_box(_OLD, 314, ("LayerNorm",)) + _box(_OLD, 404, (name["again"],)))
    drawn.append(_box(_NEW, 44, ("embeddings",)))
    drawn.append(_box(_NEW, 126, ("RMSNorm",), kind="box now"))
    drawn.append(_box(_NEW, 173, (name["attention"], name["grouped"], name["bare"]), 56, "box now"))
    drawn.append(ink.plus(_NEW, 218))
    drawn.append(_box(_NEW, 254, ("RMSNorm",), kind="box now"))
    drawn.append(_box(_NEW, 288, (name["swiglu"],), kind="box now") + ink.plus(_NEW, 318))
    drawn.append(_box(_NEW, 368, ("RMSNorm",), kind="box now"))
    drawn.append(_box(_NEW, 404, (name["again"],)))
    for x, times in ((_OLD, "× 6"), (_NEW, "× 30")):
        drawn.append(ink.rect(x - 86, 96, 172, 242, "frame dashed", 8))
        drawn.append(ink.text(x + 80, 354, times, "small strong", "end"))
    return "".join(drawn)


def _box(x, y, labels, tall=24, kind="box"):
    box = ink.rect(x - _WIDE / 2, y - tall / 2, _WIDE, tall, kind, 6)
    return box + ink.lines(x, y, labels, "small", leading=16)


def _around(x, start, end):
    """Draw the residual connection past a sub-layer, on its left."""
    side = x - 80
    return ink.arrow([(x, start), (side, start), (side, end), (x - 9, end)], "lit")
