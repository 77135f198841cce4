"""Properties that every exercise of a chapter or of a problem set must have."""

import html
import itertools
import re

import numpy as np

import attn_course
from attn_course.exercises.check import verdict
from attn_course.exercises.compare import Answer, run
from attn_course.exercises.diagnose import misconception, wrong_on
from attn_course.exercises.record import record_of

LANGUAGES = ("es", "en")


RECORDS = {}


def say(language, es, en):
    """Return the text that is expected in a language."""
    return es if language == "es" else en


def bare_text(box):
    """Return the text of a box without tags and spaces."""
    return "".join(html.unescape(re.sub("<[^>]+>", "", box)).split())


def answered(exercise):
    """Return the record of an exercise; oracle and wrong functions run once for all tests."""
    # The variants of a task share one id, so the key is the oracle.
    if exercise.oracle not in RECORDS:
        RECORDS[exercise.oracle] = record_of(exercise)
    return RECORDS[exercise.oracle]


def in_each_language(exercise, attempt):
    """Yield each language and the result of checking an attempt in it."""
    for language in LANGUAGES:
        attn_course.set_language(language)
        try:
            yield language, verdict(answered(exercise), attempt)
        finally:
            attn_course.set_language("es")


def every_mistake_is_refused_and_named(exercise):
    """Every wrong function fails, and only its own mistake is named."""
    ids = [known.id for known in exercise.misconceptions]
    assert len(ids) == len(set(ids)) >= 10, exercise.id
    record = answered(exercise)
    for known in record.mistakes:
        assert set(known.hint) == set(LANGUAGES), known.id
        for number, answers in enumerate(known.answers):
            failing = wrong_on(answers, record.expected)
            assert failing, f"{known.id}, function {number}, passes"
            found = misconception(record, answers, failing)
            assert found is known, f"{known.id}, function {number}, is taken for {found}"


def inputs_tell_every_mistake_from_the_oracle(exercise, seeds):
    """With any seed, every wrong function is wrong on some input."""
    for seed in seeds:
        cases = exercise.cases(seed)
        expected = [run(exercise.oracle, case, exercise) for case in cases]
        for known in exercise.misconceptions:
            for function in known.functions:
                answers = (run(function, case, exercise) for case in cases)
                pairs = zip(answers, expected, strict=True)
                differs = any(wrong_on([answer], [right]) for answer, right in pairs)
                assert differs, f"{exercise.id}: {known.id} passes with seed {seed}"


def cases_are_plain_arrays_that_depend_only_on_the_seed(exercise):
    """Inputs can be saved without pickles, and the same seed draws the same inputs."""
    one, again, other = exercise.cases(3), exercise.cases(3), exercise.cases(4)
    for case, same in zip(one, again, strict=True):
        assert list(case) == list(same)
        for name, array in case.items():
            assert array.dtype.kind in "biufU", f"{exercise.id}: {name}"
            np.testing.assert_array_equal(array, same[name])
    assert any(
        not np.array_equal(a, b)
        for case, drawn in zip(one, other, strict=True)
        for a, b in zip(case.values(), drawn.values(), strict=True)
    ), exercise.id


def no_case_is_saturated(exercise):
    """If an exercise returns weights, no row with several keys gives one of them 0.9 or more."""
    if exercise.outputs[-1] != "weights":
        return
    for seed in range(5):
        for case in exercise.cases(seed):
            weights = run(exercise.oracle, case, exercise).values[-1]
            allowed = case.get("mask", np.isfinite(case.get("scores", np.zeros(weights.shape))))
            choices = np.broadcast_to(allowed, weights.shape).sum(axis=-1)
            assert weights[choices > 1].max(initial=0) < 0.9, f"{exercise.id}, seed {seed}"


def an_exception_is_never_the_right_answer(exercise):
    """The oracle returns numbers for every input, and a function that raises is wrong on each."""
    for seed in range(5):
        cases = exercise.cases(seed)
        expected = [run(exercise.oracle, case, exercise) for case in cases]
        assert not any(np.isnan(value).any() for right in expected for value in right.values)
        gave_up = [Answer(None, "", error=ZeroDivisionError())] * len(cases)
        assert wrong_on(gave_up, expected) == list(range(len(cases))), exercise.id


def single_precision_is_enough(exercise):
    """The right answer passes when it is computed in float32."""

    def single(array):
        array = np.asarray(array)
        return array.astype(np.float32) if array.dtype.kind == "f" else array

    def attempt(*arguments):
        result = exercise.oracle(*map(single, arguments))
        return tuple(map(single, result)) if len(exercise.outputs) > 1 else single(result)

    result = verdict(answered(exercise), attempt)
    assert result, f"{exercise.id}: {result}"


def truth_values_and_whole_numbers_are_wanted_as_such(exercise):
    """An output of 0.0 and 1.0 does not pass for truth values, nor floats for integers."""
    expected = answered(exercise).expected[0].values
    for number, (name, right) in enumerate(zip(exercise.outputs, expected, strict=True)):
        if right.dtype.kind == "f":
            continue

        def attempt(*arguments, changed=number):
            result = exercise.oracle(*arguments)
            parts = list(result) if len(exercise.outputs) > 1 else [result]
            parts[changed] = 1.0 * np.asarray(parts[changed])
            return tuple(parts) if len(parts) > 1 else parts[0]

        advice = {"b": "`.astype(bool)`", "i": "`.astype(int)`"}[right.dtype.kind]
        words = {"es": f"`{name}` tiene dtype `f", "en": f"`{name}` has dtype `f"}
        for language, result in in_each_language(exercise, attempt):
            found = words[language] in result.message and advice in result.message
            assert found, f"{exercise.id}: {result}"


def results_in_another_order_are_recognised(exercise):
    """Right outputs in the wrong order are a known mistake, or the message gives the order."""
    if len(exercise.outputs) == 1:
        return

    order = f"`return {', '.join(exercise.outputs)}`"
    words = {"es": f"El que se pide es {order}.", "en": f"The one asked for is {order}."}
    # `check` repairs no lambda; in a `def`, it would propose to remove the slice.
    results = in_each_language(exercise, lambda *given: tuple(exercise.oracle(*given))[::-1])
    for language, result in results:
        found = result.misconception or words[language] in result.message
        assert found, f"{exercise.id}: {result}"


QUICK = (
    every_mistake_is_refused_and_named,
    cases_are_plain_arrays_that_depend_only_on_the_seed,
    no_case_is_saturated,
    an_exception_is_never_the_right_answer,
    single_precision_is_enough,
    truth_values_and_whole_numbers_are_wanted_as_such,
    results_in_another_order_are_recognised,
)
"""What takes no seed beyond a few and runs in a moment."""


def of_each(exercises):
    """Return each pair of a quick property and an exercise, with its name, for parametrize."""
    pairs = list(itertools.product(QUICK, exercises))
    return {"argvalues": pairs, "ids": [f"{proof.__name__}-{e.id}" for proof, e in pairs]}
