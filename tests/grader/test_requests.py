"""Regrade requests: from the student's form to the answer on the returned page."""

import json
import re

import pytest
from nbgrader.apps import NbGraderAPI

from assignments.problem_sets import problem_set
from grader.__main__ import main
from grader.batch import Batch
from grader.regrade import form, place_of, requests_of
from tests.grader.test_batch import NONSENSE, walls

PS2 = problem_set("ps2")
EVIL = "<script>alert(1)</script> \x1b[2Jmine is right \u202e"


def ask(notebook, language="es", **said):
    """Fill in the released form of a student."""
    text = form("ps2", PS2.grade_ids, language)
    for task, why in said.items():
        heading = f"## {task.replace('_', '-')}\n"
        assert heading in text
        text = text.replace(heading, f"{heading}\n{why}\n")
    place_of(notebook, "ps2").write_text(text, encoding="utf-8")


def asked(notebook):
    return requests_of(notebook, "ps2", PS2.grade_ids)


@pytest.mark.parametrize("language", ["es", "en"])
def test_an_unchanged_form_is_no_request_and_a_filled_one_is_read(hand_in, language):
    notebook = hand_in("ana")
    assert asked(notebook) == {}
    ask(notebook, language)
    assert asked(notebook) == {}
    ask(notebook, language, attend_once="Mine is right.")
    ((task, text),) = asked(notebook).items()
    assert task == "attend-once" and text.startswith("Mine is right.")


def test_a_request_without_the_form_is_read(hand_in):
    notebook = hand_in("ana")
    place_of(notebook, "ps2").write_bytes(
        "Por favor, mira la 2.\r\n# attend-once\r\n\xa1!".encode()
    )
    assert asked(notebook) == {"": "Por favor, mira la 2.", "attend-once": "¡!"}
    place_of(notebook, "ps2").write_bytes(b"\xff\xfe odd")
    assert asked(notebook) == {"": "�� odd"}


def test_a_request_that_is_a_link_or_too_long_is_ignored(hand_in, tmp_path):
    notebook = hand_in("ana")
    (tmp_path / "secret").write_text("secret")
    place_of(notebook, "ps2").symlink_to(tmp_path / "secret")
    assert asked(notebook) == {}
    place_of(notebook, "ps2").unlink()
    place_of(notebook, "ps2").write_text("x" * 30_000)
    assert asked(notebook) == {}


