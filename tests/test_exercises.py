"""The checker: right solutions pass however written, wrong ones fail with their own hint."""

import dataclasses
import functools
import html
import itertools
import math
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
import torch

import attn
from assignments.grader.course import problem_set
from attn.exercises import check, exercises
from attn.exercises.check import EXERCISES, Result
from attn.reference import scaled_dot_product_attention, self_attention, softmax

SOFTMAX = "softmax"
ATTENTION = "scaled_dot_product_attention"
SELF = "self_attention"
MISTAKES = [
    pytest.param(exercise.id, known, function, id=f"{exercise.id}-{known.id}-{number}")
    for exercise in EXERCISES.values()
    for known in exercise.misconceptions
    for number, function in enumerate(known.functions)
]
HINTS = [
    pytest.param(known.hint, id=f"{exercise.id}-{known.id}")
    for exercise in EXERCISES.values()
    for known in exercise.misconceptions
]


@pytest.fixture(params=["es", "en"])
def language(request):
    attn.set_language(request.param)
    yield request.param
    attn.set_language("es")


def say(language, es, en):
    return es if language == "es" else en


# Correct solutions, each written in another way. Those of other chapters are in tests/solutions.


def softmax_vectorised(scores):
    largest = np.max(scores, axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(largest == -np.inf, 0, largest))
    total = exponentials.sum(axis=-1, keepdims=True)
    return np.divide(exponentials, total, out=np.zeros_like(exponentials), where=total > 0)


def softmax_loops(scores):
    if scores.ndim > 1:
        return np.stack([softmax_loops(row) for row in scores])
    largest = max(scores)
    if largest == -math.inf:
        return np.zeros(len(scores))
    exponentials = [math.exp(score - largest) for score in scores]
    return np.array([e / sum(exponentials) for e in exponentials])


def softmax_einsum(scores):
    weights = np.exp(scores - np.maximum(scores.max(-1), -1e300)[..., None])
    return np.einsum("...j,...->...j", weights, 1 / np.maximum(np.einsum("...j->...", weights), 1))


