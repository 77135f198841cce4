"""Correct solutions of chapter 4, each written in another way."""

import math

import numpy as np
import torch


def split_reshape(x, n_heads):
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads).swapaxes(-2, -3)


def split_stack(x, n_heads):
    return np.stack(np.split(x, n_heads, axis=-1), axis=-3)


def split_loops(x, n_heads):
    d_k = x.shape[-1] // n_heads
    heads = np.empty((*x.shape[:-2], n_heads, x.shape[-2], d_k))
    for h in range(n_heads):
        heads[..., h, :, :] = x[..., h * d_k : (h + 1) * d_k]
    return heads


def split_torch(x, n_heads):
    return torch.as_tensor(x).unflatten(-1, (int(n_heads), -1)).transpose(-2, -3)


def _softmax(scores):
    peak = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(peak), peak, 0))
    return e / np.maximum(e.sum(axis=-1, keepdims=True), 1e-300)


def _room(mask):
    return mask if mask is None or mask.ndim < 3 else mask[..., None, :, :]


def attention_split(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    query, key, value = (split_reshape(x @ w, n_heads) for w in (w_q, w_k, w_v))
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(_room(mask), scores, -np.inf)
    weights = _softmax(scores)
    joined = (weights @ value).swapaxes(-2, -3).reshape(*x.shape[:-1], -1)
    return joined @ w_o, weights


def attention_loop(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    d_k = w_q.shape[1] // n_heads
    output, weights = 0, []
    for h in range(n_heads):
        own = slice(h * d_k, (h + 1) * d_k)
        scores = (x @ w_q[:, own]) @ (x @ w_k[:, own]).swapaxes(-1, -2) / math.sqrt(d_k)
        weights.append(_softmax(scores if mask is None else np.where(mask, scores, -np.inf)))
        output = output + weights[-1] @ (x @ w_v[:, own]) @ w_o[own]
    return output, np.stack(weights, axis=-3)


def attention_einsum(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    n = int(n_heads)
    w_q, w_k, w_v = (w.reshape(len(w), n, -1) for w in (w_q, w_k, w_v))
    query, key, value = (np.einsum("...im,mhd->...hid", x, w) for w in (w_q, w_k, w_v))
    scores = np.einsum("...hid,...hjd->...hij", query, key) / w_q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(_room(mask), scores, -np.inf)
    weights = _softmax(scores)
    blocks = w_o.reshape(n, -1, w_o.shape[1])
    return np.einsum("...hij,...hjd,hdm->...im", weights, value, blocks), weights


def attention_torch(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    x, *matrices = (torch.tensor(array) for array in (x, w_q, w_k, w_v))
    query, key, value = (split_torch(x @ w, n_heads) for w in matrices)
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~torch.tensor(_room(mask)), -torch.inf)
    weights = scores.softmax(-1).nan_to_num()
    return (weights @ value).transpose(-2, -3).flatten(-2) @ torch.tensor(w_o), weights


def contributions_blocks(heads, w_o):
    return heads @ w_o.reshape(heads.shape[-3], heads.shape[-1], w_o.shape[1])


def contributions_loop(heads, w_o):
    d_v = heads.shape[-1]
    each = [heads[..., h, :, :] @ w_o[h * d_v : (h + 1) * d_v] for h in range(heads.shape[-3])]
    return np.stack(each, axis=-3)


def contributions_einsum(heads, w_o):
    blocks = w_o.reshape(heads.shape[-3], heads.shape[-1], -1)
    return np.einsum("...hid,hdm->...him", heads, blocks)


def contributions_by_cutting(heads, w_o):
    def output(heads):
        return heads.swapaxes(-2, -3).reshape(*heads.shape[:-3], heads.shape[-2], -1) @ w_o

    each = []
    for h in range(heads.shape[-3]):
        rest = heads.copy()
        rest[..., h, :, :] = 0
        each.append(output(heads) - output(rest))
    return np.stack(each, axis=-3)


def contributions_torch(heads, w_o):
    heads, w_o = torch.tensor(heads), torch.tensor(w_o)
    return heads @ torch.stack(w_o.chunk(heads.shape[-3]))


CORRECT = [
    ("split_heads", split_reshape),
    ("split_heads", split_stack),
    ("split_heads", split_loops),
    ("split_heads", split_torch),
    ("multi_head_attention", attention_split),
    ("multi_head_attention", attention_loop),
    ("multi_head_attention", attention_einsum),
    ("multi_head_attention", attention_torch),
    ("head_contributions", contributions_blocks),
    ("head_contributions", contributions_loop),
    ("head_contributions", contributions_einsum),
    ("head_contributions", contributions_by_cutting),
    ("head_contributions", contributions_torch),
]
