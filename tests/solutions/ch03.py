"""Correct solutions of the exercises of chapter 3, each written in another way."""

import functools
import math

import numpy as np
import torch

from attn.reference import scaled_dot_product_attention, self_attention, softmax

ATTENTION = "scaled_dot_product_attention"
SELF = "self_attention"
SOFTMAX = "softmax"


def softmax_vectorised(scores):
    largest = np.max(scores, axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(largest == -np.inf, 0, largest))
    total = exponentials.sum(axis=-1, keepdims=True)
    return np.divide(exponentials, total, out=np.zeros_like(exponentials), where=total > 0)


def softmax_loops(scores):
    if scores.ndim > 1:
        return np.stack([softmax_loops(row) for row in scores])
    largest = max(scores)
    if largest == -math.inf:
        return np.zeros(len(scores))
    exponentials = [math.exp(score - largest) for score in scores]
    return np.array([e / sum(exponentials) for e in exponentials])


def softmax_einsum(scores):
    weights = np.exp(scores - np.maximum(scores.max(-1), -1e300)[..., None])
    return np.einsum("...j,...->...j", weights, 1 / np.maximum(np.einsum("...j->...", weights), 1))


def softmax_textbook_then_zeros(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return np.where(scores == -np.inf, 0, weights)


def softmax_torch(scores):
    return torch.from_numpy(scores).softmax(-1).nan_to_num()


def softmax_torch_float32(scores):
    return torch.tensor(scores, dtype=torch.float32, requires_grad=True).softmax(-1).nan_to_num()


def softmax_nested_lists(scores):
    return np.array(softmax(scores).tolist())


def attention_vectorised(query, key, value, mask=None):
    scores = np.matmul(query, np.swapaxes(key, -1, -2)) / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax_textbook_then_zeros(scores)
    return weights @ value, weights


def attention_einsum(query, key, value, mask=None):
    scores = np.einsum("...id,...jd->...ij", query * query.shape[-1] ** -0.5, key)
    if mask is not None:
        scores = scores + np.where(mask, 0, -np.inf)
    weights = softmax_einsum(scores)
    return [np.einsum("...ij,...jd->...id", weights, value), weights]


def attention_loops(query, key, value, mask=None):
    if mask is None:
        mask = np.ones((*query.shape[:-1], key.shape[-2]), dtype=bool)
    if query.ndim > 2:
        mask = np.broadcast_to(mask, (*query.shape[:-1], key.shape[-2]))
        pairs = [attention_loops(*inputs) for inputs in zip(query, key, value, mask, strict=True)]
        return tuple(np.stack(arrays) for arrays in zip(*pairs, strict=True))
    weights = np.zeros((len(query), len(key)))
    output = np.zeros((len(query), value.shape[1]))
    for i, q in enumerate(query):
        allowed = [j for j in range(len(key)) if mask[i, j]]
        scores = {
            j: sum(a * b for a, b in zip(q, key[j], strict=True)) / math.sqrt(len(q))
            for j in allowed
        }
        for j in allowed:
            largest = max(scores.values())
            total = sum(math.exp(s - largest) for s in scores.values())
            weights[i, j] = math.exp(scores[j] - largest) / total
            output[i] += weights[i, j] * value[j]
    return output, weights


def attention_finite_fill_then_zeros(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    if mask is None:
        mask = np.ones_like(scores, dtype=bool)
    weights = np.where(mask, softmax(np.where(mask, scores, -1e9)), 0)
    return weights @ value, weights


def attention_torch(query, key, value, mask=None, dtype=torch.float64):
    query, key, value = (torch.tensor(x, dtype=dtype) for x in (query, key, value))
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~torch.as_tensor(mask), -torch.inf)
    weights = torch.softmax(scores, dim=-1).nan_to_num(0)
    return weights @ value, weights


def self_attention_composed(x, w_q, w_k, w_v, mask=None):
    return attention_vectorised(x @ w_q, x @ w_k, x @ w_v, mask)


def self_attention_one_matrix(x, w_q, w_k, w_v, mask=None):
    d_k = w_q.shape[1]
    query, key, value = np.split(x @ np.hstack([w_q, w_k, w_v]), [d_k, 2 * d_k], axis=-1)
    return attention_einsum(query, key, value, mask)


def self_attention_bilinear(x, w_q, w_k, w_v, mask=True):
    scores = x @ (w_q @ w_k.T) @ x.swapaxes(-1, -2) / np.sqrt(w_q.shape[1])
    weights = softmax(np.where(mask, scores, -np.inf))
    return (weights @ x) @ w_v, weights


def self_attention_torch(x, w_q, w_k, w_v, mask=None):
    x, *matrices = (torch.tensor(array) for array in (x, w_q, w_k, w_v))
    query, key, value = (torch.nn.functional.linear(x, w.T).numpy() for w in matrices)
    return attention_torch(query, key, value, mask)


CORRECT = [
    (SOFTMAX, softmax),
    (SOFTMAX, softmax_vectorised),
    (SOFTMAX, softmax_loops),
    (SOFTMAX, softmax_einsum),
    (SOFTMAX, softmax_textbook_then_zeros),
    (SOFTMAX, softmax_torch),
    (SOFTMAX, softmax_torch_float32),
    (SOFTMAX, softmax_nested_lists),
    (ATTENTION, scaled_dot_product_attention),
    (ATTENTION, attention_vectorised),
    (ATTENTION, attention_einsum),
    (ATTENTION, attention_loops),
    (ATTENTION, attention_finite_fill_then_zeros),
    (ATTENTION, attention_torch),
    (ATTENTION, functools.partial(attention_torch, dtype=torch.float32)),
    (SELF, self_attention),
    (SELF, self_attention_composed),
    (SELF, self_attention_one_matrix),
    (SELF, self_attention_bilinear),
    (SELF, self_attention_torch),
]
