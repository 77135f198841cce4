"""The checker: right solutions pass, however written, and wrong ones fail with their own hint."""

import dataclasses
import itertools
import re
import runpy
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import torch

import attn_course
from attn.reference import softmax
from attn_course.exercises import Result, check, exercises
from attn_course.exercises.catalogue import load
from tests import exercise_proofs
from tests.exercise_proofs import bare_text, say
from tests.wrong_attempts import softmax_textbook, softmax_without_maximum

ATTENTION = "scaled_dot_product_attention"
EXERCISES = {name: load(name) for ids in exercises().values() for name in ids}
ROOT = Path(__file__).parents[1]
SELF = "self_attention"
SOFTMAX = "softmax"


CORRECT = [
    solution
    for path in sorted((ROOT / "tests" / "solutions").glob("*.py"))
    for solution in runpy.run_path(str(path))["CORRECT"]
]


def test_each_exercise_of_a_chapter_has_three_correct_solutions():
    for exercise_id in EXERCISES:
        assert sum(name == exercise_id for name, _ in CORRECT) >= 3, exercise_id


@pytest.mark.parametrize("exercise_id", dict(CORRECT))
def test_correct_solutions_pass_however_written(exercise_id):
    for name, solution in CORRECT:
        if name == exercise_id:
            result = check(name, solution)
            assert result and result.status == "passed", f"{solution}: {result}"
            assert result.misconception is None


def test_a_right_answer_is_reported_in_the_language_in_use(language):
    number = len(EXERCISES[SOFTMAX].cases(0))
    assert check(SOFTMAX, softmax).message == say(
        language,
        f"Correcto. `softmax` coincide con la referencia en las {number} entradas.",
        f"Correct. `softmax` agrees with the reference on all {number} inputs.",
    )


# Each exercise.


@pytest.mark.parametrize(("proof", "exercise"), **exercise_proofs.of_each(EXERCISES.values()))
def test_every_exercise(proof, exercise):
    proof(exercise)


@pytest.mark.slow
@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_inputs_tell_every_mistake_from_the_oracle_whatever_the_seed(exercise):
    # Learners only meet seed 0; the other seeds show that the inputs do not depend on luck.
    exercise_proofs.inputs_tell_every_mistake_from_the_oracle(exercise, seeds=range(1, 3))


def test_some_exercises_return_truth_values_and_integers():
    kinds = {
        value.dtype.kind
        for exercise in EXERCISES.values()
        for value in exercise_proofs.answered(exercise).expected[0].values
    }
    assert {"b", "i", "f"} <= kinds


# The cases.


def test_the_attention_cases_cover_masks_batches_and_lengths():
    cases = EXERCISES[ATTENTION].cases(0)
    masks = [case["mask"] for case in cases if "mask" in case]
    assert len(masks) < len(cases)
    assert any(not mask.any(axis=-1).all() for mask in masks)
    assert {case["query"].ndim for case in cases} == {2, 3, 4}
    assert any(case["query"].shape[-2] != case["key"].shape[-2] for case in cases)
    assert any(case["query"].shape[-2] == case["key"].shape[-2] for case in cases)
    assert any(case["query"].shape[-1] != case["value"].shape[-1] for case in cases)
    assert any(mask.shape[-2] == 1 for mask in masks)
    assert max(np.abs(case["query"] @ case["key"].mT).max() for case in cases) > 1000
    assert all(mask.dtype == bool for mask in masks)


# The interface.


def test_exercises_are_listed_by_chapter_and_those_of_problem_sets_are_not():
    listed = exercises()
    assert list(listed) == [*sorted(c for c in listed if c != "A1"), "A1"]
    assert all(len(ids) >= 3 for ids in listed.values())
    assert listed[3] == (SOFTMAX, ATTENTION, SELF)
    assert listed["A1"] == ("most_attended", "written", "epoch_loss")
    assert "attend_once" not in {e for ids in listed.values() for e in ids}


