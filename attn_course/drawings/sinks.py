"""What the last tokens of a long text may look at: everything, a window, or a window and the first tokens."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_N, _WINDOW, _SINKS = 10, 4, 2
_TITLE = {"es": "Tres máscaras para un texto largo", "en": "Three masks for a long text"}
_DESCRIPTION = {
    "es": "Tres matrices de 10 queries por 10 keys. En la primera, causal, cada token ve a todos los anteriores, y la caché tiene 10 "
    "keys al final. En la segunda, una ventana de 4, cada token se ve a sí mismo y a los 3 anteriores, y la caché nunca pasa de 4. En "
    "la tercera, la misma ventana más los 2 primeros tokens, que siguen a la vista hasta el final, resaltados: la caché tiene 6.",
    "en": "Three matrices of 10 queries by 10 keys. In the first, causal, each token sees all those before it, and the cache holds "
    "10 keys at the end. In the second, a window of 4, each token sees itself and the 3 before it, and the cache never exceeds 4. In "
    "the third, the same window and the first 2 tokens, which stay in sight to the end and are lit: the cache holds 6.",
}
_NAMES = {
    "es": ("causal", "ventana de 4", "y 2 sumideros", "caché: {}"),
    "en": ("causal", "window of 4", "and 2 sinks", "cache: {}"),
}


def sinks():
    """Return the drawing of the three masks, with what the cache of each holds."""
    return Idea("sinks", 152, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    *names, cache = _NAMES[language]
    drawn = []
    for place, (name, window, first) in enumerate(zip(names, (_N, _WINDOW, _WINDOW), (0, 0, _SINKS), strict=True)):  # fmt: skip
        x = 4 + 122 * place
        rows = [[_seen(i, j, window, first) for j in range(_N)] for i in range(_N)]
        kept = sum(cell is not None for cell in rows[-1])
        drawn.append(ink.text(x, 16, name, "small strong") + ink.grid(x, 26, rows, 8, 2))
        drawn.append(ink.text(x, 146, cache.format(kept), "small"))
    return "".join(drawn)


def _seen(i, j, window, first):
    if j <= i and j < first:
        return 1
    return 0.45 if i - window < j <= i else None
