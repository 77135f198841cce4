"""Run an experiment of the book, or list them all.

``python -m experiments`` lists them; ``python -m experiments depth`` measures the rows of `depth`
that are not stored yet; a stored row whose name is given is measured again and compared.
"""

import argparse
import ast
import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
# A module that assigns this name is an experiment. The text is searched, since an import takes
# seconds.
MARK = "EXPERIMENT"


def names():
    """Return the names of all experiments."""
    return sorted(path.stem for path in FOLDER.glob("*.py") if _is_experiment(path))


def _is_experiment(path):
    body = ast.parse(path.read_text("utf-8")).body
    targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    return any(getattr(target, "id", None) == MARK for target in targets)


def experiment(name):
    """Return the experiment with this name."""
    return getattr(importlib.import_module(f"experiments.{name}"), MARK)


def main(arguments=None):
    """List the experiments, or measure rows of one; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("name", nargs="?", help="an experiment; none: all are listed")
    parser.add_argument("rows", nargs="*", help="rows to measure (again); none: what is missing")
    parser.add_argument("--replace", action="store_true", help="store named rows anew")
    parser.add_argument("--only", type=int, help="stop after so many rows")
    parser.add_argument("--results", type=Path, help="another file of results")
    parser.add_argument("--list", action="store_true", help="name the rows, and measure nothing")
    options = parser.parse_args(arguments)
    if options.name is None:
        for name in names():
            one = experiment(name)
            print(f"{name:20} {len(one.rows()):4} rows {one.minutes:5g} min  {one.question}")
        return 0
    if options.name not in names():
        parser.error(f"name: expected one of {', '.join(names())}, got {options.name}")
    one = experiment(options.name)
    if options.list:
        print(*one.rows(), sep="\n")
        return 0
    try:
        same = one.run(
            options.rows, only=options.only, results=options.results, replace=options.replace
        )
    except ValueError as error:
        parser.error(str(error))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
