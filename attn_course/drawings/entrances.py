"""Where positions enter: into the embedding, into query and key, or into the score."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_TITLE = {"es": "Por dónde entra la posición", "en": "Where the position enters"}
_DESCRIPTION = {
    "es": "El camino de un token, de abajo arriba: embedding; query, key y value; puntajes; softmax; media ponderada. Hay tres "
    "entradas para la posición. Las sinusoidales y las aprendidas se suman al embedding, y por eso llegan también al value. "
    "Las rotatorias giran la query y la key. ALiBi y T5 suman al puntaje un número que depende de la distancia. Con las dos "
    "últimas, el value no sabe nada de posiciones.",
    "en": "The way of a token, from the bottom up: embedding; query, key and value; scores; softmax; weighted mean. There are "
    "three entrances for the position. Sinusoidal and learned ones are added to the embedding, and so they reach the value "
    "as well. Rotary ones turn the query and the key. ALiBi and T5 add to the score a number that depends on the distance. "
    "With the last two, the value knows nothing of positions.",
}
_WORDS = {
    "es": (
        "embedding",
        "puntajes",
        "softmax",
        "media ponderada",
        ("sinusoidales,", "aprendidas"),
        "rotatorias",
        ("ALiBi,", "T5"),
        "se suman",
        "giran",
        "se suma",
    ),
    "en": (
        "embedding",
        "scores",
        "softmax",
        "weighted mean",
        ("sinusoidal,", "learned"),
        "rotary",
        ("ALiBi,", "T5"),
        "added",
        "turn",
        "added",
    ),
}
_Q, _K, _V = 178, 248, 318


def entrances():
    """Return the drawing of one head of attention and the three places where positions enter it."""
    return Idea("entrances", 322, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    embedding, scores, softmax, mean, absolute, rotary, relative, added, turned, biased = _WORDS[
        language
    ]
    middle = (_Q + _K) / 2
    drawn = [
        ink.rect(_Q - 30, 288, _V - _Q + 60, 28),
        ink.text((_Q + _V) / 2, 306.5, embedding, "small", "middle"),
    ]
    drawn.append(ink.arrow([(_K, 288), (_K, 271)]))
    for x in (_Q, _V):
        drawn.append(ink.arrow([(_K, 250), (_K, 238), (x, 238), (x, 224)]))
    drawn.append(ink.arrow([(_K, 254), (_K, 224)]))
    for x, name in ((_Q, "query"), (_K, "key"), (_V, "value")):
        drawn.append(ink.rect(x - 30, 198, 60, 26, f"box {name}"))
        drawn.append(ink.text(x, 215.5, name, f"small {name}", "middle"))
    for x, hue in ((_Q, "query"), (_K, "key")):
        drawn.append(
            ink.arrow([(x, 198), (x, 177)], hue)
            + _ring(x, 166, hue)
            + ink.path([(x, 155), (x, 146)], f"line {hue}", 0)
        )
        drawn.append(ink.arrow([(x, 148), (x, 138)], hue))
    drawn.append(
        ink.rect(_Q - 30, 112, _K - _Q + 60, 26)
        + ink.text(middle, 129.5, scores, "small", "middle")
    )
    drawn.append(ink.path([(middle, 112), (middle, 102)]) + ink.arrow([(middle, 82), (middle, 70)]))
    drawn.append(ink.plus(middle, 92, 10))
    drawn.append(
        ink.rect(_Q - 30, 44, _K - _Q + 60, 26) + ink.text(middle, 61.5, softmax, "small", "middle")
    )
    drawn.append(
        ink.arrow([(middle, 44), (middle, 32)]) + ink.arrow([(_V, 198), (_V, 32)], "value")
    )
    drawn.append(
        ink.rect(_Q - 30, 4, _V - _Q + 60, 28)
        + ink.text((_Q + _V) / 2, 22.5, mean, "small", "middle")
    )
    drawn.append(ink.plus(_K, 260, 10))
    for y, end, names, how in (
        (260, _K - 10, absolute, added),
        (166, _Q - 11, (rotary,), turned),
        (92, middle - 10, relative, biased),
    ):
        label = ink.lines(50, y - (8 if len(names) > 1 else 7), names, "small strong", "middle")
        drawn.append(ink.rect(1, y - 27, 98, 54, "now", 10) + label)
        drawn.append(ink.text(50, y + (22 if len(names) > 1 else 15), how, "small", "middle"))
        drawn.append(ink.arrow([(99, y), (end, y)], "lit"))
    drawn.append(ink.arrow([(_Q + 11, 166), (_K - 11, 166)], "lit"))
    return "".join(drawn)


def _ring(x, y, hue):
    """Draw the sign of a turn."""
    circle = ink.tag("circle", cx=x, cy=y, r=11, class_=f"box {hue}")
    return (
        circle
        + ink.tag("path", d=f"M{x + 5} {y - 1}a5 5 0 1 0 -1.5 4.5", class_=f"line {hue}")
        + ink.tag("path", d=f"M{x + 8} {y - 3}l-3 4.5l-4 -3z", class_=f"tip {hue}")
    )
