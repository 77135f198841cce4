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

    def adds_times_beta(key, value, beta):
        S, out = np.zeros((key.shape[1], value.shape[1])), []
        for k, v, b in zip(key, value, beta):
            S = S + b * np.outer(k, v)
            out.append(S)
        return np.array(out)

    def without_beta(key, value, beta):
        S, out = np.zeros((key.shape[1], value.shape[1])), []
        for k, v in zip(key, value):
            S = S + np.outer(k, v - S.T @ k)
            out.append(S)
        return np.array(out)

    def in_place_without_copy(key, value, beta):
        S, out = np.zeros((key.shape[1], value.shape[1])), []
        for k, v, b in zip(key, value, beta):
            S += b * np.outer(k, v - k @ S)
            out.append(S)
        return np.array(out)

    def convex_mixture(key, value, beta):
        S, out = np.zeros((key.shape[1], value.shape[1])), []
        for k, v, b in zip(key, value, beta):
            S = (1 - b) * S + b * np.outer(k, v)
            out.append(S)
        return np.array(out)

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

    def only_the_last(key, value, beta):
        S = np.zeros((key.shape[1], value.shape[1]))
        for k, v, b in zip(key, value, beta):
            S = S + b * np.outer(k, v - S.T @ k)
        return S

    def normalises(key, value, beta):
        S, out = np.zeros((key.shape[1], value.shape[1])), []
        for k, v, b in zip(key, value, beta):
            k = k / np.sqrt((k**2).sum())
            S = S + b * np.outer(k, v - S.T @ k)
            out.append(S)
        return np.array(out)

    def reads_with_the_wrong_side(key, value, beta):
        S, out = np.zeros((key.shape[1], value.shape[1])), []
        for k, v, b in zip(key, value, beta):
            S = S + b * np.outer(k, v - S @ k)
            out.append(S)
        return np.array(out)

    def one_column_of_beta(key, value, beta):
        S, out = np.zeros((key.shape[1], value.shape[1])), []
        for k, v in zip(key, value):
            S = S + beta * np.outer(k, v - S.T @ k)
            out.append(S)
        return np.array(out)

    def dot_instead_of_outer(key, value, beta):
        S, out = np.zeros((key.shape[1], value.shape[1])), []
        for k, v, b in zip(key, value, beta):
            S = S + b * k @ (v - S.T @ k)
            out.append(S)
        return np.array(out)

    def outputs_of_the_keys(key, value, beta):
        S, out = np.zeros((key.shape[1], value.shape[1])), []
        for k, v, b in zip(key, value, beta):
            S = S + b * np.outer(k, v - S.T @ k)
            out.append(S.T @ k)
        return np.array(out)

    def adds_the_answer(key, value, beta):
        S, out = np.zeros((key.shape[1], value.shape[1])), []
        for k, v, b in zip(key, value, beta):
            S = S + b * np.outer(k, v + S.T @ k)
            out.append(S)
        return np.array(out)

    def error_turned_round(key, value, beta):
        S, out = np.zeros((key.shape[1], value.shape[1])), []
        for k, v, b in zip(key, value, beta):
            S = S + b * np.outer(k, S.T @ k - v)
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

    def no_sink(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        return e / e.sum(-1, keepdims=True) @ value

    def added_to_scores(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]) + sink[:, None, None])
        return e / e.sum(-1, keepdims=True) @ value

    def not_exponentiated(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        return e / (e.sum(-1, keepdims=True) + sink[:, None, None]) @ value

    def scaled_with_the_rest(query, key, value, sink):
        scores = query @ key.swapaxes(1, 2)
        b = np.broadcast_to(sink[:, None, None], (*scores.shape[:-1], 1))
        e = np.exp(np.concatenate((scores, b), -1) / np.sqrt(query.shape[-1]))
        return (e / e.sum(-1, keepdims=True))[..., :-1] @ value

    def broadcast_wrong(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        return e / (e.sum(-1, keepdims=True) + np.exp(sink)) @ value

    def forgot_the_root(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2))
        return e / (e.sum(-1, keepdims=True) + np.exp(sink)[:, None, None]) @ value

    def no_keepdims(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        return e / (e.sum(-1) + np.exp(sink)[:, None]) @ value

    def sums_to_one_again(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        w = e / (e.sum(-1, keepdims=True) + np.exp(sink)[:, None, None])
        return w / w.sum(-1, keepdims=True) @ value

    def only_the_weights(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        return e / (e.sum(-1, keepdims=True) + np.exp(sink)[:, None, None])

    def gate(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        return (e / e.sum(-1, keepdims=True) @ value) / (1 + np.exp(-sink[:, None, None]))

    def plus_one(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        return e / (1 + e.sum(-1, keepdims=True)) @ value

    def minus_sink(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        return e / (e.sum(-1, keepdims=True) + np.exp(-sink)[:, None, None]) @ value

    def one_sink_for_all(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        return e / (e.sum(-1, keepdims=True) + np.exp(sink[0])) @ value

    def divides_by_d_k(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / query.shape[-1])
        return e / (e.sum(-1, keepdims=True) + np.exp(sink)[:, None, None]) @ value

    def sums_the_queries(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        return e / (e.sum(1, keepdims=True) + np.exp(sink)[:, None, None]) @ value

    def both_returned(query, key, value, sink):
        e = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        w = e / (e.sum(-1, keepdims=True) + np.exp(sink)[:, None, None])
        return w @ value, w


class latent_scores:
    def right_keys_first(query, latent, w_k):
        keys = np.stack([latent @ w for w in w_k])
        return query @ keys.transpose(0, 2, 1) / np.sqrt(query.shape[2])

    def right_absorbed_in_a_loop(query, latent, w_k):
        return np.array([(q @ w.T) @ latent.T / np.sqrt(q.shape[1]) for q, w in zip(query, w_k)])

    def no_scale(query, latent, w_k):
        return query @ (latent @ w_k).swapaxes(1, 2)

    def scale_of_the_latent(query, latent, w_k):
        return query @ (latent @ w_k).swapaxes(1, 2) / np.sqrt(latent.shape[-1])

    def root_left_out(query, latent, w_k):
        return query @ (latent @ w_k).swapaxes(1, 2) / query.shape[-1]

    def with_softmax(query, latent, w_k):
        e = np.exp(query @ (latent @ w_k).swapaxes(1, 2) / np.sqrt(query.shape[-1]))
        return e / e.sum(-1, keepdims=True)

    def tokens_first(query, latent, w_k):
        return (latent @ w_k) @ query.swapaxes(1, 2) / np.sqrt(query.shape[-1])

    def not_transposed(query, latent, w_k):
        return query @ w_k @ latent.T / np.sqrt(query.shape[-1])

    def transposed_by_T(query, latent, w_k):
        return query @ (latent @ w_k).T / np.sqrt(query.shape[-1])

    def heads_summed(query, latent, w_k):
        return np.einsum("hqd,hcd,tc->qt", query, w_k, latent) / np.sqrt(query.shape[-1])

    def first_head_for_all(query, latent, w_k):
        return query @ (latent @ w_k[0]).T / np.sqrt(query.shape[-1])

    def no_matrix(query, latent, w_k):
        return query @ latent.T / np.sqrt(query.shape[-1])

    def only_keys(query, latent, w_k):
        return latent @ w_k

    def stops_half_way(query, latent, w_k):
        return query @ w_k.swapaxes(1, 2) / np.sqrt(query.shape[-1])

    def times_the_root(query, latent, w_k):
        return query @ (latent @ w_k).swapaxes(1, 2) * np.sqrt(query.shape[-1])

    def heads_at_the_end(query, latent, w_k):
        return np.einsum("hqd,hcd,tc->qth", query, w_k, latent) / np.sqrt(query.shape[-1])

    def root_of_the_whole_width(query, latent, w_k):
        scores = query @ (latent @ w_k).swapaxes(1, 2)
        return scores / np.sqrt(query.shape[-1] * len(query))

    def queries_first(query, latent, w_k):
        return np.einsum("hqd,hcd,tc->qht", query, w_k, latent) / np.sqrt(query.shape[-1])


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

    def weights_with_bias(scores, bias, n_active, step):
        s = scores + bias
        chosen = np.argsort(-s, axis=1)[:, :n_active]
        weights = np.take_along_axis(s, chosen, axis=1)
        load = np.bincount(chosen.flatten(), minlength=len(bias))
        change = step * np.sign(load.mean() - load)
        return chosen, weights / weights.sum(1, keepdims=True), bias + change

    def forgets_the_bias(scores, bias, n_active, step):
        chosen = np.argsort(-scores, axis=1)[:, :n_active]
        weights = np.take_along_axis(scores, chosen, axis=1)
        load = np.bincount(chosen.flatten(), minlength=len(bias))
        change = step * np.sign(load.mean() - load)
        return chosen, weights / weights.sum(1, keepdims=True), bias + change

    def argsort_upwards(scores, bias, n_active, step):
        chosen = np.argsort(scores + bias, axis=1)[:, :n_active]
        weights = np.take_along_axis(scores, chosen, axis=1)
        load = np.bincount(chosen.flatten(), minlength=len(bias))
        change = step * np.sign(load.mean() - load)
        return chosen, weights / weights.sum(1, keepdims=True), bias + change

    def last_ones(scores, bias, n_active, step):
        chosen = np.argsort(scores + bias, axis=1)[:, -n_active:]
        weights = np.take_along_axis(scores, chosen, axis=1)
        load = np.bincount(chosen.flatten(), minlength=len(bias))
        change = step * np.sign(load.mean() - load)
        return chosen, weights / weights.sum(1, keepdims=True), bias + change

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

    def busy_up(scores, bias, n_active, step):
        chosen = np.argsort(-(scores + bias), axis=1)[:, :n_active]
        weights = np.take_along_axis(scores, chosen, axis=1)
        load = np.bincount(chosen.flatten(), minlength=len(bias))
        change = step * np.sign(load - load.mean())
        return chosen, weights / weights.sum(1, keepdims=True), bias + change

    def by_how_much(scores, bias, n_active, step):
        chosen = np.argsort(-(scores + bias), axis=1)[:, :n_active]
        weights = np.take_along_axis(scores, chosen, axis=1)
        load = np.bincount(chosen.flatten(), minlength=len(bias))
        change = step * (load.mean() - load)
        return chosen, weights / weights.sum(1, keepdims=True), bias + change

    def more_or_less(scores, bias, n_active, step):
        chosen = np.argsort(-(scores + bias), axis=1)[:, :n_active]
        weights = np.take_along_axis(scores, chosen, axis=1)
        load = np.bincount(chosen.flatten(), minlength=len(bias))
        change = np.where(load < load.mean(), step, -step)
        return chosen, weights / weights.sum(1, keepdims=True), bias + change

    def new_bias_is_the_change(scores, bias, n_active, step):
        chosen = np.argsort(-(scores + bias), axis=1)[:, :n_active]
        weights = np.take_along_axis(scores, chosen, axis=1)
        load = np.bincount(chosen.flatten(), minlength=len(bias))
        change = step * np.sign(load.mean() - load)
        return chosen, weights / weights.sum(1, keepdims=True), change

    def counts_the_best_alone(scores, bias, n_active, step):
        chosen = np.argsort(-(scores + bias), axis=1)[:, :n_active]
        weights = np.take_along_axis(scores, chosen, axis=1)
        load = np.bincount(chosen[:, 0], minlength=len(bias))
        change = step * np.sign(load.mean() - load)
        return chosen, weights / weights.sum(1, keepdims=True), bias + change

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

    def softmax_as_usual(scores, bias, n_active, step):
        chosen = np.argsort(-(scores + bias), axis=1)[:, :n_active]
        weights = np.exp(np.take_along_axis(scores, chosen, axis=1))
        load = np.bincount(chosen.flatten(), minlength=len(bias))
        change = step * np.sign(load.mean() - load)
        return chosen, weights / weights.sum(1, keepdims=True), bias + change

    def writes_into_the_bias(scores, bias, n_active, step):
        chosen = np.argsort(-(scores + bias), axis=1)[:, :n_active]
        weights = np.take_along_axis(scores, chosen, axis=1)
        load = np.bincount(chosen.flatten(), minlength=len(bias))
        bias += step * np.sign(load.mean() - load)
        return chosen, weights / weights.sum(1, keepdims=True), bias
