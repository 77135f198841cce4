"""The effect of a compute budget: size against tokens, learning rates by width, Muon and AdamW.

A decoder of two layers predicts sentences that people wrote, character by character, and reads none
of them twice. Models differ in size only by their width. Every loss is measured on held-out
sentences: learning rates are chosen on other sentences than those of the reported losses.

==========  ==================================================================================
`checked`   whether half or twice the learning rate of the rule would have been better
`isoflop`   five budgets of operations, each spent on five sizes: more parameters or more text
`widths`    the learning rate at four widths, in the standard parametrisation and in muP
`muon`      Muon and AdamW, each at five learning rates, and each at its best from three seeds
==========  ==================================================================================
"""

import random
import time
from collections import Counter
from functools import cache, partial

import numpy as np
import torch
from torch.nn import functional as F

from attn.corpus import tatoeba
from attn.training import TrainingConfig
from attn.training.optimizers import make_optimizers
from attn.training.schedule import learning_rate
from attn.transformer import DecoderOnly, TransformerConfig
from attn_course.scaling import (
    fit_law,
    law,
    parabola_minimum,
    parameters,
    power_law,
    training_flops,
)
from experiments.runner import DATA, Experiment, Row

RESULTS = DATA / "scaling.json"
SEEDS, TUNING_SEED = (0, 1, 2), 9
# A test compares this number of first losses with the recorded training.
N_FIRST = 3
# The most frequent characters have a number each, and all others share 0.
N_CHARACTERS, CONTEXT, BATCH, N_LAYERS = 96, 64, 16, 2
SIZES = {
    32_000_000_000: (8, 12, 16, 24, 32),
    80_000_000_000: (12, 16, 24, 32, 48),
    200_000_000_000: (16, 24, 32, 48, 64),
    500_000_000_000: (24, 32, 48, 64, 96),
    1_250_000_000_000: (32, 48, 64, 96, 128),
}
# The learning rate of a width is this number divided by the width.
RATE_TIMES_WIDTH = 0.64
CHECKED = (
    (32_000_000_000, 16),
    (200_000_000_000, 32),
    (200_000_000_000, 64),
    (1_250_000_000_000, 64),
)
FACTORS = (0.5, 1.0, 2.0)
WIDTHS, BASE, WIDTH_STEPS, WIDTH_SEEDS = (16, 32, 64, 128), 16, 200, (0, 1)
WIDTH_RATES = (2.5e-3, 5e-3, 1e-2, 2e-2, 4e-2, 8e-2, 1.6e-1)
MUON_WIDTH, MUON_STEPS = 64, 600
MUON_RATES = (2.5e-3, 5e-3, 1e-2, 2e-2, 4e-2)
# The last row is a control: AdamW with as much time as Muon takes.
MUON_RUNS = (("adamw", MUON_STEPS), ("muon", MUON_STEPS), ("adamw", 720))


@cache
def texts():
    """Return the distinct sentences of each part in both languages, shuffled."""
    parts = tatoeba()
    kept = {"validation": ("validation",), "test": ("plain", "clusters")}
    found = {
        name: {text for one in some for pair in parts[one] for text in (pair.source, pair.target)}
        for name, some in kept.items()
    }
    train = {text for pair in parts["train"] for text in (pair.source, pair.target)}
    found["train"] = train - found["validation"] - found["test"]
    shuffled = {}
    for name, some in found.items():
        shuffled[name] = sorted(some)
        random.Random(0).shuffle(shuffled[name])
    return shuffled


@cache
def characters():
    """Return the characters of the model, the most frequent first."""
    counts = Counter("\n".join(texts()["train"]))
    return "".join(sorted(counts, key=lambda c: (-counts[c], c))[: N_CHARACTERS - 1])


@cache
def excerpts(part):
    """Return all rows of a part, each of `CONTEXT` characters and the next one."""
    numbers = {character: i for i, character in enumerate(characters(), start=1)}
    ids = torch.tensor([numbers.get(c, 0) for c in "\n".join(texts()[part])])
    starts = torch.arange(0, len(ids) - CONTEXT, CONTEXT)
    return ids[starts[:, None] + torch.arange(CONTEXT + 1)]


