"""Files that are replaced whole or not at all: written beside their path, then renamed."""

import errno
import io
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from attn._checks import argument_error
from attn.io.locks import beside, try_lock


class NotWritten(OSError, ValueError):
    """A path cannot be written. It is both a ``ValueError`` and an ``OSError``.

    Its ``strerror`` is the reason, as the system words it.
    """

    def __init__(self, name: str, path: str | Path, reason: str) -> None:
        super().__init__(
            *argument_error(name, "a place that can be written", f"{path}: {reason}").args
        )
        self.strerror = reason


class _Scratch(io.FileIO):
    """A file that remembers the ``OSError`` of a failed write.

    PyTorch and other writers replace that error by one of their own.
    """

    error: OSError | None = None

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.error = error
            raise


@contextmanager
def whole_file(path: str | Path, name: str = "path") -> Iterator[IO[bytes]]:
    """Give a file to write into, which replaces the file at `path` once it is on the disk.

    If anything fails before that, the old file stays and nothing else is left. If `path` is a
    link, its target is replaced. The mode of the file is kept.

    Parameters
    ----------
    path : str or Path
        In a folder that exists.
    name : str, default "path"
        The argument that an error names.

    Raises
    ------
    NotWritten
        If there can be no such file, the disk is full, or the block raises an ``OSError``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/a") as file:
    ...         _ = file.write(b"whole")
    ...     Path(f"{folder}/a").read_bytes()
    b'whole'
    """
    place = place_of(path, name)
    raw = None
    try:
        _clear(place)
        raw = _scratch(place)
        file = io.BufferedWriter(raw)
        try:
            # There may be no old file, or the file system may have no modes.
            with suppress(OSError):
                os.chmod(raw.name, stat.S_IMODE(place.stat().st_mode))
            yield file
            file.flush()
            os.fsync(raw.fileno())
            # The file stays open until it is renamed, because closing it releases its lock and
            # another process might then remove it. Only Windows cannot rename an open file.
            if os.name == "nt":
                file.close()
            os.replace(raw.name, place)
        finally:
            with suppress(OSError):
                file.close()
    except Exception as error:
        cause = raw.error if raw is not None and raw.error is not None else error
        if isinstance(cause, OSError):
            raise NotWritten(name, path, cause.strerror or str(cause)) from None
        raise
    finally:
        if raw is not None:
            with suppress(OSError):
                os.unlink(raw.name)


def write_whole(path: str | Path, content: str | bytes, name: str = "path") -> None:
    """Write a file as `whole_file` does, with its errors; text is written in UTF-8."""
    with whole_file(path, name) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def place_of(path: str | Path, name: str = "path") -> Path:
    """Return the path with links resolved, if a file can be there; errors name the argument `name`.

    Raises
    ------
    NotWritten
        If its folder does not exist, or something else than a file has this name.
    """
    try:
        place = Path(os.path.realpath(Path(path)))
        if place.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        try:
            mode = place.stat().st_mode
        except FileNotFoundError:
            place.parent.stat()
            return place
        if stat.S_ISREG(mode):
            return place
        kind = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        reason = os.strerror(kind) if stat.S_ISDIR(mode) else "no regular file"
        raise OSError(kind, reason)
    except OSError as error:
        raise NotWritten(name, path, error.strerror or str(error)) from None
    except (TypeError, ValueError) as error:
        # The path may have the wrong type, or hold a NUL.
        raise NotWritten(name, repr(path), str(error)) from None


def _scratch(place: Path) -> _Scratch:
    """Return a new file beside `place`, locked, so that other processes see that it is in use."""
    while True:
        raw = _Scratch(str(beside(place, f".{secrets.token_hex(8)}.part")), "xb")
        if try_lock(raw.fileno()) and os.path.exists(raw.name):
            return raw
        # Another process removed the file in `_clear` before it was locked.
        raw.close()


def _clear(place: Path) -> None:
    """Remove the scratch files beside `place` of processes that were killed."""
    before, after = str(beside(place, ".?.part").name).split("?")
    ours = re.compile(re.escape(before) + "[0-9a-f]{16}" + re.escape(after))
    # The folder may not be readable.
    with suppress(OSError):
        for name in filter(ours.fullmatch, os.listdir(place.parent)):
            with suppress(OSError), open(place.with_name(name), "rb") as left:
                if try_lock(left.fileno()):
                    os.unlink(left.name)
