"""`make release`: two ordinary nbgrader courses, without solutions, that share a gradebook."""

import ast
import contextlib
import json
import stat

import nbformat
import numpy as np
import pytest
from nbgrader.apps import NbGraderAPI

import grader.release as module
import notebooks.build
from assignments.problem_sets import PUBLIC, folders
from assignments.release import main, release
from attn_course.exercises import check
from attn_course.exercises.check import verdict
from attn_course.exercises.record import record_of
from grader.course import Course, CourseError
from grader.gradebook import open_gradebook
from tests.test_assignments.proofs import Answers, function

answers = Answers("ps2")


def cells(course, language, step):
    return nbformat.read(course.path(language, step, ".", "ps2"), as_version=4).cells


def grade_ids(course, language, step="release"):
    mine = [cell.metadata.get("nbgrader", {}) for cell in cells(course, language, step)]
    return [(c["grade_id"], c["grade"], c.get("points")) for c in mine if "grade_id" in c]


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_student_version_has_no_solutions_outputs_or_rubric(course, language):
    solutions = [
        line
        for cell in cells(course, language, "source")
        for block in cell.source.split("### BEGIN SOLUTION")[1:]
        for line in block.split("### END SOLUTION")[0].splitlines()
        if len(line) > 25
    ]
    assert len(solutions) > 20
    released = course.path(language, "release", ".", "ps2").read_text(encoding="utf-8")
    faulty = next(
        cell.source
        for cell in cells(course, language, "release")
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "faulty-self-attention"
    )
    assert "SOLUTION" not in released
    # The fifth task prints code that the students are to correct, so they may see it.
    assert [line for line in solutions if line in released and line not in faulty] == []
    assert all(not cell.get("outputs") for cell in cells(course, language, "release"))


@pytest.mark.parametrize("language", ["es", "en"])
def test_students_get_a_notebook_and_expected_values_but_no_solutions(course, language):
    folder = course.path(language, "release", ".", "ps2").parent
    assert sorted(path.name for path in folder.iterdir()) == ["ps2.ipynb", "ps2_check.npz"]
    code = set()
    for path in (PUBLIC / "ps2").glob("*.py"):
        statements = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        code |= {ast.unparse(node) for node in statements if isinstance(node, ast.stmt)}
    assert len(code) > 200
    with np.load(folder / "ps2_check.npz", allow_pickle=False) as archive:
        kinds = {name: archive[name].dtype.kind for name in archive}
        told = " ".join(str(archive[name]) for name, kind in kinds.items() if kind == "U")
        # The files hold arrays and hints, with no code and no name that the set itself does not show.
        assert set(kinds) == {f"{e}{end}" for e in answers.CORRECT for end in ("", ".data")}
        assert set(kinds.values()) == {"U", "u"}
        described = json.loads(str(archive["attend_once"]))
    assert set(described) == {"outputs", "cases", "expected", "mistakes"}
    assert {*map(frozenset, described["mistakes"])} == {frozenset({"id", "hint", "answers"})}
    assert [line for line in code if len(line) > 25 and line in told] == []


def test_check_gives_the_same_result_from_the_released_file_as_from_the_exercise(course):
    live = {task.exercise.id: record_of(task.exercise) for task in answers.set.tasks}
    with contextlib.chdir(course.path("es", "release", ".", "ps2").parent):
        for exercise, sources in answers.CORRECT.items():
            for source in sources.values():
                attempt = function(exercise, source)
                assert check(exercise, attempt) == verdict(live[exercise], attempt)
                assert check(exercise, attempt)
        for exercise, listed in answers.WRONG.items():
            for name, known, source in listed:
                attempt = function(exercise, source)
                result = check(exercise, attempt)
                assert result == verdict(live[exercise], attempt), f"{exercise}, {name}"
                assert (result.status, result.misconception) == ("failed", known)
        assert check("attend_once", ...).status == "unanswered"


def test_check_reports_a_missing_file(course):
    with pytest.raises(ValueError, match=r"'attend_once'\. .* `\.\.\._check\.npz`"):
        check("attend_once", len)


def test_check_names_a_damaged_file(course):
    file = course.path("en", "release", ".", "ps2").with_name("ps2_check.npz")
    file.write_bytes(file.read_bytes()[:1000])
    with (
        contextlib.chdir(file.parent),
        pytest.raises(ValueError, match=r"^ps2_check\.npz: expected .*, got a damaged file$"),
    ):
        check("attend_once", len)


@pytest.mark.parametrize(
    ("language", "code", "text"),
    [("es", "...  # tu código", "Escribe aquí"), ("en", "...  # your code", "Write your answer")],
)
def test_stubs_are_in_the_language_of_the_edition(course, language, code, text):
    sources = [cell.source for cell in cells(course, language, "release")]
    assert sum(code in source for source in sources) == 5
    assert any(text in source for source in sources)


