"""Due dates, extensions and slip days.

Extensions are in ``COURSE/extensions.csv``, one row for a student or a group of the roster, which a
person may edit; slip days, the same number for every student in the whole course, in
``COURSE/course.toml``. Both are counted whenever marks are updated, before or after grading.
nbgrader's plugin says what a late day costs.
"""

import math
import tomllib
from datetime import timedelta

from nbgrader.api import MissingEntry

from grader.course import CourseError, write
from grader.roster import Roster
from grader.tables import read_table, write_table
from grader.times import EXAMPLE, NoTime, read_time, told

COLUMNS = ("set", "student", "group", "days", "until", "note")
DAY = 86400


class Lateness:
    """The extensions and slip days of a course.

    Parameters
    ----------
    rows : list of dict
        The rows of ``extensions.csv``, checked.
    groups : dict of str to str
        The group of each student of the roster.
    slip_days : int
        The late days that each student has.
    """

    def __init__(self, rows=(), groups=None, slip_days=0):
        self.rows, self.groups, self.slip_days = list(rows), groups or {}, slip_days

    @classmethod
    def of(cls, course):
        """Return the extensions and slip days of a course.

        Raises
        ------
        CourseError
            If a file of it cannot be understood.
        """
        roster = Roster.of(course) or ()
        return cls(_rows(course), {one.id: one.group for one in roster}, _slip_days(course))

    def extension(self, name, student, due):
        """Return the extension of a student for a set, or None if no row grants one.

        Parameters
        ----------
        name, student : str
        due : datetime
            The due date of the set.

        Returns
        -------
        timedelta or None
            The extension of the student's own row if there is one, else of the group's. Of
            several rows the last counts.
        """
        rows = [row for row in self.rows if row["set"] == name]
        own = [row for row in rows if row["student"] == student]
        group = self.groups.get(student)
        of_group = [row for row in rows if group and row["group"] == group]
        for row in (own or of_group)[-1:]:
            if row["until"]:
                return max(timedelta(), read_time(row["until"]) - due)
            return timedelta(days=float(row["days"]))
        return None

    def slips(self, book, plugin, student, name):
        """Return how many slip days a student used on a set, and how many remain.

        They are used in the order of the due dates, and only where they reduce a penalty: on each
        set the fewest that make its penalty as small as possible.

        Parameters
        ----------
        book : nbgrader.api.Gradebook
        plugin : nbgrader.plugins.LateSubmissionPlugin
        student, name : str
        """
        left = self.slip_days
        due = [assignment for assignment in book.assignments if assignment.duedate]
        for assignment in sorted(due, key=lambda one: (one.duedate, one.name)) if left else ():
            try:
                submission = book.find_submission(assignment.name, student)
            except MissingEntry:
                continue
            used = self._fewest(plugin, submission, left)
            left -= used
            if assignment.name == name:
                return used, left
        return 0, left

    def seconds_late(self, submission):
        """Return how many seconds late a submission is, after extensions and before slip days."""
        due = submission.assignment.duedate
        if due is None or submission.timestamp is None:
            return 0.0
        granted = self.extension(submission.assignment.name, submission.student.id, due)
        if granted is None:
            granted = submission.extension or timedelta()  # nbgrader has extensions of its own.
        return max(0.0, (submission.timestamp - due - granted).total_seconds())

    def penalty(self, plugin, submission, slip_days):
        """Return what a submission loses if its student uses some slip days on it."""
        seconds = self.seconds_late(submission) - slip_days * DAY
        if seconds <= 0:
            return 0.0
        score = float(submission.score)
        lost = plugin.late_submission_penalty(submission.student.id, score, seconds)
        return min(max(0.0, float(lost or 0)), score)

    def _fewest(self, plugin, submission, left):
        most = min(left, math.ceil(self.seconds_late(submission) / DAY))
        return min(range(most + 1), key=lambda days: self.penalty(plugin, submission, days))


def extend(course, name, *, student=None, group=None, days=None, until=None):
    """Grant an extension, in place of one that was granted before.

    Parameters
    ----------
    course : grader.course.Course
    name : str
        The set.
    student, group : str
        Exactly one of the two.
    days : float
    until : str
        Exactly one of the two; ``until`` is a time such as ``2026-03-09 23:00 UTC``.

    Returns
    -------
    str
        A sentence that says what holds now.

    Raises
    ------
    CourseError
        If nobody is called that, or the time is none.
    """
    course.problem_set(name)
    roster, rows = Roster.of(course), _rows(course)
    if group is not None and not (roster and roster.group(group)):
        raise CourseError(f"Nobody in {course.folder / 'roster.csv'} is in the group {group!r}.")
    if student is not None and roster and student not in roster:
        raise CourseError(f"Nobody in {course.folder / 'roster.csv'} is called {student!r}.")
    row = dict.fromkeys(COLUMNS, "") | {"set": name, "student": student or "", "group": group or ""}
    row |= {"days": f"{days:g}"} if days is not None else {"until": until.strip()}
    _check(course.folder / "extensions.csv", row | {"line": "new"})
    who = ("set", "student", "group")
    rows = [one for one in rows if any(one[column] != row[column] for column in who)]
    if until is not None:
        # The time is written as it was understood, so that the next program understands the same.
        row["until"] = f"{read_time(until):%Y-%m-%d %H:%M:%S} UTC"
    write_table(course.folder / "extensions.csv", COLUMNS, [*rows, row])
    what = f"{days:g} more days" if days is not None else f"until {told(read_time(until))}"
    return f"{name}, {student or f'group {group}'}: {what}. The next `make grade` counts it."


def set_slip_days(course, days):
    """Give every student a number of slip days; return a sentence that states it."""
    if days < 0:
        raise CourseError(f"Expected a number of slip days, got {days}.")
    write(course.folder / "course.toml", f"slip_days = {days}  # of each student, in all\n")
    return f"Each student has {days} slip days. The next `make grade` counts them."


def _rows(course):
    path = course.folder / "extensions.csv"
    rows = read_table(path) if path.exists() else []
    for row in rows:
        _check(path, row)
    return [{column: row.get(column, "") for column in COLUMNS} for row in rows]


def _check(path, row):
    """Raise `CourseError` unless a row says who gets how much, for which set."""
    where = f"{path}, line {row['line']}"
    row = dict.fromkeys(COLUMNS, "") | row
    if bool(row["student"]) == bool(row["group"]) or not row["set"]:
        raise CourseError(f"{where}: expected a set, and a student or a group.")
    if bool(row["days"]) == bool(row["until"]):
        raise CourseError(f"{where}: expected days or until, one of them.")
    try:
        if row["until"]:
            read_time(row["until"])
    except NoTime as reason:
        raise CourseError(
            f"{where}: expected a time such as {EXAMPLE}, got {row['until']!r}: {reason}."
        ) from None
    try:
        is_number = not row["days"] or 0 <= float(row["days"]) < 10_000
    except ValueError:
        is_number = False
    if not is_number:
        raise CourseError(f"{where}: expected a number of days, got {row['days']!r}.")


def _slip_days(course):
    path = course.folder / "course.toml"
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8")).get("slip_days", 0)
    except FileNotFoundError:
        return 0
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CourseError(f"{path} cannot be read: {error}") from None
    if not isinstance(said, int) or isinstance(said, bool) or said < 0:
        raise CourseError(f"{path}: expected a number of slip_days such as 3, got {said!r}.")
    return said
