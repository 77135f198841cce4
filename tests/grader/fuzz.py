"""Random hostile submissions, each drawn from its number, and all code outside the sandbox on them.

The sandbox is not among them: in its place stands what a student's code could make of its answers.
To look at one again: ``python -m tests.grader.fuzz 1234``.
"""

import contextlib
import io
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import warnings
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import nbformat
from nbconvert.exporters import HTMLExporter
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.server_extensions.formgrader import handlers
from nbgrader.utils import parse_utc

from assignments.release import release
from grader import batch as module
from grader import sandbox
from grader.batch import Batch
from grader.class_run import line
from grader.course import Course, CourseError
from grader.judge import draw
from grader.stats import tally
from grader.submitted import find
from grader.wire import LENGTHS, read_frames, write_frame

SET = "ps2"
# These are tasks of the set.
FIRST = ["softmax-with-temperature", "attend-once"]
# These are cells of the notebook.
KEPT = ["setup", *FIRST, *(f"{name}-answer" for name in FIRST)]
# A notebook takes milliseconds, or a little more on a busy machine.
MOST_SECONDS = 20
# Formgrader renders one in this many notebooks.
RENDERED = 100
# These marks stand for values that `dumps` cannot write; `as_json` replaces them in the text.
DEEP, DIGITS, TWICE = "@deep@", "@digits@", "@twice@"

VALUES = [
    *(None, True, False, 0, -1, 1.5, 2**31, 2**63, 10**40, float("nan"), float("inf")),
    *("", " ", "\n", "\0", "\ud800", "x\udfff", "\u202e", "ñ", "😀", "x" * 30_000, "a\r\nb"),
    *("code", "markdown", "raw", "heading", "stream", "display_data", "error"),
    *("<script>alert(1)</script>", "&#92;href{javascript:x}", "[a](javascript:x)", "$" * 99),
    *("`" * 40 + "\n", "| a |\n|---|\n" * 40, "> " * 400, "* " * 400, "[" * 400, "![" * 200),
    *("attend-once-answer", "attend-once", "same-projection", "setup", "%%time\n", "!ls?"),
    *([], {}, [[]], [None], {"": {}}, ["a", 1], {"nbgrader": []}, {"nbgrader": {"grade_id": 1}}),
    *(DEEP, DIGITS, [DEEP], {"a": DEEP}, TWICE),
    *({"nbgrader": {"grade_id": "attend-once-answer", "points": float("nan")}},),
    *({"image/png": "iVBORw0KGgoAAAANSUhEUgAA6mAAAOpg"}, {"image/png": ["iVBORw0K", "Ggo="]}),
    *(
        {"text/plain": ["a", 5], "image/png": "é"},
        {"text/html": "<b>"},
        [{"text": "y" * 30_000}] * 40,
    ),
]
PIECES = [value for value in VALUES if isinstance(value, str)]
KEYS = [
    "cells",
    "cell_type",
    "source",
    "metadata",
    "outputs",
    "nbgrader",
    "grade_id",
    "text",
    "data",
    "evalue",
    "",
    "\ud800",
    "__class__",
]
# This list is not formatted one item a line, because it would be too long to read.
TOKENS = [b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b"null", b"NaN", b"-Infinity", b"1e999",
          b"\\ud800", b"\\u0000", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\0", b"\r", b"9" * 5000,
          b"[" * 5000, b'"cells"', b'"source"', b'"outputs"', b'"metadata"', b"<!--", b"$$"]  # fmt: skip
TIMES = [
    "2026-03-05 18:30:00.000000 UTC",
    "2026-03-05 18:30:00 +0100",
    "2026-03-05T18:30:00Z",
    "5 March 2026 6pm CET",
    "2026-03-05 18:30:00 Europe/Madrid",
    "1772735400",
]
# This list is not formatted one item a line, because it would be too long to read.
OF_TIMES = ["9" * 30, "1", "-", "+", ":", ".", "/", "/dev/zero", "/etc/localtime", "../", " ", "\t",
            "\n", "\0", "\x1b[31m", "UTC", "EST5EDT", "Etc/GMT+14", "right/UTC", "posixrules", "T",
            "h", "e", "_", "+99999999", "-14:00", "٣", "०", "２", "\u2028", "\udc80", "am", "BC",
            "ab" * 300, "0001-01-01", "9999-12-31", "24:00", "29 February", "%s", "=1+1"]  # fmt: skip
