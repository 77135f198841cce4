"""Grading a class: what is found, what is graded only once, and faults that stop no other."""

import csv
import errno
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import product

import psutil
import pytest
from sqlalchemy import text

from assignments.release import release
from grader import batch as module
from grader import checks, sandbox
from grader.__main__ import main
from grader.batch import Batch
from grader.class_run import ROOT, line
from grader.course import Course, CourseError
from grader.gradebook import open_gradebook
from grader.sandbox import Limits
from grader.submission import read
from grader.submitted import find
from tests.grader import probes

NONSENSE = {"attend-once-answer": "def attend_once(query, key, value, mask=None):\n    return 1"}
ENDLESS = {"attend-once-answer": "while True: pass"}


walls = pytest.mark.usefixtures("sandbox")


def graded(course):
    """Grade the waiting submissions in this process; return the points by student."""
    return {
        handed.student: result["marks"]["score"] for handed, result in Batch(course, "ps2").work()
    }


def state(course):
    """Return the marks and comments that the gradebook holds."""
    with open_gradebook(course.config("es")) as book:
        return {
            submission.student.id: (
                submission.score,
                submission.timestamp,
                [(g.name, g.auto_score, g.manual_score) for g in submission.notebooks[0].grades],
            )
            for submission in book.assignment_submissions("ps2")
        }


def test_submissions_of_both_editions_are_found(course, hand_in):
    ana = hand_in("ana", language="es", when="2026-03-01 10:00:00")
    bob = hand_in("bob.b@uni-x.edu", language="en", when=None)
    handed, skipped, remarks = find(course, "ps2")
    assert [(h.student, h.language, h.path, h.timestamp) for h in handed] == [
        ("ana", "es", ana, "2026-03-01 10:00:00.000000 UTC"),
        ("bob.b@uni-x.edu", "en", bob, None),
    ]
    assert skipped == remarks == []
    assert find(course, "other") == ([], [], [])


@pytest.mark.parametrize(("es", "en", "counts"), [(3, 4, "en"), (4, 3, "es"), (10, 9, "es")])
def test_the_later_of_two_editions_counts(course, hand_in, es, en, counts):
    hand_in("ana", language="es", when=f"2026-03-{es:02} 10:00:00")
    hand_in("ana", language="en", when=f"2026-03-{en:02} 10:00:00")
    handed, _, remarks = find(course, "ps2")
    assert [h.language for h in handed] == [counts]
    name = {"es": "Spanish", "en": "English"}[counts]
    assert remarks == [f"ana handed in both editions: the later, in {name}, counts."]


def test_without_a_timestamp_the_time_of_the_file_counts(course, hand_in):
    hand_in("ana", language="es", when="2026-03-02 00:00:00")
    path = hand_in("ana", language="en", when=None)
    for day, counts in (("2026-03-01", "es"), ("2026-03-03", "en")):
        seconds = time.mktime(time.strptime(f"{day} 12:00", "%Y-%m-%d %H:%M"))
        os.utime(path, (seconds, seconds))
        assert [h.language for h in find(course, "ps2")[0]] == [counts]


@pytest.mark.parametrize(
    "text",
    [
        "tomorrow",
        "9" * 2000,
        "",
        "2026-03-01 10:00:00 UTC\nx y z w",
        "1" * 29 + "h1",
        "6pm CET",
        None,
    ],
    ids=["word", "long", "empty", "more lines", "out of range", "zone", "folder"],
)
def test_an_invalid_timestamp_is_ignored_and_reported(course, hand_in, text):
    place = hand_in("ana").parent / "timestamp.txt"
    place.write_text(text or "")
    if text is None:
        folder_for(place)
    (handed,), _, remarks = find(course, "ps2")
    assert handed.timestamp is None
    (remark,) = remarks
    assert remark.startswith(f"ana: {place} holds no time; it is left out")


@pytest.mark.parametrize("zone", ["/proc/kmsg", ":/proc/kmsg", "../../../proc/kmsg"])
def test_a_time_zone_in_a_timestamp_opens_no_file(course, hand_in, monkeypatch, zone):
    """For root, reading /proc/kmsg would never end."""
    asked = []
    monkeypatch.setattr("dateutil.tz.gettz", asked.append)
    (hand_in("ana").parent / "timestamp.txt").write_text(f"2026-03-05 18:30 {zone}")
    (handed,), _, remarks = find(course, "ps2")
    assert (handed.timestamp, asked, len(remarks)) == (None, [], 1)


def no_time(place):
    place.unlink()


