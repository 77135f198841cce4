"""Twelve layers with one part removed, on a task that two layers solve.

Writes ``notebooks/data/depth.json``, which chapter 05 draws. The task is to reverse eight
digits, with one prediction per position. Guessing has a loss of ln 10 = 2.303 and is right one
time in ten.
"""

from functools import partial

import torch
from torch import nn

from attn.layers import EncoderLayer
from attn.reference import sinusoidal_positions
from experiments.runner import DATA, Experiment, Row

DIGITS, LENGTH, D_MODEL = 10, 8, 32
STEPS, EVERY, BATCH = 800, 40, 32
LEARNING_RATE = 3e-3
SEEDS = 3
# Each variant: whether there are residuals, where it normalises, the number of layers, the warm-up
# steps and, if it differs, the learning rate.
VARIANTS = {
    "post": (True, "post", 12, 0),
    "post_warm": (True, "post", 12, 400),
    "post_slow": (True, "post", 12, 0, 1e-3),
    "pre": (True, "pre", 12, 0),
    "no_norm": (True, "none", 12, 0),
    "no_residual": (False, "post", 12, 0),
    "no_residual_2": (False, "post", 2, 0),
    "post_2": (True, "post", 2, 0),
}
RESULTS = DATA / "depth.json"


class Layer(EncoderLayer):
    """An encoder layer whose residuals or norms can be removed."""

    def __init__(self, residual, norm):
        super().__init__(D_MODEL, n_heads=4, d_ff=64, norm="pre" if norm == "pre" else "post")
        self.residual, self.normalises = residual, norm != "none"

    def _before(self, norm, x):
        return super()._before(norm, x) if self.normalises else x

    def _add(self, norm, x, computed):
        total = x + computed if self.residual else computed
        return norm(total) if self.normalises and self.norm == "post" else total


class Stack(nn.Module):
    """Reads digits and returns the logits of a digit at every position."""

    def __init__(self, residual, norm, depth):
        super().__init__()
        self.embedding = nn.Embedding(DIGITS, D_MODEL)
        self.layers = nn.ModuleList(Layer(residual, norm) for _ in range(depth))
        self.norm = nn.LayerNorm(D_MODEL) if norm == "pre" else nn.Identity()
        self.output = nn.Linear(D_MODEL, DIGITS)
        positions = torch.tensor(sinusoidal_positions(LENGTH, D_MODEL), dtype=torch.float32)
        self.register_buffer("positions", positions)

    def forward(self, ids):
        x = self.embedding(ids) + self.positions
        for layer in self.layers:
            x, _ = layer(x)
        return self.output(self.norm(x))


def train(residual, norm, depth, warm_up, rate=LEARNING_RATE, *, seed=0, steps=STEPS):
    """Return the mean loss of every `EVERY` steps and the share of digits right at the end.

    The seed determines the initial weights and all digits, the test's included.
    """
    torch.manual_seed(seed)
    model = Stack(residual, norm, depth)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / max(1, warm_up))
    )
    generator = torch.Generator().manual_seed(seed + 1)
    losses = []
    for _ in range(steps):
        ids = torch.randint(0, DIGITS, (BATCH, LENGTH), generator=generator)
        loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    ids = torch.randint(0, DIGITS, (500, LENGTH), generator=generator)
    with torch.no_grad():
        right = (model(ids).argmax(-1) == ids.flip(1)).double().mean().item()
    return torch.tensor(losses).unflatten(0, (-1, EVERY)).mean(1).tolist(), right


def measured(variant, seed):
    """Return the losses and the share of a variant, rounded."""
    losses, right = train(*VARIANTS[variant], seed=seed)
    return [round(loss, 3) for loss in losses], round(right, 3)


def rows():
    """Return what is measured: every variant from each seed."""
    return {
        f"{variant}, seed {seed}": Row(
            partial(measured, variant, seed), ("loss", variant, seed), ("right", variant, seed)
        )
        for variant in VARIANTS
        for seed in range(SEEDS)
    }


EXPERIMENT = Experiment(
    "Twelve layers, each time without one part: which part lets them be trained?",
    RESULTS,
    rows,
    minutes=20,
    constants=lambda: {"steps": list(range(EVERY, STEPS + 1, EVERY))},
)
