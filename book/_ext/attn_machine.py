"""The machine at the head of each chapter: `attn_course.drawings`, drawn while the site is built.

It is part of the page as the table of contents is, and no output of a cell: its links lead to pages
that only the site has, and a new stroke in it runs no notebook again. On the opening page it stands in
what a widget shows to those who read without a script, and with one the widget sets it in motion.
"""

import re

from docutils import nodes

from attn_course.drawings import Machine, MovingMachine
from attn_course.drawings.chapters import CHAPTERS


def put_machine(app, doctree, docname):
    """Put the drawing of a chapter after its first paragraph, which asks the question."""
    page = docname.rpartition("/")[2]
    if page not in CHAPTERS:
        return
    drawn = Machine(page, app.config.language)._repr_html_()
    opening = doctree.next_node(nodes.section).next_node(nodes.paragraph)
    opening.parent.insert(opening.parent.index(opening) + 1, nodes.raw("", drawn, format="html"))


def put_moving_machine(app, doctree, docname):
    """Put the drawing into the widget that works in it, before what else that says without a script."""
    for widget in list(doctree.findall(nodes.raw)):
        if 'data-anywidget="live_machine"' in widget.astext():
            drawn = MovingMachine(app.config.language)._repr_html_()
            fallback = r'(<div class="attn-fallback"[^>]*>)'
            before, start, rest = re.split(fallback, widget.astext(), maxsplit=1)
            markup = f"{before}{start}{drawn}{rest}"
            widget.replace_self(nodes.raw("", markup, format="html"))


def setup(app):
    app.connect("doctree-resolved", put_machine)
    app.connect("doctree-resolved", put_moving_machine)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
