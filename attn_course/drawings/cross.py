"""Cross-attention: queries from the target, keys and values from the source."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea, step

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
_STEPS = {
    "es": (
        "La query de <sos> mira sobre todo a «the» y predice «la».",
        "La query de «la» mira casi solo a «house», la última palabra inglesa, y predice «casa».",
        "La query de «casa» vuelve a «red» y predice «roja»: las líneas se cruzan, porque el orden es otro.",
        "La query de «roja» reparte su peso y predice <eos>, el final.",
    ),
    "en": (
        "The query of <sos> looks above all at “the”, and predicts “la”.",
        "The query of “la” looks almost only at “house”, the last English word, and predicts “casa”.",
        "The query of “casa” goes back to “red” and predicts “roja”: the lines cross, since the order differs.",
        "The query of “roja” shares out its weight, and predicts <eos>, the end.",
    ),
}
_WORDS = {
    "es": ("predice", "lee", "query", "key, value", "memoria"),
    "en": ("predicts", "reads", "query", "key, value", "memory"),
}


def cross():
    """Return the drawing of four queries and the three tokens of the memory that answer them."""
    return Idea("cross", 296, _TITLE, _DESCRIPTION, _draw, _STEPS)


def _draw(language):
    predicts, reads, query, key, memory = _WORDS[language]
    drawn = [
        ink.text(0, 20, predicts, "small soft"),
        ink.text(0, 68, reads, "small soft"),
        ink.text(0, 84, query, "small query"),
        ink.text(0, 254, memory, "small soft"),
        ink.text(0, 270, key, "small key"),
    ]
    asked = zip(_ASK, _READ, _PREDICTED, _WEIGHTS, strict=True)
    # The lines lie under all the boxes.
    drawn += [
        step(n, *_lines(x, row)) for n, (x, row) in enumerate(zip(_ASK, _WEIGHTS, strict=True), 1)
    ]
    for n, (x, read, said, row) in enumerate(asked, 1):
        best = max(row)
        found = f"{_SOURCE[row.index(best)]} {best:.2f}"
        drawn.append(
            step(
                n,
                ink.text(x, 20, said, "strong", "middle"),
                ink.arrow([(x, 52), (x, 28)]),
                ink.rect(x - 31, 54, 62, 28, "box query", 14),
                ink.text(x, 72.5, read, "small", "middle"),
                ink.text(x, 99, found, "shape", "middle"),
            )
        )
    for x, word in zip(_ANSWER, _SOURCE, strict=True):
        drawn.append(ink.rect(x - 35, 238, 70, 44, "box key", 6))
        drawn.append(ink.text(x, 256, word, "strong", "middle"))
        drawn.append(ink.rect(x - 26, 264, 52, 10, "cell value", 2))
    return "".join(drawn)


def _lines(x, row):
    """Draw a query's lines to the memory, each as thick as its weight."""
    return [
        ink.tag(
            "path",
            d=f"M{x} 108C{x} 164 {end} 180 {end} 236",
            class_="line query",
            opacity=1 if weight > 0.2 else 0.45,
            style=f"stroke-width:{ink.number(0.6 + 7 * weight)}",
        )
        for end, weight in zip(_ANSWER, row, strict=True)
    ]
