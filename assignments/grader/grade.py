"""Grade one submission: run it, as often as it takes to be fair, and judge every task."""

import time
from dataclasses import dataclass, replace

from assignments.grader import sandbox
from assignments.grader.judge import Mark, draw, exception_named, judge, request
from assignments.grader.submission import BadSubmission, read

FATAL = ("output", "process")


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


def grade(path, problem_set, secret, *, models=None, limits=None, unsafe=False):
    """Grade a submitted notebook. In a course, the same notebook always gets the same marks.

    Parameters
    ----------
    path : Path
    problem_set : ProblemSet
    secret : bytes
        The course's own, from which the inputs are drawn.
    models : dict of str to str, optional
        By grade id, the cell of a right answer. A task that does not get all its points runs once
        more with these in place of the earlier tasks that do not either, and the better counts.
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
    run = _Run(problem_set, secret, limits or sandbox.Limits(), unsafe)
    marks, broken = run.mark(cells, [task.grade_id for task in problem_set.tasks])
    # What ended the process once would end it again.
    cells = {n: source for n, source in cells.items() if broken.get(n) not in FATAL}
    for name, earlier in _built_upon(marks, models or {}):
        end = max(cells, default=-1) + 1
        again, _ = run.mark(cells | {end: "\n\n".join(earlier)}, [name])
        if again[name].points > marks[name].points:
            marks[name] = replace(again[name], spared=True)
    return Graded(submission.digest, tuple(marks.values()), broken_cells=broken)


def _built_upon(marks, models):
    """Yield tasks with less than all their points, and models of those before that have less too.

    The functions of a set call each other by name, so that a right one defined at the end of the
    notebook serves whoever calls it.
    """
    wrong = [name for name, mark in marks.items() if mark.points < mark.max_points]
    for place, name in enumerate(wrong):
        earlier = [models[other] for other in wrong[:place] if other in models]
        if earlier and marks[name].status != "unanswered":
            yield name, earlier


class _Run:
    """Runs cells, asks for tasks and marks them, within the time of one submission.

    Parameters
    ----------
    problem_set : ProblemSet
    secret : bytes
    limits : assignments.grader.sandbox.Limits
    unsafe : bool
    """

    def __init__(self, problem_set, secret, limits, unsafe):
        self.tasks = {task.grade_id: task for task in problem_set.tasks}
        self.records = {name: draw(task, secret) for name, task in self.tasks.items()}
        self.packages, self.limits, self.unsafe = problem_set.packages, limits, unsafe
        self.end = time.monotonic() + limits.wall_s

    def mark(self, cells, names):
        """Return the marks of some tasks, and the cells that broke.

        A step that takes too long is ended where it is, and the run goes on. What ends the
        process, or cannot be ended without it, costs the cell or the task it is in and no other:
        all runs again without it, as long as a task has less than full marks and there is time;
        first the cells above it alone, so that no trap costs the answers that stand there.
        """
        cells, waiting, broken, above = dict(cells), list(names), {}, None
        marks = {name: judge(self.tasks[name], self.records[name], None, {}) for name in names}
        # Of the project, which has no tasks, a person reads all.
        while waiting and (left := self.end - time.monotonic()) > 0:
            requests = [request(self.tasks[name], self.records[name].cases) for name in waiting]
            run_now, above = list(cells.items())[:above], None
            outcome = sandbox.run(
                run_now,
                [description for description, _ in requests],
                {key: array for _, inputs in requests for key, array in inputs.items()},
                packages=self.packages,
                limits=replace(self.limits, wall_s=left),
                unsafe=self.unsafe,
            )
            answers, last = _sort(outcome.frames, list(cells), waiting, broken)
            for name, reports, arrays in answers:
                mark = judge(self.tasks[name], self.records[name], reports, arrays)
                marks[name] = max(mark, marks[name], key=lambda mark: mark.points)
            steps = [["cell", number] for number in cells] + [["task", name] for name in waiting]
            if last not in steps and len(run_now) == len(cells):
                break  # at its end, or where the submission wants us to believe it was
            waiting = [name for name in waiting if marks[name].status != "passed"]
            if last not in steps:
                continue
            kind, culprit = steps[steps.index(last)]
            if kind == "cell":
                broken[culprit], above = (
                    outcome.stopped or "process",
                    list(cells).index(culprit) or None,
                )
                del cells[culprit]
            waiting = [name for name in waiting if name != culprit]
        return marks, broken


def _sort(frames, cells, names, broken):
    """Return what a run has answered, and the step that ended it; note the cells that broke.

    Of a task the last function of its name counts, as it was when it was defined and as it was
    at the end of the notebook. Of cells nothing counts once the inputs are known inside: which of
    them broke, and how, could tell what the inputs are.
    """
    answers, last, inputs_known = {}, None, False
    for header, arrays in frames:
        cell, error, task = header.get("cell"), header.get("error"), header.get("task")
        if "inputs" in header:
            inputs_known, last = True, None
        elif "begins" in header:
            steps = [["task", n] for n in names] if inputs_known else [["cell", n] for n in cells]
            last = header["begins"] if header["begins"] in steps else last
        elif "done" in header:
            last = None
        elif cell in cells and isinstance(error, dict) and not inputs_known:
            is_late = header.get("late") is True
            broken[int(cell)] = "time" if is_late else exception_named(error.get("type")).__name__
        elif task in names:
            answers[task, header.get("at_end") is True] = (header.get("answers"), arrays)
    return [(name, *found) for (name, _), found in answers.items()], last
