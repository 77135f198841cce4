"""Locks between processes, which the system releases when their process dies."""

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attn._checks import argument_error

# Seconds between two attempts to take a lock.
PAUSE = 0.1
# The maximum length in bytes of a name that `beside` makes, without its leading dot. File systems
# allow 255.
LONGEST = 200

# The open descriptors of the locks that this process holds.
_held: set[int] = set()

if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int) -> bool:
        """Lock an open file, without waiting; return whether that was possible."""
        # Windows prevents others from reading a locked byte, so the locked byte lies far beyond the
        # text.
        os.lseek(descriptor, 2**30, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Lock an open file, without waiting; return whether that was possible."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            # On a file system without locks, nobody can hold one.
            return True
        return True

    def _let_go() -> None:
        # A child inherits the descriptors and would hold the locks after the death of its parent.
        for descriptor in _held:
            with suppress(OSError):
                os.close(descriptor)
        _held.clear()

    os.register_at_fork(after_in_child=_let_go)


def beside(place: Path, end: str) -> Path:
    """Return a hidden name next to `place` that ends with `end` and is not too long."""
    name = place.name
    if len(os.fsencode(name)) > LONGEST - len(end):
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return place.with_name(f".{name}{end}")


@contextmanager
def locked(path: str | Path, name: str = "path", *, wait: bool = False) -> Iterator[None]:
    """Hold a lock, so that no other process works on a file or a folder.

    The lock is a file beside it, which is deleted when the block ends. A process that dies releases
    the lock too, even if it was killed. Child processes do not inherit it.

    Parameters
    ----------
    path : str or Path
        The file or folder. It need not exist, but its parent must.
    name : str, default "path"
        The argument that an error names.
    wait : bool, default False
        Whether to wait if another process holds the lock. A line on standard error then says so.

    Raises
    ------
    ValueError
        If another process holds the lock and `wait` is False, or if no lock can be made.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, locked(f"{folder}/run"):
    ...     with locked(f"{folder}/run"):  # doctest: +ELLIPSIS
    ...         pass
    Traceback (most recent call last):
    ValueError: path: expected a place that no other process is using, got ...
    """
    place = beside(Path(os.path.realpath(path)), ".lock")
    told = False
    while True:
        try:
            descriptor = os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        except OSError as error:
            got = f"{path}: {error.strerror}"
            raise argument_error(name, "a place that can be written", got) from None
        if try_lock(descriptor):
            # The previous holder deletes the file when it releases the lock. A lock on a deleted
            # file protects nothing.
            if _is_at(descriptor, place):
                break
            os.close(descriptor)
            continue
        holder = _holder(descriptor)
        os.close(descriptor)
        if not wait:
            got = f"{path}, which {holder} is using"
            raise argument_error(name, "a place that no other process is using", got)
        if not told:
            print(f"{path}: waiting for {holder}, which is using it", file=sys.stderr, flush=True)
            told = True
        time.sleep(PAUSE)
    _held.add(descriptor)
    try:
        # If the disk is full, the process id cannot be written. Only messages need it.
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, str(os.getpid()).encode())
        yield
    finally:
        # A forked child has dropped the descriptor, and its parent still holds the lock.
        if descriptor in _held:
            _held.remove(descriptor)
            with suppress(OSError):
                place.unlink()
            os.close(descriptor)


def _is_at(descriptor: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(place))
    except OSError:
        return False


def _holder(descriptor: int) -> str:
    """Return what messages call the holder of a lock, by the process id in the file of the lock."""
    with suppress(OSError):
        os.lseek(descriptor, 0, os.SEEK_SET)
        number = os.read(descriptor, 20)
        if number.isdigit():
            return f"process {int(number)}"
    return "another process"
