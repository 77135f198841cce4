"""The project: a set without tasks, marked by a person throughout, from release to feedback."""

import csv
import re

import nbformat
import pytest
from nbgrader.apps import NbGraderAPI

import attn_course
from assignments import demo_class
from assignments.problem_sets import PUBLIC, problem_set
from assignments.release import release
from grader import sandbox
from grader.class_run import grade_class
from grader.course import Course
from grader.gradebook import open_gradebook
from grader.stats import stats
from notebooks.build import LANGUAGES, split

MASTER = PUBLIC / "project" / "master.md"
PROJECT = problem_set("project")
each_language = pytest.mark.parametrize("language", LANGUAGES)


def graded(language):
    """Return the points of each graded cell and its text, by grade id."""
    cells = split(MASTER, language).cells
    marks = [(cell.metadata.get("nbgrader", {}), cell.source) for cell in cells]
    return {m["grade_id"]: (m["points"], source) for m, source in marks if m.get("grade")}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    release(folder, ["project"])
    return Course(folder)


@each_language
def test_every_point_is_given_by_a_person_and_the_rubric_shares_out_each(language):
    cells = graded(language)
    assert tuple(cells) == PROJECT.manual and PROJECT.tasks == ()
    assert sum(points for points, _ in cells.values()) == 100
    for grade_id, (points, text) in cells.items():
        rubric = re.split(r"\*\*R[uú]bric", text)[1]
        items = re.findall(r"^\d\. (\d+) (?:puntos|points)", rubric, re.MULTILINE)
        assert sum(map(int, items)) == points, grade_id


@each_language
def test_the_points_in_the_text_are_those_of_the_cells(language):
    text = "\n".join(cell.source for cell in split(MASTER, language).cells)
    expected = [points for points, _ in graded(language).values()]
    table = re.findall(r"^\| \d\. .* \| (\d+) \|$", text, re.MULTILINE)
    headings = re.findall(r"^### \d\. .* \((\d+) (?:puntos|points)\)$", text, re.MULTILINE)
    assert list(map(int, table)) == list(map(int, headings)) == expected


def test_every_number_in_the_text_is_printed_by_a_cell(capsys):
    editions = {language: split(MASTER, language).cells for language in LANGUAGES}
    namespace = {}
    for cell in editions["en"]:
        if cell.cell_type == "code":
            exec(cell.source, namespace)  # noqa: S102 - our own
    attn_course.set_language("es")
    printed = set(re.findall(r"\d+\.\d+", capsys.readouterr().out))
    for cells in editions.values():
        prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        assert set(re.findall(r"\d+\.\d+", prose)) <= printed
    es, en = ([c.source for c in cells if c.cell_type == "code"] for cells in editions.values())
    assert [source.replace('"es"', '"en"') for source in es] == [
        source.replace('"es"', '"en"') for source in en
    ]


@each_language
def test_the_student_version_holds_no_model_answer_and_no_rubric(released, language):
    text = released.path(language, "release", ".", "project").read_text(encoding="utf-8")
    assert not re.search(r"SOLUTION|R[uú]bric|Model answer|Respuesta modelo", text)
    assert text.count({"es": "Escribe aquí", "en": "Write your answer"}[language]) == 6


@pytest.fixture
def handed_in(released, monkeypatch):
    """Two students: one answers and leaves code that must not run, one changes nothing."""
    monkeypatch.delenv("ATTN_GRADEBOOK", raising=False)
    for student, language, answer in (("ana", "es", "Predije que sí."), ("tom", "en", None)):
        notebook = nbformat.read(released.path(language, "release", ".", "project"), 4)
        for cell in notebook.cells:
            if answer and cell.metadata.get("nbgrader", {}).get("grade"):
                cell.source = answer
        notebook.cells.append(nbformat.v4.new_code_cell("while True: pass"))
        path = released.path(language, "submitted", student, "project")
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)
    return released


@pytest.mark.usefixtures("sandbox")
def test_the_project_is_marked_and_returned_without_running_code(handed_in, monkeypatch, capsys):
    course = handed_in
    monkeypatch.setattr(sandbox, "run", lambda *a, **k: pytest.fail("nothing is to be run"))
    assert grade_class(course, "project", jobs=1) == 0
    said = capsys.readouterr().out
    assert re.search(r"ana +es +0 / 100  to mark by hand", said)
    with open_gradebook(course.config("es")) as book:
        notebook = book.find_submission_notebook("project", "project", "ana")
        for grade, points in zip(notebook.grades, (12, 20, 18, 15, 10, 9), strict=True):
            grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()
    assert grade_class(course, "project", jobs=1) == 0
    with open(course.folder / "grading" / "project.csv", newline="", encoding="utf-8-sig") as table:
        scores = {row["student"]: float(row["score"]) for row in csv.DictReader(table)}
    assert scores == {"ana": 84, "tom": 0}
    page = course.path("es", "feedback", "ana", "project", ".html").read_text(encoding="utf-8")
    assert "84" in page and "Predije que sí." in page and "Rúbrica" not in page
    assert stats(course, "project").startswith("project: 2 graded")
    listed = NbGraderAPI(config=course.config("es")).get_submissions("project")
    assert {row["student"]: row["autograded"] for row in listed} == {"ana": True, "tom": True}


def test_the_demo_refuses_a_set_without_tasks(tmp_path, capsys):
    assert demo_class.main("project", tmp_path / "class") == 1
    assert "project has no tasks" in capsys.readouterr().err
    assert not (tmp_path / "class").exists()
