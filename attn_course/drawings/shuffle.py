"""A set, not a sentence: shuffling the words shuffles the outputs, and changes nothing else."""

import math

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea
from attn_course.drawings.softmax import _TOKENS, _X

# The order into which chapter 3 shuffles the words; *cat* is the one to follow.
_ORDER, _LIT = (3, 2, 5, 4, 0, 1), 1
_TITLE = {"es": "Barajar las palabras", "en": "Shuffling the words"}
_DESCRIPTION = {
    "es": "Dos columnas de palabras, con una flecha de cada una a los tres números que le da la atención. A la izquierda están en "
    "orden: El, gato, camina, en, la, calle; a la derecha, barajadas: en, camina, calle, la, El, gato. Una línea une las "
    "salidas de la misma palabra: se cruzan, pero los números de sus dos extremos son los mismos. Los de gato, resaltados, son "
    "0.97, 0.95 y 0.40 en los dos lados.",
    "en": "Two columns of words, with an arrow from each to the three numbers that attention gives it. On the left they are in "
    "order: The, cat, walks, in, the, street; on the right they are shuffled: in, walks, street, the, The, cat. A line joins the "
    "outputs of the same word: the lines cross, but the numbers at both their ends are the same. Those of cat, which are lit, "
    "are 0.97, 0.95 and 0.40 on both sides.",
}
_HEADS = {"es": ("en orden", "barajadas"), "en": ("in order", "shuffled")}


def shuffle():
    """Return the drawing of six words in two orders, and of the output of attention for each."""
    return Idea("shuffle", 236, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    words, outputs = _TOKENS[language], [_attended(query) for query in _X]
    drawn = [
        ink.text(x, 16, head, "small soft", "middle")
        for x, head in zip((30, 326), _HEADS[language], strict=True)
    ]
    drawn += [ink.text(x, 16, "z", "shape soft", "middle") for x in (107, 249)]
    for i in sorted(range(6), key=lambda i: i == _LIT):
        left, right = 42 + 32 * i, 42 + 32 * _ORDER.index(i)
        kind = "line lit" if i == _LIT else "line"
        curve = f"M134 {left}C172 {left} 184 {right} 222 {right}"
        drawn.append(ink.tag("path", d=curve, class_=kind))
        for y, word, cells, ends in ((left, 30, 84, (60, 80)), (right, 326, 226, (296, 276))):
            lit = "lit" if i == _LIT else ""
            drawn.append(ink.rect(word - 29, y - 12, 58, 24, f"box {lit}".strip(), 12))
            drawn.append(
                ink.text(word, y + 4.5, words[i], "small strong" if lit else "small", "middle")
            )
            drawn.append(ink.arrow([(ends[0], y), (ends[1], y)], lit))
            drawn.append(
                ink.grid(
                    cells, y - 7, [[number / 1.4 for number in outputs[i]]], 14, 2, "cell value"
                )
            )
    written = ", ".join(f"{number:.2f}" for number in outputs[_LIT])
    drawn.append(ink.text(178, 230, f"{words[_LIT]}: ({written})", "shape", "middle"))
    return "".join(drawn)


def _attended(query):
    """Return the output of attention for one query, with scores divided by the root of 3."""
    e = [math.exp(sum(a * b for a, b in zip(query, x, strict=True)) / math.sqrt(3)) for x in _X]
    return [sum(w * x[j] for w, x in zip(e, _X, strict=True)) / sum(e) for j in range(3)]
