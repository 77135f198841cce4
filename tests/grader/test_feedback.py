"""What students and instructors see: right, in their language, harmless, without hidden tests."""

import base64
import hashlib
import itertools
import json
import re
import struct
import sys
import time
from html.parser import HTMLParser
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbconvert.exporters import HTMLExporter
from nbconvert.filters import Highlight2HTML, markdown2html
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.server_extensions.formgrader import handlers
from nbgrader.utils import compute_checksum

from assignments.problem_sets import problem_set
from grader.autograded import PNG, inert, is_unanswered, rebuild
from grader.class_run import ROOT
from grader.course import write
from grader.feedback import feedback, verdict, words_of
from grader.grade import Graded
from grader.judge import Mark
from grader.submission import REASONS, Cell, Submission, read
from grader.words import GROUPS as OWN_GROUPS
from grader.words import LIMITS

ATTACK = "<script>alert(1)</script><img src=x onerror=alert(1)>"
PS2 = problem_set("ps2")
WORDS = {language: words_of(PS2, language) for language in ("es", "en")}
GROUPS = OWN_GROUPS | PS2.conventions.groups


# The pages of the grader consist of these: they run nothing, load nothing and lead nowhere.
INERT_TAGS = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "main",
    "header",
    "h1",
    "h2",
    "h3",
    "p",
    "strong",
    "span",
    "section",
    "ul",
    "li",
    "div",
    "code",
    "details",
    "summary",
    "pre",
    "footer",
    "mark",
}


