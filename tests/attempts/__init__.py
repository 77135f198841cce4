"""Wrong attempts at every exercise, and right ones written in an unusual way.

Each chapter has a file, and in it each exercise a class with its id. What such a class holds are functions
that a student might hand in; those whose name begins with `right` are right. All of them were written from
the statements of the exercises, before anyone looked at the known mistakes: they measure how much of what
goes wrong `check` can name.

An attempt that differs from another one in a few places is a slip of it: a line in its `slips`, written as
those of the hints are, with the name of the attempt in place of a mistake.
"""

import inspect
import linecache
import textwrap

from attn_course.exercises.slips import BETWEEN, slips_of, spoilt


def attempts_of(exercise):
    """Yield the name of each attempt that a class holds, and the function."""
    for name, attempt in vars(exercise).items():
        if not callable(attempt) or name.startswith("_"):
            continue
        yield name, attempt
        if hasattr(attempt, "slips"):
            # An edit is not to find its words in the name of the function.
            source = textwrap.dedent(inspect.getsource(attempt)).replace(f"def {name}(", "def _(")
            code, slips = slips_of(source.rstrip("\n") + BETWEEN + textwrap.dedent(attempt.slips))
            for slip, edits in slips:
                changed = spoilt(code, edits)
                assert changed, f"{exercise.__name__}.{slip}: an edit finds nothing to replace"
                yield slip, _function(slip, attempt, changed.replace("def _(", f"def {slip}("))


def _function(name, attempt, code):
    """Return a function that knows what another one knows, and whose source can be read."""
    file = f"<{attempt.__qualname__}.{name}>"
    linecache.cache[file] = len(code), None, code.splitlines(keepends=True), file
    names = {}
    exec(compile(code, file, "exec"), attempt.__globals__, names)  # noqa: S102 - The code is ours.
    return names[name]
