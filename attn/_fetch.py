"""Files of data that come from elsewhere: looked for on this machine, else downloaded, always checked.

Nothing is downloaded but what a user asks for by its name.
"""

import hashlib
import os
import sys
import tempfile
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO
from urllib.request import urlopen

from attn._checks import wrong

CHUNK = 2**16
TIMEOUT = 60  # seconds without an answer


@dataclass(frozen=True)
class Remote:
    """A file that is not part of the package.

    Attributes
    ----------
    name : str
        Where it lies below the folder of ``ATTN_DATA`` and below that of the cache.
    address : str
        Where it is published.
    sha256 : str
        Of its bytes. A file of another sum is refused, wherever it comes from.
    n_bytes : int
    """

    name: str
    address: str
    sha256: str
    n_bytes: int


def cache_folder() -> Path:
    """Return where downloaded files are kept: ``attn`` in the cache folder of the user."""
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(base) / "attn" if base else Path.home() / ".cache" / "attn"


def fetched(remote: Remote, *, download: bool = True) -> Path:
    """Return the path of a file: in the folder ``ATTN_DATA``, else in the cache, else downloaded.

    Parameters
    ----------
    remote : Remote
    download : bool, default True
        Whether it may come over the network, into the cache.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        If it cannot be had, in a sentence that says how to get it; or if it is another file.
    """
    named = os.environ.get("ATTN_DATA")
    for folder in (Path(named) if named else None, cache_folder()):
        if folder is not None and (folder / remote.name).is_file():
            return check_sum(folder / remote.name, remote.sha256)
    if not download:
        raise wrong(remote.name, _wanted(remote), "no such file on this machine")
    return _downloaded(remote, cache_folder() / remote.name)


def _wanted(remote: Remote) -> str:
    return f"a folder named by ATTN_DATA that holds it (it is published at {remote.address})"


def check_sum(path: Path, sha256: str) -> Path:
    """Return the path of a file whose bytes have this sum; raise ``ValueError`` otherwise."""
    try:
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise wrong(str(path), "a file that can be read", error.strerror) from None
    if found != sha256:
        raise wrong(str(path), f"the sha256 {sha256}", found)
    return path


def _downloaded(remote: Remote, path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as scratch:
            try:
                with urlopen(remote.address, timeout=TIMEOUT) as answer:
                    _copy(answer, scratch, remote)
                scratch.close()
                check_sum(Path(scratch.name), remote.sha256)
                os.replace(scratch.name, path)
            finally:
                Path(scratch.name).unlink(missing_ok=True)
    except (OSError, HTTPException) as error:
        reason = str(error).removeprefix("<urlopen error ").removesuffix(">")
        raise wrong(remote.name, f"a network, or {_wanted(remote)}", reason) from None
    return path


def _copy(answer: IO[bytes], file: IO[bytes], remote: Remote) -> None:
    """Copy what is published, at most as much as there should be, and show how far it is."""
    done, shown = 0, -1
    while chunk := answer.read(CHUNK):
        done += file.write(chunk)
        if done > remote.n_bytes:
            break
        tenths = 10 * done // remote.n_bytes
        if tenths > shown:
            shown = tenths
            mb = f"{done / 1e6:.1f} of {remote.n_bytes / 1e6:.1f} MB"
            print(f"{remote.name}: {mb}", file=sys.stderr, flush=True)
