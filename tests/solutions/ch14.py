"""Correct solutions of chapter 14's exercises, each written in another way."""

import numpy as np
import torch

from attn_course.exercises.catalogue import load


def delta_products(key, value, beta):
    # Each step multiplies the state by 1 - beta k k^T and adds beta k v^T.
    state, states = np.zeros((key.shape[1], value.shape[1])), []
    for k, v, rate in zip(key, value, beta, strict=True):
        kept = np.eye(len(k)) - rate * np.outer(k, k)
        state = kept @ state + rate * np.outer(k, v)
        states.append(state)
    return np.stack(states)


def delta_elements(key, value, beta):
    states = np.zeros((len(key), key.shape[1], value.shape[1]))
    for n in range(len(key)):
        before = states[n - 1] if n else np.zeros_like(states[0])
        for j in range(value.shape[1]):
            error = value[n, j] - sum(key[n, i] * before[i, j] for i in range(key.shape[1]))
            states[n, :, j] = before[:, j] + beta[n] * error * key[n]
    return states


def delta_torch(key, value, beta):
    key, value, beta = map(torch.tensor, (key, value, beta))
    state, states = torch.zeros(key.shape[1], value.shape[1], dtype=key.dtype), []
    for k, v, rate in zip(key, value, beta, strict=True):
        state = state + rate * torch.outer(k, v - state.T @ k)
        states.append(state)
    return torch.stack(states)


def gated_key(query, key, value, sink, x, w_g):
    # The sink is one more key, whose value is zero.
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    one_more = np.broadcast_to(sink[:, None, None], (*scores.shape[:2], 1))
    scores = np.concatenate((scores, one_more), axis=-1)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights[..., :-1] @ value / (1 + np.exp(-(x @ w_g)))


def gated_loops(query, key, value, sink, x, w_g):
    output = np.zeros((*query.shape[:2], value.shape[-1]))
    for h, i, c in np.ndindex(output.shape):
        powers = [np.exp(query[h, i] @ k / query.shape[-1] ** 0.5) for k in key[h]]
        total = np.exp(sink[h]) + sum(powers)
        found = sum(p / total * v[c] for p, v in zip(powers, value[h], strict=True))
        output[h, i, c] = found / (1 + np.exp(-x[i] @ w_g[h, :, c]))
    return output


def gated_logarithm(query, key, value, sink, x, w_g):
    # The share that is not the sink's is a sigmoid of how far its score lies below the others.
    query, key, value, sink, x, w_g = map(torch.tensor, (query, key, value, sink, x, w_g))
    scores = query @ key.mT / query.shape[-1] ** 0.5
    share = torch.sigmoid(scores.logsumexp(dim=-1, keepdim=True) - sink[:, None, None])
    return torch.sigmoid(x @ w_g) * share * (scores.softmax(dim=-1) @ value)


def latent_keys(query, latent, w_k):
    return query @ (latent @ w_k).mT / np.sqrt(query.shape[-1])


def latent_einsum(query, latent, w_k):
    return np.einsum("hqd,hcd,tc->hqt", query, w_k, latent) / query.shape[-1] ** 0.5


def latent_loops(query, latent, w_k):
    scores = []
    for q, w in zip(query, w_k, strict=True):
        scores.append([[row @ (c @ w) / len(row) ** 0.5 for c in latent] for row in q])
    return np.array(scores)


def route_loops(scores, bias, n_active, step):
    chosen, weights, load = [], [], [0] * len(bias)
    for row in scores:
        order = sorted(range(len(row)), key=lambda e: row[e] + bias[e], reverse=True)[:n_active]
        total = sum(row[e] for e in order)
        chosen.append(order)
        weights.append([row[e] / total for e in order])
        for e in order:
            load[e] += 1
    mean = sum(load) / len(load)
    moved = [b + step * ((n < mean) - (n > mean)) for b, n in zip(bias, load, strict=True)]
    return np.array(chosen), np.array(weights), np.array(moved)


def route_torch(scores, bias, n_active, step):
    scores, bias = torch.tensor(scores), torch.tensor(bias)
    chosen = (scores + bias).topk(int(n_active)).indices
    weights = scores.gather(1, chosen)
    used = torch.nn.functional.one_hot(chosen, len(bias)).sum(dim=(0, 1)).double()
    return chosen, weights / weights.sum(1, keepdim=True), bias + step * (used.mean() - used).sign()


def route_ranks(scores, bias, n_active, step):
    favoured = scores + bias
    place = (favoured[:, None] > favoured[:, :, None]).sum(axis=-1)
    taken = place < n_active
    chosen = np.argsort(place, axis=1)[:, :n_active]
    weights = np.take_along_axis(scores * taken / (scores * taken).sum(1)[:, None], chosen, axis=1)
    over = taken.sum(axis=0) * len(bias) - taken.sum()
    return chosen, weights, bias - step * np.sign(over)


CORRECT = [
    ("delta_states", load("delta_states").oracle),
    ("delta_states", delta_products),
    ("delta_states", delta_elements),
    ("delta_states", delta_torch),
    ("gated_attention", load("gated_attention").oracle),
    ("gated_attention", gated_key),
    ("gated_attention", gated_loops),
    ("gated_attention", gated_logarithm),
    ("latent_scores", load("latent_scores").oracle),
    ("latent_scores", latent_keys),
    ("latent_scores", latent_einsum),
    ("latent_scores", latent_loops),
    ("balanced_route", load("balanced_route").oracle),
    ("balanced_route", route_loops),
    ("balanced_route", route_torch),
    ("balanced_route", route_ranks),
]
