"""Which cells of a chapter can run in the page.

The site holds a Python for the browser with NumPy, and no PyTorch. The build may add matplotlib.
The needs of a cell are read from its code; this module itself needs nothing but Python.
"""

import ast
import builtins
import re
import sys

from attn_course._statements import names

# The packages that a cell may import there, with the standard library except modules that need
# files or a network.
PACKAGES = (
    "numpy",
    "attn.reference",
    "attn_course.language",
    "attn_course.exercises",
    "attn_course.tables",
    "attn_course.own_machine",
)
# The packages that are loaded in addition once a cell draws.
DRAWING = ("matplotlib", "attn_course.plots")
NOT_THERE = {"open", "input", "pathlib", "os", "sys", "subprocess", "urllib", "socket", "tempfile"}
EXERCISE = re.compile(r'^check\("(\w+)", (\w+)\)$', re.MULTILINE)
MACHINE = re.compile(r"^own_machine\.translate\(.*\)$", re.MULTILINE)


def asks(source):
    """Return the exercise that a cell asks for, or None.

    >>> asks('def softmax(scores):\\n    ...\\n\\ncheck("softmax", softmax)')
    'softmax'
    """
    found = EXERCISE.search(source)
    return found[1] if found else None


def plan(sources, drawing=False):
    """Return which code cells of a chapter can run in the page, after the cells before them.

    Parameters
    ----------
    sources : iterable of str
        The code cells, in order, worked solutions left out.
    drawing : bool, default False
        Whether the site holds matplotlib.

    Returns
    -------
    list of str
        For each cell ``"run"``; ``"setup"``, if of what it imports and sets only some is there;
        ``"exercise"``; ``"machine"``, if the learner's code translates in it, for which no cell before
        it has to run; ``"draws"``, if it runs with matplotlib and not without; or ``"local"``, if it
        needs more than there is.

    Examples
    --------
    >>> plan(["import numpy as np\\nimport torch", "x = np.ones(2)", "y = torch.ones(2)", "x + y"])
    ['setup', 'run', 'local', 'local']
    >>> plan(["from attn_course import plots", "plots.heatmap([[1]], 'a', 'b')"], drawing=True)
    ['setup', 'draws']
    """
    sources = list(sources)
    kinds = _plan(sources, PACKAGES)
    if not drawing:
        return kinds
    drawn = _plan(sources, PACKAGES + DRAWING)
    return [
        "draws" if pair == ("local", "run") else pair[0] for pair in zip(kinds, drawn, strict=True)
    ]


def _plan(sources, packages):
    there = set(dir(builtins)) - NOT_THERE
    kinds = []
    for source in sources:
        statements = ast.parse(source).body
        imports = any(isinstance(s, ast.Import | ast.ImportFrom) for s in statements)
        if asks(source):
            there.add(asks(source))
            kinds.append("exercise")
            continue
        if MACHINE.search(source):
            kinds.append("machine")
            continue
        after, whole = set(there), True
        for statement in statements:
            whole &= take(statement, after, packages)
        if not whole and not imports:
            after = set(there)
            for statement in statements:
                _lose(statement, after)
        there = after
        kinds.append("setup" if imports else "run" if whole else "local")
    return kinds


def take(statement, there, packages=PACKAGES):
    """Add the names that a statement sets to `there`, or remove them if it cannot run."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        kept = importable(statement, packages)
        if kept:
            there |= names(kept)[1]
        return ast.dump(kept) == ast.dump(statement) if kept else False
    read, written = names(statement)
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr):
        own = set()
    else:  # a loop may read what it sets; a function may call itself
        own = written
    if not read <= there | own:
        _lose(statement, there)
        return False
    there |= written
    return True


def _lose(statement, there):
    """Remove the names that a statement that cannot run would have set or changed."""
    there -= names(statement)[1]
    for node in ast.walk(statement):
        # A method may change its object, as a generator of random numbers shows.
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            asked = node.func.value
            if isinstance(asked, ast.Name) and asked.id not in ("np", "reference", "json", "math"):
                there.discard(asked.id)


def importable(statement, packages=PACKAGES):
    """Return an import without what the page does not have, or None if nothing is left."""
    kept = [alias for alias in statement.names if _is_there(statement, alias, packages)]
    if not kept:
        return None
    less = ast.parse(ast.unparse(statement)).body[0]
    less.names = kept
    return less


def _is_there(statement, alias, packages):
    whole = alias.name
    if isinstance(statement, ast.ImportFrom):
        whole = f"{statement.module}.{alias.name}"
    if whole == "attn_course":
        return True
    top = whole.partition(".")[0]
    if top in ("attn", "attn_course"):
        return any(f"{whole}.".startswith(f"{package}.") for package in packages)
    return top in packages or (top in sys.stdlib_module_names and top not in NOT_THERE)
