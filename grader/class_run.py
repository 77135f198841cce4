"""`grade`: start workers, show their progress, then update everything and print a summary."""

import ctypes
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from grader.batch import Batch
from grader.export import export
from grader.gradebook import check_gradebook, enter_names
from grader.roster import Roster
from grader.submission import BadSubmission, code_number, read

ROOT = Path(__file__).resolve().parents[1]
BAR = 24
N_LONGEST = 3
PATIENCE_S = 20  # seconds for a worker that was told to stop
PARENT = "GRADER_STARTED_BY"  # the environment variable that tells a worker who started it


def grade_class(course, name, *, jobs, unsafe=False, again=False, student=None, agreed=None):
    """Grade the submissions of a set and hand everything back.

    Parameters
    ----------
    course : grader.course.Course
    name : str
    jobs : int
        Workers at a time.
    unsafe, again : bool, default False
        Whether to run without the sandbox; whether to grade again what is graded already, in a
        trial that shows what would change.
    student : str, optional
        The only one to grade; by default the whole class.
    agreed : callable, optional
        A function that is called with the number of changes when a trial has shown that marks
        would change, and returns whether they shall. Without it they stay.

    Returns
    -------
    int
        0 if all is graded; 1 if something needs the instructor.

    Raises
    ------
    CourseError
        If nothing can be graded: no such set, no submissions, no gradebook.
    """
    Batch(course, name, unsafe, student)  # It says what is missing, without waiting for a turn.
    check_gradebook(course.config(), name)
    with course.turn(name, "grade"):
        return _grade_class(course, name, jobs, unsafe, again, student, agreed)


def _grade_class(course, name, jobs, unsafe, again, student, agreed):
    began = time.monotonic()
    batch = Batch(course, name, unsafe, student)
    enter_names(course.config(), Roster.of(course) or ())
    for remark in batch.skipped + batch.remarks:
        print(remark)
    batch.retry()
    command = [sys.executable, "-m", "grader", "worker", str(course.folder), name]
    command += ["--unsafe"] if unsafe else []
    command += ["--student", student] if student is not None else []
    command += ["--db", course.db] if course.db else []
    if again:
        trial = Batch(course, name, unsafe, student, trial=True)
        shutil.rmtree(trial.folder, ignore_errors=True)
        _work_off(trial, [*command, "--trial"], jobs)
        _adopt(batch, trial, agreed)
        shutil.rmtree(trial.folder, ignore_errors=True)
    waiting = batch.waiting()
    unchanged = [handed for handed in batch.submissions if handed not in waiting]
    _work_off(batch, command, jobs)
    if others := len(batch.of_another_version()):
        print(
            f"Submissions graded with another version of {name} or of the grader: {others}. Their "
            "marks stay; --again shows what would change."
        )
    failed = False
    for handed in unchanged:
        # Marks given in Formgrader and late penalties may have changed since the last run.
        if reason := batch.refresh(handed):
            failed = True
            print(f"{handed.student:16} {handed.language} feedback not written: {reason}")
    table = export(course, name)
    status = _sum_up(batch, len(unchanged), table)
    print(_times(batch, waiting, time.monotonic() - began))
    return status or int(failed)


def end_with_parent():
    """Let the system stop a worker that `grade_class` started when that process is killed.

    Returns
    -------
    bool
        Whether this is one.
    """
    parent = os.environ.get(PARENT)
    if parent is None:
        return False
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
    if os.getppid() != int(parent):
        sys.exit(1)
    return True


def _work_off(batch, command, jobs):
    """Let workers grade the waiting submissions, and replace workers that die."""
    left, deaths = len(batch.waiting()), 0
    progress = _Progress(left)
    while left:
        progress.follow(_start(command, min(max(jobs, 1), left)))
        before, (left, deaths) = (left, deaths), (len(batch.waiting()), batch.deaths())
        if (left, deaths) == before:
            break  # The workers do not even start. Their output says why.


def _adopt(batch, trial, agreed):
    """Show which marks a trial changes; adopt its results if it changes none, or if `agreed`."""
    found = [(handed, batch.result(handed), trial.result(handed)) for handed in trial.submissions]
    found = [(h, old, new) for h, old, new in found if old and new and "graded" in new]
    changes = [text for handed, old, new in found for text in _changes(handed, old, new)]
    for text in changes:
        print(text)
    if changes and not (agreed and agreed(len(changes))):
        print(f"Marks that would change: {len(changes)}. They stay; --yes takes the new ones.")
        return
    for handed, _, new in found:
        batch.adopt(handed, new)