@pytest.mark.parametrize(
    "arguments, got",
    [
        (("Softmax", softmax), "'Softmax'"),
        ((softmax, "softmax"), "function"),
        ((np.ones(3), softmax), "ndarray"),
        ((["softmax"], softmax), "list"),
    ],
)
def test_the_error_for_an_unknown_exercise_lists_the_known_ones(arguments, got, language):
    ids = ", ".join(map(repr, EXERCISES))
    message = say(
        language,
        f"exercise_id: se esperaba uno de {ids}, y después tu función; llegó {got}. Los ejercicios "
        "calificados necesitan el archivo `..._check.npz` que vino con su cuaderno, en la misma "
        "carpeta",
        f"exercise_id: expected one of {ids}, and then your function; got {got}. Graded exercises "
        "need the file `..._check.npz` that came with their notebook, in the same folder",
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check(*arguments)


def test_the_result_is_frozen_and_nothing_is_printed(capsys):
    result = check(SOFTMAX, softmax)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.status = "failed"
    assert capsys.readouterr() == ("", "")


def test_the_learners_print_is_shown(capsys):
    check(SOFTMAX, lambda scores: print("shape", scores.shape) or softmax(scores))
    assert capsys.readouterr().out.startswith("shape (3,)\nshape (2, 2)\n")


def test_numerical_warnings_are_not_shown(recwarn):
    assert check(SOFTMAX, softmax_without_maximum).misconception == "overflow"
    assert not list(recwarn)


@pytest.mark.parametrize("attempt", [softmax, softmax_textbook, lambda s: s, lambda s: 1 / 0, None])
def test_the_result_is_the_same_every_time(attempt):
    first, second = check(SOFTMAX, attempt), check(SOFTMAX, attempt)
    assert first == second and first._repr_html_() == second._repr_html_()
    with np.printoptions(precision=1, threshold=2, edgeitems=1, sign="+", floatmode="fixed"):
        assert check(SOFTMAX, attempt) == first


@pytest.mark.parametrize(
    "attempt, kind",
    [(softmax, "pass"), (softmax_textbook, "fail"), (lambda s: s * 1.5, "fail"), (None, "todo")],
)
def test_the_html_box_has_the_text_of_the_result(attempt, kind):
    result = check(SOFTMAX, attempt)
    assert repr(result) == str(result) == result.message
    box = result._repr_html_()
    assert box.startswith(f'<div class="attn-check attn-check-{kind}" role="status"><p><strong>')
    assert "style=" not in box and "`" not in box
    plain = bare_text(box)
    assert plain == "".join(result.message.replace("`", "").split())


def test_the_learners_text_is_escaped_in_the_box():
    def attempt(scores):
        raise ValueError("<script>alert(1)</script> & more")

    box = check(SOFTMAX, attempt)._repr_html_()
    assert "<script>" not in box and "&lt;script&gt;" in box and "&amp; more" in box


def test_a_result_keeps_the_language_it_was_created_in(language):
    result = check(SOFTMAX, softmax)
    attn_course.set_language("en" if language == "es" else "es")
    assert result.message.startswith(say(language, "Correcto. ", "Correct. "))


def test_an_integer_equal_to_the_expected_float_is_not_blamed(language):
    def percent(candidate, wanted, max_n):
        precisions, penalty, score = EXERCISES["bleu"].oracle(candidate, wanted, max_n)
        return precisions, (1 if penalty == 1 else penalty), 100 * score

    message = check("bleu", percent).message
    assert "int64" not in message and "`score`" in message


def test_emphasis_and_code_are_marked_up_but_products_are_not():
    message = "Todavía no. Mira *la fila* y `a * b * c`, no 2*d*k ni a * b * c."
    shown = Result("f", "failed", message)._repr_html_()
    assert "<em>la fila</em>" in shown and "<code>a * b * c</code>" in shown
    assert shown.count("<em>") == 1 and "2*d*k ni a * b * c" in shown


class Mute(Exception):
    def __str__(self):
        raise RuntimeError


class Unlike:
    """An object whose attributes `shape` and `dtype` raise."""

    @property
    def shape(self):
        raise KeyError

    dtype = property(lambda self: 1 / 0)


def fails():
    raise Mute


def in_itself():
    rows = []
    rows.append(rows)
    return rows


@pytest.mark.parametrize(
    "returned, said",
    [
        (lambda: np.broadcast_to(0.5, (10**4, 10**4)), "has shape `(10000, 10000)`"),
        (lambda: torch.zeros(1).expand(10**9), "has shape `(1000000000,)`"),
        (lambda: range(10**9), "has shape `(1000000000,)`"),
        (lambda: [range(10**8)] * 10, "has shape `(10, 100000000)`"),
        (lambda: [[0.0] * 3000] * 3000, "has shape `(3000, 3000)`"),
        (lambda: tuple([0.0] * 10**6), "has shape `(1000000,)`"),
        (itertools.count, "returns `count`"),
        (in_itself, "returns `list`"),
        (lambda: np.c_, "returns `CClass`"),
        (lambda: [[1.0], np.c_], "returns `list`"),
        (lambda: "x" * 10**7, "returns `str`"),
        (Unlike, "returns `Unlike`"),
        (lambda: type("x" * 10**6, (), {})(), "returns `xxx"),
        (fails, "raises `Mute`"),
    ],
)
def test_a_huge_or_strange_answer_is_judged_in_little_memory(returned, said):
    attn_course.set_language("en")
    check("softmax", softmax)  # The first check creates what all checks share.
    tracemalloc.start()
    result = check("softmax", lambda scores: returned())
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2**25
    assert result.status == "failed" and said in result.message and len(result.message) < 1000


def test_no_tried_repair_makes_numpy_iterate_np_c_forever():
    def teacher_forcing(tokens, sos_id, eos_id, pad_id):
        end = np.full(len(tokens), eos_id)
        start = np.full(len(tokens), sos_id)
        return np.c_[tokens, end], np.array(np.c_[start, tokens])

    assert check("teacher_forcing", teacher_forcing).status == "failed"
