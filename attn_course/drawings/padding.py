"""The effect of padding: a word attends to padding tokens, unless their keys are hidden."""

import math

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_LONG = {
    "es": ("El", "gato", "camina", "en", "la", "calle"),
    "en": ("The", "cat", "walks", "down", "the", "street"),
}
_SHORT = {
    "es": ("El", "cielo", "es", "azul", "<pad>", "<pad>"),
    "en": ("The", "sky", "is", "blue", "<pad>", "<pad>"),
}
# The scores of the last word with the four words of its sentence in chapter 6. A key of zeros scores 0.
_SCORES = (1, 3, 1, 2, 0, 0)
_TITLE = {"es": "La máscara de relleno", "en": "The padding mask"}
_DESCRIPTION = {
    "es": "Un lote de dos oraciones: «El gato camina en la calle», de seis palabras, y «El cielo es azul», de cuatro, que se "
    "completa con dos <pad>. Debajo, los pesos de azul. Sin máscara son 0.08, 0.58, 0.08 y 0.21 para las cuatro palabras y "
    "0.03 para cada <pad>. Con máscara, los dos <pad> están tachados y no pesan nada, y las palabras se reparten 1: 0.08, "
    "0.61, 0.08 y 0.22.",
    "en": "A batch of two sentences: “The cat walks down the street”, of six words, and “The sky is blue”, of four, which is "
    "filled up with two <pad>. Below, the weights of blue. Without a mask they are 0.08, 0.58, 0.08 and 0.21 for the four "
    "words and 0.03 for each <pad>. With a mask both <pad> are crossed out and weigh nothing, and the words share 1: 0.08, "
    "0.61, 0.08 and 0.22.",
}
_WORDS = {
    "es": ("Un lote de dos oraciones", "Adónde mira azul, sin máscara", "Con máscara de relleno"),
    "en": ("A batch of two sentences", "Where blue looks, without a mask", "With a padding mask"),
}
_STEP, _WIDE = 60, 54


def padding():
    """Return the drawing of a batch of two sentences and of the weights that the last word gives."""
    return Idea("padding", 262, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    batch, without, with_mask = _WORDS[language]
    drawn, last = [ink.text(0, 16, batch, "strong")], _SHORT[language][3]
    for y, row in ((40, _LONG[language]), (74, _SHORT[language])):
        for i, word in enumerate(row):
            kind = "box dashed" if word == "<pad>" else "box lit" if word == last else "box"
            letters = "small strong" if word == last else "small"
            drawn.append(ink.rect(_STEP * i + 1, y - 12, _WIDE, 24, kind, 12))
            drawn.append(ink.text(_STEP * i + 28, y + 4.5, word, letters, "middle"))
    for top, label, n in ((106, without, 6), (188, with_mask, 4)):
        drawn.append(ink.text(0, top + 12, label, "strong"))
        weights = _softmax(_SCORES[:n])
        for i in range(6):
            place = (_STEP * i + 1, top + 22, _WIDE, 26)
            weight = weights[i] if i < n else 0
            if i < n:
                drawn.append(ink.rect(*place, "cell", 3, opacity=max(weight, 0.08)))
            else:
                middle, y = _STEP * i + 28, top + 35
                drawn.append(ink.rect(*place, "bare", 3))
                drawn.append(
                    ink.tag(
                        "path",
                        d=f"M{middle - 7} {y - 7}l14 14M{middle + 7} {y - 7}l-14 14",
                        class_="line bad",
                    )
                )
            kind = "shape bad" if i > 3 and weight else "shape"
            drawn.append(
                ink.text(
                    _STEP * i + 28, top + 64, f"{weight:.2f}" if weight else "0", kind, "middle"
                )
            )
    return "".join(drawn)


def _softmax(scores):
    exponentials = [math.exp(score) for score in scores]
    return [e / sum(exponentials) for e in exponentials]