def _changes(handed, old, new):
    before = {mark["grade_id"]: mark["points"] for mark in old.get("graded", {}).get("marks", ())}
    for mark in new["graded"]["marks"]:
        points, was = mark["points"], before.get(mark["grade_id"])
        if was != points:
            was = "-" if was is None else f"{was:g}"
            yield f"{handed.student:16} {mark['grade_id']}: {was} -> {points:g}"


def line(handed, result):
    """Return the line of the summary for a graded submission."""
    start = f"{handed.student:16} {handed.language} "
    if "failure" in result:
        return f"{start} not graded: {result['failure']}"
    if "marks" not in result:
        points = sum(mark["points"] for mark in result["graded"]["marks"])
        return f"{start} {points:5g} in a trial"
    marks, graded = result["marks"], result["graded"]
    shown = f"{start} {marks['total']:5g} / {marks['max_score']:g}"
    notes = [f"late: -{marks['penalty']:g}"] if marks["penalty"] else []
    notes += ["to mark by hand"] if marks["needs_manual_grade"] else []
    if graded["reason"]:
        notes.append(f"unreadable: {graded['reason']}")
    for mark in graded["marks"]:
        if mark["status"] in ("partial", "wrong", "stopped"):
            why = mark["misconception"] or mark["error"] or mark["modified"] or mark["status"]
            notes.append(f"{mark['grade_id']}: {why}")
    if graded["broken_cells"]:
        notes.append(_broken(handed, graded["broken_cells"]))
    return shown + ("  " + ", ".join(notes) if notes else "")


def _broken(handed, broken):
    """Return which cells raised, numbered as a reader counts them, and what they raised."""
    try:
        cells = read(handed.path).cells
    except BadSubmission:
        cells = ()
    numbers = sorted(code_number(cells, int(number)) for number in broken)
    kinds = dict.fromkeys(kind for kinds in broken.values() for kind in kinds.split("; "))
    *before, last = map(str, numbers)
    cells = f"cells {', '.join(before)} and {last}" if before else f"cell {last}"
    return f"{cells} broke: {', '.join(kinds)}"


def _start(command, n_workers):
    return [
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            cwd=ROOT,
            env=os.environ | {PARENT: str(os.getpid())},
            process_group=0,  # Ctrl+C reaches this process alone, which ends the workers.
        )
        for _ in range(n_workers)
    ]


class _Progress:
    """Prints what workers print, and in a terminal a bar below it."""

    def __init__(self, total):
        self.total, self.done = total, 0
        self.has_bar = sys.stdout.isatty()

    def follow(self, workers):
        lines = queue.SimpleQueue()

        def listen(worker):
            for text in worker.stdout:
                lines.put(text.rstrip("\n"))
            lines.put(None)

        try:
            for worker in workers:
                threading.Thread(target=listen, args=(worker,), daemon=True).start()
            running = len(workers)
            while running:
                text = lines.get()
                if text is None:
                    running -= 1
                else:
                    self.show(text)
        finally:
            for worker in workers:
                worker.terminate()
            for worker in workers:
                try:
                    worker.wait(PATIENCE_S)
                except subprocess.TimeoutExpired:
                    worker.kill()
                worker.stdout.close()
            self.clear()

    def show(self, text):
        self.done += 1
        self.clear()
        print(f"[{self.done:{len(str(self.total))}}/{self.total}] {text}", flush=True)
        if self.has_bar:
            full = BAR * min(self.done, self.total) // self.total
            print(f"{'█' * full}{'░' * (BAR - full)}", end="", flush=True)

    def clear(self):
        if self.has_bar:
            print("\r\033[K", end="", flush=True)


def _sum_up(batch, n_unchanged, table):
    results = [batch.result(handed) for handed in batch.submissions]
    graded = [result["graded"] for result in results if result and "graded" in result]
    unreadable = sum(found["reason"] is not None for found in graded)
    failed = len(results) - len(graded)
    places = [f"{batch.course.folder}/{language}" for language in batch.course.languages]
    print(
        f"{len(graded)} graded ({n_unchanged} of them before), {unreadable} unreadable, "
        f"{failed} not graded, {len(batch.skipped)} folders skipped.\n"
        f"Marks: {table}\n"
        f"Feedback: {' and '.join(f'{place}/feedback' for place in places)}\n"
        f"To mark by hand: `jupyter lab` in {' or '.join(places)}, Formgrader."
    )
    return 1 if failed or batch.skipped else 0


def _times(batch, now, seconds):
    """Return how long the run took, and which of its submissions took longest."""
    results = [(handed.student, batch.result(handed) or {}) for handed in now]
    took = [(result["seconds"], student) for student, result in results if "seconds" in result]
    longest = ", ".join(
        f"{student} {time} s" for time, student in sorted(took)[: -N_LONGEST - 1 : -1]
    )
    return f"Time: {seconds:.0f} s." + (f" Longest: {longest}." if longest else "")
