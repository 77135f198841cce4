"""One mean or two places: what the verb *gives* receives from one head, and from two."""

import math

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_NAMES = ("Marta", "Sara", "rosas")
_SENTENCES = (("Marta", "Sara"), ("Sara", "Marta"))
_LEFT = (1, 189)
# In chapter 4 a head gives a score of 9 to the word that it looks for and 0 to the other four.
_FOUND = 9
_TITLE = {"es": "Una media o dos lugares", "en": "One mean or two places"}
_DESCRIPTION = {
    "es": "Dos oraciones, «Marta da rosas a Sara» y «Sara da rosas a Marta», cada una con una cabeza, arriba, y con dos, abajo. "
    "Con una cabeza, la palabra da recibe de las dos personas a partes iguales, y sus tres números, de Marta, Sara y rosas, son "
    "0.5, 0.5 y 0.0 en ambas oraciones. Con dos cabezas recibe seis: los tres primeros dicen quién da y los otros tres quién "
    "recibe. En la primera oración son 1.0, 0.0, 0.0 y 0.0, 1.0, 0.0; en la segunda, al revés.",
    "en": "Two sentences, “Marta gives roses to Sara” and “Sara gives roses to Marta”, each with one head, at the "
    "top, and with two, at the bottom. With one head the word gives receives from both people in equal parts, and its three numbers, of Marta, Sara and "
    "roses, are 0.5, 0.5 and 0.0 in both sentences. With two heads it receives six: the first three say who gives and the other "
    "three who receives. In the first sentence they are 1.0, 0.0, 0.0 and 0.0, 1.0, 0.0; in the second, the other way round.",
}
_BETWEEN = {"es": ("da", "rosas", "a"), "en": ("gives", "roses", "to")}
_WORDS = {
    "es": ("una cabeza en «da»", "dos cabezas en «da»", "quien da", "quien recibe"),
    "en": ("one head at “gives”", "two heads at “gives”", "giver", "receiver"),
}


def places():
    """Return the drawing of two sentences, which one head cannot tell apart and two can."""
    return Idea("places", 334, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    one, two, gives, receives = _WORDS[language]
    drawn = [ink.text(0, 16, one, "strong"), ink.text(0, 186, two, "strong")]
    drawn += [
        ink.text(178, 118, "=", "strong", "middle"),
        ink.text(178, 288, "≠", "strong", "middle"),
    ]
    for x, (who, whom) in zip(_LEFT, _SENTENCES, strict=True):
        both, each = math.exp(_FOUND), math.exp(_FOUND) / (math.exp(_FOUND) + 4)
        half = both / (2 * both + 3)
        starts = _sentence(x, 44, who, whom, language)
        drawn.append(starts + _slots(x + 44, 102, {who: half, whom: half}))
        drawn += [_falls(x + from_, x + 83, 50) for from_ in (20, 148)]
        drawn.append(_sentence(x, 214, who, whom, language))
        for from_, left, name, role in ((20, 0, who, gives), (148, 88, whom, receives)):
            drawn.append(_slots(x + left, 272, {name: each}))
            drawn.append(_falls(x + from_, x + left + 39, 220))
            drawn.append(ink.text(x + left + 39, 330, role, "small", "middle"))
    return "".join(drawn)


def _sentence(x, y, who, whom, language):
    verb, thing, to = _BETWEEN[language]
    drawn = [
        ink.text(x + 20, y, who, "small", "middle"),
        ink.text(x + 58, y, verb, "small accent", "middle"),
        ink.text(x + 95, y, thing, "small soft", "middle"),
        ink.text(x + 121, y, to, "small soft", "middle"),
        ink.text(x + 148, y, whom, "small", "middle"),
    ]
    return "".join(drawn)


def _falls(x, end, y):
    """Draw what a word hands over, down to where it arrives."""
    if x == end:
        return ink.arrow([(x, y), (x, y + 48)], "value")
    curve = f"M{x} {y}C{x} {y + 24} {end} {y + 20} {end} {y + 42}"
    tip = f"M{end} {y + 49}l-3.6 -7h7.2z"
    return ink.tag("path", d=curve, class_="line value") + ink.tag(
        "path", d=tip, class_="tip value"
    )


def _slots(x, y, found):
    """Draw three numbers, one a name, under whose initial they stand."""
    drawn = []
    for i, name in enumerate(_NAMES):
        share = found.get(name, 0)
        drawn.append(ink.rect(x + 26 * i, y, 26, 24, "now" if share else "box", 3))
        drawn.append(ink.text(x + 26 * i + 13, y + 16, f"{share:.1f}", "shape", "middle"))
        drawn.append(ink.text(x + 26 * i + 13, y + 39, name[0], "small soft", "middle"))
    return "".join(drawn)
