"""The judge: points follow from the arrays alone, and no other reported data can raise them."""

from dataclasses import replace

import numpy as np
import pytest

from attn_course.exercises.compare import run
from grader.judge import DRAWS, MOST_VALUES, Mark, draw, exception_named, judge, request
from tests.grader.probes import ATTENTION, SOFTMAX, group

SECRET = b"7"
RECORD = draw(SOFTMAX, SECRET)
CASES = RECORD.cases


def reported(function, task=SOFTMAX, secret=SECRET):
    """Return what inside.py would send after running a function."""
    reports, arrays = [], {}
    for number, case in enumerate(draw(task, secret).cases):
        found = run(function, case, task.exercise)
        error = found.error and {"type": type(found.error).__name__, "message": str(found.error)}
        reports.append(
            {
                "n_values": None if found.values is None else len(found.values),
                "missing": found.missing,
                "modified": found.modified,
                "error": error,
            }
        )
        arrays |= {f"{number}/{i}": value for i, value in enumerate(found.values or ())}
    return reports, arrays


def marked(function, task=SOFTMAX, secret=SECRET):
    return judge(task, draw(task, secret), *reported(function, task, secret))


def plain_softmax(scores):
    powers = np.exp(scores)
    return powers / powers.sum(axis=-1, keepdims=True)


def softmax(scores):
    highest = np.maximum(scores.max(axis=-1, keepdims=True), -1e300)
    powers = np.exp(scores - highest)
    return powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-300)


@pytest.mark.parametrize("task", [SOFTMAX, ATTENTION], ids=lambda task: task.grade_id)
@pytest.mark.parametrize("secret", [b"a", b"b", b"c"])
def test_the_oracle_gets_full_marks(task, secret):
    mark = marked(task.exercise.oracle, task, secret)
    assert mark == Mark(
        task.grade_id, 5.0, 5.0, "passed", dict.fromkeys(("values", "large", "arguments"), True)
    )


def test_each_group_has_its_own_points():
    mark = marked(plain_softmax)
    assert (mark.points, mark.max_points, mark.status) == (4.0, 5.0, "partial")
    assert mark.groups == {"values": True, "large": False, "arguments": True}
    assert mark.misconception and mark.error is None and mark.modified is None


def test_a_wrong_first_group_gives_no_points_at_all():
    mark = marked(lambda scores: softmax(scores) if group({"x": scores}) == "large" else scores)
    assert (mark.points, mark.status) == (0.0, "wrong")
    assert mark.groups == dict.fromkeys(("values", "large", "arguments"), False)


def test_modifying_an_argument_costs_the_points_for_arguments():
    def in_place(scores):
        answer = softmax(scores)
        scores += 1
        return answer

    mark = marked(in_place)
    assert (mark.points, mark.status, mark.modified) == (4.0, "partial", "scores")
    assert mark.groups == {"values": True, "large": True, "arguments": False}
    free = replace(SOFTMAX, points={"values": 3, "large": 1})
    assert judge(free, RECORD, *reported(in_place)).points == 4.0


def test_the_exception_of_the_first_failing_input_is_named():
    mark = marked(lambda scores: 1 / 0)
    assert (mark.points, mark.status, mark.error) == (0.0, "wrong", "ZeroDivisionError")
    assert mark.misconception is None


def test_a_missing_function_is_unanswered():
    assert marked(...).status == "unanswered"
    assert marked(lambda scores: None).status == "unanswered"
    sometimes = marked(lambda scores: softmax(scores) if scores.ndim == 1 else None)
    assert sometimes.status == "wrong"


def test_a_run_that_was_stopped_earns_no_points():
    assert judge(SOFTMAX, RECORD, None, {}) == Mark("t-softmax", 0.0, 5.0, "stopped")


# --- Forged reports


def test_reports_without_the_right_arrays_earn_no_points():
    reports, arrays = reported(softmax)
    for forged in (
        {},
        {"0/0": np.zeros(1)},
        {name: np.full_like(a, np.nan) for name, a in arrays.items()},
        {name: a.reshape(-1) for name, a in arrays.items()},
        {name: np.float64(0) for name in arrays},
        {f"{name}x": a for name, a in arrays.items()},
    ):
        assert judge(SOFTMAX, RECORD, reports, forged).points == 0


def test_returning_the_inputs_earns_no_points():
    assert marked(lambda scores: scores).points == 0
    assert marked(lambda query, key, value, mask=None: (value, key), ATTENTION).points == 0


@pytest.mark.parametrize(
    "reports",
    [[], {}, "passed", 5, True, [[]], [None] * 50, [{}] * 8, [{"n_values": 1}] * 10**5],
)
def test_malformed_reports_earn_no_points(reports):
    mark = judge(SOFTMAX, RECORD, reports, {})
    assert (mark.points, mark.status) == (0.0, "wrong")