class Tags(HTMLParser):
    """Collects tags with their attributes, and the text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def marks_of(graded, **changes):
    """Return the marks as the gradebook would give them."""
    grades = {
        m.grade_id: {
            "score": m.points,
            "max_score": m.max_points,
            "is_manual": False,
            "is_pending": False,
        }
        for m in graded.marks
    }
    grades["same-projection"] = {
        "score": 0.0,
        "max_score": 15.0,
        "is_manual": False,
        "is_pending": True,
    }
    score = sum(m.points for m in graded.marks)
    said = {
        "student": "Ana Núñez",
        "score": score,
        "max_score": 100.0,
        "penalty": 0.0,
        "total": score,
        "hours_late": 0.0,
        "slip_days": 0,
        "slip_days_left": 0,
        "needs_manual_grade": True,
        "grades": grades,
        "comments": {},
    }
    return said | changes


def full_marks(**changes):
    """Return full marks, except for the marks given by grade id."""
    full = []
    for task in PS2.tasks:
        mark = Mark(
            task.grade_id,
            task.max_points,
            task.max_points,
            "passed",
            dict.fromkeys(task.points, True),
        )
        full.append(changes.get(task.grade_id.replace("-", "_"), mark))
    return Graded("digest", tuple(full), broken_cells={})


def wrong(grade_id, **changes):
    task = next(task for task in PS2.tasks if task.grade_id == grade_id)
    return Mark(
        grade_id, 0.0, float(task.max_points), "wrong", dict.fromkeys(task.points, False), **changes
    )


def page(course, graded=None, submission=None, language="es", **changes):
    graded = graded or full_marks()
    released = course.released(language, "ps2")
    return feedback(PS2, released, submission, graded, marks_of(graded, **changes), language)


def submitted(course, hand_in, answers=(), **options):
    return read(hand_in("ana", answers, **options))


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_page_has_the_marks_of_each_task_and_group(course, language):
    mark = Mark(
        "attend-once",
        15.0,
        20.0,
        "partial",
        {
            "base": True,
            "masks": False,
            "large numbers": True,
            "empty rows": True,
            "batches": True,
            "arguments": True,
        },
    )
    html = page(course, full_marks(attend_once=mark), language=language)
    text = " ".join(Tags(html).text.split())
    titles = {
        "es": ["Problemas 2: autoatención", "Tarea 2: una sola query 15 / 20", "Tarea 6: un exp"],
        "en": ["Problems 2: self-attention", "Task 2: a single query 15 / 20", "Task 6: an exp"],
    }
    for title in titles[language]:
        assert title in text
    assert "Ana Núñez 80 / 100" in text
    assert f"✗ {GROUPS['masks'][language]}: 0 / 5" in text
    assert f"✓ {GROUPS['base'][language]}: 8 / 8" in text
    assert WORDS[language]["partial"] in text
    assert WORDS[language]["pending"] in text
    assert WORDS[language]["provisional"] in text
    assert "– / 15" in text
    assert f'<html lang="{language}">' in html


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_page_has_the_hint_of_the_known_mistake(course, language):
    for task in PS2.tasks:
        for known in task.exercise.misconceptions:
            graded = full_marks(
                **{task.grade_id.replace("-", "_"): wrong(task.grade_id, misconception=known.id)}
            )
            text = Tags(page(course, graded, language=language)).text
            assert WORDS[language]["hint"] in text
            hint = re.sub(r"`|(?<=\W)\*(?=\w)|(?<=\w)\*(?=\W)", "", known.hint[language])
            assert " ".join(hint.split()) in " ".join(text.split())
            assert WORDS[language]["unknown"].split(".")[0] not in text


def test_code_in_a_hint_is_marked_up_as_code(course):
    known = next(m for m in PS2.tasks[1].exercise.misconceptions if m.hint["en"].count("`") >= 2)
    html = page(
        course, full_marks(attend_once=wrong("attend-once", misconception=known.id)), language="en"
    )
    assert "<code>" in html.split('class="hint"')[1].split("</div>")[0]


def test_the_page_names_the_exception_and_the_modified_argument(course):
    marks = {
        "attend_once": wrong("attend-once", error="ValueError"),
        "packed_self_attention": wrong("packed-self-attention", modified="mask"),
        "mended_self_attention": wrong("mended-self-attention", modified=ATTACK),
    }
    html = page(course, full_marks(**marks), language="en")
    text = Tags(html).text
    assert "On one input, your function raised ValueError." in text
    assert "Your function modifies its argument mask:" in text
    assert text.count("modifies") == 1
    assert text.count(WORDS["en"]["unknown"].split(".")[0]) == 1


def test_broken_cells_are_numbered_among_the_code_cells(course, hand_in):
    submission = submitted(course, hand_in)
    numbers = [n for n, cell in enumerate(submission.cells) if cell.kind == "code"]
    graded = full_marks()
    broken = {numbers[2]: "time", numbers[1]: "Odd`<b>"}
    graded = Graded(graded.digest, graded.marks, None, broken)
    html = page(course, graded, submission, language="en")
    items = re.findall(r"<li>(.*?)</li>", html)
    assert items[0].startswith("Cell 2 raised <code>Odd&lt;b&gt;</code>;")
    assert items[1].startswith("Cell 3 was interrupted: it did not end in time. Of the rest")
    assert set(LIMITS) == {"time", "output", "process"}


def test_the_page_names_a_package_that_the_set_does_not_allow(course, hand_in):
    source = (
        "import numpy as np, os.path\ntry: import scipy.special as sp\nexcept ImportError: pass\n"
        "from matplotlib import cm\ndef f():\n    from torch.nn import functional\n"
        '"""\nimport the rest\nfrom here on\n"""\na = 1; import pandas as pd, keras'
    )
    submission = submitted(course, hand_in, {"attend-once-answer": source})
    number = next(n for n, c in enumerate(submission.cells) if c.grade_id == "attend-once-answer")
    said = {
        "es": "Estos problemas no permiten {}: al calificar solo están numpy y la biblioteca "
        "estándar.",
        "en": "This set does not allow {}: when it is marked there are only numpy and the standard "
        "library.",
    }
    for kind, times in (("ModuleNotFoundError", 2), ("ImportError", 0)):  # cell and function
        marks = full_marks(attend_once=wrong("attend-once", error=kind)).marks
        graded = Graded("digest", marks, None, {number: kind})
        for language, sentence in said.items():
            text = Tags(page(course, graded, submission, language=language)).text
            assert text.count(sentence.format("keras, pandas, scipy, torch")) == times


STARTERS = {
    "from concurrent.futures import ThreadPoolExecutor": "RuntimeError",
    "from multiprocessing import Pool": "FileNotFoundError",
    "with Pool(4) as pool: pool.map(abs, x)": "FileNotFoundError",
    "t = Thread(target=print)": "RuntimeError",
    "pid = os.fork()": "PermissionError",
    "import subprocess": "PermissionError",
}


@pytest.mark.parametrize(("source", "kind"), STARTERS.items())
def test_the_page_says_that_no_process_or_thread_can_be_started(course, hand_in, source, kind):
    submission = submitted(course, hand_in, {"attend-once-answer": source})
    number = next(n for n, c in enumerate(submission.cells) if c.grade_id == "attend-once-answer")
    for raised, times in ((kind, 2), ("ValueError", 0)):  # cell and function
        marks = full_marks(attend_once=wrong("attend-once", error=raised)).marks
        graded = Graded("digest", marks, None, {number: raised})
        for language in ("es", "en"):
            text = Tags(page(course, graded, submission, language=language)).text
            assert text.count(WORDS[language]["alone"]) == times
    other = submitted(course, hand_in, {"attend-once-answer": "open('process of threads')"})
    graded = Graded("digest", marks, None, {number: kind})
    assert WORDS["en"]["alone"] not in page(course, graded, other, language="en")


def test_the_page_has_lateness_comments_and_manual_marks(course, hand_in):
    graded = full_marks()
    marks = marks_of(
        graded,
        penalty=8.5,
        total=90.5,
        score=99.0,
        hours_late=36.04,
        needs_manual_grade=False,
        comments={
            "same-projection": "Muy bien:\n\n`q` <b>crece</b>",
            "attend-once-answer": "ya casi",
        },
    )
    marks["grades"]["same-projection"] |= {"score": 14.0, "is_pending": False, "is_manual": True}
    marks["grades"]["attend-once"] |= {"score": 20.0, "is_manual": True}
    html = feedback(
        PS2, course.released("es", "ps2"), submitted(course, hand_in), graded, marks, "es"
    )
    text = " ".join(Tags(html).text.split())
    assert "90.5 / 100" in text
    assert WORDS["es"]["provisional"] not in text
    assert "99 puntos menos 8.5 por entregar tarde." in text
    assert "Entregado con 36 horas de retraso." in text
    assert "14 / 15 Lo calificó una persona." in text
    assert text.count(WORDS["es"]["overruled"]) == 1
    assert "<p>Muy bien:</p>\n<p><code>q</code> &lt;b&gt;crece&lt;/b&gt;</p>" in html
    assert "Comentario de quien califica ya casi" in text


def test_answers_are_shown_unchanged_or_reported_as_missing(course, hand_in):
    odd = "def attend_once():\n    return '</pre><b>' & \"x\""
    submission = submitted(course, hand_in, {"attend-once-answer": odd, "same-projection": ""})
    tags = Tags(page(course, submission=submission))
    assert odd in tags.text
    assert tags.text.count(WORDS["es"]["no_response"]) == 1
    untouched = submitted(course, hand_in, step="release")
    assert page(course, submission=untouched).count(WORDS["es"]["no_response"]) == 6


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("language", ["es", "en"])
def test_the_page_says_why_a_submission_could_not_be_read(course, reason, language):
    graded = Graded(
        None,
        tuple(Mark(t.grade_id, 0.0, float(t.max_points), "unanswered") for t in PS2.tasks),
        reason,
    )
    text = Tags(page(course, graded, language=language)).text
    assert f"{REASONS[reason][language]}." in text
    assert text.count(WORDS[language]["unanswered"]) == 5


def test_every_group_of_inputs_has_a_name_in_both_languages():
    assert {group for task in PS2.tasks for group in task.points} <= set(GROUPS)
    assert all(set(names) == {"es", "en"} for names in [*GROUPS.values(), *LIMITS.values()])
    assert set(WORDS["es"]) == set(WORDS["en"])


def test_code_of_a_student_cannot_run_in_the_feedback(course, hand_in):
    answers = {"attend-once-answer": ATTACK, "same-projection": ATTACK + "[x](javascript:alert(1))"}
    submission = submitted(course, hand_in, answers)
    graded = full_marks(attend_once=wrong("attend-once", error=ATTACK, misconception=ATTACK))
    graded = Graded("d", graded.marks, None, {3: ATTACK})
    html = page(course, graded, submission, student=ATTACK, comments={"same-projection": ATTACK})
    tags = Tags(html).tags
    assert {tag for tag, _ in tags} <= INERT_TAGS
    attributes = {name for _, attrs in tags for name in attrs}
    assert attributes <= {
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "open",
        "tabindex",
        "aria-label",
        "aria-hidden",
    }
    policy = next(a["content"] for _, a in tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert policy.endswith("'; base-uri 'none'; form-action 'none'")


def test_the_content_security_policy_allows_the_styles_of_the_page(course):
    html = page(course)
    style = re.search("<style>(.*?)</style>", html, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in html
    assert "#005f99" in style
    assert "#7cc0f0" in style.split("prefers-color-scheme: dark")[1]


def test_no_inputs_and_no_expected_values_are_shown(course, hand_in):
    """Check that numbers of the hidden inputs and of the oracle's answers appear nowhere."""
    for task in PS2.tasks:
        graded = full_marks(**{task.grade_id.replace("-", "_"): wrong(task.grade_id)})
        html = page(course, graded, submitted(course, hand_in))
        shown = set(re.findall(r"-?\d+\.\d{2,}", Tags(html).text))
        for case in task.exercise.cases(1):
            answer = task.exercise.oracle(**case)
            answer = answer if isinstance(answer, tuple) else (answer,)
            for array in (*case.values(), *answer):
                if array.dtype.kind == "f":
                    # Two decimals of a hidden number may by chance occur in another number of the
                    # text.
                    assert not shown & {f"{value:.3f}" for value in np.ravel(array)}


