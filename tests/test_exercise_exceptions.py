"""What `check` says of a function that is not written yet or that raises an exception."""

import numpy as np
import pytest

from attn.reference import scaled_dot_product_attention, softmax
from attn_course.exercises import check
from tests.exercise_proofs import say
from tests.wrong_attempts import attention_transposed_by_hand, masking

ATTENTION = "scaled_dot_product_attention"
SELF = "self_attention"
SOFTMAX = "softmax"


def unwritten(*arguments): ...


def attention_calling_softmax_unwritten(query, key, value, mask=None):
    weights = unwritten(query @ key.mT)
    return weights @ value, weights


def self_attention_unpacking_an_unwritten_one(x, w_q, w_k, w_v, mask=None):
    output, weights = unwritten(x @ w_q)
    return output, weights


def written_later(query, key, value, mask=None):
    weights = ...
    return weights @ value, weights


@pytest.mark.parametrize(
    "exercise_id, attempt",
    [
        (SOFTMAX, None),
        (SOFTMAX, ...),
        (SOFTMAX, lambda scores: None),
        (SOFTMAX, lambda scores: ...),
        (SOFTMAX, lambda scores: np.exp(...)),
        (ATTENTION, lambda query, key, value, mask=None: (None, None)),
        (ATTENTION, lambda query, key, value, mask=None: (query, ...)),
        (ATTENTION, written_later),
        (ATTENTION, attention_calling_softmax_unwritten),
        (SELF, lambda x, w_q, w_k, w_v, mask=None: unwritten(x @ w_q)),
        (SELF, lambda x, w_q, w_k, w_v, mask=None: unwritten(x @ w_q)[0]),
        (SELF, self_attention_unpacking_an_unwritten_one),
    ],
)
def test_an_unwritten_function_is_unanswered_and_not_wrong(exercise_id, attempt, language):
    result = check(exercise_id, attempt)
    assert result.status == "unanswered" and not result and result.misconception is None
    assert result.message.startswith(say(language, "Sin responder. ", "Not answered yet. "))
    function = say(language, "ninguna función a la que llama devuelva", "no function it calls ")
    assert "`return`" in result.message and function in result.message


def test_in_jupyterlab_an_unwritten_function_gets_no_message(tmp_path, monkeypatch):
    assert check(SOFTMAX, unwritten).status == "unanswered"
    monkeypatch.setenv("ATTN_SOLVED", str(tmp_path))
    assert check(SOFTMAX, unwritten) is None
    assert check(SOFTMAX, ...).status == "unanswered"
    assert check(ATTENTION, written_later).status == "unanswered"


def test_the_line_that_uses_an_unwritten_function_is_shown(language):
    message = check(SELF, self_attention_unpacking_an_unwritten_one).message
    error = "`TypeError: cannot unpack non-iterable NoneType object`"
    assert say(language, f"Tu función lanza {error} en", f"Your function raises {error}") in message
    assert "`output, weights = unwritten(x @ w_q)`" in message


def test_an_undefined_name_is_reported(language):
    def attempt(*arguments):
        return not_yet(*arguments)  # noqa: F821 - the mistake itself

    result = check(SOFTMAX, attempt)
    assert result.status == "failed" and result.misconception is None
    assert "`return not_yet(*arguments)" in result.message
    sentence = say(
        language,
        " `not_yet` todavía no está definido en el cuaderno: ejecuta la celda",
        " `not_yet` is not defined in the notebook yet: run the cell",
    )
    assert sentence in result.message


def test_a_variable_used_before_it_has_a_value_is_not_looked_for_in_the_notebook():
    def attempt(scores):
        if scores.size == 0:
            total = 0
        return scores / total

    message = check(SOFTMAX, attempt).message
    assert "UnboundLocalError" in message and "cuaderno" not in message


def raise_name_error(scores, mask):
    return scores if mask is None else np.where(mask, scoress, -np.inf)  # noqa: F821 - the slip itself


@pytest.mark.parametrize(
    "mask_scores",
    [
        raise_name_error,
        lambda s, m: s if m is None else np.where(m.T, s, -np.inf),
        lambda s, m: s if m is None else s.masked_fill(m == 0, -np.inf),
    ],
)
def test_another_exception_with_a_mask_is_not_named_as_if_mask(mask_scores, language):
    result = check(ATTENTION, masking(mask_scores))
    assert result.status == "failed" and result.misconception is None
    assert say(language, "mask, forma (2, 4)", "mask, shape (2, 4)") in result.message


def test_a_result_missing_for_some_inputs_only_is_an_error(language):
    result = check(SOFTMAX, lambda scores: None if scores.ndim > 2 else softmax(scores))
    assert result.status == "failed"
    assert say(language, "devuelve `None`", "returns `None`") in result.message


def test_passing_the_result_of_a_call_is_refused(language):
    result = check(SOFTMAX, softmax([1.0, 2.0]))
    assert result.status == "failed"
    assert say(language, "y recibió `ndarray`", "was given `ndarray`") in result.message
    assert say(language, "sin paréntesis", "without parentheses") in result.message


def crash(query, key, value, mask=None):
    wrong = np.zeros(7)
    return helper(query, wrong)


def helper(query, wrong):
    return query + wrong  # here


def test_an_exception_is_reported_with_the_learners_line(language):
    message = check(ATTENTION, crash).message
    assert say(language, "lanza `ValueError: operands", "raises `ValueError: operands") in message
    assert "`return query + wrong  # here`" in message
    assert "Traceback" not in message and "File" not in message
    assert say(language, "    query, forma (2, 4)\n", "    query, shape (2, 4)\n") in message


def test_an_exception_explained_by_a_misconception_shows_its_hint():
    result = check(ATTENTION, attention_transposed_by_hand)
    assert result.misconception == "unbatched_only"
    assert "ValueError" in result.message and "np.transpose(key)" in result.message


def test_a_missing_mask_argument_shows_the_input_that_needs_it(language):
    attempt = lambda query, key, value: scaled_dot_product_attention(query, key, value)
    message = check(ATTENTION, attempt).message
    assert "TypeError" in message and "4 were given" in message
    assert say(language, "mask, forma (2, 4)", "mask, shape (2, 4)") in message


def test_memory_addresses_in_exceptions_are_left_out():
    def attempt(scores):
        raise ValueError(object())

    first, second = check(SOFTMAX, attempt), check(SOFTMAX, attempt)
    assert "object at 0x..." in first.message
    assert first == second


def test_a_long_exception_message_is_shortened():
    def attempt(scores):
        raise ValueError("word " * 1000)

    assert len(check(SOFTMAX, attempt).message) < 600


def test_a_keyboard_interrupt_is_not_caught():
    def attempt(scores):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(SOFTMAX, attempt)