@walls
def test_from_the_request_to_the_answer(course, hand_in, capsys, tmp_path):
    """The request is collected beside the notebook, which keeps its content and its time."""
    notebook = hand_in("ana", NONSENSE)
    hand_in("bob")
    assert main(["grade", str(course.folder), "ps2", "--jobs", "1"]) == 0
    page = course.path("es", "feedback", "ana", "ps2", ".html")
    shown = page.read_text(encoding="utf-8")
    assert "ps2_regrade.md" in shown and form("ps2", PS2.grade_ids, "es").strip() in shown

    box = tmp_path / "box" / "ana"
    box.mkdir(parents=True)
    again = json.loads(notebook.read_text(encoding="utf-8"))
    again["cells"][2]["execution_count"] = 7  # executed again, and saved
    (box / "ps2.ipynb").write_text(json.dumps(again), encoding="utf-8")
    ask(box / "ps2.ipynb", attend_once=EVIL)
    stamp = (notebook.parent / "timestamp.txt").read_text()
    assert main(["collect", str(course.folder), "ps2", "--from", str(tmp_path / "box")]) == 0
    assert (notebook.parent / "timestamp.txt").read_text() == stamp
    said = capsys.readouterr().out
    assert f"ana asks to have a mark looked at again: {box}/ps2_regrade.md.\n" in said
    assert said.endswith("1 in the course: 0 new, 0 replaced, 1 as before. 0 left out.\n")

    capsys.readouterr()
    assert main(["requests", str(course.folder), "ps2"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("ana (es), attend-once: 0 / 20 [open]\n  | 0 / 20. Not yet: it fails")
    assert "<script>alert(1)</script> �[2Jmine is right �" in said
    assert said.endswith("Requests: 1. Open: 1.\n")

    assert main(["grade", str(course.folder), "ps2"]) == 0
    shown = page.read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown and "<script" not in shown
    assert "Todavía no tiene respuesta." in shown

    sentence = "La entrada *vacía* <b>cuenta</b>."
    command = ["answer", str(course.folder), "ps2", "ana", "attend-once", "accepted", sentence]
    assert main([*command, "--points", "15"]) == 0
    assert main(["grade", str(course.folder), "ps2"]) == 0
    assert "2 graded (2 of them before)" in capsys.readouterr().out
    shown = page.read_text(encoding="utf-8")
    assert "Petición aceptada. La entrada <em>vacía</em> &lt;b&gt;cuenta&lt;/b&gt;." in shown
    assert re.search(r'class="points wrong">15 / 20', shown)
    assert main(["requests", str(course.folder), "ps2"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"ana (es), attend-once: 15 / 20 [accepted: {sentence}]\n")
    assert said.endswith("Requests: 1. Open: 0.\n")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["ana", "attend", "accepted", "x"], "ps2 has no attend. It has softmax-with-temp"),
        (["bob", "attend-once", "accepted", "x"], "There is no submission of ps2 by bob."),
        (["ana", "attend-once", "accepted", "x", "--points", "5"], "The gradebook has no attend-"),
    ],
)
def test_an_answer_without_a_request_gives_an_error_of_one_line(
    course, hand_in, capsys, arguments, wanted
):
    hand_in("ana")
    assert main(["answer", str(course.folder), "ps2", *arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith(wanted) and error.count("\n") == 1
    assert not (course.folder / "regrades.csv").exists()


@walls
def test_too_many_points_or_an_invalid_decision_are_refused(course, hand_in, capsys):
    hand_in("ana")
    list(Batch(course, "ps2").work())
    command = ["answer", str(course.folder), "ps2", "ana", "attend-once", "accepted", "x"]
    assert main([*command, "--points", "21"]) == 1
    assert capsys.readouterr().err == "attend-once gives 0 to 20 points, got 21.\n"
    (course.folder / "regrades.csv").write_text("set,student,task,decision\nps2,ana,x,perhaps\n")
    for command in ("requests", "grade"):
        assert main([command, str(course.folder), "ps2"]) == 1
        error = capsys.readouterr().err
        assert error.endswith("line 2: expected accepted or declined, got 'perhaps'.\n")
        assert error.count("\n") == 1


@walls
def test_a_submission_without_time_or_secret_stops_no_other_feedback(course, hand_in):
    """nbgrader's release_feedback would stop at the first submission without time or secret."""
    hand_in("ana", when=None)
    path = hand_in("bob")
    (path.parent / "submission_secret.txt").write_text("s3cret")
    list(Batch(course, "ps2").work())
    (course.folder / "exchange").mkdir()
    result = NbGraderAPI(config=course.config("es")).release_feedback("ps2")
    assert result["success"], result
    released = list((course.folder / "exchange" / "attn-es" / "feedback").glob("*.html"))
    assert len(released) == 2


@walls
def test_slip_days_are_shown_on_the_page_in_the_table_and_by_the_command(course, hand_in, capfd):
    hand_in("ana", when="2026-03-07 12:00:00")
    for language in ("es", "en"):
        settings = course.folder / language / "nbgrader_config.py"
        text = settings.read_text(encoding="utf-8")
        settings.write_text(text.replace('penalty_method = "none"', 'penalty_method = "zero"'))
    for command in (["due", "ps2", "2026-03-06 00:00 UTC"], ["slip-days", "3"]):
        assert main([command[0], str(course.folder), *command[1:]]) == 0
    (course.folder / "roster.csv").write_text("id,first_name,last_name\nana,Ana,Núñez\n")
    assert main(["grade", str(course.folder), "ps2", "--jobs", "1"]) == 0
    said = capfd.readouterr().out
    assert re.search(r"\nTime: \d+ s\. Longest: ana \d+\.\d s\.\n$", said)
    page = course.path("es", "feedback", "ana", "ps2", ".html").read_text(encoding="utf-8")
    assert "Entregado con 36 horas de retraso." in page
    assert "Días de gracia usados en esta entrega: 2. Días que te quedan: 1." in page
    assert "Ana Núñez" in page
    header, line = (
        (course.folder / "grading" / "ps2.csv").read_text(encoding="utf-8-sig").splitlines()
    )
    row = dict(zip(header.split(","), line.split(","), strict=True))
    assert (row["slip_days"], row["late_penalty"], row["total"]) == ("2", "0", "85")
    assert main(["grade", str(course.folder), "ps2"]) == 0
    assert re.search(r"\nTime: \d+ s\.\n$", capfd.readouterr().out)  # this command graded nothing
