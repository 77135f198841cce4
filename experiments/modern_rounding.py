"""What rounding costs: the weights of SmolLM2's layers as the file has them, and rounded again.

The file holds four-bit integers, and the weights before that rounding are not available, so the
cost of that rounding cannot be measured. What can be measured is the cost of rounding once more in
the same way, with blocks of other neighbours, and with more bits and fewer.
"""

from copy import deepcopy

import numpy as np
import torch
from torch.nn import functional as F

from attn.corpus import tatoeba
from experiments.modern_tasks import smollm2

N_SENTENCES, AT_ONCE, BLOCK = 80, 16, 32
# The bits of each integer; whether a block has an offset; by how much the blocks are shifted.
ROUNDINGS = {
    "eight_bits": (8, True, 0),
    "four_bits_shifted": (4, True, BLOCK // 2),
    "four_bits_symmetric": (4, False, 0),
    "three_bits": (3, True, 0),
    "two_bits": (2, True, 0),
}
N_DRAWS = 2000


def rounded(matrix, n_bits, offset, shift):
    """Return a matrix whose blocks of 32 neighbours each have at most 2**n_bits values."""
    blocks = torch.roll(matrix, shift, dims=-1).unflatten(-1, (-1, BLOCK))
    if offset:
        low = blocks.amin(dim=-1, keepdim=True)
        step = (blocks.amax(dim=-1, keepdim=True) - low) / (2**n_bits - 1)
        low, step = low.half().float(), step.half().float()
        whole = ((blocks - low) / step.clamp(min=1e-12)).round().clamp(0, 2**n_bits - 1)
        blocks = low + step * whole
    else:
        # As in Q4_0, the number farthest from 0 becomes the lowest integer.
        far = blocks.gather(-1, blocks.abs().argmax(dim=-1, keepdim=True))
        step = (far / -(2 ** (n_bits - 1))).half().float()
        step = torch.where(step == 0, 1e-12, step)
        blocks = (blocks / step).round().clamp(-(2 ** (n_bits - 1)), 2 ** (n_bits - 1) - 1) * step
    return torch.roll(blocks.flatten(-2), -shift, dims=-1)


@torch.inference_mode()
def rounded_model(model, *rounding):
    """Return a copy of a model with rounded matrices in its layers, and unchanged embeddings."""
    model = deepcopy(model)
    for parameter in model.stack.layers.parameters():
        if parameter.dim() == 2:
            parameter.copy_(rounded(parameter, *rounding))
    return model


def sentences(tokenizer):
    """Return the ids of English sentences that no model of the course was trained on, by length."""
    texts = list(dict.fromkeys(pair.source for pair in tatoeba()["plain"]))[:N_SENTENCES]
    return sorted((tokenizer.encode(text) for text in texts), key=len)


@torch.inference_mode()
def read(model, rows):
    """Return the log-probabilities of a model for each sentence, shape (n_tokens, vocab_size)."""
    found = []
    for some in (rows[i : i + AT_ONCE] for i in range(0, len(rows), AT_ONCE)):
        ids = torch.tensor([[*row, *[0] * (len(some[-1]) - len(row))] for row in some])
        logits = model(ids)[0].log_softmax(dim=-1)
        found += [logits[i, : len(row) - 1] for i, row in enumerate(some)]
    return found


def compared(model, other, rows):
    """Return two models' losses by sentence, its KL, its equal top predictions and its tokens."""
    found = []
    for some in (rows[i : i + AT_ONCE] for i in range(0, len(rows), AT_ONCE)):
        for ids, p, q in zip(some, read(model, some), read(other, some), strict=True):
            targets = torch.tensor(ids[1:])
            found.append(
                (
                    float(F.nll_loss(p, targets, reduction="sum")),
                    float(F.nll_loss(q, targets, reduction="sum")),
                    float((p.exp() * (p - q)).sum()),
                    int((p.argmax(dim=-1) == q.argmax(dim=-1)).sum()),
                    len(targets),
                )
            )
    return np.array(found).T


def summary(name, losses, others, kl, same, n):
    """Return a row: means over tokens, and an interval from a bootstrap over sentences."""
    draws = np.random.default_rng(0).integers(len(n), size=(N_DRAWS, len(n)))
    again = (others - losses)[draws].sum(axis=1) / n[draws].sum(axis=1)
    return {
        "id": name,
        "loss": round(float(others.sum() / n.sum()), 3),
        "more": round(float((others - losses).sum() / n.sum()), 3),
        "interval": [round(float(end), 3) for end in np.quantile(again, (0.025, 0.975))],
        "kl": round(float(kl.sum() / n.sum()), 4),
        "same_first": round(float(same.sum() / n.sum()), 3),
    }


def measure(told, keep):
    """Round in each way that has no row yet, and measure on all sentences."""
    model, tokenizer = smollm2()
    rows = sentences(tokenizer)
    told.setdefault(
        "setting",
        {
            "sentences": len(rows),
            "tokens": sum(map(len, rows)) - len(rows),
            "rounded": sum(p.numel() for p in model.stack.layers.parameters() if p.dim() == 2),
        },
    )
    done = told.setdefault("rows", [])
    for name, rounding in ROUNDINGS.items():
        if name not in [row["id"] for row in done]:
            found = compared(model, rounded_model(model, *rounding), rows)
            if not done:
                done.append(summary("file", found[0], found[0], 0 * found[2], found[4], found[4]))
            done.append(summary(name, *found))
            keep(told)
