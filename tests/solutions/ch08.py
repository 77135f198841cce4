"""Correct solutions of chapter 8, each written in another way."""

import math

import numpy as np
import torch
from torch.optim.adam import adam

from attn.reference import adam_step, smoothed_cross_entropy, teacher_forcing, warmup_schedule


def forcing_loops(tokens, sos_id, eos_id, pad_id):
    inputs, targets = [], []
    for row in tokens.tolist():
        words = [token for token in row if token != pad_id]
        rest = (len(row) - len(words)) * [int(pad_id)]
        inputs.append([int(sos_id), *words, *rest])
        targets.append([*words, int(eos_id), *rest])
    return np.array(inputs), np.array(targets)


def forcing_vectorised(tokens, sos_id, eos_id, pad_id):
    n_rows, n_columns = tokens.shape
    inputs = np.hstack([np.full((n_rows, 1), sos_id), tokens])
    longer = np.hstack([tokens, np.full((n_rows, 1), pad_id)])
    lengths = (tokens != pad_id).sum(axis=1, keepdims=True)
    return inputs, np.where(np.arange(n_columns + 1) == lengths, eos_id, longer)


def forcing_torch(tokens, sos_id, eos_id, pad_id):
    tokens = torch.from_numpy(tokens)
    inputs = torch.nn.functional.pad(tokens, (1, 0), value=int(sos_id))
    targets = torch.nn.functional.pad(tokens, (0, 1), value=int(pad_id))
    lengths = (tokens != int(pad_id)).sum(dim=1, keepdim=True)
    return inputs, targets.scatter(1, lengths, int(eos_id))


def forcing_by_cutting(tokens, sos_id, eos_id, pad_id):
    targets = np.pad(tokens, ((0, 0), (0, 1)), constant_values=int(pad_id))
    targets[np.arange(len(tokens)), np.count_nonzero(tokens != pad_id, axis=1)] = eos_id
    whole = np.insert(targets, 0, sos_id, axis=1)[:, :-1]
    return np.where(whole == eos_id, pad_id, whole), targets


def loss_loops(logits, targets, pad_id, smoothing):
    losses = []
    for z, right in zip(logits.reshape(-1, logits.shape[-1]), targets.ravel(), strict=True):
        if right != pad_id:
            top = max(z)
            total = top + math.log(sum(math.exp(x - top) for x in z))
            costs = [total - x for x in z]
            losses.append((1 - smoothing) * costs[right] + smoothing * sum(costs) / len(costs))
    return sum(losses) / len(losses)


def loss_with_targets_as_distributions(logits, targets, pad_id, smoothing):
    vocab_size = logits.shape[-1]
    q = (1 - smoothing) * np.eye(vocab_size)[targets] + smoothing / vocab_size
    log_p = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    return -np.einsum("...v,...v->...", q, log_p)[targets != pad_id].mean()


def loss_weighted(logits, targets, pad_id, smoothing):
    z = logits - logits.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    right = (log_p * (np.arange(z.shape[-1]) == targets[..., None])).sum(-1)
    counts = (targets != pad_id).astype(float)
    return (-((1 - smoothing) * right + smoothing * log_p.mean(-1)) * counts).sum() / counts.sum()


def loss_torch(logits, targets, pad_id, smoothing):
    return torch.nn.functional.cross_entropy(
        torch.tensor(logits).flatten(0, -2),
        torch.tensor(targets).flatten(),
        ignore_index=int(pad_id),
        label_smoothing=float(smoothing),
    )


def adam_loops(theta, gradient, m, v, t, learning_rate):
    new = [np.empty(theta.shape) for _ in range(3)]
    for i in np.ndindex(theta.shape):
        mean = 0.9 * m[i] + 0.1 * gradient[i]
        square = 0.98 * v[i] + 0.02 * gradient[i] * gradient[i]
        step = mean / (1 - 0.9**t) / (math.sqrt(square / (1 - 0.98**t)) + 1e-9)
        for array, value in zip(new, (theta[i] - learning_rate * step, mean, square), strict=True):
            array[i] = value
    return tuple(new)


def adam_one_rate(theta, gradient, m, v, t, learning_rate):
    m, v = m + 0.1 * (gradient - m), v + 0.02 * (gradient**2 - v)
    rate = learning_rate * np.sqrt(1 - 0.98**t) / (1 - 0.9**t)
    return theta - rate * m / (np.sqrt(v) + 1e-9 * np.sqrt(1 - 0.98**t)), m, v


def adam_torch(theta, gradient, m, v, t, learning_rate):
    # The function beneath `torch.optim.Adam`, which would import the compiler at its first step.
    theta, gradient, m, v = map(torch.tensor, (theta, gradient, m, v))
    step = torch.tensor(float(t) - 1)
    adam(
        [theta],
        [gradient],
        [m],
        [v],
        [],
        [step],
        amsgrad=False,
        maximize=False,
        weight_decay=0,
        lr=float(learning_rate),
        beta1=0.9,
        beta2=0.98,
        eps=1e-9,
    )
    return theta, m, v


def warmup_loops(t, d_model, warmup):
    rates = []
    for step in t.tolist():
        part = step * warmup**-1.5 if step < warmup else 1 / math.sqrt(step)
        rates.append(part / math.sqrt(d_model))
    return rates


def warmup_from_the_peak(t, d_model, warmup):
    peak = 1 / np.sqrt(d_model * warmup)
    return peak * np.where(t <= warmup, t / warmup, np.sqrt(warmup / t))


def warmup_torch(t, d_model, warmup):
    t = torch.from_numpy(t).double()
    return torch.minimum(t**-0.5, t * float(warmup) ** -1.5) / float(d_model) ** 0.5


CORRECT = [
    ("teacher_forcing", teacher_forcing),
    ("teacher_forcing", forcing_loops),
    ("teacher_forcing", forcing_vectorised),
    ("teacher_forcing", forcing_torch),
    ("teacher_forcing", forcing_by_cutting),
    ("smoothed_cross_entropy", smoothed_cross_entropy),
    ("smoothed_cross_entropy", loss_loops),
    ("smoothed_cross_entropy", loss_with_targets_as_distributions),
    ("smoothed_cross_entropy", loss_weighted),
    ("smoothed_cross_entropy", loss_torch),
    ("adam_step", adam_step),
    ("adam_step", adam_loops),
    ("adam_step", adam_one_rate),
    ("adam_step", adam_torch),
    ("warmup_schedule", warmup_schedule),
    ("warmup_schedule", warmup_loops),
    ("warmup_schedule", warmup_from_the_peak),
    ("warmup_schedule", warmup_torch),
]
