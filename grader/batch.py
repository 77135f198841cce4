"""Grade a class: every submission once, on as many cores and hosts as there are.

Workers share nothing but the course's folder. Each takes a submission by locking a file, which
the system unlocks if the worker dies, grades it, and leaves the result in
``COURSE/grading/SET/STUDENT.json``. A result stands for as long as the submission and the course's
secret stay the same. A new version of the set or of the grader changes no mark by itself: it is
tried beside the old results, and an instructor adopts the new ones.
"""

import fcntl
import hashlib
import inspect
import json
import os
import secrets
import time
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from grader.autograded import is_unanswered, rebuild, written_elsewhere
from grader.checks import NAMES
from grader.course import CourseError, write
from grader.feedback import feedback, verdict
from grader.grade import Graded, grade
from grader.gradebook import is_recorded, record, settle
from grader.judge import Mark
from grader.lateness import Lateness
from grader.problem_sets import digest
from grader.regrade import shown_requests
from grader.submission import BadSubmission, read
from grader.submitted import find, small_text

MOST_DEATHS = 2
# Of the grader's modules, these decide marks, and `version` reads only them.
MARKS = (
    "grade",
    "inside",
    "judge",
    "nobody",
    "sandbox",
    "standins",
    "submission",
    "syscalls",
    "wire",
)


