# ruff: noqa: B905 (what students write)
"""What students may hand in to the exercises of chapter 14, written from their statements alone."""

import numpy as np


class delta_states:
    def right_matrices(key, value, beta):
        state = np.zeros((key.shape[-1], value.shape[-1]))
        out = np.zeros((len(key), *state.shape))
        for n in range(len(key)):
            k = key[n][:, None]
            state = state + beta[n] * k @ (value[n][None] - k.T @ state)
            out[n] = state
        return out

    def right_rate_in_the_key(key, value, beta):
        S, out = (
            np.zeros((key.shape[1], value.shape[1])),
            np.empty((len(key), key.shape[1], value.shape[1])),
        )
        for n, (k, v) in enumerate(zip(key, value)):
            out[n] = S = S + np.outer(beta[n] * k, v - k @ S)
        return out

    def list_of_states(key, value, beta):
        S, all_states = np.zeros((key.shape[1], value.shape[1])), []
        for k, v, b in zip(key, value, beta):
            S = S - b * np.outer(k, S.T @ k) + b * np.outer(k, v)
            all_states.append(S.copy())
        return all_states

    def only_adds(key, value, beta):
        S, out = np.zeros((key.shape[1], value.shape[1])), []
        for k, v in zip(key, value):
            S = S + np.outer(k, v)
            out.append(S)
        return np.array(out)

    only_adds.slips = """
    without_beta: np.outer(k, v) ==> np.outer(k, v - S.T @ k)
    one_column_of_beta: np.outer(k, v) ==> beta * np.outer(k, v - S.T @ k)
    """

    def right_plain(key, value, beta):
        S, out = np.zeros((key.shape[1], value.shape[1])), []
        for k, v, b in zip(key, value, beta):
            S = S + b * np.outer(k, v - S.T @ k)
            out.append(S)
        return np.array(out)

    right_plain.slips = r"""
    adds_times_beta: v - S.T @ k ==> v
    in_place_without_copy: S = S + b * np.outer(k, v - S.T @ k) ==> S += b * np.outer(k, v - k @ S)
    convex_mixture: S + b * np.outer(k, v - S.T @ k) ==> (1 - b) * S + b * np.outer(k, v)
    normalises: S = S + b * np.outer(k, v - S.T @ k) ==> k = k / np.sqrt((k**2).sum())\n        S = S + b * np.outer(k, v - S.T @ k)
    reads_with_the_wrong_side: S.T ==> S
    dot_instead_of_outer: b * np.outer(k, v - S.T @ k) ==> b * k @ (v - S.T @ k)
    outputs_of_the_keys: out.append(S) ==> out.append(S.T @ k)
    adds_the_answer: v - S.T @ k ==> v + S.T @ k
    error_turned_round: v - S.T @ k ==> S.T @ k - v
    """

    def only_the_last(key, value, beta):
        S = np.zeros((key.shape[1], value.shape[1]))
        for k, v, b in zip(key, value, beta):
            S = S + b * np.outer(k, v - S.T @ k)
        return S

    def keeps_it_before(key, value, beta):
        S, out = np.zeros((key.shape[1], value.shape[1])), []
        for k, v, b in zip(key, value, beta):
            out.append(S)
            S = S + b * np.outer(k, v - S.T @ k)
        return np.array(out)

    def outer_the_other_way(key, value, beta):
        S, out = np.zeros((value.shape[1], key.shape[1])), []
        for k, v, b in zip(key, value, beta):
            S = S + b * np.outer(v - S @ k, k)
            out.append(S)
        return np.array(out)


