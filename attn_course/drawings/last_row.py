"""Sentiment by prompt: of the whole causal matrix, the answer is read off the last row."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_N, _LEFT, _TOP, _STEP = 6, 92, 58, 24
_TITLE = {"es": "La respuesta sale de la última fila", "en": "The answer comes from the last row"}
_DESCRIPTION = {
    "es": "Una matriz de atención causal de seis tokens: «Review», dos puntos, «It», «broke», «Sentiment» y dos puntos. Cada fila es la query de un "
    "token y solo llega hasta su propia columna; lo que está por encima de la diagonal queda vacío. La última fila, la de los dos puntos "
    "finales, está enmarcada, porque ve todos los tokens. De ella sale una flecha hacia los logits de dos palabras, positive y negative, y la "
    "barra de negative es la más larga.",
    "en": "A matrix of causal attention over six tokens: “Review”, a colon, “It”, “broke”, “Sentiment” and a colon. Each row is the query of a token and "
    "only reaches its own column; what is above the diagonal is empty. The last row, that of the final colon, is framed, because it "
    "sees all the tokens. From it an arrow leads to the logits of two words, positive and negative, and the bar of negative "
    "is the longer one.",
}
_TOKENS = ("Review", ":", "It", "broke", "Sentiment", ":")
_WORDS = {"es": ("queries", "keys y values", "logits"), "en": ("queries", "keys, values", "logits")}


def last_row():
    """Return the drawing of a causal matrix whose last row answers."""
    return Idea("last_row", 232, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    queries, keys, logits = _WORDS[language]
    drawn = [ink.text(_LEFT - 12, 44, queries, "small query", "end")]
    drawn.append(ink.text(_LEFT, 44, keys, "small key"))
    rows = [[0.25 + 0.5 * (j == i) if j <= i else None for j in range(_N)] for i in range(_N - 1)]
    rows.append([0.25, 0.15, 0.35, 0.95, 0.55, 0.3])
    drawn.append(ink.grid(_LEFT, _TOP, rows, _STEP - 2, 2))
    for i, token in enumerate(_TOKENS):
        last = i == _N - 1
        kind = "small strong" if last else "small"
        drawn.append(ink.text(_LEFT - 12, _TOP + _STEP * i + 15, token, kind, "end"))
    bottom = _TOP + _STEP * (_N - 1)
    drawn.append(ink.rect(_LEFT - 4, bottom - 4, _STEP * _N + 6, _STEP + 6, "line lit", 5))
    x, y = _LEFT + _STEP * _N + 6, bottom + 11
    drawn.append(ink.arrow([(x, y), (268, y), (268, 134)], "lit"))
    drawn.append(ink.text(252, 58, logits, "small soft"))
    for y, word, length in ((76, "positive", 26), (110, "negative", 74)):
        drawn.append(ink.text(252, y + 2, word, "small"))
        drawn.append(ink.rect(252, y + 7, length, 9, "cell value", 2))
    return "".join(drawn)
