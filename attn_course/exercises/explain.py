"""Say in words and numbers what is wrong with an answer, in the language in use."""

import inspect
import linecache
import re
import textwrap
import traceback

import numpy as np

from attn_course.exercises.compare import close, said, same_kind
from attn_course.exercises.errors import meaning
from attn_course.exercises.shapes import wrong_number
from attn_course.language import text

LARGEST_SHOWN = 24  # numbers; of a longer array only the shape is shown
DECIMALS = (4, 6, 8, 12, 16)  # more decimals where fewer would print two different numbers alike
LARGE_INPUT = 20  # ordinary inputs stay far below


def problem(record, attempt, case, answer, expected, others=()):
    """Return a sentence: what is wrong with the answer to one input.

    Parameters
    ----------
    record : Record
    attempt : callable
        Only asked for the line of code that raised.
    case : dict of str to ndarray
        The input.
    answer, expected : Answer
        What came and what the oracle gives.
    others : sequence of tuple of Answer
        The same for the other inputs that fail: what is said of totals must hold there too.
    """
    if answer.error:
        return raised(attempt, answer.error)
    if answer.values is None or len(answer.values) != len(expected.values):
        names = ", ".join(record.outputs)
        several = len(record.outputs) > 1
        sentence = text(
            es=f"Tu función devuelve `{answer.returned}`; debe devolver "
            + (f"la tupla `({names})`." if several else f"un arreglo, `{names}`."),
            en=f"Your function returns `{answer.returned}`; it should return "
            + (f"the tuple `({names})`." if several else f"an array, `{names}`."),
        )
        return _with(sentence, wrong_number(answer, expected, record.outputs))
    triples = list(zip(record.outputs, answer.values, expected.values, strict=True))
    comparable = [(a, e) for a, e in others if a.values and len(a.values) == len(e.values)]
    for k, (name, got, wanted) in enumerate(triples):
        if got.shape != wanted.shape:
            return text(
                es=f"`{name}` tiene forma `{got.shape}`; debe ser `{wanted.shape}`.",
                en=f"`{name}` has shape `{got.shape}`; it should be `{wanted.shape}`.",
            )
        # A penalty of 1 in place of 1.0 is right: something else is wrong.
        differs = got.dtype.kind != wanted.dtype.kind and not close(got, wanted).all()
        if differs or not same_kind(got, wanted):
            elsewhere = [(a.values[k], e.values[k]) for a, e in comparable]
            alike = [(g, w) for g, w in elsewhere if g.shape == w.shape]
            return _other_kind(name, [(got, wanted), *alike])
    for name, got, wanted in reversed(triples):
        if np.isnan(got).any():
            return _not_a_number(name, got, wanted, case)
    if sentence := wrong_total(record, case, answer, expected, others):
        return sentence
    wrong = [f"`{name}`" for name, got, wanted in triples if not close(got, wanted).all()]
    *others, last = wrong
    first = ", ".join(others)
    return text(
        es=f"Los valores de {first + ' y ' if others else ''}{last} no son los esperados.",
        en=f"The values of {first + ' and ' if others else ''}{last} are not the expected ones.",
    )


def wrong_total(record, case, answer, expected, others):
    """Return a sentence if, on each failing input, shares are right except for their total, or an
    empty text.

    Parameters
    ----------
    record, case, answer, expected, others
        As for `problem`.
    """
    comparable = [
        (a.values, e.values)
        for a, e in others
        if a.values and len(a.values) == len(e.values) and not a.broken
    ]
    columns = zip(*(e.values for e in record.expected), strict=True)
    pairs = zip(record.outputs, answer.values or (), expected.values, columns, strict=False)
    for k, (name, got, wanted, column) in enumerate(pairs):
        if (
            not all(map(are_shares, column))
            or got.shape != wanted.shape
            or close(got, wanted).all()
        ):
            continue
        is_right_elsewhere = all(_in_proportion(g[k], w[k]) for g, w in comparable)
        if is_right_elsewhere and (sentence := _wrong_total(name, got, wanted, case)):
            return sentence
    return ""