class Batch:
    """The submissions of one set.

    Parameters
    ----------
    course : grader.course.Course
    name : str
        The set.
    unsafe : bool, default False
        Whether to run without the sandbox.
    student : str, optional
        The only one to look at.
    trial : bool, default False
        Whether to store results beside those that count, and to leave the gradebook alone.

    Attributes
    ----------
    submissions : list of grader.submitted.Handed
        The submission of each student that is graded.
    skipped, remarks : list of str
        The files that are left out, each with the reason, and what else an instructor may want to
        know.

    Raises
    ------
    CourseError
        If there is no such set, or nothing was handed in.
    """

    def __init__(self, course, name, unsafe=False, student=None, *, trial=False):
        self.course, self.name, self.unsafe, self.trial = course, name, unsafe, trial
        self.set = course.problem_set(name)
        self.released = {language: course.released(language, name) for language in course.languages}
        self.models = {language: course.models(language, name) for language in course.languages}
        self.config = {language: course.config(language) for language in course.languages}
        self.lateness = Lateness.of(course)
        self.submissions, self.skipped, self.remarks = find(course, name)
        if not self.submissions:
            folders = " or ".join(
                str(course.folder / lang / "submitted") for lang in course.languages
            )
            raise CourseError(f"There are no submissions of {name} in {folders}.")
        if student is not None:
            self.submissions = [one for one in self.submissions if one.student == student]
            if not self.submissions:
                raise CourseError(f"There is no submission of {name} by {student}.")
        self._secret_digest = hashlib.sha256(course.secret).hexdigest()
        self._version = version(course.set_folder(name), self.set.checks)

    def result(self, handed):
        """Return the last result of a submission, or None if it was never graded."""
        try:
            result = json.loads(self._file(handed, "json").read_text(encoding="utf-8"))
            return result if result["key"] == self._key(handed) else None
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return None

    def waiting(self):
        """Return the submissions that have no result."""
        return [handed for handed in self.submissions if self.result(handed) is None]

    def retry(self):
        """Drop the results that failed."""
        for handed in self.submissions:
            result = self.result(handed)
            if result and "failure" in result:
                self._file(handed, "json").unlink()
                # The lock is emptied, not replaced, because another worker may hold it open.
                self._file(handed, "lock").open("w").close()

    def of_another_version(self):
        """Return the submissions that were graded with another version of the set or the grader."""
        results = ((handed, self.result(handed)) for handed in self.submissions)
        return [h for h, result in results if result and result.get("version") != self._version]

    def adopt(self, handed, result):
        """Replace the result of a submission by that of a trial."""
        self._record(handed, _graded(result))
        write(self._file(handed, "json"), json.dumps(result))

    def deaths(self):
        """Return how many times in all a worker began a submission and did not finish it."""
        return sum(_size(self._file(handed, "lock")) for handed in self.submissions)

    def work(self):
        """Grade the submissions without a result until none is left. Other workers may do so too.

        Yields
        ------
        tuple of (Handed, dict)
            Each submission that this worker graded, and its result.
        """
        # A worker grades a submission once, even if it changes each time that it is read.
        graded = set()
        while waiting := [handed for handed in self.waiting() if handed not in graded]:
            took_any = False
            for handed in waiting:
                with self._claim(handed) as claim:
                    # Another worker may have graded it before the lock was ours.
                    if claim is not None and self.result(handed) is None:
                        took_any = True
                        graded.add(handed)
                        result = self._grade(handed, claim)
                        write(self._file(handed, "json"), json.dumps(result))
                        yield handed, result
            if not took_any:
                time.sleep(0.2)  # Other workers hold the rest. If one dies, its lock becomes free.

    def hand_back(self, handed, result):
        """Update what formgrader and the student see of a graded submission.

        Returns
        -------
        dict
            What the gradebook says, as `grader.gradebook.settle` returns it.
        """
        config, released = self.config[handed.language], self.released[handed.language]
        graded = _graded(result)
        if not is_recorded(config, handed.student, self.name):
            self._record(handed, graded)
        marks = settle(config, handed.student, self.name, self.lateness)
        submission = _read(handed)
        verdicts = {m.grade_id: verdict(m, self.set, handed.language) for m in graded.marks}
        notebook = rebuild(released, submission, verdicts, handed.language)
        requests = shown_requests(self.course, handed, self.set)
        page = feedback(self.set, released, submission, graded, marks, handed.language, requests)
        for language in self.course.languages:
            # All editions share a gradebook, so Formgrader lists every student in each of them.
            place = self.course.path(language, "autograded", handed.student, self.name)
            write(place, json.dumps(notebook, ensure_ascii=False, indent=1))
            html = self.course.path(language, "feedback", handed.student, self.name, ".html")
            if language == handed.language:
                write(html, page)
                # nbgrader's release_feedback needs both files, and stops at the first submission
                # without them. Nobody finds a page under a random secret.
                for name, default in (
                    ("timestamp.txt", "-"),
                    ("submission_secret.txt", secrets.token_hex(64)),
                ):
                    text = small_text(handed.path.parent / name)
                    kept = text or small_text(html.parent / name) or default
                    write(html.parent / name, kept)
                    if text:
                        write(place.parent / name, text)
            else:
                html.unlink(missing_ok=True)
        return marks

    def refresh(self, handed):
        """Hand a graded submission back again; return what went wrong, or None."""
        try:
            self.hand_back(handed, self.result(handed))
        except CourseError:
            raise
        except Exception as error:  # noqa: BLE001 - one submission must not stop the others
            return f"{type(error).__name__}: {error}"
        return None

    def _grade(self, handed, claim):
        result, began = {"key": self._key(handed), "version": self._version}, time.monotonic()
        if _size(claim.name) >= MOST_DEATHS:
            return result | {"failure": "the grader died of it"}
        claim.write("x")
        claim.flush()
        try:
            models, secret = self.models[handed.language], self.course.secret
            setup = self.course.setup(handed.language, self.name)
            graded = grade(
                handed.path, self.set, secret, models=models, setup=setup, unsafe=self.unsafe
            )
            result["graded"] = asdict(graded)
            result["seconds"] = round(time.monotonic() - began, 1)
            if self.trial:
                return result
            self._record(handed, graded)
            return result | {"marks": self.hand_back(handed, result)}
        except CourseError:
            raise
        except Exception as error:  # noqa: BLE001 - one submission must not stop the others
            result.pop("graded", None)
            return result | {"failure": f"{type(error).__name__}: {error}"}
        finally:
            claim.truncate(0)  # If the worker is killed before this, its x stays in the lock.

    def _record(self, handed, graded):
        submission, cells = _read(handed), self.released[handed.language].cells
        solutions = [cell for cell in cells if cell.metadata.get("nbgrader", {}).get("solution")]
        answers = {cell.metadata.nbgrader.grade_id: cell for cell in solutions}
        unanswered = {
            name
            for name, cell in answers.items()
            if is_unanswered(cell, submission.answer(name) if submission else None)
        }
        if submission and written_elsewhere(cells, submission):
            # Text in another cell may be the answer, so a person looks at it.
            unanswered -= set(self.set.manual)
        points = {mark.grade_id: mark.points for mark in graded.marks}
        config = self.config[handed.language]
        record(config, handed.student, self.name, points, unanswered, handed.timestamp)

    def _key(self, handed):
        """Return the values that a result depends on."""
        try:
            digest = read(handed.path).digest
        except BadSubmission as bad:
            digest = bad.reason
        except Exception as error:  # noqa: BLE001 - grading it will tell
            digest = type(error).__name__
        return [digest, handed.language, handed.timestamp, self._secret_digest]

    @property
    def folder(self):
        """The folder of the results."""
        folder = self.course.folder / "grading" / self.name
        return folder / "trial" if self.trial else folder

    def _file(self, handed, suffix):
        return self.folder / f"{handed.student}.{suffix}"

    @contextmanager
    def _claim(self, handed):
        """Give the lock of a submission, or None if another worker holds it."""
        path = self._file(handed, "lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a") as lock:
            try:
                fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield None
            else:
                yield lock


def _read(handed):
    try:
        return read(handed.path)
    except BadSubmission:
        return None


def _graded(result):
    graded = result["graded"]
    broken = {int(number): kind for number, kind in (graded["broken_cells"] or {}).items()}
    marks = tuple(Mark(**mark) for mark in graded["marks"])
    return Graded(graded["digest"], marks, graded["reason"], broken)


def _size(path):
    path = Path(path)
    return path.stat().st_size if path.exists() else 0


def version(folder, checks):
    """Return a digest of the set and of the code that marks it."""
    total = hashlib.sha256(digest(folder).encode())
    paths = {inspect.getfile(getattr(checks, name)) for name in NAMES}
    paths |= {str(Path(__file__).with_name(f"{name}.py")) for name in MARKS}
    for path in sorted(paths, key=os.path.basename):
        total.update(Path(path).read_bytes())
    return total.hexdigest()
