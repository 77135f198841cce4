"""Layer normalisation of one vector: take away its mean, divide by its deviation."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_VECTOR = (2, 4, 4, 6)
_BAR, _STEP = 18, 24
# For each vector the height of its row, and the pixels per unit.
_ROWS = (("x", _VECTOR, 96, 9), ("10x + 7", tuple(10 * x + 7 for x in _VECTOR), 246, 0.9))
_TITLE = {"es": "LayerNorm de un vector", "en": "LayerNorm of a vector"}
_DESCRIPTION = {
    "es": "Arriba, el vector 2, 4, 4, 6 como cuatro barras, con una línea a la altura de su media, 4. Menos la media queda en −2, "
    "0, 0, 2. Abajo, el vector 27, 47, 47, 67, diez veces mayor y desplazado 7, dibujado a un décimo: su media es 47, y menos "
    "ella queda en −20, 0, 0, 20. Al dividir entre la desviación estándar, 1.41 en un caso y 14.14 en el otro, los dos dan el "
    "mismo resultado, a la derecha: −1.41, 0, 0, 1.41.",
    "en": "At the top, the vector 2, 4, 4, 6 as four bars, with a line as high as its mean, 4. Less the mean it becomes −2, 0, 0, "
    "2. At the bottom, the vector 27, 47, 47, 67, ten times as large and shifted by 7, drawn at one tenth: its mean is 47, and "
    "less the mean it becomes −20, 0, 0, 20. Divided by the standard deviation, 1.41 in one case and 14.14 in the other, both "
    "give the same result, on the right: −1.41, 0, 0, 1.41.",
}
_HEADS = {"es": ("el vector", "menos μ", "entre σ"), "en": ("the vector", "less μ", "over σ")}


def layer_norm():
    """Return the drawing of two vectors that layer normalisation makes equal."""
    return Idea("layer_norm", 306, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    drawn = [
        ink.text(x, 16, head, "small soft", "middle")
        for x, head in zip((49, 177, 299), _HEADS[language], strict=True)
    ]
    for name, vector, y, unit in _ROWS:
        mean = sum(vector) / len(vector)
        less = [x - mean for x in vector]
        deviation = (sum(x * x for x in less) / len(less)) ** 0.5
        drawn.append(_bars(4, y, vector, unit, 0.55))
        height = y - unit * mean
        drawn.append(ink.path([(0, height), (104, height)], "line dashed"))
        drawn.append(ink.text(49, y + 19, name, "shape strong", "middle"))
        drawn.append(ink.text(49, y + 36, f"μ = {mean:.0f}", "shape", "middle"))
        drawn.append(_bars(132, y - 26, less, 1.2 * unit, 0.55))
        drawn.append(ink.text(177, y + 36, f"σ = {deviation:.2f}", "shape", "middle"))
        drawn.append(ink.arrow([(108, y - 26), (126, y - 26)]))
        end = 160 if y < 150 else 180
        drawn.append(ink.arrow([(226, y - 26), (238, y - 26), (238, end), (250, end)]))
    drawn.append(_bars(254, 170, [x / deviation for x in less], 18, 1))
    return "".join(drawn)


def _bars(x, y, vector, unit, strength):
    """Draw numbers as bars that stand on a line or hang from it."""
    drawn = []
    for i, number in enumerate(vector):
        tall, middle = unit * number, x + _STEP * i + _BAR / 2
        if tall:
            here = {"x": x + _STEP * i, "y": y - max(tall, 0), "width": _BAR, "height": abs(tall)}
            drawn.append(ink.tag("rect", **here, rx=2, class_="cell", opacity=strength))
        written = f"{number:.3g}".replace("-", "−")
        above = y - tall + 14 if tall < 0 else y - tall - 5
        drawn.append(ink.text(middle, above, written, "shape", "middle"))
    drawn.append(ink.path([(x - 2, y), (x + 4 * _STEP - 4, y)], "line"))
    return "".join(drawn)
