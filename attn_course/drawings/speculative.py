"""Speculative decoding: a small model proposes, a large one judges all the proposals at once."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea, step

_WORDS = ("of", "the", "sun", "shines")
# The probabilities that the small and the large model give to each proposal that is compared.
_DRAFT, _TARGET = (0.3, 0.6, 0.5), (0.3, 0.8, 0.1)
_TITLE = {"es": "Un borrador y un juez", "en": "A draft and a judge"}
_DESCRIPTION = {
    "es": "Cuatro palabras que propone el modelo pequeño, en una fila: of, the, sun y shines. Debajo, las probabilidades que les "
    "dan los dos modelos: el pequeño 0.3, 0.6 y 0.5; el grande 0.3, 0.8 y 0.1. Se aceptan con probabilidad 1, 1 y 0.2. Las dos "
    "primeras se quedan. La tercera se rechaza y en su lugar se sortea way, y la cuarta se tira sin mirarla. Una lectura "
    "del modelo grande ha dado 3 palabras.",
    "en": "Four words that the small model proposes, in a row: of, the, sun and shines. Below them, the probabilities that both "
    "models give them: the small one 0.3, 0.6 and 0.5; the large one 0.3, 0.8 and 0.1. They are accepted with probability 1, 1 "
    "and 0.2. The first two stay. The third is rejected and way is drawn in its place, and the fourth is thrown away "
    "unseen. One reading of the large model has given 3 words.",
}
_ROWS = {
    "es": ("borrador", "q", "p", "se acepta", "escrito"),
    "en": ("draft", "q", "p", "accepted", "written"),
}
_STEPS = {
    "es": (
        "El modelo pequeño escribe 4 palabras, una tras otra, y anota la probabilidad q de cada una.",
        "El modelo grande las lee todas de una vez y da la suya, p.",
        "Cada palabra se acepta con probabilidad min(1, p / q), hasta la primera que se rechaza.",
        "En lugar de la rechazada se sortea otra de lo que le sobra a p sobre q; lo demás se tira.",
    ),
    "en": (
        "The small model writes 4 words, one after another, and notes the probability q of each.",
        "The large model reads them all at once and gives its own, p.",
        "Each word is accepted with probability min(1, p / q), up to the first that is rejected.",
        "In place of the rejected one another is drawn from what p has beyond q; the rest is thrown away.",
    ),
}
_LEFT, _WIDE = 72, 68


def speculative():
    """Return the drawing of four proposals, of which two are accepted and one is replaced."""
    return Idea("speculative", 214, _TITLE, _DESCRIPTION, _draw, _STEPS)


def _draw(language):
    draft, q, p, accepted, written = _ROWS[language]
    first = [ink.text(2, 24, draft, "small strong"), ink.text(2, 66, q, "shape")]
    second = [ink.text(2, 96, p, "shape")]
    third = [ink.text(2, 132, accepted, "small strong")]
    fourth = [ink.text(2, 186, written, "small strong")]
    for i, word in enumerate(_WORDS):
        x = _LEFT + (_WIDE + 2) * i + _WIDE / 2
        first.append(_word(x, 20, word, "box"))
        if i < len(_DRAFT):
            first.append(ink.text(x, 66, f"{_DRAFT[i]}", "shape", "middle"))
            second.append(ink.text(x, 96, f"{_TARGET[i]}", "shape", "middle"))
            chance = min(1, _TARGET[i] / _DRAFT[i])
            third.append(ink.text(x, 132, f"{chance:.1f}", "shape", "middle"))
            fourth.append(ink.arrow([(x, 140), (x, 166)], "lit" if i < 2 else "bad"))
            fourth.append(_word(x, 182, word if i < 2 else "way", "box now"))
        else:
            fourth.append(ink.text(x, 186, "✗", "soft", "middle"))
    return "".join(step(n, *parts) for n, parts in enumerate((first, second, third, fourth), 1))


def _word(x, y, word, kind):
    return ink.rect(x - 31, y - 14, 62, 28, kind, 6) + ink.text(x, y + 4.5, word, "small", "middle")
