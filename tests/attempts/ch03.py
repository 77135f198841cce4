# ruff: noqa: RUF100 (what students write)
"""What students may hand in to the exercises of chapter 03, written from their statements alone."""

import math

import numpy as np


def _softmax(scores):
    """Return a right softmax, which a mistake elsewhere may call."""
    top = np.max(scores, axis=-1, keepdims=True)
    top = np.where(np.isinf(top), 0, top)
    powers = np.exp(scores - top)
    total = powers.sum(-1, keepdims=True)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)


class softmax:
    def loop_over_rows_without_empty_ones(scores):
        out = np.zeros_like(scores)
        for i, row in enumerate(scores):
            e = np.exp(row - row.max())
            out[i] = e / e.sum()
        return out

    def loop_over_rows_without_maximum(scores):
        return np.array([np.exp(row) / np.exp(row).sum() for row in scores])

    def euclidean_norm(scores):
        return scores / np.linalg.norm(scores, axis=-1, keepdims=True)

    def epsilon_below(scores):
        top = scores.max(-1, keepdims=True)
        e = np.exp(scores - np.where(np.isinf(top), 0, top))
        return e / (e.sum(-1, keepdims=True) + 1e-9)

    def as_lists(scores):
        return _softmax(scores).tolist()

    def right_reduce(scores):
        scores = np.asarray(scores, dtype=float)
        log_total = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
        return np.exp(scores - np.where(np.isinf(log_total), 0, log_total))

    def right_rows(scores):
        rows = scores.reshape(-1, scores.shape[-1])
        out = np.zeros(rows.shape)
        for i, row in enumerate(rows):
            if row.max() > -np.inf:
                e = np.exp(row - row.max())
                out[i] = e / e.sum()
        return out.reshape(scores.shape)

    def naive(scores):
        return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)

    def no_empty_rows(scores):
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def nan_to_num_over_naive(scores):
        e = np.exp(scores)
        return np.nan_to_num(e / e.sum(-1, keepdims=True))

    def total_of_everything(scores):
        top = scores.max(-1, keepdims=True)
        e = np.exp(scores - np.where(np.isinf(top), 0, top))
        return e / e.sum()

    def maximum_and_total_of_everything(scores):
        e = np.exp(scores - np.max(scores))
        return e / np.sum(e)

    def maximum_of_everything(scores):
        e = np.exp(scores - np.max(scores))
        return np.nan_to_num(e / e.sum(-1, keepdims=True))

    def axis_0(scores):
        e = np.exp(scores - scores.max(0))
        return np.nan_to_num(e / e.sum(0))

    def axis_1(scores):
        e = np.exp(scores - scores.max(1, keepdims=True))
        return np.nan_to_num(e / e.sum(1, keepdims=True))

    def axis_minus_2(scores):
        e = np.exp(scores - scores.max(-2, keepdims=True))
        return np.nan_to_num(e / e.sum(-2, keepdims=True))

    def no_keepdims(scores):
        e = np.exp(scores - scores.max(-1))
        return np.nan_to_num(e / e.sum(-1))

    def mean_subtracted(scores):
        e = np.exp(scores - scores.mean(-1, keepdims=True))
        return np.nan_to_num(e / e.sum(-1, keepdims=True))

    def minimum_subtracted(scores):
        e = np.exp(scores - scores.min(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def clipped_at_700(scores):
        e = np.exp(np.clip(scores, -700, 700))
        return e / e.sum(-1, keepdims=True)

    def infinity_replaced(scores):
        scores = np.where(np.isinf(scores), -1e9, scores)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def constant_in_the_total(scores):
        top = scores.max(-1, keepdims=True)
        e = np.exp(scores - np.where(np.isinf(top), 0, top))
        return e / (e.sum(-1, keepdims=True) + 1e-3)

    def base_2(scores):
        top = scores.max(-1, keepdims=True)
        e = 2.0 ** (scores - np.where(np.isinf(top), 0, top))
        return np.nan_to_num(e / e.sum(-1, keepdims=True))

    def not_divided(scores):
        top = scores.max(-1, keepdims=True)
        return np.exp(scores - np.where(np.isinf(top), 0, top))

    def logarithm(scores):
        top = scores.max(-1, keepdims=True)
        shifted = scores - top
        return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))

    def mean_in_place_of_sum(scores):
        top = scores.max(-1, keepdims=True)
        e = np.exp(scores - np.where(np.isinf(top), 0, top))
        return np.nan_to_num(e / e.mean(-1, keepdims=True))

    def divided_by_the_largest(scores):
        e = np.exp(scores / scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def subtracts_after_the_exponential(scores):
        e = np.exp(scores)
        e = e - e.max(-1, keepdims=True)
        return e / e.sum(-1, keepdims=True)

    def without_exponential(scores):
        return scores / scores.sum(-1, keepdims=True)

    def in_place(scores):
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        return np.nan_to_num(scores)

    def math_exp(scores):
        e = math.exp(scores - max(scores))
        return e / sum(e)

    def python_max(scores):
        e = np.exp(scores - max(scores))
        return e / sum(e)

    def list_of_numbers(scores):
        e = [math.exp(s) for s in scores]
        return [x / sum(e) for x in e]

    def uniform_for_empty_rows(scores):
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return np.nan_to_num(e / e.sum(-1, keepdims=True), nan=1 / scores.shape[-1])

    def empty_only_if_all_empty(scores):
        if np.all(np.isinf(scores)):
            return np.zeros(scores.shape)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def condition_on_rows(scores):
        top = scores.max(-1, keepdims=True)
        if top == -np.inf:
            return np.zeros_like(scores)
        e = np.exp(scores - top)
        return e / e.sum(-1, keepdims=True)

    def np_max_as_maximum(scores):
        e = np.exp(scores - np.max(-1, scores))
        return e / e.sum(-1, keepdims=True)

    def absolute_maximum(scores):
        top = np.abs(scores).max(-1, keepdims=True)
        e = np.exp(scores - top)
        return np.nan_to_num(e / e.sum(-1, keepdims=True))

    def sharpened(scores):
        top = scores.max(-1, keepdims=True)
        e = np.exp((scores - np.where(np.isinf(top), 0, top)) / np.sqrt(scores.shape[-1]))
        return np.nan_to_num(e / e.sum(-1, keepdims=True))

    def rounded(scores):
        return np.round(_softmax(scores), 2)

    def method_without_parentheses(scores):
        e = np.exp(scores - scores.max)
        return e / e.sum(-1, keepdims=True)


class scaled_dot_product_attention:
    def key_and_value_exchanged(query, key, value, mask=None):
        scores = query @ value.mT / np.sqrt(query.shape[-1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ key, weights

    def root_as_int(query, key, value, mask=None):
        scores = query @ key.mT / int(np.sqrt(query.shape[-1]))
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ value, weights

    def cosine(query, key, value, mask=None):
        lengths = (
            np.linalg.norm(query, axis=-1)[..., None] * np.linalg.norm(key, axis=-1)[..., None, :]
        )
        scores = query @ key.mT / lengths
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ value, weights

    def right_where(query, key, value, mask=None):
        scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    def right_multiplied(query, key, value, mask=None):
        scores = np.einsum("...qd,...kd->...qk", query, key) * key.shape[-1] ** -0.5
        allowed = (
            np.ones(scores.shape, bool) if mask is None else np.broadcast_to(mask, scores.shape)
        )
        top = np.max(scores, -1, keepdims=True, where=allowed, initial=-1e300)
        e = np.where(allowed, np.exp(np.minimum(scores - top, 0)), 0)
        total = e.sum(-1, keepdims=True)
        weights = e / np.where(total == 0, 1, total)
        return np.einsum("...qk,...kd->...qd", weights, value), weights

    def no_scale(query, key, value, mask=None):
        scores = query @ key.mT
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    def scaled_by_d(query, key, value, mask=None):
        scores = query @ key.mT / key.shape[-1]
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    def multiplied_by_root(query, key, value, mask=None):
        scores = query @ key.mT * np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    def root_of_keys(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(len(key))
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    def root_of_d_v(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(value.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    def scaled_after_the_softmax(query, key, value, mask=None):
        scores = query @ key.mT
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores) / np.sqrt(key.shape[-1])
        return weights @ value, weights

    def mask_inverted(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        weights = _softmax(scores)
        return weights @ value, weights

    def mask_ignored(query, key, value, mask=None):
        weights = _softmax(query @ key.mT / np.sqrt(key.shape[-1]))
        return weights @ value, weights

    def masked_after(query, key, value, mask=None):
        weights = _softmax(query @ key.mT / np.sqrt(key.shape[-1]))
        if mask is not None:
            weights = weights * mask
        return weights @ value, weights

    def masked_after_and_renormalised(query, key, value, mask=None):
        weights = _softmax(query @ key.mT / np.sqrt(key.shape[-1]))
        if mask is not None:
            weights = weights * mask
            weights = weights / (weights.sum(-1, keepdims=True) + 1e-12)
        return weights @ value, weights

    def masked_with_zero(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = scores * mask
        weights = _softmax(scores)
        return weights @ value, weights

    def minus_a_billion(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -1e9)
        weights = _softmax(scores)
        return weights @ value, weights

    def minus_fifty_then_multiplied(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = scores - 50 * ~mask
        weights = _softmax(scores)
        if mask is not None:
            weights = weights * mask
        return weights @ value, weights

    def minus_ten(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -10)
        weights = _softmax(scores)
        return weights @ value, weights

    def infinity_times_zero(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = scores + (1 - mask) * -np.inf
        weights = _softmax(scores)
        return weights @ value, weights

    def infinity_into_the_weights(query, key, value, mask=None):
        weights = _softmax(query @ key.mT / np.sqrt(key.shape[-1]))
        if mask is not None:
            weights = np.where(mask, weights, -np.inf)
        return weights @ value, weights

    def nan_for_empty_rows(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        weights = e / e.sum(-1, keepdims=True)
        return weights @ value, weights

    def swapped(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights, weights @ value

    def only_output(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        return _softmax(scores) @ value

    def capital_t(query, key, value, mask=None):
        scores = query @ key.T / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    def not_transposed(query, key, value, mask=None):
        scores = query @ key / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    def key_times_query(query, key, value, mask=None):
        scores = key @ query.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    def softmax_over_the_queries(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores.mT).mT
        return weights @ value, weights

    def naive_softmax(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        e = np.exp(scores)
        weights = np.nan_to_num(e / e.sum(-1, keepdims=True))
        return weights @ value, weights

    def loop_over_the_mask(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            for i in range(len(scores)):
                for j in range(len(scores[0])):
                    if not mask[i][j]:
                        scores[i][j] = -np.inf
        weights = _softmax(scores)
        return weights @ value, weights

    def index_by_the_mask(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores[~mask] = -np.inf
        weights = _softmax(scores)
        return weights @ value, weights

    def mask_in_a_condition(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    def compared_with_none(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask != None:  # noqa: E711
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    def always_masked(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    def forgets_to_assign(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    def minus_the_mask(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(-mask, -np.inf, scores)
        weights = _softmax(scores)
        return weights @ value, weights

    def values_masked_too(query, key, value, mask=None):
        weights = _softmax(query @ key.mT / np.sqrt(key.shape[-1]))
        if mask is not None:
            value = np.where(mask.any(-2)[..., None], value, 0)
        return weights @ value, weights

    def element_product(query, key, value, mask=None):
        scores = query * key / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    def causal_by_habit(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        causal = np.tril(np.ones(scores.shape[-2:], dtype=bool))
        if mask is not None:
            causal = causal & mask
        weights = _softmax(np.where(causal, scores, -np.inf))
        return weights @ value, weights

    def output_divided_again(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value / value.shape[-2], weights

    def both_scaled(query, key, value, mask=None):
        root = np.sqrt(key.shape[-1])
        scores = (query / root) @ (key / root).mT
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    def weights_are_scores(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        return _softmax(scores) @ value, scores

    def pytorch_transpose(query, key, value, mask=None):
        scores = query @ key.transpose(-2, -1) / np.sqrt(key.shape[-1])
        weights = _softmax(scores)
        return weights @ value, weights


class self_attention:
    def right_flat(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x @ w_v), weights

    def right_one_matrix(x, w_q, w_k, w_v, mask=None):
        both = w_q @ w_k.T / np.sqrt(w_q.shape[-1])
        scores = np.einsum("...qd,de,...ke->...qk", x, both, x)
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return (weights @ x) @ w_v, weights

    def no_projections(x, w_q, w_k, w_v, mask=None):
        scores = x @ x.mT / np.sqrt(x.shape[-1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ x, weights

    def values_not_projected(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ x, weights

    def transposed_weights(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q.T) @ (x @ w_k.T).mT / np.sqrt(w_k.shape[0])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x @ w_v.T), weights

    def multiplies_from_the_left(x, w_q, w_k, w_v, mask=None):
        scores = (w_q @ x) @ (w_k @ x).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (w_v @ x), weights

    def root_of_d_model(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(x.shape[-1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x @ w_v), weights

    def root_of_d_v(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_v.shape[-1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x @ w_v), weights

    def no_scale(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).mT
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x @ w_v), weights

    def mask_forgotten(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores)
        return weights @ (x @ w_v), weights

    def mask_inverted(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, -np.inf, scores))
        return weights @ (x @ w_v), weights

    def keys_and_queries_exchanged(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_k) @ (x @ w_q).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x @ w_v), weights

    def query_matrix_twice(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_q).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x @ w_v), weights

    def key_matrix_twice(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_k) @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x @ w_v), weights

    def key_matrix_for_values(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x @ w_k), weights

    def swapped(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights, weights @ (x @ w_v)

    def mask_not_passed_on(x, w_q, w_k, w_v, mask=None):
        def attend(q, k, v, mask=None):
            scores = q @ k.mT / np.sqrt(k.shape[-1])
            weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
            return weights @ v, weights

        return attend(x @ w_q, x @ w_k, x @ w_v)

    def residual_added(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return x + weights @ (x @ w_v), weights

    def softmax_over_the_queries(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax((scores if mask is None else np.where(mask, scores, -np.inf)).mT).mT
        return weights @ (x @ w_v), weights

    def masked_after(x, w_q, w_k, w_v, mask=None):
        weights = _softmax((x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1]))
        if mask is not None:
            weights = weights * mask
        return weights @ (x @ w_v), weights

    def minus_a_billion(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -1e9))
        return weights @ (x @ w_v), weights

    def overwrites_x(x, w_q, w_k, w_v, mask=None):
        x = x @ w_q
        k = x @ w_k
        v = x @ w_v
        scores = x @ k.mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ v, weights

    def capital_t(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).T / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x @ w_v), weights

    def element_product(x, w_q, w_k, w_v, mask=None):
        scores = (x * w_q) @ (x * w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x * w_v), weights

    def scale_twice(x, w_q, w_k, w_v, mask=None):
        q = x @ w_q / np.sqrt(w_q.shape[1])
        scores = q @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x @ w_v), weights

    def only_output(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x @ w_v)
