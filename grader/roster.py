"""Who takes the course: ``COURSE/roster.csv``, if the instructor keeps one.

One row for each student, made by hand or read from a table of an LMS:

=========================  ============================================================
``id``                     how the grader calls the student; folders have this name
``last_name, first_name``  shown on pages and in tables
``email``                  may take the place of the id in the name of a folder
``group``                  of the class, for extensions
``moodle_id``              the numbers of Moodle's participants, one for each assignment
``canvas_id``              the number of Canvas
``user``                   the account on a machine that students share
=========================  ============================================================

Only ``id`` has to be there.
"""

import os
import re
import unicodedata
from dataclasses import astuple, dataclass, fields

from grader.course import CourseError
from grader.tables import read_table

# An id has letters of any script and the signs of account names. It has none with a meaning in a
# path, a shell, a pattern or a spreadsheet.
STUDENT = re.compile(r"\w(?:[\w.@+ -]{0,98}[\w+-])?")
MOST_BYTES = 200  # of an id: names of files add a little to it, and end at 255


@dataclass(frozen=True)
class Person:
    """A row of the roster."""

    id: str
    last_name: str = ""
    first_name: str = ""
    email: str = ""
    group: str = ""
    moodle_id: str = ""
    canvas_id: str = ""
    user: str = ""

    @property
    def names(self):
        """The ways in which an LMS may write the name, as `key` writes them."""
        first, last = self.first_name, self.last_name
        return {key(f"{first}{last}"), key(f"{last}{first}")} - {""}


COLUMNS = tuple(field.name for field in fields(Person))
# Moodle, Canvas, Blackboard and teachers have these headings, in English and in Spanish, as `key`
# writes them. The first column that is not empty counts. "id" is last, because Canvas has an ID of
# its own.
HEADINGS = {
    "id": (
        *("idnumber", "numerodeid", "numerodeidentificacion", "sisloginid", "username"),
        *("nombredeusuario", "usuario", "login", "sisuserid", "studentid", "studentnumber"),
        *("matricula", "numerodematricula", "legajo", "padron", "carne", "carnet", "codigo", "nia"),
        *("niu", "expediente", "boleta", "cedula", "dni", "rut", "emailaddress", "email", "mail"),
        *("direcciondecorreo", "direccionemail", "correo", "correoelectronico", "id"),
    ),
    "last_name": ("lastname", "surname", "surnames", "familyname", "apellidos", "apellido"),
    "first_name": (
        *("firstname", "givenname", "givennames", "forename", "nombre", "nombres", "nombredepila"),
    ),
    "email": (
        *("email", "emailaddress", "mail", "direcciondecorreo", "direccionemail"),
        *("correoelectronico", "correo", "correoinstitucional", "direcciondecorreoelectronico"),
        *("universityemail", "institutionalemail"),
    ),
    "group": (
        *("group", "groups", "grupo", "grupos", "section", "sections", "seccion", "comision"),
        *("paralelo", "turno"),
    ),
    "moodle_id": ("moodleid", "identifier", "identificador"),
    "canvas_id": ("canvasid",),
    "user": ("user", "account", "cuenta"),
}
# Some tables have two surnames in separate columns.
SURNAMES = (
    ("apellido1", "apellido2"),
    ("primerapellido", "segundoapellido"),
    ("apellidopaterno", "apellidomaterno"),
)
WHOLE_NAMES = (
    *("fullname", "nombrecompleto", "student", "studentname", "name", "alumno", "alumna"),
    *("alumnoa", "estudiante", "nombreyapellidos", "nombreyapellido", "nombresyapellidos"),
    *("apellidosynombre", "apellidosynombres", "apellidoynombre", "apellidosnombre"),
)


class Roster:
    """The students of a course.

    Parameters
    ----------
    people : iterable of Person
    """

    def __init__(self, people):
        self.people = {person.id: person for person in people}

    @classmethod
    def of(cls, course):
        """Return the roster of a course, or None if it has none.

        Raises
        ------
        CourseError
            If a row cannot be a student's.
        """
        path = course.folder / "roster.csv"
        return cls(checked(path, read_table(path, has_ids))) if path.exists() else None

    def __contains__(self, student):
        return student in self.people

    def __iter__(self):
        return iter(self.people.values())

    def group(self, name):
        """Return the ids of a group."""
        return [person.id for person in self if person.group == name]

    def find(self, wanted):
        """Return the only person for whom `wanted` is true, or None if none or several."""
        found = [person for person in self if wanted(person)]
        return found[0] if len(found) == 1 else None


def key(name):
    """Return a name in the form for comparison: letters alone, without case and accents."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(c for c in letters if c.isalnum())


def is_known(heading):
    """Return whether a column of that heading is read."""
    known = {*SURNAMES[0], *SURNAMES[1], *SURNAMES[2], *WHOLE_NAMES}.union(*HEADINGS.values())
    return key(heading) in known


def has_ids(headings):
    """Return whether one of the headings is that of a column of ids."""
    return any(key(heading) in HEADINGS["id"] for heading in headings)


def person_of(row):
    """Return the student in a row of a table, or None for a row of Canvas without one.

    Parameters
    ----------
    row : dict of str to str
        Of a roster, of a grade table or grading worksheet of Moodle, of Canvas's or Blackboard's
        gradebook, or of a teacher's own table.
    """
    is_canvas = "Student" in row or "LastName" in row
    who = row.get("Student") or row.get("LastName") or ""
    if is_canvas and (who.startswith("Points Possible") or not who or who == "Student, Test"):
        return None
    given = {}
    for heading, value in row.items():
        given[key(heading)] = given.get(key(heading)) or value
    found = {
        ours: next((given[name] for name in names if given.get(name)), "")
        for ours, names in HEADINGS.items()
    }
    if given.get("id") and not is_canvas:
        found["id"] = given["id"]
    for names in SURNAMES:
        both = " ".join(filter(None, map(given.get, names)))
        found["last_name"] = found["last_name"] or both
    found["moodle_id"] = " ".join(re.findall(r"\d+", found["moodle_id"]))
    if is_canvas:
        found["canvas_id"] = row.get("ID", "")
    if not (found["last_name"] or found["first_name"]):
        whole = next((given[name] for name in WHOLE_NAMES if given.get(name)), "")
        found["first_name"], found["last_name"] = _parted(whole)
    if key(found["group"]) in ("nogroups", "singrupos", "notinagroup"):
        found["group"] = ""
    return Person(**found)


def _parted(name):
    """Return (first, last) of a whole name."""
    last, comma, first = name.partition(",")
    if comma:
        return first.strip(), last.strip()
    first, _, last = name.partition(" ")
    return first, last.strip()


def row_of(person):
    """Return the row of a person."""
    return dict(zip(COLUMNS, astuple(person), strict=True))


def is_name(text):
    """Return whether a text may be the id of a student and the name of a folder."""
    return bool(STUDENT.fullmatch(text)) and len(os.fsencode(text)) <= MOST_BYTES


def checked(path, rows):
    """Return the people of the rows of a table; raise `CourseError` if one cannot be a student."""
    people, lines = [], {}
    for row in rows:
        person = person_of(row)
        if person is None or not any(astuple(person)):
            continue
        if not is_name(person.id):
            raise CourseError(
                f"{path}, line {row['line']}: expected an id of letters, digits and .@+-_, "
                f"got {person.id!r}."
            )
        # Windows and macOS take folders that differ in case alone for the same.
        if (name := person.id.casefold()) in lines:
            raise CourseError(
                f"{path}: lines {lines[name]} and {row['line']} are both {person.id}."
            )
        lines[name] = row["line"]
        people.append(person)
    return people
