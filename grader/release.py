"""From problem sets to a course: folders of nbgrader, one for each language, and one gradebook.

``COURSE/en`` is an ordinary course of nbgrader, and so is that of any other language: ``source``
with the solutions, ``release`` without them, made by nbgrader itself, and a configuration that is
written once and then the instructor's. Grade ids are the same in all, so a class may hand in in any
language.

``COURSE/sets`` holds a copy of each set as it was released, perhaps in a variant. The grader reads
that copy alone, so that nothing else changes the marks of a class.
"""

import argparse
import os
import secrets
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbgrader.apps import NbGraderAPI

from grader import variants
from grader.course import Course, CourseError, write
from grader.gradebook import open_gradebook
from grader.problem_sets import folders, load
from grader.words import LANGUAGES

CONFIGURATION = '''"""Settings of the {name} edition of the course. Written once; change what you like."""

import os
from pathlib import Path

from nbconvert.exporters import NotebookExporter

c = get_config()  # noqa: F821 - nbgrader puts it there
course = Path(__file__).resolve().parent

c.CourseDirectory.root = str(course)
c.CourseDirectory.course_id = "{course}-{language}"
# One gradebook for both editions. For PostgreSQL: postgresql+psycopg://user:password@host/name
c.CourseDirectory.db_url = os.environ.get(
    "{variable}_GRADEBOOK", f"sqlite:///{{course.parent / 'gradebook.db'}}"
)
c.ClearSolutions.code_stub = {{"python": "...  # {code}"}}
c.ClearSolutions.text_stub = "{text}"
# Where students fetch and submit on a shared machine; a folder that all can write to.
c.Exchange.root = os.environ.get("{variable}_EXCHANGE", str(course.parent / "exchange"))
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
STUBS = {
    "es": {"code": "tu código", "text": "Escribe aquí tu respuesta."},
    "en": {"code": "your code", "text": "Write your answer here."},
}


def release(folder, names=(), *, sets, variant=False):
    """Write all editions of problem sets into a course.

    Parameters
    ----------
    folder : Path
        The course; made if it does not exist.
    names : sequence of str, optional
        The sets; by default all there are.
    sets : Path
        The folder where they lie.
    variant : bool, default False
        Release the versions of the tasks that the secret of the course chooses. A set that was
        released as a variant stays one.

    Returns
    -------
    list of Path
        The released notebooks.

    Raises
    ------
    CourseError
        If there is no such set, it contradicts itself, nbgrader refuses it, or there can be no
        course in the folder.
    """
    found = folders(sets)
    for name in names or found:
        if name not in found:
            raise CourseError(f"There is no set {name!r}. There are: {', '.join(found)}.")
    names = names or list(found)
    with tempfile.TemporaryDirectory(prefix="release-") as scratch:
        # Every set is read before anything is written. A new course has no secret yet, so variants
        # are chosen afterwards.
        ready = {name: _Ready(_copied(found[name], scratch, "plain")) for name in names}
        try:
            # Not every shell expands ~ after COURSE=.
            place = Path(os.path.expanduser(folder))
            course = _make_course(place, ready[names[0]].set.conventions)
        except OSError as error:
            raise CourseError(f"There can be no course in {folder}: {error.strerror}.") from None
        for name in names:
            if variant or variants.is_one(course.set_folder(name)):
                copy = _copied(found[name], scratch, "variant")
                variants.choose(copy, course.secret)
                ready[name] = _Ready(copy)
        with open_gradebook(course.config()):
            pass  # A gradebook that cannot be reached raises here, before any set is written.
        return [path for one in ready.values() for path in one.write(course)]


def _copied(folder, scratch, kind):
    copy = Path(scratch) / kind / folder.name
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    return copy


class _Ready:
    """A set that is ready for release: read, split and checked for consistency.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    CourseError
        If it does not agree.
    """

    def __init__(self, folder):
        self.folder, self.name, self.set = folder, folder.name, load(folder)
        course = self.set.conventions
        try:
            self.editions = {lang: course.edition(folder, lang) for lang in course.languages}
        except (ValueError, OSError) as error:
            raise CourseError(f"The master of {self.name} cannot be read: {error}") from None
        _check_same_grades(self.name, self.editions)
        _check_points(self.set, self.editions[course.languages[0]])
        _check_hints(self.set)
        self.handout = course.handout(self.set)

    def write(self, course):
        """Write the set into a course; yield the released notebooks."""
        with _replaced(course.set_folder(self.name)) as place:
            shutil.copytree(self.folder, place, ignore=shutil.ignore_patterns("__pycache__"))
        for language, edition in self.editions.items():
            source = course.path(language, "source", ".", self.name)
            write(source, nbformat.writes(edition, indent=1) + "\n")
            for name, content in self.handout.items():
                # nbgrader copies the files beside a notebook to the students.
                write(source.with_name(name), content)
            api = NbGraderAPI(config=course.config(language))
            result = api.generate_assignment(self.name, force=True)
            if not result["success"]:
                reason = result.get("log") or result["error"]
                raise CourseError(f"nbgrader could not release {source}:\n{reason}")
            yield course.path(language, "release", ".", self.name)


@contextmanager
def _replaced(folder):
    """Give a scratch folder in a ``with`` block; at the end it replaces the old folder."""
    folder.parent.mkdir(exist_ok=True)
    place = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(place, ignore_errors=True)
    yield place
    shutil.rmtree(folder, ignore_errors=True)
    place.replace(folder)


def _make_course(folder, conventions):
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # Names and marks will lie in it.
    for language in conventions.languages:
        (folder / language).mkdir(exist_ok=True)
        settings = folder / language / "nbgrader_config.py"
        if not settings.exists():
            text = CONFIGURATION.format(
                language=language,
                course=conventions.name,
                variable=conventions.name.upper(),
                name=LANGUAGES[language],
                **STUBS[language],
            )
            write(settings, text)
    secret = folder / "secret"
    if not secret.exists():
        # The file is readable by the instructor alone from the first moment.
        descriptor = os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(32))
    return Course(folder)


def _check_same_grades(name, editions):
    """Raise `CourseError` unless all editions have the same graded cells for the same points."""

    def grades(edition):
        cells = (cell.metadata.get("nbgrader", {}) for cell in edition.cells)
        return [(c["grade_id"], c["grade"], c.get("points")) for c in cells if "grade_id" in c]

    first, *others = map(grades, editions.values())
    if any(other != first for other in others):
        raise CourseError(f"{name}: the graded cells of the two editions differ.")


def _check_points(asked, edition):
    """Raise `CourseError` unless a master gives each task the points that the grader can give."""
    cells = (cell.metadata.get("nbgrader", {}) for cell in edition.cells)
    said = {cell["grade_id"]: cell["points"] for cell in cells if cell.get("grade")}
    for task in asked.tasks:
        if said.get(task.grade_id) != task.max_points:
            raise CourseError(
                f"{asked.name}: expected {task.max_points:g} points for {task.grade_id}, as in "
                f"its __init__.py, got {said.get(task.grade_id)} in its master."
            )
    known = {task.grade_id for task in asked.tasks} | set(asked.manual)
    if unknown := sorted(set(said) - known):
        raise CourseError(
            f"{asked.name}: nobody would mark {', '.join(unknown)} of the master: it is no task "
            "and not among the manual ones of its __init__.py."
        )


def _check_hints(asked):
    """Raise `CourseError` unless each known mistake has a hint in each language."""
    for task in asked.tasks:
        for known in task.exercise.misconceptions:
            if missing := set(asked.conventions.languages) - set(known.hint):
                raise CourseError(
                    f"{asked.name}: the mistake {known.id} of {task.grade_id} has no hint in "
                    f"{', '.join(sorted(missing))}."
                )


def main(arguments, sets=None):
    """Release every set, or those named, into the course given first.

    Parameters
    ----------
    arguments : list of str
    sets : Path, optional
        The folder of the sets unless ``--sets`` says another.

    Returns
    -------
    int
        The exit status.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("course", type=Path, help="its folder; made if it does not exist")
    parser.add_argument("names", nargs="*", metavar="SET", help="by default all there are")
    parser.add_argument(
        "--sets", type=Path, default=sets, required=sets is None, help="where the sets lie"
    )
    parser.add_argument(
        "--variant", action="store_true", help="choose versions of tasks by the course's secret"
    )
    options = parser.parse_args(arguments)
    try:
        found = release(options.course, options.names, sets=options.sets, variant=options.variant)
    except CourseError as error:
        print(error)
        return 1
    for path in found:
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
