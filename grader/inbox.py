"""The files of an inbox, a folder or an archive, none of which is trusted.

Of a file, its bytes are read, and its times as the system or the archive records them. Links are
not followed, in a folder or in an archive, and no more bytes of a file are read than a submission
may have.
"""

import io
import lzma
import os
import stat
import struct
import unicodedata
import zipfile
import zlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from grader.course import CourseError
from grader.submission import MOST_BYTES

DEEPEST = 8
MOST_FILES = 100_000
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
# Operating systems add these files to folders and archives.
LITTER = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini")
CHECKPOINTS = ".ipynb_checkpoints"
CHECKPOINT = "it is a copy that JupyterLab made by itself"
EMPTY = "the folder is empty"
UTC_TIME = 0x5455  # The field of a zip with a time in UTC. Its other times have no zone.


class Refused(Exception):
    """The reason why a file is left out, as the end of a sentence that begins with its name."""


@dataclass(frozen=True)
class Received:
    """A file that was received.

    Attributes
    ----------
    data : bytes
    modified : datetime
        In UTC without zone, as nbgrader counts. Its owner can set it.
    changed : datetime
        When the file came to be as it is, links and rights included. Nobody can set it, and a
        copy has a time of its own.
    owner : int or None
        The user it belongs to, in a folder.
    """

    data: bytes
    modified: datetime
    changed: datetime
    owner: int | None = None


def open_inbox(path):
    """Return an inbox: `Folder` or `Archive`.

    Raises
    ------
    CourseError
        If it is neither.
    """
    path = Path(path)
    if path.is_dir():
        return Folder(path)
    if not path.is_file():
        raise CourseError(f"There is no {path}: expected a folder or a zip.")
    try:
        return Archive(path)
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
        raise CourseError(f"{path} is neither a folder nor a zip: {error}") from None


