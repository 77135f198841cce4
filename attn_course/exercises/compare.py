"""Run a function on one input, and compare the answers of two functions."""

import math
import re
import traceback
from dataclasses import dataclass

import numpy as np

# No exercise asks for so many numbers. A larger answer has a wrong shape, and only its shape is
# read: copying and comparing its numbers on every input would take minutes and all the memory.
TOO_MANY = 10**5
MAX_DEPTH = 64  # of nested lists: NumPy has no more axes


@dataclass(frozen=True)
class Answer:
    """The result of calling a function with one input."""

    values: tuple | None  # the arrays it returned, or None if it returned something else
    returned: str = ""  # what it returned, in words
    missing: bool = False  # the function, or one that it calls, is not written yet
    modified: str | None = None  # the argument it wrote into
    error: Exception | None = None
    lists: tuple = ()  # the numbers of the results that came as lists or tuples

    @property
    def broken(self):
        """Whether the answer is anything but finite numbers."""
        if self.values is None or any(value.size > TOO_MANY for value in self.values):
            return True
        return not all(np.isfinite(value).all() for value in self.values)

    @property
    def numbers(self):
        """Whether the answer holds numbers alone, some of which may be infinite."""
        return not self.broken or bool(
            self.values and not any(v.size > TOO_MANY or np.isnan(v).any() for v in self.values)
        )


def run(function, case, exercise):
    """Call a function with copies of one input of an exercise.

    Parameters
    ----------
    function : callable
        An attempt, the oracle or a misconception.
    case : dict of str to ndarray
        The arguments, in the order of the signature.
    exercise : Exercise
        Tells how many arrays to expect.

    Returns
    -------
    Answer
        What the function returned or raised.
    """
    # A single number is passed as a NumPy scalar, which `+=` cannot change, as it cannot an `int`.
    inputs = {name: array.copy()[()] for name, array in case.items()}

    def modified():
        return next((name for name in case if not _identical(inputs[name], case[name])), None)

    try:
        with np.errstate(all="ignore"):
            returned = function(*inputs.values())
    except Exception as error:  # noqa: BLE001 - whatever the attempt raises is its answer
        return Answer(None, "", missing=_left_blank(error), modified=modified(), error=error)
    several = len(exercise.outputs) > 1 and isinstance(returned, (tuple, list))
    parts = returned if several else (returned,)
    kinds = ", ".join(map(_kind, parts[:9])) + ", ..." * (len(parts) > 9)
    return Answer(
        _as_arrays(parts),
        f"({kinds})" if several else kinds,
        missing=any(p is Ellipsis for p in parts) or all(p is None for p in parts),
        modified=modified(),
        lists=tuple(k for k, part in enumerate(parts) if isinstance(part, (list, tuple))),
    )


def _left_blank(error):
    """Return whether an exception comes from a part still to be written.

    Such a part is an ``x = ...``, or a function that returns None, to be found in a variable
    of the innermost function (an argument may well be None) or in the message.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    blanks = [value for frame in frames for value in frame.f_locals.values() if value is Ellipsis]
    code, innermost = frames[-1].f_code, frames[-1].f_locals
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    nothing = [n for n, value in innermost.items() if value is None and n not in arguments]
    return bool(blanks or nothing or re.search("ellipsis|NoneType", said(error)))


def said(error):
    """Return the beginning of an exception's message, or nothing if the message raises."""
    try:
        return str(error)[:1000]
    except Exception:  # noqa: BLE001 - its class may be the learner's
        return ""


def _kind(part):
    name = "None" if part is None else type(part).__name__
    try:
        dtype = f"[{part.dtype}]" if hasattr(part, "dtype") else ""
    except Exception:  # noqa: BLE001 - a class of the learner's may raise anything
        dtype = ""
    return (name + dtype)[:100]


def _as_arrays(parts):
    """Return copies of NumPy arrays, PyTorch tensors or nested lists as arrays; else None."""
    try:
        arrays = tuple(map(_as_array, parts))
    except Exception:  # noqa: BLE001 - a class of the learner's may raise anything
        return None
    return arrays if all(array.dtype.kind in "fiub" for array in arrays) else None


def _as_array(part):
    if isinstance(part, (str, bytes)):
        raise TypeError("no numbers")
    shape = tuple(part.shape) if hasattr(part, "shape") else _shape(part)
    if math.prod(shape) > TOO_MANY:
        return np.broadcast_to(np.array(0.0), shape)
    if _endless(part):
        raise TypeError("np.c_ and np.r_ have an element for every index, and NumPy would read all")
    return np.asarray(part.detach().cpu() if hasattr(part, "detach") else part).copy()


def _shape(part):
    """Return the shape of nested lists whose rows are as the first; of other things, their length."""
    shape = []
    while hasattr(part, "__len__") and len(shape) <= MAX_DEPTH:
        shape.append(len(part))
        if not isinstance(part, (list, tuple)) or not part:
            break
        part = part[0]
    if len(shape) > MAX_DEPTH:
        raise ValueError("a list in itself")
    return tuple(shape)


def _endless(part, depth=0):
    """Return whether an object, or an item of nested lists, has a length but cannot be iterated."""
    if isinstance(part, (list, tuple)):
        return depth < MAX_DEPTH and any(_endless(each, depth + 1) for each in part)
    return hasattr(part, "__len__") and not hasattr(part, "__iter__")


def _identical(array, original):
    return array.shape == original.shape and array.tobytes() == original.tobytes()


def close(a, b):
    """Compare two arrays of one shape element by element, float32 less strictly than float64."""
    single = any(array.dtype.kind == "f" and array.dtype.itemsize < 8 for array in (a, b))
    tolerance = 1e-3 if single else 1e-6
    a, b = a.astype(float), b.astype(float)
    # This is `np.isclose` in a third of its time, since a verdict compares thousands of arrays.
    with np.errstate(invalid="ignore"):
        near = np.isfinite(b) & (np.abs(a - b) <= tolerance + tolerance * np.abs(b))
    return near | (a == b) | (np.isnan(a) & np.isnan(b))


def same(a, b):
    """Return whether two answers have the same values, NaN included, or alike exceptions."""
    if isinstance(a.error, ArithmeticError) and b.broken:
        return True  # math.exp(1000) raises where np.exp gives infinity
    if a.values is None or b.values is None:
        return bool(a.error and b.error) and family(a.error) == family(b.error)
    return len(a.values) == len(b.values) and all(
        x.shape == y.shape and close(x, y).all() for x, y in zip(a.values, b.values, strict=True)
    )


def same_kind(a, b):
    """Return whether an array may stand for another: truth values and whole numbers only as such.

    An array of indices must be of the kind that the exercise asks for: with 0 and 1 in place of
    False and True an array picks rows 0 and 1, and floats raise. A whole number among real ones
    does no harm.
    """
    kinds = {"b": "b", "i": "iu", "u": "iu"}
    return a.dtype.kind in kinds.get(b.dtype.kind, "fiub")


def family(error):
    """Return the family of an exception, which two exceptions from one mistake have in common.

    A wrong shape is a ValueError in NumPy, a RuntimeError in PyTorch and a TypeError in math,
    so types tell little. A name without a value, ``if array:``, and a method or a keyword that
    does not exist are other matters; but a method of None is asked of a mask that was not given.
    """
    message = said(error)
    absent = isinstance(error, AttributeError) or "unexpected keyword" in message
    if absent and "NoneType" not in message:
        return "absent"
    return "name" if isinstance(error, NameError) else "ambiguous" in message
