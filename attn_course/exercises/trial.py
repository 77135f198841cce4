"""Advice is tried before it is given: does an attempt get further if every sum and maximum keeps its axis?"""

import functools

import numpy as np

from attn_course.exercises.compare import run

REDUCING = ("sum", "mean", "max", "min", "prod", "std", "var")


class _Kept(np.ndarray):
    """An array whose reductions along an axis keep it, as though `keepdims=True` stood in each."""

    def __array_function__(self, function, types, args, kwargs):
        if function is np.linalg.norm and kwargs.get("axis") is not None:
            kwargs = kwargs | {"keepdims": True}
        result = super().__array_function__(function, types, args, kwargs)
        return result.view(_Kept) if type(result) is np.ndarray else result


def _keeping(name):
    method = getattr(np.ndarray, name)

    @functools.wraps(method)
    def reduce(self, axis=None, *args, **kwargs):
        if axis is not None:
            kwargs["keepdims"] = True
        return method(self, axis, *args, **kwargs)

    return reduce


for _name in REDUCING:
    setattr(_Kept, _name, _keeping(_name))


def keepdims_helps(record, attempt, case):
    """Return whether an attempt that raises on an input does not, once every reduction keeps its axis.

    Parameters
    ----------
    record : Record
    attempt : callable
    case : dict of str to ndarray

    Returns
    -------
    bool
    """
    kept = {
        name: array.view(_Kept) if array.ndim and array.dtype.kind == "f" else array
        for name, array in case.items()
    }
    return run(attempt, kept, record).error is None
