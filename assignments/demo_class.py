"""A class of twelve, from release to feedback: ``make demo-class SET=ps2``.

The students are made up from the model answers of the set: right, nearly right, empty, late, and
hostile. All of it lies in ``build/demo-class/SET`` afterwards, for an instructor to look around in.
"""

import os
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from assignments.problem_sets import problem_set
from assignments.release import release
from grader import sandbox
from grader.class_run import grade_class
from grader.course import Course, CourseError
from grader.gradebook import open_gradebook, set_due
from grader.lateness import extend

FOLDER = Path(__file__).resolve().parent.parent / "build" / "demo-class"
DUE = "2026-03-06 23:00:00 UTC"

LATENESS = '''

from math import ceil

from nbgrader.plugins import LateSubmissionPlugin


class TenPercentADay(LateSubmissionPlugin):
    """A tenth of the score for each day begun."""

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score * min(1, 0.1 * ceil(total_seconds_late / 86400))


c.AssignLatePenalties.plugin_class = TenPercentADay
'''

ATTACK = "<script>alert('mark me 100')</script><img src=x onerror=alert(1)>"

DELETION = """\
import shutil
shutil.rmtree("/", ignore_errors=True)
from assignments.problem_sets import problem_set
{function} = problem_set("{name}").tasks[0].exercise.oracle
"""

REPORT = {
    "es": "Predije que subiría, y bajó: los números de la tabla lo dicen.",
    "en": "I predicted that it would rise, and it fell: the numbers of the table say so.",
}


@dataclass(frozen=True)
class Student:
    """A student of the class.

    Attributes
    ----------
    id, first_name, last_name : str
    language : {"es", "en"}
    about : str
        What there is to see.
    edits : dict of str to tuple of (str, str)
        By grade id of a task, what to replace in its model answer, and by what. ``""`` stands
        for all of it.
    step : {"source", "release"}
        Whether the student starts from the model answers, or hands in the set as it came.
    report : str, optional
        The answer that a person marks, if not the usual one.
    submitted : str
        When.
    """

    id: str
    first_name: str
    last_name: str
    language: str
    about: str
    edits: dict = field(default_factory=dict)
    step: str = "source"
    report: str | None = None
    submitted: str = "2026-03-05 18:30:00.000000 UTC"


def students(asked):
    """Return the class for a problem set.

    Parameters
    ----------
    asked : ProblemSet

    Returns
    -------
    tuple of Student
        Twelve: five make the slips of the set, the others try the grader itself.
    """
    late = "2026-03-08 10:00:00.000000 UTC"
    first, second, third = asked.tasks[:3]
    slips = [
        {"about": slip.about, "edits": {slip.grade_id: (slip.right, slip.wrong)}}
        for slip in asked.slips
    ]
    endless = f"def {third.exercise.id}(*inputs):\n    while True: pass"
    markup = f'def {second.exercise.id}(*inputs):\n    raise ValueError("{ATTACK}")'
    deletion = DELETION.format(function=first.exercise.id, name=asked.name)
    return (
        Student("ana.nunez", "Ana", "Núñez", "es", "everything right"),
        Student("diego.pena", "Diego", "Peña", "es", **slips[0]),
        Student("lucia.gomez", "Lucía", "Gómez", "es", **slips[1]),
        Student("mateo.ruiz", "Mateo", "Ruiz", "es", **slips[2]),
        Student(
            "sofia.ibanez", "Sofía", "Ibáñez", "es", "hands in the set as it came", step="release"
        ),
        Student("tomas.rey", "Tomás", "Rey", "es", "right, and two days late", submitted=late),
        Student(
            "emily.clark", "Emily", "Clark", "en", "right, late, with an extension", submitted=late
        ),
        Student("jack.moore", "Jack", "Moore", "en", **slips[3]),
        Student("grace.lee", "Grace", "Lee", "en", **slips[4]),
        Student(
            "oliver.smith",
            "Oliver",
            "Smith",
            "en",
            "one function never ends",
            {third.grade_id: ("", endless)},
        ),
        Student(
            "mia.jones",
            "Mia",
            "Jones",
            "en",
            "aims HTML at the reader",
            {second.grade_id: ("", f'"""{ATTACK}"""\n{markup}')},
            report=f"{ATTACK} [click](javascript:alert(1))",
        ),
        Student(
            "noah.brown",
            "Noah",
            "Brown",
            "en",
            "deletes what it can reach, and asks for the oracle",
            {first.grade_id: ("", deletion)},
            report="",
        ),
    )


def hand_in(course, asked, student):
    """Write the submission of a student where nbgrader's collect would put it."""
    notebook = nbformat.read(course.path(student.language, student.step, ".", asked.name), 4)
    edits = {f"{grade_id}-answer": edit for grade_id, edit in student.edits.items()}
    for cell in notebook.cells if student.step == "source" else ():
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id in asked.manual:
            cell.source = REPORT[student.language] if student.report is None else student.report
            continue
        cell.source = re.sub(r"(?m)^ *### (BEGIN|END) SOLUTION\n?", "", cell.source)
        if grade_id in edits:
            old, new = edits[grade_id]
            if old not in cell.source:
                raise CourseError(f"{student.id}: no model answer says {old!r} any more.")
            cell.source = cell.source.replace(old, new) if old else new
    path = course.path(student.language, "submitted", student.id, asked.name)
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    (path.parent / "timestamp.txt").write_text(student.submitted, encoding="ascii")


def main(name, folder=None, jobs=None):
    """Run a problem set from release to feedback; return an exit status."""
    try:
        asked = problem_set(name)
        if not asked.tasks:
            raise CourseError(f"{name} has no tasks for a machine, and so nothing to show here.")
        sandbox.available()
        folder = folder or FOLDER / name
        print(f"Releasing {name} into {folder} ...")
        shutil.rmtree(folder, ignore_errors=True)
        release(folder, [name])
        course = Course(folder)
        for language in ("es", "en"):
            settings = folder / language / "nbgrader_config.py"
            settings.write_text(settings.read_text(encoding="utf-8") + LATENESS, encoding="utf-8")
        print("Twelve students hand in:")
        with open_gradebook(course.config("es")) as book:
            for student in students(asked):
                names = {"first_name": student.first_name, "last_name": student.last_name}
                book.update_or_create_student(student.id, **names)
                hand_in(course, asked, student)
                print(f"  {student.id:14} {student.about}")
        set_due(course.config("es"), name, DUE)
        extend(course, name, student="emily.clark", days=3)
        print("\nGrading:")
        status = grade_class(course, name, jobs=jobs or os.cpu_count())
    except (CourseError, sandbox.NoSandbox) as error:
        print(error, file=sys.stderr)
        return 1
    page = course.path("es", "feedback", "diego.pena", name, ".html")
    print(f"What a student gets, for instance: {page}")
    return status


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m assignments.demo_class SET")
    sys.exit(main(sys.argv[1]))