def _with(sentence, explained):
    return f"{sentence} {explained}" if explained else sentence


def _other_kind(name, pairs):
    """Return a sentence on numbers of a wrong kind; their conversion depends on their meaning."""
    (got, wanted), *_ = pairs
    sentence = text(
        es=f"`{name}` tiene dtype `{got.dtype}`; debe ser `{wanted.dtype}`.",
        en=f"`{name}` has dtype `{got.dtype}`; it should be `{wanted.dtype}`.",
    )
    if wanted.dtype.kind == "b":
        return _with(sentence, _no_truth_values(name, pairs))
    if got.dtype.kind == "b":
        return sentence + text(
            es=" Una comparación dice si algo se cumple, y aquí se pide un número.",
            en=" A comparison says whether something holds, and here a number is asked for.",
        )
    if wanted.dtype.kind == "f":
        return sentence + text(
            es=" Un arreglo de enteros pierde los decimales de lo que escribes en él, y una división `//` "
            "también los pierde.",
            en=" An array of integers loses the decimals of what you write into it, and a division `//` "
            "loses them too.",
        )
    if wanted.dtype.kind in "iu" and all((g == np.trunc(g)).all() for g, _ in pairs):
        return sentence + text(
            es=" Son cuentas o posiciones, y un arreglo de números reales no sirve de índice: "
            "conviértelo con `.astype(int)`.",
            en=" They are counts or positions, and an array of real numbers does not serve as an "
            "index: convert it with `.astype(int)`.",
        )
    if wanted.dtype.kind in "iu":
        return sentence + text(
            es=" Se piden cuentas o posiciones, que son números enteros, y los tuyos tienen decimales.",
            en=" Counts or positions are asked for, which are whole numbers, and yours have decimals.",
        )
    return sentence


def _no_truth_values(name, pairs):
    """Return what numbers in place of truth values mean, and how to convert them.

    Converting every number but 0 to True would invert many masks: additive ones, and those in
    which 1 marks what is forbidden.
    """
    got = np.concatenate([g.ravel() for g, _ in pairs])
    wanted = np.concatenate([w.ravel() for _, w in pairs])
    yes, no = (np.unique(got[wanted == truth]) for truth in (True, False))
    additive = np.isin(got, (0, got.min())).all() and got.min() < -100  # False with NaN
    truthy = (got[wanted] != 0).all() and (got[~wanted] == 0).all()
    if truthy and np.isin(got, (0, 1)).all():
        return text(
            es="Con 0 y 1 en lugar de False y True, como índice toma las filas 0 y 1, y "
            "`~` da −1 y −2: devuelve la comparación misma, o conviértelo con `.astype(bool)`.",
            en="With 0 and 1 in place of False and True, it picks rows 0 and 1 when used as an "
            "index, and `~` gives −1 and −2: return the comparison itself, or convert it with "
            "`.astype(bool)`.",
        )
    if not truthy and len(yes) == len(no) == 1 and yes != no and not np.isnan(yes[0]):
        kind = additive and text(
            es="Es una máscara de las que se suman a los puntajes. ",
            en="It is a mask of the kind that is added to the scores. ",
        )
        return (kind or "") + text(
            es=f"Das {_number(yes[0])} donde se espera True y {_number(no[0])} donde se espera False; "
            "`.astype(bool)` no los distinguiría así, porque toma por True todo lo que no es 0. "
            f"Devuelve la comparación, como `{name} == {_number(yes[0])}`.",
            en=f"You give {_number(yes[0])} where True is expected and {_number(no[0])} where False is; "
            "`.astype(bool)` would not tell them apart that way, since it takes all that is not 0 for "
            f"True. Return the comparison, as in `{name} == {_number(yes[0])}`.",
        )
    if additive:
        return text(
            es="Es una máscara de las que se suman a los puntajes, con números muy negativos en lo "
            "prohibido. Se piden valores de verdad: True donde se puede atender y False donde no.",
            en="It is a mask of the kind that is added to the scores, with very negative numbers at what "
            "is forbidden. Truth values are asked for: True where one may attend, and False elsewhere.",
        )
    return text(
        es="Se piden valores de verdad, y das números: devuelve la comparación de la que salen.",
        en="Truth values are asked for, and you give numbers: return the comparison that they come from.",
    )


