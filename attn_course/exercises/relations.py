"""How the wrong numbers of an attempt relate to the right ones: twice as large, transposed, rounded.

Nothing is guessed here. A relation is reported only if it holds for every number of every wrong
output on every failing input, and if there are enough of them for chance to be out of the question.
"""

import itertools

import numpy as np

from attn_course.exercises.compare import close, same
from attn_course.exercises.diagnose import wrong_on
from attn_course.exercises.explain import are_shares
from attn_course.exercises.shapes import wrong_only_in_shape
from attn_course.language import text

ENOUGH = 4  # numbers that must follow a relation, over all the inputs


def relation(record, answers, failing):
    """Return a sentence on how wrong numbers follow from the right ones, or an empty text.

    Parameters
    ----------
    record : Record
    answers : list of Answer
    failing : list of int
        Where the answers are wrong.

    Returns
    -------
    str
        In the language in use.
    """
    pairs = _pairs(record, answers, failing)
    if not pairs or sum(got.size for _, got, _ in pairs) < ENOUGH:
        return ""
    names = list(dict.fromkeys(name for name, _, _ in pairs))
    which = text(es=" y ", en=" and ").join(f"`{name}`" for name in names)
    both = [(got, wanted) for _, got, wanted in pairs]
    if sentence := _constant(which, both):
        return sentence
    for holds, sentence in RELATIONS:
        if all(_holds(holds, got, wanted) for got, wanted in both):
            return text(**sentence).format(which)
    return (
        _place(which, both)
        or _condition(record, answers, failing)
        or _every_other(which, both)
        or _one_value(which, both)
    )


TWO = {
    "es": "Hay dos errores a la vez. {hint} Lo que le falta después: {left}",
    "en": "There are two mistakes at once. {hint} What is left then: {left}",
}


def upon_a_mistake(record, answers, failing):
    """Return a known mistake's hint and how the wrong numbers follow from the mistake's numbers.

    Parameters
    ----------
    record : Record
    answers : list of Answer
    failing : list of int

    Returns
    -------
    str
        An empty text where they follow from those of none; in the language in use.
    """
    if any(same(answers[i], record.expected[i]) for i in failing):
        return ""  # right numbers of another kind
    for known in record.mistakes:
        for others in known.answers:
            if not {*wrong_on(others, record.expected)} <= {*failing}:
                continue
            if left := _upon(record, answers, others, failing):
                return text(**TWO).format(hint=text(**known.hint), left=left)
    return ""


BATCHED = {
    "es": "{hint} Además, donde `{name}` tiene más ejes falla otra cosa: cuenta los ejes desde el final.",
    "en": "{hint} Besides, where `{name}` has more axes something else goes wrong: count axes from the end.",
}
BESIDES = {
    "es": "{hint} Además hay otro error, que se ve en otras entradas.",
    "en": "{hint} There is another mistake besides, which shows on other inputs.",
}


def mistake_on_fewest_axes(record, answers, failing):
    """Return the hint of a known mistake that explains only the inputs without a batch, or an empty
    text.

    Parameters
    ----------
    record : Record
    answers : list of Answer
    failing : list of int
    """
    for name in record.cases[0]:
        axes = [case[name].ndim if name in case else 0 for case in record.cases]
        few = [i for i in failing if axes[i] == min(axes)]
        if len(few) < 2 or len(few) == len(failing) or any(answers[i].broken for i in few):
            continue
        numbers = np.concatenate([v.ravel() for i in few for v in answers[i].values])
        if np.unique(numbers).size < ENOUGH:
            continue
        for known in record.mistakes:
            for others in known.answers:
                if all(
                    same(answers[i], others[i]) for i in range(len(axes)) if axes[i] == min(axes)
                ):
                    many = [i for i in failing if i not in few]
                    stops = all(_differs_in_shape(answers[i], record.expected[i]) for i in many)
                    said = BATCHED if stops else BESIDES
                    return text(**said).format(hint=text(**known.hint), name=name)
    return ""


def _differs_in_shape(answer, right):
    return [v.shape for v in answer.values or ()] != [v.shape for v in right.values]


