"""How many steps away a word is: in a recurrent network, in a convolution, in attention."""

import itertools

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_LAST, _LEFT, _STEP = 8, 98, 26
# The number of positions that one step passes, and the height at which it is drawn.
_LEAPS = {"RNN": (1, 15, 52), "convolution": (2, 26, 118), "attention": (_LAST - 1, 78, 226)}
_TITLE = {"es": "De la posición 1 a la 8", "en": "From position 1 to position 8"}
_DESCRIPTION = {
    "es": "Tres filas con las posiciones de 1 a 8, y arcos que llevan lo que hay en la 1 hasta la 8. En la RNN cada paso avanza "
    "una posición, y hacen falta 7 pasos. En la convolución de ancho 5 cada paso avanza dos posiciones como mucho, y hacen "
    "falta 4. En la atención un solo arco va de la 1 a la 8: 1 paso, a cualquier distancia.",
    "en": "Three rows with the positions from 1 to 8, and arcs that carry what is at 1 as far as 8. In the RNN each step goes on "
    "by one position, and it takes 7 steps. In the convolution of width 5 each step goes on by two positions at most, and it "
    "takes 4. In attention a single arc goes from 1 to 8: 1 step, at any distance.",
}
_WORDS = {
    "es": {
        "RNN": "RNN",
        "convolution": "convolución",
        "attention": "atención",
        "step": "paso",
        "steps": "pasos",
    },
    "en": {
        "RNN": "RNN",
        "convolution": "convolution",
        "attention": "attention",
        "step": "step",
        "steps": "steps",
    },
}


def hops():
    """Return the drawing of the steps that it takes to go from position 1 to position 8."""
    return Idea("hops", 242, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    words, drawn = _WORDS[language], []
    for name, (leap, height, y) in _LEAPS.items():
        stops = [*range(0, _LAST - 1, leap), _LAST - 1]
        steps = len(stops) - 1
        drawn.append(ink.text(0, y + 4.5, words[name], "small"))
        count = f"{steps} {words['step' if steps == 1 else 'steps']}"
        drawn.append(ink.text(356, y + 4.5, count, "small strong", "end"))
        for start, end in itertools.pairwise(stops):
            drawn.append(_hop(_LEFT + _STEP * start, _LEFT + _STEP * end, y - 11, height))
        for i in range(_LAST):
            kind = "now" if i in (0, _LAST - 1) else "box"
            x = _LEFT + _STEP * i
            drawn.append(ink.tag("circle", cx=x, cy=y, r=9, class_=kind))
            drawn.append(
                ink.text(x, y + 4, str(i + 1), "small" if i in stops else "small soft", "middle")
            )
    return "".join(drawn)


def _hop(x, end, y, height):
    """Draw one step as an arc that comes down on where it ends."""
    over = y - 4 * height / 3
    curve = f"M{x} {y}C{x + 4} {ink.number(over)} {end - 4} {ink.number(over)} {end} {y - 5}"
    tip = f"M{end} {y + 1}l-3.6 -7h7.2z"
    return ink.tag("path", d=curve, class_="line lit") + ink.tag("path", d=tip, class_="tip lit")
