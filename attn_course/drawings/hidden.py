"""One hidden word, predicted in three ways: what each model sees while it predicts."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_TOKENS = ("<sos>", "▢", "casa", "es", "roja")
_HOLE = 1
_TITLE = {"es": "Qué ve quien adivina la palabra", "en": "What whoever guesses the word can see"}
_DESCRIPTION = {
    "es": "Tres veces los tokens <sos>, un hueco, casa, es y roja. El modelo causal ve <sos> y nada más. El enmascarado ve a la "
    "vez todo lo que queda a los dos lados del hueco. ELMo lee por un lado <sos> y por el otro roja, es y casa, con dos redes "
    "que no se ven entre sí, y suma lo que dicen. En el corpus, una oración que empieza por artículo empieza por la 764 veces de "
    "2913; delante de casa, el artículo es la 73 veces de 73.",
    "en": "Three times the tokens <sos>, a hole, casa, es and roja. The causal model sees <sos> and nothing else. The masked model "
    "sees at once all that is left on both sides of the hole. ELMo reads <sos> on one side and roja, es and casa on the other, "
    "with two networks that do not see each other, and adds what they say. In the corpus a sentence that begins with an article "
    "begins with la 764 times out of 2913; before casa the article is la 73 times out of 73.",
}
_WORDS = {
    "es": (
        "causal (GPT)",
        "enmascarado (BERT)",
        "ELMo",
        "la: 764 de 2913",
        "la: 73 de 73",
        "la suma de dos lecturas",
    ),
    "en": (
        "causal (GPT)",
        "masked (BERT)",
        "ELMo",
        "la: 764 of 2913",
        "la: 73 of 73",
        "the sum of two readings",
    ),
}
_X, _WIDE = (34, 106, 178, 250, 322), 58


def hidden():
    """Return the drawing of a hole in a sentence and of what three kinds of model see of the rest."""
    return Idea("hidden", 312, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    causal, masked, elmo, blind, certain, added = _WORDS[language]
    drawn = []
    for top, name, note, seen in (
        (0, causal, blind, {0}),
        (104, masked, certain, {0, 2, 3, 4}),
        (208, elmo, added, {0, 2, 3, 4}),
    ):
        drawn.append(
            ink.text(0, top + 14, name, "strong")
            + ink.text(356, top + 14, note, "small accent", "end")
        )
        y = top + 80
        for i in sorted(seen):
            if name == elmo:
                break
            high = y - 22 - 7 * abs(i - _HOLE)
            end = _X[_HOLE] + (-10 if i < _HOLE else 4 + 6 * (4 - i))
            drawn.append(
                ink.arrow([(_X[i], y - 13), (_X[i], high), (end, high), (end, y - 13)], "lit", 6)
            )
        if name == elmo:
            drawn.append(
                _chain([_X[0]], y, _X[_HOLE] - 14)
                + _chain([_X[4], _X[3], _X[2]], y, _X[_HOLE] + 14)
            )
            drawn.append(ink.plus(_X[_HOLE], y - 36, 9))
        for i, (x, token) in enumerate(zip(_X, _TOKENS, strict=True)):
            kind = "box lit" if i == _HOLE else "box" if i in seen else "box dashed"
            letters = "strong" if i == _HOLE else "" if i in seen else "soft"
            drawn.append(ink.rect(x - _WIDE / 2, y - 13, _WIDE, 26, kind, 13))
            drawn.append(ink.text(x, y + 4.5, token, letters, "middle"))
    return "".join(drawn)


def _chain(places, y, end):
    """Draw a network that reads token after token and reports above the hole."""
    drawn, side = [], 1 if end > places[0] else -1
    for x, after in zip(places, [*places[1:], None], strict=True):
        drawn.append(ink.arrow([(x, y - 13), (x, y - 27)]))
        drawn.append(ink.rect(x - 9, y - 45, 18, 18, "box extra", 4))
        target = after - side * 10 if after else end + side * 4
        drawn.append(ink.arrow([(x + side * 9, y - 36), (target, y - 36)], "extra"))
    return "".join(drawn)
