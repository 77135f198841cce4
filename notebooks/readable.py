"""A chapter in Markdown and HTML alone, which JupyterLab, VS Code, GitHub and nbconvert all show.

A chapter is written in MyST, and the book is built from that. The notebooks that people open hold
no directive, role, label or attribute: these are rewritten here, and an unknown one raises an
error.
"""

import functools
import itertools
import re
from pathlib import Path
from typing import NamedTuple

import nbformat
from pybtex.database import parse_file
from pybtex.richtext import Text

ROOT = Path(__file__).resolve().parents[1]
SOLUTION = "hide-cell"
WORDS = {
    "es": {"figure": "Figura {}", "on_the_site": "en el sitio del curso", "and": " y "},
    "en": {"figure": "Figure {}", "on_the_site": "on the site of the course", "and": " and "},
}
LABEL = re.compile(r"^\(([A-Za-z0-9_-]{1,64})\)=$", re.MULTILINE)
# The form of an anchor. JupyterLab finds a cell by its id even in a notebook that it has just
# opened, where other anchors do not exist yet, and nbconvert uses the same form for cells. For
# other viewers it is an ordinary anchor.
PLACE = "cell-id={}"
FENCE = re.compile(r"(`{3,}|~{3,})")
ADMONITION = re.compile(r"(:{3,})\{admonition\} (.+)")
# Code and formulas are matched first, because nothing inside them is markup.
INLINE = re.compile(
    r"\{(?P<role>[\w:-]+)\}`(?P<keys>[^`]+)`"
    r"|(?P<kept>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)|\$\$.+?\$\$|\$[^$]+\$)"
    r"|\[(?P<site>(?:`[^`]*`|[^\[\]`])*)\]\{\.attn-site\} ?"
    r"|(?P<image>!?)\[(?P<text>(?:`[^`]*`|[^\[\]`])*)\]\((?P<to>[^()\s]*)\)(?P<attributes>\{[^{}\n]*\})?",
    re.DOTALL,
)
# MyST syntax that other Markdown viewers would show unchanged.
RAW = re.compile(
    r":{3,}|\{[\w:+-]+\}`[^`]*`|[)\]`]\{[^}\n]*\}|^\{[^}\n]+\}$|^\([^()\n]+\)=|^\+\+\+|^%.*|^: .*|\[\^[^\]]*\]"
    r"|\{[.#][A-Za-z][^}\n]*\}|\]\(#(?!cell-id=)[^)]*\)|\{\{.*?\}\}|^\\begin\{\w+\*?\}",
    re.MULTILINE,
)
LABELLED = re.compile(r"\$\$ *\([\w:-]+\)$", re.MULTILINE)  # an equation


def chapter_of(page):
    """Return the prefix of the figure numbers of a page, or None.

    >>> chapter_of("03_self_attention"), chapter_of("L12_language_model"), chapter_of("A1_errata")
    ('3', 'L12', 'A1')
    >>> chapter_of("index")
    """
    named = re.match(r"(L?)0?(\d+)_|(A\d)_", page)
    return "".join(part or "" for part in named.groups()) if named else None


class Reader(NamedTuple):
    """The context in which a chapter is rewritten: its page and language, the pages that are
    notebooks, the cited works, for each label its page, or None if that is no notebook, and the
    number of each figure of the page, by name."""

    page: str
    language: str
    pages: set
    works: dict
    labels: dict
    figures: dict


def reader(page, language):
    """Return the `Reader` of a page, with the labels of all pages."""
    sources, labels = sorted((ROOT / "notebooks" / "src").glob("*.md")), {}
    for source in sources:
        labels |= dict.fromkeys(LABEL.findall(source.read_text("utf-8")), source.stem)
    for source in sorted((ROOT / "book" / language).glob("*.md")):
        labels |= dict.fromkeys(LABEL.findall(source.read_text("utf-8")))
    return Reader(page, language, {source.stem for source in sources}, _works(), labels, {})


@functools.cache
def _works():
    return parse_file(ROOT / "book" / "references.bib").entries


