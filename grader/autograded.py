"""The notebook that formgrader shows: the set as released and the student's answers, without
anything harmful.

nbgrader opens autograded notebooks in the instructor's browser and trusts what is in them. So this
notebook is built anew: locked cells, ids and points come from the release; text and pictures come
from the student, without anything that a browser would execute. Their size is limited, too:
formgrader lays out and highlights a page each time that it is viewed, and a hostile text would take
minutes. A sentence stands where something was left out; the submitted file has everything.
"""

import base64
import binascii
import re
import struct

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from grader.submission import plain, text_of

MOST_TEXT = 20_000  # characters of a cell, and of an output
MOST_IMAGE = 2**20
MOST_OUTPUTS = 20  # of a cell
MOST_SOURCE = 40_000  # characters of all cells
MOST_LAID_OUT = 24_000  # characters of all cells that are laid out as Markdown
MOST_PROSE = 8_000  # characters of one such cell
MOST_MARKS = 2_500  # characters of one such cell that mean something to Markdown
MOST_LINE = 1_000  # characters of a line of code
MOST_BLANK = 100  # blanks in a row
MOST_OUTPUT = 10**5  # characters of all outputs
MOST_IMAGES = 2**23  # bytes of all pictures
CUT = "[…]"
SAYS = {
    "es": {
        "cut": "Aquí no se muestran {number} caracteres más; están en el archivo entregado.",
        "outputs": "Aquí no se muestran {number} salidas más; están en el archivo entregado.",
        "plain": "Se muestra sin formato: es un texto largo o con muchos signos de Markdown.",
    },
    "en": {
        "cut": "{number} more characters are not shown here; they are in the file handed in.",
        "outputs": "{number} more outputs are not shown here; they are in the file handed in.",
        "plain": "Shown without layout: the text is long, or has many of Markdown's characters.",
    },
}
MOST_PIXELS = 2**26  # of all pictures together: a browser takes four bytes for each
# Every PNG begins with these bytes; its width and height follow.
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"

