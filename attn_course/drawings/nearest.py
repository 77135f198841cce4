"""Classification: a sentence becomes one vector, and the nearest subject names it."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_AT = (44, 133, 222, 311)
_TITLE = {
    "es": "De una oración a un vector, y de ahí a un tema",
    "en": "From a sentence to a vector, and on to a subject",
}
_DESCRIPTION = {
    "es": "Arriba, los cuatro tokens de una oración. Cada uno es query, key y value, y una línea lo une con todos los vectores de la fila "
    "de abajo, también con el suyo: la atención no lleva máscara. Los cuatro vectores de abajo se juntan en uno solo, su media. De "
    "ese vector salen flechas hacia cuatro temas, transporte, salud, cultura y basura. La del tema más cercano, basura, está resaltada.",
    "en": "At the top, the four tokens of a sentence. Each is query, key and value, and a line joins it with all the vectors of the row "
    "below, its own included: attention has no mask. The four vectors below are joined in a single one, their mean. From that vector "
    "arrows lead to four subjects, transport, health, culture and waste. The one to the nearest subject, waste, is lit.",
}
_WORDS = {
    "es": (
        ("tiro", "las", "pilas", "viejas"),
        "media",
        ("transporte", "salud", "cultura", "basura"),
    ),
    "en": (
        ("throw", "away", "old", "batteries"),
        "mean",
        ("transport", "health", "culture", "waste"),
    ),
}


def nearest():
    """Return the drawing of four tokens, their mean and four subjects."""
    return Idea("nearest", 272, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    tokens, mean, subjects = _WORDS[language]
    drawn = []
    for x in _AT:
        for end in _AT:
            curve = f"M{x} 36C{x} 62 {end} 62 {end} 86"
            drawn.append(ink.tag("path", d=curve, class_="line query", opacity=0.6))
        drawn.append(ink.arrow([(x, 108), (x, 126), (178, 126), (178, 142)]))
    for x, token, subject in zip(_AT, tokens, subjects, strict=True):
        near = x == _AT[-1]
        drawn.append(ink.rect(x - 40, 10, 80, 26, "box key", 13))
        drawn.append(ink.text(x, 27.5, token, "small", "middle"))
        drawn.append(ink.rect(x - 28, 88, 56, 18, "cell value", 4))
        drawn.append(ink.arrow([(178, 172), (178, 196), (x, 196), (x, 226)], "lit" if near else ""))
        drawn.append(ink.rect(x - 42, 230, 84, 28, "now" if near else "box", 5))
        drawn.append(ink.text(x, 248.5, subject, "small strong" if near else "small", "middle"))
    drawn.append(ink.rect(140, 144, 76, 26, "box lit", 5))
    drawn.append(ink.text(178, 161.5, mean, "strong", "middle"))
    return "".join(drawn)
