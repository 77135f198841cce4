"""The dot product as a shadow: the films fall on the line of what a user likes."""

import math

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_USER = (1.5, -1.0)
# The films of chapter 2, and the side of its point on which each name is written.
_FILMS = {
    "Casablanca": (1.5, -0.5, "start"),
    "Titanic": (1.5, 0.5, "start"),
    "Amélie": (1.0, -1.5, "start"),
    "Rocky": (0.5, 1.0, "start"),
    "Alien": (-1.0, 0.5, "end"),
    "Rambo": (-0.5, 1.5, "end"),
}
_X, _Y, _UNIT = 158, 150, 76
_TITLE = {"es": "El producto punto como una sombra", "en": "The dot product as a shadow"}
_DESCRIPTION = {
    "es": "Un plano con el romance hacia la derecha y la acción hacia arriba. Una flecha sale del origen hacia Ana, (1.5, −1), y "
    "una recta la prolonga por los dos lados. Cada película cae en perpendicular sobre esa recta, y allí está su producto con "
    "Ana: Amélie, 3.00; Casablanca, 2.75; Titanic, 1.75; Rocky, −0.25; Alien, −2.00, y Rambo, −2.25. Una recta de trazos, "
    "perpendicular a la de Ana, separa las de producto positivo de las de producto negativo.",
    "en": "A plane with romance to the right and action upwards. An arrow goes from the origin to Ana, (1.5, −1), and a line "
    "prolongs it on both sides. Each film falls on that line at a right angle, and there stands its product with Ana: Amélie, "
    "3.00; Casablanca, 2.75; Titanic, 1.75; Rocky, −0.25; Alien, −2.00; and Rambo, −2.25. A dashed line, "
    "perpendicular to the line of Ana, parts those with a positive product from those with a negative one.",
}
_AXES = {"es": ("romance", "acción"), "en": ("romance", "action")}


def projection():
    """Return the drawing of six films that fall on the line of one user."""
    return Idea("projection", 300, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    romance, action = _AXES[language]
    length = math.hypot(*_USER)
    ux, uy = _USER[0] / length, _USER[1] / length
    drawn = [
        ink.path([_at(-1.9, 0), _at(2.4, 0)], "frame"),
        ink.path([_at(0, -1.85), _at(0, 1.8)], "frame"),
    ]
    drawn += [
        ink.text(356, _Y - 6, romance, "small soft", "end"),
        ink.text(_X + 6, 12, action, "small soft"),
    ]
    drawn.append(
        ink.path([_at(-1.75 * ux, -1.75 * uy), _at(2.1 * ux, 2.1 * uy)], "line query dashed")
    )
    drawn.append(ink.path([_at(1.8 * uy, -1.8 * ux), _at(-0.7 * uy, 0.7 * ux)], "line dashed"))
    for name, (romance, action, side) in _FILMS.items():
        product = romance * _USER[0] + action * _USER[1]
        foot = _at(product / length * ux, product / length * uy)
        x, y = _at(romance, action)
        drawn.append(ink.path([(x, y), foot], "line key"))
        drawn.append(ink.tag("circle", cx=x, cy=y, r=4, class_="tip key"))
        drawn.append(ink.tag("circle", cx=foot[0], cy=foot[1], r=3, class_="tip query"))
        at = x + (9 if side == "start" else -9)
        drawn.append(ink.text(at, y, name, "small key", side))
        drawn.append(ink.text(at, y + 14, f"{product:.2f}".replace("-", "−"), "shape", side))
    drawn.append(ink.arrow([_at(0, 0), _at(*_USER)], "query"))
    drawn.append(ink.text(_at(*_USER)[0] + 8, _at(*_USER)[1], "Ana", "strong query"))
    return "".join(drawn)


def _at(x, y):
    return _X + _UNIT * x, _Y - _UNIT * y
