"""Super-resolution: four new pixels attend to the neighbours of the one that they replace."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_CELL, _LEFT, _TOP = 34, 2, 42
# An edge that runs down to the right, in greys.
_GREYS = (
    (1, 0.5, 0, 0, 0),
    (1, 0.9, 0.2, 0, 0),
    (1, 1, 0.7, 0, 0),
    (1, 1, 1, 0.4, 0),
    (1, 1, 1, 0.9, 0.1),
)
_SHARP = (1, 0.2, 1, 0.7)
_TITLE = {"es": "Cuatro píxeles donde había uno", "en": "Four pixels where there was one"}
_DESCRIPTION = {
    "es": "A la izquierda, cinco por cinco píxeles grandes de un borde inclinado, blanco a un lado y gris al otro. El del centro, enmarcado, tiene un "
    "valor intermedio. A la derecha están los cuatro píxeles pequeños que lo sustituyen, cada uno con su query. De las cuatro sale una flecha hacia los "
    "píxeles grandes, que son las keys, y lo que traen son sus grises, que son los values. Los píxeles de fuera del cuadro no se miran.",
    "en": "On the left, five by five large pixels of a slanting edge, dark on one side and pale on the other. The one in the middle, which is framed, has a value "
    "in between. On the right stand the four small pixels that replace it, each with its query. From the four an arrow leads to the large "
    "pixels, which are the keys, and what they bring are their greys, which are the values. Pixels outside the square are not looked at.",
}
_WORDS = {
    "es": ("keys: 5 × 5 vecinos", "queries: 4", "values: grises"),
    "en": ("keys: 5 × 5 neighbours", "queries: 4", "values: greys"),
}


def finer():
    """Return the drawing of a pixel, its neighbours and the four pixels that replace it."""
    return Idea("finer", 240, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    keys, queries, values = _WORDS[language]
    drawn = [
        ink.text(0, 24, keys, "small key"),
        ink.text(300, 24, queries, "small query", "middle"),
    ]
    for i, row in enumerate(_GREYS):
        for j, grey in enumerate(row):
            x, y = _LEFT + _CELL * j, _TOP + _CELL * i
            drawn.append(ink.rect(x, y, _CELL - 2, _CELL - 2, "frame", 1))
            if grey:
                drawn.append(ink.rect(x, y, _CELL - 2, _CELL - 2, "cell value", 1, opacity=grey))
    middle = _LEFT + 2 * _CELL, _TOP + 2 * _CELL
    drawn.append(ink.rect(middle[0] - 1, middle[1] - 1, _CELL, _CELL, "line lit", 2))
    drawn.append(ink.arrow([(256, 126), (176, 126)], "query"))
    for i, grey in enumerate(_SHARP):
        left, top = 262 + 40 * (i % 2), 88 + 40 * (i // 2)
        drawn.append(ink.rect(left, top, 36, 36, "box query", 2))
        drawn.append(ink.rect(left + 3, top + 3, 30, 30, "cell value", 1, opacity=grey))
    drawn.append(ink.text(0, 232, values, "small value"))
    return "".join(drawn)
