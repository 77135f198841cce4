"""The feed-forward network: the same two matrices for every token, each token by itself."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_TOKENS = ((0, 0), (0, 1), (1, 0), (1, 1))
_CENTRES = (92, 169, 246, 323)
_TITLE = {"es": "Cada token por su lado", "en": "Each token by itself"}
_DESCRIPTION = {
    "es": "Cuatro tokens en cuatro columnas separadas, que bajan por las mismas dos matrices. Entran 0 0 0, 0 1 0, 1 0 0 y 1 1 0: "
    "los rasgos a y b y un lugar vacío. La primera matriz da dos unidades, a + b y a + b − 1: 0 y −1, 1 y 0, 1 y 0, 2 y 1. "
    "El corte cambia el −1 por 0. La segunda matriz resta de la primera unidad el doble de la segunda, y la suma con lo que "
    "entró escribe la respuesta en el tercer lugar: 0, 1, 1 y 0. Ninguna línea pasa de una columna a otra.",
    "en": "Four tokens in four separate columns, which come down through the same two matrices. In go 0 0 0, 0 1 0, 1 0 0 and 1 1 "
    "0: the features a and b and an empty slot. The first matrix gives two units, a + b and a + b − 1: 0 and −1, 1 and 0, 1 and "
    "0, 2 and 1. The cut turns the −1 into 0. The second matrix subtracts from the first unit twice the second, and the sum "
    "with what went in writes the answer into the third slot: 0, 1, 1 and 0. No line goes from one column to another.",
}


def feed_forward():
    """Return the drawing of four tokens that go through one network, side by side."""
    return Idea("feed_forward", 272, _TITLE, _DESCRIPTION, _draw)


def _draw(_language):
    drawn = [ink.text(0, 22, "x", "shape"), ink.text(0, 260, "x + FFN", "shape")]
    for y, name in ((60, "W₁, b₁"), (138, "max"), (216, "W₂")):
        drawn.append(ink.rect(0, y - 14, 356, 28, "sunk", 6))
        drawn.append(ink.text(8, y + 4, name, "shape"))
    for x, (a, b) in zip(_CENTRES, _TOKENS, strict=True):
        hidden = (a + b, a + b - 1)
        cut = [max(0, h) for h in hidden]
        rows = ((18, (a, b, 0)), (99, hidden), (177, cut), (256, (a, b, cut[0] - 2 * cut[1])))
        for y, end in ((30, 86), (111, 164), (189, 243)):
            drawn.append(ink.arrow([(x, y), (x, end)]))
        for y, numbers in rows:
            drawn.append(_vector(x, y, numbers, y == 256))
    return "".join(drawn)


def _vector(x, y, numbers, out):
    """Draw the numbers of a vector side by side; in the output, the last one is the answer."""
    drawn = []
    for i, number in enumerate(numbers):
        left = x + 22 * (i - len(numbers) / 2)
        answer = out and i == 2
        drawn.append(ink.rect(left, y - 11, 21, 22, "now" if answer else "box", 3))
        written = str(number).replace("-", "−")
        drawn.append(
            ink.text(left + 10.5, y + 4, written, "shape strong" if answer else "shape", "middle")
        )
    return "".join(drawn)
