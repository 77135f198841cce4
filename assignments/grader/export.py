"""A table of marks for the LMS."""

import csv
import io

from nbgrader.api import MissingEntry

from assignments.grader.course import write
from assignments.grader.gradebook import check_gradebook, open_gradebook


def export(course, name):
    """Write the marks of a set as CSV: one row for each student of the gradebook.

    Parameters
    ----------
    course : assignments.grader.course.Course
    name : str

    Returns
    -------
    Path
        ``COURSE/grading/SET.csv``. Empty marks are those of students who did not hand in.

    Raises
    ------
    CourseError
        If the gradebook cannot be reached, or there is no such set.
    """
    asked = course.problem_set(name)
    tasks = [*(task.grade_id for task in asked.tasks), *asked.manual]
    check_gradebook(course.config("es"), name)
    with open_gradebook(course.config("es")) as book:
        rows = [_row(book, student, name, tasks) for student in book.students]
    table = io.StringIO()
    columns = ["student", "last_name", "first_name", "email", "set", "submitted", "score"]
    columns += ["late_penalty", "total", "max_score", "needs_manual_grade", *tasks]
    writer = csv.DictWriter(table, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path = course.folder / "grading" / f"{name}.csv"
    write(path, table.getvalue())
    return path


def _row(book, student, name, tasks):
    row = {
        "student": student.id,
        "last_name": student.last_name or "",
        "first_name": student.first_name or "",
        "email": student.email or "",
        "set": name,
    }
    try:
        submission = book.find_submission(name, student.id)
        notebook = book.find_submission_notebook(name, name, student.id)
    except MissingEntry:
        return row
    scores = {grade.name: f"{grade.score:g}" for grade in notebook.grades}
    penalty = submission.late_submission_penalty or 0
    return row | {
        "submitted": submission.timestamp.isoformat(" ") if submission.timestamp else "",
        "score": f"{submission.score:g}",
        "late_penalty": f"{penalty:g}",
        "total": f"{max(0, submission.score - penalty):g}",
        "max_score": f"{submission.max_score:g}",
        "needs_manual_grade": "yes" if submission.needs_manual_grade else "no",
        **{task: scores.get(task, "") for task in tasks},
    }
