"""Pages generated from data: the source map, the routes, the changelog, the reading times."""

import itertools
import re
import tomllib
from pathlib import Path

import attn_python
from attn_api import english
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]

CHAPTERS = ROOT / "book" / "chapters.toml"
QUIZZES = ROOT / "attn_course" / "widgets" / "quizzes"
EXERCISES = ROOT / "attn_course" / "exercises" / "chapters"

WORDS = {
    "es": {
        "sections": ("Sección", "En el curso"),
        "rows": ("Fila", "Lo que traen los documentos", "En el curso"),
        "needs": "Antes",
        "times": "{} de lectura y {} de ejercicios",
        "part": {2: "Día", 6: "Semana"},
        "progress": ("Capítulo", "Ejercicios", "Preguntas acertadas"),
        "sum": "Has resuelto {solved} de {exercises} ejercicios y acertado {right} de {questions} preguntas.",
        "next": "Sigue con",
        "none": "Aquí no hay nada guardado todavía.",
        "erase": "Borrar todo lo guardado",
        "sure": "¿Borrar tus respuestas y tu progreso de este navegador?",
    },
    "en": {
        "sections": ("Section", "In the course"),
        "rows": ("Row", "What the documents bring", "In the course"),
        "needs": "First",
        "times": "{} to read, {} of exercises",
        "part": {2: "Day", 6: "Week"},
        "progress": ("Chapter", "Exercises", "Questions right"),
        "sum": "You have solved {solved} of {exercises} exercises and answered {right} of {questions} questions right.",
        "next": "Go on with",
        "none": "Nothing is stored here yet.",
        "erase": "Erase all that is stored",
        "sure": "Erase your answers and your progress from this browser?",
    },
}

# The ways in which a section of a document appears in a place of the course.
HOW = {
    "runs": {"es": "ejecutado", "en": "runs"},
    "stored": {"es": "guardado", "en": "stored"},
    "mentioned": {"es": "mencionado", "en": "mentioned"},
}


def duration(minutes):
    """Return a duration as people write it.

    >>> duration(45), duration(60), duration(85)
    ('45 min', '1 h', '1 h 25 min')
    """
    hours, rest = divmod(minutes, 60)
    return " ".join([f"{hours} h"] * bool(hours) + [f"{rest} min"] * bool(rest))


class Written(SphinxDirective):
    """A directive that generates Markdown from a data file."""

    source = None
    style = None

    @property
    def language(self):
        return self.config.language

    def run(self):
        self.env.note_dependency(str(self.source))
        data = tomllib.loads(self.source.read_text(encoding="utf-8"))
        box = nodes.container(classes=[self.style])
        self.state.nested_parse(StringList(self.write(data), str(self.source)), 0, box)
        return [box]

    def home(self, page):
        """Return the document of a page, or None if it is not in this book."""
        places = (f"{folder}/{self.language}/{page}" for folder in ("notebooks", "book"))
        return next((name for name in places if name in self.env.found_docs), None)

    def number(self, page):
        number = re.match(r"0?(\d+|A\d)_", page)
        return number[1] if number else ""

    def page(self, page):
        """Return a link to a page, its number first, or only the number of a page elsewhere."""
        home, number = self.home(page), self.number(page)
        return f"{number} [](/{home})".strip() if home else number


class SourceMap(Written):
    """The sections of one document, ``{source-map} 003``, or the table, ``{source-map} rows``."""

    required_arguments = 1
    source = ROOT / "book" / "source_map.toml"
    style = "attn-source-map"

    def write(self, data):
        language, asked = self.language, self.arguments[0]
        self.titles = data["title"]
        if asked == "rows":
            head = WORDS[language]["rows"]
            rows = [
                (
                    str(row["number"]),
                    f"{row['what'][language]} ({', '.join(row['documents'])})",
                    row,
                )
                for row in data["row"]
            ]
        else:
            head = WORDS[language]["sections"]
            (document,) = (each for each in data["document"] if each["number"] == asked)
            rows = [(part["title"][language], part) for part in document["section"]]
        rows = [(*cells, self.links(entry["places"])) for *cells, entry in rows]
        return [f"| {' | '.join(cells)} |" for cells in (head, [":-"] * len(head), *rows)]

    def links(self, places):
        """Return places as Markdown: a line for each page and each way to appear there."""
        lines = []
        for (how, page), group in itertools.groupby(places, self.how_and_page):
            labels = [place["at"].partition("#")[2] for place in group]
            sections = " · ".join(map(self.section, filter(None, labels)))
            link = f"{self.number(page)} {sections}".strip() if all(labels) else self.page(page)
            lines.append(f"*{HOW[how][self.language]}* {link}".strip())
        return "<br>".join(lines)

    def how_and_page(self, place):
        return place["how"], place["at"].partition("#")[0]

    def section(self, label):
        if label in self.titles:  # it has a formula, which a reference would write in full
            return f"[{self.titles[label][self.language]}](#{label})"
        return f"{{ref}}`{label}`"


