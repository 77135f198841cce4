"""Grade one submission: run it, repeat it without steps that end the process, judge tasks."""

import re
import time
from dataclasses import dataclass, replace

from grader import sandbox
from grader.judge import Mark, draw, exception_named, judge, request
from grader.submission import BadSubmission, read

DEFINES = re.compile(r"^(?:def|class|async|import|from|@)\b", re.MULTILINE)
MOST_MODULES = 5  # missing modules that are named for a cell
MODULE = re.compile(r"[A-Za-z_]\w{0,40}", re.ASCII)


@dataclass(frozen=True)
class Graded:
    """The result of grading one submission.

    Attributes
    ----------
    digest : str or None
        The digest of the notebook; None if there was none to read.
    marks : tuple of Mark
        One for each task of the set.
    reason : str or None
        Why it could not be read, a key of `grader.submission.REASONS`.
    broken_cells : dict of int to str
        What went wrong in each cell that raised an exception or ended the run, by the number of
        the cell. A value names the types of the exceptions, separated by "; ". A cell that took too
        long has "time" among them, and the missing modules follow ModuleNotFoundError in
        parentheses. If the cell ended the run, the value is the limit of the sandbox that it met,
        or "process" if it met none.
    """

    digest: str | None
    marks: tuple[Mark, ...]
    reason: str | None = None
    broken_cells: dict | None = None


def grade(path, problem_set, secret, *, models=None, setup=(), limits=None, unsafe=False):
    """Grade a submitted notebook. In a course, the same notebook always gets the same marks.

    Parameters
    ----------
    path : Path
    problem_set : ProblemSet
    secret : bytes
        The secret of the course, which seeds the inputs.
    models : dict of str to str, optional
        A cell with the right answer of each task, by grade id. If an answer does not get all the
        points of its task, the notebook runs once more, and right answers replace those to earlier
        tasks that did not get all their points either. If the answer met a limit, they replace the
        answers to all earlier tasks, since a right function may be slow. The better mark counts.
    setup : sequence of str, optional
        Cells of the released notebook that run before all others, since the student may have
        deleted them.
    limits : grader.sandbox.Limits, optional
    unsafe : bool, default False
        Whether to run without the sandbox.

    Returns
    -------
    Graded
    """
    try:
        submission = read(path)
    except BadSubmission as bad:
        nothing = [
            Mark(t.grade_id, 0.0, float(t.max_points), "unanswered") for t in problem_set.tasks
        ]
        return Graded(None, tuple(nothing), reason=bad.reason)

    answers = {f"{task.grade_id}-answer" for task in problem_set.tasks}
    cells = {place - len(setup): source for place, source in enumerate(setup)} | {
        number: cell.source
        for number, cell in enumerate(submission.cells)
        # In JupyterLab one key turns a code cell into text. An answer cell is run all the same.
        if (cell.kind == "code" or cell.grade_id in answers)
        and cell.grade_id not in problem_set.manual
    }
    run = _Run(problem_set, secret, limits or sandbox.Limits(), unsafe)
    marks = run.mark(cells, [task.grade_id for task in problem_set.tasks])
    end = len(submission.cells)
    for name, earlier in _built_upon(marks, models or {}):
        again = run.mark(cells | {end: "\n\n".join(earlier)}, [name])
        if again[name].points > marks[name].points:
            marks[name] = replace(again[name], spared=True)
    return Graded(submission.digest, tuple(marks.values()), broken_cells=run.broken_cells(end))


def _built_upon(marks, models):
    """Return pairs of a task without full points and the right answers to tasks before it.

    The functions of a set call each other by name. If the right function is defined at the end of
    the notebook, the functions that call it therefore use it instead of the student's.
    """
    wrong = [name for name, mark in marks.items() if mark.points < mark.max_points]
    found = []
    for name in wrong:
        before = list(marks)[: list(marks).index(name)]
        if marks[name].status != "stopped":
            before = [other for other in before if other in wrong]
        earlier = [models[other] for other in before if other in models]
        if earlier and marks[name].status != "unanswered":
            found.append((name, earlier))
    return found