def folder_for(place):
    place.unlink()
    place.mkdir()


def dangling(place):
    place.unlink()
    place.symlink_to("nowhere")


def loop(place):
    place.unlink()
    place.symlink_to(place.name)


def pipe(place):
    place.unlink()
    os.mkfifo(place)


def holding(data):
    return lambda place: place.write_bytes(data)


def long_ago(place):
    place.unlink()
    os.utime(place.parent / "ps2.ipynb", (-(2.0**40), -(2.0**40)))


def the_last_second(place):
    place.write_bytes(b"9999-12-31 23:59:59 -14:00")


# Each file name maps to functions that replace the file.
ODD_FILES = {
    "timestamp.txt": [
        holding(b"1" * 29 + b"h1"),
        holding(b"9" * 500),
        holding(b"0001-01-01 00:00 +14"),
        the_last_second,
        holding(b"\x00" * 9),
        holding("2026-03-05 18:30 UTC".encode("utf-16")),
        holding(b"1e999999999"),
        holding(b""),
        no_time,
        folder_for,
        dangling,
        loop,
        pipe,
        long_ago,
    ],
    "submission_secret.txt": [holding(b"\xff"), folder_for, dangling, pipe],
    "ps2.ipynb": [
        holding(b""),
        holding(b"\x00" * 99),
        holding(b"\xff\xfe\x00"),
        holding(b'{"cells": [' + b"9" * 5000 + b"]}"),
        holding(b"[" * 10**6),
        holding(b'{"cells": [{"cell_type": "code", "source": "\\ud800", "metadata": 7}]}'),
        holding(b'{"cells": [{"cell_type": "code", "source": "a\\u0000", "outputs": {}}]}'),
        holding(b'{"cells": [{"cell_type": "raw", "source": ["a", 1]}]}'),
        holding(
            b'{"cells": [{"cell_type": "code", "source": "", "metadata": {"nbgrader": '
            b'{"grade_id": "attend-once-answer"}}, "outputs": [{"data": {"image/png": 1e999}, '
            b'"text": [[]]}]}]}'
        ),
        holding(b'{"cells": [{"cell_type": "markdown", "source": "' + b"$\\\\" * 9999 + b'"}]}'),
        no_time,
        folder_for,
        dangling,
        loop,
        pipe,
    ],
}


@walls
@pytest.mark.grader
def test_no_damaged_file_stops_the_grading_of_a_class(course, hand_in, capfd):
    """The command runs twice, since the second run grades nothing and reads every file again."""
    odd = [(name, change) for name, changes in ODD_FILES.items() for change in changes]
    for number, (name, change) in enumerate(odd):
        folder = hand_in(f"odd{number:02}", language="en" if number % 2 else "es").parent
        (folder / "submission_secret.txt").write_text("s3cret")
        change(folder / name)
    hand_in("zoe")
    arguments = [str(course.folder), "ps2"]
    for before in (0, len(odd) + 1):
        assert main(["grade", *arguments, "--jobs", "2"]) == 0
        said, error = capfd.readouterr()
        assert f"{len(odd) + 1} graded ({before} of them before)" in said
        assert "Traceback" not in said + error
        if not before:
            assert re.search(r"zoe +es +85 / 100", said)
    assert main(["stats", *arguments]) == 0
    counted = capfd.readouterr().out
    no_complaint = (no_time, long_ago)
    for number, (name, change) in enumerate(odd):
        start = f"odd{number:02}: {course.folder}"
        sentences = [text for text in said.splitlines() if text.startswith(start)]
        if name == "timestamp.txt" and change not in no_complaint:
            assert len(sentences) == 1 and sentences[0] in counted
            assert "timestamp.txt holds no time; it is left out" in sentences[0]
        else:
            assert sentences == []


@walls
def test_a_feedback_page_that_cannot_be_written_stops_no_other_page(
    course, hand_in, capfd, monkeypatch
):
    hand_in("ana")
    hand_in("bob")
    graded(course)
    right = module.rebuild

    def rebuild(released, submission, *rest):
        if submission is None:
            raise RuntimeError("a bug")
        return right(released, submission, *rest)

    monkeypatch.setattr(module, "rebuild", rebuild)
    real = module._read
    monkeypatch.setattr(module, "_read", lambda h: real(h) if h.student == "bob" else None)
    assert main(["grade", str(course.folder), "ps2"]) == 1
    said = capfd.readouterr().out
    assert "ana              es feedback not written: RuntimeError: a bug\n" in said
    assert "2 graded (2 of them before)" in said


