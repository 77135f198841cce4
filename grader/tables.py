"""Tables in CSV: read as spreadsheet programs save them, written so that these run nothing."""

import csv
import io
import math
import re
import unicodedata

from grader.course import CourseError, write

MOST_ABOVE = 20  # lines above the header, in which a table may have a title
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def read_table(path, is_header=None):
    """Return the rows of a CSV file with a header.

    Parameters
    ----------
    path : Path
    is_header : callable, optional
        Tells of the cells of a line whether they are the header, which may have a title above it;
        by default it is the first line.

    Returns
    -------
    list of dict of str to str
        With the number of the line in the file under ``"line"``. Cells have no blanks around them,
        and no apostrophe that only kept a program from reading a formula.

    Raises
    ------
    CourseError
        If it is no text in an encoding that spreadsheet programs write.
    """
    try:
        text = _decoded(path, path.read_bytes())
    except FileNotFoundError:
        raise CourseError(f"There is no {path}.") from None
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}.") from None
    # macOS writes accents apart, and Windows ends lines in its own way.
    text = re.sub(r"\r\n?", "\n", unicodedata.normalize("NFC", text)).lstrip("\n")
    named = re.match(r'"?sep=([,;\t])"?\n', text)  # Excel begins a file like this.
    text = text[named.end() :] if named else text
    header = text.partition("\n")[0]
    # Where a comma separates decimals, programs separate cells by something else.
    separator = named[1] if named else max(",;\t", key=header.count)
    lines, above = text.split("\n"), 0
    for number, line in enumerate(lines[:MOST_ABOVE] if is_header else ()):
        apart = named[1] if named else max(",;\t", key=line.count)
        if is_header([cell.strip(' "') for cell in line.split(apart)]):
            above, separator = number, apart
            break
    text = "\n".join(lines[above:])
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, restval="")
    try:
        return [
            {(key or "").strip(): _plain(value) for key, value in row.items() if key is not None}
            | {"line": str(rows.line_num + above)}
            for row in rows
        ]
    except csv.Error as error:
        raise CourseError(f"{path} is not CSV: {error}.") from None


def _decoded(path, data):
    """Return the text of a table: in UTF-8, in UTF-16, or as Excel writes plain CSV in the West."""
    if data.startswith((b"PK", b"\xd0\xcf\x11\xe0")):
        raise CourseError(f"{path} is a file of Excel: save it as “CSV UTF-8”.")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    else:
        encodings = ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise CourseError(f"{path} is not in UTF-8: save it as “CSV UTF-8”.")


def write_table(path, columns, rows):
    """Write rows as CSV, whole or not at all, with the mark that shows Excel the encoding.

    Parameters
    ----------
    path : Path
    columns : sequence of str
        The header.
    rows : iterable of dict
        What is missing in a row is left empty, and what is not among the columns left out.
    """
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow([escaped(column) for column in columns])
    writer.writerows([escaped(row.get(column, "")) for column in columns] for row in rows)
    write(path, "\ufeff" + table.getvalue())


def escaped(cell):
    """Return a cell as text that no program interprets as a formula."""
    text = str(cell).replace("\r", "\n")  # The csv module would not quote a lone \r.
    return f"'{text}" if text.startswith(FORMULA) and not _is_number(text) else text


def _plain(value):
    text = (value or "").strip()
    return text[1:] if text[:1] == "'" and text[1:].startswith(FORMULA) else text


def _is_number(text):
    try:
        return math.isfinite(float(text)) and text.isascii() and text == text.strip()
    except ValueError:
        return False
