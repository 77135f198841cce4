"""Results as a table: aligned in a notebook, on the page of the course, and as plain text."""

import re
from html import escape
from numbers import Number

# A cell may hold a number that is already written, because its row has other decimals.
NUMBER = r"−?\d[\d.,]*(e[−+]?\d+)?\s?%?"


class Table:
    """Rows of results under their headings, numbers aligned to the right.

    As the last line of a cell it is shown. Negative numbers have a true minus sign, as in the
    figures.

    Parameters
    ----------
    columns : dict of str to str
        The number format of each column, by its heading: ``".2f"``, ``".0%"``, or
        ``""`` for words and whole numbers.
    rows : iterable of sequences
        One cell for each column; None leaves it empty. Words stay as they are.

    Raises
    ------
    ValueError
        If there are no columns or no rows, or a row has not one cell for each column.

    Examples
    --------
    >>> Table({"token": "", "score": ".2f"}, [("cat", 3.0), ("walks", -0.5)])
    token  score
    cat     3.00
    walks  −0.50
    """

    def __init__(self, columns, rows):
        rows = [list(row) for row in rows]
        if not columns or not rows:
            missing = "rows" if columns else "columns"
            raise ValueError(f"{missing}: expected at least one, got none")
        for row in rows:
            if len(row) != len(columns):
                raise ValueError(
                    f"rows: expected {len(columns)} cells for {tuple(columns)}, got {row!r}"
                )
        self._headings = list(columns)
        self._rows = [
            [_written(*cell) for cell in zip(row, columns.values(), strict=True)] for row in rows
        ]
        self._numeric = [
            any(re.fullmatch(NUMBER, cell) for cell in column)
            for column in zip(*self._rows, strict=True)
        ]

    def __repr__(self):
        lines = [self._headings, *self._rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(self._line(line, widths).rstrip() for line in lines)

    def _line(self, cells, widths):
        parts = zip(cells, widths, self._numeric, strict=True)
        return "  ".join(c.rjust(width) if right else c.ljust(width) for c, width, right in parts)

    def _repr_html_(self):
        head = self._html_row(self._headings, ["col"] * len(self._headings))
        # A first column of words is the header of its rows.
        scopes = ["" if self._numeric[0] else "row", *[""] * (len(self._headings) - 1)]
        body = "\n".join(self._html_row(row, scopes) for row in self._rows)
        return (
            f'<table class="attn-table">\n<thead>\n{head}\n</thead>\n'
            f"<tbody>\n{body}\n</tbody>\n</table>"
        )

    def _html_row(self, cells, scopes):
        drawn = []
        for text, scope, right in zip(cells, scopes, self._numeric, strict=True):
            # A header without words would announce nothing.
            scope = scope if text else ""
            tag, scope = ("th", f' scope="{scope}"') if scope else ("td", "")
            side = "right" if right else "left"
            drawn.append(f'<{tag}{scope} style="text-align: {side}">{escape(text)}</{tag}>')
        return f"<tr>{''.join(drawn)}</tr>"


def _written(value, spec):
    if value is None:
        return ""
    if isinstance(value, Number) and not isinstance(value, bool):
        return f"{value:{spec}}".replace("-", "−")
    return str(value)