def test_the_verdict_in_formgrader_lists_groups_mistake_and_exception():
    mark = Mark(
        "attend-once",
        7.5,
        20.0,
        "partial",
        {"base": True, "masks": False},
        "unscaled",
        "ValueError",
    )
    assert verdict(mark, PS2).splitlines() == [
        "7.5 / 20. Right in part.",
        "  ✓ ordinary inputs",
        "  ✗ with a mask",
        "The mistake we recognise: unscaled",
        "On one input, your function raised `ValueError`.",
    ]
    assert verdict(Mark("x", 0.0, 1.0, "stopped"), PS2, "es").startswith("0 / 1. Se interrumpió")


# The notebook that formgrader opens


def rebuilt(course, submission, verdicts=None, language="es"):
    released = course.released(language, "ps2")
    notebook = rebuild(released, submission, verdicts or {}, language)
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    return notebook


def by_id(notebook):
    mine = [(cell.metadata.get("nbgrader", {}).get("grade_id"), cell) for cell in notebook.cells]
    return {name: cell for name, cell in mine if name}


def cell(source, kind="code", grade_id=None, outputs=()):
    return Cell(kind, source, grade_id, tuple(outputs))


def test_locked_cells_points_and_ids_come_from_the_release(course, hand_in):
    path = hand_in("ana", {"attend-once-answer": "mine = 1", "same-projection": "my report"})
    notebook = json.loads(path.read_text())
    for each in notebook["cells"]:
        mine = each["metadata"].get("nbgrader", {})
        if mine.get("grade_id") == "attend-once":
            mine |= {"points": 1000, "locked": False}
            each["source"] = "raise SystemExit"
        if mine.get("grade_id") == "setup":
            each["source"] = "import os"
    path.write_text(json.dumps(notebook))
    released = by_id(course.released("es", "ps2"))
    found = by_id(rebuilt(course, read(path), {"attend-once": "20 / 20"}))
    assert found.keys() == released.keys()
    for name, each in found.items():
        assert each.metadata == released[name].metadata
        if not each.metadata.nbgrader.solution:
            assert each.source == released[name].source
            assert compute_checksum(each) == each.metadata.nbgrader.checksum
    assert found["attend-once-answer"].source == "mine = 1"
    assert found["same-projection"].source == "my report"
    assert [o.text for o in found["attend-once"].outputs] == ["20 / 20\n"]


