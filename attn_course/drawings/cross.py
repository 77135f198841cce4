"""Cross-attention: what is written asks, and what was read answers."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_SOURCE = ("the", "red", "house")
_READ, _PREDICTED = ("<sos>", "la", "casa", "roja"), ("la", "casa", "roja", "<eos>")
# The mean over the heads and layers of the translator of chapter 5, to two decimals.
_WEIGHTS = ((0.67, 0.02, 0.31), (0.05, 0.01, 0.94), (0.02, 0.96, 0.02), (0.50, 0.35, 0.14))
_ASK, _ANSWER = (94, 169, 244, 319), (119, 207, 295)
_TITLE = {"es": "Quién pregunta y quién responde", "en": "Who asks and who answers"}
_DESCRIPTION = {
    "es": "Arriba el decodificador, con lo que lee, <sos>, la, casa y roja, y encima lo que predice, la, casa, roja y <eos>. Abajo "
    "la memoria del codificador: the, red y house. De cada query baja una línea a cada token de la memoria, tan gruesa como su "
    "peso. La que predice la da 0.67 a the y 0.31 a house; la que predice casa da 0.94 a house; la que predice roja, 0.96 a "
    "red, y estas dos líneas se cruzan; la que predice <eos> reparte 0.50, 0.35 y 0.14.",
    "en": "At the top the decoder, with what it reads, <sos>, la, casa and roja, and above that what it predicts, la, casa, roja "
    "and <eos>. At the bottom the memory of the encoder: the, red and house. From each query a line comes down to each token of the "
    "memory, as thick as its weight. The one that predicts la gives 0.67 to the and 0.31 to house; the one that predicts casa "
    "gives 0.94 to house; the one that predicts roja, 0.96 to red, and these two lines cross; the one that predicts <eos> "
    "shares out 0.50, 0.35 and 0.14.",
}
_WORDS = {
    "es": ("predice", "lee", "query", "key, value", "memoria"),
    "en": ("predicts", "reads", "query", "key, value", "memory"),
}


def cross():
    """Return the drawing of four queries and the three tokens of the memory that answer them."""
    return Idea("cross", 296, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    predicts, reads, query, key, memory = _WORDS[language]
    drawn = [
        ink.text(0, 20, predicts, "small soft"),
        ink.text(0, 68, reads, "small soft"),
        ink.text(0, 84, query, "small query"),
        ink.text(0, 254, memory, "small soft"),
        ink.text(0, 270, key, "small key"),
    ]
    for x, row in zip(_ASK, _WEIGHTS, strict=True):
        for end, weight in zip(_ANSWER, row, strict=True):
            curve = f"M{x} 108C{x} 164 {end} 180 {end} 236"
            drawn.append(
                ink.tag(
                    "path",
                    d=curve,
                    class_="line query",
                    opacity=1 if weight > 0.2 else 0.45,
                    style=f"stroke-width:{ink.number(0.6 + 7 * weight)}",
                )
            )
    for x, read, said, row in zip(_ASK, _READ, _PREDICTED, _WEIGHTS, strict=True):
        drawn.append(ink.text(x, 20, said, "strong", "middle"))
        drawn.append(ink.arrow([(x, 52), (x, 28)]))
        drawn.append(ink.rect(x - 31, 54, 62, 28, "box query", 14))
        drawn.append(ink.text(x, 72.5, read, "small", "middle"))
        best = max(row)
        found = f"{_SOURCE[row.index(best)]} {best:.2f}"
        drawn.append(ink.text(x, 99, found, "shape", "middle"))
    for x, word in zip(_ANSWER, _SOURCE, strict=True):
        drawn.append(ink.rect(x - 35, 238, 70, 44, "box key", 6))
        drawn.append(ink.text(x, 256, word, "strong", "middle"))
        drawn.append(ink.rect(x - 26, 264, 52, 10, "cell value", 2))
    return "".join(drawn)
