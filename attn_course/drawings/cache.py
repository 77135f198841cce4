"""The cache of keys and values: what each step computes, and what it finds already there."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea, step

_WORDS = ("<sos>", "la", "casa", "roja")
_TITLE = {"es": "Escribir sin caché y con caché", "en": "Writing without and with a cache"}
_DESCRIPTION = {
    "es": "Dos tablas de 4 pasos, uno por fila. En el paso n el decodificador necesita las keys y los values de n palabras: "
    "<sos>, la, casa y roja. Sin caché los calcula todos otra vez: 1, 2, 3 y 4 en cada paso, 10 en total. Con caché calcula "
    "en cada paso los de la palabra nueva, 4 en total, y los de las anteriores ya están guardados.",
    "en": "Two tables of 4 steps, one a row. At step n the decoder needs the keys and values of n words: <sos>, la, casa and "
    "roja. Without a cache it computes all of them again: 1, 2, 3 and 4 at each step, 10 in all. With a cache it computes at "
    "each step those of the new word, 4 in all, and those of the words before are already stored.",
}
_LABELS = {
    "es": (
        "sin caché",
        "con caché",
        "calculadas: 10",
        "calculadas: 4",
        "paso",
        "se calcula",
        "está guardado",
    ),
    "en": ("no cache", "with a cache", "computed: 10", "computed: 4", "step", "computed", "stored"),
}
_STEPS = {
    "es": (
        "Paso 1: con caché o sin ella, se calculan la key y el value de <sos>.",
        "Paso 2: sin caché se calculan otra vez los de <sos>; con caché, solo los de la.",
        "Paso 3: sin caché se calculan los de 3 palabras; con caché, solo los de casa.",
        "Paso 4: sin caché van 10 cálculos; con caché, 4, uno por palabra.",
    ),
    "en": (
        "Step 1: with or without a cache, the key and the value of <sos> are computed.",
        "Step 2: without a cache those of <sos> are computed again; with it, only those of la.",
        "Step 3: without a cache those of 3 words are computed; with it, only those of casa.",
        "Step 4: without a cache it has taken 10 computations; with it, 4, one for each word.",
    ),
}
_CELL, _TOP = 32, 52


def cache():
    """Return the drawing of four steps, without and with a cache."""
    return Idea("cache", 244, _TITLE, _DESCRIPTION, _draw, _STEPS)


def _draw(language):
    without, with_, all_, few, label, computed, stored = _LABELS[language]
    drawn = []
    for left, name, count, keeps in ((52, without, all_, False), (220, with_, few, True)):
        drawn.append(ink.text(left + 67, 16, name, "strong", "middle"))
        for n, word in enumerate(_WORDS):
            y = _TOP + 34 * n
            row = [ink.text(left + 34 * n + 16, 42, word, "small", "middle")]
            if not keeps:
                row.append(
                    ink.text(
                        44,
                        y + 20.5,
                        f"{label} {n + 1}" if n == 0 else str(n + 1),
                        "small soft",
                        "end",
                    )
                )
            for j in range(n + 1):
                kind = "kept" if keeps and j < n else "now"
                row.append(ink.rect(left + 34 * j, y, _CELL, _CELL, kind, 4))
            drawn.append(step(n + 1, *row))
        drawn.append(step(4, ink.text(left + 67, _TOP + 156, count, "small", "middle")))
    for x, kind, label in ((52, "now", computed), (220, "kept", stored)):
        drawn.append(ink.rect(x, 224, 14, 14, kind, 3) + ink.text(x + 22, 236, label, "small"))
    return "".join(drawn)
