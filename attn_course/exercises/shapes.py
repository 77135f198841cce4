"""What a wrong shape, a wrong number of results or a wrong kind of number says about an attempt."""

import numpy as np

from attn_course.exercises.compare import close
from attn_course.language import text


def wrong_shape(pairs):
    """Return a sentence on why arrays have another shape than the one asked for, or an empty text.

    Parameters
    ----------
    pairs : list of tuple of ndarray
        What an attempt returned and what is right, on every input where their shapes differ.

    Returns
    -------
    str
        In the language in use.
    """
    for holds, sentence in SHAPES:
        if all(holds(got, wanted) for got, wanted in pairs):
            return text(**sentence)
    return _one_axis(pairs) or _one_place(pairs)


def _one_place(pairs):
    """Return a sentence if one axis is one place too short, or too long, in all arrays."""
    found = set()
    for got, wanted in pairs:
        if got.ndim != wanted.ndim:
            return ""
        differing = [k for k in range(-got.ndim, 0) if got.shape[k] != wanted.shape[k]]
        if len(differing) != 1:
            return ""
        found.add((differing[0], got.shape[differing[0]] - wanted.shape[differing[0]]))
    if len(found) != 1:
        return ""
    ((axis, difference),) = found
    if abs(difference) != 1:
        return ""
    if difference < 0:
        return text(
            es=f"Le falta un lugar a lo largo del eje {axis}: algo se corta o se sustituye donde había que "
            "añadirlo.",
            en=f"It is one place short along axis {axis}: something is cut off, or replaced where it was to be "
            "added.",
        )
    return text(
        es=f"Le sobra un lugar a lo largo del eje {axis}: algo se añade donde había que sustituirlo, o falta un "
        "corte.",
        en=f"It is one place too long along axis {axis}: something is added where it was to be replaced, or has "
        "still to be cut off.",
    )


def wrong_only_in_shape(pairs):
    """Return `wrong_shape` where only a place or an axis is missing or too many, or an empty text."""
    for holds, sentence in SHAPES[:2]:
        if all(holds(got, wanted) for got, wanted in pairs):
            return text(**sentence)
    by_one = all(abs(sum(got.shape) - sum(wanted.shape)) == 1 for got, wanted in pairs)
    return _one_axis(pairs) if by_one else ""


def _equal(got, wanted):
    return got.size == wanted.size and bool(close(got.reshape(wanted.shape), wanted).all())


def _ones_aside(shape):
    return [n for n in shape if n != 1]


SHAPES = (
    (
        lambda got, wanted: (
            _equal(got, wanted) and _ones_aside(got.shape) == _ones_aside(wanted.shape)
        ),
        {
            "es": "Los números son los correctos: solo sobra o falta un eje que mide 1. Búscalo en un "
            "`keepdims=True`, un `None` o un `[0]`.",
            "en": "The numbers are right: only an axis of length 1 is too many or missing. Look for it in "
            "a `keepdims=True`, a `None` or a `[0]`.",
        },
    ),
    (
        _equal,
        {
            "es": "Los números son los correctos y están en su orden: solo falta un `reshape`.",
            "en": "The numbers are right and in order: only a `reshape` is missing.",
        },
    ),
    (
        lambda got, wanted: got.ndim == 0,
        {
            "es": "Es un solo número: o bien a una operación como `sum`, `max`, `argmax` o `any` le falta "
            "`axis`, o un `return` dentro de un bucle lo terminó en su primera vuelta.",
            "en": "It is a single number: either an operation such as `sum`, `max`, `argmax` or `any` has no "
            "`axis`, or a `return` inside a loop ended it in its first round.",
        },
    ),
    (
        lambda got, wanted: got.ndim < wanted.ndim,
        {
            "es": "Tiene menos ejes de los que se piden: uno se perdió en una suma, una media o un índice, "
            "o falta un `[..., None]`.",
            "en": "It has fewer axes than are asked for: one was lost in a sum, a mean or an index, or a "
            "`[..., None]` is missing.",
        },
    ),
    (
        lambda got, wanted: got.ndim > wanted.ndim,
        {
            "es": "Tiene más ejes de los que se piden: falta sumar o tomar la media a lo largo de uno, "
            "elegir en él con un índice, o juntarlo con otro.",
            "en": "It has more axes than are asked for: one has still to be summed or averaged over, to be "
            "picked from with an index, or to be joined with another.",
        },
    ),
    (
        lambda got, wanted: sorted(got.shape) == sorted(wanted.shape),
        {
            "es": "Los tamaños son los que se piden, pero en otro orden: comprueba qué tamaño va en cada eje.",
            "en": "The sizes are those asked for, but in another order: check which size goes on which axis.",
        },
    ),
)


