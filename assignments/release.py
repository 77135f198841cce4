"""From one master to two nbgrader courses, Spanish and English, that share a gradebook.

``COURSE/es`` and ``COURSE/en`` are ordinary courses: ``source`` with the solutions, ``release``
without them, made by nbgrader itself, and a configuration that is written once and then the
instructor's. Grade ids are the same in both, so a class may hand in in either language.

Beside each notebook lies ``SET_check.npz``, from which `attn_course.exercises.check` answers:
inputs, right answers and those of the known mistakes, but no function that gives them.
"""

import os
import secrets
import sys
from pathlib import Path

import nbformat
from nbgrader.apps import NbGraderAPI

from assignments.grader.course import LANGUAGES, Course, CourseError, problem_set, write
from assignments.grader.gradebook import open_gradebook
from attn_course.exercises.record import record_of, write_records
from notebooks.build import split

SOURCES = Path(__file__).resolve().parent / "src"

CONFIGURATION = '''"""Settings of the {name} edition of the course. Written once; change what you like."""

import os
from pathlib import Path

from nbconvert.exporters import NotebookExporter

c = get_config()  # noqa: F821 - nbgrader puts it there
course = Path(__file__).resolve().parent

c.CourseDirectory.root = str(course)
c.CourseDirectory.course_id = "attn-{language}"
# One gradebook for both editions. For PostgreSQL: postgresql+psycopg://user:password@host/name
c.CourseDirectory.db_url = os.environ.get(
    "ATTN_GRADEBOOK", f"sqlite:///{{course.parent / 'gradebook.db'}}"
)
c.ClearSolutions.code_stub = {{"python": "...  # {code}"}}
c.ClearSolutions.text_stub = "{text}"
# Where students fetch and submit on a shared machine; a folder that all can write to.
c.Exchange.root = os.environ.get("ATTN_EXCHANGE", str(course.parent / "exchange"))
# What a late submission loses: nbgrader knows "none" and "zero", or a plugin of yours.
c.LateSubmissionPlugin.penalty_method = "none"


class GradeWithMake(NotebookExporter):
    """Stops nbgrader's own autograding before it begins."""

    def __init__(self, **settings):
        raise RuntimeError(
            "Grade with `make grade`: nbgrader itself would run student code without a sandbox, "
            "and take every cell that raises nothing for right."
        )


c.Autograde.exporter_class = GradeWithMake
'''
WORDS = {
    "es": {"name": "Spanish", "code": "tu código", "text": "Escribe aquí tu respuesta."},
    "en": {"name": "English", "code": "your code", "text": "Write your answer here."},
}


def release(folder, names):
    """Write both editions of problem sets into a course.

    Parameters
    ----------
    folder : Path
        The course; made if it does not exist.
    names : sequence of str
        The sets, by the stem of their masters.

    Returns
    -------
    list of Path
        The released notebooks.

    Raises
    ------
    CourseError
        If there is no such master, or nbgrader refuses it.
    """
    masters = {path.stem: path for path in sorted(SOURCES.glob("*.md"))}
    for name in names:
        if name not in masters:
            raise CourseError(f"There is no set {name!r}. There are: {', '.join(masters)}.")
    sets = {name: {lang: split(masters[name], lang) for lang in LANGUAGES} for name in names}
    for name, editions in sets.items():
        _check_same_grades(name, editions)
        _check_points(problem_set(name), editions["es"])
    records = {
        name: [record_of(task.exercise) for task in problem_set(name).tasks] for name in names
    }
    course = _make_course(Path(folder))
    with open_gradebook(course.config("es")):
        pass  # Or say why not, before anything is written.
    written = []
    for name, editions in sets.items():
        for language, edition in editions.items():
            source = course.path(language, "source", ".", name)
            write(source, nbformat.writes(edition, indent=1) + "\n")
            if records[name]:
                # nbgrader copies it to those who get the notebook.
                write_records(source.with_name(f"{name}_check.npz"), records[name])
            api = NbGraderAPI(config=course.config(language))
            result = api.generate_assignment(name, force=True)
            if not result["success"]:
                reason = result.get("log") or result["error"]
                raise CourseError(f"nbgrader could not release {source}:\n{reason}")
            written.append(course.path(language, "release", ".", name))
    return written


def _make_course(folder):
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # Names and marks will lie in it.
    for language in LANGUAGES:
        (folder / language).mkdir(exist_ok=True)
        settings = folder / language / "nbgrader_config.py"
        if not settings.exists():
            text = CONFIGURATION.format(language=language, **WORDS[language])
            write(settings, text)
    secret = folder / "secret"
    if not secret.exists():
        # Readable by the instructor alone from the first moment.
        descriptor = os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(32))
    return Course(folder)


def _check_same_grades(name, editions):
    """Raise `CourseError` unless both editions have the same graded cells for the same points."""

    def grades(edition):
        cells = (cell.metadata.get("nbgrader", {}) for cell in edition.cells)
        return [(c["grade_id"], c["grade"], c.get("points")) for c in cells if "grade_id" in c]

    if grades(editions["es"]) != grades(editions["en"]):
        raise CourseError(f"{name}: the graded cells of the two editions differ.")


def _check_points(asked, edition):
    """Raise `CourseError` unless a master gives each task what the grader can give it."""
    cells = (cell.metadata.get("nbgrader", {}) for cell in edition.cells)
    said = {cell["grade_id"]: cell["points"] for cell in cells if cell.get("grade")}
    for task in asked.tasks:
        if said.get(task.grade_id) != task.max_points:
            raise CourseError(
                f"{asked.name}: expected {task.max_points:g} points for {task.grade_id}, as in "
                f"assignments/sets/{asked.name}/__init__.py, got {said.get(task.grade_id)} in the "
                "master."
            )
    known = {task.grade_id for task in asked.tasks} | set(asked.manual)
    if unknown := sorted(set(said) - known):
        raise CourseError(
            f"{asked.name}: nobody would mark {', '.join(unknown)} of the master: it is no task "
            f"and not among the manual ones of assignments/sets/{asked.name}/__init__.py."
        )


def main(arguments):
    """Release every set, or those named, into the course given first."""
    if not arguments:
        print("usage: python -m assignments.release COURSE [SET ...]")
        return 2
    folder, *names = arguments
    try:
        for path in release(folder, names or [path.stem for path in sorted(SOURCES.glob("*.md"))]):
            print(path)
    except CourseError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
