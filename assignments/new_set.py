"""Begin a problem set of one's own: ``make new-set SETS=../my-sets SET=quiz1 FROM=ps2``.

The new set is a complete copy of a practice set: change its tasks one by one, and ``make prove``
says what no longer agrees. It lies outside this repository, so that nobody publishes it by
accident. The variants of the tasks are not copied, since they edit the practice set.
"""

import argparse
import re
import shutil
import sys
from pathlib import Path

from assignments.problem_sets import PUBLIC, folders
from grader import variants
from grader.problem_sets import CourseError

NAME = re.compile(r"[a-z]\w*", re.ASCII)
ROOT = PUBLIC.parents[1]


def new_set(sets, name, template="ps2"):
    """Copy a practice set into the folder of one's own sets.

    Parameters
    ----------
    sets : Path
        The folder of the sets, outside this repository; made if it does not exist.
    name : str
        The name of the new set, its folder, its notebook and its Python package.
    template : str, default "ps2"
        The practice set to begin with.

    Returns
    -------
    Path
        The folder of the new set.

    Raises
    ------
    CourseError
        If there is no such template, if the name is invalid or taken, or if the folder of the sets
        lies in this repository or cannot be written.
    """
    sets, found = Path(sets).resolve(), folders()
    if template not in found:
        raise CourseError(f"There is no set {template!r}. There are: {', '.join(found)}.")
    if not NAME.fullmatch(name):
        raise CourseError(
            f"A set cannot be called {name!r}: it takes small letters, digits and _, a letter "
            "first."
        )
    if name in found:
        raise CourseError(f"{name} is a practice set already: take another name.")
    if sets.is_relative_to(ROOT):
        raise CourseError(f"{sets} lies in this repository, where it could be published.")
    place = sets / name
    if place.exists():
        raise CourseError(f"There is a {place} already.")
    try:
        left = shutil.ignore_patterns("__pycache__", variants.FILE)
        shutil.copytree(found[template], place, ignore=left)
    except OSError as error:
        shutil.rmtree(place, ignore_errors=True)
        raise CourseError(f"{place} cannot be written: {error.strerror or error}.") from None
    return place


def main(arguments):
    """Make the set; return an exit status."""
    parser = argparse.ArgumentParser(prog="python -m assignments.new_set", description=__doc__)
    parser.add_argument("sets", type=Path, help="the folder of your sets")
    parser.add_argument("name", help="what the new set is called")
    parser.add_argument("--template", default="ps2", help="the practice set to begin with")
    options = parser.parse_args(arguments)
    try:
        place = new_set(options.sets, options.name, options.template)
    except CourseError as error:
        print(error)
        return 1
    print(
        f"{place} is a copy of {options.template}: the tasks and their hints, the text in "
        "master.md, the answers in proofs.py.\nWhen you have changed it: make prove "
        f"SETS={options.sets} SET={options.name}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
