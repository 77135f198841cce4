"""The residual stream as a road: what its layers read and write, and where it is normalised."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_STREAM = {"es": "El flujo residual", "en": "The residual stream"}
_STREAM_DESCRIPTION = {
    "es": "Un camino vertical, resaltado, baja de la palabra a lo que sale. La atención de la capa 1 lee del camino y vuelve a él en una "
    "suma, que añade a la palabra una nota. La atención de la capa 2 lee del camino, que ya lleva la palabra y la nota, y en otra "
    "suma añade la respuesta.",
    "en": "A vertical road, which is lit, comes down from the word to what comes out. The attention of layer 1 reads from the road and "
    "comes back to it at a sum, which adds a note to the word. The attention of layer 2 reads from the road, which by then "
    "carries the word and the note, and adds the answer at another sum.",
}
_WORDS = {
    "es": (
        "palabra",
        "palabra + nota",
        "palabra + nota + respuesta",
        "lee",
        "escribe",
        "atención, capa",
    ),
    "en": ("word", "word + note", "word + note + answer", "reads", "writes", "attention, layer"),
}
_NORMS = {"es": "Post-norm y pre-norm", "en": "Post-norm and pre-norm"}
_NORMS_DESCRIPTION = {
    "es": "Dos caminos verticales de arriba abajo, cada uno con dos desvíos, la atención y la red, cuyo resultado vuelve al camino "
    "en una suma. A la izquierda, post-norm: después de cada suma hay una LayerNorm sobre el camino mismo, que queda cortado "
    "dos veces por capa. A la derecha, pre-norm: la LayerNorm está en el desvío, antes de la atención y antes de la red, y el "
    "camino, resaltado, baja sin interrupción hasta una última LayerNorm.",
    "en": "Two vertical roads from top to bottom, each with two branches, attention and the network, whose result comes back to "
    "the road at a sum. On the left, post-norm: after each sum there is a LayerNorm on the road itself, which is cut twice a "
    "layer. On the right, pre-norm: the LayerNorm is on the branch, before attention and before the network, and the road, "
    "which is lit, comes down without interruption to one last LayerNorm.",
}
_BRANCHES = {"es": ("atención", "red"), "en": ("attention", "network")}
_TOP, _STEP = 40, 136


def stream():
    """Return the drawing of the road that two layers read from and write to."""
    return Idea("stream", 296, _STREAM, _STREAM_DESCRIPTION, _draw_stream)


def norms():
    """Return the drawing of one layer in both orders, and of the road that runs through it."""
    return Idea("norms", 364, _NORMS, _NORMS_DESCRIPTION, _draw_norms)


def _draw_stream(language):
    *carried, reads, writes, attention = _WORDS[language]
    top, step, road, branch = 26, 116, 24, 210
    drawn = [
        ink.text(road, top - 10, carried[0], "strong", "start"),
        ink.arrow([(road, top), (road, top + 2 * step + 34)], "lit"),
    ]
    for i in (0, 1):
        y = top + step * i
        drawn.append(ink.arrow([(road, y + 24), (branch, y + 24), (branch, y + 40)]))
        drawn.append(ink.arrow([(branch, y + 66), (branch, y + 92), (road + 9, y + 92)]))
        drawn += [_box(branch, y + 53, 140, f"{attention} {i + 1}"), ink.plus(road, y + 92)]
        drawn.append(ink.text(110, y + 18, reads, "small soft", "middle"))
        drawn.append(ink.text(110, y + 86, writes, "small soft", "middle"))
        drawn.append(ink.text(road + 16, y + 118, carried[i + 1], "strong"))
    return "".join(drawn)


def _draw_norms(language):
    branches = _BRANCHES[language]
    drawn = [ink.text(2, 16, "post-norm", "strong"), ink.text(190, 16, "pre-norm", "strong")]
    drawn += [
        ink.text(44, _TOP - 4, "x", "shape", "middle"),
        ink.text(226, _TOP - 4, "x", "shape", "middle"),
    ]
    end = _TOP + 2 * _STEP
    drawn.append(ink.arrow([(44, _TOP), (44, end + 28)]))
    drawn.append(ink.arrow([(226, _TOP), (226, end + 28)], "lit"))
    for i, name in enumerate(branches):
        y = _TOP + _STEP * i
        drawn.append(ink.arrow([(44, y + 18), (128, y + 18), (128, y + 44)]))
        drawn.append(ink.arrow([(128, y + 70), (128, y + 96), (53, y + 96)]))
        drawn += [_box(128, y + 57, 72, name), ink.plus(44, y + 96), _norm(44, y + 122)]
        drawn.append(ink.arrow([(226, y + 18), (312, y + 18), (312, y + 28)]))
        drawn.append(ink.arrow([(312, y + 52), (312, y + 62)]))
        drawn.append(ink.arrow([(312, y + 84), (312, y + 104), (235, y + 104)]))
        drawn += [_norm(312, y + 40), _box(312, y + 74, 72, name), ink.plus(226, y + 104)]
    drawn.append(_norm(226, end + 2))
    for x, formula in ((2, "LayerNorm(x + f(x))"), (190, "x + f(LayerNorm(x))")):
        drawn.append(ink.text(x, end + 48, formula, "shape"))
    return "".join(drawn)


def _box(x, y, width, name, kind="box"):
    box = ink.rect(x - width / 2, y - 12, width, 24, kind, 6)
    return box + ink.text(x, y + 4.5, name, "small", "middle")


def _norm(x, y):
    return _box(x, y, 78, "LayerNorm", "box extra")