def test_hostile_names_and_links_are_skipped_and_reported(course, hand_in, tmp_path):
    good = hand_in("ana")
    root = course.folder / "es" / "submitted"
    names = [
        "-rf",
        ".hidden",
        "a;b",
        "a\nb",
        "$(x)",
        "..%2f..",
        "x" * 101,
        # The file for this name would have a name that is too long.
        "試" * 80,
        "[a]",
        "a*",
        "=1+1",
        "b.",
    ]
    for name in names:
        shutil.copytree(root / "ana", root / name)
    (root / "linked").symlink_to(root / "ana")
    (root / "file").write_text("x")
    (root / "inner").mkdir()
    (root / "inner" / "ps2").symlink_to(root / "ana" / "ps2")
    (root / "plain").mkdir()
    (root / "plain" / "ps2").write_text("x")
    (root / "other_set").mkdir()
    handed, skipped, _ = find(course, "ps2")
    assert [h.path for h in handed] == [good]
    assert len(skipped) == len(names) + 4
    assert all("\n" not in sentence for sentence in skipped)
    assert f"Skipped {root}/a\\nb: no student is called that." in skipped
    assert f"Skipped {root}/linked: it is not a folder." in skipped
    assert f"Skipped {root}/inner/ps2: it is not a folder." in skipped


@pytest.mark.parametrize("name", ["josé_núñez", "a", "u1234", "Mary Ann", "x" * 100, "a+b@c.d-e"])
def test_ordinary_folder_names_are_taken_as_students(course, hand_in, name):
    hand_in(name)
    assert [h.student for h in find(course, "ps2")[0]] == [name]


@walls
def test_a_class_is_graded_and_graded_again_the_same(course, hand_in):
    hand_in("ana")
    hand_in("bob", NONSENSE, language="en")
    hand_in("eve", step="release")
    assert graded(course) == {"ana": 85, "bob": 65, "eve": 0}
    before = state(course)
    assert graded(course) == {}
    shutil.rmtree(course.folder / "grading")
    assert graded(course) == {"ana": 85, "bob": 65, "eve": 0}
    assert state(course) == before


@walls
def test_only_what_changed_is_graded_again(course, hand_in, monkeypatch):
    hand_in("ana", NONSENSE)
    hand_in("bob")
    graded(course)
    hand_in("ana")
    assert graded(course) == {"ana": 85}
    hand_in("ana", when="2026-03-05 18:31:00")
    assert graded(course) == {"ana": 85}
    hand_in("bob", language="en", when="2026-03-09 10:00:00")
    assert graded(course) == {"bob": 85}
    monkeypatch.setattr(module, "version", lambda folder, checks: "other code")
    assert graded(course) == {}
    assert len(Batch(course, "ps2").of_another_version()) == 2


def test_the_version_of_a_set_depends_on_the_checks_of_the_course(course):
    folder, own = course.set_folder("ps2"), course.problem_set("ps2").checks
    assert module.version(folder, own) != module.version(folder, checks)


@walls
def test_grading_again_lists_the_changed_marks_and_asks_before_writing(
    course, hand_in, capfd, monkeypatch
):
    """The stored result is of another version of the set or the grader, and has other points."""
    hand_in("ana")
    hand_in("bob")
    graded(course)
    results = course.folder / "grading" / "ps2"
    text = (results / "ana.json").read_text()
    older = json.loads(text)
    older["graded"]["marks"][1]["points"], older["version"] = 3.0, "older"
    (results / "ana.json").write_text(json.dumps(older))
    before = state(course)
    command = ["grade", str(course.folder), "ps2", "--jobs", "1"]
    assert main(command) == 0
    assert (
        "Submissions graded with another version of ps2 or of the grader: 1."
        in capfd.readouterr().out
    )
    # Without a terminal, the command cannot ask for confirmation.
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main([*command, "--again"]) == 0
    said = capfd.readouterr().out
    assert "ana              attend-once: 3 -> 20\nMarks that would change: 1. They stay;" in said
    assert state(course) == before
    assert json.loads((results / "ana.json").read_text())["version"] == "older"
    assert main([*command, "--again", "--yes"]) == 0
    assert "ana              attend-once: 3 -> 20\n" in capfd.readouterr().out
    assert json.loads((results / "ana.json").read_text())["graded"] == json.loads(text)["graded"]
    assert "bob" not in said.partition("attend-once: 3")[2].partition("Marks:")[0]
    assert not (results / "trial").exists()
    assert main([*command, "--again"]) == 0
    assert "would change" not in capfd.readouterr().out


