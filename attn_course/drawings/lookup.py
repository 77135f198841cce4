"""From text to vectors: tokens, their ids, and the rows of the table that the ids name."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_TOKENS = ("roses", "are", "red", "and", "violets", "are", "blue")
_VOCABULARY = ("<pad>", "<unk>", "<sos>", "<eos>", "are", "and", "blue", "red", "roses", "violets")
# The table of chapter 2: `np.random.default_rng(0).normal(size=(10, 3))`.
_TABLE = (
    (0.13, -0.13, 0.64),
    (0.10, -0.54, 0.36),
    (1.30, 0.95, -0.70),
    (-1.27, -0.62, 0.04),
    (-2.33, -0.22, -1.25),
    (-0.73, -0.54, -0.32),
    (0.41, 1.04, -0.13),
    (1.37, -0.67, 0.35),
    (0.90, 0.09, -0.74),
    (-0.92, -0.46, 0.22),
)
_TWICE = "are"
_TITLE = {"es": "De los tokens a las filas de la tabla", "en": "From tokens to rows of the table"}
_DESCRIPTION = {
    "es": "A la izquierda, los siete tokens de «Roses are red and violets are blue», de arriba abajo, cada uno con su id: 8, 4, "
    "7, 5, 9, 4 y 6. De cada id sale una línea a la fila de ese número de una tabla de diez filas y tres columnas. Las dos "
    "apariciones de are, resaltadas, llevan a la misma fila, la 4: −2.33, −0.22, −1.25. Las filas de 0 a 3, de los tokens "
    "especiales, no las usa nadie.",
    "en": "On the left, the seven tokens of “Roses are red and violets are blue”, from top to bottom, each with its id: 8, 4, "
    "7, 5, 9, 4 and 6. From each id a line leads to the row of that number in a table of ten rows and three columns. The two "
    "occurrences of are, which are lit, lead to the same row, 4: −2.33, −0.22, −1.25. Nobody uses the rows from 0 to 3, those "
    "of the special tokens.",
}
_HEADS = {"es": ("token", "id", "tabla de embeddings"), "en": ("token", "id", "embedding table")}


def lookup():
    """Return the drawing of seven tokens and the ten rows among which they find theirs."""
    return Idea("lookup", 292, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    token, name, table = _HEADS[language]
    drawn = [
        ink.text(32, 16, token, "small soft", "middle"),
        ink.text(82, 16, name, "small soft", "middle"),
        ink.text(356, 16, table, "small soft", "end"),
    ]
    for i, word in enumerate(_TOKENS):
        y, found, lit = 64 + 32 * i, _VOCABULARY.index(word), word == _TWICE
        end = 40 + 26 * found
        curve = f"M94 {y}C124 {y} 118 {end} 148 {end}"
        drawn.append(ink.tag("path", d=curve, class_="line lit" if lit else "line"))
        drawn.append(ink.rect(1, y - 12, 62, 24, "box lit" if lit else "box", 12))
        drawn.append(ink.text(32, y + 4.5, word, "small strong" if lit else "small", "middle"))
        drawn.append(ink.text(82, y + 4, str(found), "shape", "middle"))
    for i, (word, row) in enumerate(zip(_VOCABULARY, _TABLE, strict=True)):
        y, lit, used = 40 + 26 * i, word == _TWICE, word in _TOKENS
        kind = "small" if used else "small soft"
        drawn.append(ink.rect(150, y - 12, 205, 24, "now" if lit else "frame", 4))
        drawn.append(ink.text(160, y + 4, str(i), "shape" if used else "shape soft"))
        drawn.append(ink.text(178, y + 4.5, word, f"{kind} strong" if lit else kind))
        for j, number in enumerate(row):
            written = f"{number:.2f}".replace("-", "−")
            drawn.append(
                ink.text(266 + 42 * j, y + 4, written, "shape" if used else "shape soft", "end")
            )
    return "".join(drawn)
