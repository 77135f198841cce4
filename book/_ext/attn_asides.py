"""The short way through a chapter: what is not on it becomes an aside, closed until it is wanted.

`book/chapters.toml` names the asides. The notebooks know nothing of them: when a page is written,
what stands under the heading of an aside is put into a ``<details>``, so that it opens without a
script, and the heading itself stays where it was.
"""

import html
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

from docutils import nodes

from notebooks.build import split

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = {
    chapter["page"]: chapter
    for chapter in tomllib.loads((ROOT / "book" / "chapters.toml").read_text("utf-8"))["chapter"]
}
WORDS_A_MINUTE = 200
EXERCISES = ("Ejercicios", "Exercises")
# Folded code whose result is read, by the line that stands for it (`FOLDED` of notebooks/build.py).
MEASURED = (
    "Mostrar el código de la tabla",
    "Show the code of the table",
    "Mostrar cómo se mide",
    "Show how it is measured",
    "Mostrar cómo se leen las medidas",
    "Show how measurements are read",
    "Mostrar el entrenamiento",
    "Show the training",
    "Mostrar cómo se preparan los datos",
    "Show how the data are prepared",
)
UI = {
    "es": "En el cuaderno, tu función se comprueba sola. Debajo de cada ejercicio hay una solución.",
    "en": "In the notebook your function is checked at once. Each exercise has a solution under it.",
}


class Section(NamedTuple):
    """A section of a notebook, without those inside it: the level of its heading, the heading as
    text, its label or None, and the minutes that it takes."""

    level: int
    heading: str
    label: str | None
    minutes: float


class Aside(nodes.General, nodes.Element):
    """What stands under the heading of a section that is not on the short way."""


def plain(heading):
    """Return a heading without the marks of its formulas, emphasis and code.

    >>> plain("What is $W^O$ for?")
    'What is W^O for?'
    """
    return re.sub(r"[$*`]", "", heading).strip()


def sections(cells):
    """Return the sections of a chapter in order; the first of them is the page itself.

    Reading takes a minute for 200 words, a minute for each cell whose code is open, and half of
    one for what a cell shows whose code is folded. The exercises and what follows them take no
    reading time.
    """
    found, label, counted = [[1, "", None, 0.0]], None, True
    for cell in cells:
        if cell.cell_type != "markdown":
            shown = cell.metadata.get("mystnb", {}).get("code_prompt_show") in MEASURED
            found[-1][3] += counted * (("tags" not in cell.metadata) + shown / 2)
            continue
        for line in re.sub(r"\$\$.*?\$\$", "", cell.source, flags=re.DOTALL).split("\n"):
            named, headed = re.match(r"\((.+)\)=$", line), re.match(r"(#+) (.+)", line)
            if headed and len(headed[1]) > 1:
                counted = counted and headed[2] not in EXERCISES
                found.append([len(headed[1]), plain(headed[2]), label, 0.0])
            label = named[1] if named else label if not line else None
            if counted:
                found[-1][3] += len(line.split()) / WORDS_A_MINUTE
    return [Section(*each) for each in found]


def is_named(section, aside, language):
    """Say whether an aside of the data names this section."""
    if "label" in aside:
        return section.label == aside["label"]
    return section.heading == plain(aside["heading"][language])


def extent(found, i):
    """Return the number of the first section after section `i` and those inside it."""
    inside = (j for j in range(i + 1, len(found)) if found[j].level <= found[i].level)
    return next(inside, len(found))


def asides(page, found, language):
    """Return ``{number of the section: (what it brings, its minutes)}`` for a chapter's asides.

    An aside that no section has is passed over; a test names it.
    """
    chosen = {}
    for aside in CHAPTERS.get(page, {}).get("aside", ()):
        for i, section in enumerate(found):
            if is_named(section, aside, language):
                minutes = sum(each.minutes for each in found[i : extent(found, i)])
                chosen[i] = aside[language], minutes
    return chosen


def short_way(found, chosen):
    """Return the minutes of the sections that are in no aside."""
    left_out = {j for i in chosen for j in range(i, extent(found, i))}
    return sum(each.minutes for j, each in enumerate(found) if j not in left_out)


def rounded(minutes):
    return max(1, round(minutes))


def close_asides(app, doctree, docname):
    """Wrap each aside of a page, and note on the page how long the short way is."""
    page = docname.rpartition("/")[2]
    if not CHAPTERS.get(page, {}).get("aside") or not docname.startswith("notebooks/"):
        return
    found = sections(split(ROOT / "notebooks" / "src" / f"{page}.md", app.config.language).cells)
    chosen = asides(page, found, app.config.language)
    written = list(doctree.findall(nodes.section))
    assert len(written) == len(found), f"{docname}: {len(written)} sections, {len(found)} headings"
    doctree["short_way"] = rounded(short_way(found, chosen)), len(chosen)
    for i, section in enumerate(found):
        if section.heading in EXERCISES:  # they are for the notebook, where they can be run
            chosen[i] = UI[app.config.language], CHAPTERS[page]["exercises"]
    for i, (brings, minutes) in chosen.items():
        section = written[i]
        first = section.first_child_matching_class(nodes.title) + 1
        box = Aside("", *section.children[first:], brings=brings, minutes=rounded(minutes))
        section["classes"].append("attn-aside")
        section[first:] = [box]


def visit_aside(self, node):
    self.body.append(
        f'<details class="attn-more"><summary><span>{html.escape(node["brings"])}</span> '
        f"<small>{node['minutes']} min</small></summary>\n"
    )


def depart_aside(self, node):
    self.body.append("</details>\n")


def anchors(doctree):
    """Return ``{anchor: minutes}`` for the asides of a page that is ready to be written."""
    boxes = doctree.findall(Aside) if doctree else ()
    return {box.parent["ids"][0]: box["minutes"] for box in boxes}


def mark(tree, found, word):
    """Mark asides in a table of contents: a word for who listens, and their minutes.

    >>> mark('<a class="reference internal" href="#x">X</a>', {"x": 4}, "aside")
    '<a class="reference internal attn-to-aside" href="#x">X<small><span class="attn-hidden"> (aside) </span>4 min</small></a>'
    """

    def marked(link):
        if link[1] not in found:
            return link[0]
        return (
            f'<a class="reference internal attn-to-aside" href="#{link[1]}">{link[2]}<small>'
            f'<span class="attn-hidden"> ({word}) </span>{found[link[1]]} min</small></a>'
        )

    return re.sub(r'<a class="reference internal" href="#([^"]+)">(.*?)</a>', marked, tree)


def setup(app):
    app.add_node(Aside, html=(visit_aside, depart_aside))
    # Last, when the terms are linked and the machine is there.
    app.connect("doctree-resolved", close_asides, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
