"""Rotary positions: query and key turn with their positions, and only the difference is left."""

import math

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

# The pairs of positions of chapter 7, with a clock of one radian per position.
_PAIRS = ((2, 5), (12, 15), (102, 105))
_TITLE = {"es": "Solo cuenta la diferencia", "en": "Only the difference counts"}
_DESCRIPTION = {
    "es": "Tres círculos. En cada uno salen del centro una query y una key, que al principio eran iguales y se han girado un "
    "radián por posición: en las posiciones 2 y 5, en la 12 y la 15, y en la 102 y la 105. Las tres parejas apuntan a lugares "
    "distintos, pero el ángulo entre query y key es siempre de 3 radianes, y su producto es siempre −0.99.",
    "en": "Three circles. In each, a query and a key start from the centre; they were equal at first and have been turned one "
    "radian per position: at positions 2 and 5, at 12 and 15, and at 102 and 105. The three pairs point to different places, "
    "but the angle between query and key is always of 3 radians, and their product is always −0.99.",
}
_WORDS = {"es": ("query en la {}", "key en la {}"), "en": ("query at {}", "key at {}")}
_RADIUS, _Y = 46, 98


def rotation():
    """Return the drawing of three pairs of positions that lie equally far apart."""
    return Idea("rotation", 196, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    drawn = []
    for (query, key), x in zip(_PAIRS, (58, 178, 298), strict=True):
        for y, label, position, hue in zip(
            (14, 32), _WORDS[language], (query, key), ("query", "key"), strict=True
        ):
            drawn.append(ink.text(x, y, label.format(position), f"small {hue}", "middle"))
        drawn.append(ink.tag("circle", cx=x, cy=_Y, r=_RADIUS, class_="box"))
        drawn.append(_arc(x, query, key))
        drawn.append(ink.arrow([(x, _Y), _at(x, query, _RADIUS - 2)], "query"))
        drawn.append(ink.arrow([(x, _Y), _at(x, key, _RADIUS - 2)], "key"))
        drawn.append(ink.tag("circle", cx=x, cy=_Y, r=2.5, class_="tip"))
        drawn.append(ink.text(x, 168, f"{key - query} rad", "strong", "middle"))
        product = f"cos {key - query} = {math.cos(key - query):.2f}".replace("-", "−")
        drawn.append(ink.text(x, 186, product, "shape", "middle"))
    return "".join(drawn)


def _at(x, angle, length):
    """Return where a hand ends that has turned against the clock, as angles do."""
    return (x + length * math.cos(angle), _Y - length * math.sin(angle))


def _arc(x, start, end):
    (a, b), (c, d) = (_at(x, angle, 20) for angle in (start, end))
    numbers = [ink.number(value) for value in (a, b, c, d)]
    return ink.tag(
        "path",
        d=f"M{numbers[0]} {numbers[1]}A20 20 0 0 0 {numbers[2]} {numbers[3]}",
        class_="line",
    )
