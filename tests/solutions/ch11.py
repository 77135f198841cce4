"""Correct solutions of chapter 11's exercises, each written in another way."""

import math

import numpy as np
import torch

from attn import reference


def mask_loops(tokens, chance, dice, others, mask_id, ignore_id):
    inputs, labels = tokens.copy(), np.full_like(tokens, ignore_id)
    for place in np.ndindex(tokens.shape):
        if tokens[place] < 4 or chance[place] >= 0.15:
            continue
        labels[place] = tokens[place]
        if dice[place] < 0.8:
            inputs[place] = mask_id
        elif dice[place] < 0.9:
            inputs[place] = others[place]
    return inputs, labels


def mask_indexed(tokens, chance, dice, others, mask_id, ignore_id):
    chosen = np.logical_and(chance < 0.15, ~np.isin(tokens, range(4)))
    inputs, labels = tokens.copy(), tokens.copy()
    labels[~chosen] = ignore_id
    changed = chosen & (dice >= 0.8) & (dice < 0.9)
    inputs[chosen & (dice < 0.8)] = mask_id
    inputs[changed] = others[changed]
    return inputs, labels


def mask_select(tokens, chance, dice, others, mask_id, ignore_id):
    asked = (chance < 0.15) * (tokens > 3)
    fates = [asked * (dice < 0.8), asked * (dice < 0.9)]
    return np.select(fates, [mask_id, others], tokens), np.choose(asked, [ignore_id, tokens])


def mask_torch(tokens, chance, dice, others, mask_id, ignore_id):
    tokens, chance, dice, others = map(torch.tensor, (tokens, chance, dice, others))
    chosen = chance.lt(0.15) & tokens.ge(4)
    inputs = tokens.masked_fill(chosen & dice.lt(0.8), int(mask_id))
    inputs = torch.where(chosen & dice.ge(0.8) & dice.lt(0.9), others, inputs)
    return inputs, tokens.masked_fill(~chosen, int(ignore_id))


def contrastive_torch(images, texts, temperature):
    images, texts = (torch.nn.functional.normalize(torch.tensor(x)) for x in (images, texts))
    logits, right = images @ texts.T / float(temperature), torch.arange(len(images))
    cross_entropy = torch.nn.functional.cross_entropy
    return (cross_entropy(logits, right) + cross_entropy(logits.T, right)) / 2


def contrastive_loops(images, texts, temperature):
    def cosine(a, b):
        return sum(a * b) / math.sqrt(sum(a * a) * sum(b * b))

    n, total = len(images), 0.0
    logits = [[cosine(i, t) / float(temperature) for t in texts] for i in images]
    for rows in (logits, list(zip(*logits, strict=True))):
        for i, row in enumerate(rows):
            top = max(row)
            total += top + math.log(sum(math.exp(z - top) for z in row)) - row[i]
    return total / (2 * n)


def contrastive_einsum(images, texts, temperature):
    cosines = reference.cosine_similarity(images, texts)
    logits = np.einsum("ij->ij", cosines) / temperature
    sums = [np.logaddexp.reduce(logits, axis=axis) for axis in (0, 1)]
    return np.mean(sums) - np.einsum("ii->", logits) / len(images)


def spans_loops(tokens, hidden, first_sentinel):
    inputs, targets, mark, inside = [], [], int(first_sentinel), False
    for token, is_hidden in zip(tokens, hidden, strict=True):
        if is_hidden and not inside:
            inputs.append(mark)
            targets.append(mark)
            mark += 1
        (targets if is_hidden else inputs).append(token)
        inside = is_hidden
    return inputs, [*targets, mark]


def spans_vectorised(tokens, hidden, first_sentinel):
    begins = np.diff(hidden.astype(int), prepend=0) == 1
    marks = first_sentinel + begins.cumsum() - 1
    inputs = np.where(begins, marks, tokens)[~hidden | begins]
    pairs = np.stack([marks, tokens], axis=1)
    targets = pairs[np.stack([begins, hidden], axis=1)]
    return inputs, np.append(targets, first_sentinel + begins.sum())


def spans_groups(tokens, hidden, first_sentinel):
    edges = np.flatnonzero(np.diff(hidden)) + 1
    inputs, targets, mark = [], [], int(first_sentinel)
    for run, flags in zip(np.split(tokens, edges), np.split(hidden, edges), strict=True):
        if flags[0]:
            inputs.append([mark])
            targets += [[mark], run]
            mark += 1
        else:
            inputs.append(run)
    return np.concatenate(inputs), torch.tensor(np.concatenate([*targets, [mark]]))


CORRECT = [
    ("mask_tokens", reference.mask_tokens),
    ("mask_tokens", mask_loops),
    ("mask_tokens", mask_indexed),
    ("mask_tokens", mask_select),
    ("mask_tokens", mask_torch),
    ("contrastive_loss", reference.contrastive_loss),
    ("contrastive_loss", contrastive_torch),
    ("contrastive_loss", contrastive_loops),
    ("contrastive_loss", contrastive_einsum),
    ("corrupt_spans", reference.corrupt_spans),
    ("corrupt_spans", spans_loops),
    ("corrupt_spans", spans_vectorised),
    ("corrupt_spans", spans_groups),
]
