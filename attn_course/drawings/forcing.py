"""Teacher forcing against generation: what the decoder reads while it learns, and while it writes."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

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


def forcing():
    """Return the drawing of what the decoder reads in training and in generation."""
    return Idea("forcing", 344, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    training, generation, decoder, says, reads, right, step = _WORDS[language]
    drawn = [ink.text(0, 16, training, "strong"), ink.rect(66, 92, 286, 26)]
    drawn.append(ink.text(209, 109.5, decoder, "small", "middle"))
    drawn.append(ink.text(56, 42, right, "small accent", "end"))
    for i, x in enumerate(_CENTRES):
        drawn.append(ink.text(x, 42, _ASKED[i], "small accent", "middle"))
        drawn.append(ink.path([(x, 47), (x, 55)], "line dashed"))
        drawn.append(
            _position(
                x,
                0,
                _RIGHT[i],
                _SAID[i],
                "lit" if i else "",
                "" if _SAID[i] == _ASKED[i] else "bad",
            )
        )
    top = 176
    drawn += [
        ink.text(0, top + 32, generation, "strong"),
        ink.text(56, top + 109, step, "small soft", "end"),
    ]
    for i, x in enumerate(_CENTRES):
        drawn.append(
            ink.rect(x - 26, top + 92, 52, 26)
            + ink.text(x, top + 109.5, str(i + 1), "small", "middle")
        )
        wrong = ["bad" if word == "azul" else "" for word in (_WRITTEN[i], _SAID[i])]
        drawn.append(_position(x, top, _WRITTEN[i], _SAID[i], *wrong))
        if i < 3:
            between = x + 36
            drawn.append(ink.arrow([(x + 26, top + 68), (between, top + 68), (between, top + 146), (x + 48, top + 146)],
                                   wrong[1], 5))  # fmt: skip
    for y in (0, top):
        drawn.append(ink.text(56, y + 72, says, "small soft", "end"))
        drawn.append(ink.text(56, y + 150, reads, "small soft", "end"))
    return "".join(drawn)


def _position(x, top, reads, says, reads_kind, says_kind):
    """Draw what one position reads, below, and what it says, above."""
    arrows = ink.arrow([(x, top + 134), (x, top + 119)]) + ink.arrow([(x, top + 92), (x, top + 80)])
    return arrows + _chip(x, top + 68, says, says_kind) + _chip(x, top + 146, reads, reads_kind)


def _chip(x, y, word, kind):
    letters = "small bad" if kind == "bad" else "small"
    return ink.rect(x - 26, y - 12, 52, 24, f"box {kind}".strip(), 12) + ink.text(
        x, y + 4.5, word, letters, "middle"
    )