def test_cells_added_by_the_student_stay_in_place(course):
    submission = Submission(
        "d",
        (
            cell("before = 1"),
            cell("import numpy", grade_id="setup"),
            cell("x", "raw"),
            cell("answer", grade_id="attend-once-answer"),
            cell("again", grade_id="attend-once-answer"),
            cell("**prose**", "markdown", grade_id="unknown"),
        ),
    )
    notebook = rebuilt(course, submission)
    known = list(by_id(course.released("es", "ps2")))
    order = [c.metadata.get("nbgrader", {}).get("grade_id") or c.source for c in notebook.cells]
    assert order[:2] == ["before = 1", "setup"]
    assert sorted(n for n in order if n in known) == sorted(known)
    assert order.index("x") < order.index("attend-once-answer") < order.index("again")
    assert order.index("attend-once-answer") < order.index("attend-once")
    kinds = {c.source: c.cell_type for c in notebook.cells}
    assert (kinds["x"], kinds["**prose**"], kinds["again"]) == ("code", "markdown", "code")


def test_without_a_submission_the_release_is_shown(course):
    notebook = rebuilt(course, None)
    released = by_id(course.released("es", "ps2"))
    assert {n: c.source for n, c in by_id(notebook).items()} == {
        n: c.source for n, c in released.items()
    }
    assert len({c.id for c in notebook.cells}) == len(notebook.cells)