def softmax_textbook_then_zeros(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return np.where(scores == -np.inf, 0, weights)


def softmax_torch(scores):
    return torch.from_numpy(scores).softmax(-1).nan_to_num()


def softmax_torch_float32(scores):
    return torch.tensor(scores, dtype=torch.float32, requires_grad=True).softmax(-1).nan_to_num()


def softmax_nested_lists(scores):
    return softmax(scores).tolist()


def attention_vectorised(query, key, value, mask=None):
    scores = np.matmul(query, np.swapaxes(key, -1, -2)) / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax_textbook_then_zeros(scores)
    return weights @ value, weights


def attention_einsum(query, key, value, mask=None):
    scores = np.einsum("...id,...jd->...ij", query * query.shape[-1] ** -0.5, key)
    if mask is not None:
        scores = scores + np.where(mask, 0, -np.inf)
    weights = softmax_einsum(scores)
    return [np.einsum("...ij,...jd->...id", weights, value), weights]


def attention_loops(query, key, value, mask=None):
    if mask is None:
        mask = np.ones((*query.shape[:-1], key.shape[-2]), dtype=bool)
    if query.ndim > 2:
        mask = np.broadcast_to(mask, (*query.shape[:-1], key.shape[-2]))
        pairs = [attention_loops(*inputs) for inputs in zip(query, key, value, mask, strict=True)]
        return tuple(np.stack(arrays) for arrays in zip(*pairs, strict=True))
    weights = np.zeros((len(query), len(key)))
    output = np.zeros((len(query), value.shape[1]))
    for i, q in enumerate(query):
        allowed = [j for j in range(len(key)) if mask[i, j]]
        scores = {
            j: sum(a * b for a, b in zip(q, key[j], strict=True)) / math.sqrt(len(q))
            for j in allowed
        }
        for j in allowed:
            largest = max(scores.values())
            total = sum(math.exp(s - largest) for s in scores.values())
            weights[i, j] = math.exp(scores[j] - largest) / total
            output[i] += weights[i, j] * value[j]
    return output, weights


def attention_masked_afterwards(query, key, value, mask=True):
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    kept = softmax(scores) * mask
    weights = kept / np.maximum(kept.sum(axis=-1, keepdims=True), 1e-30)
    return weights @ value, weights


def attention_finite_fill_then_zeros(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    if mask is None:
        mask = np.ones_like(scores, dtype=bool)
    weights = np.where(mask, softmax(np.where(mask, scores, -1e9)), 0)
    return weights @ value, weights


def attention_torch(query, key, value, mask=None, dtype=torch.float64):
    query, key, value = (torch.tensor(x, dtype=dtype) for x in (query, key, value))
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~torch.as_tensor(mask), -torch.inf)
    weights = torch.softmax(scores, dim=-1).nan_to_num(0)
    return weights @ value, weights


def self_attention_composed(x, w_q, w_k, w_v, mask=None):
    return attention_vectorised(x @ w_q, x @ w_k, x @ w_v, mask)


def self_attention_one_matrix(x, w_q, w_k, w_v, mask=None):
    d_k = w_q.shape[1]
    query, key, value = np.split(x @ np.hstack([w_q, w_k, w_v]), [d_k, 2 * d_k], axis=-1)
    return attention_einsum(query, key, value, mask)


def self_attention_bilinear(x, w_q, w_k, w_v, mask=True):
    scores = x @ (w_q @ w_k.T) @ x.swapaxes(-1, -2) / np.sqrt(w_q.shape[1])
    weights = softmax(np.where(mask, scores, -np.inf))
    return (weights @ x) @ w_v, weights


def self_attention_torch(x, w_q, w_k, w_v, mask=None):
    x, *matrices = (torch.tensor(array) for array in (x, w_q, w_k, w_v))
    query, key, value = (torch.nn.functional.linear(x, w.T).numpy() for w in matrices)
    return attention_torch(query, key, value, mask)


CORRECT = [
    (SOFTMAX, softmax),
    (SOFTMAX, softmax_vectorised),
    (SOFTMAX, softmax_loops),
    (SOFTMAX, softmax_einsum),
    (SOFTMAX, softmax_textbook_then_zeros),
    (SOFTMAX, softmax_torch),
    (SOFTMAX, softmax_torch_float32),
    (SOFTMAX, softmax_nested_lists),
    (ATTENTION, scaled_dot_product_attention),
    (ATTENTION, attention_vectorised),
    (ATTENTION, attention_einsum),
    (ATTENTION, attention_loops),
    (ATTENTION, attention_masked_afterwards),
    (ATTENTION, attention_finite_fill_then_zeros),
    (ATTENTION, attention_torch),
    (ATTENTION, functools.partial(attention_torch, dtype=torch.float32)),
    (SELF, self_attention),
    (SELF, self_attention_composed),
    (SELF, self_attention_one_matrix),
    (SELF, self_attention_bilinear),
    (SELF, self_attention_torch),
]
for path in sorted((Path(__file__).parent / "solutions").glob("*.py")):
    CORRECT += runpy.run_path(str(path))["CORRECT"]


def test_each_exercise_of_a_chapter_has_three_correct_solutions():
    for exercise in EXERCISES.values():
        if exercise.problem_set is None:
            assert sum(name == exercise.id for name, _ in CORRECT) >= 3, exercise.id


@pytest.mark.parametrize("exercise_id, solution", CORRECT)
def test_a_correct_solution_passes(exercise_id, solution, language):
    result = check(exercise_id, solution)
    assert result and result.status == "passed" and result.misconception is None, result
    number = len(EXERCISES[exercise_id].cases(0))
    assert result.message == say(
        language,
        f"Correcto. `{exercise_id}` coincide con la referencia en las {number} entradas.",
        f"Correct. `{exercise_id}` agrees with the reference on all {number} inputs.",
    )


# Known mistakes.


@pytest.mark.parametrize("exercise_id, known, function", MISTAKES)
def test_each_misconception_gets_its_own_hint(exercise_id, known, function, language):
    result = check(exercise_id, function)
    assert not result and result.status == "failed"
    assert result.misconception == known.id, result
    assert known.hint[language] in result.message


@pytest.mark.parametrize("exercise_id", EXERCISES)
@pytest.mark.parametrize("seed", range(20))
def test_cases_tell_every_misconception_from_the_oracle_whatever_the_seed(exercise_id, seed):
    exercise = EXERCISES[exercise_id]
    for known in exercise.misconceptions:
        for function in known.functions:
            assert any(differs(exercise, function, case) for case in exercise.cases(seed)), known.id


def differs(exercise, function, case):
    with np.errstate(all="ignore"):
        right = exercise.oracle(**case)
        try:
            wrong = function(*(array.copy() for array in case.values()))
        except Exception:  # noqa: BLE001 - raising is one way of differing
            return True
    if len(exercise.outputs) == 1:
        right, wrong = [right], [wrong]
    return len(right) != len(wrong) or not all(
        np.shape(a) == np.shape(b) and np.allclose(a, b) for a, b in zip(right, wrong, strict=True)
    )


def test_there_are_enough_misconceptions_with_distinct_ids():
    for exercise in EXERCISES.values():
        ids = [known.id for known in exercise.misconceptions]
        assert len(ids) == len(set(ids)) >= 10


@pytest.mark.parametrize("hint", HINTS)
def test_a_hint_is_short_and_in_both_languages(hint):
    assert set(hint) == {"es", "en"}
    for words in hint.values():
        assert 40 < len(words) < 320 and words.endswith((".", "`"))
        assert words.count("`") % 2 == 0
        assert "  " not in words
    assert 0.6 < len(hint["es"]) / len(hint["en"]) < 1.6


# One term per concept, and the ways not to say it.
AVOID = {
    "es": r"\b(un|el|los|del|algún|otro) quer|promedi|frase|secuencia|quién se atiende|\bha[ns]? \w+do\b"
    r"|[^e] desborda|dividir por|enmascar|swapaxes|_len\b|aprend",
    "en": r"add(s|ed)? up|an average|no average|learn|swapaxes|_len\b|\bno batch|`exp` rounds?\b",
}


@pytest.mark.parametrize("hint", HINTS)
def test_a_hint_uses_the_terms_of_the_course(hint):
    for language, words in hint.items():
        found = re.search(AVOID[language], words)
        assert not found, f"{found[0]!r} in {words!r}"


def test_hints_are_unique():
    texts = [text for param in HINTS for text in param.values[0].values()]
    assert len(texts) == len(set(texts))


# The same mistakes in other words.


def softmax_columns_in_a_loop(scores):
    if scores.ndim == 1:
        return softmax(scores)
    exponentials = np.exp(scores - scores.max(axis=0))
    return exponentials / sum(exponentials)


def softmax_textbook(scores):
    exponentials = np.exp(scores - np.max(scores, axis=-1)[..., None])
    return exponentials / np.sum(exponentials, axis=-1)[..., None]


def softmax_without_maximum(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def softmax_without_maximum_in_math(scores):
    if scores.ndim > 1:
        return np.stack([softmax_without_maximum_in_math(row) for row in scores])
    exponentials = [math.exp(score) for score in scores]
    return [e / sum(exponentials) for e in exponentials]


def softmax_axis_one_in_torch(scores):
    return torch.softmax(torch.tensor(scores), dim=1)


def softmax_unpacking_two(scores):
    result = np.empty_like(scores)
    rows, columns = scores.shape
    for i in range(rows):
        total = sum(math.exp(scores[i, j] - scores[i].max()) for j in range(columns))
        for j in range(columns):
            result[i, j] = math.exp(scores[i, j] - scores[i].max()) / total
    return result


def attention_unscaled(query, key, value, mask=None):
    scores = np.einsum("...qd,...kd->...qk", query, key)
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    weights = softmax_textbook(scores)
    return weights @ value, weights


def attention_unscaled_in_torch(query, key, value, mask=None):
    return attention_torch(query * math.sqrt(query.shape[-1]), key, value, mask)


def attention_over_queries(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    exponentials = np.exp(scores - scores.max(axis=-2, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-2, keepdims=True)
    return weights @ value, weights


def attention_inverted_in_torch(query, key, value, mask=None):
    scores = torch.tensor(query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1]))
    if mask is not None:
        scores = scores.masked_fill(torch.tensor(mask), -1e9)
    weights = scores.softmax(-1)
    return weights @ torch.tensor(value), weights


def attention_scores_times_mask(query, key, value, mask=1):
    weights = softmax(query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1]) * mask)
    return weights @ value, weights