def _upon(record, answers, others, failing):
    """Return how answers follow from those of a mistake: by a fixed factor or the like, or but for an axis."""
    columns = []
    for i in failing:
        parts = answers[i].values, others[i].values, record.expected[i].values
        if any(values is None or len(values) != len(record.outputs) for values in parts):
            return ""
        columns.append([*zip(*parts, strict=True)])
    said = []
    for name, column in zip(record.outputs, zip(*columns, strict=True), strict=True):
        if all(_equal(got, other) for got, other, _ in column):
            continue
        pairs = [(got, other) for got, other, _ in column]
        if all(got.shape != other.shape for got, other in pairs):
            said.append(wrong_only_in_shape(pairs))
        elif sum(got.size for got, _ in pairs) < ENOUGH or not _comparable(pairs):
            return ""
        elif _only_scaled(column):
            return ""  # A division by another number is one mistake, not two.
        else:
            which = f"`{name}`"
            holding = (
                text(**sentence).format(which)
                for holds, sentence in TELLING
                if all(_holds(holds, *pair) for pair in pairs)
            )
            said.append(_constant(which, pairs) or next(holding, ""))
    return " ".join(said) if said and all(said) else ""


def _equal(a, b):
    return a.shape == b.shape and close(a, b).all()


def _comparable(pairs):
    return all(
        got.shape == wanted.shape and np.isfinite(got.astype(float)).all() for got, wanted in pairs
    )


def _only_scaled(column):
    """Return whether a mistake gives the right numbers but for a factor in each row, as another divisor does."""
    for _, other, right in column:
        if not (other.shape == right.shape and right.size and right.all()):
            return False
        with np.errstate(all="ignore"):
            ratio = np.abs(other / right)
        if (
            right.size == 1
        ):  # A quotient of counts, and no other number, is whole when it is multiplied.
            times = ratio.item() * np.arange(1, 100)
            if not np.isclose(times, np.round(times), rtol=0, atol=1e-5).any():
                return False
        elif not np.isclose(ratio, ratio[..., :1], rtol=1e-6, atol=0).all():
            return False
    return True


def _pairs(record, answers, failing):
    """Return the wrong and right numbers, by output, or nothing if they cannot be compared."""
    pairs = []
    for i in failing:
        values, right = answers[i].values, record.expected[i].values
        if values is None or len(values) != len(right):
            return []
        for name, got, wanted in zip(record.outputs, values, right, strict=True):
            if got.shape != wanted.shape or not np.isfinite(got.astype(float)).all():
                return []
            if not close(got, wanted).all():
                pairs.append((name, got, wanted))
    return pairs


def _holds(holds, got, wanted):
    with np.errstate(all="ignore"):
        expected = holds(got, wanted)
    return expected is not None and expected.shape == got.shape and close(got, expected).all()


def _constant(which, both):
    """Return a sentence if a single number is added to all the right ones, or multiplies them."""
    if any(wanted.dtype.kind == "b" or not np.isfinite(wanted).all() for _, wanted in both):
        return ""
    if all(are_shares(wanted) for _, wanted in both):
        return ""  # `explain` says more about a wrong total
    if len({float(wanted.flat[i]) for _, wanted in both for i in range(wanted.size)}) < ENOUGH - 1:
        return ""
    got = np.concatenate([g.ravel() for g, _ in both]).astype(float)
    wanted = np.concatenate([w.ravel() for _, w in both]).astype(float)
    factor = got @ wanted / (wanted @ wanted)
    if close(got, factor * wanted).all() and abs(factor) > 1e-3:
        if np.isclose(factor, -1):
            return text(
                es=f"Los números de {which} son los correctos con el signo contrario: falta o sobra "
                "un signo menos, o una resta está al revés.",
                en=f"The numbers of {which} are the right ones with the opposite sign: a minus is "
                "missing or too many, or a subtraction is the wrong way round.",
            )
        return text(
            es=f"Todos los números de {which} son {factor:.4g} veces los correctos: falta o sobra un "
            "factor, que es siempre el mismo.",
            en=f"All the numbers of {which} are {factor:.4g} times the right ones: a factor is missing "
            "or too many, and it is always the same.",
        )
    shift = (got - wanted).mean()
    if close(got, wanted + shift).all():
        return text(
            es=f"A todos los números de {which} les sobra {shift:.4g}: comprueba desde dónde cuentas, y "
            "qué sumas o restas al final."
            if shift > 0
            else f"A todos los números de {which} les falta {-shift:.4g}: comprueba desde dónde "
            "cuentas, y qué sumas o restas al final.",
            en=f"All the numbers of {which} are {abs(shift):.4g} too "
            f"{'large' if shift > 0 else 'small'}: check from where you count, and what you add or "
            "subtract at the end.",
        )
    if all(g.size > 2 and _proportional(g, w) for g, w in both) or _are_multiples(both):
        return text(
            es=f"En cada entrada, los números de {which} son los correctos multiplicados por un mismo "
            "factor, que cambia de una entrada a otra: quizá sumas donde se pide la media, o divides "
            "entre el tamaño de otra cosa.",
            en=f"On each input, the numbers of {which} are the right ones times one factor, which changes "
            "from input to input: perhaps you sum where a mean is asked for, or divide by the size of "
            "something else.",
        )
    return ""