def picture(width, height, data=b""):
    """Return, in base 64, the beginning of a PNG, which holds its size."""
    return base64.b64encode(PNG + struct.pack(">II", width, height) + data).decode()


def test_only_text_and_small_pictures_remain_of_outputs(course):
    png, huge = picture(640, 480), picture(640, 480, b"x" * 2**20)
    outputs = [
        {"output_type": "stream", "name": "stderr", "text": ["a\x1b[31m\n", "b"]},
        {"data": {"text/html": ATTACK, "text/plain": "plain"}, "metadata": {"x": ATTACK}},
        {
            "data": {"image/png": png, "text/plain": "<Figure>"},
            "metadata": {"image/png": {"width": '"><script>'}},
        },
        {"data": {"image/png": huge}},
        {"data": {"image/png": '"><script>'}},
        {"data": {"image/png": base64.b64encode(PNG).decode()}},
        {"data": {"image/png": base64.b64encode(b"GIF89a").decode(), "text/plain": "gif"}},
        {"data": {"image/svg+xml": ATTACK, "application/javascript": "alert(1)"}},
        {"output_type": "error", "evalue": "bad", "traceback": [ATTACK]},
        {"data": 3, "text": 4},
        {"text": "y" * 30_000},
    ]
    (own,) = [
        c
        for c in rebuilt(course, Submission("d", (cell("1", outputs=outputs),))).cells
        if c.source == "1"
    ]
    assert [o.get("text") or o.data for o in own.outputs] == [
        "a[31m\nb\n",
        "plain\n",
        {"image/png": png},
        "gif\n",
        "bad\n",
        "y" * 20_000 + "[…]\n",
    ]
    assert all(o.get("metadata", {}) == {} for o in own.outputs)
    many = Submission("d", (cell("1", outputs=[{"text": str(n)} for n in range(30)]),))
    (own,) = [c for c in rebuilt(course, many).cells if c.source == "1"]
    assert len(own.outputs) == 21 and own.outputs[-1].text.startswith("[…] Aquí no se muestran 10")


