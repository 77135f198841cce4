"""Correct solutions of appendix A1, each written in another way."""

import numpy as np
import torch


def loss_boolean(losses, targets, pad_id):
    return losses[targets != pad_id].mean()


def loss_loops(losses, targets, pad_id):
    total, n_tokens = 0.0, 0
    for batch, asked in zip(losses, targets, strict=True):
        real = asked != pad_id
        total += float((batch * real).sum())
        n_tokens += int(real.sum())
    return total / n_tokens


def loss_weighted(losses, targets, pad_id):
    return np.average(losses, weights=(targets != pad_id).astype(float))


def loss_torch(losses, targets, pad_id):
    real = torch.from_numpy(targets) != int(pad_id)
    return torch.from_numpy(losses).masked_select(real).mean()


def attended_along(ids, weights, n_tokens):
    order = np.argsort(weights.mean(axis=1), axis=1)[:, ::-1][:, : int(n_tokens)]
    return np.take_along_axis(ids, np.sort(order, axis=1), axis=1)


def attended_loops(ids, weights, n_tokens):
    summaries = []
    for row, matrix in zip(ids.tolist(), weights, strict=True):
        received = [sum(matrix[i][j] for i in range(len(row))) for j in range(len(row))]
        best = sorted(range(len(row)), key=lambda j: -received[j])[: int(n_tokens)]
        summaries.append([row[j] for j in sorted(best)])
    return summaries


def attended_topk(ids, weights, n_tokens):
    ids, weights = torch.from_numpy(ids), torch.from_numpy(weights)
    k = min(int(n_tokens), ids.shape[1])
    chosen = weights.sum(dim=1).topk(k, dim=1).indices.sort(dim=1).values
    return ids.gather(1, chosen)


def attended_fancy(ids, weights, n_tokens):
    received = np.einsum("bij->bj", weights)
    ranks = (received[:, None, :] > received[:, :, None]).sum(axis=2)
    keep = ranks < n_tokens
    return ids[keep].reshape(len(ids), -1)


def written_accumulate(ids, sos_id, eos_id, pad_id):
    words = ids[:, 1:]
    return np.where((words == eos_id).cumsum(axis=1) > 0, pad_id, words)


def written_loops(ids, sos_id, eos_id, pad_id):
    rows = []
    for row in ids.tolist():
        words = row[1:]
        if int(eos_id) in words:
            words = words[: words.index(int(eos_id))]
        rows.append(words + [int(pad_id)] * (ids.shape[1] - 1 - len(words)))
    return rows


def written_columns(ids, sos_id, eos_id, pad_id):
    words, alive = ids[:, 1:].copy(), np.ones(len(ids), dtype=bool)
    for column in words.T:
        alive &= column != eos_id
        column[~alive] = pad_id
    return words


def written_torch(ids, sos_id, eos_id, pad_id):
    words = torch.from_numpy(ids)[:, 1:]
    ended = (words == int(eos_id)).long().cummax(dim=1).values.bool()
    return words.masked_fill(ended, int(pad_id))


CORRECT = [
    ("epoch_loss", loss_boolean),
    ("epoch_loss", loss_loops),
    ("epoch_loss", loss_weighted),
    ("epoch_loss", loss_torch),
    ("most_attended", attended_along),
    ("most_attended", attended_loops),
    ("most_attended", attended_topk),
    ("most_attended", attended_fancy),
    ("written", written_accumulate),
    ("written", written_loops),
    ("written", written_columns),
    ("written", written_torch),
]
