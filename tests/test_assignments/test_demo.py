"""`make demo-class`, and nbgrader's own tools on the course that it makes."""

import csv
import os
import subprocess
import sys
import urllib.request

import pytest
from nbgrader.apps import NbGraderAPI
from nbgrader.apps.exportapp import ExportApp

from assignments import demo_class
from assignments.demo_class import Student, hand_in, main, students
from assignments.problem_sets import PUBLIC, folders, problem_set
from assignments.release import release
from grader.batch import Batch
from grader.course import Course, CourseError
from grader.gradebook import open_gradebook
from grader.stats import stats
from tests.grader.servers import free_ports, wait_for

PS2 = problem_set("ps2")
STUDENTS = students(PS2)
SCORES = {
    "ana.nunez": 85,
    "diego.pena": 65,
    "lucia.gomez": 74,
    "mateo.ruiz": 70,
    "sofia.ibanez": 0,
    "tomas.rey": 68,
    "emily.clark": 85,
    "jack.moore": 70,
    "grace.lee": 82,
    "oliver.smith": 70,
    "mia.jones": 65,
    "noah.brown": 70,
}
NAMED = {
    "diego.pena": "unscaled",
    "lucia.gomez": "mask_inverted",
    "mateo.ruiz": "future",
    "jack.moore": "key_asks",
    "grace.lee": "overflow",
    "oliver.smith": "stopped",
    "tomas.rey": "late: -17",
    "noah.brown": "broke: ModuleNotFoundError (assignments)",
}


def test_every_student_of_the_demo_hands_in_a_notebook(course):
    for student in STUDENTS:
        hand_in(course, PS2, student)
        assert course.path(student.language, "submitted", student.id, "ps2").is_file()
    assert len({student.id for student in STUDENTS}) == len(STUDENTS) == 12
    assert {student.language for student in STUDENTS} == {"es", "en"}


def test_an_edit_that_no_longer_applies_is_reported(course):
    odd = Student("x", "", "", "es", "", {"attend-once": ("not there", "")})
    with pytest.raises(CourseError, match="x: no model answer says 'not there' any more."):
        hand_in(course, PS2, odd)


@pytest.fixture(scope="module")
def demo(sandbox, tmp_path_factory):
    """The course of the demo, and what its command wrote to stdout and to stderr."""
    folder = tmp_path_factory.mktemp("demo") / "class"
    run = "import sys, pathlib as p; from assignments import demo_class as d; "
    run += "sys.exit(d.main('ps2', p.Path(sys.argv[1]), 2))"
    environment = {k: v for k, v in os.environ.items() if k != "ATTN_GRADEBOOK"}
    done = subprocess.run(
        [sys.executable, "-c", run, str(folder)],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )
    return Course(folder), done.stdout, done.stderr


@pytest.mark.grader
def test_the_demo_releases_collects_grades_and_returns_the_problem_set(demo):
    course, said, complaints = demo
    assert complaints == ""
    for student, named in NAMED.items():
        assert any(student in line and named in line for line in said.splitlines())
    assert "12 graded (0 of them before), 0 unreadable, 0 not graded, 0 folders skipped." in said
    with open(course.folder / "grading" / "ps2.csv", newline="", encoding="utf-8-sig") as table:
        rows = {row["student"]: row for row in csv.DictReader(table)}
    assert {student: float(row["total"]) for student, row in rows.items()} == SCORES
    assert rows["ana.nunez"]["last_name"] == "Núñez"
    assert rows["tomas.rey"]["late_penalty"] == "17"
    for student in STUDENTS:
        page = course.path(student.language, "feedback", student.id, "ps2", ".html")
        assert f"{student.first_name} {student.last_name}" in page.read_text(encoding="utf-8")


@pytest.mark.grader
@pytest.mark.parametrize("language", ["es", "en"])
def test_the_documented_statistics_are_those_of_the_demo(demo, language):
    page = PUBLIC.parents[1] / "book" / language / "teaching.md"
    shown = f"```text\n{stats(demo[0], 'ps2', language)}\n```"
    assert shown in page.read_text(encoding="utf-8")


OTHERS = [name for name in folders() if name not in ("ps2", "project")]


@pytest.fixture(scope="module")
def every_other_set(tmp_path_factory):
    """A course of all sets but that of the demo."""
    folder = tmp_path_factory.mktemp("others") / "class"
    release(folder, OTHERS)
    return Course(folder)


