"""Correct solutions of chapter 12's exercises, each written in another way."""

import math

import numpy as np
import torch

from attn_course.exercises.catalogue import load


def scores_loops(query, key, query_gain, key_gain):
    def size(row):
        return math.sqrt(sum(a * a for a in row) / len(row) + 1e-5)

    *heads, n, d_k = query.shape
    scores = np.zeros((*heads, n, key.shape[-2]))
    for place in np.ndindex(scores.shape):
        q, k = query[place[:-1]], key[(*place[:-2], place[-1])]
        gained = sum(a * b * g * h for a, b, g, h in zip(q, k, query_gain, key_gain, strict=True))
        scores[place] = gained / (size(q) * size(k) * math.sqrt(d_k))
    return scores


def scores_torch(*arguments):
    query, key, query_gain, key_gain = map(torch.tensor, arguments)
    norm, shape = torch.nn.functional.rms_norm, query_gain.shape
    query, key = norm(query, shape, query_gain, eps=1e-5), norm(key, shape, key_gain, eps=1e-5)
    return query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5


def scores_by_length(query, key, query_gain, key_gain):
    d_k, sizes = query.shape[-1], []
    for x in (query, key):
        sizes.append((np.linalg.norm(x, axis=-1) ** 2 / x.shape[-1] + 1e-5) ** 0.5)
    products = np.einsum("...id,...jd,d->...ij", query, key, query_gain * key_gain)
    return products / sizes[0][..., None] / sizes[1][..., None, :] / d_k**0.5


def swiglu_torch(x, w_1, w_3, w_2):
    x, w_1, w_3, w_2 = map(torch.tensor, (x, w_1, w_3, w_2))
    return torch.einsum("...f,fd->...d", torch.nn.functional.silu(x @ w_1) * (x @ w_3), w_2)


def swiglu_sigmoid(x, w_1, w_3, w_2):
    gate, value = np.split(x @ np.concatenate([w_1, w_3], axis=1), 2, axis=-1)
    sigmoid = 0.5 * (1 + np.tanh(gate / 2))
    return (gate * sigmoid * value) @ w_2


def swiglu_loops(x, w_1, w_3, w_2):
    output = np.zeros(x.shape)
    for place in np.ndindex(x.shape[:-1]):
        for one, three, two in zip(w_1.T, w_3.T, w_2, strict=True):
            z = float(x[place] @ one)
            output[place] += z / (1 + math.exp(-z)) * float(x[place] @ three) * two
    return output


def accept_loops(target, draft, token, dice):
    accepted, rest = np.zeros(token.shape, dtype=bool), np.zeros(target.shape)
    for place in np.ndindex(token.shape):
        p, q, i = target[place], draft[place], token[place]
        accepted[place] = dice[place] * q[i] < p[i]
        left = [max(a - b, 0.0) for a, b in zip(p, q, strict=True)]
        rest[place] = [a / sum(left) for a in left]
    return accepted, rest


def accept_torch(target, draft, token, dice):
    target, draft, token, dice = map(torch.tensor, (target, draft, token, dice))
    ratio = (target / draft).gather(-1, token[..., None]).squeeze(-1)
    rest = (target - draft).relu()
    return dice < ratio.clamp(max=1), rest / rest.sum(-1, keepdim=True)


def accept_one_hot(target, draft, token, dice):
    chosen = np.arange(target.shape[-1]) == token[..., None]
    both = np.minimum(target, draft)
    accepted = dice * draft[chosen].reshape(token.shape) < target[chosen].reshape(token.shape)
    return accepted, (target - both) / (1 - both.sum(axis=-1, keepdims=True))


CORRECT = [
    ("normed_scores", load("normed_scores").oracle),
    ("normed_scores", scores_loops),
    ("normed_scores", scores_torch),
    ("normed_scores", scores_by_length),
    ("swiglu", load("swiglu").oracle),
    ("swiglu", swiglu_torch),
    ("swiglu", swiglu_sigmoid),
    ("swiglu", swiglu_loops),
    ("accept", load("accept").oracle),
    ("accept", accept_loops),
    ("accept", accept_torch),
    ("accept", accept_one_hot),
]