def attention_scores_times_mask_minus(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores * mask + -1e9 * (1 - mask)
    weights = softmax(scores)
    return weights @ value, weights


def attention_added_minus(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    if mask is not None:
        scores += (1 - mask) * -1e9
    weights = softmax(scores)
    return weights @ value, weights


def attention_transposed_by_hand(query, key, value, mask=None):
    scores = np.dot(query, np.transpose(key)) / np.sqrt(query.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return np.dot(weights, value), weights


def attention_for_two_axes(query, key, value, mask=None):
    _tgt_len, _d_k = query.shape
    return scaled_dot_product_attention(query, key, value, mask)


def attention_with_nan(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    weights = torch.softmax(torch.tensor(scores), dim=-1)
    return weights @ torch.tensor(value), weights


def attention_with_naive_softmax(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    exponentials = np.exp(scores if mask is None else np.where(mask, scores, -np.inf))
    weights = exponentials / exponentials.sum(axis=-1)[..., np.newaxis]
    return weights @ value, weights


def attention_indexing_the_mask(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    if mask is not None:
        scores[mask == False] = -np.inf
    weights = softmax(scores)
    return weights @ value, weights


def masking(mask_scores, weigh=softmax):
    def attention(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(query.shape[-1])
        weights = weigh(mask_scores(scores, mask))
        return weights @ value, weights

    return attention


def if_mask(scores, mask):
    if mask:
        scores = np.where(mask, scores, -np.inf)
    return scores


def if_not_equal_none(scores, mask):
    if mask != None:
        scores = scores.copy()
        scores[~mask] = -np.inf
    return scores


def mask_or_all(scores, mask):
    return np.where(mask or np.ones_like(scores, dtype=bool), scores, -np.inf)


def if_mask_in_torch(scores, mask):
    mask = None if mask is None else torch.tensor(mask)
    scores = torch.tensor(scores)
    return (scores.masked_fill(~mask, -torch.inf) if mask else scores).numpy()


def assigned_without_if(scores, mask):
    scores[~mask] = -np.inf
    return scores


def subtracted_without_if(scores, mask):
    return scores - 1e9 * (1 - mask)


def infinity_added(scores, mask):
    return scores if mask is None else scores + (1 - mask) * -np.inf


def infinity_and_factor(scores, mask):
    return scores if mask is None else scores * mask - np.inf * ~mask


def mask_added_in_place(scores, mask):
    if mask is not None:
        scores += mask
    return scores


def scoring(score):
    def attention(query, key, value, mask=None):
        scores = score(query, key)
        weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ value, weights

    return attention


def score_with_precedence_in_a_variable(query, key):
    scale = query.shape[-1] ** 1 / 2
    return query @ key.mT / scale


def score_with_batched_product(query, key):
    return torch.bmm(torch.tensor(query), torch.tensor(key).mT).numpy() / query.shape[-1] ** 0.5


def attention_scaled_at_the_end(query, key, value, mask=None):
    scores = query @ key.mT
    weights = softmax_textbook(scores if mask is None else np.where(mask, scores, -1e9))
    weights = weights / query.shape[-1] ** 0.5
    return weights @ value, weights


def attention_first_only(query, key, value, mask=None):
    output, _ = scaled_dot_product_attention(query, key, value, mask)
    return torch.tensor(output)


def self_attention_unscaled(x, w_q, w_k, w_v, mask=None):
    return attention_unscaled(x @ w_q, x @ w_k, x @ w_v, mask)


def self_attention_asking_with_keys(x, w_q, w_k, w_v, mask=None):
    scores = x @ w_k @ (x @ w_q).swapaxes(-1, -2) / np.sqrt(w_k.shape[-1])
    weights = softmax_textbook(scores if mask is None else np.where(mask, scores, -np.inf))
    return weights @ (x @ w_v), weights


def self_attention_on_the_left(x, w_q, w_k, w_v, mask=None):
    return attention_vectorised(np.dot(w_q, x), np.dot(w_k, x), np.dot(w_v, x), mask)


def self_attention_for_a_batch(x, w_q, w_k, w_v, mask=None):
    batched_score = scoring(lambda q, k: q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
    return batched_score(x @ w_q, x @ w_k, x @ w_v, mask)


def self_attention_for_one_sentence(x, w_q, w_k, w_v, mask=None):
    return attention_transposed_by_hand(x.dot(w_q), x.dot(w_k), x.dot(w_v), mask)


def self_attention_like_linear(x, w_q, w_k, w_v, mask=None):
    x, *matrices = (torch.tensor(array) for array in (x, w_q, w_k, w_v))
    projected = (torch.nn.functional.linear(x, w).numpy() for w in matrices)
    return attention_torch(*projected, mask)


REWRITTEN = [
    (SOFTMAX, softmax_columns_in_a_loop, "columns"),
    (SOFTMAX, lambda scores: np.exp(scores) / np.sum(np.exp(scores)), "whole_array"),
    (SOFTMAX, softmax_textbook, "empty_row"),
    (SOFTMAX, lambda scores: torch.tensor(scores).softmax(dim=-1), "empty_row"),
    (SOFTMAX, softmax_without_maximum, "overflow"),
    (SOFTMAX, softmax_without_maximum_in_math, "overflow"),
    (SOFTMAX, softmax_axis_one_in_torch, "axis_one"),
    (SOFTMAX, softmax_unpacking_two, "matrix_only"),
    (SOFTMAX, lambda scores: [math.exp(s) / np.exp(scores).sum() for s in scores], "vector_only"),
    (SOFTMAX, lambda scores: np.exp(scores) / np.exp(scores).sum(axis=-1), "keepdims_forgotten"),
    (SOFTMAX, lambda scores: 2**scores / (2**scores).sum(-1, keepdims=True), "base_two"),
    (SOFTMAX, lambda scores: scores / np.sum(scores, -1)[..., None], "no_exponential"),
    (SOFTMAX, lambda scores: np.log(softmax_textbook(scores)), "log_softmax"),
    (SOFTMAX, lambda scores: scores == scores.max(axis=-1, keepdims=True), "argmax"),
    (SOFTMAX, lambda scores: softmax_textbook(-scores), "sign_flipped"),
    (SOFTMAX, lambda scores: torch.sigmoid(torch.tensor(scores)), "sigmoid"),
    (ATTENTION, attention_unscaled, "unscaled"),
    (ATTENTION, attention_unscaled_in_torch, "unscaled"),
    (ATTENTION, attention_over_queries, "softmax_over_queries"),
    (ATTENTION, attention_inverted_in_torch, "mask_inverted"),
    (ATTENTION, attention_scores_times_mask, "mask_as_factor"),
    (ATTENTION, attention_scores_times_mask_minus, "finite_fill"),
    (ATTENTION, attention_added_minus, "finite_fill"),
    (ATTENTION, attention_transposed_by_hand, "unbatched_only"),
    (ATTENTION, attention_for_two_axes, "unbatched_only"),
    (ATTENTION, attention_with_nan, "empty_row"),
    (ATTENTION, attention_with_naive_softmax, "overflow"),
    (ATTENTION, attention_indexing_the_mask, "mask_not_broadcast"),
    (ATTENTION, attention_first_only, "only_output"),
    (ATTENTION, masking(if_mask), "mask_as_condition"),
    (ATTENTION, masking(if_mask, softmax_textbook), "mask_as_condition"),
    (ATTENTION, masking(if_not_equal_none), "mask_as_condition"),
    (ATTENTION, masking(mask_or_all), "mask_as_condition"),
    (ATTENTION, masking(if_mask_in_torch), "mask_as_condition"),
    (ATTENTION, masking(lambda s, m: np.where(m, s, -np.inf)), "mask_without_if"),
    (ATTENTION, masking(lambda s, m: np.where(m, s, -1e9), softmax_textbook), "mask_without_if"),
    (ATTENTION, masking(lambda s, m: np.where(m, s, -np.inf), softmax_textbook), "mask_without_if"),
    (ATTENTION, masking(lambda s, m: np.where(m == 1, s, -np.inf)), "mask_without_if"),
    (ATTENTION, masking(assigned_without_if), "mask_without_if"),
    (ATTENTION, masking(subtracted_without_if), "mask_without_if"),
    (ATTENTION, masking(infinity_added, softmax_textbook), "infinity_times_zero"),
    (ATTENTION, masking(infinity_added, softmax_einsum), "infinity_times_zero"),
    (ATTENTION, masking(infinity_and_factor, softmax_textbook), "infinity_times_zero"),
    (ATTENTION, masking(mask_added_in_place, softmax_textbook), "mask_added"),
    (ATTENTION, scoring(lambda q, k: q @ k.mT / q.shape[-1] ** 1 / 2), "power_before_division"),
    (ATTENTION, scoring(lambda q, k: q @ k.mT * q.shape[-1] ** -1 / 2), "power_before_division"),
    (ATTENTION, scoring(score_with_precedence_in_a_variable), "power_before_division"),
    (ATTENTION, attention_scaled_at_the_end, "scaled_after_softmax"),
    (
        ATTENTION,
        scoring(lambda q, k: q @ k.reshape(k.shape[1], k.shape[0]) / np.sqrt(q.shape[1])),
        "key_reshaped",
    ),
    (
        ATTENTION,
        scoring(lambda q, k: q @ k.reshape(*k.shape[:-2], q.shape[-1], -1) / q.shape[-1] ** 0.5),
        "key_reshaped",
    ),
    (ATTENTION, scoring(lambda q, k: q @ k.transpose(0, 2, 1) / q.shape[2] ** 0.5), "fixed_axes"),
    (ATTENTION, scoring(lambda q, k: q @ k.swapaxes(1, 2) / q.shape[-1] ** 0.5), "fixed_axes"),
    (
        ATTENTION,
        scoring(lambda q, k: np.einsum("bqd,bkd->bqk", q, k) / q.shape[-1] ** 0.5),
        "fixed_axes",
    ),
    (ATTENTION, scoring(score_with_batched_product), "fixed_axes"),
    (
        ATTENTION,
        scoring(lambda q, k: q @ k.transpose(0, 1, 3, 2) / q.shape[-1] ** 0.5),
        "fixed_axes",
    ),
    (SELF, self_attention_unscaled, "unscaled"),
    (SELF, self_attention_asking_with_keys, "projections_swapped"),
    (SELF, self_attention_for_one_sentence, "matrix_only"),
    (SELF, self_attention_like_linear, "matrices_transposed"),
    (SELF, self_attention_on_the_left, "matrices_on_the_left"),
    (SELF, self_attention_for_a_batch, "batch_only"),
]


@pytest.mark.parametrize("exercise_id, attempt, misconception", REWRITTEN)
def test_the_same_mistake_written_differently_gets_the_same_hint(
    exercise_id, attempt, misconception, language
):
    result = check(exercise_id, attempt)
    assert result.misconception == misconception, result
    hints = {known.id: known.hint for known in EXERCISES[exercise_id].misconceptions}
    assert hints[misconception][language] in result.message


# Several mistakes at once. Each choice is right (None) or the misconceptions it may show as.

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


@pytest.mark.parametrize("names", PAIRS, ids=lambda names: "+".join(filter(None, names)))
def test_two_mistakes_never_pass_and_the_hint_names_one_of_them(names):
    result = check(ATTENTION, composed(*names))
    assert result.status == "failed"
    # Whoever subtracts too little also divides 0 by 0 in an empty row.
    allowed = {*names, "empty_row"} if {"overflow", "global_maximum"} & {*names} else {*names}
    assert result.misconception in allowed | {None}, result


# What is not an answer, and answers of the wrong kind.


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
def test_what_is_not_written_yet_is_no_error(exercise_id, attempt, language):
    result = check(exercise_id, attempt)
    assert result.status == "unanswered" and not result and result.misconception is None
    assert result.message.startswith(say(language, "Sin responder. ", "Not answered yet. "))
    function = say(language, "ninguna función a la que llama devuelva", "no function it calls ")
    assert "`return`" in result.message and function in result.message


def test_the_line_that_needs_what_is_not_written_is_shown(language):
    message = check(SELF, self_attention_unpacking_an_unwritten_one).message
    error = "`TypeError: cannot unpack non-iterable NoneType object`"
    assert say(language, f"Tu función lanza {error} en", f"Your function raises {error}") in message
    assert "`output, weights = unwritten(x @ w_q)`" in message


@pytest.mark.parametrize("exercise_id", EXERCISES)
def test_a_name_that_is_not_defined_is_said_to_be_missing(exercise_id, language):
    def attempt(*arguments):
        return not_yet(*arguments)  # noqa: F821 - the mistake itself

    result = check(exercise_id, attempt)
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
def test_another_exception_with_a_mask_is_not_taken_for_if_mask(mask_scores, language):
    result = check(ATTENTION, masking(mask_scores))
    assert result.status == "failed" and result.misconception is None
    assert say(language, "mask, forma (2, 4)", "mask, shape (2, 4)") in result.message


def test_a_result_missing_for_some_inputs_only_is_an_error(language):
    result = check(SOFTMAX, lambda scores: None if scores.ndim > 2 else softmax(scores))
    assert result.status == "failed"
    assert say(language, "devuelve `None`", "returns `None`") in result.message


def test_the_result_of_a_call_is_not_a_function(language):
    result = check(SOFTMAX, softmax([1.0, 2.0]))
    assert result.status == "failed"
    assert say(language, "y recibió `ndarray`", "was given `ndarray`") in result.message
    assert say(language, "sin paréntesis", "without parentheses") in result.message


def crash(query, key, value, mask=None):
    wrong = np.zeros(7)
    return helper(query, wrong)


def helper(query, wrong):
    return query + wrong  # here


def test_an_exception_is_told_in_a_sentence_with_the_line_of_the_learner(language):
    message = check(ATTENTION, crash).message
    assert say(language, "lanza `ValueError: operands", "raises `ValueError: operands") in message
    assert "`return query + wrong  # here`" in message
    assert "Traceback" not in message and "File" not in message
    assert say(language, "    query, forma (2, 4)\n", "    query, shape (2, 4)\n") in message


def test_an_exception_that_a_misconception_explains_comes_with_the_hint():
    result = check(ATTENTION, attention_transposed_by_hand)
    assert result.misconception == "unbatched_only"
    assert "ValueError" in result.message and "np.transpose(key)" in result.message


def test_a_missing_mask_argument_shows_the_input_that_needs_it(language):
    attempt = lambda query, key, value: scaled_dot_product_attention(query, key, value)
    message = check(ATTENTION, attempt).message
    assert "TypeError" in message and "4 were given" in message
    assert say(language, "mask, forma (2, 4)", "mask, shape (2, 4)") in message


def test_an_address_in_an_exception_is_left_out():
    def attempt(scores):
        raise ValueError(object())

    first, second = check(SOFTMAX, attempt), check(SOFTMAX, attempt)
    assert "object at 0x..." in first.message
    assert first == second


def test_a_long_exception_message_is_shortened():
    def attempt(scores):
        raise ValueError("word " * 1000)

    assert len(check(SOFTMAX, attempt).message) < 600


def test_the_learner_can_interrupt():
    def attempt(scores):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(SOFTMAX, attempt)


@pytest.mark.parametrize(
    "exercise_id, attempt, es, en",
    [
        (SOFTMAX, lambda s: "weights", "devuelve `str`; debe devolver un arreglo", "an array"),
        (SOFTMAX, lambda s: s.astype(object), "devuelve `ndarray[object]`", "`ndarray[object]`"),
        (SOFTMAX, lambda s: softmax(s) + 0j, "`ndarray[complex128]`", "`ndarray[complex128]`"),
        (SOFTMAX, lambda s: [[1.0], [1.0, 2.0]], "devuelve `list`", "returns `list`"),
        (SOFTMAX, lambda s: (softmax(s), None), "devuelve `tuple`", "returns `tuple`"),
        (
            SOFTMAX,
            lambda s: softmax(s).astype(int),
            "tiene dtype `int64`; debe ser `float64`",
            "has dtype `int64`; it should be `float64`",
        ),
        (
            SOFTMAX,
            lambda s: softmax(s)[..., None],
            "tiene forma `(3, 1)`; debe ser `(3,)`",
            "has shape `(3, 1)`; it should be `(3,)`",
        ),
        (
            ATTENTION,
            lambda q, k, v, m=None: (q, k, v),
            "debe devolver la tupla `(output, weights)`",
            "it should return the tuple `(output, weights)`",
        ),
        (
            ATTENTION,
            lambda q, k, v, m=None: (scaled_dot_product_attention(q, k, v, m)[0], None),
            "devuelve `(ndarray[float64], None)`",
            "returns `(ndarray[float64], None)`",
        ),
        (ATTENTION, lambda q, k, v, m=None: {"output": q}, "devuelve `dict`", "returns `dict`"),
    ],
)
def test_an_answer_of_the_wrong_kind_is_described(exercise_id, attempt, es, en, language):
    result = check(exercise_id, attempt)
    assert result.status == "failed" and result.misconception is None
    assert say(language, es, en) in result.message


def in_place_softmax(scores):
    largest = scores.max(axis=-1, keepdims=True)
    scores -= np.where(largest == -np.inf, 0, largest)
    return softmax(scores)


def in_place_mask(query, key, value, mask=None):
    result = scaled_dot_product_attention(query, key, value, mask)
    if mask is not None:
        mask[...] = True
    return result


def in_place_torch(scores):
    return torch.from_numpy(scores).sub_(1.0).softmax(-1).nan_to_num()


@pytest.mark.parametrize(
    "exercise_id, attempt, name",
    [
        (SOFTMAX, in_place_softmax, "scores"),
        (SOFTMAX, in_place_torch, "scores"),
        (ATTENTION, in_place_mask, "mask"),
    ],
)
def test_right_values_do_not_excuse_writing_into_the_input(exercise_id, attempt, name, language):
    result = check(exercise_id, attempt)
    assert result.status == "failed"
    assert say(language, f"modifica `{name}`", f"modifies `{name}`") in result.message
    assert result.message.endswith(
        say(language, "\n\nPor lo demás, los valores son correctos.", "the values are right.")
    )


def softmax_in_place_following_the_advice(scores):
    scores -= scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    return np.where(scores == -np.inf, 0, weights)


def raise_after_writing(scores):
    scores *= 2
    return scores @ np.ones(7)


@pytest.mark.parametrize(
    "attempt, misconception",
    [(softmax_in_place_following_the_advice, "empty_row"), (raise_after_writing, None)],
)
def test_writing_into_the_input_is_said_before_what_it_may_have_caused(
    attempt, misconception, language
):
    result = check(SOFTMAX, attempt)
    assert result.status == "failed" and result.misconception == misconception
    start = "Todavía no. Tu función modifica `scores`", "Not yet. Your function modifies `scores`"
    advice = "un arreglo nuevo o trabaja con una copia.\n\n", "or work on a copy.\n\n"
    assert result.message.startswith(say(language, *start))
    assert say(language, *advice) in result.message
    if misconception is None:
        assert "`ValueError: matmul" in result.message
    bare = re.sub(r"[`*]", "", result.message)
    assert bare_text(result._repr_html_()).replace("*", "") == "".join(bare.split())


def test_an_output_kept_and_overwritten_by_the_learner_is_judged_as_it_was_returned():
    kept = {}

    def attempt(scores):
        result = kept.setdefault(scores.shape, np.empty(scores.shape))
        result[...] = softmax(scores)
        return result

    assert check(SOFTMAX, attempt)


@pytest.mark.parametrize(
    "where, es, en",
    [
        (
            lambda query, mask: mask is not None and ~mask.any(-1, keepdims=True),
            "`weights[1]`: nada está permitido en esa fila",
            "`weights[1]`: nothing is allowed in that row",
        ),
        (
            lambda query, mask: np.abs(query).max() > 30,
            "`weights[0]`: con números grandes `exp` se desborda",
            "`weights[0]`: with large numbers `exp` overflows",
        ),
    ],
)
def test_nan_is_located(where, es, en, language):
    def attempt(query, key, value, mask=None):
        output, weights = scaled_dot_product_attention(query, key, value, mask)
        # The 7 keeps it from being a known mistake.
        nan = where(query, mask) * np.ones_like(weights, dtype=bool)
        return np.where(nan.any(-1, keepdims=True), 7, output), np.where(nan, np.nan, weights)

    result = check(ATTENTION, attempt)
    assert result.misconception is None
    assert say(language, f"Hay NaN en {es}", f"There is NaN in {en}") in result.message


@pytest.mark.parametrize(
    "attend, es, en",
    [
        (attention_with_nan, "nada está permitido", "nothing is allowed"),
        (attention_with_naive_softmax, "con números grandes", "with large numbers"),
    ],
)
def test_self_attention_inherits_the_nan_of_the_attention_it_calls(attend, es, en, language):
    def attempt(x, w_q, w_k, w_v, mask=None):
        return attend(x @ w_q, x @ w_k, x @ w_v, mask)

    result = check(SELF, attempt)
    assert result.status == "failed" and result.misconception is None
    assert say(language, es, en) in result.message


def test_a_division_by_zero_is_not_called_a_mask_where_there_is_none(language):
    def attempt(vectors, query, k):
        with np.errstate(invalid="ignore"):
            lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(query, axis=-1)[..., None]
            similarity = query @ vectors.T / lengths
        ids = np.argsort(similarity, axis=-1)[..., ::-1][..., :k]
        return ids, np.take_along_axis(similarity, ids, axis=-1)

    message = check("nearest", attempt).message
    assert say(language, "0 entre 0 no es un número", "0 over 0 is not a number") in message
    assert say(language, "nada está permitido", "nothing is allowed") not in message


def test_several_wrong_outputs_are_listed(language):
    attempt = lambda w, b, max_norm: (w + 7, b + 7, np.float64(-7))
    message = check("clip_gradients", attempt).message
    es, en = "`w_gradient`, `b_gradient` y `norm`", "`w_gradient`, `b_gradient` and `norm`"
    assert say(language, es, en) in message


def test_nan_elsewhere_is_located_without_a_guess(language):
    attempt = lambda s: np.where(s < 0, np.nan, softmax(s))
    message = check(SOFTMAX, attempt).message
    assert say(language, "Hay NaN en `weights[0]`. ", "There is NaN in `weights[0]`. ") in message


def test_without_a_known_mistake_the_smallest_failing_input_is_shown(language):
    def attempt(scores):
        return softmax(scores * 1.25) if scores.ndim > 1 else softmax(scores)

    cases = EXERCISES[SOFTMAX].cases(0)
    smallest = min((c["scores"] for c in cases if c["scores"].ndim > 1), key=np.size)
    assert smallest.shape == (2, 2)
    result = check(SOFTMAX, attempt)
    assert result.misconception is None
    with np.printoptions(precision=4, floatmode="fixed"):
        blocks = [smallest, softmax(smallest), attempt(smallest)]
        printed = [str(block).replace("\n", "\n      ") for block in blocks]
    words = say(
        language,
        ["scores, forma", "se espera weights, forma", "tu función da weights, forma"],
        ["scores, shape", "expected weights, shape", "your function gives weights, shape"],
    )
    expected = "\n".join(f"    {w} (2, 2):\n      {p}" for w, p in zip(words, printed, strict=True))
    assert result.message == say(
        language,
        "Todavía no. Los valores de `weights` no son los esperados. "
        f"Falla en 7 de 8 entradas; la más pequeña:\n\n{expected}",
        "Not yet. The values of `weights` are not the expected ones. "
        f"It fails on 7 of 8 inputs; the smallest:\n\n{expected}",
    )


def test_the_order_of_the_cases_does_not_matter(monkeypatch):
    def attempt(query, key, value, mask=None):
        return scaled_dot_product_attention(query if mask is None else 2 * query, key, value, mask)

    exercise = EXERCISES[ATTENTION]
    first = check(ATTENTION, attempt)
    backwards = dataclasses.replace(exercise, cases=lambda seed: exercise.cases(seed)[::-1])
    monkeypatch.setitem(EXERCISES, ATTENTION, backwards)
    assert check(ATTENTION, attempt) == first
    assert "mask, forma (2, 4):" in first.message


def test_of_a_long_array_one_wrong_number_is_shown(language):
    def attempt(query, key, value, mask=None):
        output, weights = scaled_dot_product_attention(query, key, value, mask)
        return output, weights + (query.ndim > 3)

    message = check(ATTENTION, attempt).message
    assert say(language, "query, forma (2, 3, 4, 6)\n", "query, shape (2, 3, 4, 6)\n") in message
    assert (
        say(language, "se espera weights[0, 0, 0, 0]:", "expected weights[0, 0, 0, 0]:") in message
    )


def test_only_the_wrong_output_is_named(language):
    def attempt(query, key, value, mask=None):
        output, weights = scaled_dot_product_attention(query, key, value, mask)
        return output + 1, weights

    message = check(ATTENTION, attempt).message
    assert say(language, "de `output` no son", "of `output` are not") in message


# The cases.


@pytest.mark.parametrize(
    "exercise_id", [id for id, e in EXERCISES.items() if e.outputs[-1] == "weights"]
)
@pytest.mark.parametrize("seed", range(20))
def test_no_case_is_saturated(exercise_id, seed):
    exercise = EXERCISES[exercise_id]
    for case in exercise.cases(seed):
        result = exercise.oracle(**case)
        weights = result if len(exercise.outputs) == 1 else result[-1]
        allowed = case.get("mask", np.isfinite(case.get("scores", np.zeros(weights.shape))))
        choices = np.broadcast_to(allowed, weights.shape).sum(axis=-1)
        assert weights[choices > 1].max() < 0.9


def test_cases_are_arrays_that_go_through_a_file_and_depend_only_on_the_seed(tmp_path):
    for exercise in EXERCISES.values():
        for number, case in enumerate(exercise.cases(3)):
            np.savez(tmp_path / "case.npz", **case)
            with np.load(tmp_path / "case.npz", allow_pickle=False) as stored:
                assert list(stored) == list(case)
                for name, array in exercise.cases(3)[number].items():
                    np.testing.assert_array_equal(stored[name], array)
        assert any(
            not np.array_equal(a, b)
            for one, other in zip(exercise.cases(0), exercise.cases(1), strict=True)
            for a, b in zip(one.values(), other.values(), strict=True)
        )


def test_the_attention_cases_cover_what_they_should():
    cases = EXERCISES[ATTENTION].cases(0)
    masks = [case["mask"] for case in cases if "mask" in case]
    assert len(masks) < len(cases)
    assert any(not mask.any(axis=-1).all() for mask in masks)
    assert {case["query"].ndim for case in cases} == {2, 3, 4}
    assert any(case["query"].shape[-2] != case["key"].shape[-2] for case in cases)
    assert any(case["query"].shape[-2] == case["key"].shape[-2] for case in cases)
    assert all(case["query"].shape[-1] != case["value"].shape[-1] for case in cases)
    assert any(mask.shape[-2] == 1 for mask in masks)
    assert max(np.abs(case["query"] @ case["key"].mT).max() for case in cases) > 1000
    assert all(mask.dtype == bool for mask in masks)


# The interface.


def test_exercises_are_listed_by_chapter_and_those_of_problem_sets_are_not():
    listed = exercises()
    assert list(listed) == [*sorted(c for c in listed if c != "A1"), "A1"]
    assert all(len(ids) >= 3 for ids in listed.values())
    assert listed[3] == (SOFTMAX, ATTENTION, SELF)
    names = {exercise.problem_set for exercise in EXERCISES.values()} - {None}
    for name in names:
        asked = {task.exercise.id for task in problem_set(name).tasks}
        assert {e.id for e in EXERCISES.values() if e.problem_set == name} == asked
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
def test_an_unknown_exercise_is_refused_with_the_known_ones(arguments, got, language):
    ids = ", ".join(map(repr, EXERCISES))
    message = say(
        language,
        f"exercise_id: se esperaba uno de {ids}, y después tu función; llegó {got}",
        f"exercise_id: expected one of {ids}, and then your function; got {got}",
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check(*arguments)


def test_the_result_is_frozen_and_nothing_is_printed(capsys):
    result = check(SOFTMAX, softmax)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.status = "failed"
    assert capsys.readouterr() == ("", "")


def test_what_the_learner_prints_is_left_alone(capsys):
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
def test_the_box_says_what_the_text_says(attempt, kind):
    result = check(SOFTMAX, attempt)
    assert repr(result) == str(result) == result.message
    box = result._repr_html_()
    assert box.startswith(f'<div class="attn-check attn-check-{kind}" role="status"><p><strong>')
    assert "style=" not in box and "`" not in box
    plain = bare_text(box)
    assert plain == "".join(result.message.replace("`", "").split())


def bare_text(box):
    return "".join(html.unescape(re.sub("<[^>]+>", "", box)).split())


def test_text_from_the_learner_is_escaped_in_the_box():
    def attempt(scores):
        raise ValueError("<script>alert(1)</script> & more")

    box = check(SOFTMAX, attempt)._repr_html_()
    assert "<script>" not in box and "&lt;script&gt;" in box and "&amp; more" in box


def test_a_result_shows_the_language_it_was_made_in(language):
    result = check(SOFTMAX, softmax)
    attn.set_language("en" if language == "es" else "es")
    assert result.message.startswith(say(language, "Correcto. ", "Correct. "))


def test_an_integer_equal_to_what_is_expected_is_not_the_fault(language):
    def percent(candidate, wanted, max_n):
        precisions, penalty, score = EXERCISES["bleu"].oracle(candidate, wanted, max_n)
        return precisions, (1 if penalty == 1 else penalty), 100 * score

    message = check("bleu", percent).message
    assert "int64" not in message and "`score`" in message


def test_emphasis_and_code_are_shown_as_such_and_products_are_left_alone():
    message = "Todavía no. Mira *la fila* y `a * b * c`, no 2*d*k ni a * b * c."
    shown = Result("f", "failed", message)._repr_html_()
    assert "<em>la fila</em>" in shown and "<code>a * b * c</code>" in shown
    assert shown.count("<em>") == 1 and "2*d*k ni a * b * c" in shown
