"""Which known mistake gives the values that an attempt gave?

Only inputs and answers are looked at, never the attempt: it may have run anywhere.
"""

from attn.exercises.compare import run, same


def smallest_first(cases):
    """Return the inputs of an exercise by size, so that the first to fail shows the most."""
    return sorted(cases, key=lambda case: sum(array.size for array in case.values()))


def wrong_on(answers, expected):
    """Return the numbers of the inputs where answers are not as expected; no exception is."""
    pairs = zip(answers, expected, strict=True)
    return [i for i, (a, right) in enumerate(pairs) if a.error or not same(a, right)]


def misconception(exercise, cases, answers, expected, failing):
    """Return the known mistake that explains most of an attempt, or None.

    The wrong function must answer like the attempt on the smallest failing input, on at
    least one input that gives finite numbers, and on all the others but those where a
    second mistake shows by itself: inputs with more arguments than the smallest failing one
    (a mask), inputs with an empty row, whose weights should be zero, and inputs on which
    the attempt breaks down (an exception, NaN). Of several such functions the one that
    answers like the attempt most often is named, and of equals the first.

    Parameters
    ----------
    exercise : Exercise
    cases : list of dict
        Its inputs, the smallest first.
    answers, expected : list of Answer
        What the attempt and the oracle gave for each.
    failing : list of int
        Where they differ, as `wrong_on` finds it.

    Returns
    -------
    Misconception or None
    """
    first = failing[0]
    excused = [
        len(case) > len(cases[first]) or not right.values[-1].any(axis=-1).all() or answer.broken
        for case, answer, right in zip(cases, answers, expected, strict=True)
    ]
    best, most = None, 0
    for known in exercise.misconceptions:
        for function in known.functions:
            wrong = [run(function, case, exercise) for case in cases]
            equal = [same(answer, other) for answer, other in zip(answers, wrong, strict=True)]
            finite = any(e and not answer.broken for e, answer in zip(equal, answers, strict=True))
            explains = equal[first] and all(e or x for e, x in zip(equal, excused, strict=True))
            if explains and finite and sum(equal) > most:
                best, most = known, sum(equal)
    return best