NAMES = [
    "ana",
    "josé_núñez",
    "o'brien",
    "-rf",
    "=1+1",
    "a b",
    "a\nb",
    "试" * 20,
    "x" * 100,
    "\u202ea",
    "e\u0301",
    "ana ",
    ".ana",
    "ANA",
    "con",
    "a;b",
    "\udc80",
    "Ana Núñez",
]


class Hang(BaseException):
    """A submission took too long. It is no `Exception`, so `except Exception` does not catch it."""


def some(rng, most):
    """Return a small random number from 1 to `most`: most often 1."""
    return min(int(rng.expovariate(0.7)) + 1, most)


def mutate_text(rng, data, tokens):
    """Change bytes or characters at a few random places, and return the result."""
    for _ in range(some(rng, 8)):
        at, to = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        to = min(to, at + 2 ** rng.randrange(12))
        data = rng.choice(
            [
                lambda d, at, to: d[:at] + rng.choice(tokens) + d[at:],
                lambda d, at, to: d[:at] + rng.choice(tokens) + d[to:],
                lambda d, at, to: d[:at] + d[to:],
                lambda d, at, to: d[:to] + d[at:],
                lambda d, at, to: d[: at + 1] if rng.random() < 0.2 else d,
                lambda d, at, to: d[:at] + d[at:to][::-1] + d[to:],
            ]
        )(data, at, to)
    return data