def readable(edition, page):
    """Return an edition as a notebook that needs no MyST.

    Parameters
    ----------
    edition : NotebookNode
        One edition of a chapter, executed or not.
    page : str
        The name of the chapter, without its suffix.

    Returns
    -------
    NotebookNode
        Prose without directives; a caption under each figure; each worked solution as prose in a
        fold, which nothing runs. What the solution gave when it ran is in the metadata of its cell.

    Raises
    ------
    ValueError
        If the prose uses MyST syntax that this module does not know.
    """
    told = reader(page, edition.metadata["attn"]["language"])
    notebook = nbformat.v4.new_notebook(metadata=edition.metadata)
    counted, numbers = 0, _numbered(edition, page)
    names = {
        cell.metadata["mystnb"]["figure"].get("name"): numbers[cell.id]
        for cell in edition.cells
        if cell.id in numbers
    }
    told = told._replace(figures=names)
    for cell in edition.cells:
        if cell.cell_type == "markdown":
            notebook.cells += sections(cell, told)
            continue
        if SOLUTION in cell.metadata.get("tags", ()):
            notebook.cells.append(folded(cell))
            continue
        cell = nbformat.from_dict(cell)
        if cell.execution_count is not None:
            counted += 1
            for each in (cell, *cell.outputs):
                if "execution_count" in each:
                    each.execution_count = counted
        notebook.cells.append(cell)
        if caption := cell.metadata.get("mystnb", {}).get("figure", {}).get("caption"):
            label = WORDS[told.language]["figure"].format(numbers[cell.id])
            text = f"**{label}.** {markdown(caption, told)}"
            notebook.cells.append(prose(f"{cell.id}-caption", text))
    return notebook


def _numbered(edition, page):
    """Return the number of each figure with a caption, by the id of its cell, as on the site."""
    shown = [
        cell.id
        for cell in edition.cells
        if "caption" in cell.metadata.get("mystnb", {}).get("figure", {})
    ]
    chapter = chapter_of(page)
    before = f"{chapter}." if chapter else ""
    return {name: f"{before}{i}" for i, name in enumerate(shown, start=1)}


def sections(cell, told):
    """Split a prose cell before each label; each part is a cell named after its label."""
    outside = re.sub(
        rf"^{FENCE.pattern}.*?^\1$",
        lambda it: " " * len(it[0]),
        cell.source,
        flags=re.DOTALL | re.MULTILINE,
    )
    starts = [0, *(label.start() for label in LABEL.finditer(outside))]
    parts = [cell.source[i:j].strip("\n") for i, j in itertools.pairwise([*starts, None])]
    return [
        prose(label[1] if (label := LABEL.match(part)) else cell.id, markdown(part, told))
        for part in parts
        if part
    ]


def prose(name, text, **metadata):
    cell = nbformat.v4.new_markdown_cell(text, metadata=metadata)
    cell.id = name
    return cell


def folded(cell):
    """Return a worked solution as prose in a folded box."""
    said = cell.metadata["mystnb"]["code_prompt_show"]
    text = f"<details>\n<summary>{said}</summary>\n\n```python\n{cell.source}\n```\n\n</details>"
    outputs = nbformat.from_dict(cell.outputs)
    for output in outputs:
        if "execution_count" in output:
            output.execution_count = None  # the number of a run in which solutions were cells
    return prose(cell.id, text, attn={"outputs": outputs})


def markdown(text, told):
    """Return MyST as Markdown and HTML.

    Parameters
    ----------
    text : str
    told : Reader

    Returns
    -------
    str

    Examples
    --------
    >>> pages = {"03_attention", "01_why"}
    >>> labels = {"scale": "03_attention", "rnn": "01_why", "times": None}
    >>> told = Reader("03_attention", "en", pages, {}, labels, {"heat": "3.1"})
    >>> print(markdown("(scale)=\\n## Why $[a](b){c}$?\\n\\nSee [1](#rnn){.x}, [`f[0]`](#scale).", told))
    <a id="cell-id=scale"></a>
    <BLANKLINE>
    ## Why $[a](b){c}$?
    <BLANKLINE>
    See [1](01_why.ipynb#cell-id=rnn), [`f[0]`](#cell-id=scale).
    >>> print(markdown(":::{admonition} Predict\\n:class: predict\\nWhich?\\n\\nAnd why?\\n:::", told))
    > **Predict**
    >
    > Which?
    >
    > And why?
    >>> markdown("It is [measured](#times) ([how](#times)).", told)
    'It is measured (on the site of the course) (how, on the site of the course).'
    >>> markdown("{abbr}`GRU`", told)
    Traceback (most recent call last):
    ValueError: 03_attention: expected Markdown, admonitions, labels, links, {cite:t}, {cite:p} and {numref}, got '{abbr}`GRU`'
    """
    lines, done, plain = text.split("\n"), [], []

    def settle():
        if plain:
            done.append(_inline("\n".join(plain), told))
            plain.clear()

    while lines:
        line = lines.pop(0)
        if fence := FENCE.match(line):
            settle()
            if "{" in line:
                raise _unknown(line, told)
            done.append("\n".join([line, *_until(fence[1], lines), fence[1]]))
        elif opened := ADMONITION.fullmatch(line):
            settle()
            inner = [each for each in _until(opened[1], lines) if not re.match(r":\w+:", each)]
            # Some viewers read a formula before the marks of a quotation.
            body = re.sub(
                r"\$\$.+?\$\$",
                lambda it: it[0].replace("\n", " "),
                "\n".join(inner),
                flags=re.DOTALL,
            )
            quoted = f"**{opened[2]}**\n\n{body.strip()}"
            done.append(
                "\n".join(f"> {each}".rstrip() for each in markdown(quoted, told).split("\n"))
            )
        elif label := LABEL.fullmatch(line):
            anchor = f'<a id="{PLACE.format(label[1])}"></a>'
            plain += [anchor, *([""] if lines and lines[0] else [])]
        else:
            plain.append(line)
    settle()
    return "\n".join(done)


