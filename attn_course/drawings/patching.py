"""Activation patching: two texts are read, and a vector of one replaces that of the other."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea, step

_CLEAN = ("John", "and", "Paul", "…", "when")
_CORRUPTED = ("John", "without", "Paul", "…", "when")
# The number of layers, and the layer and position of the patch.
_LAYERS, _AT = 4, (1, 1)
_TITLE = {"es": "Parchear un vector", "en": "Patching one vector"}
_DESCRIPTION = {
    "es": "Dos rejillas de cuatro capas por cinco tokens. La de la izquierda es la oración limpia, John and Paul … when, que pide they. "
    "La de la derecha es la corrompida, John without Paul … when, que pide he. Una flecha lleva el vector de and, en una capa, al "
    "lugar del de without. En la rejilla derecha quedan resaltados los vectores de las capas siguientes que pueden cambiar: los de su "
    "propia hebra y los de su derecha. La pregunta es si ahora pide they o he.",
    "en": "Two grids of four layers by five tokens. That on the left is the clean sentence, John and Paul … when, which calls for they. "
    "That on the right is the corrupted one, John without Paul … when, which calls for he. An arrow takes the vector of and, at one "
    "layer, to the place of that of without. In the grid on the right the vectors of later layers that may change are lit: those of its "
    "own strand and those to the right of it. The question is whether it now calls for they or for he.",
}
_NAMES = {"es": ("limpia", "corrompida", "capa"), "en": ("clean", "corrupted", "layer")}
_STEPS = {
    "es": (
        "El modelo lee la oración limpia y se guardan sus vectores: pide they.",
        "Lee la corrompida: pide he.",
        "Se vuelve a leer la corrompida con un solo vector de la limpia, y se mira qué palabra pide ahora.",
    ),
    "en": (
        "The model reads the clean sentence and its vectors are kept: it calls for they.",
        "It reads the corrupted one: it calls for he.",
        "The corrupted one is read again with one vector of the clean one: which word comes next now?",
    ),
}


def patching():
    """Return the drawing of one vector that is taken from another text."""
    return Idea("patching", 216, _TITLE, _DESCRIPTION, _draw, _STEPS)


def _draw(language):
    clean, corrupted, _ = _NAMES[language]
    left, right = (
        _grid(6, clean, _CLEAN, "they", False),
        _grid(186, corrupted, _CORRUPTED, "he", False),
    )
    layer, at = _AT
    start, end = _centre(6, layer, at), _centre(186, layer, at)
    patched = _grid(186, corrupted, _CORRUPTED, "they?", True)
    arrow = ink.arrow(
        [
            (start[0] + 11, start[1] - 6),
            (start[0] + 40, start[1] - 20),
            (end[0] - 30, end[1] - 20),
            (end[0] - 10, end[1] - 5),
        ],
        "lit",
    )
    return step(1, left) + step(2, right) + step(3, patched, arrow)


def _centre(left, layer, at):
    return left + 16 + 32 * at, 152 - 32 * layer


def _grid(left, name, words, due, patched):
    drawn = [ink.text(left, 16, name, "small strong")] if not patched else []
    layer, at = _AT
    for i in range(_LAYERS):
        for j, _ in enumerate(words):
            x, y = _centre(left, i, j)
            changed = patched and j >= at and (i > layer or (i, j) == _AT)
            if patched and not changed:
                continue
            drawn.append(
                ink.rect(
                    x - 9,
                    y - 9,
                    18,
                    18,
                    "head" if (i, j) == _AT and patched else "box now" if changed else "box",
                    4,
                )
            )
    if patched:
        x, y = _centre(left, _LAYERS - 1, len(words) - 1)
        return "".join(
            [
                *drawn,
                ink.rect(x - 29, y - 55, 46, 19, "box now", 4),
                ink.text(x - 6, y - 41.5, due, "small strong", "middle"),
            ]
        )
    for j, word in enumerate(words):
        x, _ = _centre(left, 0, j)
        strong = "small strong" if j == at else "small"
        drawn.append(ink.text(x, 186 if j % 2 else 202, word, strong, "middle"))
    x, y = _centre(left, _LAYERS - 1, len(words) - 1)
    drawn.append(ink.text(x - 6, y - 20.5, due, "small strong", "middle"))
    return "".join(drawn)
