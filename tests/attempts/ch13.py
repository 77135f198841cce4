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

    right_sorted.slips = """
    where_of_argsort: (order == token).argmax(-1) ==> np.where(order == token)[0]
    where_last_of_argsort: (order == token).argmax(-1) ==> np.where(order == token)[-1]
    """

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

    def right_plain(stream, gain, table, token):
        logits = _normed(stream, gain) @ table.T
        return 1 + (logits > logits[..., [token]]).sum(-1)

    right_plain.slips = """
    from_zero: 1 + (logits > logits[..., [token]]).sum(-1) ==> (logits > logits[..., [token]]).sum(-1)
    ascending: logits > logits[..., [token]] ==> logits < logits[..., [token]]
    ascending_from_zero: 1 + (logits > logits[..., [token]]).sum(-1) ==> (logits < logits[..., [token]]).sum(-1)
    at_least_and_one_more: logits > logits[..., [token]] ==> logits >= logits[..., [token]]
    one_argsort: 1 + (logits > logits[..., [token]]).sum(-1) ==> np.argsort(-logits, axis=-1)[..., token] + 1
    one_argsort_ascending: 1 + (logits > logits[..., [token]]).sum(-1) ==> np.argsort(logits, axis=-1)[..., token] + 1
    argsort_reversed_batch: 1 + (logits > logits[..., [token]]).sum(-1) ==> np.argsort(logits)[::-1].argsort()[..., token] + 1
    every_rank: (logits > logits[..., [token]]).sum(-1) ==> np.argsort(np.argsort(-logits, axis=-1), axis=-1)
    share_of_the_vocabulary: 1 + (logits > logits[..., [token]]).sum(-1) ==> (logits > logits[..., [token]]).mean(-1)
    summed_over_everything: (logits > logits[..., [token]]).sum(-1) ==> (logits > logits[..., [token]]).sum()
    keeps_the_axis: (logits > logits[..., [token]]).sum(-1) ==> (logits > logits[..., [token]]).sum(-1, keepdims=True)
    token_without_brackets: [token] ==> token
    token_on_the_first_axis: ..., [token] ==> token
    list_index: 1 + (logits > logits[..., [token]]).sum(-1) ==> sorted(logits, reverse=True).index(token) + 1
    list_index_of_argsort: 1 + (logits > logits[..., [token]]).sum(-1) ==> list(np.argsort(-logits)).index(token) + 1
    """

    def right_too(stream, gain, table, token):
        return _rank(_normed(stream, gain) @ table.T, token)

    right_too.slips = r"""
    forgets_the_gain: _normed(stream, gain) ==> _normed(stream, 1.0)
    gain_added: _normed(stream, gain) ==> (_normed(stream, 1.0) + gain)
    one_plus_the_gain: _normed(stream, gain) ==> _normed(stream, 1 + gain)
    gain_twice: _normed(stream, gain) ==> _normed(stream, gain) * gain
    divides_by_the_gain: _normed(stream, gain) ==> _normed(stream, 1 / gain)
    mean_of_the_gain: _normed(stream, gain) ==> _normed(stream, gain.mean())
    square_without_mean: _normed(stream, gain) ==> stream / np.sqrt(stream**2 + 1e-5) * gain
    no_keepdims: return ==> x = stream / np.sqrt((stream**2).mean(-1) + 1e-5) * gain\n    return && _normed(stream, gain) ==> x
    absolute_logits: _normed(stream, gain) @ table.T ==> np.abs(_normed(stream, gain) @ table.T)
    table_not_transposed: table.T ==> table
    table_first: _normed(stream, gain) @ table.T ==> table @ _normed(stream, gain)
    star: _normed(stream, gain) @ table.T ==> _normed(stream, gain) * table
    best_token: _rank(_normed(stream, gain) @ table.T, token) ==> (_normed(stream, gain) @ table.T).argmax(-1)
    is_it_the_best: _rank(_normed(stream, gain) @ table.T, token) ==> (_normed(stream, gain) @ table.T).argmax(-1) == token
    logit_of_the_token: _rank(_normed(stream, gain) @ table.T, token) ==> (_normed(stream, gain) @ table.T)[..., token]
    all_the_logits: _rank(_normed(stream, gain) @ table.T, token) ==> _normed(stream, gain) @ table.T
    mean_of_the_stream: _normed(stream, gain) ==> _normed(stream.mean(0), gain)
    torch_transpose: table.T ==> table.t()
    """

    def no_normalisation(stream, gain, table, token):
        return _rank(stream @ table.T, token)

    no_normalisation.slips = r"""
    in_place: return ==> stream /= np.sqrt((stream**2).mean(-1, keepdims=True) + 1e-5)\n    stream *= gain\n    return
    """

    def layer_norm(stream, gain, table, token):
        centred = stream - stream.mean(-1, keepdims=True)
        x = centred / np.sqrt(stream.var(-1, keepdims=True) + 1e-5) * gain
        return _rank(x @ table.T, token)

    def norm_over_the_first_axis(stream, gain, table, token):
        x = stream / np.sqrt((stream**2).mean(0) + 1e-5) * gain
        return _rank(x @ table.T, token)

    def cosine_with_the_table(stream, gain, table, token):
        rows = table / np.linalg.norm(table, axis=-1, keepdims=True)
        return _rank(_normed(stream, gain) @ rows.T, token)

    def nearest_row(stream, gain, table, token):
        x = _normed(stream, gain)
        return _rank(-((x[..., None, :] - table) ** 2).sum(-1), token)

    def probability_of_the_token(stream, gain, table, token):
        e = np.exp(_normed(stream, gain) @ table.T)
        return e[..., token] / e.sum(-1)

    def last_vector_only(stream, gain, table, token):
        logits = _normed(stream[..., -1, :], gain) @ table.T
        return _rank(logits, token)

    def token_of_its_own_row(stream, gain, table, token):
        return 1 + ((table @ (table[token] * gain)) > table[token] @ table[token]).sum(-1)

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

    mean_of_ratios.slips = """
    median_of_ratios: ((patched - there) / gap).mean(0) ==> np.median((patched - there) / gap, axis=0)
    sum_of_ratios: ((patched - there) / gap).mean ==> ((patched - there) / gap).sum
    """

    def each_pair(clean, corrupted, patched):
        gap = (clean - corrupted).reshape((-1,) + (1,) * (patched.ndim - 1))
        return (patched - corrupted.reshape(gap.shape)) / gap

    def each_pair_over_the_whole(clean, corrupted, patched):
        there = corrupted.reshape((-1,) + (1,) * (patched.ndim - 1))
        return (patched - there) / (clean - corrupted).sum()

    each_pair_over_the_whole.slips = """
    absolute_of_each: patched - there ==> np.abs(patched - there).sum(0) && clean - corrupted ==> np.abs(clean - corrupted)
    absolute_below: patched - there ==> (patched - there).sum(0) && clean - corrupted ==> np.abs(clean - corrupted)
    only_where_positive: patched - there ==> np.maximum(patched - there, 0).sum(0)
    """

    def share_of_the_clean(clean, corrupted, patched):
        return patched.mean(0) / clean.mean()

    share_of_the_clean.slips = """
    not_divided: patched.mean(0) / clean.mean() ==> patched.mean(0) - corrupted.mean()
    precedence: patched.mean(0) / clean.mean() ==> patched.mean(0) - corrupted.mean() / clean.mean() - corrupted.mean()
    broadcasts_on_the_last_axis: patched.mean(0) / clean.mean() ==> (patched - corrupted).sum(0) / (clean - corrupted).sum()
    one_new_axis: patched.mean(0) / clean.mean() ==> (patched - corrupted[:, None]).sum(0) / (clean - corrupted).sum()
    ratios_and_last_axis: patched.mean(0) / clean.mean() ==> ((patched - corrupted) / (clean - corrupted)).mean(0)
    first_pair: patched.mean(0) / clean.mean() ==> (patched[0] - corrupted[0]) / (clean[0] - corrupted[0])
    not_subtracted: clean.mean() ==> (clean.mean() - corrupted.mean())
    what_is_lacking: patched.mean(0) / clean.mean() ==> (clean.mean() - patched.mean(0)) / (clean.mean() - corrupted.mean())
    """

    def sign_exchanged(clean, corrupted, patched):
        return (corrupted.mean() - patched.mean(0)) / (clean.mean() - corrupted.mean())

    def absolute(clean, corrupted, patched):
        return np.abs(patched.mean(0) - corrupted.mean()) / np.abs(clean.mean() - corrupted.mean())

    def keeps_the_axis(clean, corrupted, patched):
        mean = patched.mean(0, keepdims=True)
        return (mean - corrupted.mean()) / (clean.mean() - corrupted.mean())

    def sum_above_mean_below(clean, corrupted, patched):
        there = corrupted.reshape((-1,) + (1,) * (patched.ndim - 1))
        return (patched - there).sum(0) / (clean - corrupted).mean()

    def median_of_scores(clean, corrupted, patched):
        start = np.median(corrupted)
        return (np.median(patched, axis=0) - start) / (np.median(clean) - start)

    def only_pairs_with_a_gap(clean, corrupted, patched):
        kept = clean - corrupted > 1
        start = corrupted[kept].mean()
        return (patched[kept].mean(0) - start) / (clean[kept].mean() - start)

    def regression(clean, corrupted, patched):
        gap = clean - corrupted
        rows = patched.reshape(len(gap), -1) - corrupted[:, None]
        return (gap @ rows / (gap @ gap)).reshape(patched.shape[1:])

    def least_to_greatest(clean, corrupted, patched):
        mean = patched.mean(0)
        return (mean - mean.min()) / (mean.max() - mean.min())

    def standardised(clean, corrupted, patched):
        return (patched.mean(0) - corrupted.mean()) / corrupted.std()

    standardised.slips = r"""
    over_the_clean: corrupted.std() ==> clean.mean()
    over_the_corrupted: corrupted.std() ==> corrupted.mean()
    exchanged: corrupted.mean() ==> clean.mean() && corrupted.std() ==> (corrupted.mean() - clean.mean())
    from_the_clean: corrupted.mean() ==> clean.mean() && corrupted.std() ==> (clean.mean() - corrupted.mean())
    upside_down: patched.mean(0) ==> clean.mean() && corrupted.std() ==> (patched.mean(0) - corrupted.mean())
    clipped: return ==> effect = && corrupted.std() ==> (clean.mean() - corrupted.mean())\n    return np.clip(effect, 0, 1)
    per_cent: return ==> return 100 * && corrupted.std() ==> (clean.mean() - corrupted.mean())
    half_a_parenthesis: corrupted.std ==> clean.mean() - corrupted.mean
    one_number: patched.mean(0) ==> patched.mean() && corrupted.std() ==> (clean.mean() - corrupted.mean())
    mean_over_the_last_axis: patched.mean(0) ==> patched.mean(-1) && corrupted.std() ==> (clean.mean() - corrupted.mean())
    mean_above_sum_below: corrupted.std() ==> (clean - corrupted).sum()
    largest_gap: corrupted.std() ==> (clean - corrupted).max()
    epsilon_below: corrupted.std() ==> (clean.mean() - corrupted.mean() + 0.01)
    whole_division: / corrupted.std() ==> // (clean.mean() - corrupted.mean())
    """

    def roots_of_squares(clean, corrupted, patched):
        there = corrupted.reshape((-1,) + (1,) * (patched.ndim - 1))
        return np.sqrt(((patched - there) ** 2).sum(0) / ((clean - corrupted) ** 2).sum())

    def loop_over_two_axes(clean, corrupted, patched):
        n, m = patched.shape
        out = np.zeros(m)
        for j in range(m):
            out[j] = sum(patched[i, j] - corrupted[i] for i in range(n))
        return out / (clean - corrupted).sum()

    def past_the_end(clean, corrupted, patched):
        gained, to_gain = 0, 0
        for i in range(1, len(clean) + 1):
            gained = gained + patched[i] - corrupted[i]
            to_gain += clean[i] - corrupted[i]
        return gained / to_gain

    past_the_end.slips = r"""
    counts_from_one: gained, to_gain = 0, 0 ==> n = len(clean)\n    gained, to_gain = 0, 0 && len(clean) + 1 ==> n
    """

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

    right_diagonal.slips = """
    whole_diagonal: np.diagonal(weights, 1 - period, -2, -1)[..., 1:] ==> np.diagonal(weights, 1 - period, -2, -1)
    diagonal_of_the_same_token: np.diagonal(weights, 1 - period, -2, -1)[..., 1:] ==> np.diagonal(weights, -period, -2, -1)
    diagonal_one_further: np.diagonal(weights, 1 - period, -2, -1)[..., 1:] ==> np.diagonal(weights, -period - 1, -2, -1)
    diagonal_above: np.diagonal(weights, 1 - period, -2, -1)[..., 1:] ==> np.diagonal(weights, period - 1, -2, -1)
    diagonal_above_sign: np.diagonal(weights, 1 - period, -2, -1)[..., 1:] ==> np.diagonal(weights, period, -2, -1)
    diagonal_of_the_first_axes: np.diagonal(weights, 1 - period, -2, -1) ==> np.diagonal(weights, 1 - period)
    np_diag: np.diagonal(weights, 1 - period, -2, -1)[..., 1:].mean(-1) ==> np.diag(weights, 1 - period)[1:].mean()
    last_query_only: np.diagonal(weights, 1 - period, -2, -1)[..., 1:].mean(-1) ==> weights[..., -1, -period]
    block: np.diagonal(weights, 1 - period, -2, -1)[..., 1:].mean(-1) ==> weights[..., period:, :-period].mean((-2, -1))
    torch_diagonal: np.diagonal(weights, 1 - period, -2, -1) ==> weights.diagonal(offset=1 - period, dim1=-2, dim2=-1)
    """

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

    def right_plain(weights, period):
        queries = np.arange(period, weights.shape[-1])
        return weights[..., queries, queries - period + 1].mean(-1)

    right_plain.slips = r"""
    itself: queries - period + 1 ==> queries
    the_same_token: queries - period + 1 ==> queries - period
    the_one_before_wrapped: queries - period + 1 ==> queries - period - 1
    previous_token: queries - period + 1 ==> queries - 1
    first_time: queries - period ==> queries % period
    keys_and_queries_exchanged: ..., queries, queries - period + 1 ==> ..., queries - period + 1, queries
    one_number_for_all_heads: weights[..., queries, queries - period + 1].mean(-1) ==> weights[..., queries, queries - period + 1].mean()
    mean_over_the_heads: weights[..., queries, queries - period + 1].mean(-1) ==> weights[..., queries, queries - period + 1].mean(0)
    no_ellipsis: ..., queries, queries - period + 1 ==> queries, queries - period + 1
    torch_mean: weights[..., queries, queries - period + 1].mean(-1) ==> weights[..., queries, queries - period + 1].mean(dim=-1)
    wrong_direction: weights.shape[-1] ==> weights.shape[-1] - 1 && queries - period ==> queries
    starts_one_later: np.arange(period, weights.shape[-1]) ==> np.arange(period + 1, weights.shape[-1])
    starts_one_earlier: np.arange(period, weights.shape[-1]) ==> np.arange(period - 1, weights.shape[-1])
    leaves_out_the_last: weights.shape[-1] ==> weights.shape[-1] - 1
    last_time_only: queries = ==> n = weights.shape[-1]\n    queries = && period, weights.shape[-1] ==> n - period, n
    sum_in_place_of_mean: mean ==> sum
    largest: weights[..., queries, queries - period + 1].mean ==> weights[..., queries, queries - period + 1].max
    each_query: weights[..., queries, queries - period + 1].mean(-1) ==> weights[..., queries, queries - period + 1]
    length_of_the_first_axis: weights.shape[-1] ==> len(weights)
    counts_from_one: np.arange(period, weights.shape[-1]) ==> np.arange(period + 1, weights.shape[-1] + 1)
    torch_arange: weights.shape[-1] ==> weights.size(-1)
    """

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

    def np_trace(weights, period):
        return np.trace(weights, offset=1 - period, axis1=-2, axis2=-1) / weights.shape[-1]

    def second_time_only(weights, period):
        queries = np.arange(period, 2 * period)
        return weights[..., queries, queries - period + 1].mean(-1)

    second_time_only.slips = """
    the_one_before: period, 2 * period ==> period + 1, weights.shape[-1] && - period + ==> - period -
    future_copy: period, 2 * ==> weights.shape[-1] - && - period + 1 ==> + period
    """

    def half_of_the_text(weights, period):
        n = weights.shape[-1]
        queries = np.arange(n // 2, n)
        return weights[..., queries, queries - n // 2 + 1].mean(-1)

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

    def argmax_share(weights, period):
        n = weights.shape[-1]
        queries = np.arange(period, n)
        return (weights[..., period:, :].argmax(-1) == queries - period + 1).mean(-1)

    def slices_in_place_of_pairs(weights, period):
        n = weights.shape[-1]
        return weights[..., period:n, 1 : n - period + 1].mean((-2, -1))

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
