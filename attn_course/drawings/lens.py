"""The logit lens: what leaves the last layer is read by a norm and a matrix, and so may what leaves any other."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_LAYERS = 4
_TITLE = {"es": "Leer el flujo antes de tiempo", "en": "Reading the stream before its time"}
_DESCRIPTION = {
    "es": "El flujo residual va de izquierda a derecha por cuatro capas. Al final, una normalización y una matriz lo convierten en "
    "logits: así termina el modelo. Después de cada una de las tres primeras capas, una flecha discontinua baja hacia la misma "
    "normalización y la misma matriz, que no aprendieron a leer ahí, y salen otros logits.",
    "en": "The residual stream goes from left to right through four layers. At the end, a normalisation and a matrix turn it into "
    "logits: this is how the model ends. After each of the first three layers a dashed arrow goes down to the same normalisation "
    "and the same matrix, which did not learn to read there, and other logits come out.",
}
_LABELS = {
    "es": ("flujo residual", "capa", "el modelo", "la lente", "norma y matriz"),
    "en": ("residual stream", "layer", "the model", "the lens", "norm and matrix"),
}
_BARS = ((3, 5, 4, 6, 3), (4, 6, 3, 9, 4), (3, 5, 5, 13, 4), (2, 3, 3, 20, 2))


def lens():
    """Return the drawing of a stream that is read after every layer."""
    return Idea("lens", 196, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    stream, layer, model, lens_name, matrix = _LABELS[language]
    drawn = [ink.text(0, 14, stream, "small soft"), ink.arrow([(0, 46), (352, 46)])]
    for i in range(_LAYERS):
        x, last = 4 + 80 * i, i == _LAYERS - 1
        drawn.append(
            ink.rect(x, 28, 52, 36, "box", 6)
            + ink.text(x + 26, 50.5, f"{layer} {i + 1}", "small", "middle")
        )
        tap = x + 64
        kind = "lit" if last else "dashed"
        drawn.append(ink.arrow([(tap, 48), (tap, 92)], kind))
        drawn.append(ink.rect(tap - 22, 94, 44, 22, "box now" if last else "box", 5))
        drawn += [
            ink.rect(tap - 20 + 8 * j, 152 - height, 6, height, "cell", 1)
            for j, height in enumerate(_BARS[i])
        ]
        drawn.append(
            ink.text(
                tap,
                170,
                model if last else lens_name,
                "small strong" if last else "small",
                "middle",
            )
        )
    drawn.append(ink.text(34, 190, f"▭  {matrix}", "small soft"))
    return "".join(drawn)
