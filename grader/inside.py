"""Runs inside the sandbox: the student's cells, then each function on the inputs of its task.

The inputs come through a pipe once all cells have run, so that no cell can read them. Whatever the
student's code does to this process, only frames of arrays leave it, and their readers trust nothing
else. It uses the standard library, NumPy, and the files beside it in the sandbox: wire.py,
syscalls.py, standins.py, checks.py (``run`` of the checks of the set), and the part of IPython that
reads cells.
"""

import importlib
import json
import marshal
import os
import resource
import signal
import sys
import time
import types
from pathlib import Path

JOB = Path(sys.argv[1])
MOST_ERRORS = 20  # that a cell reports
RESERVE = 2**24  # bytes of memory that the cells cannot use, so that the inputs fit
LARGE = 2**20  # bytes; larger arrays are not kept with the function that was defined beside them


def limit(limits):
    """Set limits on this process that it cannot raise again."""
    for name, values in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), values)


def say(error):
    said = {"type": type(error).__name__, "message": str(error)[:200]}
    return said | (
        {"module": str(error.name)[:60]} if isinstance(error, ModuleNotFoundError) else {}
    )


class TimeUp(BaseException):
    """The time of a step is over. It is no `Exception`, so that ``except Exception`` misses it."""


class Clock:
    """Interrupts steps that take too long; a step that prevents this is ended from outside.

    Parameters
    ----------
    step_wall_s, step_cpu_s, wall_s : float
        The limits of `grader.sandbox.Limits`.
    """

    def __init__(self, step_wall_s, step_cpu_s, wall_s):
        self.step_wall_s, self.step_cpu_s = step_wall_s, step_cpu_s
        self.end = time.monotonic() + wall_s

    def run(self, step, *arguments):
        """Run a step; return its value and None, or None and what it raised."""
        left = max(self.end - time.monotonic(), 0.04)
        try:
            try:
                for number in (signal.SIGALRM, signal.SIGPROF):
                    signal.signal(number, self._ring)
                # The timers fire again every second, for a step that catches every exception.
                signal.setitimer(signal.ITIMER_REAL, min(self.step_wall_s, left / 4), 1)
                signal.setitimer(signal.ITIMER_PROF, self.step_cpu_s, 1)
                return step(*arguments), None
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.setitimer(signal.ITIMER_PROF, 0)
        except BaseException as error:  # noqa: BLE001 - SystemExit too: one step is one step
            return None, error

    @staticmethod
    def _ring(number, frame):
        raise TimeUp


def answer(run, function, task, inputs):
    """Call a function on each input of its task, by ``run`` of the checks of the set.

    Parameters
    ----------
    run, function : callable
    task : dict
    inputs : list of dict of str to ndarray

    Returns
    -------
    answers : list of dict
    arrays : dict of str to ndarray
    """
    spec = types.SimpleNamespace(outputs=task["outputs"])
    answers, arrays = [], {}
    for number, case in enumerate(inputs):
        try:
            found = run(function, case, spec)
        except TimeUp:
            raise
        except BaseException as error:  # noqa: BLE001 - one input is one input
            answers.append({"error": say(error)})
            continue
        answers.append(
            {
                "n_values": None if found.values is None else len(found.values),
                "missing": function is Ellipsis or bool(found.missing),
                "modified": found.modified,
                "error": None if found.error is None else say(found.error),
            }
        )
        for i, value in enumerate(found.values or ()):
            arrays[f"{number}/{i}"] = value
    return answers, arrays


def receive(pipe, array_of, read=os.read, loads=marshal.loads):
    """Read the inputs from their pipe; return, by task, the arguments of each call."""
    parts = []
    while part := read(pipe, 2**16):
        parts.append(part)
    return {
        task: [
            {name: array_of(data, dtype).reshape(shape) for name, dtype, shape, data in case}
            for case in cases
        ]
        for task, cases in loads(b"".join(parts)).items()
    }


def main():
    """Write a frame before each cell and each task, and one with the answers of each task."""
    sys.path.append(sys.argv[2])
    from wire import write_frame

    out, pipe = os.fdopen(os.dup(1), "wb"), os.dup(0)
    import numpy as np
    from checks import run
    from standins import Nothing, Shell, StubFinder, ipython_transform
    from syscalls import forbid

    job = json.loads((JOB / "job.json").read_text(encoding="utf-8"))
    ndarray, array_of = np.ndarray, np.frombuffer
    transform = ipython_transform()
    sys.meta_path.insert(0, StubFinder(job["stand_ins"], job["packages"]))
    # A module that a cell wrote can be imported. It comes last, so that it hides no other.
    sys.path.append(os.getcwd())
    limit(job["limits"])
    if job["sealed"]:
        forbid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    write_frame(out, {"ready": True})

    clock = Clock(*job["clock"])
    shown = ("display", "help", "exit", "quit")
    namespace = {"__name__": "__main__", **dict.fromkeys(shown, Nothing())}
    shell = Shell(namespace, transform, TimeUp)
    namespace["get_ipython"] = importlib.import_module("IPython").get_ipython = shell
    # kept[task] is the function that was defined last and the names that existed then; slow holds
    # the tasks that ran out of time.
    kept, slow, reserve = {}, set(), bytearray(RESERVE)

    def defined(task):
        # A stand-in for a missing package is not an answer.
        function = namespace.get(task["function"])
        return function if callable(function) and not isinstance(function, Nothing) else None

    def take(task, function, at_end):
        name = task["id"]
        write_frame(out, {"begins": ["task", name]})
        found, error = clock.run(answer, run, function, task, inputs.get(name, ()))
        if error:
            slow.add(name)
        answers, arrays = found or (None, {})
        write_frame(out, {"task": name, "at_end": at_end, "answers": answers}, arrays)

    for index, source, *definitions_only in job["cells"]:
        write_frame(out, {"begins": ["cell", index]})
        shell.errors = []
        name = f"<cell {index}>"
        _, error = clock.run(shell.run_cell, source, name, bool(definitions_only))
        if isinstance(error, TimeUp) and shell.definitions:
            write_frame(out, {"begins": ["cell", index]})
            clock.run(shell.run_definitions)
        for raised in [*shell.errors, error][:MOST_ERRORS]:
            if raised is not None:
                late = isinstance(raised, TimeUp)
                write_frame(out, {"cell": index, "late": late, "error": say(raised)})
        for task in job["tasks"]:
            function = defined(task)
            if function is not None and function is not kept.get(task["id"], (None,))[0]:
                kept[task["id"]] = (
                    function,
                    {
                        name: value
                        for name, value in namespace.items()
                        if type(value) is not ndarray or value.nbytes <= LARGE
                    },
                )
    write_frame(out, {"inputs": True})
    del reserve
    inputs = receive(pipe, array_of)
    # A later cell may complete a function, so each is called as it is at the end of the notebook.
    for task in job["tasks"]:
        function = defined(task)
        if function is not None or task["id"] not in kept:
            take(task, Ellipsis if function is None else function, at_end=True)
    # A later cell may also spoil a function. If names have changed since it was defined, it is
    # called again with the names of that moment.
    at_end = dict(namespace)
    for task in job["tasks"]:
        function, names = kept.get(task["id"], (None, {}))
        changed = any(at_end.get(name) is not value for name, value in names.items())
        if changed and task["id"] not in slow:
            namespace.update(names)
            take(task, function, at_end=False)
    write_frame(out, {"done": True})
    os._exit(0)  # No handler that the student left behind runs.


if __name__ == "__main__":
    main()
