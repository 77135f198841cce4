"""The beam: of all continuations, each step keeps the two most probable."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea, step

_TITLE = {"es": "Un haz de ancho 2", "en": "A beam of width 2"}
_DESCRIPTION = {
    "es": "Un árbol que crece de izquierda a derecha. De <sos> salen es, con probabilidad 0.5, hace, con 0.4, y está, con "
    "0.1; el haz conserva es y hace, y está queda tachada. De es salen frío, fría y helado, que dejan a la oración 0.20, "
    "0.15 y 0.15; de hace salen frío y <eos>, que la dejan en 0.36 y 0.04. El haz conserva «hace frío», con 0.36, y «es "
    "frío», con 0.20. La búsqueda voraz solo habría visto la rama de es.",
    "en": "A tree that grows from left to right. Out of <sos> come makes, with probability 0.5, it’s, with 0.4, and is, with "
    "0.1; the beam keeps makes and it’s, and is is crossed out. Out of makes come cold, chilly and frost, which leave the "
    "sentence at 0.20, 0.15 and 0.15; out of it’s come cold and <eos>, which leave it at 0.36 and 0.04. The beam keeps "
    "“it’s cold”, with 0.36, and “makes cold”, with 0.20. Greedy search would have seen the branch of makes alone.",
}
_LABELS = {"es": ("paso 1", "paso 2"), "en": ("step 1", "step 2")}
_STEPS = {
    "es": (
        "De <sos> salen tres palabras, cada una con su probabilidad.",
        "El haz conserva las dos más probables, es y hace; está queda tachada.",
        "Cada una de las dos crece, y a la derecha está la probabilidad de cada comienzo.",
        "De los cinco comienzos quedan los dos más probables, y el que empieza por «hace», que iba segundo, va primero.",
    ),
    "en": (
        "Out of <sos> come three words, each with its probability.",
        "The beam keeps the two most probable, makes and it’s; is is crossed out.",
        "Each of the two grows, and on the right is the probability of each sentence.",
        "Of the five beginnings the two most probable stay; it’s, second in the first step, now leads.",
    ),
}
_ROOT = 132
# The words of the toy model of chapter 9, in the order of their probabilities: first words, then second.
_WORDS = {
    "es": ("es", "hace", "está", "frío", "fría", "helado"),
    "en": ("makes", "it’s", "is", "cold", "chilly", "frost"),
}
# Parent, place of the word in _WORDS (None is <eos>), probability given the previous word, height,
# and whether the beam keeps it.
_FIRST = ((0, 0.5, 80, True), (1, 0.4, 186, True), (2, 0.1, 244, False))
_SECOND = (
    (0, 3, 0.4, 44, True),
    (0, 4, 0.3, 80, False),
    (0, 5, 0.3, 116, False),
    (1, 3, 0.9, 168, True),
    (1, None, 0.1, 204, False),
)


def beam():
    """Return the drawing of two steps of a beam search of width 2."""
    return Idea("beam", 268, _TITLE, _DESCRIPTION, _draw, _STEPS)


def _draw(language):
    drawn = [
        ink.text(128, 16, _LABELS[language][0], "small soft", "middle"),
        step(3, ink.text(256, 16, _LABELS[language][1], "small soft", "middle")),
    ]
    words = _WORDS[language]
    for place, p, y, kept in _FIRST:
        drawn.append(_grown(1, (52, _ROOT), (84, y), 88, words[place], p, kept))
    for parent, place, p, y, kept in _SECOND:
        start, whole = _FIRST[parent][2], f"{_FIRST[parent][1] * p:.2f}"
        word = "<eos>" if place is None else words[place]
        drawn.append(_grown(3, (172, start), (204, y), 104, word, p, kept))
        drawn.append(step(3, ink.text(318, y + 4, whole, "shape strong" if kept else "shape")))
    drawn.append(ink.rect(1.2, _ROOT - 13, 51, 26, "box lit", 13))
    drawn.append(ink.text(27, _ROOT + 4.5, "<sos>", "strong small", "middle"))
    return "".join(drawn)


def _grown(when, start, end, width, word, p, kept):
    """Draw a word with its probability, given the one before; one step later, whether it is kept."""
    (x, y), (end_x, end_y) = start, end
    curve = f"M{x} {y}C{x + 18} {y} {end_x - 18} {end_y} {end_x} {end_y}"
    frame = (end_x, end_y - 13, width, 26)
    decided = ink.path([(end_x + 10, end_y), (end_x + width - 38, end_y)], "line bad")
    if kept:
        decided = ink.tag("path", d=curve, class_="line lit") + ink.rect(*frame, "box lit", 13)
    appears = step(
        when, ink.tag("path", d=curve, class_="line dashed"), ink.rect(*frame, "box", 13)
    )
    written = ink.text(end_x + 13, end_y + 4.5, word, "strong" if kept else "soft")
    number = ink.text(end_x + width - 10, end_y + 4, f"{p:g}", "shape", "end")
    told = step(when, written, number)
    decided = step(when + 1, decided)
    return appears + (decided + told if kept else told + decided)
