"""Read what a student handed in, believing nothing about it."""

import hashlib
import json
import os
import stat
from dataclasses import dataclass

MOST_BYTES = 20 * 2**20
MOST_CELLS = 1000


class BadSubmission(Exception):
    """A file that is no notebook; ``reason`` names the entry of `REASONS`."""

    def __init__(self, reason):
        super().__init__(REASONS[reason]["en"])
        self.reason = reason


REASONS = {
    "missing": {
        "es": "no hay ningún cuaderno con el nombre pedido",
        "en": "there is no notebook of the name that was asked for",
    },
    "not a file": {
        "es": "es un enlace o una carpeta, no un archivo",
        "en": "it is a link or a folder, not a file",
    },
    "too large": {
        "es": "pasa de 20 MB: borra las salidas y entrégalo de nuevo",
        "en": "it is over 20 MB: clear the outputs and hand it in again",
    },
    "not text": {"es": "no es texto en UTF-8", "en": "it is not text in UTF-8"},
    "not a notebook": {
        "es": "está vacío, dañado o no es un cuaderno de Jupyter",
        "en": "it is empty, damaged, or not a Jupyter notebook",
    },
}


@dataclass(frozen=True)
class Cell:
    """A cell: what is used of it, checked."""

    kind: str  # "code", "markdown" or "raw"
    source: str
    grade_id: str | None
    outputs: tuple


@dataclass(frozen=True)
class Submission:
    """A notebook that was handed in.

    Attributes
    ----------
    digest : str
        SHA-256 of the file.
    cells : tuple of Cell
    """

    digest: str
    cells: tuple[Cell, ...]

    def answer(self, grade_id):
        """Return the first cell of that grade id, or None."""
        return next((cell for cell in self.cells if cell.grade_id == grade_id), None)


def read(path):
    """Read a submitted notebook.

    Parameters
    ----------
    path : Path
        Where nbgrader's collect puts it.

    Returns
    -------
    Submission

    Raises
    ------
    BadSubmission
        If it is anything but a notebook of reasonable size.
    """
    return parse(plain_bytes(path))


def parse(data):
    """Return the submission in the bytes of a file; raise `BadSubmission` if it is none."""
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadSubmission("not text") from None
    except (ValueError, RecursionError):
        raise BadSubmission("not a notebook") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or len(cells) > MOST_CELLS:
        raise BadSubmission("not a notebook")
    return Submission(hashlib.sha256(data).hexdigest(), tuple(_cell(cell) for cell in cells))


def code_number(cells, place):
    """Return the number of a cell as its reader counts: those of code, from 1."""
    return [cell.kind for cell in cells[: place + 1]].count("code")


def text_of(value):
    """Return text that nbformat may keep as a list of lines; None if it is neither.

    Half of a surrogate pair is text to JSON and to no encoding, so that no page could be sent.
    """
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        value = "".join(value)
    if not isinstance(value, str):
        return None
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def plain_bytes(path, most=None):
    """Return the bytes of a submitted file that is no link; raise `BadSubmission` otherwise."""
    most = MOST_BYTES if most is None else most
    # nbgrader's STUDENT/SET/FILE: the folders of a student may be links as well.
    if any(folder.is_symlink() for folder in path.absolute().parents[:2]):
        raise BadSubmission("not a file")
    try:
        with open(path, "rb", opener=_open_plainly) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise BadSubmission("not a file")
            data = file.read(most + 1)
    except FileNotFoundError:
        raise BadSubmission("missing") from None
    except OSError:
        raise BadSubmission("not a file") from None
    if len(data) > most:
        raise BadSubmission("too large")
    return data


def _open_plainly(path, flags):
    """Open a file without following a link or waiting for a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _cell(cell):
    if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown", "raw"):
        raise BadSubmission("not a notebook")
    source = text_of(cell.get("source", ""))
    if source is None:
        raise BadSubmission("not a notebook")
    metadata = cell.get("metadata")
    mine = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = mine.get("grade_id") if isinstance(mine, dict) else None
    outputs = cell.get("outputs")
    return Cell(
        cell["cell_type"],
        source,
        grade_id if isinstance(grade_id, str) else None,
        tuple(o for o in outputs if isinstance(o, dict)) if isinstance(outputs, list) else (),
    )
