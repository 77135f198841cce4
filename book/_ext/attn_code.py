"""The code of a chapter on its page, with labels in the page's language alone.

A notebook has each label in both languages, `text(es="peso", en="weight")`. The page of each
edition shows only the label in its own language, `"weight"`, as a reader would have written it.
"""

import re

from docutils import nodes
from pygments.formatters import HtmlFormatter
from pygments.token import Name, Operator, Punctuation, Text, Whitespace

STRING = r"""(?:f?"(?:[^"\\]|\\.)*"|f?'(?:[^'\\]|\\.)*')"""
VALUE = rf"""(?:{STRING}(?:\s+{STRING})*|\[[^\[\]]*\]|\((?:{STRING}|[^()"'])*\)|\{{[^{{}}]*\}}|[\w.]+(?:\["\w+"\])?)"""
BOTH = re.compile(rf"\btext\(es=({VALUE}),\s*en=({VALUE})\)")
# A string literal in the braces of an f-string, which is merged into the f-string.
LETTERS = re.compile(r"\{'([^'{}]*)'\}")

# course.css gives no colour to tokens of these types, except the subtypes in COLOURED.
PLAIN = (Name, Operator, Punctuation, Whitespace)
COLOURED = (Name.Class, Name.Decorator, Name.Function, Operator.Word)


class Coloured(HtmlFormatter):
    """HTML code in which only coloured tokens become elements.

    Pygments makes an element of every name and every bracket. They were a quarter of all elements
    of a chapter, and the browser parses, styles and lays out each of them.

    Examples
    --------
    >>> from pygments import highlight
    >>> from pygments.lexers import PythonLexer
    >>> print(highlight("x = (y,) and 2", PythonLexer(), Coloured(nowrap=True)).strip())
    x = (y,) <span class="ow">and</span> <span class="mi">2</span>
    """

    def format(self, tokensource, outfile):
        """Write the tokens to a file."""
        super().format(((_mark(kind), text) for kind, text in tokensource), outfile)


def _mark(kind):
    is_plain = any(kind in each for each in PLAIN) and not any(kind in each for each in COLOURED)
    return Text if is_plain else kind


def said(code, language):
    """Return code with each label in one language.

    Examples
    --------
    >>> said('print(text(es="peso", en="weight"))', "en")
    'print("weight")'
    >>> said('''f"{text(es='de', en='of')} {n}"''', "en")
    'f"of {n}"'
    >>> said('text(es=("sin f()", "con"), en=("without f()", "with"))', "en")
    '("without f()", "with")'
    """

    def label(call):
        return call[1 if language == "es" else 2]

    plain, found = BOTH.subn(label, code)
    return LETTERS.sub(r"\1", plain) if found else code


def say_labels(app, doctree):
    """Replace the labels in the code of notebooks with `said`."""
    for block in doctree.findall(nodes.literal_block):
        if "text(es=" in block.rawsource:
            plain = said(block.rawsource, app.config.language)
            block.rawsource = plain
            block[:] = [nodes.Text(plain)]


def figures_first(app, doctree):
    """Move a figure whose code is not on the page before the folded code that prepares it."""
    for cell in [*doctree.findall(lambda node: "tag_remove-input" in _classes(node))]:
        cells = cell.parent.children
        at = first = cells.index(cell)
        while (
            first and "tag_hide-input" in _classes(cells[first - 1]) and len(cells[first - 1]) == 1
        ):
            first -= 1
        cells.insert(first, cells.pop(at))


def _classes(node):
    return node.get("classes", ()) if isinstance(node, nodes.container) else ()


def setup(app):
    app.connect("doctree-read", say_labels)
    app.connect("doctree-read", figures_first)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
