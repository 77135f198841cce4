"""The search of a query among keys: which word does *they* find?"""

import math

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_WORDS = ("John", "and", "Paul", "wrote", "several", "songs", "when", "they", "were", "inspired")
_SCORES = [4.0 if word in ("John", "Paul") else 0.0 for word in _WORDS]
_TOTAL = sum(math.exp(score) for score in _SCORES)
_WEIGHTS = [math.exp(score) / _TOTAL for score in _SCORES]
_TITLE = {"es": "Una query busca entre las keys", "en": "A query searches among the keys"}
_DESCRIPTION = {
    "es": "La query de they se compara con la key de cada una de las diez palabras de «John and Paul wrote several songs "
    "when they were inspired». Las keys de John y de Paul dan un puntaje de 4; las demás, de 0. Tras la softmax, los "
    "values de John y de Paul pesan 0.47 cada uno, y los otros ocho, 0.01. La salida es la suma de los values por su peso.",
    "en": "The query of they is compared with the key of each of the ten words of “John and Paul wrote several songs when "
    "they were inspired”. The keys of John and of Paul give a score of 4; the others, of 0. After the softmax the values "
    "of John and of Paul weigh 0.47 each, and the other eight 0.01. The output is the sum of the values times their weights.",
}
_HEADS = {
    "es": ("query", "keys", "puntaje", "peso × value"),
    "en": ("query", "keys", "score", "weight × value"),
}
_OUTPUT = {"es": "salida", "en": "output"}


def search():
    """Return the drawing of the query of *they* and the ten keys of its sentence."""
    return Idea("search", 342, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    query, keys, score, value = _HEADS[language]
    drawn = [
        ink.text(34, 16, query, "small query", "middle"),
        ink.text(148, 16, keys, "small key", "middle"),
        ink.text(212, 16, score, "small soft", "middle"),
        ink.text(356, 16, value, "small value", "end"),
    ]
    asked = 42 + 27 * 4.5
    for i, (word, weight) in enumerate(zip(_WORDS, _WEIGHTS, strict=True)):
        y, found = 42 + 27 * i, weight > 0.1
        curve = f"M68 {ink.number(asked)}C92 {ink.number(asked)} 84 {y} 108 {y}"
        drawn.append(
            ink.tag(
                "path",
                d=curve,
                class_="line query",
                opacity=1 if found else 0.45,
                style=f"stroke-width:{ink.number(1 + 7 * weight)}",
            )
        )
        drawn.append(ink.rect(108, y - 11, 80, 22, "box key", 6))
        drawn.append(ink.text(148, y + 4.5, word, "strong" if found else "", "middle"))
        drawn.append(ink.text(212, y + 4, f"{_SCORES[i]:.0f}", "shape", "middle"))
        drawn.append(
            ink.rect(236, y - 7, 4 + 160 * weight, 14, "cell value", 2, opacity=1 if found else 0.4)
        )
        at = 246 + 160 * weight
        drawn.append(ink.text(at, y + 4, f"{weight:.2f}", "shape"))
    drawn.append(ink.rect(0.7, asked - 13, 68, 26, "box query", 13))
    drawn.append(ink.text(34, asked + 4.5, "they", "strong", "middle"))
    drawn.append(ink.path([(182, 312), (356, 312)], "line"))
    drawn.append(ink.text(176, 332, _OUTPUT[language], "small soft", "end"))
    drawn.append(ink.text(356, 332, "0.47 John + 0.47 Paul + …", "shape", "end"))
    return "".join(drawn)
