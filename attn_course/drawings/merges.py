"""Byte-pair encoding, merge by merge: two words whose pieces grow together."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_WORDS = {"es": ("mirado", "tiras"), "en": ("walked", "talks")}
# The merges of chapter 2, and how often each pair occurs in its five words.
_MERGES = {
    "es": (("i", "r", 13), ("ir", "a", 13), ("m", "ira", 9), ("d", "o", 6), ("t", "ira", 4)),
    "en": (("a", "l", 13), ("al", "k", 13), ("w", "alk", 9), ("e", "d", 6), ("t", "alk", 4)),
}
_LETTER, _LEFT = 18, (108, 250)
_TITLE = {"es": "Cinco fusiones", "en": "Five merges"}
_DESCRIPTION = {
    "es": "Las palabras mirado y tiras, una junto a otra, antes de las fusiones y después de cada una de ellas. Empiezan en "
    "letras sueltas. Se funden i y r, par que aparece 13 veces; después ir y a, 13; m e ira, 9, con lo que mira es ya un "
    "token; d y o, 6, y t e ira, 4. Al final mirado son dos tokens, mira y do, y tiras otros dos, tira y s.",
    "en": "The words walked and talks, side by side, before the merges and after each of them. They begin as single letters. "
    "First a and l are merged, a pair that comes 13 times; then al and k, 13; w and alk, 9, which makes walk one token; e and "
    "d, 6; and t and alk, 4. In the end walked is two tokens, walk and ed, and talks another two, talk and s.",
}
_HEADS = {"es": ("par más frecuente", "letras"), "en": ("commonest pair", "letters")}


def merges():
    """Return the drawing of two words after each of five merges."""
    return Idea("merges", 244, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    pair, letters = _HEADS[language]
    drawn = [ink.text(0, 16, pair, "small soft"), ink.text(0, 50, letters, "small soft")]
    pieces = [list(word) for word in _WORDS[language]]
    for x, parts in zip(_LEFT, pieces, strict=True):
        drawn.append(_word(x, 46, parts, None))
    for i, (one, other, times) in enumerate(_MERGES[language]):
        y = 84 + 36 * i
        drawn.append(ink.text(0, y + 4, f"{one} + {other}", "shape"))
        drawn.append(ink.text(94, y + 4, f"× {times}", "shape soft", "end"))
        for k, x in enumerate(_LEFT):
            before, pieces[k] = pieces[k], _merged(pieces[k], one, other)
            drawn.append(_word(x, y, pieces[k], one + other if pieces[k] != before else None))
    return "".join(drawn)


def _merged(parts, one, other):
    """Return the pieces with every occurrence of the pair merged."""
    joined = []
    for part in parts:
        if joined and (joined[-1], part) == (one, other):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def _word(x, y, parts, new):
    """Draw the pieces of a word, each as wide as its letters; the one just made is lit."""
    drawn, at = [], x
    for part in parts:
        width = _LETTER * len(part)
        drawn.append(ink.rect(at + 1, y - 12, width - 2, 24, "now" if part == new else "box", 5))
        drawn.append(
            ink.text(
                at + width / 2, y + 4, part, "shape strong" if part == new else "shape", "middle"
            )
        )
        at += width
    return "".join(drawn)