def places(value):
    """Yield each (container, key) of a tree of JSON."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in list(inner):
        yield value, key
        if isinstance(child, dict | list):
            yield from places(child)


def mutate_tree(rng, tree):
    """Change a tree of JSON at random places, and return it: its root may be any value."""
    whole = [tree]
    for _ in range(rng.choice([1, 2, 4, 8])):
        everywhere = list(places(whole))
        # Most places are deep, in sources and outputs; the rarer entries come first in the list.
        near = rng.choice([2, 20] + [len(everywhere)] * 8)
        container, key = rng.choice(everywhere[:near])
        change = rng.randrange(6)
        if isinstance(container[key], str) and key != "cell_type" and rng.random() < 0.7:
            container[key] = mutate_text(rng, container[key], PIECES)
        elif change == 0:
            container[key] = deepcopy(rng.choice(VALUES))
        elif change == 1 and container is not whole:
            del container[key]
        elif change == 2:
            container[key] = [container[key]]
        elif change == 3:
            other, at = rng.choice(everywhere)
            # An earlier change may have removed the entry that is copied.
            with contextlib.suppress(KeyError, IndexError):
                container[key] = deepcopy(other[at])
        elif change == 4 and isinstance(container, dict):
            container[rng.choice(KEYS)] = container.pop(key)
        elif isinstance(container, list) and container is not whole:
            container.insert(rng.randrange(len(container) + 1), deepcopy(rng.choice(VALUES)))
        elif isinstance(container, dict):
            container[rng.choice(KEYS)] = deepcopy(rng.choice(VALUES))
    return whole[0]


def as_json(rng, tree):
    """Return a tree as bytes, some of which may be no valid JSON."""
    text = json.dumps(tree, ensure_ascii=rng.random() < 0.7)
    depth = rng.choice([20, 300, 990, 5000])
    for mark, meaning in (
        (DEEP, rng.choice(["[", '{"a":']) * depth + "1"),
        (DEEP, "[" * depth + "]" * depth),
        (DIGITS, "9" * rng.choice([400, 5000])),
        (TWICE, '"", "cells": []'),
    ):
        text = text.replace(f'"{mark}"', meaning, rng.choice([0, 1]))
    return text.encode("utf-8", "surrogatepass")


class Fuzz:
    """A course with one hostile student, who hands in again and again.

    Parameters
    ----------
    folder : Path
        A course just released; written into.
    """

    def __init__(self, folder):
        self.course = Course(folder)
        models = {}
        for language in ("es", "en"):
            place = self.course.path(language, "submitted", "ana", SET)
            place.parent.mkdir(parents=True)
            source = self.course.path(language, "source", ".", SET)
            shutil.copy(source, place)
            models[language] = json.loads(source.read_text(encoding="utf-8"))
            for cell in models[language]["cells"][::3]:
                if cell["cell_type"] == "code":
                    cell["outputs"] = [
                        {"output_type": "stream", "name": "stdout", "text": ["a\n", "b"]},
                        {
                            "output_type": "display_data",
                            "data": {"text/plain": "x"},
                            "metadata": {},
                        },
                        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": []},
                    ]
        self.models = models
        self.batch = Batch(self.course, SET)
        # Two tasks and a few cells are enough; more of the same kind only takes longer.
        self.batch.set = replace(self.batch.set, tasks=self.batch.set.tasks[:2])
        for notebook in (*models.values(), *self.batch.released.values()):
            cells = notebook["cells"]
            mine = [
                c for c in cells[1:] if c["metadata"].get("nbgrader", {}).get("grade_id") in KEPT
            ]
            notebook["cells"] = [cells[0], *mine, *cells[-2:]]
        self.frames = self._frames()
        self.exporter = HTMLExporter(
            template_name="formgrade", extra_template_basedirs=[handlers.template_path]
        )
        self.outside = []

    def _frames(self):
        """Return the (header, arrays) of a run with one right and one wrong task."""
        raised = {"late": False, "error": {"type": "KeyError", "message": "x"}}
        frames = [({"ready": True}, {}), ({"begins": ["cell", 1]}, {})]
        frames += [({"cell": number, **raised}, {}) for number in range(8)]
        frames.append(({"inputs": True}, {}))
        for number, task in enumerate(self.batch.set.tasks):
            record = draw(task, self.course.secret)
            answers = [answer.values for answer in record.expected]
            reports = [
                {"n_values": len(values), "missing": False, "modified": None, "error": None}
                for values in answers
            ]
            arrays = {
                f"{n}/{i}": value + number
                for n, values in enumerate(answers)
                for i, value in enumerate(values)
            }
            frames.append(({"begins": ["task", task.grade_id]}, {}))
            frames.append(({"task": task.grade_id, "at_end": True, "answers": reports}, arrays))
        return [*frames, ({"done": True}, {})]

    def notebook(self, rng):
        """Return the bytes of a mutated notebook."""
        model = self.models[rng.choice(["es", "en"])]
        if rng.random() < 0.25:
            return mutate_text(rng, json.dumps(model).encode(), TOKENS)
        return as_json(rng, mutate_tree(rng, json.loads(json.dumps(model))))

    def answers(self, rng):
        """Return mutated bytes, in place of those that the sandbox would write."""
        stream = io.BytesIO()
        for header, arrays in self.frames:
            if rng.random() < 0.1:
                continue
            write_frame(stream, header, arrays)
            # Some frames are written by hand, as the sandbox's own program would not write them.
            if rng.random() < 0.3:
                described = [[name, a.dtype.str, list(a.shape)] for name, a in arrays.items()]
                packed = b"".join(a.tobytes() for a in arrays.values())
                text = as_json(rng, mutate_tree(rng, json.loads(json.dumps([header, described]))))
                stream.write(LENGTHS.pack(len(text), len(packed)) + text + packed)
        whole = stream.getvalue()
        return mutate_text(rng, whole, TOKENS) if rng.random() < 0.3 else whole

    def try_one(self, number):
        """Hand in the submission of this number, and let everything outside the sandbox read it."""
        rng = random.Random(number)
        for edition in ("es", "en"):
            shutil.rmtree(self.course.folder / edition / "submitted", ignore_errors=True)
        name = rng.choice(NAMES) if rng.random() < 0.3 else "ana"
        for language in rng.choice([["es"], ["en"], ["es", "en"]]):
            path = self.course.path(language, "submitted", name, SET)
            path.parent.mkdir(parents=True)
            path.write_bytes(self.notebook(rng))
            when = rng.choice([*TIMES, f"{TIMES[0][:19]} {rng.choice(OF_TIMES)}"])
            if rng.random() < 0.8:
                when = mutate_text(rng, when, OF_TIMES)
            data = when.encode("utf-8", "surrogatepass")
            (path.parent / "timestamp.txt").write_bytes(data[: rng.choice([40, 999, 2000])])
        with self._gradebook(rng), self._watched(), warnings.catch_warnings(record=True) as said:
            self.batch.submissions, skipped, remarks = find(self.course, SET)
            for sentence in skipped + remarks:
                assert sentence.isprintable(), sentence
            for handed, result in self.batch.work():
                assert "failure" not in result, result["failure"]
                assert line(handed, result).isprintable()
                assert self.batch.result(handed) is not None
                with contextlib.suppress(CourseError):
                    tally(self.batch)
                self._see(handed, render=number % RENDERED == 0)
        assert not self.outside, self.outside
        assert not said, said[0].message

    def _see(self, handed, render):
        """Check what formgrader and the student would see."""
        place = self.course.path(handed.language, "autograded", handed.student, SET)
        shown = nbformat.from_dict(json.loads(place.read_bytes().decode()))
        nbformat.validate(shown)
        json.dumps(shown, ensure_ascii=False).encode()
        page = self.course.path(handed.language, "feedback", handed.student, SET, ".html")
        assert not re.search("<(script|img|a|iframe)", page.read_bytes().decode())
        if render:
            MetadataValidator().validate_nb(shown)
            names = ["assignment_id", "notebook_id", "submission_id", "base_url", "student"]
            names += ["last_name", "first_name", "notebook_path"]
            resources = dict.fromkeys(names, "x") | {"index": 0, "total": 1}
            html, _ = self.exporter.from_notebook_node(shown, resources=resources)
            html.encode()

    @contextlib.contextmanager
    def _gradebook(self, rng):
        """Replace the gradebook, which is slow, and the sandbox by stand-ins."""
        seen = {}

        def record(config, student, name, points, unanswered, timestamp):
            assert all(0 <= worth <= 100 for worth in points.values())
            seen.update(points)
            # The gradebook parses the time in this way.
            parse_utc(timestamp or None)

        def settle(config, student, name, lateness=None):
            grades = {
                name: {"score": worth, "max_score": 20.0, "is_manual": False, "is_pending": False}
                for name, worth in seen.items()
            }
            return {
                "student": student,
                "score": 1.0,
                "max_score": 100.0,
                "penalty": 0.0,
                "total": 1.0,
                "hours_late": 0.0,
                "slip_days": 0,
                "slip_days_left": 0,
                "needs_manual_grade": True,
                "grades": grades,
                "comments": {},
            }

        def run(cells, tasks, inputs, **kwargs):
            json.dumps([cells, tasks]).encode()
            stopped = rng.choice([None, None, "time", "output"])
            return sandbox.Outcome(read_frames(self.answers(rng)), stopped)

        kept = [(module, "record"), (module, "settle"), (module, "is_recorded"), (sandbox, "run")]
        real = [getattr(place, name) for place, name in kept]
        stands = [record, settle, lambda *_: True, run]
        for (place, name), stand in zip(kept, stands, strict=True):
            setattr(place, name, stand)
        try:
            yield
        finally:
            for (place, name), function in zip(kept, real, strict=True):
                setattr(place, name, function)

    @contextlib.contextmanager
    def _watched(self):
        """Record files opened outside the allowed folders, and end what takes too long."""

        def ring(number, frame):
            raise Hang

        before = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
        _WATCHING.append(self)
        try:
            yield
        finally:
            _WATCHING.remove(self)
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


_WATCHING = []  # Python cannot remove an audit hook again.
_PYTHON = [Path(sys.prefix), Path(sys.base_prefix), Path(__file__).parents[2]]
_ZONES = [*map(Path, ("/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo"))]
_ZONES += [Path("/etc/zoneinfo"), Path("/etc/localtime")]


def _hook(event, arguments):
    if not _WATCHING or not event.startswith(("open", "os.", "shutil.", "subprocess.", "socket.")):
        return
    fuzz = _WATCHING[-1]
    if event in ("os.scandir", "os.listdir") or not isinstance(arguments[0], str | bytes | Path):
        return
    path = Path(os.path.abspath(os.fsdecode(arguments[0])))
    flags = arguments[2] if event == "open" else os.O_RDWR
    is_read = flags & os.O_ACCMODE == os.O_RDONLY
    allowed = [fuzz.course.folder, *(_PYTHON + _ZONES if is_read else ())]
    if not any(path.is_relative_to(folder) for folder in allowed):
        fuzz.outside.append((event, str(path)))


sys.addaudithook(_hook)

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        release(Path(scratch) / "course", [SET])
        fuzzed = Fuzz(Path(scratch) / "course")
        for argument in sys.argv[1:]:
            fuzzed.try_one(int(argument))
