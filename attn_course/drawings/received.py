"""What a token gives and what it receives: every row of weights sums to 1, the columns do not."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

# The weights of chapter 10: token 1 is a sentence by itself, tokens 2 and 3 are another.
_WEIGHTS = ((0.5, 0.25, 0.25), (0.5, 0.0, 0.5), (0.5, 0.5, 0.0))
_TITLE = {
    "es": "Lo que un token da y lo que recibe",
    "en": "What a token gives and what it receives",
}
_DESCRIPTION = {
    "es": "Una matriz de pesos de 3 tokens por 3. El token 1 es la oración A; el 2 y el 3 son la oración B. A la derecha, lo que "
    "da cada fila: siempre 1. Debajo, lo que recibe cada columna, de media: 0.5, 0.25 y 0.25. La oración A recibe 0.5 por "
    "token, y la B, 0.25, aunque sus dos tokens juntos reciben tanto como el de A.",
    "en": "A matrix of weights of 3 tokens by 3. Token 1 is sentence A; 2 and 3 are sentence B. On the right, what each row gives: "
    "always 1. Below, what each column receives, on average: 0.5, 0.25 and 0.25. Sentence A receives 0.5 per token, and B 0.25, "
    "although its two tokens together receive as much as that of A.",
}
_WORDS = {
    "es": ("da", "recibe", "por token", "oración"),
    "en": ("gives", "receives", "per token", "sentence"),
}
_LEFT, _TOP, _CELL, _STEP = 88, 58, 50, 56


def received():
    """Return the drawing of three tokens in two sentences, and of the weight that each receives."""
    return Idea("received", 321, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    gives, receives, each, sentence = _WORDS[language]
    drawn = [ink.text(_LEFT + 3 * _STEP + 28, 46, gives, "small", "middle")]
    for letter, start, n in (("A", 0, 1), ("B", 1, 2)):
        x, wide = _LEFT + _STEP * start, _STEP * n - 6
        # The first name is wider than its bracket.
        ends = x + (wide if n == 1 else wide - 18)
        drawn.append(ink.text(ends, 16, f"{sentence} {letter}", "small strong", "end"))
        drawn.append(ink.path([(x, 28), (x, 22), (x + wide, 22), (x + wide, 28)], "line", 3))
    means = [sum(row[j] for row in _WEIGHTS) / 3 for j in range(3)]
    for i, row in enumerate(_WEIGHTS):
        middle, y = _LEFT + _STEP * i + _CELL / 2, _TOP + _STEP * i
        drawn.append(ink.text(middle, 46, f"{i + 1}", "small", "middle"))
        drawn.append(ink.text(_LEFT - 12, y + 29, f"{i + 1}", "small", "end"))
        for j, weight in enumerate(row):
            x = _LEFT + _STEP * j
            drawn.append(ink.rect(x, y, _CELL, _CELL, "box", 4))
            drawn.append(
                ink.rect(
                    x + 1,
                    y + _CELL - 1 - 48 * weight,
                    _CELL - 2,
                    48 * weight,
                    "cell",
                    2,
                    opacity=0.35,
                )
                if weight
                else ""
            )
            drawn.append(ink.text(x + _CELL / 2, y + 18, f"{weight:g}", "shape", "middle"))
        drawn.append(ink.arrow([(_LEFT + 3 * _STEP - 2, y + 25), (_LEFT + 3 * _STEP + 16, y + 25)]))
        drawn.append(
            ink.text(_LEFT + 3 * _STEP + 28, y + 29, f"{sum(row):g}", "shape strong", "middle")
        )
        low = _TOP + 3 * _STEP
        drawn.append(ink.arrow([(middle, low - 2), (middle, low + 16)]))
        drawn.append(ink.text(middle, low + 32, f"{means[i]:g}", "shape strong", "middle"))
    drawn.append(ink.text(_LEFT - 12, low + 32, receives, "small", "end"))
    drawn.append(ink.text(_LEFT - 12, low + 82, each, "small", "end"))
    for start, n in ((0, 1), (1, 2)):
        x, wide = _LEFT + _STEP * start, _STEP * n - 6
        mean = sum(means[start : start + n]) / n
        drawn.append(
            ink.path(
                [(x, low + 44), (x, low + 50), (x + wide, low + 50), (x + wide, low + 44)],
                "line",
                3,
            )
        )
        drawn.append(ink.rect(x, low + 62, wide, 30, "now", 6))
        drawn.append(ink.text(x + wide / 2, low + 81.5, f"{mean:g}", "strong", "middle"))
    return "".join(drawn)