def _are_multiples(both):
    """Return whether each of several single numbers is a whole multiple of the right one, which varies."""
    if len(both) < ENOUGH or not all(g.size == 1 and w.all() for g, w in both):
        return False
    times = np.array([g.item() / w.item() for g, w in both])
    return np.ptp(np.round(times)) > 0 and bool(
        (np.round(times) > 0).all() and close(times, np.round(times)).all()
    )


def _proportional(got, wanted):
    got, wanted = got.ravel().astype(float), wanted.ravel().astype(float)
    square = wanted @ wanted
    factor = got @ wanted / square if square else 0
    return abs(factor) > 1e-3 and np.ptp(wanted) > 1e-3 and close(got, factor * wanted).all()


def _permuted(got, wanted):
    """Return the wrong numbers if they are the right ones in other places."""
    kept = np.sort(got, axis=None), np.sort(wanted, axis=None)
    return got if np.unique(wanted).size > 2 and close(*kept).all() else None


def _real(function):
    """Return a relation that holds for arrays of real numbers alone."""
    return lambda got, wanted: (
        None if "b" in (got.dtype.kind, wanted.dtype.kind) else function(wanted)
    )


def _whole(function):
    return _real(lambda wanted: function(wanted) if wanted.dtype.kind == "f" else None)


def _rounded(digits):
    return lambda got, wanted: np.round(wanted, digits) if wanted.dtype.kind == "f" else None


def _transposed(got, wanted):
    return wanted.mT if wanted.ndim > 1 else None


def _reversed(axis):
    return lambda got, wanted: np.flip(wanted, axis) if wanted.ndim >= -axis else None


