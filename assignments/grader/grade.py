"""Grade one submission: run it, as often as it takes to be fair, and judge every task."""

from dataclasses import dataclass

from assignments.grader import sandbox
from assignments.grader.judge import Mark, exception_named, judge, request, seed_for
from assignments.grader.submission import BadSubmission, read

MOST_BROKEN = 8  # cells that never end, or end the process; with one more the grading ends


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


def grade(path, student, problem_set, secret, *, limits=None, unsafe=False):
    """Grade a submitted notebook. The same notebook always gets the same marks.

    Parameters
    ----------
    path : Path
    student : str
    problem_set : ProblemSet
    secret : bytes
        The course's own, from which the inputs are drawn.
    limits : assignments.grader.sandbox.Limits, optional
        Of each run.
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

    seeds = {t.grade_id: seed_for(secret, student, t, submission.digest) for t in problem_set.tasks}
    requests = {t.grade_id: request(t, seeds[t.grade_id]) for t in problem_set.tasks}
    cells = [
        (number, cell.source)
        for number, cell in enumerate(submission.cells)
        if cell.kind == "code" and cell.grade_id not in problem_set.manual
    ]
    answers, broken = _run(cells, requests, problem_set.packages, limits, unsafe)
    marks = tuple(
        judge(task, seeds[task.grade_id], *answers.get(task.grade_id, (None, {})))
        for task in problem_set.tasks
    )
    return Graded(submission.digest, marks, broken_cells=broken)


def _run(cells, requests, packages, limits, unsafe):
    """Return the answers to each task that was answered, and the cells that broke.

    What never ends, or ends the process, costs the cell or the task it is in and no other. All
    tasks run together first. If one of them ends that, each of those without an answer runs
    alone: another might have used up the time.
    """
    answers, broken, stopping = {}, {}, 0
    groups = [list(requests)] if requests else []  # of the project a person reads all
    while groups and stopping <= MOST_BROKEN:
        group = groups.pop(0)
        outcome = sandbox.run(
            cells,
            [requests[name][0] for name in group],
            {key: array for name in group for key, array in requests[name][1].items()},
            packages=packages,
            limits=limits,
            unsafe=unsafe,
        )
        begun, last = [["cell", number] for number, _ in cells], None
        for header, arrays in outcome.frames:
            cell, error, task = header.get("cell"), header.get("error"), header.get("task")
            if "begins" in header:
                last = header["begins"]
            elif ["cell", cell] in begun and isinstance(error, dict):
                broken[int(cell)] = exception_named(error.get("type")).__name__
            elif task in group:
                answers[task] = (header.get("answers"), arrays)
        left = [name for name in group if name not in answers]
        if left and last in begun:
            stopping += 1
            broken[int(last[1])] = outcome.stopped or "process"
            cells = [cell for cell in cells if cell[0] != last[1]]
            groups.insert(0, left)
        elif len(group) > 1:
            groups += [[name] for name in left]
    return answers, broken
