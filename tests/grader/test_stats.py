"""How many students made each mistake, counted from the results of the grader."""

import json

import pytest

from grader.__main__ import main
from grader.batch import Batch
from grader.course import CourseError
from grader.stats import stats, tally
from tests.test_assignments.proofs import Answers

answers = Answers("ps2")
CORRECT, WRONG, ONCE, MASK = answers.CORRECT, answers.WRONG, answers.ONCE, answers.MASK

NAMES = {ONCE: "attend-once", MASK: "causal-padding-mask"}


def slip(exercise, name):
    """Return a submission with one wrong answer of the catalogue."""
    (source,) = [text for slip, _, text in WRONG[exercise] if slip == name]
    return {f"{NAMES[exercise]}-answer": source}


@pytest.fixture
def batch(course, hand_in):
    """A graded class of seven; the id of each student says what they handed in."""
    hand_in("right", {"attend-once-answer": CORRECT[ONCE]["einsum"]})
    hand_in("unscaled-1", slip(ONCE, "no scale"))
    hand_in("unscaled-2", slip(ONCE, "no scale") | slip(MASK, "writes into ids"), language="en")
    hand_in("future", slip(MASK, "counted"))
    hand_in("raises", {"attend-once-answer": "def attend_once(*inputs):\n    return 1 / 0"})
    hand_in("odd", {"attend-once-answer": slip(ONCE, "a slip of its own")["attend-once-answer"]})
    hand_in("empty", step="release")
    hand_in("unreadable").write_text("{")
    batch = Batch(course, "ps2", unsafe=True)
    for _ in batch.work():
        pass
    return batch


def test_every_student_counts_once_in_every_task(batch):
    n_graded, by_task = tally(batch)
    assert n_graded == 7
    assert all(sum(counts.values()) == 7 for counts in by_task.values())
    assert by_task["attend-once"] == {
        "right": 2,
        "unscaled": 2,
        "raises ZeroDivisionError": 1,
        "not recognised": 1,
        "unanswered": 1,
    }
    assert by_task["causal-padding-mask"] == {
        "right": 4,
        "modified": 1,
        "padding_at_the_end": 1,
        "unanswered": 1,
    }
    assert by_task["softmax-with-temperature"] == {"right": 6, "unanswered": 1}


@pytest.mark.parametrize(
    ("language", "hint"),
    [
        ("en", "The scores reach the softmax unscaled."),
        ("es", "Los puntajes llegan a la softmax sin escalar."),
    ],
)
def test_the_table_begins_with_the_hardest_task_and_has_the_hints(batch, language, hint):
    heading, _, hardest, *rest = stats(batch.course, "ps2", language).splitlines()
    assert heading == "ps2: 7 graded"
    assert hardest == "attend-once: 2 right"
    assert rest[0].split(maxsplit=2) == ["2", "unscaled", hint]
    assert "   1  modified            writes into one of its arguments" in rest


def test_the_command_prints_the_table(batch, capsys):
    assert main(["stats", str(batch.course.folder), "ps2", "--language", "es"]) == 0
    assert capsys.readouterr().out == stats(batch.course, "ps2", "es") + "\n"


def test_before_grading_there_is_nothing_to_count(course, hand_in, capsys):
    hand_in("ana")
    with pytest.raises(CourseError, match="No submission of ps2 is graded yet: run `make grade`"):
        tally(Batch(course, "ps2"))
    assert main(["stats", str(course.folder), "ps2"]) == 1
    assert capsys.readouterr().err.startswith("No submission of ps2 is graded yet")


def test_a_submission_handed_in_again_is_not_counted_until_it_is_graded(batch, hand_in):
    (place,) = (batch.course.folder / "grading" / "ps2").glob("odd.json")
    assert json.loads(place.read_text())["graded"]
    hand_in("odd")
    assert tally(Batch(batch.course, "ps2"))[0] == 6
