"""How the number of the subject gets to the verb in SmolLM2, as patches tell: it waits, and crosses by three heads."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_WORDS = ("The", "cats", "that", "chased", "the", "mouse")
_TITLE = {"es": "Por dónde viaja el número", "en": "Where the number travels"}
_DESCRIPTION = {
    "es": "Seis hebras verticales, una por token: The, cats, that, chased, the y mouse; abajo no se ha recorrido ninguna capa y arriba, las 30. La de "
    "cats está resaltada desde abajo hasta las 26. Tras 11 capas, una flecha fina va de ella a la de that. En las capas 27 y 28, tres "
    "flechas, las cabezas, van a la hebra de mouse, que desde ahí está resaltada y termina en were.",
    "en": "Six vertical strands, one a token: The, cats, that, chased, the and mouse; no layer has been passed at the bottom and all 30 at the top. "
    "That of cats is lit from the bottom up to 26. After 11 layers a thin arrow goes from it to that of the word that. In layers 27 and "
    "28 three arrows, the heads, go to the strand of mouse, which is lit from there and ends in were.",
}
_LABELS = {"es": ("capas", "tres cabezas"), "en": ("layers", "three heads")}
_FOOT, _TALL = 230, 186


def handover():
    """Return the drawing of the strands, with what is lit of them."""
    return Idea("handover", 258, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    layer, heads = _LABELS[language]
    drawn = []
    for number in (0, 11, 26, 30):
        drawn.append(
            ink.text(
                0,
                _up(number) + 4,
                f"{number} {layer}" if number == 30 else str(number),
                "small soft",
            )
        )
    for j, word in enumerate(_WORDS):
        drawn.append(ink.path([(_at(j), _FOOT), (_at(j), _up(30))], "line"))
        drawn.append(
            ink.text(_at(j), 248, word, "small strong" if j in (1, 5) else "small", "middle")
        )
    drawn.append(ink.path([(_at(1), _FOOT), (_at(1), _up(27.7))], "line lit"))
    drawn.append(ink.path([(_at(5), _up(26.3)), (_at(5), _up(30))], "line lit"))
    drawn.append(ink.arrow([(_at(1), _up(11)), (_at(2) - 2, _up(12))]))
    for number in (26.3, 27, 27.7):
        drawn.append(ink.arrow([(_at(1) + 2, _up(number)), (_at(5) - 2, _up(number))], "lit", 0))
    # The label is above the strands, which would otherwise cross it.
    drawn.append(ink.text((_at(1) + _at(5)) / 2, _up(30) - 9, heads, "small strong", "middle"))
    drawn.append(ink.text(_at(5), 24, "were", "small strong", "middle"))
    return "".join(drawn)


def _at(token):
    return 72 + 52 * token


def _up(layer):
    return _FOOT - _TALL * layer / 30 - 8