def _one_axis(pairs):
    """Return a sentence if an array is right, except that it has an axis too many or too few."""
    found = {_cut(got, wanted) for got, wanted in pairs}
    if len(found) > 1 or None in found:
        return ""
    ((less, at_the_end),) = found
    if less:
        return text(
            es="Lo que devuelves es correcto, pero falta lo del "
            f"{'final' if at_the_end else 'principio'}: comprueba hasta dónde llegan tus cortes.",
            en="What you return is right, but what stands at the "
            f"{'end' if at_the_end else 'beginning'} is missing: check how far your slices go.",
        )
    return text(
        es=f"Lo que se pide está ahí, pero sobra lo que hay {'detrás' if at_the_end else 'delante'}.",
        en="What is asked for is there, but what stands "
        f"{'behind' if at_the_end else 'before'} it is too much.",
    )


def _cut(got, wanted):
    """Return whether an array is too short, and whether the difference is at its end, or None."""
    if got.ndim != wanted.ndim:
        return None
    differing = [i for i in range(got.ndim) if got.shape[i] != wanted.shape[i]]
    if len(differing) != 1:
        return None
    a, b = (np.moveaxis(array, differing[0], 0) for array in (got, wanted))
    n, m = len(a), len(b)
    less = min(n, m)
    if less and close(a[:less], b[:less]).all():
        return n < m, True
    if less and close(a[n - less :], b[m - less :]).all():
        return n < m, False
    return None


def wrong_number(answer, expected, outputs):
    """Return a sentence on an answer with too few or too many results, or an empty text.

    Parameters
    ----------
    answer, expected : Answer
    outputs : tuple of str
        The names of what is asked for.
    """
    names = ", ".join(outputs)
    if answer.values is None and len(outputs) == 1 and answer.returned == "tuple":
        return text(
            es=f"Devuelves varias cosas y se pide una sola: termina con `return {names}`.",
            en=f"You return several things, and one alone is asked for: end with `return {names}`.",
        )
    if "complex" in answer.returned:
        return text(
            es="Son números complejos, y se piden reales: pon su parte real y su parte imaginaria cada "
            "una en su lugar.",
            en="These are complex numbers, and real ones are asked for: put their real and their "
            "imaginary part each in its place.",
        )
    if "<U" in answer.returned or "str" in answer.returned:
        return text(
            es="Son textos, y se piden números o valores de verdad: escribe True y no `'True'`.",
            en="These are strings, and numbers or truth values are asked for: write True and not `'True'`.",
        )
    if "object" in answer.returned:
        return text(
            es="Es un arreglo de objetos de Python sueltos, con los que NumPy no calcula. Suele salir de "
            "filas de distinto largo o de un `None`: mira qué pusiste en él.",
            en="It is an array of single Python objects, with which NumPy does not compute. It usually "
            "comes of rows of different lengths or of a `None`: see what you put into it.",
        )
    if answer.values is None:
        if "list" in answer.returned:
            return text(
                es="Una lista de filas de distinto largo no es un arreglo: rellena las cortas.",
                en="A list of rows of different lengths is no array: fill the short ones up.",
            )
        return ""
    if len(answer.values) < len(outputs) and len(answer.values) == 1:
        return text(
            es=f"Devuelves un solo resultado, y se piden {len(outputs)}: termina con `return {names}`.",
            en=f"You return a single result, and {len(outputs)} are asked for: end with `return {names}`.",
        )
    if len(answer.values) != len(outputs):
        return text(
            es=f"Devuelves {len(answer.values)} resultados, y se piden {len(outputs)}: termina con "
            f"`return {names}`.",
            en=f"You return {len(answer.values)} results, and {len(outputs)} are asked for: end with "
            f"`return {names}`.",
        )
    return ""
