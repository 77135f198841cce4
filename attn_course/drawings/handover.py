"""How SmolLM2 gets from *and* to *they*, as patches tell: by two words, and then by three heads."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_WORDS = ("John", "and", "Paul", "wrote", "several", "songs", "when")
_TITLE = {"es": "Por dónde viaja el número", "en": "Where the number travels"}
_DESCRIPTION = {
    "es": "Siete hebras verticales, una por token: John, and, Paul, wrote, several, songs y when; abajo no se ha recorrido ninguna capa y "
    "arriba, las 30. La de and está resaltada desde abajo hasta las 13. Ahí dos flechas van a las hebras de Paul y de wrote, "
    "resaltadas desde entonces hasta las 27. En las capas 26, 27 y 28, tres flechas, las cabezas, van a la hebra de when, que desde "
    "ahí está resaltada y termina en they.",
    "en": "Seven vertical strands, one a token: John, and, Paul, wrote, several, songs and when; no layer has been passed at the bottom and "
    "all 30 at the top. That of and is lit from the bottom up to 13. There two arrows go to the strands of Paul and of wrote, which are "
    "lit from then up to 27. In layers 26, 27 and 28 three arrows, the heads, go to the strand of when, which is lit from there and "
    "ends in they.",
}
_LABELS = {"es": ("capas", "tres cabezas"), "en": ("layers", "three heads")}
_FOOT, _TALL = 230, 186


def handover():
    """Return the drawing of the strands, with the lit parts."""
    return Idea("handover", 270, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    layer, heads = _LABELS[language]
    drawn = []
    for number in (0, 13, 26, 30):
        name = f"{number} {layer}" if number == 30 else str(number)
        drawn.append(ink.text(0, _up(number) + 4, name, "small soft"))
    for j, word in enumerate(_WORDS):
        drawn.append(ink.path([(_at(j), _FOOT), (_at(j), _up(30))], "line"))
        kind = "small strong" if j in (1, 6) else "small"
        drawn.append(ink.text(_at(j), 248 if j % 2 else 262, word, kind, "middle"))
    for token, low, high in ((1, 0, 13), (2, 13, 27), (3, 13, 27), (6, 26, 30)):
        bottom = _up(low) if low else _FOOT
        drawn.append(ink.path([(_at(token), bottom), (_at(token), _up(high))], "line lit"))
    for token in (2, 3):
        drawn.append(ink.arrow([(_at(1), _up(13)), (_at(token) - 2, _up(14))], "lit", 0))
    for token, number in ((2, 25.5), (3, 26.5), (3, 27.5)):
        ends = [(_at(token) + 2, _up(number)), (_at(6) - 2, _up(number))]
        drawn.append(ink.arrow(ends, "lit", 0))
    # The label is above the strands, which would otherwise cross it.
    drawn.append(ink.text((_at(3) + _at(6)) / 2, _up(30) - 9, heads, "small strong", "middle"))
    drawn.append(ink.text(_at(6), 24, "they", "small strong", "middle"))
    return "".join(drawn)


def _at(token):
    return 68 + 44 * token


def _up(layer):
    return _FOOT - _TALL * layer / 30 - 8
