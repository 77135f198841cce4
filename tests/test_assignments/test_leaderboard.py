"""The leaderboard of the projects: its numbers come from the sandbox, whatever is handed in."""

import csv
import os
import pickle
import shutil

import pytest

from assignments.leaderboard import inside
from assignments.leaderboard.__main__ import main
from assignments.leaderboard.score import score
from assignments.leaderboard.table import WHY, code, markdown, ordered, row, table
from assignments.problem_sets import PUBLIC
from attn.applications import models
from attn.applications.translation import Translator
from attn.applications.translation.facts import alignment_errors
from attn_course.grammar import splits

MODEL = models.folder("grammar_translator")
NUMBERS = {
    "exact": 0.5,
    "bleu": 60.0,
    "aer": None,
    "n_pairs": 40,
    "seen": 0.0,
    "memory": 10.0,
    "parameters": 7,
}


@pytest.fixture(scope="session")
def pairs():
    parts = splits(n_train=200)
    return parts.train, parts.test[:40]


def lines(pairs, links=False):
    def one(pair):
        third = "\t" + " ".join(f"{i}-{j}" for i, j in sorted(pair.sure)) if links else ""
        return f"{pair.source}\t{pair.target}{third}\n"

    return "".join(map(one, pairs))


@pytest.fixture
def folder(tmp_path, pairs):
    """The folder of a valid submission."""
    place = tmp_path / "handed"
    shutil.copytree(MODEL, place / "model")
    (place / "train.tsv").write_text(lines(pairs[0]), encoding="utf-8")
    (place / "test.tsv").write_text(lines(pairs[1], links=True), encoding="utf-8")
    return place


@pytest.mark.grader
@pytest.mark.usefixtures("sandbox")
def test_the_numbers_are_those_of_the_translator_run_directly(folder, pairs):
    numbers, why = score(folder)
    translator = Translator.pretrained("grammar")
    expected = translator.evaluate(pairs[1])
    read = inside.read(folder / "test.tsv")
    assert why is None
    assert numbers["exact"] == expected["exact_match"]
    assert numbers["bleu"] == pytest.approx(expected["bleu"])
    assert numbers["aer"] == pytest.approx(alignment_errors(translator, read)["average"])
    assert 0 < numbers["aer"] < 0.1 and numbers["seen"] == 0 and numbers["n_pairs"] == 40
    assert numbers["parameters"] == sum(p.numel() for p in translator.model.parameters())
    assert 0 < numbers["memory"] < 30


def pickled(folder):
    (folder / "model" / "model.safetensors").write_bytes(pickle.dumps({"weight": [1.0]}))


def cut(folder):
    path = folder / "model" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])


def giant(folder):
    with open(folder / "train.tsv", "wb") as file:
        file.truncate(10**9)


def linked(folder):
    (folder / "test.tsv").unlink()
    (folder / "test.tsv").symlink_to("/etc/passwd")


def linked_model(folder):
    shutil.rmtree(folder / "model")
    (folder / "model").symlink_to(MODEL)


def pipe(folder):
    (folder / "test.tsv").unlink()
    os.mkfifo(folder / "test.tsv")


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (giant, "large"),
        (linked, "files"),
        (linked_model, "files"),
        (pipe, "files"),
        (lambda folder: shutil.rmtree(folder / "model"), "files"),
    ],
)
def test_links_special_files_and_large_files_are_refused(folder, damage, why):
    damage(folder)
    assert score(folder) == (None, why)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (pickled, "model"),
        (cut, "model"),
        (lambda folder: (folder / "test.tsv").write_text("one\tuno\n"), "pairs"),
        (lambda folder: (folder / "test.tsv").write_text("no tab\n"), "lines"),
        (lambda folder: (folder / "test.tsv").write_text("a\tb\t0-9\n"), "links"),
        (lambda folder: (folder / "test.tsv").write_text("a\tb\t-1-0\n"), "links"),
        (lambda folder: (folder / "test.tsv").write_bytes(b"\xff\xfe"), "files"),
    ],
)
def test_a_damaged_file_is_named(folder, damage, why):
    damage(folder)
    with pytest.raises(inside.Unfit, match=f"^{why}$"):
        inside.score(folder)
    assert why in WHY


def test_training_on_the_test_sentences_is_detected(folder):
    shutil.copy(folder / "test.tsv", folder / "train.tsv")
    numbers = inside.score(folder)
    assert numbers["seen"] == 1 and numbers["memory"] == pytest.approx(100)


def test_the_order_is_as_documented_and_submissions_that_knew_the_test_come_last():
    scores = [
        ("known", NUMBERS | {"seen": 0.1, "bleu": 100.0, "memory": 0.0}),
        ("easy", NUMBERS | {"bleu": 95.0, "memory": 90.0}),
        ("hard", NUMBERS),
    ]
    assert [name for name, _ in ordered(scores)] == ["hard", "easy", "known"]


def test_no_text_of_a_student_breaks_the_table():
    text = markdown([("Ana_Núñez +1@x", NUMBERS)], [("tom", "pairs"), ("eve", "<b>|=1+1")])
    (line,) = [line for line in text.splitlines() if "Ana" in line]
    assert line.count("|") == len(row("", NUMBERS)) + 1 and "`Ana_Núñez +1@x`" in line
    assert "<b>" not in text and f"`eve` has no score: {WHY['stopped']}." in text
    (_, cells) = csv.reader(table([("Ana_Núñez +1@x", NUMBERS)]).splitlines())
    assert not any(cell.startswith(("=", "+", "@", "\t")) for cell in cells)


def test_without_the_project_or_a_submission_there_is_no_table(course, capsys):
    assert main([str(course.folder)]) == 1
    assert capsys.readouterr().err.startswith("There is no set 'project' in ")
    shutil.copytree(PUBLIC / "project", course.set_folder("project"))
    assert main([str(course.folder)]) == 1
    said = capsys.readouterr().err
    assert said == f"There are no submissions of project in {course.folder}.\n"
    assert not list(course.folder.glob("leaderboard.*"))


@pytest.mark.grader
@pytest.mark.usefixtures("sandbox")
def test_the_command_writes_one_line_a_student(folder, pristine, tmp_path, capsys):
    course = tmp_path / "course"
    shutil.copytree(pristine, course)
    shutil.copytree(PUBLIC / "project", course / "sets" / "project")
    for student in ("ana", "tom", "=cmd|x"):
        shutil.copytree(folder, course / "es" / "submitted" / student / "project")
    pickled(course / "es" / "submitted" / "tom" / "project")
    assert main([str(course)]) == 0
    said = capsys.readouterr().out
    secret = (course / "secret").read_bytes()
    written = (course / "leaderboard.md").read_text(encoding="utf-8")
    assert "no student is called that" in said and "cmd" not in written
    assert f"`{code(secret, 'ana')}`" in written and "ana" not in written
    assert f"`{code(secret, 'tom')}` has no score: {WHY['model']}." in written
    assert len((course / "leaderboard.csv").read_text(encoding="utf-8").splitlines()) == 2
