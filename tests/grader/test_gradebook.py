"""Marks in nbgrader's gradebook: the grader writes them, and keeps what a person wrote."""

import pytest

from assignments.release import release
from grader.course import Course, CourseError
from grader.gradebook import (
    check_gradebook,
    is_recorded,
    open_gradebook,
    record,
    settle,
)

MARKS = {
    "softmax-with-temperature": 12.0,
    "attend-once": 20.0,
    "causal-padding-mask": 0.0,
    "packed-self-attention": 8.0,
    "mended-self-attention": 15.0,
}
ON_TIME = "2026-03-05 18:30:00.000000 UTC"
DUE = "2026-03-06 00:00:00 UTC"
LATE = "2026-03-07 12:00:00.000000 UTC"


@pytest.fixture
def config(course):
    return course.config("es")


def by_hand(config, score, comment=None):
    """Mark the report by hand, as formgrader does."""
    with open_gradebook(config) as book:
        grade = book.find_grade("same-projection", "ps2", "ps2", "ana")
        grade.manual_score = score
        grade.needs_manual_grade = False
        book.find_comment("same-projection", "ps2", "ps2", "ana").manual_comment = comment
        book.db.commit()


def said_by_nbgrader(config):
    """Return the cells on which nbgrader comments that there is no response."""
    with open_gradebook(config) as book:
        comments = book.find_submission_notebook("ps2", "ps2", "ana").comments
        return {c.name for c in comments if c.auto_comment == "No response."}


def with_penalty(course, config):
    config.LateSubmissionPlugin.penalty_method = "zero"
    with open_gradebook(config) as book:
        book.update_or_create_assignment("ps2", duedate=DUE)


def test_marks_of_the_grader_and_cells_that_wait_for_a_person(config):
    assert not is_recorded(config, "ana", "ps2")
    record(config, "ana", "ps2", MARKS, set(), ON_TIME)
    assert is_recorded(config, "ana", "ps2")
    said = settle(config, "ana", "ps2")
    assert (said["score"], said["max_score"], said["penalty"], said["total"]) == (55, 100, 0, 55)
    assert said["needs_manual_grade"]
    assert said["hours_late"] == 0
    assert said["student"] == "ana"
    assert said["comments"] == {}
    assert said["grades"]["softmax-with-temperature"] == {
        "score": 12.0,
        "max_score": 15.0,
        "is_manual": False,
        "is_pending": False,
    }
    assert said["grades"]["same-projection"] == {
        "score": 0.0,
        "max_score": 15.0,
        "is_manual": False,
        "is_pending": True,
    }
    with open_gradebook(config) as book:
        submission = book.find_submission("ps2", "ana")
        assert submission.timestamp.isoformat() == "2026-03-05T18:30:00"


def test_a_missing_answer_needs_no_manual_grading(config):
    record(config, "ana", "ps2", MARKS, {"same-projection", "attend-once-answer"}, None)
    said = settle(config, "ana", "ps2")
    assert not said["needs_manual_grade"]
    assert not said["grades"]["same-projection"]["is_pending"]
    assert said["comments"] == {}
    assert said_by_nbgrader(config) == {"same-projection", "attend-once-answer"}
    record(config, "ana", "ps2", MARKS, set(), None)
    assert said_by_nbgrader(config) == set()


def test_grading_again_keeps_manual_marks_and_comments_and_asks_to_review_them(config):
    record(config, "ana", "ps2", MARKS, set(), ON_TIME)
    by_hand(config, 11, "well argued")
    said = settle(config, "ana", "ps2")
    assert (said["score"], said["needs_manual_grade"]) == (66, False)
    assert said["comments"] == {"same-projection": "well argued"}
    record(config, "ana", "ps2", MARKS | {"causal-padding-mask": 15.0}, set(), ON_TIME)
    said = settle(config, "ana", "ps2")
    assert (said["score"], said["needs_manual_grade"]) == (81, True)
    assert said["grades"]["same-projection"]["is_manual"]
    assert said["comments"] == {"same-projection": "well argued"}


