"""Problem sets, and everything that the grader knows of their course.

A set is a folder: ``__init__.py`` with a `ProblemSet` as ``SET``, and beside it the files that its
tasks need. A released course keeps a copy of the folder, which alone decides marks.
"""

import argparse
import hashlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

import nbformat

from grader import checks as own_checks


class CourseError(Exception):
    """An error that the instructor can correct; its message is a sentence that says how."""


def _edition(folder, language):
    return nbformat.read(folder / f"{language}.ipynb", as_version=4)


@dataclass(frozen=True)
class Conventions:
    """The conventions that the problem sets of a course share.

    Attributes
    ----------
    name : str
        The name of the course. nbgrader knows it by this name and the language, as in
        ``algebra-en``; the metadata of a notebook may name its language under it.
    languages : tuple of str
        The editions of the course, which `grader.words` has to speak.
    sets : Path, optional
        The folder of the sets, where a hand-in of another set is to be told from one of this.
    edition : callable
        Takes the folder of a set and a language, and returns the source notebook of nbgrader, with
        solutions. By default it is ``LANGUAGE.ipynb`` of the folder.
    handout : callable
        Takes a `ProblemSet` and returns the files that students get beside the notebook, as bytes
        by name. It may refuse the set by a `CourseError`.
    stand_ins : tuple of str
        Packages of the course that notebooks import and a graded run does without.
    groups, words : dict of str to dict of str to str
        What to call a group of inputs, by name and language; sentences in place of those of
        `grader.words`, by language and name.
    colours : tuple of (dict of str to str)
        The colours of the pages for a light and a dark screen, in place of the browser's own. The
        names are the variables of ``templates/feedback.css``.
    """

    name: str = "course"
    languages: tuple[str, ...] = ("en",)
    sets: Path | None = None
    edition: Callable = _edition
    handout: Callable = lambda problem_set: {}
    stand_ins: tuple[str, ...] = ()
    groups: dict[str, dict[str, str]] = field(default_factory=dict)
    words: dict[str, dict[str, str]] = field(default_factory=dict)
    colours: tuple[dict[str, str], dict[str, str]] = ({}, {})


@dataclass(frozen=True, eq=False)  # A task equals itself alone, so that its draws can be cached.
class Task:
    """A function to write, graded by what it computes.

    Attributes
    ----------
    grade_id : str
        The id of the locked cell that holds the points, in every edition. The cell that answers the
        task has the id ``GRADE_ID-answer``.
    exercise : Exercise
        The right function, the inputs and the known mistakes, as `grader.checks.Exercise` has them.
    points : dict of str to float
        What each group of inputs is worth. The first group is the task itself: an answer that
        fails it earns nothing for the others, which a constant might pass by accident.
        ``"arguments"`` has no inputs of its own: it is for leaving those of the caller alone.
    group : callable
        Takes an input and returns the name of its group.
    checks : module
        How the function is called and its answers are judged.
    """

    grade_id: str
    exercise: object
    points: dict[str, float]
    group: Callable[[dict], str]
    checks: ModuleType = own_checks

    @property
    def max_points(self):
        """The points of all groups together."""
        return sum(self.points.values())


@dataclass(frozen=True)
class ProblemSet:
    """A problem set.

    Attributes
    ----------
    tasks : tuple of Task
        What the grader marks. All have the same `Task.checks`.
    manual : tuple of str
        Grade ids of the cells that the instructor marks.
    packages : tuple of str
        What submissions may import besides the standard library.
    groups : dict of str to dict of str to str
        Names of groups of inputs in this set, besides those of its course.
    name : str
        The name in nbgrader and the stem of the notebook. `load` takes it from the folder.
    conventions : Conventions
    """

    tasks: tuple[Task, ...]
    manual: tuple[str, ...] = ()
    packages: tuple[str, ...] = ("numpy",)
    groups: dict[str, dict[str, str]] = field(default_factory=dict)
    name: str = ""
    conventions: Conventions = Conventions()

    def __post_init__(self):
        if any(task.checks is not self.checks for task in self.tasks):
            raise ValueError("tasks: expected one module of checks for all of a set, got several")

    @property
    def grade_ids(self):
        """The grade ids of all tasks of the set, the manually graded ones last."""
        return [*(task.grade_id for task in self.tasks), *self.manual]

    @property
    def checks(self):
        """The checks of the tasks."""
        return self.tasks[0].checks if self.tasks else own_checks


def folders(sets):
    """Return the folders of the problem sets in a folder, by name.

    Raises
    ------
    CourseError
        If there are none.
    """
    found = {path.parent.name: path.parent for path in sorted(Path(sets).glob("*/__init__.py"))}
    if not found:
        raise CourseError(
            f"There is no problem set in {sets}: no folder there has a file __init__.py."
        )
    return found


def problem_set(name, sets):
    """Return a problem set by its name.

    Raises
    ------
    CourseError
        If there is none, or it cannot be read.
    """
    found = folders(sets)
    if name not in found:
        raise CourseError(f"There is no set {name!r}. There are: {', '.join(found)}.")
    return load(found[name])


def load(folder):
    """Return the problem set in a folder.

    Folders of equal contents give the same object, which is made once.

    Raises
    ------
    CourseError
        If it cannot be read.
    """
    folder = Path(folder)
    module = sys.modules.get(module_name(folder)) or _imported(folder)
    return module.SET


def module_name(folder):
    """Return the name under which Python imports a set; it depends on the contents."""
    return f"problem_set_{folder.name}_{digest(folder)[:16]}"


def digest(folder):
    """Return a digest of the code and the hints of a set."""
    found = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.suffix in (".py", ".toml")):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def _imported(folder):
    name, path = module_name(folder), folder / "__init__.py"
    spec = importlib.util.spec_from_file_location(
        name, path, submodule_search_locations=[str(folder)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        module.SET = replace(module.SET, name=folder.name)
    except Exception as error:
        del sys.modules[name]
        raise CourseError(
            f"The set in {folder} cannot be read: {type(error).__name__}: {error}"
        ) from error
    return module


def main(arguments):
    """Load the sets of a folder, or the one named, before they are tested."""
    parser = argparse.ArgumentParser(prog="python -m grader.problem_sets")
    parser.add_argument("sets", type=Path, help="the folder of the sets")
    parser.add_argument("name", nargs="?", help="by default all there are")
    options = parser.parse_args(arguments)
    try:
        for name in [options.name] if options.name else folders(options.sets):
            problem_set(name, options.sets)
    except CourseError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