class Folder:
    """A folder with one folder for each student, or with the files of an archive.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path):
        self.path = path

    def names(self):
        """Yield (parts, reason) for each file below: its path, and why it cannot be read or None.

        A folder with nothing in it is a file without a name.
        """
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise CourseError(f"{self.path} cannot be read: {error.strerror}.") from None
        yield from self._below(descriptor, ())

    def _below(self, descriptor, parts):
        folders = []
        try:
            names = [name for name in sorted(os.listdir(descriptor)) if not _is_litter(name)]
            if parts and not names:
                yield (*parts, ""), EMPTY
            for name in names:
                mode = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
                if stat.S_ISDIR(mode) and len(parts) < DEEPEST:
                    folders.append(name)
                else:
                    reason = CHECKPOINT if CHECKPOINTS in parts else None
                    yield (*parts, name), reason if stat.S_ISREG(mode) else _kind(mode)
            for name in folders:
                try:
                    inner = os.open(name, FOLDER, dir_fd=descriptor)
                except OSError as error:
                    yield (*parts, name), f"it cannot be read ({error.strerror})"
                else:
                    yield from self._below(inner, (*parts, name))
        finally:
            os.close(descriptor)

    def read(self, parts):
        """Return the `Received` file at a path.

        Raises
        ------
        Refused
            If it is not a file of reasonable size, or may be somebody else's.
        """
        opened = []
        try:
            opened.append(os.open(self.path, os.O_RDONLY | os.O_DIRECTORY))
            for part in parts[:-1]:
                opened.append(os.open(part, FOLDER, dir_fd=opened[-1]))
            opened.append(os.open(parts[-1], FILE, dir_fd=opened[-1]))
            found = os.fstat(opened[-1])
            if not stat.S_ISREG(found.st_mode):
                raise Refused(_kind(found.st_mode))
            if found.st_nlink > 1:
                raise Refused("it has a second name (a hard link), and may be somebody else's")
            with open(opened.pop(), "rb") as file:
                times = _utc(found.st_mtime), _utc(found.st_ctime)
                return Received(_bounded(file), *times, found.st_uid)
        except OSError as error:
            raise Refused(f"it cannot be read ({error.strerror})") from None
        finally:
            for descriptor in opened:
                os.close(descriptor)


class Archive:
    """A zip, as an LMS gives it.

    Parameters
    ----------
    path : Path
    file : binary file, optional
        What is in it, if it is no file of its own.
    """

    def __init__(self, path, file=None):
        self.path = path
        self.archive = zipfile.ZipFile(file or path)
        self.members = {}
        infos = self.archive.infolist()
        if len(infos) > MOST_FILES:
            raise CourseError(f"{path} has over {MOST_FILES} files: it is left alone.")
        for info in infos:
            parts = _parts(info)
            while parts in self.members:
                parts = (*parts[:-1], f" {parts[-1]}")  # A zip may hold two files of one name.
            if parts and not info.is_dir() and not any(map(_is_litter, parts)):
                self.members[parts] = info

    def names(self):
        """Yield (parts, reason) for each file: its path, and why it cannot be read or None."""
        for parts, info in sorted(self.members.items()):
            yield parts, _reason(info) or (CHECKPOINT if CHECKPOINTS in parts[:-1] else None)
        above = {parts[:n] for parts in self.members for n in range(1, len(parts))}
        for info in self.archive.infolist():
            parts = _parts(info)
            if parts and info.is_dir() and parts not in above and not any(map(_is_litter, parts)):
                yield (*parts, ""), EMPTY

    def read(self, parts):
        """Return what was received under a path; see `Folder.read`."""
        info = self.members[parts]
        if reason := _reason(info):
            raise Refused(reason)
        try:
            with self.archive.open(info) as file:
                when = self._time(info)
                return Received(_bounded(file), when, when)
        except (
            zipfile.BadZipFile,
            NotImplementedError,
            OSError,
            EOFError,
            RuntimeError,
            ValueError,
            lzma.LZMAError,
            zlib.error,
        ) as error:
            raise Refused(f"it is damaged ({error})") from None

    def _time(self, info):
        """Return when a member was written, according to the archive."""
        extra = info.extra
        while len(extra) >= 4:
            kind, size = struct.unpack("<HH", extra[:4])
            field, extra = extra[4 : 4 + size], extra[4 + size :]
            if kind == UTC_TIME and len(field) >= 5 and field[0] & 1:
                return _utc(struct.unpack("<i", field[1:5])[0])
        if info.date_time[0] > 1980:  # Programs that record no time write 1980.
            try:
                return datetime(*info.date_time).astimezone(UTC).replace(tzinfo=None)
            except (ValueError, OverflowError, OSError):
                pass
        return _utc(self.path.stat().st_mtime)


class Nested(Archive):
    """A zip among the files of a student. The time when it arrived counts, not the times inside.

    Parameters
    ----------
    inbox : Folder or Archive
        Where it is.
    parts : tuple of str
        The path of the zip there.

    Raises
    ------
    Refused
        If it cannot be read.
    """

    def __init__(self, inbox, parts):
        self.received = inbox.read(parts)
        try:
            super().__init__(inbox.path.joinpath(*parts), io.BytesIO(self.received.data))
        except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
            raise Refused(f"it is no zip that can be read ({error})") from None
        except CourseError as error:
            raise Refused(str(error).rstrip(".")) from None

    def read(self, parts):
        """Return what was received under a path; see `Folder.read`."""
        return replace(self.received, data=super().read(parts).data)

    def _time(self, info):
        return self.received.modified


def _parts(info):
    return tuple(part for part in _name(info).split("/") if part not in ("", "."))


def _reason(info):
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "it is a link"
    if info.flag_bits & 1:
        return "it is encrypted"
    name = info.filename.replace("\\", "/")
    if name.startswith("/") or name[1:2] == ":" or ".." in name.split("/"):
        return "its path leads out of the archive"
    return None


def _name(info):
    """Return the name of a member, decoded as the program that wrote it meant."""
    name = info.filename
    if not info.flag_bits & 0x800:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return unicodedata.normalize("NFC", name).replace("\\", "/")


def _is_litter(name):
    return name in LITTER or name.startswith("._")


def _kind(mode):
    return "it is a link" if stat.S_ISLNK(mode) else "it is not a file"


def _bounded(file):
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise Refused(f"it is over {MOST_BYTES // 2**20} MB")
    return data


def _utc(seconds):
    try:
        return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        raise Refused("it has no time that a calendar knows") from None
