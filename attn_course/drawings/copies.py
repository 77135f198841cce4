"""Copies or parts: four heads of full size, and four that share one size among them."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_D_MODEL = 256
_SIDE, _LEFT = 60, 104
# The number of heads, and of components of each.
_ROWS = {"one": (1, 256), "copies": (4, 256), "parts": (4, 64)}
_STRENGTH = (1, 0.72, 0.46, 0.24)
_TITLE = {"es": "Cuatro copias o cuatro partes", "en": "Four copies or four parts"}
_DESCRIPTION = {
    "es": "Tres filas de matrices de proyección, dibujadas a escala, para vectores de 256 componentes. Una cabeza tiene un "
    "cuadrado de 256 por 256. Cuatro copias tienen cuatro cuadrados iguales a ese, y sus salidas juntas miden 1024: todo se "
    "multiplica por 4. Cuatro partes caben en un solo cuadrado, cortado en cuatro franjas de 256 por 64, y sus salidas juntas "
    "vuelven a medir 256: lo mismo que una cabeza.",
    "en": "Three rows of projection matrices, drawn to scale, for vectors of 256 components. One head has a square of 256 by "
    "256. Four copies have four squares like that one, and their outputs together measure 1024: everything is multiplied by 4. "
    "Four parts fit into a single square, cut into four bands of 256 by 64, and their outputs together measure 256 again: the "
    "same as one head.",
}
_WORDS = {
    "es": {"one": "una cabeza", "copies": "4 copias", "parts": "4 partes", "joined": "salidas"},
    "en": {"one": "one head", "copies": "4 copies", "parts": "4 parts", "joined": "outputs"},
}


def copies():
    """Return the drawing of one head, four copies of it and four parts of it, to scale."""
    return Idea("copies", 330, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    words, drawn = _WORDS[language], []
    for row, (name, (n_heads, d_k)) in enumerate(_ROWS.items()):
        y, width = 4 + 112 * row, _SIDE * d_k / _D_MODEL
        gap = 4 if d_k == _D_MODEL else 0
        cost = n_heads * d_k // _D_MODEL
        drawn.append(ink.text(0, y + 14, words[name], "strong"))
        drawn.append(ink.text(0, y + 33, f"({_D_MODEL}, {d_k})", "shape"))
        drawn.append(ink.text(0, y + 52, f"× {cost}", "shape strong"))
        drawn.append(ink.text(0, y + 79, words["joined"], "small soft"))
        for i in range(n_heads):
            x = _LEFT + (width + gap) * i
            for top, height in ((y, _SIDE), (y + 70, 9)):
                drawn.append(
                    ink.tag(
                        "rect",
                        x=x,
                        y=top,
                        width=width,
                        height=height,
                        class_="head",
                        opacity=_STRENGTH[i],
                    )
                )
        drawn.append(ink.text(_LEFT, y + 94, str(n_heads * d_k), "shape"))
    return "".join(drawn)
