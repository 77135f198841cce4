"""Known mistakes are named, however they are written."""

import math

import numpy as np
import pytest
import torch

from attn.reference import softmax
from attn_course.exercises import check, exercises
from attn_course.exercises.catalogue import load
from tests.solutions.ch03 import softmax_einsum
from tests.wrong_attempts import (
    activated,
    assigned_without_if,
    attention_added_minus,
    attention_first_only,
    attention_indexing_the_mask,
    attention_inverted_in_torch,
    attention_over_queries,
    attention_scaled_at_the_end,
    attention_scores_times_mask,
    attention_scores_times_mask_minus,
    attention_transposed_by_hand,
    attention_unscaled,
    attention_unscaled_in_torch,
    attention_with_naive_softmax,
    attention_with_nan,
    centred,
    clipped,
    cosine_plus,
    embed_one_sentence,
    heads_one_by_one,
    if_mask,
    if_mask_in_torch,
    if_not_equal_none,
    if_not_none,
    infinite_weights,
    infinity_added,
    infinity_and_factor,
    mask_added_in_place,
    mask_or_all,
    mask_read_by_element,
    masked_afterwards,
    masking,
    norm,
    penalised,
    score_with_batched_product,
    score_with_precedence_in_a_variable,
    scoring,
    self_attention_asking_with_keys,
    self_attention_for_a_batch,
    self_attention_for_one_sentence,
    self_attention_like_linear,
    self_attention_on_the_left,
    self_attention_unscaled,
    softmax_axis_one_in_torch,
    softmax_columns_in_a_loop,
    softmax_textbook,
    softmax_unpacking_two,
    softmax_without_maximum,
    softmax_without_maximum_in_math,
    split_with_a_batch,
    subtracted_without_if,
    total_of_everything,
    users_first,
    without_nan,
)

ATTENTION = "scaled_dot_product_attention"
COSINE = "cosine_similarity"
EXERCISES = {name: load(name) for ids in exercises().values() for name in ids}
FEED = "feed_forward"
MULTI = "multi_head_attention"
NORM = "layer_norm"
SELF = "self_attention"
SOFTMAX = "softmax"
SPLIT = "split_heads"


