"""Detection: learned queries attend to the picture, and each gives a box or nothing."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_AT = (52, 88, 124, 160, 196)
_TITLE = {
    "es": "Cinco queries aprendidas buscan figuras",
    "en": "Five learned queries look for shapes",
}
_DESCRIPTION = {
    "es": "A la izquierda, cinco queries en una columna, unidas entre sí por una línea, porque también se atienden unas a otras. A la derecha, una imagen con un "
    "triángulo arriba y un círculo abajo, cada uno dentro de su caja. De la segunda query sale una flecha hacia la caja del triángulo, y de la cuarta, "
    "hacia la del círculo. Las otras tres terminan en un signo de conjunto vacío: contestan que no han encontrado nada.",
    "en": "On the left, five queries in a column, joined to one another by a line, because they also attend to each other. On the right, a picture with a "
    "triangle at the top and a circle at the bottom, each within its box. From the second query an arrow leads to the box of the triangle, and from the fourth, "
    "to that of the circle. The other three end in the sign of the empty set: they answer that they have found nothing.",
}
_WORDS = {
    "es": ("queries aprendidas", "keys y values: los parches", "triángulo", "círculo"),
    "en": ("learned queries", "keys, values: patches", "triangle", "circle"),
}


def finding():
    """Return the drawing of five queries and a picture of two shapes."""
    return Idea("finding", 240, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    queries, keys, upper, lower = _WORDS[language]
    drawn = [ink.text(0, 18, queries, "small query"), ink.text(356, 18, keys, "small key", "end")]
    drawn.append(ink.rect(176, 32, 180, 184, "sunk", 4))
    drawn.append(ink.path([(38, _AT[0]), (38, _AT[-1])], "line query dashed"))
    for i, y in enumerate(_AT):
        drawn.append(ink.tag("circle", cx=38, cy=y, r=13, class_="box query"))
        drawn.append(ink.text(38, y + 4.5, str(i + 1), "small", "middle"))
        if i in (1, 3):
            drawn.append(ink.arrow([(52, y), (252 if i == 1 else 202, y)], "query"))
        else:
            drawn.append(ink.arrow([(52, y), (104, y)]))
            drawn.append(ink.text(116, y + 4.5, "∅", "soft", "middle"))
    drawn.append(ink.tag("path", d="M284 58L312 112H256z", class_="cell value"))
    drawn.append(ink.rect(253, 55, 62, 60, "line lit", 2))
    drawn.append(ink.text(346, 50, upper, "small", "end"))
    drawn.append(ink.tag("circle", cx=228, cy=164, r=22, class_="cell value"))
    drawn.append(ink.rect(203, 139, 50, 50, "line lit", 2))
    drawn.append(ink.text(228, 206, lower, "small", "middle"))
    return "".join(drawn)
