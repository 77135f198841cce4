"""Due dates, extensions and slip days: set before or after grading, in plain files."""

from datetime import timedelta

import pytest

from assignments.demo_class import LATENESS
from assignments.release import release
from grader.__main__ import main
from grader.course import Course, CourseError
from grader.gradebook import open_gradebook, record, settle
from grader.lateness import Lateness

DUE = "2026-03-06 00:00 UTC"
# The submission is a day and a half late.
LATE = "2026-03-07 12:00:00.000000 UTC"
MARKS = {"attend-once": 20.0}


@pytest.fixture
def late(course):
    """A course where each started day of lateness costs a tenth, and ana's ps2 is late."""
    for language in ("es", "en"):
        settings = course.folder / language / "nbgrader_config.py"
        settings.write_text(settings.read_text(encoding="utf-8") + LATENESS, encoding="utf-8")
    run(course, "due", "ps2", DUE)
    hand_in(course)
    return course


def hand_in(course, student="ana", name="ps2", when=LATE, marks=MARKS):
    record(course.config("es"), student, name, marks, set(), when)


def run(course, command, *arguments):
    assert main([command, str(course.folder), *arguments]) == 0


def said(course, student="ana", name="ps2"):
    """Return the hours late, the penalty, and the slip days used and left."""
    marks = settle(course.config("es"), student, name, Lateness.of(course))
    return tuple(marks[key] for key in ("hours_late", "penalty", "slip_days", "slip_days_left"))


def roster(course, *rows):
    text = "\n".join(["id,group", *rows, ""])
    (course.folder / "roster.csv").write_text(text, encoding="utf-8")


def test_a_due_date_can_be_set_from_the_command_line(course, capsys):
    run(course, "due", "ps2", "2026-03-06 23:00 UTC")
    assert (
        capsys.readouterr().out
        == "ps2 is due 2026-03-06 23:00 UTC (2026-03-06 23:00 UTC on this machine).\n"
    )
    with open_gradebook(course.config("en")) as book:
        assert book.find_assignment("ps2").duedate.isoformat() == "2026-03-06T23:00:00"
    run(course, "due", "ps2", "none")
    assert main(["due", str(course.folder), "ps2", "soon"]) == 1
    assert capsys.readouterr().err == (
        "Expected a time such as 2026-03-06 23:00 UTC, or none, got 'soon': it begins with no date of "
        "four figures for the year.\n"
    )
    with open_gradebook(course.config("en")) as book:
        assert book.find_assignment("ps2").duedate is None


def test_an_extension_counts_before_or_after_grading(late, capsys):
    # Bob has not handed in yet.
    run(late, "extend", "ps2", "bob", "--days", "2")
    assert "ps2, bob: 2 more days. The next `make grade` counts it." in capsys.readouterr().out
    hand_in(late, "bob")
    assert said(late, "bob") == (0, 0, 0, 0)
    assert said(late) == (36, 4, 0, 0)
    run(late, "extend", "ps2", "ana", "--days", "1")
    assert said(late) == (12, 2, 0, 0)
    early = ["extend", str(late.folder), "ps2", "ana", "--until", "2026-03-05"]
    assert main(early) == 1 and "is before that." in capsys.readouterr().err
    run(late, "extend", "ps2", "ana", "--until", "2026-03-07 11:00 UTC")
    assert said(late) == (1, 2, 0, 0)
    rows = (late.folder / "extensions.csv").read_text(encoding="utf-8-sig").splitlines()
    assert rows == [
        "set,student,group,days,until,note",
        "ps2,bob,,2,,",
        "ps2,ana,,,2026-03-07 11:00:00 UTC,",
    ]


def test_an_extension_for_a_group_and_a_longer_one_for_a_student(late):
    roster(late, "ana,monday", "bob,monday", "eve,friday")
    run(late, "extend", "ps2", "--group", "monday", "--days", "2")
    run(late, "extend", "ps2", "bob", "--days", "0")
    with open(late.folder / "extensions.csv", "a") as rows:
        rows.write("ps1,eve,,9,,another set\n")
    for student, hours in (("ana", 0), ("bob", 36), ("eve", 36)):
        hand_in(late, student)
        assert said(late, student)[0] == hours


