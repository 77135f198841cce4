"""A table of marks, for a person or for the LMS."""

from nbgrader.api import MissingEntry

from grader.gradebook import check_gradebook, late_plugin, open_gradebook
from grader.lateness import Lateness
from grader.lms import canvas_table, moodle_table
from grader.roster import Person, Roster
from grader.tables import write_table


def export(course, name, lms=None, column=None):
    """Write the marks of a set as CSV: one row for each student of the gradebook.

    Parameters
    ----------
    course : grader.course.Course
    name : str
    lms : {"moodle", "canvas"}, optional
        Whose import of grades reads it; without one it is a table with the marks of each task.
    column : str, optional
        What the LMS calls the assignment, if not like the set.

    Returns
    -------
    Path
        ``COURSE/grading/SET.csv``, or ``SET_moodle.csv``. Empty marks are those of students who
        did not hand in.

    Raises
    ------
    CourseError
        If the gradebook cannot be reached, or there is no such set.
    """
    asked, config = course.problem_set(name), course.config()
    check_gradebook(config, name)
    lateness, plugin = Lateness.of(course), late_plugin(config)
    with open_gradebook(config) as book:
        rows = [_row(book, student, name, lateness, plugin) for student in book.students]
        max_score = f"{book.find_assignment(name).max_score:g}"
    columns = ["student", "last_name", "first_name", "email", "set", "submitted", "score"]
    columns += ["late_penalty", "slip_days", "total", "max_score", "needs_manual_grade"]
    columns += asked.grade_ids
    if lms:
        marks = {row["student"]: row["total"] for row in rows if "total" in row}
        columns, rows = _table(lms, _people(course, rows), marks, column or name, max_score)
    path = course.folder / "grading" / (f"{name}_{lms}.csv" if lms else f"{name}.csv")
    write_table(path, columns, rows)
    return path


def _table(lms, people, marks, column, max_score):
    if lms == "moodle":
        return moodle_table(people, marks, column)
    return canvas_table(people, marks, column, max_score)


def _people(course, rows):
    """Return the students of the gradebook, with what the roster knows of them."""
    roster = Roster.of(course) or Roster([])
    return [
        roster.people.get(row["student"])
        or Person(row["student"], row["last_name"], row["first_name"], row["email"])
        for row in rows
    ]


def _row(book, student, name, lateness, plugin):
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
        "slip_days": str(lateness.slips(book, plugin, student.id, name)[0] or ""),
        "total": f"{max(0, submission.score - penalty):g}",
        "max_score": f"{submission.max_score:g}",
        "needs_manual_grade": "yes" if submission.needs_manual_grade else "no",
        **scores,
    }