@pytest.mark.parametrize("n_values", [0, -1, 2, 9, 10**30, True, "1", 1.0, None, [1], {}])
def test_an_invalid_number_of_values_earns_no_points(n_values):
    reports, arrays = reported(softmax)
    forged = [report | {"n_values": n_values} for report in reports]
    assert judge(SOFTMAX, RECORD, forged, arrays).points == 0


def test_more_arrays_than_a_function_returns_are_not_looked_up():
    assert MOST_VALUES == 8
    many = {f"{case}/{i}": np.zeros(1) for case in range(20) for i in range(20)}
    for n_values in (8, 9):
        assert judge(SOFTMAX, RECORD, [{"n_values": n_values}] * 8, many).points == 0


@pytest.mark.parametrize(
    "forged",
    [
        {"points": 5, "status": "passed", "max_points": 1},
        {"groups": {"values": True}},
        {"missing": False, "misconception": None},
        {"error": {"type": "FloatingPointError", "message": ""}},
        {"error": {"type": "OverflowError", "message": "math range error"}},
        {"error": {"type": "SystemExit", "message": "0"}},
        {"error": {"type": "ExceptionGroup", "message": "a"}},
        {"error": {"type": "UnicodeDecodeError"}},
        {"error": {"type": "print", "message": "a"}},
        {"error": {"type": ["a"], "message": ["b"]}},
        {"error": "passed"},
        {"modified": "everything"},
        {"modified": ["scores"]},
        {"missing": "yes"},
    ],
    ids=repr,
)
def test_other_fields_of_a_report_change_no_marks(forged):
    for function, wanted in ((softmax, 5.0), (plain_softmax, 4.0), (lambda scores: scores, 0.0)):
        reports, arrays = reported(function)
        mark = judge(SOFTMAX, RECORD, [report | forged for report in reports], arrays)
        assert (mark.points, mark.max_points, mark.modified) == (wanted, 5.0, None)


def test_without_values_no_exception_earns_anything():
    for name in ("FloatingPointError", "OverflowError", "ValueError", "NameError", "Odd"):
        report = {"n_values": None, "error": {"type": name, "message": "ambiguous"}}
        mark = judge(SOFTMAX, RECORD, [report] * 8, {})
        assert mark.points == 0
        arithmetic = {"FloatingPointError": "ArithmeticError", "OverflowError": "ArithmeticError"}
        assert mark.error == (arithmetic | {"Odd": "Exception"}).get(name, name)


def test_marks_contain_only_names_of_exceptions_and_arguments():
    script = "<script>alert(1)</script>"
    report = {"n_values": None, "error": {"type": script, "message": script}, "modified": script}
    mark = judge(SOFTMAX, RECORD, [report | {"returned": script}] * 8, {})
    assert "script" not in repr(mark)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ValueError", ValueError),
        ("StopIteration", StopIteration),
        ("UnicodeError", Exception),
        ("UnicodeEncodeError", Exception),
        ("ExceptionGroup", Exception),
        ("BaseException", Exception),
        ("SystemExit", Exception),
        ("int", Exception),
        ("print", Exception),
        ("__name__", Exception),
        ("", Exception),
        (None, Exception),
        (["ValueError"], Exception),
    ],
)
def test_exceptions_are_named_from_a_closed_list(name, kind):
    assert exception_named(name) is kind
    kind("a message")


# --- Inputs


def test_inputs_depend_on_the_secret_of_the_course_and_on_the_task_alone():
    def drawn(task, secret):
        return b"".join(
            array.tobytes() for case in draw(task, secret).cases for array in case.values()
        )

    assert drawn(SOFTMAX, b"a") == drawn(SOFTMAX, b"a")
    other_task = replace(SOFTMAX, grade_id="another")
    draws = [drawn(task, secret) for task in (SOFTMAX, other_task) for secret in (b"a", b"b")]
    assert len({*draws}) == 4


def test_inputs_are_drawn_several_times_and_the_smallest_come_first():
    once = SOFTMAX.exercise.cases(0)
    assert DRAWS == 3 and len(CASES) == 3 * len(once)
    assert len({case["scores"].tobytes() for case in CASES}) == len(CASES)
    sizes = [case["scores"].size for case in CASES]
    assert sizes == sorted(3 * [case["scores"].size for case in once])


def test_a_request_to_the_sandbox_holds_inputs_and_no_answers():
    description, inputs = request(SOFTMAX, CASES)
    assert description == {"id": "t-softmax", "function": "softmax", "outputs": ["weights"]}
    assert inputs == {"t-softmax": CASES}
