"""Correct solutions of the exercises of chapter 6, each written in another way."""

import numpy as np
import torch


def causal_tri(tgt_len, src_len):
    return np.tri(tgt_len, src_len, k=src_len - tgt_len, dtype=bool)


def causal_loops(tgt_len, src_len):
    mask = np.zeros((tgt_len, src_len), dtype=bool)
    for i in range(tgt_len):
        for j in range(src_len):
            mask[i, j] = j <= i + src_len - tgt_len
    return mask


def causal_positions(tgt_len, src_len):
    positions = np.arange(src_len)
    return positions <= positions[src_len - tgt_len :, None]


def causal_last_rows(tgt_len, src_len):
    return np.tril(np.ones((src_len, src_len), dtype=bool))[-tgt_len:]


def causal_torch(tgt_len, src_len):
    forbidden = torch.ones(int(tgt_len), int(src_len)).triu(int(src_len - tgt_len) + 1)
    return forbidden == 0


def causal_numbers(tgt_len, src_len):
    return np.tri(tgt_len, src_len, k=src_len - tgt_len) > 0


def padding_vectorised(lengths, seq_len):
    return np.arange(seq_len) < lengths[:, None, None]


def padding_loops(lengths, seq_len):
    mask = np.zeros((len(lengths), 1, seq_len), dtype=bool)
    for sentence, length in enumerate(lengths):
        mask[sentence, 0, :length] = True
    return mask


def padding_lists(lengths, seq_len):
    rows = [[[position < length for position in range(seq_len)]] for length in lengths]
    return np.array(rows)


def padding_torch(lengths, seq_len):
    real = torch.arange(int(seq_len)) < torch.tensor(lengths).unsqueeze(1)
    return real.unsqueeze(1)


def reachable_products(mask, n_layers):
    step = mask | np.eye(len(mask), dtype=bool)
    reached = step
    for _ in range(n_layers - 1):
        reached = step @ reached
    return reached


def reachable_power(mask, n_layers):
    return np.linalg.matrix_power(mask + np.eye(len(mask), dtype=int), int(n_layers)) > 0


def reachable_einsum(mask, n_layers):
    step = np.maximum(mask, np.eye(len(mask)))
    reached = np.eye(len(mask))
    for _ in range(n_layers):
        reached = np.einsum("ij,jk->ik", step, reached).clip(max=1)
    return reached.astype(bool)


def reachable_loops(mask, n_layers):
    n = len(mask)
    seen = [{i} for i in range(n)]
    for _ in range(n_layers):
        seen = [seen[i].union(*(seen[j] for j in range(n) if mask[i, j])) for i in range(n)]
    return np.array([[j in seen[i] for j in range(n)] for i in range(n)])


def reachable_torch(mask, n_layers):
    step = (torch.tensor(mask) | torch.eye(len(mask), dtype=torch.bool)).double()
    return torch.linalg.matrix_power(step, int(n_layers)) > 0


CORRECT = [
    *(("causal_mask", f) for f in (causal_tri, causal_loops, causal_positions)),
    *(("causal_mask", f) for f in (causal_last_rows, causal_torch, causal_numbers)),
    *(("padding_mask", f) for f in (padding_vectorised, padding_loops, padding_lists)),
    ("padding_mask", padding_torch),
    *(("reachable", f) for f in (reachable_products, reachable_power, reachable_einsum)),
    *(("reachable", f) for f in (reachable_loops, reachable_torch)),
]
