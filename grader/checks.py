"""The default way to call a function and judge its answers, for a course without its own.

A course hands in a module with the five names `NAMES` (`grader.problem_sets.Task.checks`). The
file that defines ``run`` is copied into the sandbox, so it needs NumPy and the standard library
alone.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

NAMES = ("Answer", "run", "record_of", "wrong_on", "misconception")


@dataclass(frozen=True)
class Misconception:
    """A known mistake: the wrong functions that make it, and a hint by language."""

    id: str
    functions: tuple[Callable, ...]
    hint: dict[str, str]


@dataclass(frozen=True)
class Exercise:
    """A function to write.

    Attributes
    ----------
    id : str
        The name of the function.
    outputs : tuple of str
        Names of what it returns: one name, an array; several, a tuple of arrays.
    oracle : callable
        The right function.
    cases : callable
        Takes an integer seed and returns a list of inputs, each a dict from argument name to array
        in the order of the signature.
    misconceptions : tuple of Misconception
    """

    id: str
    outputs: tuple[str, ...]
    oracle: Callable
    cases: Callable[[int], list[dict]]
    misconceptions: tuple[Misconception, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a function did with one input.

    Attributes
    ----------
    values : tuple of ndarray, or None
        None if it returned anything but numbers.
    missing : bool
        Whether it is not written yet.
    modified : str or None
        The argument it wrote into.
    error : Exception or None
    """

    values: tuple | None
    missing: bool = False
    modified: str | None = None
    error: Exception | None = None


@dataclass(frozen=True)
class Record:
    """Inputs, their right answers, and the answers of the wrong functions of each mistake."""

    cases: list[dict]
    expected: list[Answer]
    mistakes: list[tuple[Misconception, list[list[Answer]]]]


def run(function, case, exercise):
    """Call a function with copies of one input; return its `Answer`."""
    inputs = {name: array.copy() for name, array in case.items()}
    try:
        with np.errstate(all="ignore"):
            returned = function(*inputs.values())
        is_missing = returned is None or returned is Ellipsis
        parts = tuple(returned) if len(exercise.outputs) > 1 else (returned,)
        values = None if is_missing else tuple(np.array(part) for part in parts)
        error = None
    except Exception as raised:  # noqa: BLE001 - whatever the function raises is its answer
        is_missing, values, error = isinstance(raised, NotImplementedError), None, raised
    if values and not all(value.dtype.kind in "fiub" for value in values):
        values = None
    changed = (n for n, array in case.items() if array.tobytes() != inputs[n].tobytes())
    return Answer(values, is_missing, next(changed, None), error)


def record_of(exercise, cases):
    """Run the right function and the known mistakes on inputs; return the `Record`."""

    def answers(function):
        return [run(function, case, exercise) for case in cases]

    known = [(one, list(map(answers, one.functions))) for one in exercise.misconceptions]
    return Record(cases, answers(exercise.oracle), known)


def wrong_on(answers, expected):
    """Return the indices of the inputs where answers are not as expected."""
    pairs = zip(answers, expected, strict=True)
    return [number for number, pair in enumerate(pairs) if not _same(*pair)]


def misconception(record, answers, failing):
    """Return the first known mistake that gives these answers on every input, or None."""
    for known, ways in record.mistakes:
        if any(not wrong_on(answers, way) for way in ways):
            return known
    return None


def _same(one, other):
    if one.values is None or other.values is None or len(one.values) != len(other.values):
        return False
    return all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-6, atol=1e-6, equal_nan=True)
        for a, b in zip(one.values, other.values, strict=True)
    )
