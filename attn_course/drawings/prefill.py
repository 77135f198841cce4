"""Reading a prompt and writing after it: how often the weights are read, and for how many tokens."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea, step

# The prompt of chapter 12 and what its model writes.
_PROMPT, _WRITTEN = ("The", "sky", "is", "blue", "because"), ("of", "the", "way")
_TITLE = {
    "es": "Leer de una vez, escribir de una en una",
    "en": "Reading at once, writing one by one",
}
_DESCRIPTION = {
    "es": "Cuatro filas; en cada una, los pesos se traen de la memoria una vez y una flecha va de ellos a los tokens que los "
    "aprovechan. En la primera, la lectura del prompt, los cinco tokens The, sky, is, blue y because los aprovechan a la vez. En "
    "las otras tres, la escritura, los aprovecha un solo token: of, the y way. En total, 4 lecturas de los pesos para 8 tokens.",
    "en": "Four rows; in each, the weights are fetched from memory once and an arrow goes from them to the tokens that use them. "
    "In the first, reading the prompt, the five tokens The, sky, is, blue and because use them together. In the other three, "
    "writing, a single token uses them: of, the and way. In all, 4 readings of the weights for 8 tokens.",
}
_LABELS = {
    "es": ("leer", "escribir", "pesos", "4 lecturas de los pesos, 8 tokens"),
    "en": ("reading", "writing", "weights", "4 readings of the weights, 8 tokens"),
}
_STEPS = {
    "es": (
        "Los pesos vienen de la memoria una vez y sirven para los cinco tokens del prompt.",
        "Para leer of hay que traer otra vez todos los pesos, y sirven para un solo token.",
        "Otra vez todos los pesos, para the.",
        "Y otra vez para way: 4 lecturas de los pesos para 8 tokens.",
    ),
    "en": (
        "The weights come from memory once and serve the five tokens of the prompt.",
        "To read of, all the weights are fetched again, and they serve a single token.",
        "All the weights once more, for the.",
        "And once more for way: 4 readings of the weights for 8 tokens.",
    ),
}


def prefill():
    """Return the drawing of one reading for five tokens and three readings for three."""
    return Idea("prefill", 226, _TITLE, _DESCRIPTION, _draw, _STEPS)


def _draw(language):
    reading, writing, weights, total = _LABELS[language]
    drawn = []
    for row, words in enumerate((_PROMPT, *((word,) for word in _WRITTEN))):
        y = 40 + 42 * row + 10 * (row > 0)
        parts = [
            ink.rect(2, y - 14, 72, 28, "box now", 6),
            ink.text(38, y + 4.5, weights, "small", "middle"),
        ]
        parts.append(ink.arrow([(76, y), (98, y)], "lit"))
        x = 100
        for word in words:
            wide = 22 + 6.6 * len(word)
            parts.append(
                ink.rect(x, y - 13, wide, 26, "kept", 5)
                + ink.text(x + wide / 2, y + 4.5, word, "small", "middle")
            )
            x += wide + 4
        if row < 2:
            parts.insert(0, ink.text(2, y - 20, writing if row else reading, "small strong"))
        drawn.append(step(row + 1, *parts))
    drawn.append(step(4, ink.text(2, 222, total, "small strong")))
    return "".join(drawn)
