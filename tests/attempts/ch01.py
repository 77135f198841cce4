# ruff: noqa: B905, PLR1730 (what students write)
"""What students may hand in to the exercises of chapter 01, written from their statements alone."""

import math

import numpy as np


class attention_pooling:
    def scaled_and_mean(query, key, value):
        scores = (key * query).sum(-1) / np.sqrt(key.shape[-1])
        scores -= scores.max(-1, keepdims=True)
        weights = np.exp(scores)
        weights /= weights.sum(-1, keepdims=True)
        return (weights[..., np.newaxis] * value).mean(-2), weights

    def right_einsum(query, key, value):
        scores = np.einsum("...nd,d->...n", key, query)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights = weights / weights.sum(-1, keepdims=True)
        return np.einsum("...n,...nv->...v", weights, value), weights

    def right_log_sum(query, key, value):
        scores = (key * query).sum(-1)
        top = np.max(scores, axis=-1)
        log_total = top + np.log(np.sum(np.exp(scores - top[..., None]), axis=-1))
        weights = np.exp(scores - log_total[..., None])
        return (weights[..., None] * value).sum(-2), weights

    def right_plain(query, key, value):
        scores = key @ query
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights = weights / weights.sum(-1, keepdims=True)
        return (weights[..., None] * value).sum(-2), weights

    right_plain.slips = r"""
    maximum_of_everything: scores.max(-1, keepdims=True) ==> scores.max()
    no_maximum: scores = key @ query\n    weights = np.exp(scores - scores.max(-1, keepdims=True)) ==> weights = np.exp(key @ query)
    total_of_everything: -1, keepdims=True ==>
    no_keepdims: , keepdims=True ==>
    sums_the_components: -2 ==> -1
    hard_choice: np.exp(scores - scores.max(-1, keepdims=True)) ==> (scores == scores.max(-1, keepdims=True)).astype(float)
    scores_in_proportion: np.exp(scores - scores.max(-1, keepdims=True))\n    weights = weights / weights ==> scores / scores
    divides_by_root: key @ query ==> key @ query / np.sqrt(len(query))
    swapped: (weights[..., None] * value).sum(-2), weights ==> weights, (weights[..., None] * value).sum(-2)
    only_output: (weights[..., None] * value).sum(-2), weights ==> (weights[..., None] * value).sum(-2)
    product_without_batch: (weights[..., None] * value).sum(-2) ==> weights @ value
    not_divided: \n    weights = weights / weights.sum(-1, keepdims=True) ==>
    scores_for_weights: (weights[..., None] * value).sum(-2), weights ==> (weights[..., None] * value).sum(-2), scores
    weights_the_keys: weights[..., None] * value ==> weights[..., None] * key
    cosine_scores: key @ query ==> key @ query / (np.linalg.norm(key, axis=-1) * np.linalg.norm(query))
    softmax_over_components: key @ query ==> key * query && weights[..., None] ==> weights
    """

    def transposes_keys_for_one_sentence(query, key, value):
        scores = query @ key.T
        weights = np.exp(scores - scores.max())
        weights = weights / weights.sum()
        return weights @ value, weights

    def mean_of_values(query, key, value):
        scores = key @ query
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights = weights / weights.sum(-1, keepdims=True)
        return (weights[..., None] * value).mean(-2), weights

    def first_axis(query, key, value):
        scores = key @ query
        weights = np.exp(scores - scores.max(axis=0))
        weights = weights / weights.sum(axis=0)
        return (weights[..., None] * value).sum(axis=0), weights

    def loop_over_rows(query, key, value):
        scores = []
        for k in key:
            scores.append(math.exp(sum(a * b for a, b in zip(query, k))))
        total = sum(scores)
        weights = [s / total for s in scores]
        output = sum(w * v for w, v in zip(weights, value))
        return output, weights

    def weights_with_an_axis_more(query, key, value):
        scores = key @ query[:, None]
        weights = np.exp(scores - scores.max(-2, keepdims=True))
        weights = weights / weights.sum(-2, keepdims=True)
        return (weights * value).sum(-2), weights


