"""The notebook that formgrader shows: the set as released, the student's answers, no traps.

nbgrader opens autograded notebooks in the instructor's browser and trusts what is in them.
So this one is built anew: locked cells, ids and points come from the release; from the
student come text and pictures, and nothing that a browser would obey.
"""

import base64
import binascii
import re
import struct

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from assignments.grader.submission import plain, text_of

MOST_TEXT = 20_000
MOST_IMAGE = 2**20
MOST_OUTPUTS = 20
MOST_PIXELS = 2**26  # of all pictures together: a browser takes four bytes for each
# How every PNG begins; its width and height follow.
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"

# What could begin a tag, an address or a character by its name; in front of what follows, a space
# takes its meaning away.
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])|\](?=[(:\[])|\b(?:attachment|data)(?=:)|&(?=#?\w+;)")
# Commands of MathJax that reach beyond a formula, or that spell the name of one that does.
_BEYOND = "href|url|class|cssId|style|require|csname|bbox|unicode|mmlToken|toolTip"
_TEX = re.compile(rf"\\(?=(?:{_BEYOND})(?![A-Za-z]))")
# Control characters, and what turns the direction of text.
_INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


def rebuild(released, submission, verdicts):
    """Return the autograded notebook of a submission.

    Parameters
    ----------
    released : NotebookNode
        What students were given.
    submission : assignments.grader.submission.Submission or None
        What came back; None if it could not be read.
    verdicts : dict of str to str
        By grade id, what to show as the output of a graded cell.

    Returns
    -------
    NotebookNode
        Cells in the student's order. A known cell that is missing comes after the one it
        follows in the release; a cell of the student's own stays where it is.
    """
    known = {_grade_id(cell): cell for cell in released.cells if _grade_id(cell)}
    cells, placed = [], []
    for cell in submission.cells if submission else ():
        if cell.grade_id in known and cell.grade_id not in placed:
            cells.append(_restored(known[cell.grade_id], cell, verdicts))
            placed.append(cell.grade_id)
        else:
            cells.append(_own(cell))
            placed.append(None)
    for before, name in zip((None, *known), known, strict=False):
        if name not in placed:
            at = placed.index(before) + 1 if before else 0
            cells.insert(at, _restored(known[name], None, verdicts))
            placed.insert(at, name)
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    _bound_pictures(cells)
    return new_notebook(cells=cells, metadata=released.metadata)


def is_unanswered(released_cell, cell):
    """Return whether an answer is missing, empty or as it was given out."""
    return cell is None or plain(cell.source) in ("", plain(released_cell.source))


def written_elsewhere(released_cells, submission):
    """Return whether a student wrote text into a cell that is none of the release's.

    Such a cell is new, the second of its id, or has lost what tells its id.
    """
    known = {_grade_id(cell) for cell in released_cells} - {None}
    given, seen = {plain(cell.source) for cell in released_cells}, set()
    for cell in submission.cells:
        is_own = cell.grade_id not in known or cell.grade_id in seen
        if is_own and cell.kind != "code" and plain(cell.source) not in {"", *given}:
            return True
        seen.add(cell.grade_id)
    return False


def inert(markdown):
    """Return Markdown that shows no tag, link or picture, and runs nothing.

    Examples
    --------
    >>> print(inert("a < b, <b>bold</b>, [a link](javascript:alert(1))"))
    a < b, < b>bold< /b>, [a link] (javascript:alert(1))
    """
    text = _INVISIBLE.sub("", markdown)
    return _TEX.sub(r"\\ ", _MARKUP.sub(r"\g<0> ", text))


def _grade_id(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def _restored(released_cell, cell, verdicts):
    """Return a cell of the release, with the student's answer if it is one to answer in."""
    mine = released_cell.metadata.nbgrader
    is_answer = mine.solution and cell is not None
    source = cell.source if is_answer else released_cell.source
    # Of `new_code_cell` and `new_markdown_cell`, the outputs are a code cell's only.
    if released_cell.cell_type != "code":
        return new_markdown_cell(
            inert(source) if is_answer else source, metadata=released_cell.metadata
        )
    outputs = _outputs(cell.outputs) if is_answer and cell.kind == "code" else []
    if mine.grade and mine.grade_id in verdicts:
        outputs = [_text(verdicts[mine.grade_id])]
    return new_code_cell(visible(source), metadata=released_cell.metadata, outputs=outputs)


def _own(cell):
    if cell.kind == "markdown":
        return new_markdown_cell(inert(cell.source))
    # A raw cell would go to the page as it is.
    outputs = _outputs(cell.outputs) if cell.kind == "code" else []
    return new_code_cell(visible(cell.source), outputs=outputs)


def visible(text):
    """Return text without characters that show nothing or turn its direction."""
    return _INVISIBLE.sub("", text)


def _outputs(outputs):
    return [kept for output in outputs[:MOST_OUTPUTS] for kept in _kept(output)]


def _kept(output):
    data = output.get("data") if isinstance(output.get("data"), dict) else {}
    image = text_of(data.get("image/png"))
    if image and _is_png(image):
        return [new_output("display_data", {"image/png": "".join(image.split())})]
    for text in (output.get("text"), data.get("text/plain"), output.get("evalue")):
        if text := text_of(text):
            return [_text(text)]
    return []


def _text(text):
    return new_output("stream", name="stdout", text=visible(text[:MOST_TEXT]) + "\n")


def _is_png(image):
    try:
        data = base64.b64decode("".join(image.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return len(PNG) + 8 <= len(data) <= MOST_IMAGE and data.startswith(PNG)


def _bound_pictures(cells):
    """Leave out the pictures that are too large together: a small file may hold a huge one."""
    left = MOST_PIXELS
    for cell in cells:
        kept = []
        for output in cell.get("outputs", ()):
            pixels = _pixels(output.data["image/png"]) if "data" in output else 0
            if pixels <= left:
                left -= pixels
                kept.append(output)
        if "outputs" in cell:
            cell.outputs = kept


def _pixels(image):
    width, height = struct.unpack_from(">II", base64.b64decode(image[:32]), len(PNG))
    return width * height
