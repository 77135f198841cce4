"""The machine in each chapter: `attn_course.drawings`, drawn while the site is built.

It is a part of the page and not the output of a cell, because its links lead to pages that only the
site has, and because a change of it should not run notebooks again. On the opening page it is in
the fallback of a widget, which animates it where scripts run.

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
    """Insert the drawing after a chapter's first paragraph, or a strip after its title."""
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
    """Insert the drawing into the fallback of its widget, before the fallback's other text."""
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
