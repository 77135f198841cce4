"""Writes marks into nbgrader's gradebook, where formgrader and the nbgrader commands read them."""

import fcntl
import logging
import re
import warnings
from contextlib import contextmanager

from nbgrader.api import Gradebook, InvalidEntry, MissingEntry
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import make_url
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from grader.course import CourseError
from grader.lateness import Lateness
from grader.times import EXAMPLE, NoTime, read_time, told

NO_RESPONSE = "No response."
# nbgrader logs hundreds of lines about each error here, and raises it as well.
logging.getLogger("tornado.application").setLevel(logging.CRITICAL + 1)


@contextmanager
def open_gradebook(config):
    """Give nbgrader's gradebook of a course, for the length of a ``with``.

    Parameters
    ----------
    config : traitlets.config.Config
        The settings of an edition; all editions name the same database.

    Raises
    ------
    CourseError
        If the database cannot be reached.
    """
    with _reaching(), warnings.catch_warnings():
        # nbgrader 0.9 builds its rows in an order that newer versions of SQLAlchemy warn about.
        warnings.simplefilter("ignore", SAWarning)
        with Gradebook(_url(config), config.CourseDirectory.course_id) as book:
            yield book


def check_gradebook(config, name):
    """Raise `CourseError` unless the gradebook can be reached and knows a set."""
    with open_gradebook(config) as book:
        try:
            book.find_assignment(name)
        except MissingEntry:
            raise CourseError(f"The gradebook knows no {name}: run `make release` first.") from None


def is_recorded(config, student, name):
    """Return whether the gradebook has this student's submission of a set."""
    with open_gradebook(config) as book:
        try:
            book.find_submission(name, student)
        except MissingEntry:
            return False
        return True


def record(config, student, name, marks, unanswered, timestamp):
    """Write the marks of the grader for one submission; the marks of a person stay.

    Parameters
    ----------
    config : traitlets.config.Config
        The settings of the edition that the student handed in.
    student, name : str
        Who, and which set.
    marks : dict of str to float
        Points by grade id.
    unanswered : collection of str
        Grade ids of solution cells that were left as they came.
    timestamp : str or None
        When it was handed in, as nbgrader's collect writes it.

    Raises
    ------
    CourseError
        If the gradebook cannot be reached, or has no such set.
    """
    check_gradebook(config, name)
    with _one_at_a_time(config), open_gradebook(config) as book:
        book.update_or_create_student(student)
        when = {"timestamp": timestamp} if timestamp else {}
        book.update_or_create_submission(name, student, **when)
        notebook = book.find_submission_notebook(name, name, student)
        # This follows nbgrader's SaveAutoGrades: no person has to read a missing answer, and a mark
        # that a person gave stays and is shown to them again.
        for grade in notebook.grades:
            grade.auto_score = marks.get(grade.name, 0.0 if grade.name in unanswered else None)
            grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
        for comment in notebook.comments:
            comment.auto_comment = NO_RESPONSE if comment.name in unanswered else None
        book.db.commit()


def settle(config, student, name, lateness=None):
    """Apply the late penalty, and return what the gradebook then says of a submission.

    nbgrader's plugin computes the penalty. Extensions granted through nbgrader's interface hold,
    unless the course grants another. Marks given by hand count.

    Parameters
    ----------
    config : traitlets.config.Config
    student, name : str
    lateness : grader.lateness.Lateness, optional
        Extensions and slip days of the course.

    Returns
    -------
    dict
        ``student``, the name or else the id; ``score``, ``max_score``, ``penalty`` and
        ``total``; ``hours_late``, slip days not counted; ``slip_days`` used and
        ``slip_days_left``; ``needs_manual_grade``; ``grades``, for each grade id its
        ``score``, ``max_score``, ``is_manual`` and ``is_pending``; ``comments`` that a person
        wrote, by the id of the answer.
    """
    lateness, plugin = lateness or Lateness(), late_plugin(config)
    with _reaching(), _one_at_a_time(config), open_gradebook(config) as book:
        submission = book.find_submission(name, student)
        notebook = book.find_submission_notebook(name, name, student)
        score, seconds = float(submission.score), lateness.seconds_late(submission)
        used, left = lateness.slips(book, plugin, student, name)
        penalty = lateness.penalty(plugin, submission, used)
        notebook.late_submission_penalty = penalty or None
        book.db.commit()
        names = (submission.student.first_name, submission.student.last_name)
        return {
            "student": " ".join(filter(None, names)) or student,
            "score": score,
            "max_score": float(submission.max_score),
            "penalty": penalty,
            "total": max(0.0, score - penalty),
            "hours_late": seconds / 3600,
            "slip_days": used,
            "slip_days_left": left,
            "needs_manual_grade": bool(submission.needs_manual_grade),
            "grades": {
                grade.name: {
                    "score": float(grade.score),
                    "max_score": float(grade.max_score),
                    "is_manual": grade.manual_score is not None,
                    "is_pending": grade.manual_score is None and grade.auto_score is None,
                }
                for grade in notebook.grades
            },
            "comments": {c.name: c.manual_comment for c in notebook.comments if c.manual_comment},
        }


