"""Teacher forcing against generation: what the decoder reads while it learns, and while it writes."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea, step

_RIGHT = ("<sos>", "la", "casa", "roja")
_SAID = ("la", "casa", "azul", "<eos>")
_WRITTEN = ("<sos>", "la", "casa", "azul")
_ASKED = ("la", "casa", "roja", "<eos>")
_CENTRES = (98, 172, 246, 320)
_TITLE = {"es": "Teacher forcing frente a generación", "en": "Teacher forcing against generation"}
_DESCRIPTION = {
    "es": "Arriba, al entrenar: el decodificador lee a la vez <sos>, la, casa y roja, que es la traducción correcta, y dice "
    "la, casa, azul y <eos>. Su error, azul en lugar de roja, cuenta en la pérdida, pero no se lee: en la posición siguiente "
    "entra roja. Abajo, al generar: cada palabra que dice vuelve a entrar como la siguiente, de una en una, y el error azul "
    "se queda en lo escrito.",
    "en": "At the top, in training: the decoder reads <sos>, la, casa and roja at once, which is the right translation, and "
    "says la, casa, azul and <eos>. Its mistake, azul instead of roja, counts in the loss, but it is not read: at the next "
    "position roja goes in. At the bottom, in generation: each word it says goes back in as the next one, one by one, and "
    "the mistake azul stays in what is written.",
}
_WORDS = {
    "es": (
        "Al entrenar, todo a la vez",
        "Al generar, paso a paso",
        "decodificador",
        "dice",
        "lee",
        "correcta",
        "paso",
    ),
    "en": (
        "In training, all at once",
        "In generation, step by step",
        "decoder",
        "says",
        "reads",
        "right",
        "step",
    ),
}


_STEPS = {
    "es": (
        "Al entrenar, el decodificador lee a la vez toda la traducción correcta.",
        "En cada posición dice una palabra. Donde la correcta era roja dice azul, y eso cuenta en la pérdida.",
        "Al generar empieza con <sos> y nada más, y dice la.",
        "La palabra que dijo vuelve a entrar: ahora lee la y dice casa.",
        "Lee casa y dice azul, que es un error.",
        "Nadie lo corrige: el decodificador lee azul y sigue desde su error.",
    ),
    "en": (
        "In training the decoder reads the whole right translation at once.",
        "It says a word at each position. Where roja was right it says azul, and that counts in the loss.",
        "In generation it begins with <sos> and nothing else, and says la.",
        "The word that it said goes back in: now it reads la and says casa.",
        "It reads casa and says azul, which is a mistake.",
        "Nobody corrects it: the decoder reads azul and goes on from its mistake.",
    ),
}


def forcing():
    """Return the drawing of what the decoder reads in training and in generation."""
    return Idea("forcing", 344, _TITLE, _DESCRIPTION, _draw, _STEPS)


def _draw(language):
    training, generation, decoder, says, reads, right, turn = _WORDS[language]
    drawn = [ink.text(0, 16, training, "strong"), ink.rect(66, 92, 286, 26)]
    drawn.append(ink.text(209, 109.5, decoder, "small", "middle"))
    drawn.append(step(2, ink.text(56, 42, right, "small accent", "end")))
    for i, x in enumerate(_CENTRES):
        asked = ink.text(x, 42, _ASKED[i], "small accent", "middle")
        drawn.append(step(2, asked, ink.path([(x, 47), (x, 55)], "line dashed")))
        said_kind = "" if _SAID[i] == _ASKED[i] else "bad"
        drawn.append(_position(x, 0, (_SAID[i], said_kind, 2), (_RIGHT[i], "lit" if i else "", 1)))
    top = 176
    drawn += [
        step(3, ink.text(0, top + 32, generation, "strong")),
        step(3, ink.text(56, top + 109, turn, "small soft", "end")),
    ]
    for i, x in enumerate(_CENTRES):
        number = ink.text(x, top + 109.5, str(i + 1), "small", "middle")
        drawn.append(step(i + 3, ink.rect(x - 26, top + 92, 52, 26), number))
        read, said = (
            (word, "bad" if word == "azul" else "", i + 3) for word in (_WRITTEN[i], _SAID[i])
        )
        drawn.append(_position(x, top, said, read))
        if i < 3:
            between = x + 36
            back = [
                (x + 26, top + 68),
                (between, top + 68),
                (between, top + 146),
                (x + 48, top + 146),
            ]
            drawn.append(step(i + 4, ink.arrow(back, said[1], 5)))
    for y, (say, read) in ((0, (2, 1)), (top, (3, 3))):
        drawn.append(step(say, ink.text(56, y + 72, says, "small soft", "end")))
        drawn.append(step(read, ink.text(56, y + 150, reads, "small soft", "end")))
    return "".join(drawn)


def _position(x, top, said, read):
    """Draw the output of one position, above, and its input, below: word, kind and step of each."""
    says = ink.arrow([(x, top + 92), (x, top + 80)]) + _chip(x, top + 68, *said[:2])
    reads = ink.arrow([(x, top + 134), (x, top + 119)]) + _chip(x, top + 146, *read[:2])
    return step(said[2], says) + step(read[2], reads)


def _chip(x, y, word, kind):
    letters = "small bad" if kind == "bad" else "small"
    return ink.rect(x - 26, y - 12, 52, 24, f"box {kind}".strip(), 12) + ink.text(
        x, y + 4.5, word, letters, "middle"
    )
