"""What a problem set asks, what each right answer is worth, and how to read it from its folder.

A set is a folder, and all that belongs to it lies there: ``__init__.py`` with `ProblemSet` as
``SET``; its tasks and their hints, two files each; ``master.md``, from which the notebooks of both
languages are made; ``proofs.py``, the right and wrong answers that its tests try; and perhaps
``variants.toml``. Those of `PUBLIC` are for practice and to start from; sets whose marks count
lie in a folder of the instructor's.
"""

import argparse
import hashlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from attn_course.exercises.spec import Exercise

PUBLIC = Path(__file__).resolve().parent / "sets"


class CourseError(Exception):
    """What an instructor has to mend, in a sentence."""


@dataclass(frozen=True, eq=False)  # a task equals itself alone, so its draws can be kept
class Task:
    """A function to write, graded by what it computes.

    Attributes
    ----------
    grade_id : str
        Of the locked cell that holds its points, in every edition.
    exercise : Exercise
        The oracle, the inputs and the known mistakes; `attn_course.exercises.check` uses the same.
    points : dict of str to float
        What each group of inputs is worth. The first group is the task itself: an answer that
        fails it earns nothing for the others, which a constant might pass by accident.
        ``"arguments"`` has no inputs of its own: it is for leaving those of the caller alone.
    group : callable
        From an input to the name of its group.
    """

    grade_id: str
    exercise: Exercise
    points: dict[str, float]
    group: Callable[[dict], str]

    @property
    def max_points(self):
        """What the task is worth."""
        return sum(self.points.values())


@dataclass(frozen=True)
class Slip:
    """A mistake that a student of the demonstration class makes.

    Attributes
    ----------
    about : str
        What the student does, in the third person.
    grade_id : str
        Of the task.
    right, wrong : str
        What the model answer says, and what stands in its place.
    misconception : str
        Id of the known mistake that the feedback names.
    """

    about: str
    grade_id: str
    right: str
    wrong: str
    misconception: str


@dataclass(frozen=True)
class ProblemSet:
    """A problem set.

    Attributes
    ----------
    tasks : tuple of Task
        What the grader marks.
    manual : tuple of str
        Grade ids of the cells that the instructor marks, with the rubric of the master.
    slips : tuple of Slip
        Five mistakes for `assignments.demo_class` to show.
    packages : tuple of str
        What submissions may import besides the standard library.
    groups : dict of str to dict of str to str
        What to call groups of inputs that `assignments.grader.words` has no words for, under
        ``"es"`` and ``"en"``.
    name : str
        As nbgrader knows it, and the stem of its notebook: that of its folder, given by `load`.
    """

    tasks: tuple[Task, ...]
    manual: tuple[str, ...]
    slips: tuple[Slip, ...] = ()
    packages: tuple[str, ...] = ("numpy",)
    groups: dict[str, dict[str, str]] = field(default_factory=dict)
    name: str = ""

    @property
    def grade_ids(self):
        """The grade ids of all its tasks, those of the instructor last."""
        return [*(task.grade_id for task in self.tasks), *self.manual]


def folders(sets=PUBLIC):
    """Return the folders of the problem sets in a folder, by name.

    Raises
    ------
    CourseError
        If there are none.
    """
    found = {path.parent.name: path.parent for path in sorted(Path(sets).glob("*/master.md"))}
    if not found:
        raise CourseError(f"There is no problem set in {sets}: no folder there has a master.md.")
    return found


def problem_set(name, sets=PUBLIC):
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
    return f"attn_set_{folder.name}_{digest(folder)[:16]}"


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
    parser = argparse.ArgumentParser(prog="python -m assignments.problem_sets")
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