RELATIONS = (
    (
        lambda got, wanted: np.zeros(wanted.shape),
        {
            "es": "En {0} todo es 0 o False: o no escribes nada en el arreglo, o tu condición no se cumple "
            "nunca.",
            "en": "In {0} all is 0 or False: either you write nothing into the array, or your condition never "
            "holds.",
        },
    ),
    (
        lambda got, wanted: ~wanted if got.dtype.kind == wanted.dtype.kind == "b" else None,
        {
            "es": "{0} es justo lo contrario: donde das True se espera False, y al revés.",
            "en": "{0} is exactly the opposite: where you give True, False is expected, and the other "
            "way round.",
        },
    ),
    *(
        (
            _whole(without_decimals),
            {
                "es": "Los números de {0} son los correctos sin sus decimales: se pierden en un arreglo de "
                "enteros (`dtype=int`, `zeros_like` de uno de enteros) o en una división `//`.",
                "en": "The numbers of {0} are the right ones without their decimals, which are lost in an "
                "array of integers (`dtype=int`, `zeros_like` of one of integers) or a division `//`.",
            },
        )
        for without_decimals in (np.trunc, np.floor)
    ),
    *(
        (
            _rounded(digits),
            {
                "es": "Los números de {0} son los correctos, redondeados: devuélvelos sin redondear, con todos "
                "sus decimales.",
                "en": "The numbers of {0} are the right ones, rounded: return them whole, with all their "
                "decimals.",
            },
        )
        for digits in (1, 2, 3)
    ),
    (
        _real(np.log),
        {
            "es": "Devuelves el logaritmo de lo que se pide en {0}.",
            "en": "You return the logarithm of what is asked for in {0}.",
        },
    ),
    (
        _real(np.exp),
        {
            "es": "Devuelves la exponencial de lo que se pide en {0}.",
            "en": "You return the exponential of what is asked for in {0}.",
        },
    ),
    (
        _real(np.abs),
        {
            "es": "Los números de {0} son los correctos sin su signo: los negativos también cuentan.",
            "en": "The numbers of {0} are the right ones without their sign: negative ones count too.",
        },
    ),
    (
        _real(np.square),
        {
            "es": "Los números de {0} son los cuadrados de los correctos: falta una raíz, o sobra un cuadrado.",
            "en": "The numbers of {0} are the squares of the right ones: a root is missing, or a square "
            "too many.",
        },
    ),
    (
        _real(np.sqrt),
        {
            "es": "Los números de {0} son las raíces de los correctos: sobra una raíz, o falta un cuadrado.",
            "en": "The numbers of {0} are the roots of the right ones: a root is too many, or a square is "
            "missing.",
        },
    ),
    (
        _real(lambda wanted: 1 - wanted),
        {
            "es": "Los números de {0} son 1 menos los correctos: falta o sobra el `1 - ...`.",
            "en": "The numbers of {0} are 1 minus the right ones: the `1 - ...` is missing or too many.",
        },
    ),
    (
        _real(lambda wanted: 1 / wanted),
        {
            "es": "Los números de {0} son los inversos de los correctos: la división está al revés.",
            "en": "The numbers of {0} are the inverses of the right ones: the division is the wrong way "
            "round.",
        },
    ),
    (
        _transposed,
        {
            "es": "{0} es la matriz correcta traspuesta: sus dos últimos ejes están cambiados.",
            "en": "{0} is the right matrix transposed: its last two axes have changed places.",
        },
    ),
    *(
        (
            _reversed(axis),
            {
                "es": "{0} tiene los números correctos en orden inverso, del último al primero.",
                "en": "{0} has the right numbers in the opposite order, from the last to the first.",
            },
        )
        for axis in (-1, -2, -3)
    ),
    (
        _real(lambda wanted: np.cumsum(wanted, axis=-1) if wanted.ndim else None),
        {
            "es": "Los números de {0} son las sumas acumuladas de los correctos: a cada uno le sumaste los "
            "anteriores.",
            "en": "The numbers of {0} are the running sums of the right ones: to each you added those "
            "before it.",
        },
    ),
    (
        _permuted,
        {
            "es": "{0} contiene los números correctos, pero en otros lugares: revisa en qué orden van los "
            "ejes, y en qué orden escribes o recorres los elementos.",
            "en": "{0} holds the right numbers, but in other places: check the order of the axes, and in "
            "which order you write or go through the elements.",
        },
    ),
)


# Of other numbers than the right ones too these relations tell what was done to them.
TELLING = [(holds, sentence) for holds, sentence in RELATIONS[1:] if holds is not _permuted]


def _condition(record, answers, failing):
    """Return a sentence if exactly the places where an input has a certain value are wrong."""
    wrong = []
    for i in failing:
        pairs = zip(answers[i].values, record.expected[i].values, strict=True)
        wrong.append([~close(got, wanted) for got, wanted in pairs])
    for k, output in enumerate(record.outputs):
        if not all(each[k].any() for each in wrong):
            continue
        for name in record.cases[failing[0]]:
            for meets, said in CONDITIONS:
                if said_of := _holds_where(
                    record, failing, [w[k] for w in wrong], name, meets, said
                ):
                    return text(
                        es=f"En `{output}` todo está bien salvo donde `{name}` es {said_of}.",
                        en=f"In `{output}` all is right but where `{name}` is {said_of}.",
                    )
    return ""


