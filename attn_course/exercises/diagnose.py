"""Find the known mistake that gives the same values as an attempt.

Only inputs and answers are looked at, never the attempt: it may have run anywhere.
"""

from attn_course.exercises.compare import same, same_kind


def wrong_on(answers, expected):
    """Return the indices of the inputs where answers are not as expected; exceptions never are."""
    pairs = zip(answers, expected, strict=True)
    return [i for i, (answer, right) in enumerate(pairs) if not _as_expected(answer, right)]


def _as_expected(answer, right):
    if answer.error or not same(answer, right):
        return False
    return all(same_kind(a, b) for a, b in zip(answer.values, right.values, strict=True))


def misconception(record, answers, failing):
    """Return the known mistake that explains most of an attempt, or None.

    The wrong function must answer like the attempt on the smallest failing input, on at least one
    input that gives numbers, and on all other inputs except those where a second mistake shows by
    itself: inputs with more arguments than the smallest failing one (a mask), inputs with an empty
    row, whose weights should be zero, and inputs on which the attempt breaks down (an exception,
    NaN). Of several such functions the one that answers like the attempt most often is named, and
    of equals the first.

    Parameters
    ----------
    record : Record
        The exercise on its inputs.
    answers : list of Answer
        What the attempt gave for each input.
    failing : list of int
        Where that is wrong, as `wrong_on` finds it.

    Returns
    -------
    Mistake or None
    """
    cases, expected = record.cases, record.expected
    if all(map(same, answers, expected)):
        return None  # right numbers of a wrong kind
    first = failing[0]
    excused = [
        len(case) > len(cases[first]) or not right.values[-1].any(axis=-1).all() or answer.broken
        for case, answer, right in zip(cases, answers, expected, strict=True)
    ]
    best, most = None, 0
    for known in record.mistakes:
        for wrong in known.answers:
            if not same(answers[first], wrong[first]):
                continue
            equal = [same(answer, other) for answer, other in zip(answers, wrong, strict=True)]
            finite = any(e and answer.numbers for e, answer in zip(equal, answers, strict=True))
            if not any(equal[i] and answers[i].numbers for i in failing):
                # Where only exceptions agree, the attempt may not raise where the mistake shows otherwise.
                shows = [
                    not w.broken and not same(w, e) for w, e in zip(wrong, expected, strict=True)
                ]
                finite = finite and not any(
                    a.error and s for a, s in zip(answers, shows, strict=True)
                )
            explains = all(e or x for e, x in zip(equal, excused, strict=True))
            if explains and finite and sum(equal) > most:
                best, most = known, sum(equal)
    return best


def proves(known, answers, failing):
    """Return whether a mistake answers exactly like an attempt, and not with exceptions alone."""
    return not all(answers[i].error for i in failing) and any(
        all(map(same, answers, wrong)) for wrong in known.answers
    )