class read_alignment:
    def right_compare(weights):
        mean = weights.mean((0, 1))[:-1]
        best = mean.argmax(-1)
        return best[:, None] == np.arange(mean.shape[-1])

    def right_loop(weights):
        n_layers, n_heads, rows, columns = weights.shape
        flat = weights.reshape(n_layers * n_heads, rows, columns).sum(0)
        links = np.zeros((rows - 1, columns), dtype=bool)
        for i in range(rows - 1):
            links[i, list(flat[i]).index(max(flat[i]))] = True
        return links

    def last_tie(weights):
        mean = weights.mean((0, 1))[:-1]
        n = mean.shape[-1]
        best = n - 1 - mean[:, ::-1].argmax(-1)
        return best[:, None] == np.arange(n)

    def integers(weights):
        mean = weights.mean((0, 1))[:-1]
        links = np.zeros(mean.shape, dtype=int)
        links[np.arange(len(mean)), mean.argmax(-1)] = 1
        return links

    integers.slips = """
    floats: np.zeros(mean.shape, dtype=int) ==> np.zeros_like(mean)
    """

    def by_column(weights):
        mean = weights.mean((0, 1))[:-1]
        links = np.zeros(mean.shape, dtype=bool)
        links[mean.argmax(0), np.arange(mean.shape[1])] = True
        return links

    def maximum_of_heads(weights):
        best = weights.max((0, 1))[:-1]
        return best.argmax(-1)[:, None] == np.arange(best.shape[-1])

    def transposed(weights):
        mean = weights.mean((0, 1))[:-1]
        return (mean.argmax(-1)[:, None] == np.arange(mean.shape[-1])).T

    def threshold(weights):
        return weights.mean((0, 1))[:-1] > 0.5

    def right_plain(weights):
        mean = weights.mean((0, 1))[:-1]
        return mean.argmax(-1)[:, None] == np.arange(mean.shape[-1])

    right_plain.slips = r"""
    smallest: mean.argmax ==> mean.argmin
    keeps_the_last_row: weights.mean((0, 1))[:-1] ==> weights.mean((0, 1))
    drops_the_first_row: :-1 ==> 1:
    every_tie: mean.argmax(-1)[:, None] == np.arange(mean.shape[-1]) ==> mean == mean.max(-1, keepdims=True)
    positions: mean = ==> return && \n    return mean ==> && [:, None] == np.arange(mean.shape[-1]) ==>
    last_layer: weights.mean((0, 1)) ==> weights[-1].mean(0)
    first_head: weights.mean((0, 1)) ==> weights.mean(0)[0]
    first_layer: weights.mean((0, 1)) ==> weights[0].mean(0)
    above_the_mean: mean.argmax(-1)[:, None] == np.arange(mean.shape[-1]) ==> mean > mean.mean(-1, keepdims=True)
    largest_of_the_whole: mean.argmax(-1)[:, None] == np.arange(mean.shape[-1]) ==> mean == mean.max()
    last_column_dropped: :-1 ==> :-1, :-1
    """

    def mean_over_heads_only(weights):
        mean = weights.mean(1)[..., :-1, :]
        return mean.argmax(-1)[..., None] == np.arange(mean.shape[-1])

    def votes(weights):
        best = weights[..., :-1, :].argmax(-1)
        n = weights.shape[-1]
        counts = (best[..., None] == np.arange(n)).sum((0, 1))
        return counts.argmax(-1)[:, None] == np.arange(n)

    def writes_into_the_input(weights):
        weights /= weights.shape[0] * weights.shape[1]
        mean = weights.sum((0, 1))[:-1]
        return mean.argmax(-1)[:, None] == np.arange(mean.shape[-1])


