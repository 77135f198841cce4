"""The bottleneck: the whole source in one vector, or every state kept for attention."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_LETTERS = "abcde"
_READS, _WRITES = [14 + 34 * i for i in range(5)], [206 + 34 * i for i in range(5)]
_TITLE = {"es": "Un solo vector, o mirar atrás", "en": "A single vector, or looking back"}
_DESCRIPTION = {
    "es": "Dos veces la misma tarea: leer las letras a, b, c, d, e y escribirlas al revés. Arriba, el codificador lee letra a "
    "letra, cada estado pasa al siguiente, y solo el último llega al decodificador, que escribe e, d, c, b, a; los demás "
    "estados se pierden. Abajo se conservan los cinco estados, y un arco une cada letra que se escribe con el estado en que "
    "se leyó. Cada estado tiene 64 números: arriba pasan 64 y abajo 5 × 64.",
    "en": "The same task twice: to read the letters a, b, c, d, e and write them backwards. At the top the encoder reads letter "
    "by letter, each state goes to the next, and only the last one reaches the decoder, which writes e, d, c, b, a; the other "
    "states are lost. At the bottom all five states are kept, and an arc joins each letter written with the state in which it "
    "was read. Each state has 64 numbers: 64 of them pass at the top and 5 × 64 at the bottom.",
}
_WORDS = {
    "es": (
        "un solo vector",
        "mirar atrás: atención",
        "64 números",
        "5 × 64 números",
        "codificador",
        "decodificador",
    ),
    "en": (
        "a single vector",
        "looking back: attention",
        "64 numbers",
        "5 × 64 numbers",
        "encoder",
        "decoder",
    ),
}


def bottleneck():
    """Return the drawing of five letters written backwards, from one vector and from five states."""
    return Idea("bottleneck", 316, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    alone, back, few, most, encoder, decoder = _WORDS[language]
    drawn = [ink.text(0, 16, alone, "strong"), ink.text(356, 16, few, "small soft", "end")]
    drawn += [
        ink.text(82, 48, encoder, "small soft", "middle"),
        ink.text(274, 48, decoder, "small soft", "middle"),
    ]
    drawn.append(_machine(74, kept=False))
    drawn += [ink.text(0, 156, back, "strong"), ink.text(356, 156, most, "small soft", "end")]
    for i, x in enumerate(_WRITES):
        read, height = _READS[4 - i], 14 + 20 * i
        curve = f"M{x} 249C{x} {249 - height} {read} {249 - height} {read} 249"
        drawn.append(ink.tag("path", d=curve, class_="line query"))
        drawn.append(ink.tag("circle", cx=read, cy=249, r=3, class_="tip query"))
    drawn.append(_machine(262, kept=True))
    return "".join(drawn)


def _machine(y, kept):
    """Draw five states that read, five that write, and the connections between them."""
    drawn = []
    for i, (read, write) in enumerate(zip(_READS, _WRITES, strict=True)):
        last = i == 4
        kind = "now" if kept or last else "box dashed"
        drawn += [
            ink.rect(read - 11, y - 11, 22, 22, kind, 5),
            ink.rect(write - 11, y - 11, 22, 22, "box", 5),
        ]
        drawn.append(ink.arrow([(read, y + 32), (read, y + 13)]))
        drawn.append(ink.arrow([(write, y + 11), (write, y + 31)]))
        drawn.append(ink.text(read, y + 46, _LETTERS[i], "strong", "middle"))
        drawn.append(ink.text(write, y + 46, _LETTERS[4 - i], "strong", "middle"))
        end = _WRITES[0] if last else _READS[i + 1]
        drawn.append(ink.arrow([(read + 11, y), (end - 11, y)], "lit" if last and not kept else ""))
        if not last:
            drawn.append(ink.arrow([(write + 11, y), (_WRITES[i + 1] - 11, y)]))
    return "".join(drawn)