class _Run:
    """Runs cells, calls the functions of tasks and marks them, in the time of one submission.

    Parameters
    ----------
    problem_set : ProblemSet
    secret : bytes
    limits : grader.sandbox.Limits
    unsafe : bool
    """

    def __init__(self, problem_set, secret, limits, unsafe):
        self.tasks = {task.grade_id: task for task in problem_set.tasks}
        self.records = {name: draw(task, secret) for name, task in self.tasks.items()}
        self.problem_set, self.limits, self.unsafe = problem_set, limits, unsafe
        self.end = time.monotonic() + limits.wall_s
        self.broken = {}  # broken[cell][kind of exception] lists the missing modules.
        # The cells that ended the process: True if only the definitions of the cell run from then
        # on, False if nothing of it does.
        self.fatal = {}

    def broken_cells(self, end):
        """Return the value of `Graded.broken_cells`."""
        return {
            number: "; ".join(
                f"{kind} ({', '.join(modules)})" if modules else kind
                for kind, modules in kinds.items()
            )
            for number, kinds in self.broken.items()
            if 0 <= number < end
        }

    def mark(self, cells, names):
        """Return the marks of some tasks.

        A step is a cell or a task. A step that takes too long is interrupted, and the run
        continues. If a step ends the process, or can be interrupted only by ending it, the notebook
        runs again without that task, or with only the imports and definitions of that cell, so that
        no other step loses by it. This is repeated while there is time and a task lacks points. The
        cells above the one that ended the process first run alone, so that the answers in them are
        marked whatever later cells do.
        """
        cells, waiting, above = dict(cells), list(names), None
        marks = {name: judge(self.tasks[name], self.records[name], None, {}) for name in names}
        # If a set has no tasks, nothing runs, since a person marks all of it.
        while waiting and (left := self.end - time.monotonic()) > 0:
            requests = [request(self.tasks[name], self.records[name].cases) for name in waiting]
            # A cell that ended the process is left out if it defines nothing or did so twice.
            cells = {number: cells[number] for number in cells if self.fatal.get(number, True)}
            run_now, above = list(cells.items())[:above], None
            outcome = sandbox.run(
                [(n, text, True) if n in self.fatal else (n, text) for n, text in run_now],
                [description for description, _ in requests],
                {key: array for _, inputs in requests for key, array in inputs.items()},
                checks=self.problem_set.checks,
                packages=self.problem_set.packages,
                stand_ins=self.problem_set.conventions.stand_ins,
                limits=replace(self.limits, wall_s=left),
                unsafe=self.unsafe,
            )
            answers, last = _sort(outcome.frames, list(cells), waiting, self.broken)
            for name, reports, arrays in answers:
                mark = judge(self.tasks[name], self.records[name], reports, arrays)
                marks[name] = max(mark, marks[name], key=lambda mark: mark.points)
            steps = [["cell", number] for number in cells] + [["task", name] for name in waiting]
            if last not in steps and len(run_now) == len(cells):
                break  # The run came to its end, or the submission reported that it did.
            waiting = [name for name in waiting if marks[name].status != "passed"]
            if last not in steps:
                continue
            kind, culprit = steps[steps.index(last)]
            if kind == "cell":
                self.broken[culprit] = {outcome.stopped or "process": []}
                defines = DEFINES.search(cells[culprit]) is not None
                self.fatal[culprit] = defines and culprit not in self.fatal
                above = list(cells).index(culprit) or None
            waiting = [name for name in waiting if name != culprit]
        return marks


def _sort(frames, cells, names, broken):
    """Return the answers of a run, and the step that ended it; record the cells that raised.

    For a task, the last function of its name counts. It may have been called twice, with the names
    that existed when it was defined and with those at the end of the notebook. Reports of cells are
    ignored once the inputs are known inside, since which of them raised, and what, could reveal the
    inputs.
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
            is_late, module = header.get("late") is True, str(error.get("module"))
            kind = "time" if is_late else exception_named(error.get("type")).__name__
            modules = broken.setdefault(int(cell), {}).setdefault(kind, [])
            is_new = MODULE.fullmatch(module) and module not in modules
            if kind == "ModuleNotFoundError" and is_new and len(modules) < MOST_MODULES:
                modules.append(module)
        elif task in names:
            answers[task, header.get("at_end") is True] = (header.get("answers"), arrays)
    return [(name, *found) for (name, _), found in answers.items()], last
