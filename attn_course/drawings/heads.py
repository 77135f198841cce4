"""The split of a projection into heads, and how they come together again."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_STRENGTH = (1.0, 0.45)
_TITLE = {"es": "Una proyección partida en cabezas", "en": "A projection split into heads"}
_DESCRIPTION = {
    "es": "Arriba, una matriz de 5 tokens por 4 columnas, en dos franjas de 2 columnas. Cada franja pasa a ser una matriz "
    "de 5 por 2: las queries de una cabeza. Cada cabeza tiene sus propios pesos, de 5 por 5. Abajo, las salidas de las 2 "
    "cabezas vuelven a estar una al lado de otra, en una matriz de 5 por 4, que la proyección de salida mezcla.",
    "en": "At the top, a matrix of 5 tokens by 4 columns, in two bands of 2 columns. Each band becomes a matrix of 5 by "
    "2: the queries of one head. Each head has its own weights, of 5 by 5. At the bottom, the outputs of the 2 heads stand "
    "side by side again, in a matrix of 5 by 4, which the output projection mixes.",
}
_LABELS = {
    "es": ("x W_Q", "cabeza", "pesos", "juntas", "× W_O"),
    "en": ("x W_Q", "head", "weights", "joined", "× W_O"),
}
# The token to which each of five tokens attends most, made up for each head: the previous token,
# the last one.
_LOOKS = ((0, 0, 1, 2, 3), (4, 4, 4, 4, 4))


def heads():
    """Return the drawing of 5 tokens by 4 columns that become 2 heads, and one matrix again."""
    return Idea("heads", 416, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    whole, head, weights, joined, mixed = _LABELS[language]
    left, centres = 152, (104, 252)
    drawn = [ink.text(140, 42, whole, "small", "end"), ink.text(140, 58, "(5, 4)", "shape", "end")]
    for i, x in enumerate(centres):
        start = left + 27 * i
        band = start + 13
        drawn += [_matrix(start, 12, i), _matrix(x - 13, 124, i), _matrix(start, 340, i)]
        drawn += [
            _arrow(band, 82, x, 120),
            ink.arrow([(x, 224), (x, 240)]),
            _arrow(x, 300, band, 336),
        ]
        drawn.append(ink.text(x, 204, f"{head} {i + 1}", "small strong", "middle"))
        drawn.append(ink.text(x, 219, "(5, 2)", "shape", "middle"))
        drawn.append(_weights(x - 26, 244, i))
    drawn += [
        ink.text(178, 268, weights, "small", "middle"),
        ink.text(178, 284, "(5, 5)", "shape", "middle"),
    ]
    drawn += [
        ink.text(140, 370, joined, "small", "end"),
        ink.text(140, 386, "(5, 4)", "shape", "end"),
    ]
    drawn += [ink.arrow([(212, 372), (240, 372)]), ink.text(246, 376, mixed, "small")]
    return "".join(drawn)


def _arrow(x, y, end_x, end_y):
    bend = [] if x == end_x else [(x, y + 16), (end_x, y + 16)]
    return ink.arrow([(x, y), *bend, (end_x, end_y)])


def _cells(places, size, strength):
    squares = "".join(f"M{ink.number(x)} {ink.number(y)}h{size}v{size}h-{size}z" for x, y in places)
    return ink.tag("path", d=squares, class_="head", opacity=strength)


def _matrix(x, y, head):
    """Draw one head's two columns of five tokens."""
    return _cells(
        [(x + 13 * j, y + 13 * i) for i in range(5) for j in range(2)], 12, _STRENGTH[head]
    )


def _weights(x, y, head):
    places = {(i, j): (x + 10.6 * j, y + 10.6 * i) for i in range(5) for j in range(5)}
    strong = [places[i, j] for i, j in enumerate(_LOOKS[head])]
    return _cells([place for place in places.values() if place not in strong], 9.4, 0.12) + _cells(
        strong, 9.4, 0.9
    )
