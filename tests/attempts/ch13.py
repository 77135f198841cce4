# ruff: noqa: B905, RUF059 (what students write)
"""What students may hand in to the exercises of chapter 13, written from their statements alone."""

import numpy as np


def _normed(stream, gain):
    return stream / np.sqrt((stream**2).mean(-1, keepdims=True) + 1e-5) * gain


def _rank(logits, token):
    return 1 + (logits > logits[..., token, None]).sum(-1)


class logit_lens:
    def right_sorted(stream, gain, table, token):
        order = np.argsort(-(_normed(stream, gain) @ table.T), axis=-1)
        return (order == token).argmax(-1) + 1

    def right_two_sorts(stream, gain, table, token):
        logits = np.einsum("...d,vd->...v", _normed(stream, gain), table)
        return (-logits).argsort(-1).argsort(-1)[..., token] + 1

    def right_loop(stream, gain, table, token):
        ranks = np.zeros(stream.shape[:-1], dtype=int)
        for place in np.ndindex(ranks.shape):
            x = stream[place]
            x = x / np.sqrt(np.mean(x * x) + 1e-5) * gain
            own = x @ table[token]
            ranks[place] = 1 + sum(1 for row in table if x @ row > own)
        return ranks

    def right_softmax(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        e = np.exp(logits - logits.max(-1, keepdims=True))
        return _rank(e / e.sum(-1, keepdims=True), token)

    # To divide a vector by its size changes none of the comparisons between its logits.
    def right_size_left_out(stream, gain, table, token):
        return _rank((stream * gain) @ table.T, token)

    def from_zero(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return (logits > logits[..., [token]]).sum(-1)

    def ascending(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return 1 + (logits < logits[..., [token]]).sum(-1)

    def ascending_from_zero(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return (logits < logits[..., [token]]).sum(-1)

    def at_least_and_one_more(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return 1 + (logits >= logits[..., [token]]).sum(-1)

    def no_normalisation(stream, gain, table, token):
        return _rank(stream @ table.T, token)

    def forgets_the_gain(stream, gain, table, token):
        return _rank(_normed(stream, 1.0) @ table.T, token)

    def layer_norm(stream, gain, table, token):
        centred = stream - stream.mean(-1, keepdims=True)
        x = centred / np.sqrt(stream.var(-1, keepdims=True) + 1e-5) * gain
        return _rank(x @ table.T, token)

    def norm_over_the_first_axis(stream, gain, table, token):
        x = stream / np.sqrt((stream**2).mean(0) + 1e-5) * gain
        return _rank(x @ table.T, token)

    def gain_added(stream, gain, table, token):
        return _rank((_normed(stream, 1.0) + gain) @ table.T, token)

    def one_plus_the_gain(stream, gain, table, token):
        return _rank(_normed(stream, 1 + gain) @ table.T, token)

    def gain_twice(stream, gain, table, token):
        return _rank(_normed(stream, gain) * gain @ table.T, token)

    def divides_by_the_gain(stream, gain, table, token):
        return _rank(_normed(stream, 1 / gain) @ table.T, token)

    def mean_of_the_gain(stream, gain, table, token):
        return _rank(_normed(stream, gain.mean()) @ table.T, token)

    def square_without_mean(stream, gain, table, token):
        return _rank(stream / np.sqrt(stream**2 + 1e-5) * gain @ table.T, token)

    def no_keepdims(stream, gain, table, token):
        x = stream / np.sqrt((stream**2).mean(-1) + 1e-5) * gain
        return _rank(x @ table.T, token)

    def cosine_with_the_table(stream, gain, table, token):
        rows = table / np.linalg.norm(table, axis=-1, keepdims=True)
        return _rank(_normed(stream, gain) @ rows.T, token)

    def nearest_row(stream, gain, table, token):
        x = _normed(stream, gain)
        return _rank(-((x[..., None, :] - table) ** 2).sum(-1), token)

    def absolute_logits(stream, gain, table, token):
        return _rank(np.abs(_normed(stream, gain) @ table.T), token)

    def table_not_transposed(stream, gain, table, token):
        return _rank(_normed(stream, gain) @ table, token)

    def table_first(stream, gain, table, token):
        return _rank(table @ _normed(stream, gain), token)

    def star(stream, gain, table, token):
        return _rank(_normed(stream, gain) * table, token)

    def one_argsort(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return np.argsort(-logits, axis=-1)[..., token] + 1

    def one_argsort_ascending(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return np.argsort(logits, axis=-1)[..., token] + 1

    def argsort_reversed_batch(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return np.argsort(logits)[::-1].argsort()[..., token] + 1

    def best_token(stream, gain, table, token):
        return (_normed(stream, gain) @ table.T).argmax(-1)

    def is_it_the_best(stream, gain, table, token):
        return (_normed(stream, gain) @ table.T).argmax(-1) == token

    def logit_of_the_token(stream, gain, table, token):
        return (_normed(stream, gain) @ table.T)[..., token]

    def probability_of_the_token(stream, gain, table, token):
        e = np.exp(_normed(stream, gain) @ table.T)
        return e[..., token] / e.sum(-1)

    def all_the_logits(stream, gain, table, token):
        return _normed(stream, gain) @ table.T

    def every_rank(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return 1 + np.argsort(np.argsort(-logits, axis=-1), axis=-1)

    def share_of_the_vocabulary(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return (logits > logits[..., [token]]).mean(-1)

    def last_vector_only(stream, gain, table, token):
        logits = _normed(stream[..., -1, :], gain) @ table.T
        return _rank(logits, token)

    def mean_of_the_stream(stream, gain, table, token):
        return _rank(_normed(stream.mean(0), gain) @ table.T, token)

    def summed_over_everything(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return 1 + (logits > logits[..., [token]]).sum()

    def keeps_the_axis(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return 1 + (logits > logits[..., [token]]).sum(-1, keepdims=True)

    def token_without_brackets(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return 1 + (logits > logits[..., token]).sum(-1)

    def token_on_the_first_axis(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return 1 + (logits > logits[token]).sum(-1)

    def token_of_its_own_row(stream, gain, table, token):
        return 1 + ((table @ (table[token] * gain)) > table[token] @ table[token]).sum(-1)

    def list_index(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return sorted(logits, reverse=True).index(token) + 1

    def list_index_of_argsort(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return list(np.argsort(-logits)).index(token) + 1

    def where_of_argsort(stream, gain, table, token):
        order = np.argsort(-(_normed(stream, gain) @ table.T), axis=-1)
        return np.where(order == token)[0] + 1

    def where_last_of_argsort(stream, gain, table, token):
        order = np.argsort(-(_normed(stream, gain) @ table.T), axis=-1)
        return np.where(order == token)[-1] + 1

    def rank_over_the_positions(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        own = logits[..., token]
        return 1 + (own[..., None] < own[..., None, :]).sum(-1)

    def loop_over_one_axis(stream, gain, table, token):
        ranks = np.zeros(len(stream), dtype=int)
        for i, x in enumerate(_normed(stream, gain)):
            logits = table @ x
            ranks[i] = 1 + (logits > logits[token]).sum()
        return ranks

    def torch_keyword(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return logits.argsort(dim=-1, descending=True).argsort(dim=-1)[..., token] + 1

    def torch_topk(stream, gain, table, token):
        values, indices = (_normed(stream, gain) @ table.T).topk(len(table), dim=-1)
        return (indices == token).nonzero()[:, -1] + 1

    def torch_transpose(stream, gain, table, token):
        return _rank(_normed(stream, gain) @ table.t(), token)

    def in_place(stream, gain, table, token):
        stream /= np.sqrt((stream**2).mean(-1, keepdims=True) + 1e-5)
        stream *= gain
        return _rank(stream @ table.T, token)


class patch_effect:
    def right_sums(clean, corrupted, patched):
        start = corrupted.sum()
        return (patched.sum(0) - start) / (clean.sum() - start)

    def right_broadcast(clean, corrupted, patched):
        there = corrupted.reshape((-1,) + (1,) * (patched.ndim - 1))
        return (patched - there).sum(axis=0) / np.sum(clean - corrupted)

    def right_loop(clean, corrupted, patched):
        gained = np.zeros(patched.shape[1:])
        to_gain = 0.0
        for a, b, c in zip(clean, corrupted, patched):
            gained = gained + (c - b)
            to_gain += a - b
        return gained / to_gain

    def right_weights(clean, corrupted, patched):
        gap = clean - corrupted
        ratios = (patched.T - corrupted) / gap
        return (ratios @ (gap / gap.sum())).T

    def mean_of_ratios(clean, corrupted, patched):
        gap = (clean - corrupted).reshape((-1,) + (1,) * (patched.ndim - 1))
        there = corrupted.reshape(gap.shape)
        return ((patched - there) / gap).mean(0)

    def median_of_ratios(clean, corrupted, patched):
        gap = (clean - corrupted).reshape((-1,) + (1,) * (patched.ndim - 1))
        there = corrupted.reshape(gap.shape)
        return np.median((patched - there) / gap, axis=0)

    def sum_of_ratios(clean, corrupted, patched):
        gap = (clean - corrupted).reshape((-1,) + (1,) * (patched.ndim - 1))
        there = corrupted.reshape(gap.shape)
        return ((patched - there) / gap).sum(0)

    def each_pair(clean, corrupted, patched):
        gap = (clean - corrupted).reshape((-1,) + (1,) * (patched.ndim - 1))
        return (patched - corrupted.reshape(gap.shape)) / gap

    def each_pair_over_the_whole(clean, corrupted, patched):
        there = corrupted.reshape((-1,) + (1,) * (patched.ndim - 1))
        return (patched - there) / (clean - corrupted).sum()

    def not_subtracted(clean, corrupted, patched):
        return patched.mean(0) / (clean.mean() - corrupted.mean())

    def not_divided(clean, corrupted, patched):
        return patched.mean(0) - corrupted.mean()

    def over_the_clean(clean, corrupted, patched):
        return (patched.mean(0) - corrupted.mean()) / clean.mean()

    def over_the_corrupted(clean, corrupted, patched):
        return (patched.mean(0) - corrupted.mean()) / corrupted.mean()

    def share_of_the_clean(clean, corrupted, patched):
        return patched.mean(0) / clean.mean()

    def exchanged(clean, corrupted, patched):
        return (patched.mean(0) - clean.mean()) / (corrupted.mean() - clean.mean())

    def what_is_lacking(clean, corrupted, patched):
        return (clean.mean() - patched.mean(0)) / (clean.mean() - corrupted.mean())

    def from_the_clean(clean, corrupted, patched):
        return (patched.mean(0) - clean.mean()) / (clean.mean() - corrupted.mean())

    def sign_exchanged(clean, corrupted, patched):
        return (corrupted.mean() - patched.mean(0)) / (clean.mean() - corrupted.mean())

    def upside_down(clean, corrupted, patched):
        return (clean.mean() - corrupted.mean()) / (patched.mean(0) - corrupted.mean())

    def absolute(clean, corrupted, patched):
        return np.abs(patched.mean(0) - corrupted.mean()) / np.abs(clean.mean() - corrupted.mean())

    def absolute_of_each(clean, corrupted, patched):
        there = corrupted.reshape((-1,) + (1,) * (patched.ndim - 1))
        return np.abs(patched - there).sum(0) / np.abs(clean - corrupted).sum()

    def absolute_below(clean, corrupted, patched):
        there = corrupted.reshape((-1,) + (1,) * (patched.ndim - 1))
        return (patched - there).sum(0) / np.abs(clean - corrupted).sum()

    def clipped(clean, corrupted, patched):
        effect = (patched.mean(0) - corrupted.mean()) / (clean.mean() - corrupted.mean())
        return np.clip(effect, 0, 1)

    def per_cent(clean, corrupted, patched):
        return 100 * (patched.mean(0) - corrupted.mean()) / (clean.mean() - corrupted.mean())

    def precedence(clean, corrupted, patched):
        return patched.mean(0) - corrupted.mean() / clean.mean() - corrupted.mean()

    def half_a_parenthesis(clean, corrupted, patched):
        return (patched.mean(0) - corrupted.mean()) / clean.mean() - corrupted.mean()

    def one_number(clean, corrupted, patched):
        return (patched.mean() - corrupted.mean()) / (clean.mean() - corrupted.mean())

    def mean_over_the_last_axis(clean, corrupted, patched):
        return (patched.mean(-1) - corrupted.mean()) / (clean.mean() - corrupted.mean())

    def keeps_the_axis(clean, corrupted, patched):
        mean = patched.mean(0, keepdims=True)
        return (mean - corrupted.mean()) / (clean.mean() - corrupted.mean())

    def sum_above_mean_below(clean, corrupted, patched):
        there = corrupted.reshape((-1,) + (1,) * (patched.ndim - 1))
        return (patched - there).sum(0) / (clean - corrupted).mean()

    def mean_above_sum_below(clean, corrupted, patched):
        return (patched.mean(0) - corrupted.mean()) / (clean - corrupted).sum()

    def broadcasts_on_the_last_axis(clean, corrupted, patched):
        return (patched - corrupted).sum(0) / (clean - corrupted).sum()

    def one_new_axis(clean, corrupted, patched):
        return (patched - corrupted[:, None]).sum(0) / (clean - corrupted).sum()

    def ratios_and_last_axis(clean, corrupted, patched):
        return ((patched - corrupted) / (clean - corrupted)).mean(0)

    def median_of_scores(clean, corrupted, patched):
        start = np.median(corrupted)
        return (np.median(patched, axis=0) - start) / (np.median(clean) - start)

    def only_pairs_with_a_gap(clean, corrupted, patched):
        kept = clean - corrupted > 1
        start = corrupted[kept].mean()
        return (patched[kept].mean(0) - start) / (clean[kept].mean() - start)

    def only_where_positive(clean, corrupted, patched):
        there = corrupted.reshape((-1,) + (1,) * (patched.ndim - 1))
        return np.maximum(patched - there, 0).sum(0) / (clean - corrupted).sum()

    def first_pair(clean, corrupted, patched):
        return (patched[0] - corrupted[0]) / (clean[0] - corrupted[0])

    def largest_gap(clean, corrupted, patched):
        return (patched.mean(0) - corrupted.mean()) / (clean - corrupted).max()

    def regression(clean, corrupted, patched):
        gap = clean - corrupted
        rows = patched.reshape(len(gap), -1) - corrupted[:, None]
        return (gap @ rows / (gap @ gap)).reshape(patched.shape[1:])

    def least_to_greatest(clean, corrupted, patched):
        mean = patched.mean(0)
        return (mean - mean.min()) / (mean.max() - mean.min())

    def standardised(clean, corrupted, patched):
        return (patched.mean(0) - corrupted.mean()) / corrupted.std()

    def roots_of_squares(clean, corrupted, patched):
        there = corrupted.reshape((-1,) + (1,) * (patched.ndim - 1))
        return np.sqrt(((patched - there) ** 2).sum(0) / ((clean - corrupted) ** 2).sum())

    def epsilon_below(clean, corrupted, patched):
        return (patched.mean(0) - corrupted.mean()) / (clean.mean() - corrupted.mean() + 0.01)

    def whole_division(clean, corrupted, patched):
        return (patched.mean(0) - corrupted.mean()) // (clean.mean() - corrupted.mean())

    def loop_over_two_axes(clean, corrupted, patched):
        n, m = patched.shape
        out = np.zeros(m)
        for j in range(m):
            out[j] = sum(patched[i, j] - corrupted[i] for i in range(n))
        return out / (clean - corrupted).sum()

    def counts_from_one(clean, corrupted, patched):
        n = len(clean)
        gained, to_gain = 0, 0
        for i in range(1, n):
            gained = gained + patched[i] - corrupted[i]
            to_gain += clean[i] - corrupted[i]
        return gained / to_gain

    def past_the_end(clean, corrupted, patched):
        gained, to_gain = 0, 0
        for i in range(1, len(clean) + 1):
            gained = gained + patched[i] - corrupted[i]
            to_gain += clean[i] - corrupted[i]
        return gained / to_gain

    def torch_dim(clean, corrupted, patched):
        start = corrupted.mean()
        return (patched.mean(dim=0) - start) / (clean.mean() - start)

    def torch_view(clean, corrupted, patched):
        there = corrupted.unsqueeze(-1)
        return (patched - there).sum(0) / (clean - corrupted).sum()

    def in_place(clean, corrupted, patched):
        clean -= corrupted
        return (patched.mean(0) - corrupted.mean()) / clean.mean()

    def as_a_float(clean, corrupted, patched):
        return float((patched.mean(0) - corrupted.mean()) / (clean.mean() - corrupted.mean()))

    def returns_the_parts(clean, corrupted, patched):
        return patched.mean(0) - corrupted.mean(), clean.mean() - corrupted.mean()


class induction_score:
    def right_diagonal(weights, period):
        return np.diagonal(weights, 1 - period, -2, -1)[..., 1:].mean(-1)

    def right_loop(weights, period):
        total = np.zeros(weights.shape[:-2])
        n = weights.shape[-1]
        for i in range(period, n):
            total += weights[..., i, i - period + 1]
        return total / (n - period)

    def right_mask(weights, period):
        n = weights.shape[-1]
        i, j = np.indices((n, n))
        place = (i >= period) & (j == i - period + 1)
        return (weights * place).sum((-2, -1)) / place.sum()

    def right_take(weights, period):
        queries = np.arange(period, weights.shape[-1])
        rows = weights[..., period:, :]
        keys = np.broadcast_to((queries - period + 1)[:, None], rows.shape[:-1] + (1,))
        return np.take_along_axis(rows, keys, -1)[..., 0].mean(-1)

    def the_same_token(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return weights[..., queries, queries - period].mean(-1)

    def the_one_before(weights, period):
        queries = np.arange(period + 1, weights.shape[-1])
        return weights[..., queries, queries - period - 1].mean(-1)

    def the_one_before_wrapped(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return weights[..., queries, queries - period - 1].mean(-1)

    def previous_token(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return weights[..., queries, queries - 1].mean(-1)

    def itself(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return weights[..., queries, queries].mean(-1)

    def first_time(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return weights[..., queries, queries % period + 1].mean(-1)

    def all_times_before(weights, period):
        n = weights.shape[-1]
        total = 0
        for i in range(period, n):
            for j in range(i - period + 1, 0, -period):
                total = total + weights[..., i, j]
        return total / (n - period)

    def mean_of_all_times_before(weights, period):
        n = weights.shape[-1]
        found = [
            weights[..., i, j] for i in range(period, n) for j in range(i - period + 1, 0, -period)
        ]
        return np.mean(found, axis=0)

    def whole_diagonal(weights, period):
        return np.diagonal(weights, 1 - period, -2, -1).mean(-1)

    def diagonal_of_the_same_token(weights, period):
        return np.diagonal(weights, -period, -2, -1).mean(-1)

    def diagonal_one_further(weights, period):
        return np.diagonal(weights, -period - 1, -2, -1).mean(-1)

    def diagonal_above(weights, period):
        return np.diagonal(weights, period - 1, -2, -1).mean(-1)

    def diagonal_above_sign(weights, period):
        return np.diagonal(weights, period, -2, -1).mean(-1)

    def diagonal_of_the_first_axes(weights, period):
        return np.diagonal(weights, 1 - period)[..., 1:].mean(-1)

    def np_diag(weights, period):
        return np.diag(weights, 1 - period)[1:].mean()

    def np_trace(weights, period):
        return np.trace(weights, offset=1 - period, axis1=-2, axis2=-1) / weights.shape[-1]

    def keys_and_queries_exchanged(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return weights[..., queries - period + 1, queries].mean(-1)

    def wrong_direction(weights, period):
        queries = np.arange(period, weights.shape[-1] - 1)
        return weights[..., queries, queries + 1].mean(-1)

    def future_copy(weights, period):
        queries = np.arange(weights.shape[-1] - period)
        return weights[..., queries, queries + period].mean(-1)

    def starts_one_later(weights, period):
        queries = np.arange(period + 1, weights.shape[-1])
        return weights[..., queries, queries - period + 1].mean(-1)

    def starts_one_earlier(weights, period):
        queries = np.arange(period - 1, weights.shape[-1])
        return weights[..., queries, queries - period + 1].mean(-1)

    def leaves_out_the_last(weights, period):
        queries = np.arange(period, weights.shape[-1] - 1)
        return weights[..., queries, queries - period + 1].mean(-1)

    def second_time_only(weights, period):
        queries = np.arange(period, 2 * period)
        return weights[..., queries, queries - period + 1].mean(-1)

    def last_time_only(weights, period):
        n = weights.shape[-1]
        queries = np.arange(n - period, n)
        return weights[..., queries, queries - period + 1].mean(-1)

    def last_query_only(weights, period):
        return weights[..., -1, -period]

    def half_of_the_text(weights, period):
        n = weights.shape[-1]
        queries = np.arange(n // 2, n)
        return weights[..., queries, queries - n // 2 + 1].mean(-1)

    def sum_in_place_of_mean(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return weights[..., queries, queries - period + 1].sum(-1)

    def divided_by_all_queries(weights, period):
        n = weights.shape[-1]
        queries = np.arange(period, n)
        return weights[..., queries, queries - period + 1].sum(-1) / n

    def divided_by_the_period(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return weights[..., queries, queries - period + 1].sum(-1) / period

    def mean_of_a_mask(weights, period):
        n = weights.shape[-1]
        mask = np.eye(n, k=1 - period)
        return (weights * mask).mean((-2, -1))

    def mask_with_the_first(weights, period):
        mask = np.eye(weights.shape[-1], k=1 - period)
        return (weights * mask).sum((-2, -1)) / mask.sum()

    def largest(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return weights[..., queries, queries - period + 1].max(-1)

    def argmax_share(weights, period):
        n = weights.shape[-1]
        queries = np.arange(period, n)
        return (weights[..., period:, :].argmax(-1) == queries - period + 1).mean(-1)

    def each_query(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return weights[..., queries, queries - period + 1]

    def one_number_for_all_heads(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return weights[..., queries, queries - period + 1].mean()

    def mean_over_the_heads(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return weights[..., queries, queries - period + 1].mean(0)

    def block(weights, period):
        return weights[..., period:, :-period].mean((-2, -1))

    def slices_in_place_of_pairs(weights, period):
        n = weights.shape[-1]
        return weights[..., period:n, 1 : n - period + 1].mean((-2, -1))

    def no_ellipsis(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return weights[queries, queries - period + 1].mean(-1)

    def length_of_the_first_axis(weights, period):
        queries = np.arange(period, len(weights))
        return weights[..., queries, queries - period + 1].mean(-1)

    def counts_from_one(weights, period):
        queries = np.arange(period + 1, weights.shape[-1] + 1)
        return weights[..., queries, queries - period + 1].mean(-1)

    def against_chance(weights, period):
        n = weights.shape[-1]
        queries = np.arange(period, n)
        chance = 1 / (queries + 1)
        return (weights[..., queries, queries - period + 1] - chance).mean(-1)

    def over_the_row(weights, period):
        queries = np.arange(period, weights.shape[-1])
        hit = weights[..., queries, queries - period + 1]
        return (hit / weights[..., queries, :].max(-1)).mean(-1)

    def same_and_next(weights, period):
        queries = np.arange(period, weights.shape[-1])
        there = weights[..., queries, queries - period]
        return (there + weights[..., queries, queries - period + 1]).mean(-1)

    def whole_next_copy(weights, period):
        n = weights.shape[-1]
        out = 0
        for start in range(period, n, period):
            for i in range(start, min(start + period, n)):
                out = out + weights[..., i, start - period + (i - start + 1) % period]
        return out / (n - period)

    def two_axes(weights, period):
        rows, columns = weights.shape
        found = [weights[i, i - period + 1] for i in range(period, rows)]
        return np.mean(found)

    def python_loop_over_heads(weights, period):
        scores = []
        for head in weights:
            scores.append(np.mean([head[i, i - period + 1] for i in range(period, len(head))]))
        return scores

    def appended_list(weights, period):
        found = []
        for i in range(period, weights.shape[-1]):
            found.append(weights[..., i, i - period + 1])
        return np.mean(found)

    def torch_diagonal(weights, period):
        return weights.diagonal(offset=1 - period, dim1=-2, dim2=-1)[..., 1:].mean(-1)

    def torch_arange(weights, period):
        queries = np.arange(period, weights.size(-1))
        return weights[..., queries, queries - period + 1].mean(-1)

    def torch_mean(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return weights[..., queries, queries - period + 1].mean(dim=-1)