def config(d_model):
    """Return the configuration of a width; its heads have 16 components if 16 divides the width."""
    return TransformerConfig(
        N_CHARACTERS,
        d_model=d_model,
        n_heads=max(1, d_model // 16),
        n_layers=N_LAYERS,
        d_ff=4 * d_model,
        dropout=0.0,
        norm="pre",
        normalization="rms",
        positions="rotary",
        bias=False,
    )


def size(d_model):
    return parameters(d_model, N_LAYERS, N_CHARACTERS)


def steps_of(budget, d_model):
    """Return how many steps a budget pays for, the cost of attention included."""
    a_step = training_flops(size(d_model), BATCH * CONTEXT, N_LAYERS * CONTEXT * d_model)
    return round(budget / a_step)


def new_model(d_model, seed, mup=False):
    """Return a model, and the factor of its logits.

    In muP the embedding, which is also the output matrix, is initialised with the variance of the
    base width and multiplied by the factor of the base width, and the logits are multiplied by BASE
    / d_model.
    """
    torch.manual_seed(seed)
    model = DecoderOnly(config(d_model))
    if not mup:
        return model, 1.0
    torch.nn.init.normal_(model.embedding.tokens.weight, std=BASE**-0.5)
    model.embedding.scale = BASE**0.5
    return model, BASE / d_model


def loss_of(model, rows, multiplier=1.0, reduction="mean"):
    logits = multiplier * model(rows[:, :-1])[0]
    return F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), reduction=reduction)


