"""Correct solutions of chapter 5, each written in another way."""

import math

import numpy as np
import torch

from attn import reference


def layer_norm_formula(x, gain, bias):
    deviation = x - x.mean(axis=-1, keepdims=True)
    return gain * deviation / np.sqrt((deviation**2).mean(axis=-1, keepdims=True) + 1e-5) + bias


def layer_norm_loops(x, gain, bias):
    if x.ndim > 1:
        return np.stack([layer_norm_loops(row, gain, bias) for row in x])
    mean = sum(x) / len(x)
    variance = sum((number - mean) ** 2 for number in x) / len(x)
    normalised = [
        g * (n - mean) / math.sqrt(variance + 1e-5) + b
        for n, g, b in zip(x, gain, bias, strict=True)
    ]
    return np.array(normalised)


def layer_norm_einsum(x, gain, bias):
    d_model = x.shape[-1]
    mean = np.einsum("...d->...", x)[..., None] / d_model
    square = np.einsum("...d,...d->...", x - mean, x - mean)[..., None] / d_model
    return np.einsum("...d,d->...d", (x - mean) / np.sqrt(square + 1e-5), gain) + bias


def layer_norm_torch(x, gain, bias):
    x, gain, bias = map(torch.tensor, (x, gain, bias))
    return torch.nn.functional.layer_norm(x, x.shape[-1:], gain, bias)


def feed_forward_where(x, w_1, b_1, w_2, b_2):
    hidden = x @ w_1 + b_1
    return np.where(hidden > 0, hidden, 0) @ w_2 + b_2


def feed_forward_loops(x, w_1, b_1, w_2, b_2):
    if x.ndim > 1:
        return np.stack([feed_forward_loops(row, w_1, b_1, w_2, b_2) for row in x])
    output = b_2.copy()
    for j in range(len(b_1)):
        hidden = sum(x[i] * w_1[i, j] for i in range(len(x))) + b_1[j]
        if hidden > 0:
            output += hidden * w_2[j]
    return output


def feed_forward_einsum(x, w_1, b_1, w_2, b_2):
    hidden = np.einsum("...i,ij->...j", x, w_1) + b_1
    return np.einsum("...j,jk->...k", hidden.clip(min=0), w_2) + b_2


def feed_forward_torch(x, w_1, b_1, w_2, b_2):
    x, w_1, b_1, w_2, b_2 = map(torch.tensor, (x, w_1, b_1, w_2, b_2))
    hidden = torch.nn.functional.linear(x, w_1.T, b_1).relu()
    return torch.nn.functional.linear(hidden, w_2.T, b_2)


def _plain_norm(x):
    return reference.layer_norm(x)


def encoder_layer_composed(x, w_q, w_k, w_v, w_o, w_1, w_2):
    attended, _ = reference.self_attention(x, w_q, w_k, w_v)
    y = _plain_norm(x + attended @ w_o)
    return _plain_norm(y + np.maximum(0, y @ w_1) @ w_2)


def encoder_layer_loops(x, w_q, w_k, w_v, w_o, w_1, w_2):
    if x.ndim > 2:
        return np.stack([encoder_layer_loops(row, w_q, w_k, w_v, w_o, w_1, w_2) for row in x])
    ones, zeros = np.ones(x.shape[-1]), np.zeros(x.shape[-1])
    rows = []
    for token in x:
        scores = np.array([(token @ w_q) @ (other @ w_k) for other in x]) / math.sqrt(w_q.shape[1])
        weights = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
        found = sum(a * (other @ w_v) for a, other in zip(weights, x, strict=True)) @ w_o
        y = np.array(layer_norm_loops(token + found, ones, zeros))
        fed = feed_forward_loops(y, w_1, np.zeros(w_1.shape[1]), w_2, zeros)
        rows.append(layer_norm_loops(y + fed, ones, zeros))
    return np.array(rows)


def encoder_layer_torch(x, w_q, w_k, w_v, w_o, w_1, w_2):
    x, w_q, w_k, w_v, w_o, w_1, w_2 = map(torch.tensor, (x, w_q, w_k, w_v, w_o, w_1, w_2))
    functional = torch.nn.functional
    attended = functional.scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v) @ w_o
    y = functional.layer_norm(x + attended, x.shape[-1:])
    return functional.layer_norm(y + (y @ w_1).relu() @ w_2, x.shape[-1:])


def cross_attention_where(x, memory, w_q, w_k, w_v, memory_mask=None):
    scores = (x @ w_q) @ (memory @ w_k).mT / np.sqrt(w_q.shape[1])
    if memory_mask is not None:
        scores = np.where(memory_mask[..., None, :], scores, -np.inf)
    weights = reference.softmax(scores)
    return weights @ (memory @ w_v), weights


def cross_attention_einsum(x, memory, w_q, w_k, w_v, memory_mask=None):
    scores = np.einsum("...id,dk,ek,...je->...ij", x, w_q, w_k, memory) / w_q.shape[1] ** 0.5
    allowed = 1.0 if memory_mask is None else np.expand_dims(memory_mask, -2)
    powers = np.exp(scores - scores.max(-1, keepdims=True)) * allowed
    weights = powers / powers.sum(-1, keepdims=True)
    return np.einsum("...ij,...je,ev->...iv", weights, memory, w_v), weights


def cross_attention_loops(x, memory, w_q, w_k, w_v, memory_mask=None):
    if x.ndim > 2:
        masks = [None] * len(x) if memory_mask is None else memory_mask
        pairs = [
            cross_attention_loops(a, b, w_q, w_k, w_v, mask)
            for a, b, mask in zip(x, memory, masks, strict=True)
        ]
        return tuple(map(np.stack, zip(*pairs, strict=True)))
    weights = np.zeros((len(x), len(memory)))
    for i, token in enumerate(x):
        for j, word in enumerate(memory):
            if memory_mask is None or memory_mask[j]:
                weights[i, j] = math.exp((token @ w_q) @ (word @ w_k) / math.sqrt(w_q.shape[1]))
        weights[i] /= weights[i].sum()
    return weights @ (memory @ w_v), weights


def cross_attention_torch(x, memory, w_q, w_k, w_v, memory_mask=None):
    x, memory, w_q, w_k, w_v = map(torch.tensor, (x, memory, w_q, w_k, w_v))
    scores = (x @ w_q) @ (memory @ w_k).mT / w_q.shape[1] ** 0.5
    if memory_mask is not None:
        scores = scores.masked_fill(~torch.as_tensor(memory_mask).unsqueeze(-2), -torch.inf)
    weights = scores.softmax(-1)
    return weights @ (memory @ w_v), weights


CORRECT = [
    ("layer_norm", layer_norm_formula),
    ("layer_norm", layer_norm_loops),
    ("layer_norm", layer_norm_einsum),
    ("layer_norm", layer_norm_torch),
    ("feed_forward", feed_forward_where),
    ("feed_forward", feed_forward_loops),
    ("feed_forward", feed_forward_einsum),
    ("feed_forward", feed_forward_torch),
    ("encoder_layer", encoder_layer_composed),
    ("encoder_layer", encoder_layer_loops),
    ("encoder_layer", encoder_layer_torch),
    ("cross_attention", cross_attention_where),
    ("cross_attention", cross_attention_einsum),
    ("cross_attention", cross_attention_loops),
    ("cross_attention", cross_attention_torch),
]