class Chapters(Written):
    """The prerequisites and the contents of each chapter."""

    source = CHAPTERS
    style = "attn-chapters"

    def write(self, data):
        words = WORDS[self.language]
        lines = []
        for chapter in filter(lambda each: self.home(each["page"]), data["chapter"]):
            needs = ", ".join(map(self.number, chapter["needs"]))
            times = f"{duration(chapter['reading'])} + {duration(chapter['exercises'])}"
            facts = [times, *[f"{words['needs']}: {needs}"] * bool(needs)]
            lines += [self.page(chapter["page"]), f": {chapter['gives'][self.language]}"]
            lines += ["", f"  *{' · '.join(facts)}*", ""]
        return lines


class Routes(Written):
    """Routes through the course, with the time each takes."""

    source = CHAPTERS
    style = "attn-routes"

    def write(self, data):
        minutes = {each["page"]: each for each in data["chapter"] if self.home(each["page"])}
        lines = []
        for route in data["route"]:
            kinds = ("reading", "exercises") if route["exercises"] else ("reading",)

            def cost(pages, kinds=kinds):
                return sum(minutes.get(page, {}).get(kind, 0) for page in pages for kind in kinds)

            parts = [list(filter(self.home, part)) for part in route.get("parts", ())]
            total = cost([*itertools.chain(*parts), *route.get("unlisted", ())])
            lines += [f"{route['name'][self.language]}, {duration(total)}"]
            lines += [f": {route['why'][self.language]}", ""]
            word = WORDS[self.language]["part"].get(len(parts))
            for i, pages in enumerate(parts, start=1):
                links = " · ".join(map(self.page, pages))
                lines += [
                    f"  - {word} {i}, {duration(cost(pages))}: {links}" if word else f"  {links}"
                ] * bool(pages)
            lines += [""]
        return lines


class Progress(Written):
    """The exercises and the number of questions of each chapter; the page marks the solved ones.

    The last exercise of a chapter may be one that its figure judges, which has no file: the
    ``figure`` in ``chapters.toml``.
    """

    source = CHAPTERS
    style = "attn-progress"

    def write(self, data):
        words = WORDS[self.language]
        head = " | ".join(words["progress"])
        rows = [f"| {head} |", "|:-|:-|-:|"]
        for chapter in filter(lambda each: self.home(each["page"]), data["chapter"]):
            page = chapter["page"]
            questions = tomllib.loads((QUIZZES / f"{page}.toml").read_text("utf-8"))["question"]
            figure = chapter.get("figure")
            names = [*self.exercises(page), *filter(None, [figure])]
            items = [
                f"<li data-exercise='{name}'{' data-figure' * (name == figure)}>"
                f"<a href='{page}.html#{attn_python.anchor(name)}' "
                f"title='{name}'>{i}<span class='attn-hidden'> {name}</span></a></li>"
                for i, name in enumerate(names, 1)
            ]
            right = f"<span data-quiz='{page}'>0</span> / {len(questions)}"
            rows += [f"| {self.page(page)} | <ol>{''.join(items)}</ol> | {right} |"]
        told = f"data-next='{words['next']}' data-sum='{words['sum']}'"
        none = f"<span class='attn-progress-none' hidden>{words['none']} </span>"
        erase = f"<button type='button' data-sure='{words['sure']}'>{words['erase']}</button>"
        return [
            f"<p class='attn-progress-sum' role='status' {told}>{none}</p>",
            "",
            *rows,
            "",
            f"<p class='attn-progress-erase'>{erase}</p>",
        ]

    def exercises(self, page):
        """Return the names of a page's exercises, in the order of their files."""
        kind = page.partition("_")[0].lower()
        kind = f"ch{kind}" if kind.isdigit() else kind
        files = sorted(EXERCISES.glob(f"{kind}_*.toml"))
        return [re.sub(r"^(ch|a)\d+_\d_", "", file.stem) for file in files]


def time_the_way(app, doctree, docname):
    """Add the reading time of each chapter to the list of chapters on the opening page."""
    if docname.rpartition("/")[2] != "index":
        return
    chapters = {
        each["page"]: each for each in tomllib.loads(CHAPTERS.read_text("utf-8"))["chapter"]
    }
    for entry in doctree.findall(nodes.list_item):
        link = entry.next_node(nodes.reference)
        chapter = chapters.get(link.get("refuri", "").removesuffix(".html")) if link else None
        if chapter and isinstance(entry.parent, nodes.enumerated_list):
            times = WORDS[app.config.language]["times"]
            told = times.format(duration(chapter["reading"]), duration(chapter["exercises"]))
            entry += nodes.paragraph("", told, classes=["attn-way-time"])


def mark_the_changelog(app, doctree):
    """Mark the entries of the changelog as English in both editions."""
    if app.env.docname.endswith("/changelog"):
        page = next(doctree.findall(nodes.section))
        first = next(i for i, child in enumerate(page) if isinstance(child, nodes.paragraph))
        entries = page[first + 1 :]
        page[first + 1 :] = [english("", *entries)]


def setup(app):
    app.add_directive("source-map", SourceMap)
    app.add_directive("chapters", Chapters)
    app.add_directive("routes", Routes)
    app.add_directive("progress", Progress)
    app.connect("doctree-read", mark_the_changelog)
    app.connect("doctree-resolved", time_the_way)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
