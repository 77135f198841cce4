"""The machine in each chapter: `attn_course.drawings`, drawn while the site is built.

It is part of the page as the table of contents is, and no output of a cell: its links lead to pages
that only the site has, and a new stroke in it runs no notebook again. On the opening page it stands in
what a widget shows to those who read without a script, and with one the widget sets it in motion.

A chapter that has a laboratory page tells a story: a strip stands above it, and the drawing at the end
of the section that says what the reader now has, whose label is ``now-`` and the number of the chapter.
On a phone, where the drawing takes more than a screen, the strip is lit there once more.
"""

import re
from pathlib import Path

from docutils import nodes

from attn_course.drawings import Machine, MovingMachine
from attn_course.drawings.chapters import CHAPTERS

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks" / "src"


def put_machine(app, doctree, docname):
    """Put the drawing of a chapter after its first paragraph, which asks the question, or its strip before."""
    page = docname.rpartition("/")[2]
    if page not in CHAPTERS:
        return
    machine = Machine(page, app.config.language)
    chapter = doctree.next_node(nodes.section)
    if not (NOTEBOOKS / f"L{page}.md").exists():
        opening = chapter.next_node(nodes.paragraph)
        drawn = nodes.raw("", machine._repr_html_(), format="html")
        opening.parent.insert(opening.parent.index(opening) + 1, drawn)
        return
    title = chapter.first_child_matching_class(nodes.title)
    chapter.insert(title + 1, nodes.raw("", machine.strip(), format="html"))
    for section in chapter.findall(nodes.section):
        if f"now-{page[:2]}" in section["ids"] + section["names"]:
            section.append(nodes.raw("", machine.closing(), format="html"))


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
