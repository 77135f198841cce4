"""The right function on altered inputs, to explain attempts that no known mistake explains.

An attempt may answer exactly like the oracle on other inputs: with two arguments exchanged, with an
inverted mask, with one row less. Or its answer may not depend on an argument. Both are facts, found
by running functions; neither looks at code.
"""

import itertools

import numpy as np

from attn_course.exercises.compare import run, same
from attn_course.language import text

ENOUGH = 4  # numbers that must agree, over all the inputs that fail


def altered(record, attempt, answers, failing):
    """Return a sentence on the altered inputs for which the answers would be right, or an empty text.

    Parameters
    ----------
    record : Record
        Without an oracle, as read from a file, there is nothing to run.
    attempt : callable
    answers : list of Answer
    failing : list of int
        Where the answers are wrong.

    Returns
    -------
    str
        In the language in use.
    """
    finite = _telling(record, answers, failing)
    if not finite:
        return ""
    return _added(record, answers, failing) or _as_on_others(record, attempt, answers, finite)


def unused(record, attempt, answers, failing):
    """Return a sentence on an argument that does not change an attempt's answer, or an empty text.

    Parameters
    ----------
    record : Record
    attempt : callable
    answers : list of Answer
    failing : list of int
        Where the answers are wrong.

    Returns
    -------
    str
        In the language in use.
    """
    finite = _telling(record, answers, failing)
    for name in record.cases[finite[0]] if finite else ():
        if all(_is_unused(record, attempt, answers[i], i, name) for i in finite):
            return text(
                es=f"Tu resultado es el mismo contenga lo que contenga `{name}`: o no lo usas, o lo que "
                "haces con él no cambia nada.",
                en=f"Your result is the same whatever `{name}` holds: either you do not use it, or what "
                "you do with it changes nothing.",
            )
    return ""


def _telling(record, answers, failing):
    """Return the inputs that give wrong numbers, or none if too few to distinguish functions."""
    finite = [
        i for i in failing if not answers[i].broken and not same(answers[i], record.expected[i])
    ]
    numbers = [v.ravel() for i in finite for v in answers[i].values]
    if not record.oracle or not numbers or np.concatenate(numbers).size < ENOUGH:
        return []
    if np.ptp(np.concatenate(numbers).astype(float)) == 0:
        return []  # many functions return a constant
    return finite


def _as_on_others(record, attempt, answers, finite):
    # The largest input distinguishes most functions, and few alterations are left for the others.
    order = sorted(range(len(answers)), key=lambda i: (i not in finite, -i))
    for alter, sentence in _alterations(record.cases[finite[-1]]):
        if all(_agrees(record, i, answers[i], alter) for i in order):
            if alter.undone and not _mended(record, attempt, finite, alter):
                continue
            return text(**sentence)
    return ""


def _agrees(record, i, answer, alter):
    if answer.broken and not answer.error:
        return True  # NaN and infinity are not compared here
    case = alter(record.cases[i])
    return case is not None and same(answer, run(record.oracle, case, record))


def _mended(record, attempt, finite, alter):
    """Return whether the attempt is right on altered inputs, so that it alters them itself."""
    return all(
        same(run(attempt, alter(record.cases[i]), record), record.expected[i]) for i in finite
    )


def _alterations(case):
    """Yield functions that alter an input, or return None if they cannot, with their meanings."""
    kinds = {name: (array.dtype.kind, array.ndim > 0) for name, array in case.items()}
    pairs = [pair for pair in itertools.combinations(case, 2) if kinds[pair[0]] == kinds[pair[1]]]
    for a, b in pairs:
        yield _set({a: b, b: a}), _filled(EXCHANGED, a, b)
    for a, b in itertools.chain(pairs, ((b, a) for a, b in pairs)):
        yield _set({b: a}), _filled(TWICE, a, b)
    for name in case:
        for fits, change, sentence in CHANGES:
            yield _changed(name, fits, change), _filled(sentence, name)


def _filled(sentence, *names):
    return {language: said.format(*names) for language, said in sentence.items()}


def _set(others):
    def alter(case):
        if not all(a in case for pair in others.items() for a in pair):
            return None
        return case | {a: case[b] for a, b in others.items()}

    alter.undone = len(others) > 1  # when the alteration is applied twice
    return alter


def _changed(name, fits, change):
    def alter(case):
        if name not in case:
            return case
        if not fits(case[name]):
            return None
        with np.errstate(all="ignore"):
            changed = np.asarray(change(case[name]))
        return case | {name: changed}

    alter.undone = False
    return alter


def _is(kinds, axes=None, square=False):
    def fits(array):
        return (
            array.dtype.kind in kinds
            and (axes is None or (array.ndim >= axes if axes else not array.ndim))
            and (not square or array.shape[-1] == array.shape[-2])
        )

    return fits