def test_the_gradebooks_own_extension_stays_unless_the_course_grants_another(late):
    with open_gradebook(late.config("es")) as book:
        book.grant_extension("ps2", "ana", days=1)
    assert said(late)[0] == 12
    run(late, "extend", "ps2", "ana", "--days", "2")
    assert said(late)[0] == 0
    (late.folder / "extensions.csv").unlink()
    assert said(late)[0] == 12
    with open_gradebook(late.config("es")) as book:
        assert book.find_submission("ps2", "ana").extension == timedelta(days=1)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["extend", "ps9", "ana", "--days", "1"], "There is no set 'ps9'"),
        (["extend", "ps2", "eva", "--days", "1"], "is called 'eva'"),
        (["extend", "ps2", "--group", "b", "--days", "1"], "is in the group 'b'"),
        (["extend", "ps2", "ana", "--until", "soon"], "expected a time such as"),
        (["extend", "ps2", "ana", "--days", "-1"], "expected a number of days, got '-1'"),
        (["slip-days", "-1"], "Expected a number of slip days, got -1."),
    ],
)
def test_an_invalid_extension_gives_an_error_of_one_line(course, capsys, arguments, wanted):
    roster(course, "ana,a")
    command, *rest = arguments
    assert main([command, str(course.folder), *rest]) == 1
    error = capsys.readouterr().err
    assert wanted in error and error.count("\n") == 1
    assert not (course.folder / "extensions.csv").exists()


@pytest.mark.parametrize(
    ("file", "text", "wanted"),
    [
        ("extensions.csv", "set,student,days\nps2,ana,x\n", "line 2: expected a number of days"),
        ("extensions.csv", "set,student,days\nps2,,1\n", "line 2: expected a set, and a student"),
        ("extensions.csv", "set,student,days\nps2,ana,nan\n", "line 2: expected a number of days"),
        ("extensions.csv", "set;student;until\nps2;ana;soon\n", "line 2: expected a time such as"),
        ("course.toml", "slip_days = many", "course.toml cannot be read"),
        ("course.toml", "slip_days = -3", "expected a number of slip_days such as 3, got -3"),
    ],
)
def test_a_wrongly_edited_file_gives_an_error_of_one_line(course, file, text, wanted):
    (course.folder / file).write_text(text)
    with pytest.raises(CourseError, match=wanted) as caught:
        Lateness.of(course)
    assert "\n" not in str(caught.value)


def test_slip_days_are_used_before_a_penalty_and_only_where_they_reduce_it(late):
    run(late, "slip-days", "3")
    assert said(late) == (36, 0, 2, 1)
    run(late, "slip-days", "1")
    assert said(late) == (36, 2, 1, 0)
    run(late, "slip-days", "3")
    run(late, "extend", "ps2", "ana", "--days", "1")
    assert said(late) == (12, 0, 1, 2)
    hand_in(late, "on.time", when="2026-03-05 12:00:00.000000 UTC")
    assert said(late, "on.time") == (0, 0, 0, 3)
    hand_in(late, "nothing", marks={})
    assert said(late, "nothing") == (36, 0, 0, 3)


@pytest.mark.parametrize(
    ("policy", "days", "wanted"),
    [
        ("none", 3, (36, 0, 0, 3)),
        # An extension of one day does not help a submission that is two days late.
        ("zero", 1, (36, 20, 0, 1)),
        ("zero", 2, (36, 0, 2, 0)),
    ],
)
def test_slip_days_work_with_nbgraders_own_policies(course, policy, days, wanted):
    settings = course.folder / "es" / "nbgrader_config.py"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace('penalty_method = "none"', f'penalty_method = "{policy}"'))
    run(course, "due", "ps2", DUE)
    hand_in(course)
    run(course, "slip-days", str(days))
    assert said(course) == wanted


def test_slip_days_are_used_in_the_order_of_the_due_dates(late):
    release(late.folder, ["ps1"])
    run(late, "due", "ps1", "2026-03-01 00:00 UTC")
    run(late, "slip-days", "3")
    with open_gradebook(late.config("es")) as book:
        task = book.find_notebook("ps1", "ps1").grade_cells[0].name
    hand_in(late, name="ps1", when="2026-03-02 12:00:00.000000 UTC", marks={task: 5.0})
    assert said(late, name="ps1") == (36, 0, 2, 1)
    assert said(late) == (36, 2, 1, 0)


def test_without_a_due_date_there_is_no_lateness_or_penalty(course):
    assert not (course.folder / "course.toml").exists()
    hand_in(course)
    assert said(Course(course.folder)) == (0, 0, 0, 0)
