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


class gated_attention:
    def right_stable(query, key, value, sink, x, w_g):
        scores = query @ key.transpose(0, 2, 1) / query.shape[-1] ** 0.5
        top = np.maximum(scores.max(-1, keepdims=True), sink[:, None, None])
        e = np.exp(scores - top)
        w = e / (e.sum(-1, keepdims=True) + np.exp(sink[:, None, None] - top))
        return w @ value / (1 + np.exp(-(x @ w_g)))

    def right_loop_over_heads(query, key, value, sink, x, w_g):
        out = []
        for q, k, v, b, w in zip(query, key, value, sink, w_g):
            e = np.exp(q @ k.T / np.sqrt(q.shape[-1]))
            g = 1 / (1 + np.exp(-x @ w))
            out.append(g * (e / (np.exp(b) + e.sum(1, keepdims=True)) @ v))
        return np.array(out)

    def added_to_scores(query, key, value, sink, x, w_g):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]) + sink[:, None, None])
        return e / e.sum(-1, keepdims=True) @ value / (1 + np.exp(-x @ w_g))

    def scaled_with_the_rest(query, key, value, sink, x, w_g):
        scores = query @ key.swapaxes(1, 2)
        b = np.broadcast_to(sink[:, None, None], (*scores.shape[:-1], 1))
        e = np.exp(np.concatenate((scores, b), -1) / np.sqrt(query.shape[-1]))
        return (e / e.sum(-1, keepdims=True))[..., :-1] @ value / (1 + np.exp(-x @ w_g))

    def sums_to_one_again(query, key, value, sink, x, w_g):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        w = e / (e.sum(-1, keepdims=True) + np.exp(sink)[:, None, None])
        return w / w.sum(-1, keepdims=True) @ value / (1 + np.exp(-x @ w_g))

    sums_to_one_again.slips = """
    both_returned: w / w.sum(-1, keepdims=True) @ value / (1 + np.exp(-x @ w_g)) ==> w @ value, w
    only_the_weights: w / w.sum(-1, keepdims=True) @ value / (1 + np.exp(-x @ w_g)) ==> w
    gated_weights: w / w.sum(-1, keepdims=True) @ value / ==> w /
    """

    def sink_for_a_gate(query, key, value, sink, x, w_g):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        z = e / e.sum(-1, keepdims=True) @ value / (1 + np.exp(-sink[:, None, None]))
        return z / (1 + np.exp(-x @ w_g))

    def right_plain(query, key, value, sink, x, w_g):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        z = e / (e.sum(-1, keepdims=True) + np.exp(sink)[:, None, None]) @ value
        g = 1 / (1 + np.exp(-x @ w_g))
        return g * z

    right_plain.slips = r"""
    minus_sink: np.exp(sink) ==> np.exp(-sink)
    largest_from_the_scores_alone: e = np.exp( ==> s = ( && \n    z ==> \n    e = np.exp(s - s.max(-1, keepdims=True))\n    z
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
    forgot_the_gate: g * z ==> z
    no_sigmoid: 1 / (1 + np.exp(-x @ w_g)) ==> x @ w_g
    no_minus: np.exp(-x @ w_g) ==> np.exp(x @ w_g)
    minus_behind_the_one: 1 + np.exp(-x @ w_g) ==> 1 - np.exp(-x @ w_g)
    fraction_upside_down: 1 / (1 + np.exp(-x @ w_g)) ==> 1 + np.exp(-x @ w_g)
    tanh: 1 / (1 + np.exp(-x @ w_g)) ==> np.tanh(x @ w_g)
    as_in_swiglu: 1 / (1 + np.exp(-x @ w_g)) ==> x @ w_g / (1 + np.exp(-x @ w_g))
    plus_the_gate: g * z ==> g + z
    residual: g * z ==> z + g * z
    rest_of_the_gate: g * z ==> (1 - g) * z
    gate_of_the_output: -x @ w_g ==> -z @ w_g
    gate_of_the_query: -x @ w_g ==> -query @ w_g
    transposed_gate: -x @ w_g ==> -x @ w_g.swapaxes(1, 2)
    scaled_gate: -x @ w_g ==> -x @ w_g / np.sqrt(x.shape[-1])
    gate_of_the_last_token: -x @ w_g ==> -x[-1] @ w_g
    first_gate: -x @ w_g ==> -x @ w_g[0]
    all_in_one_sigmoid: g * z ==> 1 / (1 + np.exp(-(x @ w_g) * z))
    one_number_a_head: g * z ==> g.mean(-1, keepdims=True) * z
    one_product_a_head: -x @ w_g ==> -(x @ w_g).sum(-1, keepdims=True)
    relu: 1 / (1 + np.exp(-x @ w_g)) ==> np.maximum(x @ w_g, 0)
    matmul_with_the_gate: g * z ==> g @ z
    matmul_from_the_left: g * z ==> z @ g
    sums_to_one: 1 / (1 + np.exp(-x @ w_g)) ==> np.exp(x @ w_g) / np.exp(x @ w_g).sum(-1, keepdims=True)
    shared_by_the_heads: g * z ==> g.mean(0) * z
    no_gate_and_no_sink: g * z ==> z && + np.exp(sink)[:, None, None] ==> 
    no_sigmoid_and_no_root: 1 / (1 + np.exp(-x @ w_g)) ==> x @ w_g && / np.sqrt(query.shape[-1]) ==>
    """

    def gate_before_the_softmax(query, key, value, sink, x, w_g):
        g = 1 / (1 + np.exp(-x @ w_g))
        e = np.exp(g * (query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1])))
        return e / (e.sum(-1, keepdims=True) + np.exp(sink)[:, None, None]) @ value

    gate_before_the_softmax.slips = """
    gate_on_the_values: np.exp(g * ( ==> np.exp(( && @ value ==> @ (g * value)
    gate_on_the_weights: np.exp(g * ( ==> np.exp(( && return e ==> return g * e
    gate_on_the_exponentials: np.exp(g * ( ==> g * np.exp((
    gate_on_the_query: np.exp(g * (query @ ==> np.exp((g * query @
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
