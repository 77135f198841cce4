"""Mixers trained side by side: which ones recall, count and copy, and with how large a state.

Every model of a task reads the same examples, drawn from its seed, until it has spent the same
number of operations: a model with more costly steps takes fewer. Each has its own learning rate,
found with a seed that is not reported.

===============  ============================================================================
`recall`         pairs of a key and a value, then keys: the value of each? (Arora et al., 2024)
`state`          the same with a smaller state
`copy`           tokens in a row, of each length up to 16, which are to be repeated
`three lengths`  the same after a training on three lengths alone
`parity`         is the number of ones so far even or odd?
`swaps`          the order of three things after each step, which swaps two of them
`language`       the next token, in short sentences and in the prose of the course
===============  ============================================================================
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise, permutations

import numpy as np
import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from attn.corpus import tatoeba
from attn.mixers import (
    DeltaRule,
    GatedDeltaRule,
    LinearAttention,
    Mixer,
    MultiHead,
    MultiHeadLatent,
    Retention,
)
from attn.tokenizer import BytePairTokenizer
from attn.transformer import DecoderOnly, TransformerConfig
from experiments import modern_context
from experiments.induction import rounded
from experiments.modern_training import joined
from experiments.runner import DATA, Experiment, Row

RESULTS = DATA / "mixers.json"
SEEDS, TUNING_SEED = (0, 1, 2, 3, 4), 9
RATES, WARMUP = (3e-3, 1e-2, 3e-2), 50
BATCH, N_JUDGED = 32, 256
# A test compares this number of first losses with the recorded training.
N_FIRST = 3
N_HEADS, D_MODEL = 2, 32
N_KEYS, N_VALUES, N_ASKED = 32, 16, 8
N_COPIED = 64
N_FILLERS, N_NEEDLES = 16, 4
# Every permutation of three things, as a row of indices.
ORDERS = torch.tensor(list(permutations(range(3))))
SWAPS = torch.tensor([i for i, order in enumerate(ORDERS) if (order == torch.arange(3)).sum() == 1])
HIDDEN = -100


def recall(n_rows, n_pairs, generator, n_keys=N_KEYS, n_values=N_VALUES):
    """Return keys with values, then some of the keys; the answers there are their values."""
    keys = torch.rand(n_rows, n_keys, generator=generator).argsort(dim=1)[:, :n_pairs]
    values = n_keys + torch.randint(n_values, keys.shape, generator=generator)
    asked = torch.rand(keys.shape, generator=generator).argsort(dim=1)[:, :N_ASKED]
    ids = torch.cat((torch.stack((keys, values), dim=2).flatten(1), keys.gather(1, asked)), dim=1)
    answers = torch.full_like(ids, HIDDEN)
    answers[:, 2 * n_pairs :] = values.gather(1, asked)
    return ids, answers


def needle(n_rows, length, generator):
    """Return a few keys with values among fillers, then the keys; the answers are their values."""
    fillers = (
        N_KEYS + N_VALUES + torch.randint(N_FILLERS, (n_rows, length // 2, 2), generator=generator)
    )
    keys = torch.rand(n_rows, N_KEYS, generator=generator).argsort(dim=1)[:, :N_NEEDLES]
    values = N_KEYS + torch.randint(N_VALUES, keys.shape, generator=generator)
    places = torch.rand(n_rows, length // 2, generator=generator).argsort(dim=1)[:, :N_NEEDLES]
    pairs = torch.stack((keys, values), dim=2)
    text = fillers.scatter(1, places[..., None].expand_as(pairs), pairs).flatten(1)
    answers = torch.full((n_rows, length + N_NEEDLES), HIDDEN)
    answers[:, length:] = values
    return torch.cat((text, keys), dim=1), answers


def copy(n_rows, length, generator, n_copied=N_COPIED):
    """Return distinct tokens between two marks, then the same without the last; and the answers."""
    told = torch.rand(n_rows, n_copied, generator=generator).argsort(dim=1)[:, :length]
    start = torch.full((n_rows, 1), n_copied)
    ids = torch.cat((start, told, start + 1, told[:, :-1]), dim=1)
    answers = torch.full_like(ids, HIDDEN)
    answers[:, length + 1 :] = told
    return ids, answers


def parity(n_rows, length, generator):
    """Return a mark and bits; the answer at each bit is the parity of the bits so far."""
    bits = torch.randint(2, (n_rows, length), generator=generator)
    return _marked(bits, bits.cumsum(dim=1) % 2, 2)


def swaps(n_rows, length, generator):
    """Return a mark and swaps of two of three things; the answers are their products so far."""
    drawn = SWAPS[torch.randint(len(SWAPS), (n_rows, length), generator=generator)]
    return _marked(drawn, composed(drawn), len(ORDERS))


def composed(numbers):
    """Return the number of the permutation composed up to each position, shape (n_rows, length)."""
    held, found = torch.arange(3).expand(len(numbers), 3), []
    for step in numbers.T:
        held = held.gather(1, ORDERS[step])
        found.append((held[:, None] == ORDERS).all(dim=-1).int().argmax(dim=1))
    return torch.stack(found, dim=1)


def _marked(ids, answers, mark):
    first = torch.full((len(ids), 1), mark)
    return torch.cat((first, ids), dim=1), torch.cat(
        (torch.full_like(first, HIDDEN), answers), dim=1
    )


@dataclass(frozen=True)
class Task:
    """How examples are drawn, their sizes in training and in the test, and the training budget.

    `budget` is the number of operations, forward and backward, of all steps together.
    """

    draw: Callable
    vocab_size: int
    trained: tuple[int, ...]
    judged: tuple[int, ...]
    budget: float


TASKS = {
    "recall": Task(recall, N_KEYS + N_VALUES, (2, 4, 8), (4, 8, 16, 32), 6e10),
    "copy": Task(copy, N_COPIED + 2, tuple(range(4, 17)), (8, 16, 32, 64), 6e10),
    "three lengths": Task(copy, N_COPIED + 2, (4, 8, 16), (8, 16, 32, 64), 6e10),
    "parity": Task(parity, 3, (16,), (16, 32, 64, 128), 2.4e10),
    "swaps": Task(swaps, len(ORDERS) + 1, (16,), (16, 32, 64, 128), 2.4e10),
}
# For `mixers_larger`: the same examples with more operations, and longer texts.
NEEDLE = Task(needle, N_KEYS + N_VALUES + N_FILLERS, (16, 32, 64), (32, 64, 128, 256), 6e10)
WIDE = {
    f"wide {name}": replace(task, budget=16 * task.budget)
    for name, task in {
        "recall": TASKS["recall"],
        "needle": NEEDLE,
        "copy": TASKS["copy"],
        "swaps": TASKS["swaps"],
    }.items()
}
WIDE["wide needle, longer"] = replace(NEEDLE, budget=64 * NEEDLE.budget)
LONG = {
    "long recall": Task(
        partial(recall, n_keys=1024, n_values=512),
        1536,
        (16, 32, 64, 128),
        (64, 128, 256, 512),
        1e15,
    ),
    "long needle": replace(
        NEEDLE, trained=(128, 256, 512), judged=(512, 1024, 2048, 4096), budget=1e15
    ),
    "long copy": Task(
        partial(copy, n_copied=1024), 1026, (32, 64, 96, 128), (64, 128, 256, 512), 1e15
    ),
    "long swaps": Task(swaps, len(ORDERS) + 1, (64,), (64, 128, 256, 512), 3e14),
}


def task_of(name):
    """Return a task by its name."""
    return (TASKS | WIDE | LONG)[name]


@dataclass(frozen=True)
class Variant:
    """The layers of a model, its positions and its sizes."""

    mixers: tuple[Mixer, ...]
    positions: str = "none"
    n_layers: int = 2
    d_model: int = D_MODEL
    n_heads: int = N_HEADS

    def config(self, task):
        """Return the configuration of the model for a task."""
        return TransformerConfig(
            task_of(task).vocab_size,
            d_model=self.d_model,
            n_heads=self.n_heads,
            n_layers=self.n_layers,
            d_ff=2 * self.d_model,
            dropout=0.0,
            norm="pre",
            normalization="rms",
            positions=self.positions,
            tie_embeddings=False,
            mixers=self.mixers,
        )


class Convolution(torch.nn.Module):
    """The convolution of the rules with a state: each channel, over the last few tokens."""

    def __init__(self, n_channels, n_taps):
        super().__init__()
        taps, bound = torch.empty(n_channels, n_taps), n_taps**-0.5
        self.taps = torch.nn.Parameter(torch.nn.init.uniform_(taps, -bound, bound))

    def forward(self, x):
        n_taps, length = self.taps.shape[-1], x.shape[-2]
        before = F.pad(x, (0, 0, n_taps - 1, 0))
        return sum(tap * before[..., i : i + length, :] for i, tap in enumerate(self.taps.T))


@dataclass(frozen=True)
class Convolved(MultiHead):
    """Softmax attention behind the convolution of the rules with a state, for whole texts alone."""

    convolution: int = 4

    def new_module(self, config, relative):
        module = super().new_module(config, relative)
        for name in ("q_proj", "k_proj", "v_proj"):
            projected = getattr(module, name)
            convolution = Convolution(projected.out_features, self.convolution)
            setattr(module, name, torch.nn.Sequential(projected, convolution))
        module.new_cache = self._refuse
        return module

    @staticmethod
    def _refuse():
        raise NotImplementedError("softmax with a convolution: expected whole texts, got a cache")

    def cache_bytes(self, config, length, dtype=torch.float32):
        window = 3 * (self.convolution - 1) * config.d_model * dtype.itemsize
        return super().cache_bytes(config, length, dtype) + window


SEQUENCES = {
    "softmax": Variant((MultiHead(),), "rotary"),
    "delta rule": Variant((DeltaRule(convolution=4),)),
    "linear": Variant((LinearAttention(convolution=4),)),
    "window and global": Variant((MultiHead(window=8), MultiHead(positions="none")), "rotary"),
    "gated delta rule": Variant((GatedDeltaRule(convolution=4),)),
    "delta rule and softmax": Variant((DeltaRule(convolution=4), MultiHead())),
    "retention": Variant((Retention(convolution=4),), "rotary"),
    "softmax, no positions in the second": Variant(
        (MultiHead(), MultiHead(positions="none")), "rotary"
    ),
}
# What changes within softmax attention.
CHANGED = {
    "sink": Variant((MultiHead(sink=True),), "rotary"),
    "gate": Variant((MultiHead(gate=True),), "rotary"),
    "query-key norm": Variant((MultiHead(qk_norm=True),), "rotary"),
    "soft cap": Variant((MultiHead(soft_cap=10.0),), "rotary"),
    "latent": Variant((MultiHeadLatent(d_latent=16, d_rotary=8),), "rotary"),
}
# The rules with a state read a convolution of four tokens: it is given to softmax, and taken away.
CONTROLS = {
    "softmax, convolution": Variant((Convolved(),), "rotary"),
    "delta rule, no convolution": Variant((DeltaRule(),)),
}
VARIANTS = SEQUENCES | CHANGED | CONTROLS
COPIED = {
    "copy": (
        "softmax",
        "window and global",
        "softmax, no positions in the second",
        "delta rule",
        "delta rule and softmax",
        *CONTROLS,
    ),
    "three lengths": (
        "softmax",
        "window and global",
        "softmax, no positions in the second",
        "delta rule and softmax",
    ),
}
LANGUAGE = {
    name: replace(variant, d_model=64, n_heads=4)
    for name, variant in VARIANTS.items()
    if name != "softmax, no positions in the second"
}
# The vocabulary is learned from so many sentences, and from the training prose.
N_SENTENCES, N_TOKENS = 20_000, 1000
# The tokens of a training text, the texts of a step, half of them prose, and the operations of all
# steps.
READ, N_TEXTS, LANGUAGE_BUDGET = 128, 8, 3e11
# The rates are tried with this share of the steps.
SWEPT = 1 / 3
# The edges of the ranges of positions, and of frequency ranks of tokens, over which losses are
# averaged.
PLACES, RANKS = (0, 16, 64, 128, 256), (0, 50, 250, N_TOKENS)
# The number of tokens of each kind of text that are tested.
N_ASKED_FOR = 12_288
# Keys, and so states, that are smaller than D_MODEL / N_HEADS gives.
STATES = {("delta rule", 4): Variant((DeltaRule(convolution=4, d_k=4),))}
STATE_SEEDS = SEEDS[:3]
# Trackers have no convolution, so that only their state holds earlier tokens.
TRACKERS = {
    "softmax": (MultiHead(), "rotary"),
    "linear": (LinearAttention(), "none"),
    "delta rule": (DeltaRule(), "none"),
    "gated delta rule": (GatedDeltaRule(), "none"),
    "delta rule, to 2": (DeltaRule(negative_eigenvalues=True), "none"),
}
TRACKING = {
    "parity": {
        "softmax": (1, 2),
        "linear": (1,),
        "delta rule": (1, 2),
        "gated delta rule": (1,),
        "delta rule, to 2": (1,),
    },
    "swaps": {"softmax": (2,), "delta rule": (1,), "delta rule, to 2": (1,)},
}


def operations(config, task):
    """Return the operations of a training step, and the tokens read: means over the sizes.

    Matrix products are counted, forward and backward. PyTorch's counter omits triangular systems
    and, on a CPU, fused attention; they are added, the latter with five backward products as on a
    GPU.
    """
    model, total, n_tokens, sizes = DecoderOnly(config), 0, 0, task_of(task).trained
    for size in sizes:
        ids, answers = task_of(task).draw(1, size, torch.Generator().manual_seed(0))
        total += counted(lambda ids=ids, answers=answers: loss_of(model, ids, answers))
        n_tokens += ids.numel()
    return BATCH * total / len(sizes), BATCH * n_tokens / len(sizes)


def counted(loss):
    """Return the operations of a loss and of its gradient."""
    aten = torch.ops.aten

    def attention(query, key, *_, **__):
        return 4 * query.numel() * key[-2]

    def attention_backward(_, query, key, *__, **___):
        return 10 * query.numel() * key[-2]

    others = {
        aten.linalg_solve_triangular: lambda a, b, *_, **__: a[-1] * b.numel(),
        aten._scaled_dot_product_flash_attention_for_cpu: attention,
        aten._scaled_dot_product_flash_attention_for_cpu_backward: attention_backward,
    }
    with FlopCounterMode(display=False, custom_mapping=others) as counter:
        loss().backward()
    return counter.get_total_flops()


def loss_of(model, ids, answers):
    """Return the mean loss of the answers; the other tokens have no loss."""
    ids, answers = (one.to(device_of(model)) for one in (ids, answers))
    asked = answers != HIDDEN
    return F.cross_entropy(model(ids)[0][asked], answers[asked])


def device_of(model):
    """Return the device of a model."""
    return next(model.parameters()).device


@torch.no_grad()
def judged(model, task, size, seed):
    """Return the loss on examples of one size, and the share of right answers."""
    drawn = task_of(task).draw(N_JUDGED, size, torch.Generator().manual_seed(seed))
    ids, answers = (one.to(device_of(model)) for one in drawn)
    asked = answers != HIDDEN
    logits = model(ids)[0][asked]
    right = logits.argmax(dim=-1) == answers[asked]
    return F.cross_entropy(logits, answers[asked]).item(), right.double().mean().item()


def steps_of(config, task, share=1.0):
    """Return how many steps a share of the budget pays for."""
    return round(share * task_of(task).budget / operations(config, task)[0])


def training(config, task, rate, n_steps, seed, device="cpu"):
    """Train a model; yield it and the loss of each step."""
    sizes = task_of(task).trained

    def loss(model, number, generator):
        return loss_of(model, *task_of(task).draw(BATCH, sizes[number % len(sizes)], generator))

    yield from taught(config, loss, rate, n_steps, seed, device)


def taught(config, loss_at, rate, n_steps, seed, device="cpu"):
    """Train a model on the losses of `loss_at`; yield it and the loss after each step."""
    torch.manual_seed(seed)
    model = DecoderOnly(config).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98))
    generator = torch.Generator().manual_seed(100 + seed)
    for number in range(n_steps):
        fallen = 1 - 0.9 * number / n_steps
        for group in optimizer.param_groups:
            group["lr"] = rate * fallen * min(1, (number + 1) / WARMUP)
        loss = loss_at(model, number, generator)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield model, loss.item()


def trained(config, task, rate, seed, share=1.0, device="cpu"):
    """Train a model to the end; return it and its first losses."""
    steps = training(config, task, rate, steps_of(config, task, share), seed, device)
    models, losses = zip(*steps, strict=True)
    return models[-1], losses[:N_FIRST]


def tuned(config, task, rates=RATES, device="cpu"):
    """Return the loss on the training sizes after half of a training, by learning rate."""
    found = {}
    for rate in rates:
        model, _ = trained(config, task, rate, TUNING_SEED, 0.5, device)
        losses = [judged(model, task, size, 8)[0] for size in task_of(task).trained]
        found[str(rate)] = sum(losses) / len(losses)
    return found


def measured(task, variant, seeds=SEEDS, rate=None, tried=RATES, device="cpu"):
    """Tune the rate unless it is given; return the results of models from each seed."""
    config = variant.config(task)
    rates = {} if rate else tuned(config, task, tried, device)
    rate = rate or float(min(rates, key=rates.get))
    spent, n_tokens = operations(config, task)
    told = {
        "rates": rates,
        "rate": rate,
        "steps": steps_of(config, task),
        "per_token": round(spent / n_tokens),
        "parameters": sum(p.numel() for p in DecoderOnly(config).parameters()),
        "bytes": kept_bytes(config),
        "first_losses": [],
        "right": [],
    }
    for seed in seeds:
        model, first = trained(config, task, rate, seed, device=device)
        told["first_losses"].append(first)
        told["right"].append([judged(model, task, size, 7)[1] for size in task_of(task).judged])
    return rounded(told)


@cache
def language():
    """Return the training and the test texts, as rows of ids, and a digest of them.

    Both kinds, "sentences" and "prose", have test texts that are not in the training.
    """
    parts = tatoeba()
    parts["held out"] = [*parts["validation"], *parts["clusters"], *parts["plain"]]
    found = {}
    for name in ("train", "held out"):
        texts = list(dict.fromkeys(pair.source for pair in parts[name]))
        found[name] = [texts[i] for i in np.random.default_rng(0).permutation(len(texts))]
    prose = [modern_context.prose(chapter) for chapter in modern_context.CHAPTERS]
    held_out = modern_context.HELD_OUT, f"L{modern_context.HELD_OUT}"
    asked = [modern_context.prose(chapter) for chapter in held_out]
    lines = [line for text in prose for line in text.splitlines()]
    tokenizer = BytePairTokenizer.train([*found["train"][:N_SENTENCES], *lines], N_TOKENS)
    read = {"sentences": joined(tokenizer, found["train"]), "prose": joined(tokenizer, prose)}
    judged = {
        "sentences": joined(tokenizer, found["held out"]),
        "prose": joined(tokenizer, asked),
    }
    digest = hashlib.sha256("\n".join([*prose, *asked]).encode()).hexdigest()[:16]
    return read, {name: ids[: N_ASKED_FOR + 1] for name, ids in judged.items()}, digest


def reader(variant):
    """Return the configuration of a language model with this variant."""
    return replace(variant.config("recall"), vocab_size=N_TOKENS)


def next_loss(model, number, generator):
    """Return the loss of the next step, on as many windows of sentences as of prose."""
    rows = []
    for ids in language()[0].values():
        firsts = torch.randint(len(ids) - READ, (N_TEXTS // 2,), generator=generator)
        rows += [ids[first : first + READ + 1] for first in firsts]
    ids = torch.stack(rows).to(device_of(model))
    return F.cross_entropy(model(ids[:, :-1])[0].flatten(0, 1), ids[:, 1:].flatten())


@torch.no_grad()
def losses(model, ids):
    """Return the mean loss: of all tokens, by range of `PLACES` and by range of `RANKS`."""
    length, texts = PLACES[-1], language()[0].values()
    rows = torch.stack([ids[i : i + length + 1] for i in range(0, len(ids) - length, length)])
    rows = rows.to(device_of(model))
    found = torch.cat(
        [
            F.cross_entropy(model(some[:, :-1])[0].mT, some[:, 1:], reduction="none")
            for some in rows.split(16)
        ]
    )
    often = sum(torch.bincount(text, minlength=N_TOKENS) / len(text) for text in texts)
    rank = often.argsort(descending=True).argsort().to(rows.device)[rows[:, 1:]]
    places = [found[:, low:high].mean() for low, high in pairwise(PLACES)]
    ranks = [found[(rank >= low) & (rank < high)].mean() for low, high in pairwise(RANKS)]
    return [loss.item() for loss in (found.mean(), *places, *ranks)]


def read_through(variant, rate, seed, share=1.0, budget=LANGUAGE_BUDGET, device="cpu"):
    """Train a language model; return its losses by kind, number of steps and first losses."""
    config = reader(variant)
    spent = counted(partial(next_loss, DecoderOnly(config), 0, torch.Generator().manual_seed(0)))
    n_steps = round(share * budget / spent)
    models, first = zip(*taught(config, next_loss, rate, n_steps, seed, device), strict=True)
    told = {name: losses(models[-1], ids) for name, ids in language()[1].items()}
    return told, n_steps, first[:N_FIRST], spent


def literate(variant, seeds=SEEDS, tried=RATES, budget=LANGUAGE_BUDGET, device="cpu"):
    """Tune the rate; return the losses of language models from each seed."""
    rates, where = {}, {"budget": budget, "device": device}
    for rate in tried:
        told, *_ = read_through(variant, rate, TUNING_SEED, SWEPT, **where)
        rates[str(rate)] = sum(told[name][0] for name in told) / 2
    rate = float(min(rates, key=rates.get))
    config, runs = reader(variant), [read_through(variant, rate, seed, **where) for seed in seeds]
    return rounded(
        {
            "rates": rates,
            "rate": rate,
            "steps": runs[0][1],
            "per_token": round(runs[0][3] / (N_TEXTS * READ)),
            "parameters": sum(p.numel() for p in DecoderOnly(config).parameters()),
            "bytes": kept_bytes(config),
            "texts": language()[2],
            "first_losses": [first for _, _, first, _ in runs],
            "losses": {name: [told[name] for told, *_ in runs] for name in runs[0][0]},
        }
    )


def kept_bytes(config):
    """Return the size, in bytes, of all layers' caches after a text of 64 tokens."""
    layers = (config.mixers[i % len(config.mixers)] for i in range(config.n_layers))
    return sum(mixer.cache_bytes(config, 64) for mixer in layers)