def test_pictures_are_bounded_by_their_number_of_pixels(course):
    """A few hundred kilobytes of PNG may decode to 60,000 by 60,000 pixels."""
    wide, small, large = picture(60_000, 60_000), picture(640, 480), picture(7_000, 7_000)
    outputs = [{"data": {"image/png": image}} for image in (wide, large, large, small)]
    cells = [c for c in rebuilt(course, Submission("d", (cell("1", outputs=outputs),) * 2)).cells]
    shown = [
        [o.get("data", {}).get("image/png") for o in c.outputs] for c in cells if c.source == "1"
    ]
    # The None is the line that says how many pictures are missing.
    assert shown == [[large, small, None], [small, None]]


HOSTILE = [
    ("markdown", "![[]("),
    ("markdown", r"\begin{a}"),
    ("markdown", r"\\("),
    ("markdown", "**_"),
    ("code", " "),
    ("code", " \n"),
    ("code", "..."),
]


@pytest.mark.parametrize(("kind", "pattern"), HOSTILE)
@pytest.mark.parametrize("size", [7_900, 100_000])
def test_a_text_written_to_slow_the_rendering_is_rendered_in_seconds(course, kind, pattern, size):
    whole = (pattern * size)[:size]
    notebook = rebuilt(course, Submission("d", (cell(whole, kind),) * 5), language="en")
    own = [c for c in notebook.cells if not c.metadata.get("nbgrader")]
    began = time.process_time()
    for each in own:
        if each.cell_type == "code":
            Highlight2HTML()(each.source, language="ipython3")
        else:
            markdown2html(each.source)
    assert time.process_time() - began < 8
    said = [c.source for c in own if "not shown here" in c.source or "Shown without" in c.source]
    assert size < 10_000 or len(said) >= 5


def test_the_number_of_omitted_cells_of_a_long_notebook_is_shown(course):
    lines = "a = 1\n" * 3_000
    cells = [cell(lines), cell("b" * 1_500), cell("c" + " " * 300 + "c"), cell(lines), cell(lines)]
    report = "An honest sentence of the report, with *emphasis*.\n\n"
    cells += [
        cell(report * 100, "markdown"),
        cell(report * 200, "markdown"),
        cell("`x`", "markdown"),
    ]
    notebook = rebuilt(course, Submission("d", tuple(cells)), language="en")
    shown = [c.source for c in notebook.cells if not c.metadata.get("nbgrader")][-8:]
    assert shown[0] == lines
    assert (
        shown[1]
        == "b" * 1_000
        + "[…]\n# 500 more characters are not shown here; they are in the file handed in."
    )
    assert shown[2].startswith("c" + " " * 100 + "[…]c\n# 200 more")
    assert shown[3] == lines and shown[4].startswith("a = 1")
    assert "more characters are not shown here" in shown[4]
    assert [text.count("[…]") for text in shown] == [0, 1, 1, 0, 1, 1, 1, 1]
    assert all(text.startswith("*Shown without layout") for text in shown[5:])
    assert sum(map(len, shown)) < 45_000


def test_a_long_answer_is_cut_short_and_the_page_says_so(course, hand_in):
    path = hand_in("ana", {"attend-once-answer": "x = 1\n" + "# long\n" * 4_000})
    html = page(course, submission=read(path))
    assert "8006 more characters are not shown here" in html or "8006 caracteres más" in html
    assert len(html) < 80_000


