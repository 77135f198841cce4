"""A small problem set, notebooks to grade, and expressions to evaluate inside the sandbox."""

import json
import textwrap

import numpy as np

from assignments.problem_sets import CONVENTIONS, ProblemSet, Task
from attn_course.exercises.catalogue import load
from grader import sandbox
from grader.grade import grade


def group(case):
    """Return the group of a case: "large" if a plain exponential overflows on it."""
    largest = max(np.abs(array).max() for array in case.values() if array.dtype.kind == "f")
    return "large" if largest > 20 else "values"


POINTS = {"values": 3, "large": 1, "arguments": 1}
SOFTMAX = Task("t-softmax", load("softmax"), POINTS, group)
ATTENTION = Task("t-attention", load("scaled_dot_product_attention"), POINTS, group)
SET = ProblemSet((SOFTMAX, ATTENTION), ("by-hand",), name="small")

RIGHT_SOFTMAX = """
import numpy as np

def softmax(scores):
    powers = np.exp(scores - np.maximum(scores.max(axis=-1, keepdims=True), -1e300))
    return powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-300)
"""
# It defines a softmax of its own, so that cheating on the other task cannot help this one.
RIGHT_ATTENTION = (
    RIGHT_SOFTMAX.replace("softmax", "own_softmax")
    + """
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])
    allowed = np.ones(scores.shape, bool) if mask is None else mask
    weights = own_softmax(np.where(allowed, scores, -np.inf))
    return weights @ value, weights
"""
)


def notebook(*cells):
    """Return a notebook of code cells, each given as its source or as a dict of its fields."""
    whole = [cell if isinstance(cell, dict) else {"source": cell} for cell in cells]
    return json.dumps(
        {"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], **c} for c in whole]}
    )


def graded(path, *cells, **kwargs):
    """Write a notebook of these cells to a folder, and grade it."""
    file = path / "small.ipynb"
    file.write_text(notebook(*cells), encoding="utf-8")
    return grade(file, SET, b"secret", **kwargs)


def points(result):
    return tuple(mark.points for mark in result.marks)


FULL = (5.0, 5.0)


def answer(*cells, case=None, **kwargs):
    """Run cells that define `f`; return the outcome, and the value of `f` or None."""
    inputs = {"t": [{"x": np.arange(3.0) if case is None else case}]}
    task = {"id": "t", "function": "f", "outputs": ["y"]}
    numbered = [(n, textwrap.dedent(cell)) for n, cell in enumerate(cells)]
    shared = {"checks": SOFTMAX.checks, "stand_ins": CONVENTIONS.stand_ins}
    outcome = sandbox.run(numbered, [task], inputs, **shared, **kwargs)
    found = [arrays for header, arrays in outcome.frames if header.get("task") == "t"]
    return outcome, found[-1].get("0/0") if found else None


def errors(outcome):
    """Return the errors of the cells that raised, by number of the cell."""
    return {h["cell"]: h["error"] for h, _ in outcome.frames if "cell" in h}


def look(*probes, before="", **kwargs):
    """Evaluate expressions inside the sandbox; return the text of each value or exception."""
    source = f"""
        import ctypes, os, re, signal, socket, sys, threading
        libc = ctypes.CDLL(None, use_errno=True)

        def value(probe):
            try:
                return str(eval(probe))
            except Exception as error:
                return f"{{type(error).__name__}}: {{error}}"

        seen = "\\0".join(map(value, {list(probes)!r}))

        def f(x):
            import numpy as np
            return np.frombuffer(seen.encode(), np.uint8)
    """
    outcome, seen = answer(before, source, **kwargs)
    assert seen is not None, outcome
    return dict(zip(probes, seen.tobytes().decode().split("\0"), strict=True))
