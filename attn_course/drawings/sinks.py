"""What the last tokens of a long text may look at: everything, a window, or a window and the first tokens."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_N, _WINDOW, _SINKS = 8, 4, 2
_CELL = 12
_TITLE = {"es": "Tres máscaras para un texto largo", "en": "Three masks for a long text"}
_DESCRIPTION = {
    "es": "Tres matrices de 8 queries por 8 keys. En la primera, causal, cada token ve a todos los anteriores, y la caché tiene 8 "
    "keys al final. En la segunda, una ventana de 4, cada token se ve a sí mismo y a los 3 anteriores, y la caché nunca pasa de 4. En "
    "la tercera, la misma ventana más los 2 primeros tokens, que siguen a la vista hasta el final, resaltados: la caché tiene 6.",
    "en": "Three matrices of 8 queries by 8 keys. In the first, causal, each token sees all those before it, and the cache holds "
    "8 keys at the end. In the second, a window of 4, each token sees itself and the 3 before it, and the cache never exceeds 4. In "
    "the third, the same window and the first 2 tokens, which stay in sight to the end and are lit: the cache holds 6.",
}
_NAMES = {
    "es": ("causal", "ventana de 4", "y 2 sumideros", "caché: {}"),
    "en": ("causal", "window of 4", "and 2 sinks", "cache: {}"),
}


def sinks():
    """Return the drawing of the three masks, with what the cache of each holds."""
    return Idea("sinks", 150, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    *names, cache = _NAMES[language]
    drawn = []
    for place, (name, window, first) in enumerate(
        zip(names, (_N, _WINDOW, _WINDOW), (0, 0, _SINKS), strict=True)
    ):
        left, whole = 4 + 126 * place, _CELL * _N
        drawn.append(ink.text(left, 16, name, "small strong"))
        drawn.append(ink.rect(left - 1, 25, whole, whole, "frame", 2))
        for i in range(_N):
            for j in range(i + 1):
                if strength := _strength(i, j, window, first):
                    place_of = {"x": left + _CELL * j, "y": 26 + _CELL * i}
                    drawn.append(
                        ink.tag(
                            "rect", **place_of, width=10, height=10, class_="cell", opacity=strength
                        )
                    )
        kept = sum(_strength(_N - 1, j, window, first) > 0 for j in range(_N))
        drawn.append(ink.text(left, 142, cache.format(kept), "small"))
    return "".join(drawn)


def _strength(i, j, window, first):
    if j < first:
        return 1
    return 0.45 if i - j < window else 0
