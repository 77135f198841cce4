"""An exercise on fixed inputs: the right answers there, and those of each known mistake.

It is all that a comparison needs. For a chapter it is made from the exercise itself, which the
learner has; a problem set gives it to students as a file, in which there is no function to read.
"""

import functools
import json
import math
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from attn._checks import argument_error
from attn_course.exercises.compare import Answer, family, run
from attn_course.exercises.slips import function_of, slips_of, spoilt

SEED = 0
# An exception of a known mistake is compared by its family alone.
EXCEPTIONS = {
    "name": NameError(),
    "absent": AttributeError(),
    "ambiguous": ValueError("ambiguous"),
    "other": ValueError(),
}


@dataclass(frozen=True)
class Mistake:
    """The answers of a known mistake.

    Attributes
    ----------
    id : str
    hint : dict of str to str
        Under ``"es"`` and ``"en"``.
    answers : tuple of list of Answer
        For each way of making the mistake, what it gives on each input.
    """

    id: str
    hint: dict[str, str]
    answers: tuple[list[Answer], ...]


@dataclass(frozen=True)
class Record:
    """An exercise on fixed inputs.

    Attributes
    ----------
    id : str
        Of the exercise.
    outputs : tuple of str
        Names of what its function returns.
    cases : list of dict of str to ndarray
        The inputs, the smallest first.
    expected : list of Answer
        The right answers.
    oracle : callable or None
        What gave them, if it is at hand.
    slips : str
        A right answer and the edits that spoil it, if there are any.
    """

    id: str
    outputs: tuple[str, ...]
    cases: list[dict]
    expected: list[Answer]
    _find_mistakes: Callable[[], tuple[Mistake, ...]]
    oracle: Callable | None = None
    slips: str = ""

    @functools.cached_property
    def mistakes(self):
        """The known mistakes, in the order in which they are tried; found when first asked for."""
        return self._find_mistakes()


def smallest_first(cases):
    """Return the inputs of an exercise by size, so that the first to fail shows the most."""
    return sorted(cases, key=lambda case: sum(array.size for array in case.values()))


def record_of(exercise, cases=None):
    """Run an exercise on inputs.

    Parameters
    ----------
    exercise : Exercise
    cases : list of dict of str to ndarray, optional
        By default those that every learner meets.

    Returns
    -------
    Record
    """
    cases = smallest_first(exercise.cases(SEED) if cases is None else cases)

    def answers(function):
        return [run(function, case, exercise) for case in cases]

    def mistakes():
        code, slips = slips_of(exercise.slips)
        others = {known.id: [] for known in exercise.misconceptions}
        for known, edits in slips:
            if alone := spoilt(code, edits):
                others[known].append(function_of(alone, exercise.id))
        return tuple(
            Mistake(
                known.id, known.hint, tuple(map(answers, (*known.functions, *others[known.id])))
            )
            for known in exercise.misconceptions
        )

    right = answers(exercise.oracle)
    return Record(
        exercise.id, exercise.outputs, cases, right, mistakes, exercise.oracle, exercise.slips
    )


def write_records(file, records):
    """Write records into one file, without a line of code.

    Parameters
    ----------
    file : Path or file
        An archive of arrays, to be read with ``allow_pickle=False``: for each exercise a
        description in JSON, and the bytes of all its arrays.
    records : sequence of Record
    """
    entries = {}
    for one in records:
        description, data = _packed(one)
        entries[one.id] = np.array(json.dumps(description, ensure_ascii=False))
        entries[f"{one.id}.data"] = np.frombuffer(data, np.uint8)
    np.savez_compressed(file, **entries)


def _packed(record):
    """Return the description of a record, in which arrays are places in the bytes beside it."""
    data, places = bytearray(), {}

    def put(array):
        packed = array.dtype.str, array.shape, array.tobytes()
        if packed not in places:  # a wrong function is often right on most inputs
            places[packed] = len(data)
            data.extend(packed[2])
        return [*packed[:2], places[packed]]

    def put_answer(answer):
        if answer.values is not None:
            return [put(value) for value in answer.values]
        alike = (
            k for k, e in EXCEPTIONS.items() if answer.error and family(e) == family(answer.error)
        )
        return next(alike, None)

    description = {
        "outputs": record.outputs,
        "cases": [{name: put(array) for name, array in case.items()} for case in record.cases],
        "expected": [put_answer(answer) for answer in record.expected],
        "mistakes": [
            {
                "id": known.id,
                "hint": known.hint,
                "answers": [[put_answer(answer) for answer in way] for way in known.answers],
            }
            for known in record.mistakes
        ],
    }
    return description, bytes(data)


def read_record(file, exercise_id):
    """Return a record from a file that `write_records` wrote.

    Parameters
    ----------
    file : Path
    exercise_id : str

    Returns
    -------
    Record or None
        None if the file has no such exercise.

    Raises
    ------
    ValueError
        If it is no such file.
    """
    try:
        with np.load(file, allow_pickle=False) as archive:
            if exercise_id not in archive:
                return None
            description = json.loads(str(archive[exercise_id]))
            data = archive[f"{exercise_id}.data"].tobytes()
    except (ValueError, TypeError, EOFError, zipfile.BadZipFile):
        expected = "the file that came with the notebook"
        raise argument_error(Path(file).name, expected, "a damaged file") from None

    def get(dtype, shape, place):
        return np.frombuffer(data, dtype, math.prod(shape), place).reshape(shape).copy()

    def get_answer(packed):
        if isinstance(packed, list):
            return Answer(tuple(get(*array) for array in packed), "")
        return Answer(None, "", error=EXCEPTIONS.get(packed))

    def mistakes():
        return tuple(
            Mistake(
                known["id"],
                known["hint"],
                tuple([get_answer(answer) for answer in way] for way in known["answers"]),
            )
            for known in description["mistakes"]
        )

    return Record(
        exercise_id,
        tuple(description["outputs"]),
        [{name: get(*array) for name, array in case.items()} for case in description["cases"]],
        [get_answer(answer) for answer in description["expected"]],
        mistakes,
    )
