"""Variants of the tasks of a set; the secret of a course chooses one for each task.

``variants.toml`` in the folder of a set says, for each variant of a task, which text replaces which
in which files: the task, its hints, its text in the master and its proofs change together, and are
tested like the set itself. Answers to the practice set are no answers to a variant. ::

    [rms-norm.power_four]
    about = "The mean of the fourth powers, and their fourth root"
    edits = [
      ["rms_norm.py", "x**2", "x**4"],
      ["master.md", "squares", "fourth powers"],
    ]
"""

import hashlib
import hmac
import shutil
import tomllib
from pathlib import Path

from grader.problem_sets import CourseError

FILE = "variants.toml"
CHOSEN = "variant.toml"  # the file in a set that is a variant


def versions(folder):
    """Return the variants of the tasks of a set: by task and name, their edits.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    dict of str to dict of str to list of (str, str, str)
        File, what stands there, and what shall stand there instead, wherever it does.

    Raises
    ------
    CourseError
        If the file cannot be read.
    """
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        tasks = tomllib.loads(path.read_text(encoding="utf-8"))
        return {
            task: {name: [tuple(edit) for edit in one["edits"]] for name, one in named.items()}
            for task, named in tasks.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CourseError(f"{path} cannot be read: {type(error).__name__}: {error}") from None


def is_one(folder):
    """Return whether the set in a folder is a variant."""
    return (folder / CHOSEN).is_file()


def choose(folder, secret):
    """Turn a set into the variant that a course's secret chooses.

    Parameters
    ----------
    folder : Path
        A copy of the set, which is changed.
    secret : bytes

    Returns
    -------
    dict of str to str
        The name of the version, by task.

    Raises
    ------
    CourseError
        If the set has no variants.
    """
    found = versions(folder)
    if not found:
        raise CourseError(f"There is no variant of {folder.name}: it has no {FILE}.")
    chosen = {}
    for task, named in found.items():
        drawn = hmac.digest(secret, f"variant\0{folder.name}\0{task}".encode(), hashlib.sha256)
        chosen[task] = sorted(named)[int.from_bytes(drawn[:8], "big") % len(named)]
    apply(folder, chosen)
    return chosen


def copy_of(folder, place, chosen):
    """Copy a set, with the chosen variants of its tasks; return the folder of the copy."""
    copy = Path(place) / folder.name
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
    apply(copy, chosen)
    return copy


def apply(folder, chosen):
    """Change the files of a set by the edits of the chosen variants.

    Raises
    ------
    CourseError
        If something to be replaced does not stand where it should.
    """
    found = versions(folder)
    for task, name in chosen.items():
        for file, old, new in found[task][name]:
            text = (folder / file).read_text(encoding="utf-8")
            if old not in text:
                raise CourseError(f"{folder.name}: {task}.{name}: {file} does not say {old!r}.")
            (folder / file).write_text(text.replace(old, new), encoding="utf-8")
    lines = [f'{task} = "{name}"\n' for task, name in chosen.items()]
    (folder / CHOSEN).write_text("".join(lines), encoding="utf-8")
