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

    def as_lists(scores):
        return _softmax(scores).tolist()

    as_lists.slips = """
    euclidean_norm: _softmax(scores).tolist() ==> scores / np.linalg.norm(scores, axis=-1, keepdims=True)
    naive: _softmax(scores).tolist() ==> np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    without_exponential: _softmax(scores).tolist() ==> scores / scores.sum(-1, keepdims=True)
    rounded: _softmax(scores).tolist() ==> np.round(_softmax(scores), 2)
    """

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

    def axis_minus_2(scores):
        e = np.exp(scores - scores.max(-2, keepdims=True))
        return np.nan_to_num(e / e.sum(-2, keepdims=True))

    def mean_subtracted(scores):
        e = np.exp(scores - scores.mean(-1, keepdims=True))
        return np.nan_to_num(e / e.sum(-1, keepdims=True))

    def infinity_replaced(scores):
        scores = np.where(np.isinf(scores), -1e9, scores)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def not_divided(scores):
        top = scores.max(-1, keepdims=True)
        return np.exp(scores - np.where(np.isinf(top), 0, top))

    def logarithm(scores):
        top = scores.max(-1, keepdims=True)
        shifted = scores - top
        return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))

    def right_plain(scores):
        top = scores.max(-1, keepdims=True)
        e = np.exp(scores - np.where(np.isinf(top), 0, top))
        return np.nan_to_num(e / e.sum(-1, keepdims=True))

    right_plain.slips = """
    base_2: np.exp(scores - np.where(np.isinf(top), 0, top)) ==> 2.0 ** (scores - np.where(np.isinf(top), 0, top))
    mean_in_place_of_sum: e.sum ==> e.mean
    maximum_of_each_column: scores.max(-1, keepdims=True) ==> scores.max(0) && np.where(np.isinf(top), 0, top) ==> top && np.nan_to_num(e / e.sum(-1, keepdims=True)) ==> e / e.sum(-1, keepdims=True)
    epsilon_below: np.nan_to_num(e / e.sum(-1, keepdims=True)) ==> e / (e.sum(-1, keepdims=True) + 1e-9)
    total_of_everything: np.nan_to_num(e / e.sum(-1, keepdims=True)) ==> e / e.sum()
    constant_in_the_total: np.nan_to_num(e / e.sum(-1, keepdims=True)) ==> e / (e.sum(-1, keepdims=True) + 1e-3)
    absolute_maximum: scores.max ==> np.abs(scores).max && np.where(np.isinf(top), 0, top) ==> top
    """

    def divided_by_the_largest(scores):
        e = np.exp(scores / scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def subtracts_after_the_exponential(scores):
        e = np.exp(scores)
        e = e - e.max(-1, keepdims=True)
        return e / e.sum(-1, keepdims=True)

    def in_place(scores):
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        return np.nan_to_num(scores)

    def python_max(scores):
        e = np.exp(scores - max(scores))
        return e / sum(e)

    python_max.slips = """
    no_empty_rows: max(scores) ==> scores.max(-1, keepdims=True) && sum(e) ==> e.sum(-1, keepdims=True)
    nan_to_num_over_naive: scores - max(scores) ==> scores && e / sum(e) ==> np.nan_to_num(e / e.sum(-1, keepdims=True))
    maximum_and_total_of_everything: max(scores) ==> np.max(scores) && sum(e) ==> np.sum(e)
    maximum_of_everything: max(scores) ==> np.max(scores) && e / sum(e) ==> np.nan_to_num(e / e.sum(-1, keepdims=True))
    axis_0: max(scores) ==> scores.max(0) && e / sum(e) ==> np.nan_to_num(e / e.sum(0))
    axis_1: max(scores) ==> scores.max(1, keepdims=True) && e / sum(e) ==> np.nan_to_num(e / e.sum(1, keepdims=True))
    no_keepdims: max(scores) ==> scores.max(-1) && e / sum(e) ==> np.nan_to_num(e / e.sum(-1))
    minimum_subtracted: max(scores) ==> scores.min(-1, keepdims=True) && sum(e) ==> e.sum(-1, keepdims=True)
    clipped_at_700: scores - max(scores) ==> np.clip(scores, -700, 700) && sum(e) ==> e.sum(-1, keepdims=True)
    math_exp: np.exp ==> math.exp
    np_max_as_maximum: max(scores) ==> np.max(-1, scores) && sum(e) ==> e.sum(-1, keepdims=True)
    method_without_parentheses: max(scores) ==> scores.max && sum(e) ==> e.sum(-1, keepdims=True)
    """

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

    def sharpened(scores):
        top = scores.max(-1, keepdims=True)
        e = np.exp((scores - np.where(np.isinf(top), 0, top)) / np.sqrt(scores.shape[-1]))
        return np.nan_to_num(e / e.sum(-1, keepdims=True))


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

    no_scale.slips = r"""
    scaled_after_the_softmax: _softmax(scores) ==> _softmax(scores) / np.sqrt(key.shape[-1])
    both_scaled: scores = query @ key.mT ==> root = np.sqrt(key.shape[-1])\n    scores = (query / root) @ (key / root).mT
    """

    def right_plain(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return weights @ value, weights

    right_plain.slips = r"""
    multiplied_by_root: query @ key.mT / np.sqrt(key.shape[-1]) ==> query @ key.mT * np.sqrt(key.shape[-1])
    key_times_query: query @ key.mT ==> key @ query.mT
    always_masked: if mask is not None:\n        scores ==> scores
    element_product: query @ key.mT ==> query * key
    root_of_keys: key.shape[-1] ==> len(key)
    scaled_by_d: np.sqrt(key.shape[-1]) ==> key.shape[-1]
    root_of_d_v: key.shape ==> value.shape
    mask_inverted: np.where(mask, scores, -np.inf) ==> np.where(mask, -np.inf, scores)
    masked_with_zero: np.where(mask, scores, -np.inf) ==> scores * mask
    zero_scores_and_no_empty_rows: np.where(mask, scores, -np.inf) ==> scores * mask && _softmax(scores)\n ==> _softmax(scores) * (True if mask is None else mask.any(-1, keepdims=True))\n
    zeroed_after_the_output: -np.inf ==> -1e9 && weights @ value, weights ==> weights @ value, weights if mask is None else weights * mask
    minus_a_billion: -np.inf ==> -1e9
    minus_ten: -np.inf ==> -10
    infinity_times_zero: np.where(mask, scores, -np.inf) ==> scores + (1 - mask) * -np.inf
    swapped: weights @ value, weights ==> weights, weights @ value
    only_output: weights = _softmax(scores)\n    return weights @ value, weights ==> return _softmax(scores) @ value
    capital_t: key.mT ==> key.T
    not_transposed: key.mT ==> key
    softmax_over_the_queries: _softmax(scores) ==> _softmax(scores.mT).mT
    index_by_the_mask: scores = np.where(mask, scores, -np.inf) ==> scores[~mask] = -np.inf
    mask_in_a_condition: mask is not None ==> mask
    compared_with_none: mask is not None ==> mask != None
    forgets_to_assign: scores = np.where(mask, scores, -np.inf) ==> np.where(mask, scores, -np.inf)
    minus_the_mask: np.where(mask, scores, -np.inf) ==> np.where(-mask, -np.inf, scores)
    output_divided_again: weights @ value ==> weights @ value / value.shape[-2]
    weights_are_scores: weights = _softmax(scores)\n    return weights @ value, weights ==> return _softmax(scores) @ value, scores
    """

    def masked_after(query, key, value, mask=None):
        weights = _softmax(query @ key.mT / np.sqrt(key.shape[-1]))
        if mask is not None:
            weights = weights * mask
        return weights @ value, weights

    masked_after.slips = r"""
    mask_ignored: \n    if mask is not None:\n        weights = weights * mask ==>
    masked_after_and_renormalised: * mask ==> * mask\n        weights = weights / (weights.sum(-1, keepdims=True) + 1e-12)
    infinity_into_the_weights: weights * mask ==> np.where(mask, weights, -np.inf)
    values_masked_too: weights = weights * mask ==> value = np.where(mask.any(-2)[..., None], value, 0)
    """

    def minus_fifty_then_multiplied(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = scores - 50 * ~mask
        weights = _softmax(scores)
        if mask is not None:
            weights = weights * mask
        return weights @ value, weights

    def nan_for_empty_rows(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        weights = e / e.sum(-1, keepdims=True)
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

    def causal_by_habit(query, key, value, mask=None):
        scores = query @ key.mT / np.sqrt(key.shape[-1])
        causal = np.tril(np.ones(scores.shape[-2:], dtype=bool))
        if mask is not None:
            causal = causal & mask
        weights = _softmax(np.where(causal, scores, -np.inf))
        return weights @ value, weights

    def pytorch_transpose(query, key, value, mask=None):
        scores = query @ key.transpose(-2, -1) / np.sqrt(key.shape[-1])
        weights = _softmax(scores)
        return weights @ value, weights


class self_attention:
    def right_flat(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x @ w_v), weights

    right_flat.slips = """
    values_not_projected: x @ w_v ==> x
    multiplies_from_the_left: x @ w_q ==> w_q @ x && x @ w_k ==> w_k @ x && x @ w_v ==> w_v @ x
    root_of_d_model: w_k.shape[1] ==> x.shape[-1]
    root_of_d_v: w_k.shape[1] ==> w_v.shape[-1]
    no_scale: (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1]) ==> (x @ w_q) @ (x @ w_k).mT
    mask_forgotten: scores if mask is None else np.where(mask, scores, -np.inf) ==> scores
    mask_inverted: np.where(mask, scores, -np.inf) ==> np.where(mask, -np.inf, scores)
    keys_and_queries_exchanged: (x @ w_q) @ (x @ w_k).mT ==> (x @ w_k) @ (x @ w_q).mT
    query_matrix_twice: x @ w_k ==> x @ w_q
    key_matrix_twice: x @ w_q ==> x @ w_k
    key_matrix_for_values: x @ w_v ==> x @ w_k
    swapped: weights @ (x @ w_v), weights ==> weights, weights @ (x @ w_v)
    residual_added: weights @ (x @ w_v) ==> x + weights @ (x @ w_v)
    minus_a_billion: -np.inf ==> -1e9
    capital_t: (x @ w_k).mT ==> (x @ w_k).T
    element_product: x @ w_q ==> x * w_q && x @ w_k ==> x * w_k && x @ w_v ==> x * w_v
    only_output: weights @ (x @ w_v), weights ==> weights @ (x @ w_v)
    """

    def no_projections(x, w_q, w_k, w_v, mask=None):
        scores = x @ x.mT / np.sqrt(x.shape[-1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ x, weights

    def right_one_matrix(x, w_q, w_k, w_v, mask=None):
        both = w_q @ w_k.T / np.sqrt(w_q.shape[-1])
        scores = np.einsum("...qd,de,...ke->...qk", x, both, x)
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = _softmax(scores)
        return (weights @ x) @ w_v, weights

    def transposed_weights(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q.T) @ (x @ w_k.T).mT / np.sqrt(w_k.shape[0])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x @ w_v.T), weights

    def mask_not_passed_on(x, w_q, w_k, w_v, mask=None):
        def attend(q, k, v, mask=None):
            scores = q @ k.mT / np.sqrt(k.shape[-1])
            weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
            return weights @ v, weights

        return attend(x @ w_q, x @ w_k, x @ w_v)

    def softmax_over_the_queries(x, w_q, w_k, w_v, mask=None):
        scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax((scores if mask is None else np.where(mask, scores, -np.inf)).mT).mT
        return weights @ (x @ w_v), weights

    def masked_after(x, w_q, w_k, w_v, mask=None):
        weights = _softmax((x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1]))
        if mask is not None:
            weights = weights * mask
        return weights @ (x @ w_v), weights

    def overwrites_x(x, w_q, w_k, w_v, mask=None):
        x = x @ w_q
        k = x @ w_k
        v = x @ w_v
        scores = x @ k.mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ v, weights

    def scale_twice(x, w_q, w_k, w_v, mask=None):
        q = x @ w_q / np.sqrt(w_q.shape[1])
        scores = q @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        weights = _softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ (x @ w_v), weights
