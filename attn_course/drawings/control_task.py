"""A probing task and its control: the same words with meaningful and with random labels."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_WORDS = ("cat", "cats", "dog", "dogs", "king", "kings")
_DRAWN = (1, 1, 0, 1, 0, 0)
_TITLE = {"es": "Una tarea y su control", "en": "A task and its control"}
_DESCRIPTION = {
    "es": "Dos listas de las mismas seis palabras: cat, cats, dog, dogs, king y kings. En la primera, cada palabra lleva su número, "
    "singular o plural, por turnos. En la segunda, una etiqueta A o B sorteada: B, B, A, B, A, A. Debajo: con palabras nuevas, la "
    "primera tarea se puede resolver; la segunda, solo de memoria.",
    "en": "Two lists of the same six words: cat, cats, dog, dogs, king and kings. In the first, each word has its number, singular "
    "or plural, by turns. In the second, a label A or B drawn at random: B, B, A, B, A, A. Below: with new words, the first task "
    "can be solved; the second only by heart.",
}
_LABELS = {
    "es": (
        "¿singular o plural?",
        "¿A o B?",
        ("singular", "plural"),
        "se puede deducir",
        "solo de memoria",
    ),
    "en": (
        "singular or plural?",
        "A or B?",
        ("singular", "plural"),
        "can be worked out",
        "only by heart",
    ),
}


def control_task():
    """Return the drawing of the two lists."""
    return Idea("control_task", 214, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    asked, control, numbers, deduced, by_heart = _LABELS[language]
    drawn = []
    for left, title, labels, told in (
        (4, asked, [numbers[i % 2] for i in range(6)], deduced),
        (190, control, ["AB"[i] for i in _DRAWN], by_heart),
    ):
        drawn.append(ink.text(left, 16, title, "small strong"))
        for i, (word, label) in enumerate(zip(_WORDS, labels, strict=True)):
            y = 28 + 27 * i
            lit = label in (numbers[1], "B")
            drawn.append(
                ink.rect(left, y, 56, 22, "box", 5)
                + ink.text(left + 28, y + 15.5, word, "small", "middle")
            )
            drawn.append(ink.arrow([(left + 58, y + 11), (left + 80, y + 11)]))
            drawn.append(ink.rect(left + 82, y, 72, 22, "box now" if lit else "kept", 5))
            drawn.append(ink.text(left + 118, y + 15.5, label, "small", "middle"))
        drawn.append(ink.text(left, 206, told, "small soft"))
    return "".join(drawn)
