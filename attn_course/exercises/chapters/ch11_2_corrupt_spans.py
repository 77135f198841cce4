"""Chapter 11, `corrupt_spans`: text with holes, and what was in them; and slips."""

import numpy as np

from attn.reference import corrupt_spans
from attn_course.exercises.spec import Exercise

PATTERNS = ("0110", "01101", "110100", "0011011", "10010", "1101110110", "0100010011", "111")


def cases(seed):
    """Return inputs: holes inside, at the beginning, at the end, one after another, all hole.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``tokens``, ``hidden`` and ``first_sentinel``.
    """
    rng = np.random.default_rng(seed)
    return [
        {
            "tokens": rng.permutation(np.arange(4, 60))[: len(pattern)],
            "hidden": np.array([mark == "1" for mark in pattern]),
            "first_sentinel": np.array(int(rng.integers(90, 200))),
        }
        for pattern in PATTERNS
    ]


def _spans(
    starts=lambda hidden: hidden & ~np.concatenate([[False], hidden[:-1]]),
    name=lambda first, number: first + number,
    inputs=lambda kept, marks: kept,
    mark_first=True,
    asked=lambda targets, first, n: [*targets, first + n],
):
    """Return the right function, but for the parts that are given."""

    def function(tokens, hidden, first_sentinel):
        first, read, targets, number = int(first_sentinel), [], [], 0
        begins = starts(hidden)
        for i, token in enumerate(tokens.tolist()):
            if not hidden[i]:
                read.append((token, False))
                continue
            if begins[i]:
                read.append((name(first, number), True))
            if begins[i] and mark_first:
                targets.append(name(first, number))
            number += bool(begins[i])
            targets.append(token)
            if not mark_first and (i + 1 == len(tokens) or not hidden[i + 1]):
                targets.append(name(first, number - 1))
        read = inputs([token for token, _ in read], [is_mark for _, is_mark in read])
        return np.array(read, dtype=int), np.array(asked(targets, first, number), dtype=int)

    return function


def _inverted(tokens, hidden, first_sentinel):
    return corrupt_spans(tokens, ~hidden, first_sentinel)


def _whole(tokens, hidden, first_sentinel):
    return corrupt_spans(tokens, hidden, first_sentinel)[0], tokens.copy()


def _swapped(tokens, hidden, first_sentinel):
    inputs, targets = corrupt_spans(tokens, hidden, first_sentinel)
    return targets, inputs


def _closed(tokens, hidden, first_sentinel):
    inputs, targets = corrupt_spans(tokens, hidden, first_sentinel)
    return np.append(inputs, targets[-1]), targets


def _no_marks(targets, first, n):
    return [token for token in targets if not first <= token < first + n]


MISTAKES = {
    "a_mark_each": (_spans(starts=lambda hidden: hidden),),
    "one_mark_for_all": (
        _spans(name=lambda first, number: first),
        _spans(name=lambda first, number: first, asked=lambda targets, first, n: [*targets, first]),
    ),
    "downwards": (
        _spans(
            name=lambda first, number: first - number,
            asked=lambda targets, first, n: [*targets, first - n],
        ),
    ),
    "no_last_mark": (_spans(asked=lambda targets, first, n: targets),),
    "last_mark_repeated": (_spans(asked=lambda targets, first, n: [*targets, first + n - 1]),),
    "no_marks_asked": (
        _spans(asked=_no_marks),
        _spans(asked=lambda targets, first, n: [*_no_marks(targets, first, n), first + n]),
    ),
    "holes_closed_up": (
        _spans(
            inputs=lambda read, marks: [
                token for token, is_mark in zip(read, marks, strict=True) if not is_mark
            ]
        ),
    ),
    "mark_behind": (_spans(mark_first=False),),
    "inverted": (_inverted,),
    "everything_asked": (_whole,),
    "first_run_missed": (
        _spans(starts=lambda hidden: np.concatenate([[False], hidden[1:] & ~hidden[:-1]])),
    ),
    "input_closed": (_closed,),
    "counted_from_one": (
        _spans(
            name=lambda first, number: first + number + 1,
            asked=lambda targets, first, n: [*targets, first + n + 1],
        ),
    ),
    "answers_exchanged": (_swapped,),
}

EXERCISE = Exercise.from_file(__file__, ("inputs", "targets"), corrupt_spans, cases, MISTAKES)