@walls
def test_a_new_secret_invalidates_results_and_a_missing_one_is_refused(course, hand_in):
    hand_in("ana")
    graded(course)
    assert Batch(course, "ps2").waiting() == []
    secret = course.folder / "secret"
    secret.write_bytes(b"another")
    assert len(Batch(course, "ps2").waiting()) == 1
    secret.unlink()
    with pytest.raises(CourseError, match="There is no .*/secret: put back your copy, or run"):
        Batch(course, "ps2")


@walls
def test_feedback_files_are_written_where_nbgrader_expects_them(course, hand_in):
    path = hand_in("ana")
    (path.parent / "submission_secret.txt").write_text("s3cret")
    graded(course)
    for language in ("es", "en"):
        assert course.path(language, "autograded", "ana", "ps2").is_file()
    page = course.path("es", "feedback", "ana", "ps2", ".html")
    assert page.is_file()
    assert (page.parent / "timestamp.txt").read_text() == "2026-03-05 18:30:00.000000 UTC"
    assert (page.parent / "submission_secret.txt").read_text() == "s3cret"
    hand_in("ana", language="en", when="2026-03-06 10:00:00")
    graded(course)
    assert course.path("en", "feedback", "ana", "ps2", ".html").is_file()
    assert not page.exists()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b'{"cells": "\xf1"}', "not text"),
        (b'{"cells": 3}', "not a notebook"),
        (None, "missing"),
    ],
)
def test_an_unreadable_submission_gets_no_points_and_a_page_with_the_reason(
    course, hand_in, content, reason
):
    path = hand_in("ana")
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    batch = Batch(course, "ps2")
    ((handed, result),) = batch.work()
    assert (result["graded"]["reason"], result["marks"]["score"]) == (reason, 0)
    assert not result["marks"]["needs_manual_grade"]
    assert line(handed, result).endswith(f"es      0 / 100  unreadable: {reason}")
    assert batch.waiting() == []


HELPER = {
    "softmax-with-temperature-answer": "def softmax_with_temperature(scores, temperature):\n"
    "    powers = np.exp(scores / temperature[..., None])\n"
    "    return powers / powers.sum(axis=0, keepdims=True)"
}


@walls
def test_an_error_in_a_function_that_others_call_is_charged_once(course, hand_in):
    """The model answers of two later tasks call the first one, whose softmax has a wrong axis."""
    path = hand_in("ana", HELPER)
    ((_, result),) = Batch(course, "ps2").work()
    marks = {mark["grade_id"]: mark for mark in result["graded"]["marks"]}
    assert marks["softmax-with-temperature"]["points"] == 0
    assert result["marks"]["score"] == 85 - 15
    spared = {name for name, mark in marks.items() if mark["spared"]}
    assert {"attend-once", "packed-self-attention"} <= spared
    page = course.path("es", "feedback", "ana", "ps2", ".html").read_text(encoding="utf-8")
    assert page.count("para que cuente una sola vez") == len(spared)
    # An answer that is itself wrong stays wrong.
    text = path.read_text(encoding="utf-8")
    assert " / np.sqrt(query.shape[-1])" in text
    path.write_text(text.replace(" / np.sqrt(query.shape[-1])", ""), encoding="utf-8")
    ((_, result),) = Batch(course, "ps2").work()
    marks = {mark["grade_id"]: mark for mark in result["graded"]["marks"]}
    assert (marks["attend-once"]["points"], marks["attend-once"]["spared"]) == (0, False)


REPORT = "Las dos proyecciones son la misma, y por eso los puntajes crecen con d_k."


def moved(cells, report):
    """Put the report into a cell of the student's own; the answer cell stays as it was released."""
    cells.append({"cell_type": "markdown", "metadata": {}, "source": REPORT})


def doubled(cells, report):
    """Put a blank cell with the id of the report before the answered one."""
    cells.insert(cells.index(report), {**report, "source": ""})
    report["source"] = REPORT


def stripped(cells, report):
    """Remove the metadata of the report's cell."""
    report["source"], report["metadata"] = REPORT, {}


@walls
@pytest.mark.parametrize("edit", [moved, doubled, stripped, None])
def test_a_report_that_cannot_be_matched_waits_for_a_person(course, hand_in, edit):
    path = hand_in("ana", step="release")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = notebook["cells"]
    is_report = lambda cell: (
        cell["metadata"].get("nbgrader", {}).get("grade_id") == "same-projection"
    )
    if edit:
        edit(cells, next(filter(is_report, cells)))
    path.write_text(json.dumps(notebook), encoding="utf-8")
    ((_, result),) = Batch(course, "ps2").work()
    assert result["marks"]["needs_manual_grade"] is bool(edit)


