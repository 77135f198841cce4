"""Attempts with several mistakes do not pass, and a mistake that is named was made."""

import itertools

import numpy as np
import pytest

from attn_course.exercises import check
from attn_course.exercises.catalogue import modules
from attn_course.exercises.check import record_of_chapter
from attn_course.exercises.compare import run
from attn_course.exercises.diagnose import misconception, wrong_on
from attn_course.exercises.slips import function_of, slips_of, spoilt

ATTENTION = "scaled_dot_product_attention"


# Several choices are combined. Each is right (None), or lists the misconceptions it may appear as.

SCALES = {
    None: lambda q, v: np.sqrt(q.shape[-1]),
    "unscaled": lambda q, v: 1,
    "scaled_by_d_k": lambda q, v: q.shape[-1],
    "scaled_by_d_v": lambda q, v: np.sqrt(v.shape[-1]),
}
TRANSPOSES = {None: lambda x: x.swapaxes(-1, -2), "unbatched_only": lambda x: x.T}
AXES = {None: -1, "softmax_over_queries": -2, "softmax_over_everything": None}
MASKS = {
    None: lambda s, m: np.where(m, s, -np.inf),
    "mask_ignored": lambda s, m: s,
    "mask_inverted": lambda s, m: np.where(m, -np.inf, s),
    "mask_as_factor": lambda s, m: s * m,
    "finite_fill": lambda s, m: np.where(m, s, -1e9),
    "mask_not_broadcast": lambda s, m: np.where(np.reshape(m, s.shape), s, -np.inf),
}
SUBTRACTED = {
    None: lambda s, axis: np.maximum(s.max(axis=axis, keepdims=True), -1e300),
    "empty_row": lambda s, axis: s.max(axis=axis, keepdims=True),
    "overflow": lambda s, axis: 0,
    "global_maximum": lambda s, axis: s.max(),
}
RETURNS = {
    None: lambda output, weights: (output, weights),
    "only_output": lambda output, weights: output,
    "outputs_swapped": lambda output, weights: (weights, output),
}
CHOICES = (SCALES, TRANSPOSES, AXES, MASKS, SUBTRACTED, RETURNS)


def composed(scale, transpose, axis, mask, subtracted, result):
    def attention(query, key, value, allowed=None):
        scores = query @ TRANSPOSES[transpose](key) / SCALES[scale](query, value)
        if allowed is not None:
            scores = MASKS[mask](scores, allowed)
        exponentials = np.exp(scores - SUBTRACTED[subtracted](scores, AXES[axis]))
        total = exponentials.sum(axis=AXES[axis], keepdims=True)
        if subtracted is None:
            total = np.maximum(total, 1e-300)
        weights = exponentials / total
        return RETURNS[result](weights @ value, weights)

    return attention


PAIRS = [
    names for names in itertools.product(*CHOICES) if sum(name is not None for name in names) == 2
]


def test_without_mistakes_the_composition_is_right():
    assert check(ATTENTION, composed(*[None] * len(CHOICES)))


def test_two_mistakes_never_pass_and_a_named_one_was_made():
    record = record_of_chapter(ATTENTION)
    for names in PAIRS:
        answers = [run(composed(*names), case, record) for case in record.cases]
        failing = wrong_on(answers, record.expected)
        assert failing, names
        # Subtracting too little also gives 0 / 0 in an empty row.
        allowed = {*names, "empty_row"} if {"overflow", "global_maximum"} & {*names} else {*names}
        known = misconception(record, answers, failing)
        assert known is None or known.id in allowed, f"{names}: {known.id}"


@pytest.mark.parametrize("exercise_id", modules())
def test_each_edit_of_the_right_answer_is_named_as_its_mistake(exercise_id):
    record = record_of_chapter(exercise_id)
    code, slips = slips_of(record.slips)

    def answers(code):
        function = function_of(code, exercise_id)
        return [run(function, case, record) for case in record.cases]

    assert wrong_on(answers(code), record.expected) == []
    assert len({known for known, _ in slips}) > 4
    alone = [(known, spoilt(code, edits)) for known, edits in slips]
    found = []
    for known, wrong in alone:
        if wrong:  # The other known mistakes are edits inside code that another edit inserts.
            given = answers(wrong)
            named = misconception(record, given, wrong_on(given, record.expected))
            found.append((known, named and named.id))
    assert [pair for pair in found if pair[0] != pair[1]] == []
    assert len(found) >= len(slips) - 1
