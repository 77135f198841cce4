"""The mistakes of a class: how many students made each."""

import re
from collections import Counter

from grader.batch import Batch
from grader.course import CourseError

WITHOUT_HINT = {
    "modified": "writes into one of its arguments",
    "stopped": "did not end, or took too much",
    "unanswered": "not answered",
}


def tally(batch):
    """Count what went wrong in each task of a set, over the submissions graded so far.

    Parameters
    ----------
    batch : grader.batch.Batch

    Returns
    -------
    n_graded : int
        Submissions that could be read and graded.
    by_task : dict of str to Counter
        The number of students who got each verdict, by grade id. A verdict is the id of a known mistake; else the
        exception it raised, as ``"raises ValueError"``; else ``"not recognised"``. Besides,
        ``"right"``, ``"modified"``, ``"stopped"`` and ``"unanswered"``.

    Raises
    ------
    CourseError
        If nothing is graded yet.
    """
    results = [batch.result(handed) for handed in batch.submissions]
    graded = [result["graded"] for result in results if result and "graded" in result]
    readable = [found["marks"] for found in graded if found["reason"] is None]
    if not readable:
        raise CourseError(f"No submission of {batch.name} is graded yet: run `make grade` first.")
    by_task = {task.grade_id: Counter() for task in batch.set.tasks}
    for mark in (mark for marks in readable for mark in marks):
        by_task[mark["grade_id"]][_verdict(mark)] += 1
    return len(readable), by_task


def stats(course, name, language=None):
    """Return a table of the mistakes of a class, the hardest task first.

    Parameters
    ----------
    course : grader.course.Course
    name : str
        The set.
    language : {"en", "es"}, optional
        The language of the hints; by default English, if the course speaks it.

    Returns
    -------
    str

    Raises
    ------
    CourseError
        If there is no such set, nothing of it is graded yet, or there is no such edition.
    """
    batch, language = Batch(course, name), course.spoken(language) or course.languages[-1]
    n_graded, by_task = tally(batch)
    hints = {
        task.grade_id: {
            m.id: _first_sentence(m.hint[language]) for m in task.exercise.misconceptions
        }
        for task in batch.set.tasks
    }
    lines = [f"{name}: {n_graded} graded"]
    for task, counts in sorted(by_task.items(), key=lambda item: item[1]["right"]):
        lines += ["", f"{task}: {counts.pop('right', 0)} right"]
        width = max(map(len, counts), default=0)
        for verdict, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            said = hints[task].get(verdict) or WITHOUT_HINT.get(verdict, "")
            lines.append(f"{count:4}  {verdict:{width}}  {said}".rstrip())
    if batch.skipped or batch.remarks:
        lines += ["", *batch.skipped, *batch.remarks]
    return "\n".join(lines)


def _verdict(mark):
    if mark["status"] == "passed":
        return "right"
    if mark["status"] in ("unanswered", "stopped"):
        return mark["status"]
    if mark["misconception"]:
        return mark["misconception"]
    if mark["error"]:
        return f"raises {mark['error']}"
    only_arguments = all(right for group, right in mark["groups"].items() if group != "arguments")
    return "modified" if only_arguments else "not recognised"


def _first_sentence(hint):
    return re.split(r"(?<=[.:])\s", hint, maxsplit=1)[0].rstrip(":")