@walls
def test_an_error_of_the_grader_stops_no_other_submission_and_is_retried(
    course, hand_in, monkeypatch
):
    hand_in("ana")
    hand_in("bob")
    right = module.grade

    def grade(path, *args, **kwargs):
        if "ana" in path.parts:
            raise RuntimeError("a bug")
        return right(path, *args, **kwargs)

    monkeypatch.setattr(module, "grade", grade)
    batch = Batch(course, "ps2")
    results = {handed.student: (handed, result) for handed, result in batch.work()}
    assert line(*results["ana"]) == "ana              es  not graded: RuntimeError: a bug"
    assert results["bob"][1]["marks"]["score"] == 85
    assert batch.waiting() == []
    assert batch.deaths() == 0
    monkeypatch.setattr(module, "grade", right)
    batch.retry()
    assert [handed.student for handed in batch.waiting()] == ["ana"]
    assert graded(course) == {"ana": 85}


@walls
def test_a_submission_that_killed_two_workers_is_given_up(course, hand_in):
    hand_in("ana")
    lock = course.folder / "grading" / "ps2" / "ana.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("x")
    assert Batch(course, "ps2").deaths() == 1
    assert graded(course) == {"ana": 85}
    assert lock.read_text() == ""
    batch = Batch(course, "ps2")
    lock.with_suffix(".json").unlink()
    lock.write_text("xx")
    ((_, result),) = batch.work()
    assert result["failure"] == "the grader died of it"
    batch.retry()
    assert batch.deaths() == 0
    assert graded(course) == {"ana": 85}


@walls
def test_a_lost_gradebook_stops_the_worker_and_counts_against_no_submission(
    course, hand_in, monkeypatch
):
    hand_in("ana")

    def record(*args):
        raise CourseError("The gradebook cannot be reached: gone")

    monkeypatch.setattr(module, "record", record)
    batch = Batch(course, "ps2")
    with pytest.raises(CourseError, match="gone"):
        next(batch.work())
    assert batch.deaths() == 0
    assert len(batch.waiting()) == 1


@walls
def test_a_damaged_result_is_ignored(course, hand_in):
    hand_in("ana")
    graded(course)
    (course.folder / "grading" / "ps2" / "ana.json").write_text("{")
    assert graded(course) == {"ana": 85}


@walls
def test_the_line_of_a_student_has_marks_problems_and_broken_cells(course, hand_in):
    hand_in("ana", NONSENSE)
    batch = Batch(course, "ps2")
    ((handed, _),) = batch.work()
    result = batch.result(handed)
    result["graded"]["marks"][0] |= {"status": "stopped"}
    result["graded"]["marks"][2] |= {"status": "partial", "misconception": "future"}
    result["graded"]["marks"][3] |= {"status": "partial", "modified": "mask"}
    result["marks"]["penalty"] = 6.5
    said = line(replace(handed, student="a" * 20), result)
    assert said.startswith(f"{'a' * 20} es     65 / 100  late: -6.5, to mark by hand, ")
    assert "softmax-with-temperature: stopped" in said
    assert "causal-padding-mask: future" in said
    assert "packed-self-attention: mask" in said
    cells = read(handed.path).cells
    code = [number for number, cell in enumerate(cells) if cell.kind == "code"][:2]
    result["graded"]["broken_cells"] = dict(
        zip(map(str, code), ("SyntaxError", "NameError"), strict=True)
    )
    assert line(handed, result).endswith(", cells 1 and 2 broke: SyntaxError, NameError")


@walls
def test_one_student_can_be_graded_alone(course, hand_in, capfd):
    hand_in("ana")
    hand_in("bob")
    assert main(["grade", str(course.folder), "ps2", "--jobs", "1", "--student", "bob"]) == 0
    said = capfd.readouterr().out
    assert "[1/1] bob" in said and "1 graded (0 of them before)" in said
    assert [handed.student for handed in Batch(course, "ps2").waiting()] == ["ana"]
    assert main(["grade", str(course.folder), "ps2", "--student", "eva"]) == 1
    assert capfd.readouterr().err == "There is no submission of ps2 by eva.\n"


