"""The folder of a course: nbgrader's folders, one for each language, and the secret."""

import fcntl
import getpass
import os
import socket
import sys
from contextlib import contextmanager
from pathlib import Path

import nbformat
from traitlets.config.loader import PyFileConfigLoader

from grader import problem_sets
from grader.problem_sets import CourseError
from grader.words import LANGUAGES


class Course:
    """A folder that `grader.release` made.

    Parameters
    ----------
    folder : Path
    db : str, optional
        The URL of the gradebook, in place of the one that the settings of the course name.

    Attributes
    ----------
    languages : tuple of str
        The editions of the course: those of `grader.words.LANGUAGES` that have settings. They share
        a gradebook.

    Raises
    ------
    CourseError
        If it is not one.
    """

    def __init__(self, folder, db=None):
        # Not every shell expands ~ after COURSE=.
        self.folder, self.db = Path(os.path.expanduser(folder)).resolve(), db
        settings = {lang: self.folder / lang / "nbgrader_config.py" for lang in LANGUAGES}
        self.languages = tuple(lang for lang, path in settings.items() if path.is_file())
        if not self.languages:
            none = " and no ".join(f"{lang}/nbgrader_config.py" for lang in LANGUAGES)
            raise CourseError(
                f"{folder} is not a course: it has no {none}. `make release` makes one."
            )
        # nbgrader starts the program alembic by name; it lies beside this Python.
        scripts = str(Path(sys.executable).parent)
        if scripts not in os.environ["PATH"].split(os.pathsep):
            os.environ["PATH"] = scripts + os.pathsep + os.environ["PATH"]

    def config(self, language=None):
        """Return the settings of an edition, as nbgrader reads them; by default of any edition."""
        path = self.folder / (language or self.languages[0])
        config = PyFileConfigLoader("nbgrader_config.py", path=str(path)).load_config()
        if self.db:
            config.CourseDirectory.db_url = self.db
        return config

    def spoken(self, language):
        """Return a language; raise `CourseError` if the course has no edition in it."""
        if language and language not in self.languages:
            there = ", ".join(self.languages)
            raise CourseError(f"{self.folder} has no edition in {language!r}. It has: {there}.")
        return language

    def path(self, language, step, student, name, suffix=".ipynb"):
        """Return where nbgrader puts a notebook: ``language/step/student/name/name.ipynb``."""
        return self.folder / language / step / student / name / f"{name}{suffix}"

    def set_folder(self, name):
        """Return where the course keeps its copy of a set, as it was when it was released."""
        return self.folder / "sets" / name

    def problem_set(self, name):
        """Return a set as it was released: later changes of the original change no mark.

        Raises
        ------
        CourseError
            If the course has no such set, or it cannot be read.
        """
        released = sorted(path.name for path in self.set_folder(".").glob("[!.]*"))
        if name not in released:
            there = f"There are: {', '.join(released)}" if released else "There is none"
            raise CourseError(
                f"There is no set {name!r} in {self.folder}. {there}; `make release` adds them."
            )
        return problem_sets.load(self.set_folder(name))

    def released(self, language, name):
        """Return the notebook that students were given.

        Raises
        ------
        CourseError
            If the set was never released.
        """
        path = self.path(language, "release", ".", name)
        if not path.is_file():
            raise CourseError(f"There is no {path}: run `make release` first.")
        return nbformat.read(path, as_version=4)

    def models(self, language, name):
        """Return the right answers of a set, by the grade id of the task.

        They are read from ``source``, where the instructor may have changed them; there are none if
        ``source`` is missing.
        """
        path = self.path(language, "source", ".", name)
        if not path.is_file():
            return {}
        cells = nbformat.read(path, as_version=4).cells
        marked = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in cells}
        return {
            grade_id: marked[f"{grade_id}-answer"]
            for grade_id in filter(None, marked)
            if f"{grade_id}-answer" in marked
        }

    def setup(self, language, name):
        """Return the locked cells of a set that are run and not graded."""
        return [
            cell.source
            for cell in self.released(language, name).cells
            if cell.cell_type == "code"
            and (mine := cell.metadata.get("nbgrader", {})).get("locked")
            and not mine.get("grade")
            and not mine.get("solution")
        ]

    @contextmanager
    def turn(self, name, what):
        """Lock a set in a ``with`` block: a second process waits, and prints for which one."""
        place = self.folder / "grading" / name / f".{what}"
        place.parent.mkdir(parents=True, exist_ok=True)
        with open(place, "a+", encoding="utf-8") as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.seek(0)
                who = file.read(200).strip() or "Somebody else"
                print(f"{who} is at it too ({what} {name}): this one waits.", flush=True)
                fcntl.lockf(file, fcntl.LOCK_EX)
            file.truncate(0)
            file.write(f"{getpass.getuser()} on {socket.gethostname()}, process {os.getpid()},\n")
            file.flush()
            yield

    @property
    def secret(self):
        """The bytes from which inputs are drawn.

        Raises
        ------
        CourseError
            If there are none.
        """
        path = self.folder / "secret"
        try:
            secret = path.read_bytes()
        except FileNotFoundError:
            secret = b""
        if not secret:
            raise CourseError(f"There is no {path}: put back your copy, or run `make release`.")
        return secret


def write(path, content):
    """Write a file, of text or bytes, whole or not at all, and create its parent folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    if isinstance(content, str):
        # Half of a surrogate pair has no encoding. It must not stop a batch.
        content = content.encode("utf-8", errors="backslashreplace")
    try:
        scratch.write_bytes(content)
        scratch.replace(path)
    except BaseException:
        scratch.unlink(missing_ok=True)  # A full disk leaves half a file.
        raise
