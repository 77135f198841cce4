"""What a problem set is, and all that the grader is told of the course that it belongs to.

A set is a folder: ``__init__.py`` with a `ProblemSet` as ``SET``, and beside it whatever its tasks
need. A released course keeps a copy of it, which is the only one that decides marks.
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
    """What an instructor has to mend, in a sentence."""


def _edition(folder, language):
    return nbformat.read(folder / f"{language}.ipynb", as_version=4)


@dataclass(frozen=True)
class Conventions:
    """What the problem sets of a course share.

    Attributes
    ----------
    name : str
        Of the course: nbgrader knows it by this name and the language, as in ``algebra-en``. Notebooks
        may name their language under it in their metadata.
    languages : tuple of str
        Its editions, of those that `grader.words` speaks.
    sets : Path, optional
        The folder of the sets, where a hand-in of another set is to be told from one of this.
    edition : callable
        From the folder of a set and a language to its notebook, with solutions and the cells
        marked as nbgrader wants them; by default ``LANGUAGE.ipynb`` of the folder.
    handout : callable
        From a `ProblemSet` to files that students get beside the notebook: a dict of name to bytes.
        It may refuse the set by a `CourseError`.
    stand_ins : tuple of str
        Packages of the course that notebooks import and a graded run does without.
    groups, words : dict of str to dict of str to str
        What to call a group of inputs, by name and language; sentences in place of those of
        `grader.words`, by language and name.
    colours : tuple of (dict of str to str)
        Those of the pages for a light and a dark screen, in place of the browser's own: the names
        are the variables of ``templates/feedback.css``.
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
        Of the locked cell that holds its points, in every edition. The cell that answers it has
        the id ``GRADE_ID-answer``.
    exercise : Exercise
        The right function, the inputs and the known mistakes, as `grader.checks.Exercise` has them.
    points : dict of str to float
        What each group of inputs is worth. The first group is the task itself: an answer that
        fails it earns nothing for the others, which a constant might pass by accident.
        ``"arguments"`` has no inputs of its own: it is for leaving those of the caller alone.
    group : callable
        From an input to the name of its group.
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
        """What the task is worth."""
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
        As nbgrader knows it, and the stem of its notebook: that of its folder, given by `load`.
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
        """The grade ids of all its tasks, those of the instructor last."""
        return [*(task.grade_id for task in self.tasks), *self.manual]

    @property
    def checks(self):
        """The checks of its tasks."""
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
    """Return the problem set that lies in a folder.

    Equal folders give the same object, wherever they lie: it is made once.

    Raises
    ------
    CourseError
        If it cannot be read.
    """
    folder = Path(folder)
    module = sys.modules.get(module_name(folder)) or _imported(folder)
    return module.SET


def module_name(folder):
    """Return the name under which Python knows a set: its contents tell it from any other."""
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
    """Read the sets of a folder, or the one named, before anybody tests them."""
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
