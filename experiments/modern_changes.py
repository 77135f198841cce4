"""From the decoder of 2017 to a Llama, one change at a time: the effect of each at a small size.

Every model reads the same windows of English sentences for the same number of steps, from three
different initialisations. The models are compared by the loss per token on held-out sentences. A
Llama also does not scale its embeddings, while here all models scale them as the paper does.
"""

import itertools
import time
from dataclasses import replace

import numpy as np

from attn.transformer import DecoderOnly, TransformerConfig
from experiments import modern_training as training

PAPER = TransformerConfig(
    vocab_size=training.VOCAB_SIZE,
    d_model=96,
    n_heads=4,
    n_layers=4,
    d_ff=384,
    dropout=0.0,
    tie_embeddings=False,
)
# Each change is added to the previous ones. At two thirds of the inner size the three matrices of
# SwiGLU have as many parameters as the two that they replace.
LADDER = {
    "paper": {},
    "pre_norm": {"norm": "pre"},
    "rms_norm": {"normalization": "rms"},
    "no_biases": {"bias": False},
    "swiglu": {"activation": "swiglu", "d_ff": 256},
    "rotary": {"positions": "rotary"},
    "grouped_queries": {"n_kv_heads": 2},
    "tied": {"tie_embeddings": True},
}
# Controls: the last model of the ladder with one thing changed.
CONTROLS = {
    "tied_but_post_norm": {"norm": "post"},
    "tied_and_unscaled": {"scale_embeddings": False},
}
LENGTH, STEPS, SEEDS = 64, 300, (0, 1, 2)
# The learning rates that are tried with a third of the steps. A model without its own search takes
# the rate of the nearest model that has one.
RATES, SWEEP = (
    {
        "paper": (5e-4, 1.5e-3, 4e-3),
        "pre_norm": (4e-3, 1.2e-2, 2.4e-2),
        "tied": (4e-3, 1.2e-2, 2.4e-2),
    },
    3,
)
# The number of steps that are timed per turn, and of turns; the fastest turn counts.
N_TIMED, ROUNDS = 2, 5


def configs():
    """Return the configuration of each model, by name."""
    found, config = {}, PAPER
    for name, change in LADDER.items():
        found[name] = config = replace(config, **change)
    return found


def controls():
    """Return the configuration of each control, by name."""
    return {name: replace(configs()["tied"], **change) for name, change in CONTROLS.items()}


def rate_of(name, rates):
    """Return the learning rate of a model: the best of the nearest model with a search."""
    if (configs() | controls())[name].norm == "post":
        tuned = "paper"
    else:
        tuned = "tied" if name.startswith("tied") else "pre_norm"
    return min(RATES[tuned], key=lambda rate: rates[tuned][f"{rate:g}"])


def held_out(model, ids):
    """Return the mean loss per token of held-out sentences."""
    return float(training.losses_by_place(lambda rows: model(rows)[0], ids, LENGTH).mean())


def trained(config, rate, steps, seed, text):
    """Return a trained model, and its first losses."""
    run = training.begun(config, rate, steps, seed)
    model = training.go(run, training.Windows(text, LENGTH, seed))
    return model, training.first_losses(run)


def described(name, config):
    """Return the facts about a model that need no training."""
    n_kv_heads = config.n_kv_heads or config.n_heads
    return {
        "id": name,
        "parameters": sum(p.numel() for p in DecoderOnly(config).parameters()),
        # Every layer stores a key and a value of four bytes per number.
        "cache_bytes_per_token": (
            2 * 4 * config.n_layers * n_kv_heads * config.d_model // config.n_heads
        ),
    }


def cpu_shares(text):
    """Return the time of a step of each model, divided by that of the first model."""
    runs = {name: training.begun(config, 1e-3, 100, 0) for name, config in configs().items()}
    batches = training.Windows(text, LENGTH, 0)
    quickest = dict.fromkeys(runs, np.inf)
    for turn in range(1, ROUNDS + 1):
        for name, run in runs.items():
            began = time.thread_time()
            training.go(run, batches, turn * N_TIMED)
            quickest[name] = min(quickest[name], time.thread_time() - began)
    return {name: round(found / quickest["paper"], 2) for name, found in quickest.items()}


def measure(told, keep):
    """Train the models that have no result yet; `keep` the result after each training."""
    _, text, asked = training.sentences()
    told.setdefault(
        "setting",
        {
            "steps": STEPS,
            "tokens_per_step": training.TOKENS,
            "length": LENGTH,
            "tokens_of_training": len(text),
            "tokens_held_out": len(asked) // LENGTH * LENGTH,
            "vocab_size": training.VOCAB_SIZE,
            "d_model": PAPER.d_model,
            "n_layers": PAPER.n_layers,
        },
    )
    rates = told.setdefault("rates", {})
    for name, tried in RATES.items():
        for rate in tried:
            if f"{rate:g}" not in rates.setdefault(name, {}):
                model, _ = trained(configs()[name], rate, STEPS // SWEEP, 0, text)
                rates[name][f"{rate:g}"] = round(held_out(model, asked), 4)
                keep(told)
    models = configs() | controls()
    rows = {row["id"]: row for group in ("rows", "controls") for row in told.setdefault(group, [])}
    for name, config in models.items():
        if name not in rows:
            rows[name] = described(name, config) | {"learning_rate": rate_of(name, rates)}
            rows[name] |= {"seeds": [], "first_losses": []}
            told["controls" if name in CONTROLS else "rows"].append(rows[name])
    if "cpu_share" not in rows["paper"]:
        for name, share in cpu_shares(text).items():
            rows[name]["cpu_share"] = share
        keep(told)
    for seed, name in itertools.product(SEEDS, models):
        row = rows[name]
        if len(row["seeds"]) == seed:
            model, first = trained(models[name], row["learning_rate"], STEPS, seed, text)
            row["seeds"].append(round(held_out(model, asked), 4))
            row["first_losses"].append(first)
            keep(told)