def training(d_model, steps, rate, seed, optimizer="adamw", mup=False):
    """Train a model; yield it, the factor of its logits and the loss before each step.

    In muP the learning rate of the hidden matrices falls with the width.
    """
    model, multiplier = new_model(d_model, seed, mup)
    chosen = TrainingConfig(
        steps=steps,
        learning_rate=rate,
        warmup_steps=max(1, min(100, steps // 10)),
        optimizer=optimizer,
        weight_decay=0.0,
        decayed="matrices",
    )
    optimizers = make_optimizers(model, chosen)
    hidden, *others = [group for one in optimizers for group in one.param_groups]
    rows = excerpts("train")
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(100 + seed))
    if steps * BATCH > len(rows):
        raise ValueError(f"steps: expected text for {steps * BATCH} rows, got {len(rows)}")
    for number in range(steps):
        loss = loss_of(model, rows[order[number * BATCH : (number + 1) * BATCH]], multiplier)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in (hidden, *others):
            group["lr"] = learning_rate(number + 1, chosen)
        hidden["lr"] *= multiplier
        for one in optimizers:
            one.step()
            one.zero_grad()
        yield model, multiplier, loss.item()


@torch.no_grad()
def judged(model, part, multiplier=1.0):
    """Return the mean loss per character, in nats, on held-out sentences."""
    rows = excerpts(part)
    total = sum(loss_of(model, some, multiplier, "sum").item() for some in rows.split(128))
    return round(total / rows[:, 1:].numel(), 4)


def trained(part, *arguments, **options):
    """Train a model; return its first losses and the loss on a part."""
    models, multipliers, losses = zip(*training(*arguments, **options), strict=True)
    first = [round(loss, 4) for loss in losses[:N_FIRST]]
    return {"first_losses": first, "loss": judged(models[-1], part, multipliers[-1])}


def read_text():
    """Return the size of the vocabulary, and the number of characters of each part."""
    counts = torch.bincount(excerpts("train").flatten(), minlength=N_CHARACTERS).double()
    shares = counts / counts.sum()
    return {
        "characters": characters(),
        "entropy": round(-(shares * shares.clamp_min(1e-12).log()).sum().item(), 4),
        "sentences": {name: len(some) for name, some in texts().items()},
        "read": {name: excerpts(name)[:, 1:].numel() for name in texts()},
    }


def of_budget(budget, d_model, seed):
    """Return the row of a model size that spends a budget."""
    steps = steps_of(budget, d_model)
    told = {
        "parameters": size(d_model),
        "tokens": steps * BATCH * CONTEXT,
        "rate": RATE_TIMES_WIDTH / d_model,
    }
    return told | trained("test", d_model, steps, told["rate"], seed)


def of_factor(budget, d_model, factor):
    """Return the row of a multiple of the rule's learning rate."""
    steps, rate = steps_of(budget, d_model), factor * RATE_TIMES_WIDTH / d_model
    return trained("validation", d_model, steps, rate, TUNING_SEED)


def of_width(name, d_model, rate, seed):
    return trained("validation", d_model, WIDTH_STEPS, rate, seed, mup=name == "mup")


def of_rate(optimizer, rate):
    return trained("validation", MUON_WIDTH, MUON_STEPS, rate, TUNING_SEED, optimizer)


def best_rate(stored, optimizer):
    """Return the learning rate with the lowest loss, from other rows."""
    tried = [one for one in stored["tuned"] if one["optimizer"] == optimizer]
    return min(tried, key=lambda one: one["loss"])["rate"]


def of_optimizer(optimizer, steps, seed, stored):
    rate = best_rate(stored, optimizer)
    return {"rate": rate} | trained("test", MUON_WIDTH, steps, rate, seed, optimizer)


def step_times(n_steps=60):
    """Return the milliseconds of a step with each optimiser, in CPU time."""
    found = {}
    for _ in range(2):
        for optimizer in ("adamw", "muon"):
            steps = training(MUON_WIDTH, n_steps, 1e-3, 0, optimizer)
            next(steps)
            began = time.process_time()
            for _ in steps:
                pass
            taken = 1000 * (time.process_time() - began) / (n_steps - 1)
            found[optimizer] = round(min(taken, found.get(optimizer, taken)), 1)
    return found


def means(rows):
    """Return one row for each budget and size, with the losses of all its seeds."""
    found = {}
    for row in rows:
        found.setdefault((row["budget"], row["d_model"]), []).append(row)
    return [
        {name: some[0][name] for name in ("budget", "d_model", "parameters", "tokens")}
        | {"losses": [row["loss"] for row in some]}
        for some in found.values()
    ]


def law_of(cells, losses=None):
    """Return the law fitted to cells, by default to the means of their losses."""
    losses = [np.mean(cell["losses"]) for cell in cells] if losses is None else losses
    columns = ([cell[name] for cell in cells] for name in ("parameters", "tokens"))
    return fit_law(*columns, losses, n_rounds=8)


def valleys(cells, losses, beside=4):
    """Return, for each budget, the optimum: size, text, loss, and size without the embedding.

    The parabola passes through the best of the five sizes and at most `beside` on each side of it.
    """
    found = {}
    for budget in SIZES:
        here = [i for i, cell in enumerate(cells) if cell["budget"] == budget]
        best = min(range(len(here)), key=lambda i: losses[here[i]])
        # The fit has three sizes at least, even if the best is the smallest or the largest.
        first = max(0, min(best - beside, len(here) - 3))
        here = here[first : max(best + beside + 1, 3)]
        size, loss = parabola_minimum(
            [cells[i]["parameters"] for i in here], [losses[i] for i in here]
        )
        # The width with so many weights solves size = 12 n_layers width**2 + vocab_size width.
        width = np.roots((12 * N_LAYERS, N_CHARACTERS, -size)).max()
        tokens = budget / training_flops(size, 1, N_LAYERS * CONTEXT * width)
        found[budget] = (size, tokens, loss, size - N_CHARACTERS * width)
    return found


def exponents(valley):
    """Return the exponents with which the best size and the best text grow with the budget."""
    parts = {"parameters": 0, "tokens": 1, "without_embedding": 3}
    return {
        name: power_law(list(valley), [one[i] for one in valley.values()])[0]
        for name, i in parts.items()
    }


def interval(drawn):
    return np.percentile(drawn, (2.5, 97.5)).tolist()


def fitted(stored, n_drawn=300):
    """Return the law, the optima and their exponents, and predictions from the smaller budgets.

    The bootstrap resamples all cells for the law, and the seeds of each cell for the optima.
    """
    cells, rng = means(stored["isoflop"]), np.random.default_rng(0)
    best, least, largest = law_of(cells), [np.mean(cell["losses"]) for cell in cells], max(SIZES)
    known = [cell for cell in cells if cell["budget"] < largest]
    unknown = [cell for cell in cells if cell["budget"] == largest]
    ahead = law_of(known)
    laws, valley, lowest, nearer, predicted = [], valleys(cells, least), [], [], []
    for _ in range(n_drawn):
        laws.append(law_of([cells[i] for i in rng.integers(len(cells), size=len(cells))]))
        again = law_of([known[i] for i in rng.integers(len(known), size=len(known))])
        predicted.append([law(c["parameters"], c["tokens"], **again) for c in unknown])
        losses = [rng.choice(cell["losses"], len(cell["losses"])).mean() for cell in cells]
        lowest.append(valleys(cells, losses))
        nearer.append(exponents(valleys(cells, losses, 1)))
    grown, near = [exponents(one) for one in lowest], exponents(valleys(cells, least, 1))
    smaller = {budget: one for budget, one in valley.items() if budget < largest}
    exponent, factor = power_law(list(smaller), [one[0] for one in smaller.values()])
    told = {
        "fit": {name: [best[name], *interval([one[name] for one in laws])] for name in best},
        "minima": [
            {
                "budget": budget,
                "parameters": [valley[budget][0], *interval([one[budget][0] for one in lowest])],
                "tokens": [valley[budget][1], *interval([one[budget][1] for one in lowest])],
                "loss": valley[budget][2],
            }
            for budget in valley
        ],
        "exponents": {
            name: [value, *interval([one[name] for one in grown])]
            for name, value in exponents(valley).items()
        }
        | {
            "three_points": [near["parameters"], *interval([one["parameters"] for one in nearer])],
            "of_law": [
                best["b"] / (best["a"] + best["b"]),
                *interval([one["b"] / (one["a"] + one["b"]) for one in laws]),
            ],
        },
        "held_out": {
            "budget": largest,
            "rows": [
                {
                    "d_model": cell["d_model"],
                    "predicted": [
                        law(cell["parameters"], cell["tokens"], **ahead),
                        *interval([one[i] for one in predicted]),
                    ],
                    "measured": float(np.mean(cell["losses"])),
                }
                for i, cell in enumerate(unknown)
            ],
            "parameters": {
                "predicted": factor * largest**exponent,
                "measured": valley[largest][0],
            },
        },
    }
    told = shortened(told)
    return [told[name] for name in ("fit", "minima", "exponents", "held_out")]


def shortened(value):
    """Return JSON whose numbers have five digits."""
    if isinstance(value, dict):
        return {name: shortened(part) for name, part in value.items()}
    if isinstance(value, list):
        return [shortened(part) for part in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def named(table, measure, reads=False, **key):
    """Return, by its name, a row that is stored in a table with its key."""
    values = (written(value) for value in key.values())
    row = Row(partial(keyed, measure, key), (table, key), reads=reads)
    return {", ".join((table, *values)): row}


def written(value):
    """Return a value as it appears in the name of a row: a budget in units of 10⁹ operations."""
    if isinstance(value, float):
        return f"{value:g}"
    return f"{value // 10**9}e9" if value in SIZES else str(value)


def keyed(measure, key, *stored):
    return key | measure(*key.values(), *stored)


def of_seed(seed):
    """Return the rows of all budgets and sizes."""
    found = {}
    for budget, widths in SIZES.items():
        for d_model in widths:
            found |= named("isoflop", of_budget, budget=budget, d_model=d_model, seed=seed)
    return found


def of_widths(seed):
    """Return the rows of all widths; at the base width the parametrisations are the same."""
    found = {}
    for name in ("standard", "mup"):
        for d_model in WIDTHS[1:] if name == "mup" else WIDTHS:
            for rate in WIDTH_RATES:
                key = {"name": name, "d_model": d_model, "rate": rate, "seed": seed}
                found |= named("widths", of_width, **key)
    return found


def rows():
    """Return what is measured; the seeds beyond the first come last."""
    found = {"text": Row(read_text, ("text",))}
    for budget, d_model in CHECKED:
        for factor in FACTORS:
            found |= named("checked", of_factor, budget=budget, d_model=d_model, factor=factor)
    found |= of_seed(SEEDS[0])
    found["step_ms"] = Row(step_times, ("step_ms",))
    for optimizer in ("adamw", "muon"):
        for rate in MUON_RATES:
            found |= named("tuned", of_rate, optimizer=optimizer, rate=rate)
    for seed in SEEDS:
        for optimizer, steps in MUON_RUNS:
            key = {"optimizer": optimizer, "steps": steps, "seed": seed}
            found |= named("muon", of_optimizer, reads=True, **key)
    for seed in SEEDS:
        found |= of_widths(seed) if seed in WIDTH_SEEDS else {}
        found |= of_seed(seed) if seed != SEEDS[0] else {}
    parts = ("fit", "minima", "exponents", "held_out")
    return found | {"fit": Row(fitted, *((name,) for name in parts), reads=True)}


def constants():
    """Return the sizes that the rows were measured with."""
    return {
        "seeds": SEEDS,
        "context": CONTEXT,
        "batch": BATCH,
        "rate_times_width": RATE_TIMES_WIDTH,
        "base_width": BASE,
        "width_steps": WIDTH_STEPS,
        "muon_width": MUON_WIDTH,
        "muon_steps": MUON_STEPS,
    }


EXPERIMENT = Experiment(
    "What does a given number of operations buy: parameters, text, or another optimiser?",
    RESULTS,
    rows,
    minutes=35,
    constants=constants,
)
