"""Say in words and numbers what is wrong with an answer, in the language in use."""

import inspect
import linecache
import re
import textwrap
import traceback

import numpy as np

from attn.exercises.compare import close
from attn.language import text

LARGEST_SHOWN = 24  # numbers; of a longer array only the shape is shown
LARGE_INPUT = 20  # ordinary inputs stay far below


def problem(exercise, attempt, case, answer, expected):
    """Return a sentence: what is wrong with the answer to one input.

    Parameters
    ----------
    exercise : Exercise
    attempt : callable
        Only asked for the line of code that raised.
    case : dict of str to ndarray
        The input.
    answer, expected : Answer
        What came and what the oracle gives.
    """
    if answer.error:
        return raised(attempt, answer.error)
    if answer.values is None or len(answer.values) != len(expected.values):
        names = ", ".join(exercise.outputs)
        several = len(exercise.outputs) > 1
        return text(
            es=f"Tu función devuelve `{answer.returned}`; debe devolver "
            + (f"la tupla `({names})`." if several else f"un arreglo, `{names}`."),
            en=f"Your function returns `{answer.returned}`; it should return "
            + (f"the tuple `({names})`." if several else f"an array, `{names}`."),
        )
    triples = list(zip(exercise.outputs, answer.values, expected.values, strict=True))
    for name, got, wanted in triples:
        if got.shape != wanted.shape:
            return text(
                es=f"`{name}` tiene forma `{got.shape}`; debe ser `{wanted.shape}`.",
                en=f"`{name}` has shape `{got.shape}`; it should be `{wanted.shape}`.",
            )
        # A penalty of 1 in place of 1.0 is right: something else is wrong.
        if got.dtype.kind != wanted.dtype.kind and not close(got, wanted).all():
            return text(
                es=f"`{name}` tiene dtype `{got.dtype}`; debe ser `{wanted.dtype}`.",
                en=f"`{name}` has dtype `{got.dtype}`; it should be `{wanted.dtype}`.",
            )
    for name, got, wanted in reversed(triples):
        if np.isnan(got).any():
            return _not_a_number(name, got, wanted, case)
    wrong = [f"`{name}`" for name, got, wanted in triples if not close(got, wanted).all()]
    *others, last = wrong
    first = ", ".join(others)
    return text(
        es=f"Los valores de {first + ' y ' if others else ''}{last} no son los esperados.",
        en=f"The values of {first + ' and ' if others else ''}{last} are not the expected ones.",
    )


def raised(attempt, error):
    """Return a sentence: what the attempt raised and where; a second one if a name is missing."""
    message = re.sub(r"0x[0-9a-fA-F]{6,}", "0x...", str(error))
    message = textwrap.shorten(message, 300, placeholder=" ...")
    exception = f"{type(error).__name__}: {message}" if message else type(error).__name__
    line = _line(attempt, error)
    sentence = text(
        es=f"Tu función lanza `{exception}`" + (f" en `{line}`." if line else "."),
        en=f"Your function raises `{exception}`" + (f" at `{line}`." if line else "."),
    )
    if type(error) is NameError and error.name:
        sentence += text(
            es=f" `{error.name}` todavía no está definido en el cuaderno: ejecuta la celda que "
            "lo define o revisa cómo lo escribiste.",
            en=f" `{error.name}` is not defined in the notebook yet: run the cell that defines "
            "it, or check its spelling.",
        )
    return sentence


def _line(attempt, error):
    """Return the last line of the learner's own code that the exception passed through."""
    names = getattr(inspect.unwrap(attempt), "__globals__", None)
    line = ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_globals is names:
            line = linecache.getline(frame.f_code.co_filename, number, frame.f_globals).strip()
    return line


def _not_a_number(name, got, wanted, case):
    rows = np.isnan(got).any(axis=-1)
    row = tuple(int(i) for i in np.argwhere(rows)[0])
    place = f"{name}[{', '.join(map(str, row))}]" if row else name
    floats = (a for a in case.values() if a.dtype.kind == "f")
    largest = max((np.abs(a[np.isfinite(a)]).max() for a in floats), default=0)
    if not wanted[row].any() and not any(a.dtype.kind == "b" for a in case.values()):
        cause = text(
            es=": ahí se espera 0, y 0 entre 0 no es un número",
            en=": 0 is expected there, and 0 over 0 is not a number",
        )
    elif not wanted[row].any():
        cause = text(
            es=": nada está permitido en esa fila; ahí los pesos y la salida son 0",
            en=": nothing is allowed in that row; there the weights and the output are 0",
        )
    elif largest > LARGE_INPUT:
        cause = text(
            es=": con números grandes `exp` se desborda a infinito o redondea todo a 0",
            en=": with large numbers `exp` overflows to infinity or rounds everything to 0",
        )
    else:
        cause = ""
    return text(es=f"Hay NaN en `{place}`{cause}.", en=f"There is NaN in `{place}`{cause}.")


def compared(exercise, case, answer, expected):
    """Return the input, and under it what was expected and what came.

    Arguments as for `problem`. Where the answer cannot be set beside the expected arrays
    only the shapes of the input are given.
    """
    shapes = [array.shape for array in answer.values or ()]
    if shapes != [array.shape for array in expected.values]:
        return "\n".join(_title(name, array) for name, array in case.items())
    lines = [_show(name, array) for name, array in case.items()]
    triples = zip(exercise.outputs, answer.values, expected.values, strict=True)
    # One output is enough, the last: a wrong output that is a mean follows from its weights.
    name, got, wanted = [triple for triple in triples if not close(*triple[1:]).all()][-1]
    if wanted.size > LARGEST_SHOWN:
        place = tuple(int(i) for i in np.argwhere(~close(got, wanted))[0])
        name, got, wanted = f"{name}[{', '.join(map(str, place))}]", got[place], wanted[place]
    lines.append(_show(text(es=f"se espera {name}", en=f"expected {name}"), wanted))
    lines.append(_show(text(es=f"tu función da {name}", en=f"your function gives {name}"), got))
    return "\n".join(lines)


def _title(name, array):
    return f"{name}, {text(es='forma', en='shape')} {array.shape}" if array.shape else name


def _show(name, array):
    """Return an array printed under its name and shape, or these alone if it is long."""
    if array.size > LARGEST_SHOWN:
        return _title(name, array)
    with np.printoptions(
        precision=4, floatmode="fixed", suppress=True, sign="-", linewidth=72, threshold=1000
    ):
        numbers = np.array2string(np.asarray(array)).replace("\n\n", "\n")
    return f"{_title(name, array)}:\n{textwrap.indent(numbers, '  ')}"
