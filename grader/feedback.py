"""The page that a student gets back: it says what was right, what was not, and why.

The page names the known mistake with the hint of the exercise, and shows no input, no expected
value and no test. Everything from the student is shown as plain text.
"""

import base64
import functools
import hashlib
import re
import sys
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from grader.autograded import bounded, is_unanswered
from grader.regrade import form
from grader.standins import DISPLAY
from grader.submission import REASONS, code_number
from grader.words import GROUPS, LIMITS, WORDS

TEMPLATES = Path(__file__).resolve().parent / "templates"
# Imports are found in the text, because a hostile file can crash Python's parser.
IMPORT = re.compile(
    r"(?:^|[:;])[ \t]*(?:from[ \t]+(\w+)(?:\.\w+)*[ \t]+import\b|import[ \t]+([^#;\n]+))",
    re.MULTILINE,
)
# These names start another process, thread or program, and NOT_STARTED is what they raise in the
# sandbox.
STARTS = re.compile(
    r"\b(?:threading|multiprocessing|concurrent|subprocess|fork|Popen|(?:\w*Pool|Thread|Process)(?=\())"
)
EMPHASIS = re.compile(r"(?<![\w*])\*([^\s*][^*\n]*)\*(?![\w*])")  # a product such as a*b is none
NOT_STARTED = ("FileNotFoundError", "PermissionError", "RuntimeError")
IMPORTED = re.compile(r"\s*(\w+)(?:\.\w+)*(?:\s+as\s+\w+)?\s*")


def feedback(problem_set, released, submission, graded, marks, language, requests=None):
    """Return the page of one student.

    Parameters
    ----------
    problem_set : ProblemSet
    released : NotebookNode
        What students were given, in `language`.
    submission : Submission or None
        None if it could not be read.
    graded : grader.grade.Graded
        What the grader found.
    marks : dict
        What the gradebook says, as `grader.gradebook.settle` returns it.
    language : {"es", "en"}
    requests : dict of str to dict, optional
        What the student asks to have looked at again, as
        `grader.regrade.shown_requests` returns it.

    Returns
    -------
    str
        HTML that is one file, loads nothing and runs nothing.
    """
    words, requests = words_of(problem_set, language), dict(requests or {})
    return page(
        "feedback.html.j2",
        problem_set.conventions.colours,
        language=language,
        words=words,
        title=_heading(released.cells[0].source),
        student=marks["student"],
        marks=marks,
        reason=REASONS[graded.reason][language] if graded.reason else None,
        tasks=[
            _task(part, problem_set, submission, graded, marks, language)
            | {"request": requests.pop(part[1], None)}
            for part in _parts(released, marks["grades"])
        ],
        requests=requests.values(),  # The remaining requests are about no task that is shown.
        form=form(problem_set.name, problem_set.grade_ids, language),
        form_file=f"{problem_set.name}_regrade.md",
        broken=_broken(problem_set, submission, graded, language),
    )


def page(template, colours, **values):
    """Return a page made from one of our templates, which escapes all its values."""
    style = _style(*colours)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    whole = _environment().get_template(template)
    return whole.render(style=Markup(style), style_hash=digest, **values)


def verdict(mark, problem_set, language="en"):
    """Return a mark in a few lines of plain text, for formgrader."""
    words = words_of(problem_set, language)
    lines = [f"{mark.points:g} / {mark.max_points:g}. {words[mark.status]}"]
    for group, passed in mark.groups.items():
        lines.append(f"  {'✓' if passed else '✗'} {_group(group, problem_set, language)}")
    if mark.misconception:
        lines.append(f"{words['hint']}: {mark.misconception}")
    if mark.error:
        lines.append(words["raised"].format(error=mark.error))
    if mark.spared:
        lines.append(words["spared"])
    return "\n".join(lines)


def words_of(problem_set, language):
    """Return the messages of the grader about a set; those of the course replace its own."""
    return WORDS[language] | problem_set.conventions.words.get(language, {})


def _group(name, problem_set, language):
    """Return the title of a group of inputs, or its name if it has no title."""
    named = GROUPS | problem_set.conventions.groups | problem_set.groups
    return named.get(name, {}).get(language, name)


def _parts(released, grades):
    """Return (title, grade id, cells that answer it) for each graded cell of the release."""
    parts, title, answers = [], "", []
    for cell in released.cells:
        mine = cell.metadata.get("nbgrader", {})
        if mine.get("solution"):
            answers.append(cell)
        if mine.get("grade") and mine.grade_id in grades:
            parts.append((title, mine.grade_id, answers))
            answers = []
        elif cell.cell_type == "markdown" and not mine and _heading(cell.source):
            title = _heading(cell.source)
    return parts


def _heading(source):
    found = re.match(r"#+ (.*)", source)
    return found.group(1) if found else ""