# These begin a tag, a URL or a named character. A space after them makes them plain text.
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])|\](?=[(:\[])|\b(?:attachment|data)(?=:)|&(?=#?\w+;)")
# These commands of MathJax act outside of a formula, or spell the name of a command that does.
_BEYOND = "href|url|class|cssId|style|require|csname|bbox|unicode|mmlToken|toolTip"
_TEX = re.compile(rf"\\(?=(?:{_BEYOND})(?![A-Za-z]))")
# Control characters are invisible, and so are those that change the direction of text.
_INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
# A code block may name its language. The highlighters of some languages take minutes on hostile
# text.
_LANGUAGE = re.compile(r"^([ \t>*+\-\d.)]*(?:`{3,}|~{3,}))[^\n`]+$", re.MULTILINE)
_MARKS = re.compile(r"[\\\[\]()*_`$!~|<>#^&=]")
_BLANK = re.compile(rf"(\s{{{MOST_BLANK}}})\s+")
_LONG_LINE = re.compile(rf"^(.{{{MOST_LINE}}}).+$", re.MULTILINE)


def rebuild(released, submission, verdicts, language="en"):
    """Return the autograded notebook of a submission.

    Parameters
    ----------
    released : NotebookNode
        What students were given.
    submission : grader.submission.Submission or None
        What came back; None if it could not be read.
    verdicts : dict of str to str
        The text to show as the output of a graded cell, by grade id.
    language : {"es", "en"}, default "en"
        In which to say what is left out.

    Returns
    -------
    NotebookNode
        Cells in the student's order. A known cell that is missing comes after the one it
        follows in the release; a cell of the student's own stays where it is.
    """
    known = {_grade_id(cell): cell for cell in released.cells if _grade_id(cell)}
    cells, placed, bounds = [], [], _Bounds(language)
    for cell in submission.cells if submission else ():
        if cell.grade_id in known and cell.grade_id not in placed:
            cells.append(_restored(known[cell.grade_id], cell, verdicts, bounds))
            placed.append(cell.grade_id)
        else:
            cells.append(_own(cell, bounds))
            placed.append(None)
    for before, name in zip((None, *known), known, strict=False):
        if name not in placed:
            at = placed.index(before) + 1 if before else 0
            cells.insert(at, _restored(known[name], None, verdicts, bounds))
            placed.insert(at, name)
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    return new_notebook(cells=cells, metadata=released.metadata)


def is_unanswered(released_cell, cell):
    """Return whether an answer is missing, empty or unchanged from the release."""
    return cell is None or plain(cell.source) in ("", plain(released_cell.source))


def written_elsewhere(released_cells, submission):
    """Return whether a student wrote text into a cell that is not in the release.

    Such a cell is new, the second with its id, or has lost its id.
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
    return _TEX.sub(r"\\ ", _MARKUP.sub(r"\g<0> ", _LANGUAGE.sub(r"\1", text)))


def bounded(text, language):
    """Return the beginning of a text, with a sentence that says if the rest was cut."""
    if len(text) <= MOST_TEXT:
        return text
    said = SAYS[language]["cut"].format(number=len(text) - MOST_TEXT)
    return f"{text[:MOST_TEXT]}{CUT}\n\n{CUT} {said}"


class _Bounds:
    """The remaining limits for the work of a student."""

    def __init__(self, language):
        self.language, self.says = language, SAYS[language]
        self.source, self.laid_out = MOST_SOURCE, MOST_LAID_OUT
        self.left = {"text": MOST_OUTPUT, "bytes": MOST_IMAGES, "pixels": MOST_PIXELS}

    def code(self, text):
        """Return the source of a code cell, without parts that take long to highlight."""
        text, n_cut = self._cut(visible(text))
        for pattern in (_BLANK, _LONG_LINE):
            before = len(text)
            text, n_places = pattern.subn(rf"\1{CUT}", text)
            n_cut += before - len(text) + n_places * len(CUT)
        return text + (f"\n# {self.says['cut'].format(number=n_cut)}" if n_cut else "")

    def prose(self, text):
        """Return the source of a Markdown cell; if it is long, as plain text and not laid out."""
        is_long = len(text) > min(MOST_PROSE, self.laid_out)
        if not is_long and len(_MARKS.findall(text)) <= MOST_MARKS and len(text) <= self.source:
            self.laid_out -= len(text)
            self.source -= len(text)
            return inert(text)
        text, n_cut = self._cut(visible(text))
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        said = self.says["plain"] + (f" {self.says['cut'].format(number=n_cut)}" if n_cut else "")
        return f"*{said}*\n\n{fence}\n{text}\n{fence}"

    def _cut(self, text):
        """Return the part of a text within the limits, and the number of characters cut off."""
        most = min(MOST_TEXT, self.source)
        self.source -= min(len(text), most)
        return text[:most] + CUT * (len(text) > most), max(len(text) - most, 0)

    def outputs(self, outputs):
        """Return the outputs of a cell, within the limits."""
        kept, left_out = [], 0
        for output in outputs:
            for shown in _kept(output):
                image = shown.get("data", {}).get("image/png", "")
                taken = {"text": len(shown.get("text", "")), "bytes": len(image)}
                taken["pixels"] = _pixels(image) if image else 0
                if len(kept) < MOST_OUTPUTS and all(taken[k] <= self.left[k] for k in taken):
                    self.left = {name: left - taken[name] for name, left in self.left.items()}
                    kept.append(shown)
                else:
                    left_out += 1
        if left_out:
            kept.append(_text(f"{CUT} " + self.says["outputs"].format(number=left_out)))
        return kept


def _grade_id(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def _restored(released_cell, cell, verdicts, bounds):
    """Return a cell of the release, with the student's answer if it is an answer cell."""
    mine = released_cell.metadata.nbgrader
    is_answer = mine.solution and cell is not None
    source = cell.source if is_answer else released_cell.source
    if released_cell.cell_type != "code":
        shown = bounds.prose(source) if is_answer else source
        return new_markdown_cell(shown, metadata=released_cell.metadata)
    outputs = bounds.outputs(cell.outputs) if is_answer and cell.kind == "code" else []
    if mine.grade and mine.grade_id in verdicts:
        outputs = [_text(verdicts[mine.grade_id])]
    shown = bounds.code(source) if is_answer else source
    return new_code_cell(shown, metadata=released_cell.metadata, outputs=outputs)


def _own(cell, bounds):
    if cell.kind == "markdown":
        return new_markdown_cell(bounds.prose(cell.source))
    # A raw cell is shown as code, because nbconvert would copy it to the page unescaped.
    outputs = bounds.outputs(cell.outputs) if cell.kind == "code" else []
    return new_code_cell(bounds.code(cell.source), outputs=outputs)


def visible(text):
    """Return text without characters that are invisible or change its direction."""
    return _INVISIBLE.sub("", text)


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
    text = visible(text[:MOST_TEXT]) + (CUT if len(text) > MOST_TEXT else "")
    return new_output("stream", name="stdout", text=text + "\n")


def _is_png(image):
    try:
        data = base64.b64decode("".join(image.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return len(PNG) + 8 <= len(data) <= MOST_IMAGE and data.startswith(PNG)


def _pixels(image):
    width, height = struct.unpack_from(">II", base64.b64decode(image[:32]), len(PNG))
    return width * height
