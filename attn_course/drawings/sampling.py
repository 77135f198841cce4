"""Drawing a word is throwing a dart at a strip: what temperature, top-k and top-p do to the strip."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

# The five probabilities of chapter 9.
_P = (0.5, 0.2, 0.15, 0.1, 0.05)
_TITLE = {"es": "Cuatro maneras de repartir una tira", "en": "Four ways to share out a strip"}
_DESCRIPTION = {
    "es": "Cinco tiras igual de largas; cada una se parte en trozos, uno por palabra, tan anchos como la probabilidad de que "
    "salga. Sin tocar nada, los trozos miden 0.5, 0.2, 0.15, 0.1 y 0.05. Con temperatura 0.5 el primero se ensancha hasta 0.77 "
    "y los demás se estrechan; con temperatura 2 el primero mide 0.34 y la cola engorda. Con top-k de 2 solo hay dos trozos, "
    "de 0.71 y 0.29; con top-p de 0.8 hay tres, de 0.59, 0.24 y 0.18.",
    "en": "Five strips of the same length; each is cut into pieces, one a word, as wide as the probability of that word. With "
    "nothing changed the pieces measure 0.5, 0.2, 0.15, 0.1 and 0.05. With temperature 0.5 the first widens to 0.77 and the "
    "others shrink; with temperature 2 the first measures 0.34 and the tail grows fat. With top-k of 2 there are two pieces, "
    "of 0.71 and 0.29; with top-p of 0.8 there are three, of 0.59, 0.24 and 0.18.",
}
_PLAIN = {"es": "sin tocar", "en": "as it is"}
_LEFT, _LONG, _ROW = 72, 284, 44


def sampling():
    """Return the drawing of five probabilities under temperature, top-k and top-p."""
    return Idea("sampling", 5 * _ROW + 2, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    cut = next(n for n in range(1, 6) if sum(_P[:n]) >= 0.8)
    strips = {
        _PLAIN[language]: _P,
        "T = 0.5": _shares(p**2 for p in _P),
        "T = 2": _shares(p**0.5 for p in _P),
        "top-k 2": _shares(_P[:2]),
        "top-p 0.8": _shares(_P[:cut]),
    }
    drawn = []
    for row, (label, strip) in enumerate(strips.items()):
        y, x = 4 + _ROW * row, _LEFT
        drawn.append(
            ink.text(_LEFT - 8, y + 15.5, label, "small strong" if row == 0 else "small", "end")
        )
        for i, share in enumerate(strip):
            wide = _LONG * share
            drawn.append(
                ink.rect(
                    x, y, max(wide - 2, 1), 22, "cell", 2, opacity=(1, 0.7, 0.5, 0.35, 0.22)[i]
                )
            )
            if wide > 27:
                drawn.append(ink.text(x + wide / 2 - 1, y + 35, f"{share:.2f}", "shape", "middle"))
            x += wide
    return "".join(drawn)


def _shares(numbers):
    numbers = list(numbers)
    return [n / sum(numbers) for n in numbers]
