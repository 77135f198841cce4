"""X times W_Q in chapter 3: one row of the words meets one column of the matrix."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_WORDS = {"es": ("Ana", "libros", "vivían"), "en": ("John", "songs", "they")}
_X = ((1, 0, 0, 0), (0, 1, 1, 0), (0, 1, 0, 1))
_W = ((0, 1), (1, 0), (0, 1), (1, 1))
_TITLE = {"es": "X por W_Q, con sus formas", "en": "X times W_Q, with their shapes"}
_DESCRIPTION = {
    "es": "Tres matrices. X, de 3 por 4, tiene una fila por palabra: Ana, 1 0 0 0; libros, 0 1 1 0; vivían, 0 1 0 1. W_Q, de 4 por "
    "2, tiene las filas 0 1, 1 0, 0 1 y 1 1. Su producto, Q, es de 3 por 2: Ana, 0 1; libros, 1 1; vivían, 2 1. Están "
    "resaltadas la fila de vivían en X, la primera columna de W_Q y el número que sale de las dos: 0 · 0 + 1 · 1 + 0 · 0 + 1 · 1 = 2.",
    "en": "Three matrices. X, 3 by 4, has a row for each word: John, 1 0 0 0; songs, 0 1 1 0; they, 0 1 0 1. W_Q, 4 by 2, has the "
    "rows 0 1, 1 0, 0 1 and 1 1. Their product, Q, is 3 by 2: John, 0 1; songs, 1 1; they, 2 1. The row of they in X, the first "
    "column of W_Q and the number that comes of the two are marked: 0 · 0 + 1 · 1 + 0 · 0 + 1 · 1 = 2.",
}
_ROW, _COLUMN = 2, 0  # the row of X and the column of W_Q that are marked
_SIDE, _TOP = 25, 44


def product():
    """Return the drawing of three words that are multiplied by the matrix of the queries."""
    return Idea("product", 186, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    q = [[sum(a * b for a, b in zip(x, w, strict=True)) for w in zip(*_W, strict=True)] for x in _X]
    drawn = [
        ink.text(50, _TOP + _SIDE * i + 17, word, "small strong" if i == _ROW else "small", "end")
        for i, word in enumerate(_WORDS[language])
    ]
    drawn.append(_matrix(58, "X", _X, lambda i, j: i == _ROW, ""))
    drawn.append(ink.text(176, _TOP + 58, "·", "strong", "middle"))
    drawn.append(_matrix(194, "W_Q", _W, lambda i, j: j == _COLUMN, "query"))
    drawn.append(ink.text(268, _TOP + 58, "=", "strong", "middle"))
    drawn.append(_matrix(288, "Q", q, lambda i, j: (i, j) == (_ROW, _COLUMN), "query"))
    column = [row[_COLUMN] for row in _W]
    terms = " + ".join(f"{a} · {b}" for a, b in zip(_X[_ROW], column, strict=True))
    drawn.append(ink.text(198, 176, f"{terms} = {q[_ROW][_COLUMN]}", "shape", "middle"))
    return "".join(drawn)


def _matrix(left, name, rows, marked, hue):
    """Draw a matrix with its name and its shape above it."""
    middle = left + _SIDE * len(rows[0]) / 2
    drawn = [
        ink.text(middle, 18, name, f"strong {hue}".strip(), "middle"),
        ink.text(middle, 35, f"{len(rows)} × {len(rows[0])}", "shape", "middle"),
    ]
    for i, row in enumerate(rows):
        for j, number in enumerate(row):
            x, y = left + _SIDE * j, _TOP + _SIDE * i
            kind = "now" if marked(i, j) else f"box {hue}".strip()
            drawn.append(ink.rect(x + 1, y + 1, _SIDE - 2, _SIDE - 2, kind, 3))
            drawn.append(ink.text(x + _SIDE / 2, y + 16.5, str(number), "shape", "middle"))
    return "".join(drawn)
