"""Conversation: each turn adds its keys and values to those of the turns before it."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_NEW, _SIZE, _STEP = (5, 3, 4), 18, 22
_TITLE = {"es": "La caché crece con cada turno", "en": "The cache grows with every turn"}
_DESCRIPTION = {
    "es": "Tres filas, una por turno. En el primer turno hay cinco cuadros nuevos, que son a la vez queries, keys y values. En el segundo, esos cinco "
    "están guardados, en gris, y detrás vienen tres nuevos. En el tercero hay ocho guardados y cuatro nuevos. De los nuevos de cada fila "
    "sale una flecha hacia atrás, hasta el primero de los guardados: las queries nuevas atienden a todo lo anterior, que no se vuelve a calcular.",
    "en": "Three rows, one a turn. In the first turn there are five new squares, which are queries, keys and values at once. In the second those five are "
    "stored, in grey, and three new ones come after them. In the third eight are stored and four are new. From the new ones of each row an arrow "
    "leads back to the first of the stored ones: the new queries attend to all that came before, which is not computed again.",
}
_WORDS = {
    "es": ("turno", "guardados: keys y values", "nuevos: queries, keys y values"),
    "en": ("turn", "stored: keys and values", "new: queries, keys and values"),
}


def turns():
    """Return the drawing of three turns, and of what each turn has to compute."""
    return Idea("turns", 246, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    turn, stored, new = _WORDS[language]
    drawn, before = [], 0
    for i, fresh in enumerate(_NEW):
        y = 34 + 60 * i
        drawn.append(ink.text(0, y + 13.5, f"{turn} {i + 1}", "small strong"))
        for j in range(before + fresh):
            kind = "kept" if j < before else "now"
            drawn.append(ink.rect(62 + _STEP * j, y, _SIZE, _SIZE, kind, 3))
        if before:
            middle = 62 + _STEP * (before + fresh / 2) - 2
            drawn.append(
                ink.arrow([(middle, y - 2), (middle, y - 16), (71, y - 16), (71, y - 3)], "query")
            )
        before += fresh
    for x, y, kind, label in ((62, 196, "kept", stored), (62, 222, "now", new)):
        drawn.append(ink.rect(x, y, 14, 14, kind, 3))
        drawn.append(ink.text(x + 22, y + 11.5, label, "small"))
    return "".join(drawn)
