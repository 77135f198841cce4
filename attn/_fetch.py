"""Data files that are not part of the package: found on this machine or downloaded, and checked.

Nothing is downloaded unless a user asks for it by name.
"""

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from attn._checks import argument_error
from attn.io import NotWritten, whole_file

CHUNK = 2**16
# The number of seconds without an answer after which a transfer fails.
TIMEOUT = 60


@dataclass(frozen=True)
class Remote:
    """A file that is not part of the package."""

    # The path below the folder ``ATTN_DATA`` and below the cache folder.
    name: str
    address: str
    # A file with another checksum is refused, wherever it comes from.
    sha256: str
    n_bytes: int


def cache_folder() -> Path:
    """Return the folder of downloaded files: ``attn`` in the cache folder of the user."""
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(base) / "attn" if base else Path.home() / ".cache" / "attn"


def fetched(remote: Remote, *, download: bool = True) -> Path:
    """Return the path of a file: in the folder ``ATTN_DATA``, else in the cache, else downloaded.

    A damaged file in the cache is downloaded again if `download` allows it. A file that is missing
    and may not or cannot be downloaded, or that has another checksum, is refused.
    """
    named = os.environ.get("ATTN_DATA")
    mine, path = Path(named or "", remote.name), cache_folder() / remote.name

    def check(path: Path) -> Path:
        return check_sum(path, remote.sha256)

    if named and mine.is_file():
        return mended(lambda: check(mine), None, f"or put there what {remote.address} publishes")
    if path.is_file():
        fetch = partial(_downloaded, remote, path) if download else None
        return mended(lambda: check(path), fetch, "and fetch it again")
    if not download:
        raise argument_error(remote.name, _wanted(remote), "no such file on this machine")
    return _downloaded(remote, path)


def mended(check: Callable[[], Path], fetch: Callable[[], Path] | None, remedy: str) -> Path:
    """Return what `check` returns; if it raises ``ValueError``, what `fetch` returns.

    If `fetch` fails or is None, the error says what to do.
    """
    try:
        return check()
    except ValueError as error:
        told = str(error)
    if fetch is None:
        raise ValueError(f"{told}; delete it, {remedy}")
    print(f"{told}; fetching it again", file=sys.stderr, flush=True)
    try:
        return fetch()
    except ValueError as error:
        raise ValueError(f"{told}; delete it, {remedy} ({error})") from None


def _wanted(remote: Remote) -> str:
    return f"a folder named by ATTN_DATA that holds it (it is published at {remote.address})"


def check_sum(path: Path, sha256: str, name: str | None = None) -> Path:
    """Return the path of a file if it has this checksum; raise ``ValueError`` otherwise.

    With `name`, the error shows this name in place of the path, which may be temporary.
    """
    try:
        with open(path, "rb") as file:
            head = file.read(1000)
            file.seek(0)
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise argument_error(name or str(path), "a file that can be read", error.strerror) from None
    if found != sha256:
        is_page = re.match(
            rb"(\xef\xbb\xbf)?\s*<(!doctype|!--|html|head|body|\?xml)", head, re.IGNORECASE
        )
        kind = "a web page, perhaps of an error" if is_page else "a file"
        got = f"{kind} of {path.stat().st_size:,} bytes with the sha256 {found}"
        raise argument_error(name or str(path), f"the sha256 {sha256}", got)
    return path


def _downloaded(remote: Remote, path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotWritten("path", path, error.strerror or str(error)) from None
    with whole_file(path) as scratch:
        for chunk in _chunks(remote):
            scratch.write(chunk)
        scratch.flush()
        check_sum(Path(scratch.name), remote.sha256, f"{remote.name} from {remote.address}")
    return path


def _chunks(remote: Remote) -> Iterator[bytes]:
    """Yield the published bytes, no more than expected, and show the progress."""
    done, shown = 0, -1
    try:
        with urlopen(remote.address, timeout=TIMEOUT) as answer:
            while done <= remote.n_bytes and (chunk := answer.read(CHUNK)):
                yield chunk
                done += len(chunk)
                tenths = 10 * done // remote.n_bytes
                if shown < tenths <= 10:
                    shown = tenths
                    mb = f"{done / 1e6:.1f} of {remote.n_bytes / 1e6:.1f} MB"
                    print(f"{remote.name}: {mb}", file=sys.stderr, flush=True)
    except (OSError, HTTPException) as error:
        reason = str(error).removeprefix("<urlopen error ").removesuffix(">")
        raise argument_error(remote.name, f"a network, or {_wanted(remote)}", reason) from None