def _task(part, problem_set, submission, graded, marks, language):
    title, grade_id, cells = part
    words, given = words_of(problem_set, language), marks["grades"][grade_id]
    task = next((t for t in problem_set.tasks if t.grade_id == grade_id), None)
    mark = next((m for m in graded.marks if m.grade_id == grade_id), None)
    shown = {
        "title": title,
        "score": given["score"],
        "max_score": given["max_score"],
        "is_pending": given["is_pending"],
        "status": mark.status if mark else "manual",
        "verdict": words[mark.status] if mark else words["manual"],
        "groups": [],
        "hint": None,
        "notes": [],
        "answers": [_answer(cell, submission, marks["comments"], language) for cell in cells],
    }
    if given["is_pending"]:
        shown["verdict"] = words["pending"]
    if mark is None:
        return shown
    if given["is_manual"]:
        shown["notes"].append(words["overruled"])
    if mark.spared:
        shown["notes"].append(words["spared"])
    shown["groups"] = [
        {
            "name": _group(name, problem_set, language),
            "passed": passed,
            "score": task.points[name] if passed else 0,
            "max_score": task.points[name],
        }
        for name, passed in mark.groups.items()
    ]
    known = {mistake.id: mistake for mistake in task.exercise.misconceptions}
    if mark.misconception in known:
        shown["hint"] = known[mark.misconception].hint[language]
    if mark.error:
        sources = [answer["source"] or "" for answer in shown["answers"]]
        shown["notes"] += [
            words["raised"].format(error=mark.error),
            *_not_allowed(mark.error, "\n".join(sources), problem_set, language),
        ]
    if mark.modified in _arguments(task):
        shown["notes"].append(words["modified"].format(name=mark.modified))
    elif mark.status in ("partial", "wrong") and not shown["hint"] and not mark.error:
        shown["notes"].append(words["unknown"])
    return shown


@functools.cache  # Inputs are drawn once for a class.
def _arguments(task):
    return {name for case in task.exercise.cases(0) for name in case}


def _answer(released_cell, submission, comments, language):
    grade_id = released_cell.metadata.nbgrader.grade_id
    cell = submission.answer(grade_id) if submission else None
    return {
        "kind": "code" if released_cell.cell_type == "code" else "prose",
        "source": None if is_unanswered(released_cell, cell) else bounded(cell.source, language),
        "comment": comments.get(grade_id),
    }


def _broken(problem_set, submission, graded, language):
    words, lines = WORDS[language], []
    cells = submission.cells if submission else ()
    for number, kinds in sorted((graded.broken_cells or {}).items()):
        where, source = code_number(cells, number), ""
        if number < len(cells):
            source = cells[number].source
        for kind in kinds.split("; "):
            if kind in LIMITS:
                lines.append(words["cell_limit"].format(number=where, why=LIMITS[kind][language]))
            else:
                said = words["cell"].format(number=where, kind=kind.replace("`", ""))
                missing = _not_allowed(kind.partition(" ")[0], source, problem_set, language)
                lines.append(" ".join([said, *missing]))
    return lines


def _not_allowed(kind, source, problem_set, language):
    """Return the sentence that names what is not available, if its absence raised."""
    if kind in NOT_STARTED and STARTS.search(source):
        return [WORDS[language]["alone"]]
    found = set()
    for package, several in IMPORT.findall(source) if kind == "ModuleNotFoundError" else ():
        parts = map(IMPORTED.fullmatch, several.split(","))
        found |= {package, *(part[1] for part in parts if part)} - {""}
    known = {*problem_set.packages, *problem_set.conventions.stand_ins}
    found -= known.union(sys.stdlib_module_names, DISPLAY)
    if not found:
        return []
    names, packages = (
        ", ".join(f"`{name}`" for name in several)
        for several in (sorted(found), problem_set.packages)
    )
    return [WORDS[language]["not_allowed"].format(names=names, packages=packages)]


def _style(light, dark):
    sheet = (TEMPLATES / "feedback.css").read_text(encoding="utf-8")
    light, dark = (
        " ".join(f"--{name}: {value};" for name, value in scheme.items())
        for scheme in (light, dark)
    )
    screens = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    return f"{sheet}\n:root {{ {light} }}\n{screens}"


@functools.cache  # Templates are read once for a class.
def _environment():
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    environment.filters |= {"number": _number, "paragraphs": _paragraphs}
    return environment


def _number(value):
    return f"{round(value, 2):g}"


def _emphasised(escaped):
    # The text is already escaped, so the inserted tags are the only markup.
    return Markup(EMPHASIS.sub(r"<em>\1</em>", str(escaped)))


def _paragraphs(text, inline=False):
    """Return text as paragraphs, with ```code``` and *emphasis*; the rest is escaped."""
    shown = [
        Markup("").join(
            Markup("<code>{}</code>").format(piece) if n % 2 else _emphasised(escape(piece))
            for n, piece in enumerate(paragraph.split("`"))
        )
        for paragraph in re.split(r"\n\s*\n", text.strip())
    ]
    if inline:
        return Markup(" ").join(shown)
    return Markup("\n").join(Markup("<p>{}</p>").format(paragraph) for paragraph in shown)