REWRITTEN = [
    (SOFTMAX, total_of_everything, "whole_array"),
    (SOFTMAX, lambda scores: softmax(np.nan_to_num(scores)), "finite_infinity"),
    (SOFTMAX, lambda s: softmax_textbook(np.where(s == -np.inf, -1e9, s)), "finite_infinity"),
    (SOFTMAX, clipped, "clipped"),
    (SOFTMAX, centred, "mean_subtracted"),
    (SOFTMAX, lambda scores: np.nan_to_num(centred(scores)), "mean_subtracted"),
    (SOFTMAX, without_nan, "overflow"),
    (ATTENTION, masked_afterwards(lambda w, total: w / (total + 1e-12)), "forbidden_takes_it_all"),
    (ATTENTION, masked_afterwards(lambda w, t: w / np.maximum(t, 1e-30)), "forbidden_takes_it_all"),
    (ATTENTION, masked_afterwards(lambda w, total: w / total), "forbidden_takes_it_all"),
    (ATTENTION, penalised(lambda s, m: s - 50 * (1 - m)), "forbidden_takes_it_all"),
    (ATTENTION, penalised(lambda s, m: s - 50 * (1 - m), removed=False), "forbidden_takes_it_all"),
    (ATTENTION, penalised(lambda s, m: np.where(m, s, -100)), "fill_too_high"),
    (ATTENTION, infinite_weights, "infinite_weights"),
    (ATTENTION, mask_read_by_element, "mask_by_element"),
    (ATTENTION, masking(if_not_none, total_of_everything), "softmax_over_everything"),
    (ATTENTION, masking(if_not_none, clipped), "clipped"),
    (ATTENTION, masking(if_not_none, centred), "mean_subtracted"),
    (ATTENTION, masking(if_not_none, without_nan), "overflow"),
    (COSINE, cosine_plus(1e-8), "number_added"),
    (COSINE, cosine_plus(1e-6), "number_added"),
    ("embed", embed_one_sentence, "one_sentence"),
    ("rating_gradients", users_first, "one_after_the_other"),
    (SPLIT, split_with_a_batch, "one_batch"),
    (
        SPLIT,
        lambda x, n: x.reshape(x.shape[0], x.shape[1], n, -1).transpose(0, 2, 1, 3),
        "one_batch",
    ),
    (MULTI, heads_one_by_one(root=lambda n_heads, d_k: np.sqrt(n_heads)), "root_of_n_heads"),
    (MULTI, heads_one_by_one(root=lambda n_heads, d_k: d_k), "no_root_taken"),
    (MULTI, heads_one_by_one(cut=lambda w, part: w[part].T), "matrices_transposed"),
    (MULTI, heads_one_by_one(stack=np.stack), "heads_before_the_batch"),
    (MULTI, heads_one_by_one(stack=list), "heads_before_the_batch"),
    (FEED, activated(lambda z: torch.nn.functional.gelu(torch.tensor(z)).numpy()), "gelu"),
    (FEED, activated(lambda z: torch.nn.functional.silu(torch.tensor(z)).numpy()), "gelu"),
    (FEED, lambda x, w, b, v, c: np.maximum(0, x @ w) + b @ v + c, "parenthesis_missing"),
    (NORM, norm(lambda x, mean, std, gain, bias: (gain * (x - mean) + bias) / std), "bias_divided"),
    (NORM, norm(lambda x, mean, std, gain, bias: gain * ((x - mean + bias) / std)), "bias_divided"),
    (NORM, norm(lambda x, mean, std, gain, bias: gain * (x - mean / std) + bias), "mean_divided"),
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
    (ATTENTION, masking(lambda s, m: np.where(m.astype(bool), s, -np.inf)), "mask_without_if"),
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


@pytest.mark.parametrize("exercise_id", {name: None for name, *_ in REWRITTEN})
def test_the_same_mistake_written_differently_gets_the_same_hint(exercise_id):
    hints = {known.id: known.hint for known in EXERCISES[exercise_id].misconceptions}
    for name, attempt, misconception in REWRITTEN:
        if name == exercise_id:
            result = check(name, attempt)
            assert result.misconception == misconception, f"{misconception}: {result}"
            assert hints[misconception]["es"] in result.message


def test_right_answers_close_to_a_mistake_pass():
    assert check(MULTI, heads_one_by_one())
    assert check(COSINE, cosine_plus(1e-300))
    assert check(ATTENTION, penalised(lambda s, m: np.where(m, s, -1e9)))
    assert check(NORM, norm(lambda x, mean, std, gain, bias: gain * ((x - mean) / std) + bias))


def cross_attention_as_in_pytorch(x, memory, w_q, w_k, w_v, memory_mask=None):
    scores = x @ w_q @ (memory @ w_k).mT / np.sqrt(w_q.shape[-1])
    if memory_mask is not None:
        scores = np.where(memory_mask.unsqueeze(-2), scores, -np.inf)
    weights = softmax(scores)
    return weights @ (memory @ w_v), weights


def layer_norm_with_a_keyword_of_pytorch(x, gain, bias, eps=1e-5):
    kept = {"keepdim" if x.ndim > 1 else "keepdims": True}
    variance = x.var(axis=-1, **kept)
    return gain * (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(variance + eps) + bias


@pytest.mark.parametrize(
    "name, attempt, lacking",
    [
        ("cross_attention", cross_attention_as_in_pytorch, "unsqueeze"),
        (NORM, layer_norm_with_a_keyword_of_pytorch, "keepdim"),
    ],
)
def test_a_name_that_numpy_lacks_is_not_named_as_another_mistake(name, attempt, lacking):
    """The axes are right: the method or the keyword does not exist in NumPy."""
    result = check(name, attempt)
    assert result.misconception is None and lacking in result.message
