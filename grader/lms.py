"""The formats of Moodle and Canvas: names of files in their archives, tables of grades."""

import re
from dataclasses import dataclass, replace

from grader.course import CourseError
from grader.roster import (
    COLUMNS,
    Roster,
    checked,
    has_ids,
    is_known,
    is_name,
    key,
    row_of,
)
from grader.tables import read_table, write_table

# Moodle: a folder for each student, whose name ended with _ in older versions, or files in one
# folder. Moodle makes the whole name of a folder, so the last number in it is Moodle's. The student
# chooses the end of the name of a file, so of two numbers in it nobody can tell which is Moodle's.
MOODLE_FOLDER = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)_?")
MOODLE_FILE = re.compile(
    r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)_(?P<file>.*)"
)
# Canvas writes last and first name without blanks, then its numbers of the student and the file.
CANVAS = re.compile(
    r"(?:(?P<name>.+?)_)??(?P<late>LATE_)?(?P<number>\d+)_\d+_(?P<file>.+)", re.IGNORECASE
)


@dataclass(frozen=True)
class Named:
    """The name of a file in an LMS's archive, taken apart.

    Attributes
    ----------
    lms : {"moodle", "canvas"}
    name : str or None
        The name of the student, as the LMS writes it; None if it can be read in two ways.
    number : str
        The number of the student (Canvas), or of the participant in this assignment (Moodle).
    file : str
        How the student called the file.
    is_late : bool
        Whether the LMS says so.
    """

    lms: str
    name: str | None
    number: str
    file: str
    is_late: bool = False


def named(parts):
    """Return the parts of the path of a file if Moodle or Canvas named it, or else None.

    Only the outermost name is theirs; the names below are the student's.
    """
    if found := (MOODLE_FOLDER if len(parts) > 1 else MOODLE_FILE).fullmatch(parts[0]):
        file = parts[-1] if len(parts) > 1 else found["file"]
        is_file = found["kind"] == "file"  # Another kind is a text typed into a form.
        is_clear = len(parts) > 1 or MOODLE_FILE.fullmatch(f"__{found['file']}") is None
        name = found["name"] if is_clear else None
        return Named("moodle", name, found["number"], file if is_file else "")
    if len(parts) == 1 and (found := CANVAS.fullmatch(parts[0])):
        is_late = found["late"] is not None
        return Named("canvas", found["name"] or "", found["number"], found["file"], is_late)
    return None


def whose(given, roster):
    """Return the id of the student that an LMS names, or None if it is nobody or several.

    Parameters
    ----------
    given : Named
    roster : Roster or None
        Without one, an id is made up from the name.
    """
    if roster is None:
        plain = re.sub(r"[^\w.@+-]+", " ", given.name).strip(" .")
        made = f"{plain}-{given.number}".strip("-") if given.lms == "canvas" else plain
        return made if is_name(made) else None
    name, number = key(given.name), given.number
    if given.lms == "canvas":
        person = roster.find(lambda person: person.canvas_id == number)
        # A person of the same name with another number is another person.
        person = person or roster.find(lambda one: name in one.names and not one.canvas_id)
    else:
        person = roster.find(lambda person: number in re.findall(r"\d+", person.moodle_id))
        person = person or roster.find(lambda person: name in person.names)
    return person.id if person else None


def import_roster(course, path):
    """Add the students in a table, of an LMS or one's own, to the roster.

    Students already in the roster stay, with the fields that the table lacks; so do the numbers
    that Moodle gave them for other assignments.

    Parameters
    ----------
    course : grader.course.Course
    path : Path

    Returns
    -------
    path : Path
        The path of the roster.
    n_new, n_known : int
        How many came, and how many of them were there already.
    unread : list of str
        The columns of which nothing was taken.

    Raises
    ------
    CourseError
        If the table has no students, or a row of it cannot be one.
    """
    rows = read_table(path, has_ids)
    found = checked(path, rows) if rows and has_ids(rows[0]) else []
    headings = [heading for heading in (rows[0] if rows else ()) if heading not in ("line", "")]
    if not found:
        there = f"; its columns are {', '.join(headings)}" if headings else ""
        raise CourseError(
            f"{path} has no students: expected a table of Moodle, Canvas or Blackboard, or a column "
            f"id{there}."
        )
    old = Roster.of(course) or Roster([])
    people, n_known = dict(old.people), 0
    for person in found:
        before = _same(old, person)
        n_known += before is not None
        merged = _merged(before, person) if before else person
        people[merged.id] = merged
    place = course.folder / "roster.csv"
    write_table(place, COLUMNS, [row_of(person) for person in people.values()])
    unread = [heading for heading in headings if not is_known(heading)]
    return place, len(found) - n_known, n_known, unread


def moodle_table(people, marks, column):
    """Return the columns and rows of a table for Moodle's import of grades.

    Parameters
    ----------
    people : list of Person
    marks : dict of str to str
        The total, by id; of who did not hand in there is none.
    column : str
        What to call the assignment.
    """
    columns = ["ID number", "Email address", "Last name", "First name", column]
    rows = [
        {
            "ID number": person.id,
            "Email address": person.email,
            "Last name": person.last_name,
            "First name": person.first_name,
            column: marks.get(person.id, ""),
        }
        for person in people
    ]
    return columns, rows


def canvas_table(people, marks, column, max_score):
    """Return the columns and rows of a table for Canvas's import of grades; see `moodle_table`."""
    columns = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", column]
    rows = [{"Student": "    Points Possible", column: max_score}]
    for person in people:
        whole = ", ".join(filter(None, (person.last_name, person.first_name)))
        rows.append(
            {
                "Student": whole or person.id,
                "ID": person.canvas_id,
                "SIS Login ID": person.id,
                "Section": person.group,
                column: marks.get(person.id, ""),
            }
        )
    return columns, rows


def _same(roster, person):
    """Return the row of the roster for the same person, or None."""
    if person.id in roster:
        return roster.people[person.id]
    return roster.find(
        lambda other: bool(
            (person.email and person.email.casefold() == other.email.casefold())
            or (person.canvas_id and person.canvas_id == other.canvas_id)
        )
    )


def _merged(old, new):
    said = {name: value for name, value in row_of(new).items() if value and name != "id"}
    numbers = [*re.findall(r"\d+", old.moodle_id), *re.findall(r"\d+", new.moodle_id)]
    return replace(old, **said | {"moodle_id": " ".join(dict.fromkeys(numbers))})
