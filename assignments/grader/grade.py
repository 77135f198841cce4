"""Grade one submission: run it, as often as it takes to be fair, and judge every task."""

import time
from dataclasses import dataclass, replace

from assignments.grader import sandbox
from assignments.grader.judge import Mark, draw, exception_named, judge, request
from assignments.grader.submission import BadSubmission, read


@dataclass(frozen=True)
class Graded:
    """What there is to say of one submission.

    Attributes
    ----------
    digest : str or None
        Of the notebook; None if there was none to read.
    marks : tuple of Mark
        One for each task of the set.
    reason : str or None
        Why it could not be read, a key of `assignments.grader.submission.REASONS`.
    broken_cells : dict of int to str
        Cells that raised, by number, and the type of the exception; or that met a limit, and
        which ("process" if they ended theirs).
    """

    digest: str | None
    marks: tuple[Mark, ...]
    reason: str | None = None
    broken_cells: dict | None = None


def grade(path, problem_set, secret, *, limits=None, unsafe=False):
    """Grade a submitted notebook. In a course, the same notebook always gets the same marks.

    Parameters
    ----------
    path : Path
    problem_set : ProblemSet
    secret : bytes
        The course's own, from which the inputs are drawn.
    limits : assignments.grader.sandbox.Limits, optional
    unsafe : bool, default False
        Without the sandbox.

    Returns
    -------
    Graded
    """
    try:
        submission = read(path)
    except BadSubmission as bad:
        nothing = [Mark(t.grade_id, 0.0, float(t.max_points), "unanswered")
                   for t in problem_set.tasks]  # fmt: skip
        return Graded(None, tuple(nothing), reason=bad.reason)

    cells = {
        number: cell.source
        for number, cell in enumerate(submission.cells)
        if cell.kind == "code" and cell.grade_id not in problem_set.manual
    }
    marks, broken = _run(cells, problem_set, secret, limits or sandbox.Limits(), unsafe)
    return Graded(submission.digest, marks, broken_cells=broken)


def _run(cells, problem_set, secret, limits, unsafe):
    """Return the marks, and the cells that broke.

    A step that takes too long is ended where it is, and the run goes on. What ends the process,
    or cannot be ended without it, costs the cell or the task it is in and no other: all runs
    again without it, as long as a task has less than full marks and there is time.
    """
    tasks = {task.grade_id: task for task in problem_set.tasks}
    records = {name: draw(task, secret) for name, task in tasks.items()}
    marks = {name: judge(task, records[name], None, {}) for name, task in tasks.items()}
    broken, waiting = {}, list(tasks)
    ends, left = time.monotonic() + limits.wall_s, limits.wall_s
    while waiting and left > 0:  # of the project a person reads all
        requests = [request(tasks[name], records[name].cases) for name in waiting]
        outcome = sandbox.run(
            list(cells.items()),
            [description for description, _ in requests],
            {key: array for _, inputs in requests for key, array in inputs.items()},
            packages=problem_set.packages,
            limits=replace(limits, wall_s=left),
            unsafe=unsafe,
        )
        answers, last = _sort(outcome.frames, list(cells), waiting, broken)
        for name, reports, arrays in answers:
            mark = judge(tasks[name], records[name], reports, arrays)
            marks[name] = max(mark, marks[name], key=lambda mark: mark.points)
        steps = [["cell", number] for number in cells] + [["task", name] for name in waiting]
        if last not in steps:
            break  # at its end, or where the submission wants us to believe it was
        kind, culprit = steps[steps.index(last)]
        if kind == "cell":
            broken[culprit] = outcome.stopped or "process"
            del cells[culprit]
        waiting = [name for name in waiting if name != culprit and marks[name].status != "passed"]
        left = ends - time.monotonic()
    return tuple(marks.values()), broken


def _sort(frames, cells, names, broken):
    """Return what a run has answered, and the step that ended it; note the cells that broke.

    Of a task the last function of its name counts, as it was when it was defined and as it was
    at the end of the notebook.
    """
    answers, last = {}, None
    for header, arrays in frames:
        cell, error, task = header.get("cell"), header.get("error"), header.get("task")
        if "begins" in header:
            last = header["begins"]
        elif "done" in header:
            last = None
        elif cell in cells and isinstance(error, dict):
            is_late = header.get("late") is True
            broken[int(cell)] = "time" if is_late else exception_named(error.get("type")).__name__
        elif task in names:
            answers[task, header.get("at_end") is True] = (header.get("answers"), arrays)
    return [(name, *found) for (name, _), found in answers.items()], last