CONDITIONS = (
    (lambda array: array.dtype.kind == "b" and array, "True"),
    (lambda array: array.dtype.kind == "b" and ~array, "False"),
    (lambda array: array.dtype.kind == "U" and array == "<pad>", "`<pad>`"),
    (lambda array: array.dtype.kind in "iuf" and array == 0, "0"),
    (lambda array: array.dtype.kind in "iuf" and array < 0, "text"),
    (lambda array: array.dtype.kind == "f" and np.isnan(array), "NaN"),
)


def _holds_where(record, failing, wrong, name, meets, said):
    """Return the name of a condition if it holds just where answers are wrong, or ""."""
    elsewhere = False
    for i, w in zip(failing, wrong, strict=True):
        array = record.cases[i].get(name)
        if array is None or not array.ndim or array.shape != w.shape[: array.ndim]:
            return ""
        where = np.asarray(meets(array))
        rows = w.reshape(*array.shape, -1).any(axis=-1)
        if where.shape != array.shape or not np.array_equal(where, rows):
            return ""
        elsewhere |= bool((~where).any())
    if not elsewhere:
        return ""
    return text(es="negativo", en="negative") if said == "text" else said


def _every_other(which, both):
    """Return a sentence if only the even components of the last axis are wrong, or only the odd ones."""
    wrong = [~close(got, wanted) for got, wanted in both]
    if not all(w.ndim and w.shape[-1] > 1 for w in wrong):
        return ""
    even, odd = any(w[..., ::2].any() for w in wrong), any(w[..., 1::2].any() for w in wrong)
    if even == odd or sum(w.shape[-1] > 3 for w in wrong) == 0:
        return ""
    return text(
        es=f"En {which} solo están mal las componentes de lugar {'par, 0, 2' if even else 'impar, 1, 3'}...",
        en=f"In {which} only the components of {'even place, 0, 2' if even else 'odd place, 1, 3'}... are "
        "wrong.",
    )


def _one_value(which, both):
    """Return a sentence if truth values, or one whole number, are wrong in one direction only."""
    if any(wanted.dtype.kind not in "biu" for _, wanted in both):
        return ""
    got = np.concatenate([g.ravel() for g, _ in both])
    wanted = np.concatenate([w.ravel() for _, w in both])
    wrong = ~close(got, wanted)
    values = np.unique(wanted[wrong])
    if len(values) != 1:
        return ""
    if wanted.dtype.kind == "b":
        return text(
            es=f"En {which} "
            + (
                "faltan valores True: los que das son correctos, pero no están todos."
                if values[0]
                else "sobran valores True: están todos los que se piden, y además otros."
            ),
            en=f"In {which} "
            + (
                "True is missing in places: wherever you give it, it is right, but it is not everywhere "
                "it should be."
                if values[0]
                else "there are too many True: all that are asked for are there, and others besides."
            ),
        )
    return text(
        es=f"En {which} solo está mal lo que debe ser {values[0]}.",
        en=f"In {which} only what should be {values[0]} is wrong.",
    )


def _place(which, both):
    """Return a sentence if only the beginning or the end of an axis is wrong."""
    if not all(got.ndim for got, _ in both):
        return ""
    wrong = [~close(got, wanted) for got, wanted in both]
    for back, at in itertools.product((1, 2), (0, -1)):
        if not all(w.ndim >= back and w.shape[-back] > 2 for w in wrong):
            continue
        moved = [np.moveaxis(w, -back, 0) for w in wrong]
        if all(w[at].any() and not np.delete(w, at, axis=0).any() for w in moved):
            first = at == 0
            return text(
                es=f"En {which} todo está bien salvo lo {'primero' if first else 'último'} del eje "
                f"{-back}: mira qué hace tu código al {'empezar' if first else 'terminar'}.",
                en=f"In {which} all is right but the {'first' if first else 'last'} of axis {-back}: "
                f"look at what your code does at the {'beginning' if first else 'end'}.",
            )
    if all(w.ndim > 1 and w.shape[-1] == w.shape[-2] > 2 for w in wrong):
        eyes = [np.eye(w.shape[-1], dtype=bool) for w in wrong]
        if all(
            (w & eye).any() and not (w & ~eye).any() for w, eye in zip(wrong, eyes, strict=True)
        ):
            return text(
                es=f"En {which} todo está bien salvo la diagonal.",
                en=f"In {which} all is right but the diagonal.",
            )
    return ""