class path_lengths:
    def method_of_a_tensor(mask):
        links = mask.int()
        return links @ links

    def right_powers(mask):
        n = len(mask)
        lengths = np.full((n, n), -1)
        reach = np.eye(n, dtype=bool)
        for step in range(n):
            lengths[reach & (lengths < 0)] = step
            reach = reach | (reach.astype(int) @ mask.astype(int) > 0)
        return lengths

    right_powers.slips = """
    too_few_rounds: range(n) ==> range(n - 1)
    """

    def right_floyd(mask):
        n = len(mask)
        d = np.where(mask, 1.0, np.inf)
        np.fill_diagonal(d, 0)
        for k in range(n):
            d = np.minimum(d, d[:, [k]] + d[[k], :])
        return np.where(np.isinf(d), -1, d).astype(int)

    right_floyd.slips = r"""
    floats: np.where(np.isinf(d), -1, d).astype(int) ==> np.where(np.isinf(d), -1, d)
    infinity: np.where(np.isinf(d), -1, d).astype(int) ==> d
    infinity_as_int: np.where(np.isinf(d), -1, d) ==> d
    zero_where_nothing: -1 ==> 0
    transposed: np.where(mask, 1.0, np.inf) ==> np.where(mask.T, 1.0, np.inf)
    diagonal_as_the_mask_says: \n    np.fill_diagonal(d, 0) ==>
    symmetric: np.where(mask, 1.0, np.inf) ==> np.where(mask | mask.T, 1.0, np.inf)
    forgotten_return: \n    return np.where(np.isinf(d), -1, d).astype(int) ==>
    unreachable_is_n: np.where(mask, 1.0, np.inf) ==> np.where(mask, 1, n) && np.where(np.isinf(d), -1, d).astype(int) ==> d
    """

    def diagonal_one(mask):
        n = len(mask)
        d = np.where(mask, 1.0, np.inf)
        np.fill_diagonal(d, 1)
        for k in range(n):
            d = np.minimum(d, d[:, [k]] + d[[k], :])
        np.fill_diagonal(d, 1)
        return np.where(np.isinf(d), -1, d).astype(int)

    def only_two_steps(mask):
        m = mask.astype(int)
        d = np.where(mask, 1, np.where(m @ m > 0, 2, -1))
        np.fill_diagonal(d, 0)
        return d

    only_two_steps.slips = r"""
    only_one_step: m = mask.astype(int)\n    d = np.where(mask, 1, np.where(m @ m > 0, 2, -1)) ==> d = np.where(mask, 1, -1)
    """

    def distance_in_the_sentence(mask):
        n = len(mask)
        d = np.abs(np.arange(n)[:, None] - np.arange(n))
        return np.where(mask, d, -1)

    def one_more(mask):
        n = len(mask)
        lengths = np.full((n, n), -1)
        reach = np.eye(n, dtype=bool)
        for step in range(n):
            reach = reach | (reach.astype(int) @ mask.astype(int) > 0)
            lengths[reach & (lengths < 0)] = step
        return lengths

    def counts_paths(mask):
        n = len(mask)
        m = mask.astype(int)
        lengths = np.full((n, n), -1)
        power = np.eye(n, dtype=int)
        for step in range(n):
            lengths[power > 0] = step
            power = power @ m
        np.fill_diagonal(lengths, 0)
        return lengths

    def number_of_paths(mask):
        m = mask.astype(int)
        total = sum(np.linalg.matrix_power(m, k) for k in range(1, len(m)))
        total = np.where(total > 0, total, -1)
        np.fill_diagonal(total, 0)
        return total

    def loop_order(mask):
        n = len(mask)
        d = np.where(mask, 1.0, np.inf)
        np.fill_diagonal(d, 0)
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    if d[i, k] + d[k, j] < d[i, j]:
                        d[i, j] = d[i, k] + d[k, j]
        return np.where(np.isinf(d), -1, d).astype(int)

    def depth_first(mask):
        n = len(mask)
        out = np.full((n, n), -1)

        def visit(start, node, steps):
            out[start, node] = steps
            for j in range(n):
                if mask[node, j] and out[start, j] == -1:
                    visit(start, j, steps + 1)

        for i in range(n):
            visit(i, i, 0)
        return out

    def boolean_product(mask):
        n = len(mask)
        lengths = -np.ones((n, n), dtype=int)
        reach = np.eye(n, dtype=bool)
        for step in range(n):
            lengths[reach and lengths < 0] = step
            reach = reach or reach @ mask
        return lengths

    def reachable_only(mask):
        reach = np.eye(len(mask), dtype=bool) | mask
        for _ in range(len(mask)):
            reach = reach @ reach
        return reach

    def writes_into_the_mask(mask):
        n = len(mask)
        np.fill_diagonal(mask, True)
        lengths = np.full((n, n), -1)
        reach = np.eye(n, dtype=bool)
        for step in range(n):
            lengths[reach & (lengths < 0)] = step
            reach = reach @ mask
        return lengths