def late_plugin(config):
    """Return nbgrader's plugin for late submissions, as the course names it."""
    preprocessor = AssignLatePenalties(config=config)
    preprocessor.init_plugin()
    return preprocessor.plugin_inst


def due_date(config, name):
    """Return when a set is due, in UTC without zone, or None."""
    check_gradebook(config, name)
    with open_gradebook(config) as book:
        return book.find_assignment(name).duedate


def set_due(config, name, text):
    """Set the due date of a set, or remove it; return a sentence that states the new date.

    Parameters
    ----------
    config : traitlets.config.Config
    name : str
    text : str
        Such as ``2026-03-06 23:00 UTC``; ``none`` for no due date.

    Raises
    ------
    CourseError
        If the time is none, or the gradebook knows no such set.
    """
    check_gradebook(config, name)
    try:
        due = None if text.strip().lower() == "none" else read_time(text)
    except NoTime as reason:
        raise CourseError(
            f"Expected a time such as {EXAMPLE}, or none, got {text!r}: {reason}."
        ) from None
    with open_gradebook(config) as book:
        book.find_assignment(name).duedate = due
        book.db.commit()
    return f"{name} is due {told(due)}." if due else f"{name} has no due date."


def enter_names(config, people):
    """Write the names and e-mail addresses of students that are not empty.

    Parameters
    ----------
    config : traitlets.config.Config
    people : iterable of grader.roster.Person
    """
    with _reaching(), _one_at_a_time(config), open_gradebook(config) as book:
        known = {student.id: student for student in book.students}
        for person in people:
            if person.id not in known:
                known[person.id] = book.add_student(person.id)
            for name in ("first_name", "last_name", "email"):
                if value := getattr(person, name):
                    setattr(known[person.id], name, value)
        book.db.commit()


def overrule(config, student, name, task, points):
    """Replace the mark of a task by that of a person.

    Raises
    ------
    CourseError
        If there is no such task or submission, or the task has fewer points.
    """
    with _reaching(), _one_at_a_time(config), open_gradebook(config) as book:
        try:
            grade = book.find_grade(task, name, name, student)
        except MissingEntry:
            raise CourseError(f"The gradebook has no {task} of {name} by {student}.") from None
        if not 0 <= points <= grade.max_score:
            raise CourseError(f"{task} gives 0 to {grade.max_score:g} points, got {points:g}.")
        grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()


def _url(config):
    return config.CourseDirectory.db_url


@contextmanager
def _reaching():
    try:
        yield
    except ModuleNotFoundError as error:
        raise CourseError(
            f"The gradebook cannot be reached: its URL asks for {error.name}, which is not "
            "installed. For PostgreSQL it begins with postgresql+psycopg://"
        ) from None
    except (SQLAlchemyError, InvalidEntry, OSError) as error:
        reason = str(error.args[0] if error.args else error).splitlines()[0]
        if isinstance(error, OSError):
            reason = str(error)
        what = "written" if re.search("full|readonly|No space", reason) else "reached"
        raise CourseError(f"The gradebook cannot be {what}: {reason}") from None


@contextmanager
def _one_at_a_time(config):
    """Lock the gradebook for writing, since SQLite would fail instead of waiting."""
    url = make_url(_url(config))
    if url.get_backend_name() != "sqlite":
        yield
        return
    with open(f"{url.database}.lock", "a") as turn:
        fcntl.lockf(turn, fcntl.LOCK_EX)
        yield