class sink_attention:
    def right_stable(query, key, value, sink):
        scores = query @ key.transpose(0, 2, 1) / query.shape[-1] ** 0.5
        top = np.maximum(scores.max(-1, keepdims=True), sink[:, None, None])
        e = np.exp(scores - top)
        return e / (e.sum(-1, keepdims=True) + np.exp(sink[:, None, None] - top)) @ value

    def right_loop_over_heads(query, key, value, sink):
        out = []
        for q, k, v, b in zip(query, key, value, sink):
            e = np.exp(q @ k.T / np.sqrt(q.shape[-1]))
            out.append(e / (np.exp(b) + e.sum(1, keepdims=True)) @ v)
        return np.array(out)

    def added_to_scores(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]) + sink[:, None, None])
        return e / e.sum(-1, keepdims=True) @ value

    def scaled_with_the_rest(query, key, value, sink):
        scores = query @ key.swapaxes(1, 2)
        b = np.broadcast_to(sink[:, None, None], (*scores.shape[:-1], 1))
        e = np.exp(np.concatenate((scores, b), -1) / np.sqrt(query.shape[-1]))
        return (e / e.sum(-1, keepdims=True))[..., :-1] @ value

    def sums_to_one_again(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        w = e / (e.sum(-1, keepdims=True) + np.exp(sink)[:, None, None])
        return w / w.sum(-1, keepdims=True) @ value

    sums_to_one_again.slips = """
    both_returned: w / w.sum(-1, keepdims=True) @ value ==> w @ value, w
    """

    def only_the_weights(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        return e / (e.sum(-1, keepdims=True) + np.exp(sink)[:, None, None])

    def gate(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        return (e / e.sum(-1, keepdims=True) @ value) / (1 + np.exp(-sink[:, None, None]))

    def right_plain(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        return e / (e.sum(-1, keepdims=True) + np.exp(sink)[:, None, None]) @ value

    right_plain.slips = r"""
    minus_sink: np.exp(sink) ==> np.exp(-sink)
    largest_from_the_scores_alone: e = np.exp( ==> s = ( && \n    return ==> \n    e = np.exp(s - s.max(-1, keepdims=True))\n    return
    sink_for_each_key: e.sum(-1, keepdims=True) + np.exp(sink)[:, None, None] ==> (e + np.exp(sink)[:, None, None]).sum(-1, keepdims=True)
    no_sink: e.sum(-1, keepdims=True) + np.exp(sink)[:, None, None] ==> e.sum(-1, keepdims=True)
    not_exponentiated: np.exp(sink) ==> sink
    broadcast_wrong: np.exp(sink)[:, None, None] ==> np.exp(sink)
    forgot_the_root: query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]) ==> query @ key.swapaxes(1, 2)
    no_keepdims: e.sum(-1, keepdims=True) ==> e.sum(-1) && :, None, None ==> :, None
    plus_one: e.sum(-1, keepdims=True) + np.exp(sink)[:, None, None] ==> 1 + e.sum(-1, keepdims=True)
    one_sink_for_all: np.exp(sink)[:, None, None] ==> np.exp(sink[0])
    divides_by_d_k: np.sqrt(query.shape[-1]) ==> query.shape[-1]
    sums_the_queries: e.sum(-1, keepdims=True) ==> e.sum(1, keepdims=True)
    """


class latent_scores:
    def right_keys_first(query, latent, w_k):
        keys = np.stack([latent @ w for w in w_k])
        return query @ keys.transpose(0, 2, 1) / np.sqrt(query.shape[2])

    def right_absorbed_in_a_loop(query, latent, w_k):
        return np.array([(q @ w.T) @ latent.T / np.sqrt(q.shape[1]) for q, w in zip(query, w_k)])

    def with_softmax(query, latent, w_k):
        e = np.exp(query @ (latent @ w_k).swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        return e / e.sum(-1, keepdims=True)

    def right_plain(query, latent, w_k):
        return query @ (latent @ w_k).swapaxes(1, 2) / np.sqrt(query.shape[-1])

    right_plain.slips = """
    no_scale: query @ (latent @ w_k).swapaxes(1, 2) / np.sqrt(query.shape[-1]) ==> query @ (latent @ w_k).swapaxes(1, 2)
    scale_of_the_latent: query.shape ==> latent.shape
    root_left_out: np.sqrt(query.shape[-1]) ==> query.shape[-1]
    tokens_first: query @ (latent @ w_k).swapaxes(1, 2) ==> (latent @ w_k) @ query.swapaxes(1, 2)
    not_transposed: query @ (latent @ w_k).swapaxes(1, 2) ==> query @ w_k @ latent.T
    transposed_by_T: (latent @ w_k).swapaxes(1, 2) ==> (latent @ w_k).T
    heads_summed: query @ (latent @ w_k).swapaxes(1, 2) ==> np.einsum("hqd,hcd,tc->qt", query, w_k, latent)
    first_head_for_all: (latent @ w_k).swapaxes(1, 2) ==> (latent @ w_k[0]).T
    only_keys: query @ (latent @ w_k).swapaxes(1, 2) / np.sqrt(query.shape[-1]) ==> latent @ w_k
    stops_half_way: latent @ w_k ==> w_k
    heads_at_the_end: query @ (latent @ w_k).swapaxes(1, 2) ==> np.einsum("hqd,hcd,tc->qth", query, w_k, latent)
    queries_first: query @ (latent @ w_k).swapaxes(1, 2) ==> np.einsum("hqd,hcd,tc->qht", query, w_k, latent)
    """

    def no_matrix(query, latent, w_k):
        return query @ latent.T / np.sqrt(query.shape[-1])

    no_matrix.slips = """
    times_the_root: latent.T / ==> (latent @ w_k).swapaxes(1, 2) *
    """

    def root_of_the_whole_width(query, latent, w_k):
        scores = query @ (latent @ w_k).swapaxes(1, 2)
        return scores / np.sqrt(query.shape[-1] * len(query))


class balanced_route:
    def right_token_by_token(scores, bias, n_active, step):
        chosen, weights, load = [], [], np.zeros(len(bias))
        for s in scores:
            best = (s + bias).argsort()[::-1][:n_active]
            load[best] += 1
            chosen.append(best)
            weights.append(s[best] / s[best].sum())
        change = step * ((load < load.mean()) * 1 - (load > load.mean()) * 1)
        return np.array(chosen), np.array(weights), bias + change

    def right_mask_of_the_chosen(scores, bias, n_active, step):
        chosen = np.argsort(-(scores + bias), axis=-1)[:, :n_active]
        used = (np.arange(len(bias)) == chosen[..., None]).sum(axis=(0, 1))
        weights = scores[np.arange(len(scores))[:, None], chosen]
        weights = weights / weights.sum(-1, keepdims=True)
        return chosen, weights, bias + step * np.sign(used.mean() - used)

    def right_plain(scores, bias, n_active, step):
        chosen = np.argsort(-(scores + bias), axis=1)[:, :n_active]
        weights = np.take_along_axis(scores, chosen, axis=1)
        load = np.bincount(chosen.flatten(), minlength=len(bias))
        change = step * np.sign(load.mean() - load)
        return chosen, weights / weights.sum(1, keepdims=True), bias + change

    right_plain.slips = r"""
    weights_with_bias: chosen = ==> s = scores + bias\n    chosen = && (scores + bias) ==> s && scores, chosen ==> s, chosen
    forgets_the_bias: -(scores + bias) ==> -scores
    argsort_upwards: -(scores + bias) ==> scores + bias
    last_ones: -(scores + bias) ==> scores + bias && :n_active ==> -n_active:
    busy_up: load.mean() - load ==> load - load.mean()
    by_how_much: np.sign(load.mean() - load) ==> (load.mean() - load)
    new_bias_is_the_change: bias + change ==> change
    counts_the_best_alone: chosen.flatten() ==> chosen[:, 0]
    writes_into_the_bias: change = step * np.sign(load.mean() - load) ==> bias += step * np.sign(load.mean() - load) && bias + change ==> bias
    more_or_less: step * np.sign(load.mean() - load) ==> np.where(load < load.mean(), step, -step)
    softmax_as_usual: np.take_along_axis(scores, chosen, axis=1) ==> np.exp(np.take_along_axis(scores, chosen, axis=1))
    """

    def plain_scores(scores, bias, n_active, step):
        chosen = np.argsort(-(scores + bias), axis=1)[:, :n_active]
        weights = np.take_along_axis(scores, chosen, axis=1)
        load = np.bincount(chosen.flatten(), minlength=len(bias))
        return chosen, weights, bias + step * np.sign(load.mean() - load)

    def normalised_first(scores, bias, n_active, step):
        chosen = np.argsort(-(scores + bias), axis=1)[:, :n_active]
        p = scores / scores.sum(axis=1, keepdims=True)
        weights = np.take_along_axis(p, chosen, axis=1)
        load = np.bincount(chosen.flatten(), minlength=len(bias))
        return chosen, weights, bias + step * np.sign(load.mean() - load)

    def load_in_weights(scores, bias, n_active, step):
        chosen = np.argsort(-(scores + bias), axis=1)[:, :n_active]
        weights = np.take_along_axis(scores, chosen, axis=1)
        weights = weights / weights.sum(1, keepdims=True)
        load = np.zeros(len(bias))
        np.add.at(load, chosen, weights)
        return chosen, weights, bias + step * np.sign(load.mean() - load)

    def bias_not_moved(scores, bias, n_active, step):
        chosen = np.argsort(-(scores + bias), axis=1)[:, :n_active]
        weights = np.take_along_axis(scores, chosen, axis=1)
        return chosen, weights / weights.sum(1, keepdims=True), bias
