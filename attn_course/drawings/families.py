"""Three models from one machine: the encoder alone, the decoder alone, and both."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_TITLE = {"es": "Tres cortes de la misma máquina", "en": "Three cuts of one machine"}
_DESCRIPTION = {
    "es": "Tres columnas. En la primera, solo el codificador, como BERT: su máscara de 4 por 4 está entera, así que cada token mira "
    "a todos, y contesta la palabra tapada. En la segunda, solo el decodificador, como GPT: su máscara es un triángulo, cada token "
    "mira a los anteriores, y contesta la palabra siguiente. En la tercera, los dos, como T5: el codificador mira a todo, el "
    "decodificador mira a lo ya escrito y, por la atención cruzada, a todo el codificador, y contesta un texto.",
    "en": "Three columns. In the first, the encoder alone, like BERT: its mask of 4 by 4 is full, so that each token looks at all, "
    "and it answers the hidden word. In the second, the decoder alone, like GPT: its mask is a triangle, each token looks at those "
    "before, and it answers the next word. In the third, both, like T5: the encoder looks at everything, the decoder looks at what "
    "is written and, by cross-attention, at the whole encoder, and it answers a text.",
}
_WORDS = {
    "es": (
        "codificador",
        "decodificador",
        ("la palabra", "tapada"),
        ("la palabra", "siguiente"),
        ("un texto", "nuevo"),
        "cruzada",
    ),
    "en": (
        "encoder",
        "decoder",
        ("the hidden", "word"),
        ("the next", "word"),
        ("a new", "text"),
        "cross",
    ),
}
# The inputs and the answers, from chapter 11.
_CUTS = (
    ("BERT", 52, ("▢ casa roja", "es nueva"), "la"),
    ("GPT", 172, ("la casa roja", "es"), "nueva"),
    ("T5", 294, ("translate :", "tom was sad"), "tom estaba triste"),
)
_FULL, _CAUSAL = [[1] * 4] * 4, [[1] * (i + 1) + [None] * (3 - i) for i in range(4)]
_WIDE = 98


def families():
    """Return the drawing of the three cuts, what each token of them may look at, and what they answer."""
    return Idea("families", 340, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    encoder, decoder, *asked, cross = _WORDS[language]
    drawn = []
    for (name, x, read, answer), kind in zip(_CUTS, asked, strict=True):
        drawn.append(
            ink.text(x, 16, name, "strong", "middle")
            + ink.lines(x, 41, kind, "small soft", leading=15)
        )
        drawn.append(ink.text(x, 78, answer, "small strong accent", "middle"))
        drawn.append(ink.lines(x, 324, read, "small", leading=15))
        if name == "T5":
            drawn.append(ink.arrow([(x, 102), (x, 86)]) + ink.arrow([(x, 306), (x, 290)]))
            drawn.append(_block(x, 102, decoder, _CAUSAL, 76) + _block(x, 214, encoder, _FULL, 76))
            drawn.append(
                ink.arrow([(x, 214), (x, 178)], "lit") + ink.text(x + 8, 200, cross, "small accent")
            )
        else:
            drawn.append(ink.arrow([(x, 138), (x, 86)]) + ink.arrow([(x, 306), (x, 254)]))
            part = (encoder, _FULL) if name == "BERT" else (decoder, _CAUSAL)
            drawn.append(_block(x, 138, *part, 116))
    return "".join(drawn)


def _block(x, y, name, mask, tall):
    """Draw one side of the machine with what its self-attention allows."""
    size = 9 if tall < 100 else 15
    whole = 4 * size + 6
    box = ink.rect(x - _WIDE / 2, y, _WIDE, tall) + ink.text(
        x, y + 18, name, "small strong", "middle"
    )
    return box + ink.grid(x - whole / 2, y + 26 + (tall - 32 - whole) / 2, mask, size)
