"""Chapter 11, `corrupt_spans`: text with holes, and the tokens of the holes; and mistakes."""

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
    """Return the right function with the given parts replaced."""

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


def _same_length(read):
    """Return a mistake whose inputs are as long as the text."""

    def function(tokens, hidden, first_sentinel):
        inputs = read(tokens, hidden, int(first_sentinel))
        return inputs, corrupt_spans(tokens, hidden, first_sentinel)[1]

    return function


def _hidden_with_first(tokens, hidden, first_sentinel):
    first = int(first_sentinel)
    return np.where(hidden, first, tokens), np.where(hidden, tokens, first)


def _hidden_numbered(tokens, hidden, first_sentinel):
    inputs, first = tokens.copy(), int(first_sentinel)
    inputs[hidden] = first + np.arange(hidden.sum())
    return inputs, np.append(tokens[hidden], first + hidden.sum())


def _one_mark(tokens, hidden, first_sentinel):
    """Mark the first span only, since the end of a span is not recorded."""
    begin = np.zeros(len(hidden), dtype=bool)
    begin[np.flatnonzero(hidden)[:1]] = True
    return _spans(starts=lambda h: begin)(tokens, hidden, first_sentinel)


def _first_always_read(tokens, hidden, first_sentinel):
    shown = np.concatenate([[False], hidden[1:]])
    begins = np.concatenate([[False], hidden[1:] & ~hidden[:-1]])
    return _spans(starts=lambda h: begins)(tokens, shown, first_sentinel)


def _next_token_lost(tokens, hidden, first_sentinel):
    lost = np.concatenate([[False], ~hidden[1:] & hidden[:-1]])
    inputs, targets = corrupt_spans(tokens[~lost], hidden[~lost], first_sentinel)
    return _walked(tokens, hidden, int(first_sentinel)) if lost.any() else (inputs, targets)


def _walked(tokens, hidden, mark):
    """Walk through the text, stepping once more after each span."""
    inputs, targets, i = [], [], 0
    while i < len(tokens):
        if hidden[i]:
            inputs.append(mark)
            targets.append(mark)
            while i < len(tokens) and hidden[i]:
                targets.append(tokens[i])
                i += 1
            mark += 1
        else:
            inputs.append(tokens[i])
        i += 1
    return np.array(inputs, dtype=int), np.array([*targets, mark], dtype=int)


def _first_of_each(tokens, hidden, first_sentinel):
    begins = hidden & ~np.concatenate([[False], hidden[:-1]])
    inputs, _ = corrupt_spans(tokens, hidden, first_sentinel)
    first, number = int(first_sentinel), begins.sum()
    pairs = zip(range(first, first + number), tokens[begins].tolist(), strict=True)
    return inputs, np.array([*(x for pair in pairs for x in pair), first + number])


def _all_asked(tokens, hidden, first_sentinel):
    inputs, _ = corrupt_spans(tokens, hidden, first_sentinel)
    begins, targets, mark = (
        hidden & ~np.concatenate([[False], hidden[:-1]]),
        [],
        int(first_sentinel),
    )
    for token, begin in zip(tokens.tolist(), begins, strict=True):
        targets += [mark, token] if begin else [token]
        mark += int(begin)
    return inputs, np.array([*targets, mark])


def _nothing_kept(tokens, hidden, first_sentinel):
    return np.array([]), np.array([])


MISTAKES = {
    "a_mark_each": (_spans(starts=lambda hidden: hidden),),
    "one_mark_for_all": (
        _spans(name=lambda first, number: first),
        _spans(name=lambda first, number: first, asked=lambda targets, first, n: [*targets, first]),
        _spans(
            name=lambda first, number: first, asked=lambda targets, first, n: [*targets, first + 1]
        ),
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
        _first_always_read,
        _spans(starts=lambda hidden: hidden & ~np.roll(hidden, 1)),
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
    "as_long_as_the_text": (
        _hidden_with_first,
        _hidden_numbered,
        _same_length(lambda tokens, hidden, first: np.where(hidden, first, tokens)),
    ),
    "end_not_noted": (_one_mark,),
    "next_token_lost": (_next_token_lost,),
    "first_token_only": (_first_of_each,),
    "text_asked_with_marks": (_all_asked,),
    "nothing_kept": (_nothing_kept,),
}

EXERCISE = Exercise.from_file(__file__, ("inputs", "targets"), corrupt_spans, cases, MISTAKES)