def _unit(array):
    return array / np.linalg.norm(array, axis=-1, keepdims=True)


def _softmaxed(array):
    powers = np.exp(array - array.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _standard(array):
    centred = array - array.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)


EXCHANGED = {
    "es": "Das lo que sale si se intercambian `{0}` y `{1}`: mira dónde usas cada cosa.",
    "en": "You give what comes of exchanging `{0}` and `{1}`: look at where you use each of them.",
}
TWICE = {
    "es": "Das lo que sale si `{0}` ocupa también el lugar de `{1}`: mira dónde te falta usar `{1}`.",
    "en": "You give what comes of putting `{0}` in the place of `{1}` as well: look at where `{1}` is "
    "still to be used.",
}
CHANGES = (
    (
        _is("b"),
        np.logical_not,
        {
            "es": "Das lo que sale si en `{0}` se toma True por False, y al revés.",
            "en": "You give what comes of taking True for False in `{0}`, and the other way round.",
        },
    ),
    (
        _is("b"),
        np.ones_like,
        {
            "es": "Das lo que sale si todo es True en `{0}`: su False no cambia nada en tu función.",
            "en": "You give what comes of `{0}` being True everywhere: its False changes nothing in your "
            "function.",
        },
    ),
    (
        _is("fb", 2, square=True),
        lambda a: a.mT,
        {
            "es": "Das lo que sale si `{0}` se traspone: mira en qué orden tomas sus filas y columnas.",
            "en": "You give what comes of transposing `{0}`: look at which of its axes you take for rows and "
            "which for columns.",
        },
    ),
    (
        _is("f", 1),
        np.zeros_like,
        {
            "es": "Das lo que sale si `{0}` es todo ceros: no cuenta en tu resultado.",
            "en": "You give what comes of `{0}` being all zeros: it does not count in your result.",
        },
    ),
    (
        _is("f"),
        np.ones_like,
        {
            "es": "Das lo que sale si `{0}` vale 1: no cuenta en tu resultado.",
            "en": "You give what comes of `{0}` being 1: it does not count in your result.",
        },
    ),
    (
        _is("f", 2, square=True),
        lambda a: np.broadcast_to(np.eye(a.shape[-1]), a.shape),
        {
            "es": "Das lo que sale si `{0}` es la identidad: te falta multiplicar por esa matriz.",
            "en": "You give what comes of `{0}` being the identity: you have yet to multiply by that matrix.",
        },
    ),
    (
        _is("f"),
        np.negative,
        {
            "es": "Das lo que sale si a `{0}` se le cambia el signo: falta o sobra un signo menos.",
            "en": "You give what comes of changing the sign of `{0}`: a minus is missing or too many.",
        },
    ),
    *(
        (
            _is("iu"),
            lambda a, by=by: a + by,
            {
                "es": f"Das lo que sale si a `{{0}}` se le {word_es} 1: mira desde dónde cuentas, y si "
                "incluyes el final.",
                "en": f"You give what comes of {word_en} `{{0}}`: look at where you begin to count, and "
                "whether the end is included.",
            },
        )
        for by, word_es, word_en in ((1, "suma", "adding 1 to"), (-1, "resta", "taking 1 from"))
    ),
    *(
        (
            _is("f", axes),
            change,
            {
                "es": f"Das lo que sale si en lugar de `{{0}}` se usa {said_es}.",
                "en": f"You give what comes of using {said_en} in place of `{{0}}`.",
            },
        )
        for axes, change, said_es, said_en in (
            (None, lambda a: 1 / a, "su inverso", "its inverse"),
            (None, lambda a: a**2, "su cuadrado", "its square"),
            (None, np.sqrt, "su raíz", "its root"),
            (0, np.exp, "su exponencial", "its exponential"),
            (0, lambda a: 2 * a, "su doble", "twice its value"),
            (0, lambda a: a / 2, "su mitad", "half of it"),
            (0, lambda a: 1 - a, "1 menos su valor", "1 minus its value"),
            (0, np.zeros_like, "0", "0"),
        )
    ),
    (
        _is("f", 1),
        _unit,
        {
            "es": "Das lo que sale si cada fila de `{0}` se divide antes entre su longitud, y eso no se pide.",
            "en": "You give what comes of dividing each row of `{0}` by its length first, which is not asked "
            "for.",
        },
    ),
    (
        _is("f", 1),
        _softmaxed,
        {
            "es": "Das lo que sale si `{0}` pasa antes por una softmax, y eso no se pide.",
            "en": "You give what comes of passing `{0}` through a softmax first, which is not asked for.",
        },
    ),
    (
        _is("f", 1),
        _standard,
        {
            "es": "Das lo que sale si `{0}` se normaliza antes a media 0 y varianza 1, y eso no se pide.",
            "en": "You give what comes of normalising `{0}` to mean 0 and variance 1 first, which is not "
            "asked for.",
        },
    ),
    (
        _is("f", 1),
        np.abs,
        {
            "es": "Das lo que sale si los números de `{0}` pierden su signo: los negativos también cuentan.",
            "en": "You give what comes of taking the sign off `{0}`: negative numbers count too.",
        },
    ),
    (
        _is("fib", 1),
        lambda a: np.broadcast_to(a[:1], a.shape),
        {
            "es": "Das lo que sale si `{0}[0]` se usa en todas partes: te falta recorrer lo demás.",
            "en": "You give what comes of using `{0}[0]` everywhere: the rest has still to be gone through.",
        },
    ),
    *(
        (
            _is("fib", axes),
            lambda a, axis=-axes: np.flip(a, axis),
            {
                "es": f"Das lo que sale si `{{0}}` se recorre al revés a lo largo del eje {-axes}.",
                "en": f"You give what comes of going through axis {-axes} of `{{0}}` backwards.",
            },
        )
        for axes in (1, 2)
    ),
    *(
        (
            _is("fib", axes),
            lambda a, by=by, axis=-axes: np.roll(a, by, axis),
            {
                "es": f"Das lo que sale si `{{0}}` se desplaza un lugar hacia {word_es} a lo largo del eje "
                f"{-axes}: mira qué índices emparejas.",
                "en": f"You give what comes of moving `{{0}}` one place {word_en} along axis {-axes}: look "
                "at which indices you pair.",
            },
        )
        for axes in (1, 2)
        for by, word_es, word_en in ((1, "delante", "on"), (-1, "atrás", "back"))
    ),
)
RETURNED = {
    "es": "Como `{0}` devuelves `{1}` tal como llega, sin cambiar nada.",
    "en": "As `{0}` you return `{1}` just as it comes, with nothing changed.",
}
COMBINED = (
    (
        np.add,
        {
            "es": "Los números de `{0}` son los correctos más los de `{1}`: sobra esa suma.",
            "en": "The numbers of `{0}` are the right ones plus those of `{1}`: that sum is too many.",
        },
    ),
    (
        np.subtract,
        {
            "es": "Los números de `{0}` son los correctos menos los de `{1}`: sobra esa resta, o falta una "
            "suma.",
            "en": "The numbers of `{0}` are the right ones minus those of `{1}`: that subtraction is too "
            "many, or a sum is missing.",
        },
    ),
    (
        np.multiply,
        {
            "es": "Los números de `{0}` son los correctos por los de `{1}`: sobra ese producto.",
            "en": "The numbers of `{0}` are the right ones times those of `{1}`: that product is too many.",
        },
    ),
    (lambda wanted, other: other, RETURNED),
)


