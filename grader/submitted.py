"""Find the submissions in nbgrader's folders, whose names and contents come from students."""

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from grader.roster import Roster, is_name
from grader.submission import BadSubmission, plain_bytes
from grader.times import NoTime, read_time, told
from grader.words import LANGUAGES

# nbgrader understands a time in this form as we do.
AS_COLLECTED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{6})?(?: UTC)?")
MOST_BYTES = 1000  # of a file with a time or a secret


@dataclass(frozen=True)
class Handed:
    """A submission that counts for a mark.

    Attributes
    ----------
    student : str
    language : {"es", "en"}
        The edition it was handed in.
    path : Path
        The notebook, which may be missing or be anything.
    timestamp : str or None
        The time of the hand-in, in the form in which nbgrader's collect writes it.
    """

    student: str
    language: str
    path: Path
    timestamp: str | None


def find(course, name):
    """Return the submissions of a set, and what was left out.

    Parameters
    ----------
    course : grader.course.Course
    name : str

    Returns
    -------
    submissions : list of Handed
        One for each student, by student. Of two editions the one handed in later counts.
    skipped : list of str
        A sentence for each folder that cannot be a student's, or is of nobody in the roster.
    remarks : list of str
        One for each timestamp that is none, and each student who handed in twice.
    """
    found, skipped, remarks, roster = {}, [], [], Roster.of(course)
    for language in course.languages:
        root = course.folder / language / "submitted"
        for entry in sorted(os.scandir(root), key=lambda e: e.name) if root.is_dir() else ():
            folder = Path(entry.path) / name
            if not entry.is_dir(follow_symlinks=False):
                skipped.append(f"Skipped {shown(entry.path)}: it is not a folder.")
            elif not is_name(entry.name):
                skipped.append(f"Skipped {shown(entry.path)}: no student is called that.")
            elif not os.access(entry.path, os.R_OK | os.X_OK):
                skipped.append(f"Skipped {shown(entry.path)}: it cannot be read.")
            elif folder.is_symlink() or folder.exists() and not folder.is_dir():
                skipped.append(f"Skipped {shown(folder)}: it is not a folder.")
            elif folder.exists() and roster is not None and entry.name not in roster:
                skipped.append(f"Skipped {shown(entry.path)}: nobody in the roster is called that.")
            elif folder.exists():
                handed, when, remark = _handed(entry.name, language, folder, name)
                remarks += remark
                found.setdefault(entry.name, []).append((when, handed))
    for student, several in found.items():
        several.sort(key=lambda pair: pair[0])
        if len(several) > 1:
            counts = LANGUAGES[several[-1][1].language]
            remarks.append(f"{student} handed in both editions: the later, in {counts}, counts.")
    return [found[student][-1][1] for student in sorted(found)], skipped, remarks


def small_text(path):
    """Return the text of a small regular file, or None if it is anything else."""
    try:
        return plain_bytes(path, MOST_BYTES).decode("utf-8-sig").strip()
    except (BadSubmission, UnicodeDecodeError):
        return None


def _handed(student, language, folder, name):
    place, path = folder / "timestamp.txt", folder / f"{name}.ipynb"
    timestamp, remarks, when = small_text(place), [], None
    try:
        when = read_time(timestamp or "")
        if not AS_COLLECTED.fullmatch(timestamp):
            remarks.append(f"{student}: {place} is read as {told(when)}.")
            timestamp = f"{when:%Y-%m-%d %H:%M:%S.%f} UTC"
    except NoTime as reason:
        if os.path.lexists(place):
            why = f": {reason}" if timestamp else ""
            remarks.append(f"{student}: {place} holds no time; it is left out{why}.")
        timestamp = None
    if when is None:
        newest = path if os.path.lexists(path) else folder
        try:
            when = datetime.fromtimestamp(newest.lstat().st_mtime, UTC).replace(tzinfo=None)
        except (OSError, ValueError, OverflowError):
            when = datetime.min
            remarks.append(f"{student}: {newest} says no time of its own.")
    return Handed(student, language, path, timestamp), when, remarks


def parse_time(text):
    """Return the time in a text, in UTC without zone, or None."""
    try:
        return read_time(text)
    except NoTime:
        return None


def shown(path):
    """Return a path as text that a terminal can show safely."""
    return ascii(str(path))[1:-1]