def test_both_editions_have_the_same_graded_cells_and_points(course):
    assert grade_ids(course, "es") == grade_ids(course, "en")
    assert sum(points or 0 for _, grade, points in grade_ids(course, "es") if grade) == 100


def test_both_editions_share_one_gradebook_of_one_set(course):
    urls = {course.config(lang).CourseDirectory.db_url for lang in ("es", "en")}
    assert urls == {f"sqlite:///{course.folder}/gradebook.db"}
    with open_gradebook(course.config("en")) as book:
        assert [assignment.name for assignment in book.assignments] == ["ps2"]
        assert book.find_assignment("ps2").max_score == 100


def test_the_environment_can_name_the_database(course, monkeypatch):
    monkeypatch.setenv("ATTN_GRADEBOOK", "sqlite:////elsewhere.db")
    assert course.config("es").CourseDirectory.db_url == "sqlite:////elsewhere.db"


def test_only_the_instructor_can_read_the_secret(course):
    secret = course.folder / "secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert len(course.secret) == 32
    assert secret.read_bytes() == course.secret


def test_other_accounts_cannot_read_a_new_course(tmp_path):
    release(tmp_path / "a" / "new", ["ps2"])
    assert stat.S_IMODE((tmp_path / "a" / "new").stat().st_mode) == 0o700


def test_releasing_again_changes_nothing_and_keeps_what_the_instructor_wrote(course):
    settings = course.folder / "es" / "nbgrader_config.py"
    settings.write_text(settings.read_text() + "\n# mine\n")
    notebook = course.path("es", "release", ".", "ps2")
    kept = [settings, course.folder / "secret", notebook, notebook.with_name("ps2_check.npz")]
    before = [path.read_bytes() for path in kept]
    written = release(course.folder, ["ps2"])
    assert [path.read_bytes() for path in kept] == before
    assert written == [course.path(lang, "release", ".", "ps2") for lang in ("es", "en")]


def test_nbgraders_own_autograde_refuses_and_changes_nothing(course, hand_in):
    hand_in("ana")
    api = NbGraderAPI(config=course.config("es"))
    result = api.autograde("ps2", "ana")
    assert not result["success"]
    assert "Grade with `make grade`" in result["error"]
    assert not course.path("es", "autograded", "ana", "ps2").exists()


def test_an_unknown_set_or_a_bad_gradebook_gives_an_error_of_one_line(
    tmp_path, capsys, monkeypatch
):
    names = list(folders())
    assert main([str(tmp_path / "a"), "ps99"]) == 1
    assert capsys.readouterr().out == f"There is no set 'ps99'. There are: {', '.join(names)}.\n"
    assert not (tmp_path / "a").exists()
    monkeypatch.setenv("ATTN_GRADEBOOK", "sqlite:////nowhere/at/all.db")
    assert main([str(tmp_path / "b"), "ps2"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("The gradebook cannot be reached: ")
    assert said.count("\n") == 1
    assert not (tmp_path / "b" / "es" / "source").exists()


def test_an_invalid_place_for_a_course_gives_an_error_of_one_line(tmp_path, capsys):
    (tmp_path / "file").touch()
    for place, why in (("file", "File exists"), ("file/course", "Not a directory")):
        assert main([str(tmp_path / place), "ps2"]) == 1
        said = capsys.readouterr().out
        assert said == f"There can be no course in {tmp_path / place}: {why}.\n"


def test_a_tilde_that_the_shell_did_not_expand_is_expanded(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    release("~/course", ["ps2"])
    assert Course("~/course").folder == tmp_path / "course"


@pytest.mark.parametrize(
    "languages, message",
    [
        (["en"], "ps2: the graded cells of the two editions differ."),
        (["es", "en"], "ps2: expected 20 points for attend-once, .*, got 21 in"),
    ],
)
def test_points_that_differ_between_editions_or_from_the_graders_are_refused(
    languages, message, tmp_path, monkeypatch
):
    split = notebooks.build.split

    def with_other_points(master, language):
        edition = split(master, language)
        for cell in edition.cells:
            if language in languages and cell.metadata.get("nbgrader", {}).get("points") == 20:
                cell.metadata.nbgrader.points = 21
        return edition

    monkeypatch.setattr(notebooks.build, "split", with_other_points)
    with pytest.raises(CourseError, match=message):
        release(tmp_path / "c", ["ps2"])
    assert not (tmp_path / "c").exists()


def test_errors_of_nbgrader_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(
        module.NbGraderAPI,
        "generate_assignment",
        lambda self, name, force: {"success": False, "error": "because"},
    )
    with pytest.raises(CourseError, match=r"could not release .*es/source/ps2/ps2.ipynb:\nbecause"):
        release(tmp_path / "c", ["ps2"])


def test_a_folder_that_is_no_course_is_refused(tmp_path):
    with pytest.raises(CourseError, match="is not a course: .*`make release` makes one."):
        Course(tmp_path)
