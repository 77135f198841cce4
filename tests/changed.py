"""Run the tests that a change reaches: `make test-changed`, or BASE=main for all since main.

A test reaches a file if it imports it, directly or through others, or names it in a string; a
notebook does so through the imports of its cells. A file that is not Python belongs to the
modules beside it, since they read it.
"""

import ast
import functools
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.machine import Missing, git

# Every test depends on these files.
EVERYTHING = {"conftest.py", "pyproject.toml", "constraints.txt", "tests/machine.py"}
# Tests find these files through the name of a folder or of an exercise, so no string names them.
FOLDERS = {
    "book/": ("tests/test_book.py", "tests/test_prose.py", "tests/test_site/"),
    "notebooks/": ("tests/test_notebooks.py", "tests/test_prose.py", "tests/test_site/"),
    "assignments/": ("tests/test_assignments/", "tests/grader/", "tests/test_teaching.py"),
    "grader/": ("tests/test_assignments/", "tests/grader/"),
    "attn_course/exercises/": (
        "tests/test_exercise",
        "tests/test_assignments/",
        "tests/grader/",
        "notebooks/",
    ),
    "attn_course/drawings/": ("tests/test_site/",),
    "attn_course/widgets/": ("tests/test_site/", "tests/test_widgets"),
    "tests/solutions/": ("tests/test_exercise",),
}


def changed(base):
    """Return the paths that differ from a commit, untracked files included."""
    listings = (["diff", "--name-only", base], ["ls-files", "--others", "--exclude-standard"])
    return {
        path
        for arguments in listings
        for path in subprocess.run(
            [git(), *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split("\n")
        if path
    }


@functools.cache
def _read(path):
    """Return the modules that a Python file or a notebook imports, and its strings."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".ipynb"):
        cells = json.loads(text)["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        lines = "\n".join(code).split("\n")
        text = "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!")))
    modules, strings = set(), set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.add(node.value)
    return modules, strings


@functools.cache
def _files(module):
    """Return the files that importing a module runs: its own and those of its packages."""
    parts = module.split(".")
    candidates = [
        folder + "/".join(parts[:n]) + ending
        for n in range(1, len(parts) + 1)
        for folder in ("", "book/_ext/", "notebooks/", "tests/")
        for ending in (".py", "/__init__.py")
    ]
    return [path for path in candidates if (ROOT / path).exists()]


@functools.cache
def reached(test):
    """Return all files of ours that a test or a notebook imports, and every string in them."""
    files, strings, waiting = set(), set(), [test]
    while waiting:
        file = waiting.pop()
        if file in files:
            continue
        files.add(file)
        modules, said = _read(file)
        strings |= said
        waiting += [path for module in modules for path in _files(module)]
    return files, "\n".join(strings)


def reaches(test, path):
    """Tell whether a test reaches a file that changed."""
    if any(path.startswith(a) and test.startswith(b) for a, b in FOLDERS.items()):
        return True
    if path.endswith("/conftest.py"):
        return test.startswith(path.removesuffix("conftest.py"))
    files, strings = reached(test)
    if path in files or path.endswith(".py"):
        return path in files
    beside = str(Path(path).parent)
    return Path(path).name in strings or any(
        str(Path(file).parent) == beside
        for file in files
        if file.startswith(("attn/", "attn_course/"))
    )


def select(paths):
    """Return the test files and notebooks that a change of some paths reaches, in order."""
    tests = sorted(
        str(path.relative_to(ROOT))
        for pattern in ("tests/**/test_*.py", "notebooks/en/*.ipynb")
        for path in ROOT.glob(pattern)
    )
    if paths & EVERYTHING:
        return tests
    return [test for test in tests if any(reaches(test, path) for path in paths)]


def main(base):
    """Select and run; return the exit status of pytest."""
    try:
        selected = select(changed(base))
    except Missing as missing:
        print(f"What has changed cannot be told: {missing}.")
        return 1
    except subprocess.CalledProcessError as error:
        print(f"BASE: expected a commit, got {base!r} ({error.stderr.splitlines()[0]})")
        return 1
    if not selected:
        print(f"Nothing that differs from {base} reaches a test.")
        return 0
    print("\n".join(selected), flush=True)
    command = [sys.executable, "-m", "pytest", "--nbval", "-n", "2", "--dist", "loadfile"]
    return subprocess.run([*command, *selected], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