def _number(number):
    """Return a number as it is written in NumPy code."""
    if np.isinf(number):
        return "np.inf" if number > 0 else "-np.inf"
    return f"{float(number):g}"


def are_shares(array):
    """Return whether each row of an array holds shares of a total of 1, or of 0."""
    total = array.sum(axis=-1) if array.ndim else array
    whole = np.isclose(total, 1) | (total == 0)
    return array.dtype.kind == "f" and array.ndim > 0 and (array >= 0).all() and whole.all()


def falls_short(got, wanted):
    """Return whether all the rows of shares sum to less than 1, by more than rounding does.

    A number of single precision may stand in an array of double precision.
    """
    if got.dtype != np.float64 or not are_shares(wanted) or (got == got.astype(np.float32)).all():
        return False
    total = got.sum(axis=-1)[wanted.any(axis=-1)]
    return total.size > 0 and bool((total < 1 - 1e-13).all())


def _in_proportion(got, wanted):
    """Return whether every row is a multiple of the right one."""
    if got.shape != wanted.shape or not np.isfinite(got).all():
        return False
    return close(got, got.sum(axis=-1, keepdims=True) * wanted).all()


def _wrong_total(name, got, wanted, case):
    """Return a sentence if every row has the right proportions and some a wrong total."""
    if not _in_proportion(got, wanted):
        return ""
    totals = got.sum(axis=-1, keepdims=True)
    row = tuple(int(i) for i in np.argwhere(~close(totals, wanted.sum(-1, keepdims=True)))[0][:-1])
    place = f"{name}[{', '.join(map(str, row))}]" if row else name
    if not got[row].any() and not has_large_numbers(case):
        return text(
            es=f"`{place}` es todo ceros, y debe sumar 1. O bien tu bucle no llega a esa fila, quizá por un "
            "`return` dentro de él, o bien algo como `np.nan_to_num` convirtió en 0 el NaN de una división.",
            en=f"`{place}` is all zeros, and should sum to 1. Either your loop does not reach that row, "
            "perhaps because of a `return` inside it, or something like `np.nan_to_num` turned the NaN of a "
            "division into 0.",
        )
    if not got[row].any():
        return text(
            es=f"`{place}` es todo ceros, y debe sumar 1. Quizá la exponencial se desbordó o se "
            "redondeó a 0, y algo como `np.nan_to_num` convirtió en 0 el NaN que lo delataba: "
            "busca el error antes, no lo tapes.",
            en=f"`{place}` is all zeros, and should sum to 1. Perhaps the exponential overflowed "
            "or rounded to 0, and something like `np.nan_to_num` turned the NaN that gave it away "
            "into 0: look for the error before that, instead of covering it.",
        )
    total = f"{got[row].sum():.4f}"
    return text(
        es=f"Cada fila de `{name}` guarda las proporciones correctas, pero no el total: `{place}` "
        f"suma {total} y debe sumar 1. Divide cada fila entre su propia suma, con "
        "`axis=-1, keepdims=True`.",
        en=f"Each row of `{name}` has the right proportions, but not the right total: `{place}` "
        f"sums to {total} and should sum to 1. Divide each row by its own sum, with "
        "`axis=-1, keepdims=True`.",
    )