@walls
def test_the_command_grades_summarises_and_updates_pages_and_table(course, hand_in, capfd):
    hand_in("ana")
    hand_in("bob", NONSENSE)
    assert main(["grade", str(course.folder), "ps2", "--jobs", "1"]) == 0
    said = capfd.readouterr().out
    assert "[1/2] ana              es     85 / 100  to mark by hand\n" in said
    assert "2 graded (0 of them before), 0 unreadable, 0 not graded, 0 folders skipped.\n" in said
    assert "\033" not in said
    with open_gradebook(course.config("es")) as book:
        grade = book.find_grade("same-projection", "ps2", "ps2", "ana")
        grade.manual_score, grade.needs_manual_grade = 14, False
        book.find_comment("same-projection", "ps2", "ps2", "ana").manual_comment = "muy bien"
        book.db.commit()
    # The second run executes nothing; a person's comments reach the page and the table.
    assert main(["grade", str(course.folder), "ps2"]) == 0
    assert "2 graded (2 of them before)" in capfd.readouterr().out
    page = course.path("es", "feedback", "ana", "ps2", ".html").read_text()
    assert "<strong>99</strong>" in page
    assert "muy bien" in page
    rows = list(
        csv.DictReader(
            (course.folder / "grading" / "ps2.csv").open(newline="", encoding="utf-8-sig")
        )
    )
    assert [(r["student"], r["total"], r["needs_manual_grade"]) for r in rows] == [
        ("ana", "99", "no"),
        ("bob", "65", "yes"),
    ]
    assert (rows[1]["attend-once"], rows[0]["same-projection"]) == ("0", "14")
    assert rows[0]["submitted"] == "2026-03-05 18:30:00"


@walls
def test_a_skipped_folder_is_reported_and_the_status_says_so(course, hand_in, capfd):
    hand_in("ana")
    graded(course)
    (course.folder / "en" / "submitted" / "a;b").mkdir(parents=True)
    assert main(["grade", str(course.folder), "ps2"]) == 1
    assert "a;b: no student is called that.\n" in capfd.readouterr().out


@walls
def test_a_gradebook_without_the_marks_gets_them_without_grading_again(course, hand_in, capfd):
    hand_in("ana")
    graded(course)
    other = course.folder / "other.db"
    shutil.copy(course.folder / "gradebook.db", other)
    with open_gradebook(course.config("es")) as book:
        book.remove_submission("ps2", "ana")
    assert main(["grade", str(course.folder), "ps2"]) == 0
    assert "1 graded (1 of them before)" in capfd.readouterr().out
    assert state(course)["ana"][0] == 85


