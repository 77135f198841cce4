"""From text to vectors: tokens, their ids, and the rows of the table that the ids name."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_TOKENS = {
    "es": ("marte", "es", "rojo", "y", "neptuno", "es", "azul"),
    "en": ("roses", "are", "red", "and", "violets", "are", "blue"),
}
# The table E of chapter 2.
_TABLE = ((0, 0), (-1, -1), (0, 5), (-2, -1), (4, 3), (-1, -2), (-1, 4), (3, 0))
_TITLE = {"es": "De los tokens a las filas de la tabla", "en": "From tokens to rows of the table"}
_DESCRIPTION = {
    "es": "A la izquierda, los siete tokens de «Marte es rojo y Neptuno es azul», de arriba abajo, cada uno con su id: 2, 3, "
    "4, 5, 6, 3 y 7. De cada id sale una línea a la fila de ese número de una tabla de ocho filas y dos columnas. Las dos "
    "apariciones de es, resaltadas, llevan a la misma fila, la 3: −2, −1. Las filas 0 y 1, de los tokens especiales, no las "
    "usa nadie.",
    "en": "On the left, the seven tokens of “Roses are red and violets are blue”, from top to bottom, each with its id: 2, 3, "
    "4, 5, 6, 3 and 7. From each id a line leads to the row of that number in a table of eight rows and two columns. The two "
    "occurrences of are, which are lit, lead to the same row, 3: −2, −1. Nobody uses rows 0 and 1, those of the special "
    "tokens.",
}
_HEADS = {"es": ("token", "id", "tabla de embeddings"), "en": ("token", "id", "embedding table")}


def lookup():
    """Return the drawing of seven tokens and the eight rows among which they find theirs."""
    return Idea("lookup", 258, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    token, name, table = _HEADS[language]
    tokens = _TOKENS[language]
    vocabulary = ("<pad>", "<unk>", *dict.fromkeys(tokens))
    twice = next(word for word in tokens if tokens.count(word) == 2)
    drawn = [
        ink.text(36, 16, token, "small soft", "middle"),
        ink.text(92, 16, name, "small soft", "middle"),
        ink.text(356, 16, table, "small soft", "end"),
    ]
    for i, word in enumerate(tokens):
        y, found, lit = 48 + 30 * i, vocabulary.index(word), word == twice
        end = 42 + 28 * found
        curve = f"M104 {y}C138 {y} 132 {end} 166 {end}"
        drawn.append(ink.tag("path", d=curve, class_="line lit" if lit else "line"))
        drawn.append(ink.rect(1, y - 12, 70, 24, "box lit" if lit else "box", 12))
        drawn.append(ink.text(36, y + 4.5, word, "small strong" if lit else "small", "middle"))
        drawn.append(ink.text(92, y + 4, str(found), "shape", "middle"))
    for i, (word, row) in enumerate(zip(vocabulary, _TABLE, strict=True)):
        y, lit, used = 42 + 28 * i, word == twice, word in tokens
        kind = "small" if used else "small soft"
        drawn.append(ink.rect(168, y - 13, 187, 26, "now" if lit else "frame", 4))
        drawn.append(ink.text(178, y + 4, str(i), "shape" if used else "shape soft"))
        drawn.append(ink.text(200, y + 4.5, word, f"{kind} strong" if lit else kind))
        for j, number in enumerate(row):
            written = str(number).replace("-", "−")
            drawn.append(
                ink.text(304 + 38 * j, y + 4, written, "shape" if used else "shape soft", "end")
            )
    return "".join(drawn)
