"""A class of twelve, from release to feedback: ``make demo-class``.

The students are made up from the model answers: right, nearly right, empty, late, and hostile.
All of it lies in ``build/demo-class`` afterwards, for an instructor to look around in.
"""

import os
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from assignments.grader import sandbox
from assignments.grader.class_run import grade_class
from assignments.grader.course import Course, CourseError
from assignments.grader.gradebook import open_gradebook
from assignments.release import release

FOLDER = Path(__file__).resolve().parent.parent / "build" / "demo-class"
SET = "ps2"
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
from attn.reference import softmax as softmax_with_temperature
"""


@dataclass(frozen=True)
class Student:
    """One of the class.

    Attributes
    ----------
    id, first_name, last_name : str
    language : {"es", "en"}
    about : str
        What there is to see.
    edits : dict of str to tuple of (str, str)
        By grade id of an answer, what to replace in the model answer, and by what. ``""``
        stands for all of it.
    report : str
        The answer that a person marks.
    submitted : str
        When.
    """

    id: str
    first_name: str
    last_name: str
    language: str
    about: str
    edits: dict = field(default_factory=dict)
    report: str = "La tercera columna cae: $q \\cdot q$ crece con $d_k$."
    submitted: str = "2026-03-05 18:30:00.000000 UTC"


SCALE = " / np.sqrt(query.shape[-1])"
STUDENTS = (
    Student("ana.nunez", "Ana", "Núñez", "es", "everything right"),
    Student(
        "diego.pena", "Diego", "Peña", "es", "forgets the scale",
        {"attend-once-answer": (SCALE, "")},
    ),
    Student(
        "lucia.gomez", "Lucía", "Gómez", "es", "inverts the mask",
        {"packed-self-attention-answer": ("np.where(mask, scores, -np.inf)",
                                          "np.where(mask, -np.inf, scores)")},
    ),
    Student(
        "mateo.ruiz", "Mateo", "Ruiz", "es", "lets tokens see the future",
        {"causal-padding-mask-answer": ("np.tril", "np.triu")},
    ),
    Student(
        "sofia.ibanez", "Sofía", "Ibáñez", "es", "hands in the set as it came",
        {"": ("", "")}, report="",
    ),
    Student(
        "tomas.rey", "Tomás", "Rey", "es", "right, and two days late",
        submitted="2026-03-08 10:00:00.000000 UTC",
    ),
    Student(
        "emily.clark", "Emily", "Clark", "en", "right, late, with an extension",
        report="The third column falls: $q \\cdot q$ grows with $d_k$.",
        submitted="2026-03-08 10:00:00.000000 UTC",
    ),
    Student(
        "jack.moore", "Jack", "Moore", "en", "does not mend the fault",
        {"mended-self-attention-answer": ("query @ key.mT", "key @ query.mT")},
        report="I predicted that it would stay.",
    ),
    Student(
        "grace.lee", "Grace", "Lee", "en", "breaks on large numbers",
        {"softmax-with-temperature-answer": (
            "np.exp(scores - np.where(np.isfinite(peak), peak, 0))", "np.exp(scores)")},
        report="It falls because the softmax saturates.",
    ),
    Student(
        "oliver.smith", "Oliver", "Smith", "en", "one function never ends",
        {"causal-padding-mask-answer": ("", "def causal_padding_mask(ids):\n    while True: pass")},
        report="I ran out of time.",
    ),
    Student(
        "mia.jones", "Mia", "Jones", "en", "aims HTML at the reader",
        {"attend-once-answer": ("", f'"""{ATTACK}"""\ndef attend_once(query, key, value, '
                                    'mask=None):\n    raise ValueError("' + ATTACK + '")')},
        report=ATTACK + " [click](javascript:alert(1))",
    ),
    Student(
        "noah.brown", "Noah", "Brown", "en", "deletes what it can reach, and asks for the oracle",
        {"softmax-with-temperature-answer": (
            "", DELETION)},
        report="",
    ),
)  # fmt: skip


def hand_in(course, student):
    """Write what a student hands in, where nbgrader's collect would put it."""
    step = "release" if "" in student.edits else "source"
    notebook = nbformat.read(course.path(student.language, step, ".", SET), as_version=4)
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id == "same-projection" and step == "source":
            cell.source = student.report
            continue
        cell.source = re.sub(r"(?m)^ *### (BEGIN|END) SOLUTION\n?", "", cell.source)
        if grade_id in student.edits:
            old, new = student.edits[grade_id]
            if old not in cell.source:
                raise CourseError(f"{student.id}: no model answer says {old!r} any more.")
            cell.source = cell.source.replace(old, new) if old else new
    path = course.path(student.language, "submitted", student.id, SET)
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    (path.parent / "timestamp.txt").write_text(student.submitted, encoding="ascii")


def main(folder=FOLDER, jobs=None):
    """Show the whole life of the problem set; return an exit status."""
    try:
        sandbox.available()
        print(f"Releasing {SET} into {folder} ...")
        shutil.rmtree(folder, ignore_errors=True)
        release(folder, [SET])
        course = Course(folder)
        for language in ("es", "en"):
            settings = folder / language / "nbgrader_config.py"
            settings.write_text(settings.read_text(encoding="utf-8") + LATENESS, encoding="utf-8")
        print("Twelve students hand in:")
        with open_gradebook(course.config("es")) as book:
            book.update_or_create_assignment(SET, duedate=DUE)
            for student in STUDENTS:
                names = {"first_name": student.first_name, "last_name": student.last_name}
                book.update_or_create_student(student.id, **names)
                hand_in(course, student)
                print(f"  {student.id:14} {student.about}")
            book.update_or_create_submission(SET, "emily.clark")
            book.grant_extension(SET, "emily.clark", days=3)
        print("\nGrading:")
        status = grade_class(course, SET, jobs=jobs or os.cpu_count())
    except (CourseError, sandbox.NoSandbox) as error:
        print(error, file=sys.stderr)
        return 1
    page = course.path("es", "feedback", "diego.pena", SET, ".html")
    print(f"What a student gets, for instance: {page}")
    return status


if __name__ == "__main__":
    sys.exit(main())
