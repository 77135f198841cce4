"""A system on disk: a folder that is there whole or not at all."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from attn._checks import wrong

ABOUT = "about.json"

# What a JSON file holds is of any type until it is checked.
About: TypeAlias = dict[str, Any]


@contextmanager
def whole_folder(folder: str | Path, about: About) -> Iterator[Path]:
    """Give an empty folder to write into; in the end it takes the place of `folder`.

    Parameters
    ----------
    folder : str or Path
        In a folder that exists. What is there is replaced if it is a system of this format.
    about : dict
        What to write beside the rest, in ``about.json``: its ``format``, and what `read_folder`
        is to give back.

    Yields
    ------
    Path

    Raises
    ------
    ValueError
        If something else has this name, or it cannot be written.
    """
    folder = resolved("folder", folder)
    if folder.exists():
        read_folder(folder, about["format"])  # raises if it holds something else
    unfinished, old = (folder.with_name(f"{folder.name}.{os.getpid()}.{x}") for x in ("new", "old"))
    try:
        unfinished.mkdir()
        yield unfinished
        text = json.dumps(about, indent=1, ensure_ascii=False)
        (unfinished / ABOUT).write_text(text + "\n", encoding="utf-8")
        if folder.exists():
            os.rename(folder, old)
        os.rename(unfinished, folder)
    except OSError as error:
        raise wrong(
            "folder", "a place that can be written", f"{folder}: {error.strerror}"
        ) from None
    finally:
        if os.path.exists(old) and not folder.exists():
            os.rename(old, folder)
        for left in (unfinished, old):
            shutil.rmtree(left, ignore_errors=True)


def resolved(name: str, folder: str | Path) -> Path:
    """Return the place that a name leads to, so that what a link leads to is replaced, not it."""
    try:
        place = Path(folder).resolve()
        if place.parent.is_dir() and not place.is_symlink():
            return place
    except (OSError, RuntimeError) as error:  # a name too long, a link to itself
        reason = getattr(error, "strerror", None) or error
        raise wrong(name, "a name in a folder that exists", f"{folder}: {reason}") from None
    raise wrong(name, "a name in a folder that exists", place)


def read_folder(folder: str | Path, wanted: str) -> About:
    """Return what `whole_folder` was told about a folder.

    Parameters
    ----------
    folder : str or Path
    wanted : str
        The ``format`` it must have.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        If it is no such folder.
    """
    try:
        about = json.loads((Path(folder) / ABOUT).read_bytes())
    except (OSError, ValueError, RecursionError):
        about = None
    if not isinstance(about, dict) or about.get("format") != wanted:
        found = "something else" if os.path.exists(folder) else "nothing"
        raise wrong(
            "folder", f"a folder of the format {wanted!r}", f"{folder}, which holds {found}"
        )
    return about