@walls
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grade", "COURSE", "ps9"], "There is no set 'ps9' in COURSE. There are: ps2; `make rel"),
        (["grade", "COURSE", "../es"], "There is no set '../es' in COURSE. There are: ps2; "),
        (["grade", "COURSE/..", "ps2"], "COURSE/.. is not a course: it has no es/nbgrader_"),
        (["grade", "COURSE", "ps2"], "There are no submissions of ps2 in COURSE/es/submitted or "),
        (["worker", "COURSE", "ps2"], "There are no submissions of ps2 in COURSE/es/submitted or "),
        (["csv", "COURSE", "ps2", "--db", "sqlite:////no/x.db"], "The gradebook cannot be reached"),
    ],
)
def test_wrong_arguments_give_an_error_of_one_line(course, capsys, monkeypatch, arguments, said):
    monkeypatch.setenv("ATTN_GRADEBOOK", "sqlite:///" + str(course.folder / "gradebook.db"))
    place = str(course.folder)
    assert main([argument.replace("COURSE", place) for argument in arguments]) == 1
    out, error = capsys.readouterr()
    assert error.startswith(said.replace("COURSE", place))
    assert (out, error.count("\n")) == ("", 1)
    assert not (course.folder / "grading").exists()


@walls
def test_an_unreachable_gradebook_is_refused_before_anything_is_written(
    course, hand_in, capsys, monkeypatch
):
    monkeypatch.setenv("ATTN_GRADEBOOK", "")
    hand_in("ana")
    assert main(["grade", str(course.folder), "ps2", "--db", "sqlite:////no/x.db"]) == 1
    assert capsys.readouterr().err.startswith("The gradebook cannot be reached: ")
    assert not (course.folder / "grading").exists()


@walls
def test_a_set_that_was_not_released_is_refused(course, hand_in, capsys):
    hand_in("ana")
    shutil.rmtree(course.folder / "en" / "release")
    assert main(["grade", str(course.folder), "ps2"]) == 1
    assert (
        "en/release/./ps2/ps2.ipynb: run `make release` first."
        in capsys.readouterr().err.replace("release/ps2", "release/./ps2")
    )


def test_without_a_sandbox_grading_is_refused_with_the_reason(course, hand_in, capsys, monkeypatch):
    hand_in("ana")

    def available():
        raise sandbox.NoSandbox("bubblewrap needs Linux, and this is plan9")

    monkeypatch.setattr(sandbox, "available", available)
    refused = {
        0: "Grade as another user.",
        1000: "Student code could read and delete your files; to run it all the same, add --unsafe.",
    }
    for command, (user, otherwise) in product(("grade", "worker"), refused.items()):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        assert main([command, str(course.folder), "ps2"]) == 1
        assert capsys.readouterr().err == (
            f"No sandbox: bubblewrap needs Linux, and this is plan9. {otherwise}\n"
        )
    assert main(["worker", str(course.folder), "ps2", "--unsafe"]) == 0
    assert capsys.readouterr().out.startswith("ana              es     85 / 100")


def test_root_may_not_grade_without_a_sandbox(course, hand_in, capsys, monkeypatch):
    hand_in("ana")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for command in ("grade", "worker"):
        assert main([command, str(course.folder), "ps2", "--unsafe"]) == 1
        assert capsys.readouterr() == (
            "",
            "As root, --unsafe would give student code the machine: it is refused.\n",
        )


def worker(course, **options):
    command = [sys.executable, "-m", "grader", "worker", str(course.folder), "ps2"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, **options)


@walls
@pytest.mark.grader
def test_workers_share_a_class_and_go_on_after_one_is_killed(
    hand_in, course, postgresql, monkeypatch
):
    monkeypatch.setenv("ATTN_GRADEBOOK", postgresql)
    release(course.folder, ["ps2"])
    course = Course(course.folder)
    students = [f"student{n}" for n in range(8)]
    for n, student in enumerate(students):
        hand_in(student, NONSENSE if n % 2 else (), language="es" if n % 3 else "en")
    hand_in("slow", ENDLESS)
    victim, *others = [worker(course) for _ in range(3)]
    # Kill the worker in the middle of a submission, together with the parent of its sandbox.
    locks = course.folder / "grading" / "ps2"
    holds = lambda: any(path.read_text() for path in locks.glob("*.lock"))
    while not holds():
        time.sleep(0.02)
    victim.send_signal(signal.SIGKILL)
    lines = [text for one in others for text in one.communicate(timeout=500)[0].splitlines()]
    victim.communicate()
    assert [one.returncode for one in others] == [0, 0]
    results = {path.stem: json.loads(path.read_text()) for path in locks.glob("*.json")}
    assert set(results) == {*students, "slow"}
    names = [text.split()[0] for text in lines]
    assert len(names) == len(set(names)), "a submission was graded twice"
    expected = {student: 65 if n % 2 else 85 for n, student in enumerate(students)} | {"slow": 65}
    assert {name: score for name, (score, *_) in state(course).items()} == expected
    assert Batch(course, "ps2").waiting() == []


@walls
@pytest.mark.grader
def test_a_worker_that_dies_is_replaced(course, hand_in, capfd, monkeypatch, tmp_path):
    """The second submission kills two workers that grade it; the rest is graded."""
    for student in ("ana", "bob", "eve"):
        hand_in(student)
    bomb = tmp_path / "bomb"
    bomb.mkdir()
    (bomb / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "if 'worker' in sys.orig_argv:\n"
        "    import grader.batch as b\n"
        "    right = b.grade\n"
        "    def grade(path, *a, **k):\n"
        "        if 'bob' in path.parts: os.kill(os.getpid(), signal.SIGKILL)\n"
        "        return right(path, *a, **k)\n"
        "    b.grade = grade\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{bomb}:{ROOT}")
    assert main(["grade", str(course.folder), "ps2", "--jobs", "2"]) == 1
    said = capfd.readouterr().out
    assert "bob              es  not graded: the grader died of it" in said
    assert "2 graded (0 of them before), 0 unreadable, 1 not graded" in said


@walls
@pytest.mark.grader
def test_workers_that_cannot_start_end_the_batch(course, hand_in, capfd, monkeypatch, tmp_path):
    hand_in("ana")
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif 'worker' in sys.orig_argv:\n    sys.exit('no')\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert main(["grade", str(course.folder), "ps2", "--jobs", "1"]) == 1
    assert "0 graded (0 of them before), 0 unreadable, 1 not graded" in capfd.readouterr().out


def test_a_slow_helper_costs_its_own_task_alone(tmp_path, sandbox):
    """The helper function ends in time, but a task that calls it several times does not."""
    slow = probes.RIGHT_SOFTMAX + (
        "\nimport time\nfast = softmax\ndef softmax(scores):\n    end = time.process_time() + 0.02\n"
        "    while time.process_time() < end: pass\n    return fast(scores)\n"
    )
    calls = probes.RIGHT_ATTENTION.replace(
        "weights = own_softmax(", "weights = [softmax(scores) for _ in range(9)] and own_softmax("
    )
    limits = Limits(step_cpu_s=1)
    without = probes.graded(tmp_path, slow, calls, limits=limits)
    assert (without.marks[0].status, without.marks[1].status) == ("passed", "stopped")
    models = {"t-softmax": probes.RIGHT_SOFTMAX}
    found = probes.graded(tmp_path, slow, calls, limits=limits, models=models)
    assert probes.points(found) == probes.FULL and found.marks[1].spared


def started(course, tmp_path, *command):
    """Start a command of the grader in a process of its own."""
    (tmp_path / "jobs").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "jobs")},
    )


def running(course):
    """Return the processes that work on a course."""
    found = psutil.process_iter(["cmdline"])
    return [one for one in found if str(course.folder) in " ".join(one.info["cmdline"] or ())]


@walls
@pytest.mark.grader
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_grading_leaves_no_process_and_can_continue(
    course, hand_in, tmp_path, number
):
    for n in range(5):
        hand_in(f"s{n}")
    grade = ["-m", "grader", "grade", str(course.folder), "ps2", "--jobs", "2"]
    with started(course, tmp_path, *grade) as process:
        assert "85 / 100" in process.stdout.readline()
        process.send_signal(number)
        said = process.stdout.read()
    assert "Traceback" not in said
    if number == signal.SIGTERM:
        assert said.endswith("Stopped. What was done stays; the same command goes on.\n")
        assert process.returncode == 130
    end = time.monotonic() + 30
    while running(course) and time.monotonic() < end:
        time.sleep(0.2)
    assert running(course) == [] and list((tmp_path / "jobs").iterdir()) == []
    assert main(grade[2:]) == 0
    assert [score for score, *_ in state(course).values()] == [85] * 5


@walls
def test_a_query_that_is_interrupted_says_no_more_than_that(course, hand_in, tmp_path):
    hand_in("ana")
    interrupting = (
        "import os, runpy; from sqlalchemy import Engine, event\n"
        "def read(raw): os.kill(os.getpid(), 15); return raw.decode()\n"
        "event.listen(Engine, 'connect', lambda raw, _: setattr(raw, 'text_factory', read))\n"
        "runpy.run_module('grader', run_name='__main__', alter_sys=True)"
    )
    with started(course, tmp_path, "-c", interrupting, "grade", str(course.folder), "ps2") as run:
        assert run.stdout.read() == "Stopped. What was done stays; the same command goes on.\n"
    assert run.returncode == 130


@walls
def test_a_second_grading_names_the_first_process_and_waits_for_it(course, hand_in, tmp_path):
    hand_in("ana")
    holding = (
        "import sys; from grader.course import Course\n"
        "with Course(sys.argv[1]).turn('ps2', 'grade'): print('held', flush=True); input()"
    )
    grade = ["-m", "grader", "grade", str(course.folder), "ps2", "--jobs", "1"]
    with started(course, tmp_path, "-c", holding, str(course.folder)) as first:
        assert first.stdout.readline() == "held\n"
        with started(course, tmp_path, *grade) as second:
            said = second.stdout.readline()
            assert f"process {first.pid}, is at it too (grade ps2): this one waits." in said
            assert not (course.folder / "grading" / "ps2" / "ana.json").exists()
            first.communicate("\n")
            assert "1 graded (0 of them before)" in second.communicate()[0]


def test_a_full_disk_gives_an_error_of_one_line(course, hand_in, capsys, monkeypatch):
    def full(path, columns, rows):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr("grader.export.write_table", full)
    assert main(["csv", str(course.folder), "ps2"]) == 1
    assert capsys.readouterr().err == (
        f"{course.folder}/grading/ps2.csv: No space left on device. What was done stays; put that "
        "right, and run the command again.\n"
    )
    # nbgrader would report a full disk in hundreds of lines.
    config = course.config("es")
    full = "cannot be written: .*database or disk is full"
    with pytest.raises(CourseError, match=full), open_gradebook(config) as book:
        book.db.execute(text("PRAGMA max_page_count = 1"))
        for n in range(2000):
            book.add_student(f"s{n:0200}")