def test_outputs_of_prose_and_of_locked_cells_are_dropped(course):
    out = [{"text": "10/10"}]
    submission = Submission(
        "d",
        (
            cell("x", grade_id="attend-once", outputs=out),
            cell("y", "markdown", outputs=out),
            cell("z", "raw", outputs=out),
            cell("v", "markdown", grade_id="attend-once-answer", outputs=out),
            cell("w", grade_id="mended-self-attention-answer", outputs=out),
        ),
    )
    shown = {c.source: c.outputs for c in rebuilt(course, submission).cells if c.get("outputs")}
    assert list(shown) == ["w"]


def test_a_missing_empty_or_unchanged_answer_is_unanswered():
    given = SimpleNamespace(source="def f():\n    ...\n")
    assert is_unanswered(given, None)
    assert is_unanswered(given, cell(" \n"))
    assert is_unanswered(given, cell("\ndef f():\n    ..."))
    assert not is_unanswered(given, cell("def f():\n    return 1"))


SAFE_TAGS = {
    "p",
    "em",
    "strong",
    "code",
    "pre",
    "div",
    "span",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "li",
    "blockquote",
    "hr",
    "br",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "a",
    "del",
}


def assert_harmless(markdown):
    html = markdown2html(inert(markdown))
    for tag, attributes in Tags(html).tags:
        assert tag in SAFE_TAGS, (markdown, html)
        assert not any(name.startswith("on") for name in attributes), (markdown, html)
        href = attributes.get("href") or ""
        assert href == "" or href.startswith(("http", "#", "mailto:")), (markdown, html)
        assert "src" not in attributes
    assert not re.search(
        r"\\(href|require|csname|style|class|cssId|bbox|unicode)(?![a-zA-Z])", html
    )


@pytest.mark.parametrize(
    "markdown",
    [
        ATTACK,
        "&#92;(&#92;href{javascript:alert(1)}{x}&#92;) &#x5C;(&bsol;href{javascript:x}{y}&bsol;)",
        "&amp;#92;(&amp;#92;href{javascript:alert(1)}{x}&amp;#92;) \\(&amp;bsol;href{a}{b}\\)",
        "[a](javascript:alert(1)) ![b](http://evil/x.png) ![c](attachment:x.png)",
        "<javascript:alert(1)> <data:text/html,x>",
        "[a]: javascript:alert(1)\n\n[a] [b][a] ![a]",
        "[a] :x\n[a]:javascript:alert(1)",
        "$\\href{javascript:alert(1)}{x}$ $\\csname href\\endcsname{y}$ $\\style{a}{b}$",
        "\\begin{align}\\require{html}<img src=x>\\end{align}",
        "| a |\n|---|\n| <b onclick=x>y |",
        "```html\n" + ATTACK + "\n```\n<!-- x --><?php ?><![CDATA[x]]>",
        "&lt;script&gt; <\nscript>",
        "[a\x00](\x01javascript:alert(1)) <\x00img src=x>",
    ],
)
def test_markdown_is_rendered_without_active_markup(markdown):
    assert_harmless(markdown)