@pytest.mark.grader
@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize("name", OTHERS)
def test_the_model_answers_of_every_other_set_run_in_the_sandbox(
    name, every_other_set, monkeypatch
):
    """What the rest of a class tries does not depend on the set, and `Proofs` has all slips."""
    monkeypatch.delenv("ATTN_GRADEBOOK", raising=False)
    asked = problem_set(name)
    worth = {task.grade_id: task.max_points for task in asked.tasks}
    class_ = {one.id: one for one in students(asked)}
    for student in ("ana.nunez", "diego.pena", "emily.clark"):
        hand_in(every_other_set, asked, class_[student])
    found = {handed.student: result for handed, result in Batch(every_other_set, name).work()}
    for student in ("ana.nunez", "emily.clark"):
        assert found[student]["marks"]["score"] == sum(worth.values())
    slip = asked.slips[0]
    marks = {mark["grade_id"]: mark for mark in found["diego.pena"]["graded"]["marks"]}
    assert marks[slip.grade_id]["misconception"] == slip.misconception
    assert marks[slip.grade_id]["points"] < worth[slip.grade_id]


@pytest.mark.grader
def test_nbgraders_own_export_works_unchanged(demo, tmp_path):
    course, _, _ = demo
    table = tmp_path / "grades.csv"
    app = ExportApp(config=course.config("en"))
    app.initialize([f"--CourseDirectory.db_url=sqlite:///{course.folder}/gradebook.db"])
    app.plugin_inst = app.plugin_class(parent=app)
    app.plugin_inst.to = str(table)
    with open_gradebook(course.config("en")) as book:
        app.plugin_inst.export(book)
    rows = list(csv.DictReader(table.open()))
    assert {row["student_id"]: float(row["score"]) for row in rows} == SCORES


@pytest.mark.grader
@pytest.mark.parametrize("language", ["es", "en"])
def test_nbgrader_lists_every_submission_as_autograded(demo, language):
    course, _, _ = demo
    api = NbGraderAPI(config=course.config(language))
    listed = {row["student"]: row for row in api.get_submissions("ps2")}
    assert set(listed) == set(SCORES)
    assert all(row["autograded"] for row in listed.values())
    assert len(api.get_notebook_submissions("ps2", "ps2")) == 12


@pytest.mark.grader
@pytest.mark.parametrize("language", ["es", "en"])
def test_formgrader_opens_every_submission(demo, language):
    course, _, _ = demo
    folder = course.folder / language
    with open_gradebook(course.config(language)) as book:
        ids = {n.student.id: n.id for n in book.notebook_submissions("ps2", "ps2")}
    (port,) = free_ports(1)
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "server",
        "--no-browser",
        "--allow-root",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=t",
        "--ServerApp.jpserver_extensions=nbgrader.server_extensions.formgrader=True",
    ]
    runtime = course.folder / f"runtime-{language}"
    environment = os.environ | {"JUPYTER_RUNTIME_DIR": str(runtime), "HOME": str(course.folder)}
    log = course.folder / f"server-{language}.log"
    with open(log, "w") as written:
        server = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=written, stderr=written
        )

    def get(path):
        url = f"http://localhost:{port}/{path}?token=t"
        return urllib.request.urlopen(url, timeout=60).read().decode()

    try:
        wait_for(f"http://localhost:{port}/api", server, log)
        assert "ps2" in get("formgrader/api/assignments")
        for student, identity in ids.items():
            html = get(f"formgrader/submissions/{identity}/")
            assert "same-projection" in html
            assert "onerror=alert" not in html.replace("&lt;img src=x onerror=alert", "").replace(
                "img src=x onerror=alert(1)&gt;", ""
            ), student
    finally:
        server.terminate()
        server.wait(30)


def test_without_a_sandbox_the_demo_writes_nothing(tmp_path, monkeypatch, capsys):
    def available():
        raise demo_class.sandbox.NoSandbox("bubblewrap needs Linux, and this is plan9")

    monkeypatch.setattr(demo_class.sandbox, "available", available)
    assert main("ps2", tmp_path / "class") == 1
    assert capsys.readouterr().err == "bubblewrap needs Linux, and this is plan9\n"
    assert not (tmp_path / "class").exists()
