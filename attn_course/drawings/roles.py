"""Query, key and value: three views of one vector, and why scores are not symmetric."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_FEATURES = {
    "es": ("persona", "plural", "pronombre", "cosa"),
    "en": ("person", "plural", "pronoun", "thing"),
}
_WORDS = {"they": (0, 1, 1, 0), "John": (1, 0, 0, 0)}
# The component that each matrix of chapter 3 reads, times 2: "pronoun" for the query, "person" for
# the key.
_QUERY, _KEY = (0, 0, 2, 0), (2, 0, 0, 0)
_TITLE = {"es": "Tres vistas del mismo vector", "en": "Three views of one vector"}
_DESCRIPTION = {
    "es": "A la izquierda they y a la derecha John, cada uno con su vector de cuatro rasgos: persona, plural, pronombre y cosa. "
    "De cada vector salen tres flechas, a su query, su key y su value. La query lee «pronombre» y la key lee «persona», las dos "
    "multiplicadas por 2: they tiene query 2 y key 0; John, query 0 y key 2. El value copia los cuatro rasgos. Abajo, el "
    "puntaje de they con John es 2 por 2, 4; el de John con they, 0 por 0, 0.",
    "en": "On the left they and on the right John, each with its vector of four features: person, plural, pronoun and thing. "
    "Three arrows go out of each vector, to its query, its key and its value. The query reads “pronoun” and the key reads "
    "“person”, both times 2: they has query 2 and key 0; John, query 0 and key 2. The value copies the four features. At the "
    "bottom, the score of they with John is 2 times 2, 4; that of John with they, 0 times 0, 0.",
}
# The places of query, key and value of each word. Its vector is above its key.
_PLACES = {"they": (80, 114, 164), "John": (228, 262, 312)}
_SCORE = {"es": "puntaje", "en": "score"}


def roles():
    """Return the drawing of *they* and *John*, their vectors and their queries, keys and values."""
    return Idea("roles", 326, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    drawn, made = [], {}
    for i, feature in enumerate(_FEATURES[language]):
        drawn.append(ink.text(0, 52 + 24 * i, feature, "small soft"))
    for word, x in _WORDS.items():
        query, key, value = _PLACES[word]
        made[word] = [sum(a * b for a, b in zip(x, w, strict=True)) for w in (_QUERY, _KEY)]
        drawn.append(ink.text(key, 18, word, "strong", "middle"))
        for i, number in enumerate(x):
            drawn.append(ink.rect(key - 16, 36 + 24 * i, 32, 22, "now" if number else "box", 3))
            drawn.append(ink.text(key, 51 + 24 * i, str(number), "shape", "middle"))
        drawn.append(_view(key, query, "query", str(made[word][0]), 28))
        drawn.append(_view(key, value, "value", " ".join(map(str, x)), 62))
        drawn.append(_view(key, key, "key", str(made[word][1]), 28))
    drawn.append(ink.text(0, 258, _SCORE[language], "small soft"))
    for k, (asks, answers) in enumerate((("they", "John"), ("John", "they"))):
        drawn.append(_score(254 + 44 * k, asks, answers, made[asks][0], made[answers][1]))
    return "".join(drawn)


def _view(x, at, hue, written, width):
    """Draw the product of a vector and a matrix, with the arrow that leads to it."""
    arrow = ink.arrow(
        [(x, 132), (x, 144), (at, 144), (at, 164)] if at != x else [(x, 132), (x, 164)], hue
    )
    box = ink.rect(at - width / 2, 164, width, 26, f"box {hue}", 5)
    return (
        arrow
        + box
        + ink.text(at, 181, written, "shape", "middle")
        + ink.text(at, 206, hue, f"small {hue}", "middle")
    )


def _score(y, asks, answers, query, key):
    """Draw a query, the key it meets, and their product."""
    product = query * key
    line = "line lit" if product else "line dashed"
    return (
        ink.rect(62, y - 13, 70, 26, "box query", 13)
        + ink.text(97, y + 4.5, asks, "small strong" if product else "small", "middle")
        + ink.path([(132, y), (210, y)], line)
        + ink.text(171, y - 6, f"{query} · {key}", "shape", "middle")
        + ink.rect(210, y - 13, 70, 26, "box key", 6)
        + ink.text(245, y + 4.5, answers, "small strong" if product else "small", "middle")
        + ink.text(300, y + 4, f"= {product}", "shape strong" if product else "shape")
    )