PIECES = [
    "<",
    ">",
    "[",
    "]",
    "(",
    ")",
    "!",
    ":",
    "\n",
    "\n\n",
    " ",
    "`",
    "```",
    "$",
    "\\",
    "a",
    "#",
    "javascript:alert(1)",
    "script",
    "img src=x onerror=y",
    "/",
    "|",
    "&lt;",
    "*",
    "href",
    "attachment:",
    "\x00",
    "\u202e",
    "http://x",
    "&",
    "amp;",
    "#92;",
    "#x5c;",
    "bsol;",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_no_random_mixture_of_markup_becomes_active(markdown):
    assert_harmless(markdown)


def test_ordinary_prose_and_formulas_are_unchanged():
    text = "Si $d_k < 5$, **entonces** $\\sqrt{d_k}$ y `x[0]`.\n\n- uno\n- dos"
    assert inert(text) == text


def rendered(notebook):
    """Return the page that formgrader makes of a notebook."""
    exporter = HTMLExporter(
        template_name="formgrade", extra_template_basedirs=[handlers.template_path]
    )
    resources = dict.fromkeys(
        [
            "assignment_id",
            "notebook_id",
            "submission_id",
            "base_url",
            "student",
            "last_name",
            "first_name",
            "notebook_path",
        ],
        "x",
    ) | {"index": 0, "total": 1}
    return exporter.from_notebook_node(notebook, resources=resources)[0]


def test_formgrader_renders_hostile_markdown_harmlessly(course, hand_in):
    answers = {"attend-once-answer": f'"""{ATTACK}"""', "same-projection": ATTACK}
    submission = submitted(course, hand_in, answers)
    own = (cell(ATTACK, "raw"), cell(ATTACK, outputs=[{"text": ATTACK}]), cell(ATTACK, "markdown"))
    notebook = rebuilt(course, Submission("d", submission.cells + own), {"attend-once": ATTACK})
    html = rendered(notebook)
    assert "alert(1)" in html
    for tag, attributes in Tags(html).tags:
        assert attributes.get("onerror") is None
        assert (tag, attributes.get("src")) != ("img", "x")
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", html, re.DOTALL)
    assert not any("alert(1)" in script for script in scripts)


def test_half_of_a_surrogate_pair_is_shown_as_the_replacement_character(course, hand_in):
    """JSON can hold half of a surrogate pair, but UTF-8 cannot."""
    path = hand_in("ana", {"attend-once-answer": "x = 'ODD'", "same-projection": "ODD and EVEN"})
    notebook = json.loads(path.read_text())
    for each in notebook["cells"]:
        if each["cell_type"] == "code":
            each["outputs"] = [{"output_type": "stream", "text": ["ODD"]}]
    text = json.dumps(notebook).replace("ODD", "\\ud800").replace("EVEN", "\\ud83d\\ude00")
    path.write_text(text)
    submission = read(path)
    for shown in (page(course, submission=submission), rendered(rebuilt(course, submission))):
        assert "\ufffd and 😀" in shown.encode().decode()


def test_a_page_with_half_of_a_surrogate_pair_is_written_escaped(tmp_path):
    write(tmp_path / "a" / "p.html", "\ud800")
    assert "\\ud800" in (tmp_path / "a" / "p.html").read_text()
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["p.html"]


@pytest.mark.grader
@pytest.mark.parametrize(("scheme", "width"), [*itertools.product(["light", "dark"], [390, 1000])])
def test_the_page_in_a_browser(course, hand_in, browser, tmp_path, scheme, width):
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    from vendor import fetch

    axe = (fetch("axe-core") / "axe.min.js").read_text(encoding="utf-8")
    graded = full_marks(attend_once=wrong("attend-once", misconception="unscaled", error="E" * 80))
    graded = Graded("d", graded.marks, None, {3: "time"})
    answers = {"attend-once-answer": "x = 1  # " + "y" * 300, "same-projection": "z" * 500}
    html = page(course, graded, submitted(course, hand_in, answers), hours_late=1.5, penalty=3.0)
    write(tmp_path / "p.html", html)
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 800}, bypass_csp=True
    )
    tab = context.new_page()
    errors, requests = [], []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(f"file://{tmp_path}/p.html")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.evaluate(axe)
    found = tab.evaluate("() => axe.run()")
    assert [violation["id"] for violation in found["violations"]] == []
    assert (errors, requests) == ([], [f"file://{tmp_path}/p.html"])
    context.close()
    # Under its own content security policy the page keeps its styles and runs no script.
    context = browser.new_context(color_scheme=scheme)
    tab = context.new_page()
    tab.goto(f"file://{tmp_path}/p.html")
    colour = tab.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert colour == {"light": "rgb(251, 250, 247)", "dark": "rgb(21, 23, 28)"}[scheme]
    tab.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran=1\">')"
    )
    tab.wait_for_timeout(100)
    assert tab.evaluate("window.ran") is None
    context.close()