def _added(record, answers, failing):
    """Return a sentence if one output is the right one plus an argument."""
    for k, output in enumerate(record.outputs):
        for name in record.cases[failing[0]]:
            for combine, sentence in COMBINED:
                if all(
                    _combined(record.cases[i], answers[i], record.expected[i], k, name, combine)
                    for i in failing
                ):
                    return text(**_filled(sentence, output, name))
    return ""


def _combined(case, answer, right, k, name, combine):
    values = answer.values
    if values is None or len(values) != len(right.values) or name not in case:
        return False
    argument, wanted = case[name], right.values[k]
    if argument.shape != wanted.shape or not argument.ndim:
        return False
    if "f" != argument.dtype.kind or "f" != wanted.dtype.kind:
        return False
    with np.errstate(all="ignore"):
        other = (*right.values[:k], combine(wanted, argument), *right.values[k + 1 :])
    return bool(np.abs(argument).max(initial=0) > 1e-3) and same(answer, type(right)(other, ""))


def _is_unused(record, attempt, answer, i, name):
    case = record.cases[i]
    if name not in case or case[name].dtype.kind not in "fbiu":
        return False
    array = case[name]
    rng = np.random.default_rng(0)
    others = {
        "f": lambda: (rng.uniform(0.1, 0.9, array.shape), rng.uniform(-2, 2, array.shape)),
        "b": lambda: (~array,),
    }.get(array.dtype.kind, lambda: (array + 1, array + 2, np.maximum(array - 1, 0)))()
    matters = False
    for other in others:
        changed = case | {name: np.asarray(other)}
        right = run(record.oracle, changed, record)
        matters |= not right.broken and not same(right, record.expected[i])
        if not right.error and not same(answer, run(attempt, changed, record)):
            return False
    return matters
