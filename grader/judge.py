"""Points and a hint for the answers of a function. No code of students runs here."""

import builtins
import functools
import hashlib
import hmac
from dataclasses import dataclass, field

DRAWS = 3  # times that the inputs of a task are drawn
MOST_VALUES = 8  # arrays that a function may return
ODD_EXCEPTIONS = (UnicodeError, BaseExceptionGroup)  # Their constructors need more than a message.
# A mark names an exception by one of these. A function can choose its exception by the inputs, so a
# free choice of names would reveal the inputs.
TOLD = (
    *(NameError, TypeError, ValueError, IndexError, KeyError, AttributeError, AssertionError),
    *(ZeroDivisionError, ArithmeticError, RecursionError, RuntimeError, MemoryError),
    *(ModuleNotFoundError, FileNotFoundError, PermissionError, Exception),
)
# Checks may look for these in the message of an exception. Nothing else of the message is kept.
SAID = ("unexpected keyword", "NoneType", "ambiguous")


@dataclass(frozen=True)
class Mark:
    """The verdict on one task.

    Attributes
    ----------
    grade_id : str
    points, max_points : float
    status : {"passed", "partial", "wrong", "unanswered", "stopped"}
        "stopped" is a function that met a limit: it never ended, or took too much.
    groups : dict of str to bool
        Which groups of inputs were answered rightly.
    misconception : str or None
        Id of the known mistake.
    error : str or None
        Type of the exception that the first wrong answer raised, one of `TOLD`.
    modified : str or None
        The argument it wrote into.
    spared : bool
        Whether these are the points of a second run, with right versions of the earlier functions
        of the set that the student got wrong: an error made there is charged there alone.
    """

    grade_id: str
    points: float
    max_points: float
    status: str
    groups: dict[str, bool] = field(default_factory=dict)
    misconception: str | None = None
    error: str | None = None
    modified: str | None = None
    spared: bool = False


@functools.cache  # The oracle and the known mistakes run once for a class.
def draw(task, secret):
    """Return the inputs on which a task is marked, the same for everyone in a course.

    The same notebook always gets the same marks, and a second submission gets no easier inputs.
    They are drawn more than once, since one draw may hide a fault.

    Parameters
    ----------
    task : Task
    secret : bytes
        The course's own.

    Returns
    -------
    Record
        The inputs and the answers to them, as ``record_of`` of the task's checks gives them: the
        right ones, and those of each known mistake.
    """
    cases = []
    for number in range(DRAWS):
        seed = hmac.digest(secret, f"{task.grade_id}\0{number}".encode(), hashlib.sha256)[:8]
        cases += task.exercise.cases(int.from_bytes(seed, "big"))
    return task.checks.record_of(task.exercise, cases)


def request(task, cases):
    """Return the description of a task for the sandbox, and its inputs.

    Parameters
    ----------
    task : Task
    cases : list of dict
        The inputs in the record that `draw` returned.

    Returns
    -------
    description : dict
        For `grader.sandbox.run`.
    inputs : dict of str to list of dict of str to ndarray
        The arguments of each call, by grade id.
    """
    description = {
        "id": task.grade_id,
        "function": task.exercise.id,
        "outputs": list(task.exercise.outputs),
    }
    return description, {task.grade_id: cases}


def judge(task, record, reports, arrays):
    """Mark the answers that came back from the sandbox.

    Parameters
    ----------
    task : Task
    record : Record
        The inputs of the task and the answers to them, from `draw`.
    reports : list of dict, or None
        One for each input, as inside.py writes them; None if the run never got that far.
    arrays : dict of str to ndarray
        What the function returned, by ``"number/index"``.

    Returns
    -------
    Mark
    """
    if reports is None:
        return _mark(task, 0.0, "stopped")
    checks = task.checks
    answers = _answers(checks.Answer, reports, arrays, record.cases)
    if all(answer.missing for answer in answers):
        return _mark(task, 0.0, "unanswered")
    failing = checks.wrong_on(answers, record.expected)
    modified = next((answer.modified for answer in answers if answer.modified), None)
    groups = dict.fromkeys(task.points, True)
    for i in failing:
        groups[task.group(record.cases[i])] = False
    if modified and "arguments" in groups:
        groups["arguments"] = False
    if not groups[next(iter(groups))]:
        groups = dict.fromkeys(groups, False)
    points = sum(worth for name, worth in task.points.items() if groups[name])
    status = "passed" if points == task.max_points else "partial" if points else "wrong"
    known = checks.misconception(record, answers, failing) if failing else None
    error = answers[failing[0]].error if failing else None
    return _mark(
        task,
        points,
        status,
        groups,
        known.id if known else None,
        next(kind.__name__ for kind in type(error).__mro__ if kind in TOLD) if error else None,
        modified,
    )


def _mark(task, points, status, *rest):
    return Mark(task.grade_id, float(points), float(task.max_points), status, *rest)


def _answers(kind, reports, arrays, cases):
    """Return the answers in the reports; a malformed report is a wrong answer."""
    reports = reports if isinstance(reports, list) else []
    padded = reports[: len(cases)] + [None] * (len(cases) - len(reports))
    return [
        _answer(kind, report, arrays, number, case)
        for number, (report, case) in enumerate(zip(padded, cases, strict=True))
    ]


def _answer(kind, report, arrays, number, case):
    if not isinstance(report, dict):
        return kind(None)
    n_values, error, modified = (report.get(key) for key in ("n_values", "error", "modified"))
    values = None
    if type(n_values) is int and 0 < n_values <= MOST_VALUES:
        found = [arrays.get(f"{number}/{i}") for i in range(n_values)]
        values = None if any(value is None for value in found) else tuple(found)
    return kind(
        values,
        missing=report.get("missing") is True,
        modified=modified if modified in list(case) else None,
        error=_exception(error) if values is None and isinstance(error, dict) else None,
    )


def _exception(error):
    message = str(error.get("message"))
    return exception_named(error.get("type"))(" ".join(word for word in SAID if word in message))


def exception_named(name):
    """Return the built-in exception of that name; `Exception` if there is none.

    Examples
    --------
    >>> exception_named("ValueError"), exception_named("os.system")
    (<class 'ValueError'>, <class 'Exception'>)
    """
    kind = getattr(builtins, name, None) if isinstance(name, str) else None
    is_plain = isinstance(kind, type) and issubclass(kind, Exception)
    return Exception if not is_plain or issubclass(kind, ODD_EXCEPTIONS) else kind
