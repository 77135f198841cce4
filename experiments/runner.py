"""One way to run an experiment: its rows are measured once and stored, and can be measured again.

A module of this folder that is an experiment has an `EXPERIMENT`, and `python -m experiments` runs
it by the name of the module. Each result is written at once, so that a run may be stopped and
started again.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch

from attn.io import write_whole

DATA = Path(__file__).resolve().parents[1] / "notebooks" / "data"
# JSON of at most this number of characters is written in one line.
SHORT = 240
MISSING = object()


class Row:
    """A measurement, and the place in the file where its result is kept.

    Parameters
    ----------
    measure : callable
        Returns the result; one value for each place if there are several.
    *places : tuple
        The path to the value in the file: a name selects from an object, a number from a list, and
        a mapping the object in a list that has these entries.
    reads : bool
        Whether `measure` is given the stored results, such as a learning rate that another row
        found.
    resumes : bool
        Whether `measure` is given the part already stored at its place, and a function that stores
        more: for rows that take hours. It is then called in each run, to see whether anything is
        missing.
    is_large : bool
        Whether the row is meant for a GPU. Without one it is measured only if it is named, and it
        may be missing from the file.
    """

    def __init__(self, measure, *places, reads=False, resumes=False, is_large=False):
        self.measure, self.places = measure, places
        self.reads, self.resumes, self.is_large = reads, resumes, is_large

    def values(self, stored, keep):
        """Measure, and return the values as they come back from a JSON file."""
        if self.resumes:
            before = get(stored, self.places[0])
            told = {} if before is MISSING else before
            self.measure(told, keep)
            measured = told
        else:
            measured = self.measure(stored) if self.reads else self.measure()
        values = measured if len(self.places) > 1 else [measured]
        return json.loads(json.dumps(list(values)))


@dataclass(frozen=True)
class Experiment:
    """A question of the book, and the rows that answer it.

    Parameters
    ----------
    question : str
        One line for the list of all experiments.
    file : Path
        Where the rows are kept.
    rows : callable
        Returns the rows by name, in the order of the file. Nothing is loaded or trained for it.
    minutes : float
        Of one core, for all rows.
    constants : callable
        Returns the values stored in the file beside the rows: sizes, steps, sentences.
    publish : callable
        Called after a run that wrote to `file`; it updates the tables of a page.
    """

    question: str
    file: Path
    rows: Callable[[], Mapping[str, Row]]
    minutes: float
    constants: Callable[[], Mapping] = dict
    publish: Callable[[], None] = field(default=lambda: None)

    def run(self, names=(), *, only=None, results=None, replace=False, say=print):
        """Measure the rows that are missing, or the named rows.

        A named row that is already stored is measured again and compared.

        Parameters
        ----------
        names : sequence of str
        only : int, optional
            Stop after this number of rows.
        results : Path, optional
            Another file in place of the experiment's own.
        replace : bool
            Whether a named row replaces the stored one.
        say : callable
            Gets a sentence about each row.

        Returns
        -------
        bool
            Whether every row that was measured again equals the stored one.

        Raises
        ------
        ValueError
            If there is no row with a given name, the stored rows were measured with other
            constants, or a row reads a result that is not stored.
        """
        rows, file = self.rows(), results or self.file
        if only is not None and only < 1:
            raise ValueError(f"only: expected at least 1, got {only}")
        if replace and not names:
            raise ValueError("replace: expected the names of rows to store anew, got none")
        self._check(rows, file)
        for name in names:
            if name not in rows:
                raise ValueError(f"row: expected one of {', '.join(rows)}, got {name}")
        torch.set_num_threads(1)
        wanted = names or [
            name
            for name, row in rows.items()
            if row.resumes or self._values(row, read(file)) is None
        ]
        same, has_written = True, False
        for name in list(wanted)[:only]:
            began = time.process_time()

            def keep(told, row=rows[name]):
                if not names:
                    self._write(file, rows, put(read(file), row.places[0], told))

            if rows[name].is_large and not names and not torch.cuda.is_available():
                say(f"{name}: left out, since PyTorch finds no GPU")
                continue
            before = None if names and rows[name].resumes else read(file)
            try:
                measured = rows[name].values(before, keep)
            except KeyError as error:
                if not rows[name].reads:
                    raise
                expected = f"{name}: expected the rows that it reads to be measured before"
                raise ValueError(f"{expected}, got none of {error}") from error
            seconds = time.process_time() - began
            # Read after the measurement, because another run may have written meanwhile.
            stored = read(file)
            before = self._values(rows[name], stored)
            if before is not None and names and not replace:
                same &= before == measured
                told = "as stored" if before == measured else f"stored: {before}; now: {measured}"
                say(f"{name} ({seconds:.0f} s): {told}")
                continue
            if None in measured:
                say(f"{name}: left out, for something is missing on this machine")
                continue
            for place, value in zip(rows[name].places, measured, strict=True):
                stored = put(stored, place, value)
            self._write(file, rows, stored)
            has_written = True
            say(f"{name} ({seconds:.0f} s): {json.dumps(measured)[:SHORT]}")
        if file == self.file and has_written:
            self.publish()
        return same

    def _check(self, rows, file):
        """Refuse a file with other constants, or with entries that belong to no row."""
        stored, constants = read(file) or {}, json.loads(json.dumps(self.constants()))
        if not isinstance(stored, dict):
            return
        known = {*constants, *(place[0] for row in rows.values() for place in row.places)}
        for name, value in stored.items():
            if name not in known:
                raise ValueError(f"{file}: expected entries {', '.join(sorted(known))}, got {name}")
            if name in constants and not isinstance(value, dict) and value != constants[name]:
                raise ValueError(f"{file}: expected {name} {constants[name]}, got {value}")

    def _write(self, file, rows, stored):
        write_whole(file, lines(self._ordered(rows, stored)) + "\n")

    @staticmethod
    def _values(row, stored):
        found = [get(stored, place) for place in row.places]
        return None if MISSING in found else found

    def _ordered(self, rows, stored):
        """Return the stored results in the order of the rows, without rows that no longer exist."""
        ordered = json.loads(json.dumps(self.constants()))
        for row in rows.values():
            for place in row.places:
                if (value := get(stored, place)) is not MISSING:
                    ordered = put(ordered, place, value)
        return ordered


def read(file):
    """Return the content of a file, or nothing if there is none."""
    if not file.exists():
        return None
    try:
        return json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{file}: expected JSON in UTF-8, got {error}") from error


def get(stored, place):
    """Return the value at a place, or `MISSING`.

    >>> get({"runs": [{"seed": 1, "loss": 0.5}]}, ("runs", {"seed": 1}, "loss"))
    0.5
    """
    for step in place:
        if isinstance(step, Mapping):
            found = [one for one in stored or () if step.items() <= one.items()]
            stored = found[0] if found else None
        elif isinstance(step, int):
            stored = stored[step] if stored and step < len(stored) else None
        else:
            stored = (stored or {}).get(step)
        if stored is None:
            return MISSING
    return stored


def put(stored, place, value):
    """Return the stored results with a value put at a place, which is created if needed.

    >>> put(None, ("loss", "post", 1), 0.5)
    {'loss': {'post': [None, 0.5]}}
    """
    if not place:
        return value
    step, *rest = place
    if isinstance(step, Mapping):
        listed = list(stored or ())
        at = next((i for i, one in enumerate(listed) if step.items() <= one.items()), len(listed))
        before = listed[at] if at < len(listed) else dict(step)
        return [*listed[:at], put(before, rest, value), *listed[at + 1 :]]
    if isinstance(step, int):
        listed = list(stored or ()) + [None] * (step + 1 - len(stored or ()))
        listed[step] = put(listed[step], rest, value)
        return listed
    return {**(stored or {}), step: put((stored or {}).get(step), rest, value)}


def lines(value, depth=0):
    """Return JSON in which short values are in one line."""
    whole = json.dumps(value, ensure_ascii=False)
    if len(whole) <= SHORT or not isinstance(value, (dict, list)):
        return whole
    pad, (left, right) = " " * (depth + 1), "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, dict):
        items = [f"{json.dumps(name)}: {lines(item, depth + 1)}" for name, item in value.items()]
    else:
        items = [lines(item, depth + 1) for item in value]
    return f"{left}\n{pad}" + f",\n{pad}".join(items) + f"\n{' ' * depth}{right}"
