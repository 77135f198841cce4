"""Correct solutions of chapter 1's exercises, each written in another way."""

import math
from collections import deque

import numpy as np
import torch

from attn.reference import attention_pooling, path_lengths

POOLING, ALIGNMENT, PATHS = "attention_pooling", "read_alignment", "path_lengths"


def pooling_loops(query, key, value):
    if key.ndim > 2:
        pairs = [pooling_loops(query, k, v) for k, v in zip(key, value, strict=True)]
        return [np.stack(arrays) for arrays in zip(*pairs, strict=True)]
    scores = [sum(a * b for a, b in zip(query, k, strict=True)) for k in key]
    exponentials = [math.exp(score - max(scores)) for score in scores]
    weights = [e / sum(exponentials) for e in exponentials]
    return sum(w * v for w, v in zip(weights, value, strict=True)), np.array(weights)


def pooling_einsum(query, key, value):
    scores = np.einsum("...jd,d->...j", key, query)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("...j,...jd->...d", weights, value), weights


def pooling_broadcast(query, key, value):
    scores = (key * query).sum(axis=-1, keepdims=True)
    weights = np.exp(scores - scores.max(axis=-2, keepdims=True))
    weights = weights / weights.sum(axis=-2, keepdims=True)
    return (weights * value).sum(axis=-2), weights[..., 0]


def pooling_torch(query, key, value):
    query, key, value = map(torch.tensor, (query, key, value))
    weights = (key @ query).softmax(dim=-1)
    return (weights.unsqueeze(-2) @ value).squeeze(-2), weights


def alignment_loops(weights):
    n_layers, n_heads, tgt_len, src_len = weights.shape
    links = []
    for i in range(tgt_len - 1):
        totals = [
            sum(weights[a, b, i, j] for a in range(n_layers) for b in range(n_heads))
            for j in range(src_len)
        ]
        links.append([j == totals.index(max(totals)) for j in range(src_len)])
    return np.array(links)


def alignment_indexed(weights):
    mean = weights.mean(axis=(0, 1))[:-1]
    links = np.zeros(mean.shape, dtype=bool)
    links[np.arange(len(mean)), mean.argmax(axis=1)] = True
    return links


def alignment_einsum(weights):
    total = np.einsum("lhij->ij", weights)
    return np.eye(weights.shape[-1], dtype=bool)[total.argmax(axis=-1)][:-1]


def alignment_torch(weights):
    best = torch.tensor(weights).flatten(0, 1).mean(dim=0)[:-1].argmax(dim=-1)
    return torch.nn.functional.one_hot(best, weights.shape[-1]).bool()


def paths_one_by_one(mask):
    """Search from each position through those it reads, the nearest first."""
    lengths = np.full(mask.shape, -1)
    for start in range(len(mask)):
        lengths[start, start], waiting = 0, deque([start])
        while waiting:
            here = waiting.popleft()
            for there in np.flatnonzero(mask[here]):
                if lengths[start, there] < 0:
                    lengths[start, there] = lengths[start, here] + 1
                    waiting.append(there)
    return lengths


def paths_shortened(mask):
    """Try every position as a stop in between, as Floyd and Warshall do."""
    lengths = np.where(mask, 1.0, np.inf)
    np.fill_diagonal(lengths, 0)
    for stop in range(len(mask)):
        lengths = np.minimum(lengths, lengths[:, [stop]] + lengths[[stop]])
    return np.where(np.isinf(lengths), -1, lengths).astype(int)


def paths_of_powers(mask):
    step = mask | np.eye(len(mask), dtype=bool)
    reached = np.stack([np.linalg.matrix_power(step.astype(float), k) for k in range(len(mask))])
    return np.where(reached.any(axis=0), (reached > 0).argmax(axis=0), -1)


def paths_torch(mask):
    step = torch.tensor(mask).double()
    heard = torch.eye(len(mask), dtype=torch.double)
    lengths = heard.long() - 1
    for layer in range(1, len(mask)):
        heard = ((step @ heard + heard) > 0).double()
        lengths[(heard > 0) & (lengths < 0)] = layer
    return lengths


CORRECT = [
    *((POOLING, f) for f in (attention_pooling, pooling_loops, pooling_einsum)),
    *((POOLING, f) for f in (pooling_broadcast, pooling_torch)),
    *((ALIGNMENT, f) for f in (alignment_loops, alignment_indexed)),
    *((ALIGNMENT, f) for f in (alignment_einsum, alignment_torch)),
    *((PATHS, f) for f in (path_lengths, paths_one_by_one, paths_shortened)),
    *((PATHS, f) for f in (paths_of_powers, paths_torch)),
]