def _until(mark, lines):
    """Return the lines before the one that holds `mark` alone; remove them and that one."""
    at = lines.index(mark) if mark in lines else len(lines)
    inner = lines[:at]
    del lines[: at + 1]
    return inner


def _inline(text, told):
    def rewritten(found):
        if found["kept"]:
            return found["kept"]
        if found["role"]:
            return _cited(found, told)
        if found["site"]:
            return ""  # true only on the site
        if found["image"]:
            return found[0]
        return _linked(found, told, "," if text[: found.start()].endswith("(") else "")

    result = INLINE.sub(rewritten, text)
    if left := LABELLED.search(text) or RAW.search(
        INLINE.sub(lambda it: "" if it["kept"] else it[0], result)
    ):
        raise _unknown(left[0], told)
    return result


def _unknown(got, told):
    wanted = "Markdown, admonitions, labels, links, {cite:t}, {cite:p} and {numref}"
    return ValueError(f"{told.page}: expected {wanted}, got {got!r}")


def _linked(found, told, comma):
    text, (page, _, label) = _inline(found["text"], told), found["to"].partition("#")
    home = told.labels.get(label) if label else page.removesuffix(".ipynb")
    if page.endswith(".md") or label in told.labels and home is None:
        there = WORDS[told.language]["on_the_site"]
        return f"{text}, {there}" if comma else f"{text} ({there})"
    if page and not page.endswith(".ipynb"):
        return f"[{text}]({found['to']})"
    if home not in told.pages:
        raise ValueError(
            f"{told.page}: expected a link to a chapter or a label, got {found['to']!r}"
        )
    page = "" if home == told.page else f"{home}.ipynb"
    return f"[{text}]({page}#{PLACE.format(label)})" if label else f"[{text}]({page})"


def _cited(found, told):
    if found["role"] == "numref" and found["keys"] in told.figures:
        return WORDS[told.language]["figure"].format(told.figures[found["keys"]])
    keys = found["keys"].split(",")
    if found["role"] not in ("cite:t", "cite:p") or not {*keys} <= {*told.works}:
        raise _unknown(found[0], told)
    in_brackets = found["role"] == "cite:p"
    said = [_work(told.works[key], told.language, in_brackets) for key in keys]
    return f"({'; '.join(said)})" if in_brackets else ", ".join(said)


def _work(entry, language, in_brackets):
    """Return a work's authors and year, with a link to it, or with its title without one."""
    people = [
        " ".join(map(str, (*person.rich_prelast_names, *person.rich_last_names)))
        for person in entry.persons["author"]
    ]
    several = len(people) > 2 or people[-1] == "others"
    names = f"{people[0]} et al." if several else WORDS[language]["and"].join(people)
    address = entry.fields.get("url", "")
    if "doi" in entry.fields:
        address = f"https://doi.org/{entry.fields['doi']}"
    year = entry.fields["year"]
    if not address:
        year += f", *{Text.from_latex(entry.fields['title'])}*"
    said = f"{names}, {year}" if in_brackets else f"{names} ({year})"
    return f"[{said}]({address})" if address else said
