"""Read a submission, trusting nothing in it."""

import hashlib
import json
import os
import re
import stat
import unicodedata
from dataclasses import dataclass, field

MOST_BYTES = 20 * 2**20
MOST_CELLS = 1000
# Files of other kinds begin with these: zip, PDF, PNG, JPEG, gzip, RAR and 7-Zip.
OTHERS = (b"PK", b"%PDF", b"\x89PNG", b"\xff\xd8", b"\x1f\x8b", b"Rar!", b"7z")


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
    "empty": {"es": "está vacío: no contiene nada", "en": "it is empty: there is nothing in it"},
    "another kind": {
        "es": "es una página web, un PDF, un zip u otro archivo al que solo se le dio el nombre de "
        "un cuaderno",
        "en": "it is a web page, a PDF, a zip or another file that was only given the name of a "
        "notebook",
    },
    "damaged": {
        "es": "está dañado: se corta a la mitad o su texto ya no es el de un cuaderno",
        "en": "it is damaged: it ends half-way, or its text is no longer that of a notebook",
    },
    "too old": {
        "es": "es de un formato antiguo (nbformat 3): ábrelo en JupyterLab, guárdalo y entrégalo de "
        "nuevo",
        "en": "it is in an old format (nbformat 3): open it in JupyterLab, save it and hand it in "
        "again",
    },
    "not a notebook": {
        "es": "no es un cuaderno de Jupyter",
        "en": "it is not a Jupyter notebook",
    },
}


@dataclass(frozen=True)
class Cell:
    """The checked fields of a cell."""

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
    metadata : dict
        The metadata of the notebook, which some programs drop.
    """

    digest: str
    cells: tuple[Cell, ...]
    metadata: dict = field(default_factory=dict)

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
    """Return the submission in the bytes of a file; raise `BadSubmission` if there is none."""
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf\xfe\xff"):
        raise BadSubmission("empty")
    try:
        # Some programs of Windows save text in UTF-16.
        notebook = json.loads(data.decode(json.detect_encoding(data)))
    except UnicodeDecodeError:
        raise BadSubmission("another kind" if data.startswith(OTHERS) else "not text") from None
    except (ValueError, RecursionError):
        is_one = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{" or b'"cells"' in data
        raise BadSubmission("damaged" if is_one else "another kind") from None
    found = notebook if isinstance(notebook, dict) else {}
    cells = found.get("cells")
    if not isinstance(cells, list) or len(cells) > MOST_CELLS:
        raise BadSubmission("too old" if "worksheets" in found else "not a notebook")
    metadata = found.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    digest = hashlib.sha256(data).hexdigest()
    return Submission(digest, tuple(_cell(cell) for cell in cells), metadata)


def plain(text):
    """Return text without changes that programs make: blanks at line ends, decomposed accents."""
    lines = unicodedata.normalize("NFC", text).split("\n")
    return "\n".join(line.rstrip() for line in lines).strip()


def code_number(cells, place):
    """Return the number of a cell as its reader counts: only code cells, from 1."""
    return [cell.kind for cell in cells[: place + 1]].count("code")


def text_of(value):
    """Return text that nbformat may keep as a list of lines; None if it is neither.

    Half of a surrogate pair is valid in JSON but has no encoding, so no page could be sent.
    """
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        value = "".join(value)
    if not isinstance(value, str):
        return None
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def plain_bytes(path, most=None):
    """Return the bytes of a submitted file that is no link; raise `BadSubmission` otherwise."""
    most = MOST_BYTES if most is None else most
    # In STUDENT/SET/FILE the folders may be links too.
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
    source = re.sub(r"\r\n?", "\n", source)  # Windows ends lines like this.
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