def sized(name, d_k):
    """Return the row of a mixer with another key size, at the learning rate of the usual size."""

    def measure(stored):
        rate = stored["recall"][name]["rate"]
        return measured("recall", STATES[name, d_k], STATE_SEEDS, rate)

    return measure


def rows():
    """Return what is measured: one row for each model of each task."""
    found = {}
    for name, variant in VARIANTS.items():
        found[f"recall, {name}"] = Row(partial(measured, "recall", variant), ("recall", name))
    for task, names in COPIED.items():
        for name in names:
            found[f"{task}, {name}"] = Row(partial(measured, task, VARIANTS[name]), (task, name))
    for name, d_k in STATES:
        found[f"state, {name}, {d_k}"] = Row(
            sized(name, d_k), ("state", name, str(d_k)), reads=True
        )
    for task, models in TRACKING.items():
        for name, depths in models.items():
            mixer, positions = TRACKERS[name]
            for depth in depths:
                variant = Variant((mixer,), positions, depth)
                found[f"{task}, {name}, {depth}"] = Row(
                    partial(measured, task, variant), (task, name, str(depth))
                )
    for name, variant in LANGUAGE.items():
        found[f"language, {name}"] = Row(partial(literate, variant), ("language", name))
    return found


def constants():
    """Return the sizes that the rows were measured with."""
    return {
        "seeds": SEEDS,
        "rates": RATES,
        "batch": BATCH,
        "d_model": D_MODEL,
        "n_heads": N_HEADS,
        "sizes": {
            name: {"trained": task.trained, "judged": task.judged, "budget": task.budget}
            for name, task in TASKS.items()
        },
        "reading": {
            "trained": READ,
            "places": PLACES,
            "ranks": RANKS,
            "budget": LANGUAGE_BUDGET,
        },
    }


EXPERIMENT = Experiment(
    "What do softmax attention and its successors recall, copy and count, at the same cost?",
    RESULTS,
    rows,
    minutes=45,
    constants=constants,
)
