"""Find what was handed in: nbgrader's folders, whose names and contents are the students'."""

import os
import re
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.utils import parse_utc

from assignments.grader.course import LANGUAGES

# Words in any script, and what accounts are made of; nothing that a path, a shell, a pattern
# or a spreadsheet reads otherwise.
STUDENT = re.compile(r"\w(?:[\w.@+ -]{0,98}[\w+-])?")
NAMES = {"es": "Spanish", "en": "English"}


@dataclass(frozen=True)
class Handed:
    """A submission that counts.

    Attributes
    ----------
    student : str
    language : {"es", "en"}
        The edition it was handed in.
    path : Path
        Its notebook, which may not be there or be anything.
    timestamp : str or None
        As nbgrader's collect writes it.
    """

    student: str
    language: str
    path: Path
    timestamp: str | None


def find(course, name):
    """Return the submissions of a set, and what was left out.

    Parameters
    ----------
    course : assignments.grader.course.Course
    name : str

    Returns
    -------
    submissions : list of Handed
        One for each student, by student. Of two editions the one handed in later counts.
    skipped : list of str
        A sentence for each folder that cannot be a student's.
    remarks : list of str
        One for each timestamp that is none, and each student who handed in twice.
    """
    found, skipped, remarks = {}, [], []
    for language in LANGUAGES:
        root = course.folder / language / "submitted"
        for entry in sorted(os.scandir(root), key=lambda e: e.name) if root.is_dir() else ():
            folder = Path(entry.path) / name
            if not entry.is_dir(follow_symlinks=False):
                skipped.append(f"Skipped {_shown(entry.path)}: it is not a folder.")
            elif not STUDENT.fullmatch(entry.name):
                skipped.append(f"Skipped {_shown(entry.path)}: no student is called that.")
            elif folder.is_symlink() or folder.exists() and not folder.is_dir():
                skipped.append(f"Skipped {_shown(folder)}: it is not a folder.")
            elif folder.exists():
                handed, when, remark = _handed(entry.name, language, folder, name)
                remarks += remark
                found.setdefault(entry.name, []).append((when, handed))
    for student, several in found.items():
        several.sort(key=lambda pair: pair[0])
        if len(several) > 1:
            counts = NAMES[several[-1][1].language]
            remarks.append(f"{student} handed in both editions: the later, in {counts}, counts.")
    return [found[student][-1][1] for student in sorted(found)], skipped, remarks


def small_text(path):
    """Return the text of a small regular file, or None if it is anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = file.read(1000)
    try:
        return data.decode("ascii").strip() if len(data) < 1000 else None
    except UnicodeDecodeError:
        return None


def _handed(student, language, folder, name):
    timestamp, remarks = small_text(folder / "timestamp.txt") or None, []
    try:
        when = parse_utc(timestamp)
    except (ValueError, OverflowError, TypeError):
        remarks.append(f"{student}: {folder / 'timestamp.txt'} holds no time; it is left out.")
        timestamp = when = None
    path = folder / f"{name}.ipynb"
    if when is None:
        newest = path if os.path.lexists(path) else folder
        when = datetime.fromtimestamp(newest.lstat().st_mtime, UTC).replace(tzinfo=None)
    return Handed(student, language, path, timestamp), when, remarks


def _shown(path):
    """Return a path that a terminal shows as it is."""
    return ascii(str(path))[1:-1]