def raised(attempt, error, explained=True):
    """Return what the attempt raised, where, and what that means if it is a common exception."""
    message = re.sub(r"0x[0-9a-fA-F]{6,}", "0x...", said(error))
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
    return _with(sentence, meaning(said(error)) if explained else "")


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
    if not wanted[row].any() and not any(a.dtype.kind == "b" for a in case.values()):
        cause = text(
            es=": ahí se espera 0, y 0 entre 0 no es un número, ni ∞ menos ∞",
            en=": 0 is expected there, and 0 over 0 is not a number, nor is ∞ minus ∞",
        )
    elif not wanted[row].any():
        cause = text(
            es=": nada está permitido en esa fila; ahí los pesos y la salida son 0",
            en=": nothing is allowed in that row; there the weights and the output are 0",
        )
    elif has_large_numbers(case):
        cause = text(
            es=": con números grandes `exp` se desborda a infinito o redondea todo a 0",
            en=": with large numbers `exp` overflows to infinity or rounds everything to 0",
        )
    else:
        cause = text(
            es=": lo dan 0 entre 0, ∞ menos ∞, 0 por ∞, la raíz o el logaritmo de un número negativo y la "
            "media de un arreglo vacío, así que mira qué queda vacío, negativo o a 0 en esta entrada",
            en=": it comes of 0 over 0, ∞ minus ∞, 0 times ∞, the root or logarithm of a negative number "
            "and the mean of an empty array, so look for what is empty, negative or 0 on this input",
        )
    return text(es=f"Hay NaN en `{place}`{cause}.", en=f"There is NaN in `{place}`{cause}.")


def has_large_numbers(case):
    """Return whether an input has numbers far above those of ordinary inputs."""
    floats = (a[np.isfinite(a)] for a in case.values() if a.dtype.kind == "f")
    return max((np.abs(a).max(initial=0) for a in floats), default=0) > LARGE_INPUT


def shows(record, answer, expected):
    """Return whether the error shows in the decimals that are printed."""
    if not _fits(answer, expected):
        return True
    _, got, wanted = _shown(record, answer, expected)
    return _printed(got) != _printed(wanted)


def _fits(answer, expected):
    return [v.shape for v in answer.values or ()] == [v.shape for v in expected.values]


def _shown(record, answer, expected):
    """Return the name of a wrong output, its value and the expected one, or one place of both."""
    triples = zip(record.outputs, answer.values, expected.values, strict=True)
    # One output is enough, the last: a wrong output that is a mean follows from its weights.
    name, got, wanted = [triple for triple in triples if not _right(*triple[1:])][-1]
    if wanted.size > LARGEST_SHOWN:
        wrong = ~close(got, wanted) | (not same_kind(got, wanted))
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        name, got, wanted = f"{name}[{', '.join(map(str, place))}]", got[place], wanted[place]
    return name, got, wanted


def compared(record, case, answer, expected):
    """Return the input, and under it the expected and the actual answer.

    Arguments as for `problem`. If the answer cannot be compared with the expected arrays, only the
    shapes of the input are shown.
    """
    if not _fits(answer, expected):
        return "\n".join(_title(name, array) for name, array in case.items())
    lines = [_show(name, array) for name, array in case.items()]
    name, got, wanted = _shown(record, answer, expected)
    alike = (d for d in DECIMALS if _printed(got, d) != _printed(wanted, d))
    decimals = next(alike, DECIMALS[0])
    lines.append(_show(text(es=f"se espera {name}", en=f"expected {name}"), wanted, decimals))
    given = text(es=f"tu función da {name}", en=f"your function gives {name}")
    lines.append(_show(given, got, decimals))
    return "\n".join(lines)


def _right(got, wanted):
    return close(got, wanted).all() and same_kind(got, wanted)


def _title(name, array, decimals=DECIMALS[0]):
    if not array.shape:
        return f"{name}: {_printed(array, decimals)}"
    return f"{name}, {text(es='forma', en='shape')} {array.shape}"


def _printed(array, decimals=DECIMALS[0]):
    with np.printoptions(
        precision=decimals, floatmode="fixed", suppress=True, sign="-", linewidth=72, threshold=1000
    ):
        return np.array2string(np.asarray(array)).replace("\n\n", "\n")


def _show(name, array, decimals=DECIMALS[0]):
    """Return an array printed under its name and shape, or name and shape alone if it is long."""
    if array.size > LARGEST_SHOWN or not np.shape(array):
        return _title(name, np.asarray(array), decimals)
    return f"{_title(name, array)}:\n{textwrap.indent(_printed(array, decimals), '  ')}"
