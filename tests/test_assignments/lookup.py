"""How well a table of known inputs and answers can replace a function.

Nothing is given up to be generous to it: of all the ways to look an input up, and for each row of
a batch and each output alone, the one that is right counts, although no student could tell which.
"""

import itertools
from collections import defaultdict

import numpy as np

from attn_course.exercises.compare import Answer, same


class Table:
    """Inputs with the right answers to them.

    Parameters
    ----------
    records : list of attn_course.exercises.record.Record
    """

    def __init__(self, records):
        pairs = [pair for one in records for pair in zip(one.cases, one.expected, strict=True)]
        self.whole = _Index([(case, answer.values) for case, answer in pairs])
        rows = [row for case, answer in pairs for row in _rows(case, answer.values)]
        self.rows = _Index([row for row in rows if row[1]])

    def has(self, case, answer):
        """Return whether some way of looking up an input gives the right answer."""
        by_row = list(_rows(case, answer.values))
        return all(
            self.whole.has(case, i, value)
            or (
                bool(by_row)
                and all(i in values and self.rows.has(row, i, values[i]) for row, values in by_row)
            )
            for i, value in enumerate(answer.values)
        )


class _Index:
    """Pairs of an input and its outputs, indexed by every key and by number of the output."""

    def __init__(self, pairs):
        self.found, self.by_shape, values = defaultdict(list), defaultdict(list), defaultdict(list)
        for case, outputs in pairs:
            outputs = dict(enumerate(outputs)) if isinstance(outputs, tuple) else outputs
            for key in _keys(case):
                self.found[key].append((case, outputs))
            self.by_shape[_shapes(case)].append((case, outputs))
            for i, value in outputs.items():
                values[i].append(value.ravel())
        self.constants = {i: _common(np.concatenate(some)) for i, some in values.items()}

    def has(self, case, i, right):
        """Return whether the right output `i` is among the guesses for this input."""
        guesses = (np.full(right.shape, value) for value in self.constants.get(i, ()))
        near = sorted(self.by_shape[_shapes(case)], key=lambda pair: _distance(pair[0], case))[:1]
        pairs = itertools.chain(near, *(self.found.get(key, ()) for key in _keys(case)))
        looked_up = (guess for seen, outputs in pairs for guess in _read(seen, outputs[i], case))
        return any(_equal(guess, right) for guess in itertools.chain(guesses, looked_up))


def _rows(case, values):
    """Yield the rows of a batch: inputs and outputs with its first axis are cut into rows."""
    sizes = [array.shape[0] for array in case.values() if array.ndim]
    if not sizes:
        return
    for b in range(sizes[0]):
        row = {
            name: array[b] if array.ndim and len(array) == sizes[0] else array
            for name, array in case.items()
        }
        yield row, {i: v[b] for i, v in enumerate(values) if v.ndim and len(v) == sizes[0]}


def _shapes(case):
    return tuple((name, array.shape) for name, array in case.items())


def _keys(case):
    """Yield the keys by which an input is looked up, from shapes to sorted, rounded values."""
    whole = {name: array for name, array in case.items() if array.dtype.kind in "biu"}
    sizes = tuple((name, int(array)) for name, array in whole.items() if array.ndim == 0)
    yield "sizes", _shapes(case), sizes
    yield "pattern", _shapes(case), sizes, _pattern(a for a in whole.values() if a.ndim)
    yield "tokens", _shapes(case), _pattern(whole.values())
    yield "order", _shapes(case), _ranks(case.values())
    for digits in (0, 1):
        rounded = [np.round(array.astype(float), digits) for array in case.values()]
        yield digits, _shapes(case), tuple(array.tobytes() for array in rounded)
        yield "sorted", digits, _shapes(case), tuple(np.sort(a, None).tobytes() for a in rounded)


def _pattern(arrays):
    """Number the values in order of their first appearance; 0 and False have number 0."""
    numbers = {0: 0}
    values = [value for array in arrays for value in array.ravel().tolist()]
    return tuple(numbers.setdefault(value, len(numbers)) for value in values)


def _ranks(arrays):
    return tuple(np.unique(array, return_inverse=True)[1].tobytes() for array in arrays)


def _flat(case):
    return np.concatenate([array.astype(float).ravel() for array in case.values()])


def _distance(case, other):
    with np.errstate(all="ignore"):
        apart = np.abs(_flat(case) - _flat(other))
    return apart[np.isfinite(apart)].sum()


def _common(values):
    """Return constants to guess: 0, 1, the most frequent value and the mean."""
    found, counts = np.unique(values, return_counts=True)
    most, mean = found[counts.argmax()], values.mean()
    return [values.dtype.type(0), values.dtype.type(1), most, mean]


def _read(seen, answer, case):
    """Yield a known answer: unchanged, with values copied from the new input, and rescaled."""
    yield answer
    before, now = _flat(seen), _flat(case)
    order = np.argsort(before, kind="stable")
    place = np.searchsorted(before, answer.astype(float), sorter=order).clip(max=len(before) - 1)
    copied = before[order[place]] == answer
    if copied.any():
        yield np.where(copied, now[order[place]], answer).astype(answer.dtype)
    for name, array in case.items():
        if array.ndim == 0 and array.dtype.kind == "f" and seen[name] != 0:
            yield answer * (array / seen[name])


def _equal(guess, right):
    return same(Answer((np.asarray(guess),), ""), Answer((right,), ""))