def test_an_overruled_mark_stays_and_waits_for_review(config):
    record(config, "ana", "ps2", MARKS, {"same-projection"}, ON_TIME)
    with open_gradebook(config) as book:
        book.find_grade("attend-once", "ps2", "ps2", "ana").manual_score = 5
        book.db.commit()
    record(config, "ana", "ps2", MARKS, {"same-projection"}, ON_TIME)
    said = settle(config, "ana", "ps2")
    assert (said["score"], said["needs_manual_grade"]) == (40, True)
    assert said["grades"]["attend-once"]["is_manual"]


def test_the_penalty_is_that_of_nbgraders_plugin(course, config):
    with_penalty(course, config)
    record(config, "ana", "ps2", MARKS, set(), LATE)
    said = settle(config, "ana", "ps2")
    assert (said["score"], said["penalty"], said["total"]) == (55, 55, 0)
    assert said["hours_late"] == 36
    # Marks by hand count, and the penalty follows them.
    by_hand(config, 10)
    said = settle(config, "ana", "ps2")
    assert (said["score"], said["penalty"], said["total"]) == (65, 65, 0)


def test_an_extension_is_honoured_and_can_come_later(course, config):
    with_penalty(course, config)
    record(config, "ana", "ps2", MARKS, set(), LATE)
    assert settle(config, "ana", "ps2")["total"] == 0
    with open_gradebook(config) as book:
        book.grant_extension("ps2", "ana", days=1)
    assert settle(config, "ana", "ps2")["hours_late"] == 12
    with open_gradebook(config) as book:
        book.grant_extension("ps2", "ana", days=2)
    said = settle(config, "ana", "ps2")
    assert (said["hours_late"], said["penalty"], said["total"]) == (0, 0, 55)


def test_without_a_due_date_nobody_is_late(config):
    config.LateSubmissionPlugin.penalty_method = "zero"
    record(config, "ana", "ps2", MARKS, set(), LATE)
    assert settle(config, "ana", "ps2")["penalty"] == 0


def test_a_later_submission_without_time_keeps_the_earlier_time(config):
    record(config, "ana", "ps2", MARKS, set(), ON_TIME)
    record(config, "ana", "ps2", MARKS, set(), None)
    with open_gradebook(config) as book:
        assert book.find_submission("ps2", "ana").timestamp.day == 5


def test_names_in_the_gradebook_are_kept_and_returned(config):
    with open_gradebook(config) as book:
        book.update_or_create_student("ana", first_name="Ana", last_name="Núñez")
    record(config, "ana", "ps2", MARKS, set(), ON_TIME)
    assert settle(config, "ana", "ps2")["student"] == "Ana Núñez"


def test_an_unknown_set_is_refused(config):
    for call in (check_gradebook, lambda *args: record(args[0], "ana", args[1], {}, set(), None)):
        with pytest.raises(CourseError, match="The gradebook knows no ps9: run `make release`"):
            call(config, "ps9")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:////nowhere/at/all.db", "unable to open database file"),
        ("mysql://attn@localhost/x", "asks for MySQLdb, which is not installed. For PostgreSQL"),
        ("postgresql+psycopg://attn@/x?host=/nowhere", "/nowhere"),
        ("no url", "Could not parse SQLAlchemy URL"),
    ],
)
def test_an_unreachable_gradebook_gives_an_error_of_one_line(config, url, said):
    config.CourseDirectory.db_url = url
    with pytest.raises(CourseError) as caught:
        check_gradebook(config, "ps2")
    assert str(caught.value).startswith("The gradebook cannot be reached: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_gradebook_works_on_postgresql(postgresql, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTN_GRADEBOOK", postgresql)
    release(tmp_path / "course", ["ps2"])
    config = Course(tmp_path / "course").config("en")
    assert config.CourseDirectory.db_url == postgresql
    with_penalty(None, config)
    record(config, "ana", "ps2", MARKS, {"attend-once-answer"}, LATE)
    by_hand(config, 4.5, "bien, sí")
    with open_gradebook(config) as book:
        book.grant_extension("ps2", "ana", days=9)
    record(config, "ana", "ps2", MARKS, {"attend-once-answer"}, LATE)
    said = settle(config, "ana", "ps2")
    assert (said["score"], said["penalty"], said["needs_manual_grade"]) == (59.5, 0, True)
    assert said["comments"] == {"same-projection": "bien, sí"}
    assert said_by_nbgrader(config) == {"attend-once-answer"}
    assert not (tmp_path / "course" / "gradebook.db").exists()
