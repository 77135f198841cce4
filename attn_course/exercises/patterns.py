"""Patterns of wrong answers, for attempts that no known mistake explains.

A known mistake is one function of one exercise. Here only answers are looked at: whether they
are the right ones in another order, or right except on inputs of one kind.
"""

import itertools

import numpy as np

from attn_course.exercises.compare import Answer, same
from attn_course.exercises.explain import has_large_numbers
from attn_course.exercises.relations import relation
from attn_course.exercises.shapes import wrong_shape
from attn_course.language import text


def pattern(record, answers, failing):
    """Return a sentence on what the wrong answers have in common, or an empty text.

    Parameters
    ----------
    record : Record
        The exercise on its inputs.
    answers : list of Answer
        What the attempt gave for each input.
    failing : list of int
        Where that is wrong.

    Returns
    -------
    str
        In the language in use.
    """
    if _in_another_order(answers, record.expected, failing):
        names = ", ".join(record.outputs)
        return text(
            es="Devuelves los resultados correctos, pero en otro orden. El que se pide es "
            f"`return {names}`.",
            en="You return the right results, but in another order. The one asked for is "
            f"`return {names}`.",
        )
    found = (
        _of_another_shape(answers, record.expected, failing),
        relation(record, answers, failing),
        _only_some_inputs(record, answers, failing),
    )
    return " ".join(filter(None, found))


def _in_another_order(answers, expected, failing):
    """Return whether every wrong answer holds the expected arrays, all permuted alike."""
    n = len(expected[0].values)
    if any(answers[i].values is None or len(answers[i].values) != n for i in failing):
        return False
    orders = itertools.islice(itertools.permutations(range(n)), 1, None)
    return any(
        all(
            same(Answer(tuple(answers[i].values[k] for k in order), ""), expected[i])
            for i in failing
        )
        for order in orders
    )


def _of_another_shape(answers, expected, failing):
    """Return a sentence on the first output whose shape is wrong, if one is."""
    first = answers[failing[0]].values, expected[failing[0]].values
    if first[0] is None or len(first[0]) != len(first[1]):
        return ""
    for k, (got, wanted) in enumerate(zip(*first, strict=True)):
        if got.shape != wanted.shape:
            values = [(answers[i].values, expected[i].values) for i in failing]
            pairs = [(a[k], b[k]) for a, b in values if a is not None and len(a) == len(b)]
            return wrong_shape([(a, b) for a, b in pairs if a.shape != b.shape])
    return ""


def _only_some_inputs(record, answers, failing):
    """Return a sentence on a property that the failing inputs have and the others lack.

    Where arrays with fewer axes fail and those with more as well, the number of axes is to blame
    only if an answer has another shape, or there is none: numbers may be right there by chance.
    """
    cases = record.cases
    wrong = [case for i, case in enumerate(cases) if i in failing]
    right = [case for i, case in enumerate(cases) if i not in failing]
    if not right:
        return ""
    for name in wrong[0]:
        if all(name in case for case in wrong) and not any(name in case for case in right):
            return text(
                es=f"Tu función acierta siempre que no hay `{name}`, y falla siempre que la hay.",
                en=f"Your function is right whenever there is no `{name}`, and wrong whenever "
                "there is.",
            )
    for name in cases[0]:
        if all(name in case for case in cases):
            good, bad = ({case[name].ndim for case in group} for group in (right, wrong))
            is_between = min(bad) < min(good) and max(good) < max(bad)
            if is_between and all(_fits(answers[i], record.expected[i]) for i in failing):
                continue
            # Infinite numbers come from large numbers or from a division, and not from an axis.
            values = [v for i in failing for v in answers[i].values or ()]
            if not good & bad and not any(np.isinf(v).any() for v in values):
                return text(
                    es=f"Tu función acierta siempre que `{name}` tiene {_axes(good)}, y falla "
                    f"siempre que tiene {_axes(bad)}. No cuentes con un número de ejes: cuéntalos "
                    "desde el final.",
                    en=f"Your function is right whenever `{name}` has {_axes(good)}, and wrong "
                    f"whenever it has {_axes(bad)}. Do not count on a number of axes: count them "
                    "from the end.",
                )
    if all(map(has_large_numbers, wrong)) and not any(map(has_large_numbers, right)):
        return text(
            es="Tu función acierta con números ordinarios, y falla con los muy grandes.",
            en="Your function is right with ordinary numbers, and wrong with very large ones.",
        )
    return ""


def _fits(answer, expected):
    """Return whether there is an answer, and its arrays have the expected shapes."""
    if answer.values is None or len(answer.values) != len(expected.values):
        return False
    return all(a.shape == b.shape for a, b in zip(answer.values, expected.values, strict=True))


def _axes(numbers):
    *others, last = [str(n) for n in sorted(numbers)]
    listed = ", ".join(others) + (text(es=" o ", en=" or ") if others else "") + last
    return listed + (text(es=" eje", en=" axis") if listed == "1" else text(es=" ejes", en=" axes"))
