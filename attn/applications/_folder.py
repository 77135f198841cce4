"""A saved application: a folder that is replaced whole or not at all."""

import ctypes
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

from attn._checks import argument_error
from attn.io import NotWritten, locked, write_whole
from attn.io.locks import beside

ABOUT = "about.json"
# Its keys for the sha256 of each other file, and for the sha256 of the rest of its own text.
SUMS, OWN_SUM = "sha256", "sha256_of_this"

# The values of a JSON file have any type until they are checked.
About: TypeAlias = dict[str, Any]


@contextmanager
def whole_folder(folder: str | Path, about: About) -> Iterator[Path]:
    """Give an empty folder to write into; at the end it replaces `folder`.

    What is there is replaced if it is a system of the format of `about`, and refused otherwise.
    Files in `folder` that no save has written are kept.
    """
    folder = resolved("folder", folder)
    with locked(folder, "folder", wait=True):
        _clear(folder)
        known = _read_about(folder, about["format"]) if folder.exists() else {}
        unfinished = beside(folder, f".{secrets.token_hex(8)}.new")
        try:
            unfinished.mkdir()
            yield unfinished
            sums = {name: _sum(unfinished, name) for name in sorted(os.listdir(unfinished))}
            write_whole(unfinished / ABOUT, _to_json(_with_sums(about, sums)))
            if folder.exists():
                _keep_others(folder, unfinished, {ABOUT, *known.get(SUMS, ())})
                _take_place(unfinished, folder)
            else:
                os.rename(unfinished, folder)
        except OSError as error:
            reason = error.strerror or "its other files cannot be kept"
            raise NotWritten("folder", folder, reason) from None
        finally:
            _clear(folder)


def _keep_others(old: Path, new: Path, ours: set[str]) -> None:
    """Link files that a user put into the old folder into the new one."""

    def not_kept(place: str, names: list[str]) -> set[str]:
        is_top = os.fspath(place) == os.fspath(old)
        return {name for name in names if is_top and (name in ours or (new / name).exists())}

    shutil.copytree(
        old, new, symlinks=True, ignore=not_kept, copy_function=_link, dirs_exist_ok=True
    )


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        # The file system may not support hard links.
        shutil.copy2(source, target)


def _take_place(new: Path, folder: Path) -> None:
    """Put `new` in the place of `folder`, in one step if the system can exchange two names.

    Otherwise it takes two steps, and a kill between them leaves the old folder under the name of
    `_old`, where `_put_back` finds it.
    """
    if not _exchange(new, folder):
        os.rename(folder, _old(folder))
        os.rename(new, folder)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; return whether that was possible."""
    names = os.fsencode(one), os.fsencode(other)
    # Some systems lack both functions.
    with suppress(OSError, TypeError, AttributeError):
        library, here, exchange = ctypes.CDLL(None), -100, 2
        # Linux has the first of the two functions, macOS the second.
        if hasattr(library, "renameat2"):
            return bool(library.renameat2(here, names[0], here, names[1], exchange) == 0)
        return bool(library.renamex_np(*names, exchange) == 0)
    return False


def _old(folder: Path) -> Path:
    return beside(folder, ".attn.old")


def _put_back(folder: Path) -> None:
    """Give the old folder its name again if there is no new one."""
    if not folder.exists():
        with suppress(OSError):
            os.rename(_old(folder), folder)


def _clear(folder: Path) -> None:
    """Repair what interrupted saves left; the caller holds the lock."""
    _put_back(folder)
    if folder.exists():
        shutil.rmtree(_old(folder), ignore_errors=True)
    before, after = beside(folder, ".?.new").name.split("?")
    for name in os.listdir(folder.parent):
        if re.fullmatch(re.escape(before) + "[0-9a-f]{16}" + re.escape(after), name):
            shutil.rmtree(folder.with_name(name), ignore_errors=True)


def resolved(name: str, folder: str | Path) -> Path:
    """Return the path with links resolved, so that a save replaces the target of a link."""
    try:
        place = Path(folder).resolve()
        if place.parent.is_dir() and not place.is_symlink():
            return place
    except (OSError, RuntimeError) as error:
        # The name may be too long, or a link may lead to itself.
        reason = getattr(error, "strerror", None) or error
        raise argument_error(
            name, "a name in a folder that exists", f"{folder}: {reason}"
        ) from None
    raise argument_error(name, "a name in a folder that exists", place)


def read_folder(folder: str | Path, wanted: str) -> About:
    """Return the `about` that `whole_folder` was given, if it has the ``format`` that is wanted."""
    place = Path(os.path.realpath(folder))
    if _old(place).exists() and not place.exists():
        # A save may be between its two renames.
        with locked(place, "folder", wait=True):
            _put_back(place)
    return _read_about(Path(folder), wanted)


def check_sums(folder: str | Path, about: About) -> None:
    """Raise ``ValueError`` unless every file of a folder is the one that was saved.

    Folders of older versions have no checksums.
    """
    if SUMS not in about and OWN_SUM not in about:
        return
    damaged = ABOUT
    try:
        if about == _with_sums(about, about[SUMS]):
            wrongs = (name for name, wanted in about[SUMS].items() if _sum(folder, name) != wanted)
            damaged = next(wrongs, "")
    except (OSError, KeyError, AttributeError, TypeError, ValueError) as error:
        damaged = getattr(error, "filename", None) or ABOUT
    if damaged:
        got = f"{folder}, whose {os.path.basename(damaged)} is another"
        raise argument_error("folder", "the files that were saved", got)


def _read_about(folder: Path, wanted: str) -> About:
    """Return what ``about.json`` says; raise ``ValueError`` if it is not of the format wanted."""
    try:
        about = json.loads((folder / ABOUT).read_bytes())
    except (OSError, ValueError, RecursionError):
        about = None
    if not isinstance(about, dict) or about.get("format") != wanted:
        found = "something else" if os.path.exists(folder) else "nothing"
        old = _old(Path(os.path.realpath(folder)))
        found += f"; what it held is in {old}" if old.exists() else ""
        raise argument_error(
            "folder", f"a folder of the format {wanted!r}", f"{folder}, which holds {found}"
        )
    return about


def _sum(folder: str | Path, name: str) -> str:
    with open(Path(folder) / name, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _with_sums(about: About, files: dict[str, str]) -> About:
    """Return `about` with the checksums of the files, and one of its own other entries."""
    said = {name: value for name, value in about.items() if name != OWN_SUM} | {SUMS: files}
    return said | {OWN_SUM: hashlib.sha256(_to_json(said).encode()).hexdigest()}


def _to_json(about: About) -> str:
    return json.dumps(about, indent=1, ensure_ascii=False) + "\n"
