"""What a page shows of the code of a chapter: without the words of the other edition.

A notebook says each label in both languages, `text(es="peso", en="weight")`. Its page shows that
of its own, `"weight"`, which means the same and is what a reader would have written.
"""

import re

from docutils import nodes

STRING = r"""(?:f?"(?:[^"\\]|\\.)*"|f?'(?:[^'\\]|\\.)*')"""
VALUE = rf"""(?:{STRING}(?:\s+{STRING})*|\[[^\[\]]*\]|\([^()]*\)|[\w.]+(?:\["\w+"\])?)"""
BOTH = re.compile(rf"\btext\(es=({VALUE}),\s*en=({VALUE})\)")
# A label inside an f-string, which it may as well be part of.
LETTERS = re.compile(r"\{'([^'{}]*)'\}")


def said(code, language):
    """Return code with each label in one language.

    Examples
    --------
    >>> said('print(text(es="peso", en="weight"))', "en")
    'print("weight")'
    >>> said('''f"{text(es='de', en='of')} {n}"''', "en")
    'f"of {n}"'
    """

    def label(call):
        return call[1 if language == "es" else 2]

    plain, found = BOTH.subn(label, code)
    return LETTERS.sub(r"\1", plain) if found else code


def say_labels(app, doctree):
    """Show the code of notebooks as `said` does."""
    for block in doctree.findall(nodes.literal_block):
        if "text(es=" in block.rawsource:
            plain = said(block.rawsource, app.config.language)
            block.rawsource = plain
            block[:] = [nodes.Text(plain)]


def setup(app):
    app.connect("doctree-read", say_labels)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
