"""A small translator of real sentences during its training: losses and BLEU, step by step.

Writes ``notebooks/data/real_training.json``, which chapter 08 draws. One training reads the whole
corpus; others read a few of its pairs over and over, with dropout and without it, and differ in
nothing else. Others compare Muon with AdamW, each at several learning rates. Each has three seeds.
What is in the file is not measured again.
"""

from functools import cache, partial

import numpy as np
import torch

from attn.applications._sequences import by_length, collate, sequence_loss
from attn.applications.translation import Translator, vocabularies
from attn.corpus import tatoeba
from attn.training import TrainingConfig
from attn.transformer import Transformer, TransformerConfig
from experiments.runner import DATA, Experiment, Row
from experiments.watched import Training

RESULTS = DATA / "real_training.json"
VOCAB_SIZE = 2000
SIZES = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 256,
    "norm": "pre",
    "positions": "rotary",
}
TRAINING = {"batch_tokens": 1000, "learning_rate": 4e-3, "label_smoothing": 0.1, "device": "cpu"}
# The warm-up steps; a short training takes a quarter of this number.
WARMUP = 100
# For each training: its number of pairs (None for all), its dropouts, the steps at which losses are
# measured, and those at which it also translates.
TRAININGS = {
    "few": (400, (0.0, 0.3), (0, 15, 30, 45, 60, 80, 100, 120), (120,)),
    "all": (None, (0.1,), (0, 50, 100, 200, 300, 400, 600, 800), (0, 100, 200, 400, 800)),
}
SEEDS = (0, 1, 2)
# The trainings that compare optimisers: the optimiser and its steps. The controls are AdamW with a
# fifth more steps, because a step of Muon takes so much longer, and with three times the steps.
RATES = (2.5e-3, 5e-3, 1e-2, 2e-2, 4e-2)
OPTIMIZERS = {("muon", 300): RATES, ("adamw", 300): RATES[:4]}
# The first seed tries every rate, and the others use the one that was best for it.
BEST = {("muon", 300): 2e-2, ("adamw", 300): 1e-2}
CONTROL = dict.fromkeys((("adamw", 360), ("adamw", 900)), BEST["adamw", 300])
# The trainings that compare optimisers get this number of pairs per step, more than they read.
PAIRS_A_STEP = 100
# The number of training pairs from which the vocabulary is learned.
N_VOCABULARY = 20_000
# The number of pairs of training and of validation on which losses are measured.
N_WATCHED = 200
# A test compares this number of first losses with the recorded run.
N_FIRST = 3
# Sentences written for the course, which no training has seen.
SENTENCES = (
    "I left my passport at the hotel.",
    "She reads a book every week.",
    "He told the truth, but nobody believed him.",
)


def begun(pairs, tokenizer, dropout, steps, seed, **changed):
    """Return a training of a translator with a joint vocabulary, before its first step."""
    config = TrainingConfig(
        steps=steps, seed=seed, warmup_steps=min(WARMUP, steps // 4), **TRAINING | changed
    )
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig(tokenizer.vocab_size, None, **SIZES, dropout=dropout))
    longest = max(len(tokenizer.encode(pair.source)) for pair in pairs)
    translator = Translator(model, tokenizer, tokenizer, longest, punctuated=True)
    return Training(translator, pairs, config)


@torch.no_grad()
def loss_of(translator, pairs):
    """Return the mean cross-entropy per token, without label smoothing or dropout."""
    examples = translator._examples(pairs)
    sums = [
        sequence_loss(translator.model, collate([examples[i] for i in some]))
        for some in by_length(examples, lambda example: len(example[1]))
    ]
    total, count = (sum(float(one[i]) for one in sums) for i in (0, 1))
    return total / count


def measured(parts, tokenizer, name, dropout, seed):
    """Train, and measure the translator at every stop on training and validation pairs.

    Returns
    -------
    dict
        ``training``, ``validation``: losses of one kind on `N_WATCHED` pairs of each; ``bleu`` on
        the validation pairs, and ``texts``, the translations of `SENTENCES`, at fewer steps;
        ``first_losses``: of the first batches, as training counts them; ``parameters``; ``epochs``:
        how often each pair was read.
    """
    n_train, _, stops, written = TRAININGS[name]
    pairs = parts["train"][:n_train]
    training = begun(pairs, tokenizer, dropout, stops[-1], seed)
    watched = {
        part: some[:: len(some) // N_WATCHED][:N_WATCHED]
        for part, some in (("training", pairs), ("validation", parts["validation"]))
    }
    told = {
        "name": name,
        "dropout": dropout,
        "seed": seed,
        "n_train": len(pairs),
        "parameters": sum(p.numel() for p in training.run.parameters),
        "epochs": round(stops[-1] / training.batches.n_batches, 1),
        "training": [],
        "validation": [],
        "bleu": [],
        "texts": [],
    }
    for stop in stops:
        translator = training.go_to(stop)
        for part, some in watched.items():
            told[part].append(round(loss_of(translator, some), 3))
        if stop in written:
            told["bleu"].append(round(translator.evaluate(watched["validation"])["bleu"], 1))
            told["texts"].append(translator.translate(list(SENTENCES)))
    told["first_losses"] = [round(loss, 3) for loss in training.run.history.losses[:N_FIRST]]
    return told


def optimised(parts, tokenizer, optimizer, steps, rate, seed):
    """Train on the whole corpus with an optimiser; return its loss on validation pairs."""
    changed = {"optimizer": optimizer, "learning_rate": rate}
    pairs = parts["train"][: PAIRS_A_STEP * steps]
    training = begun(pairs, tokenizer, 0.0, steps, seed, **changed)
    some = parts["validation"]
    some = some[:: len(some) // N_WATCHED][:N_WATCHED]
    key = {"optimizer": optimizer, "steps": steps, "learning_rate": rate, "seed": seed}
    return key | {"validation": round(loss_of(training.go_to(steps), some), 3)}


def corpus():
    """Return the parts of the corpus, and a joint vocabulary learned from the training part."""
    parts = tatoeba()
    # The file is sorted by length, so its first pairs would be the shortest.
    order = np.random.default_rng(0).permutation(len(parts["train"]))
    parts["train"] = [parts["train"][i] for i in order]
    some = parts["train"][:N_VOCABULARY]
    tokenizer, _ = vocabularies.learn(some, "bpe", VOCAB_SIZE, joint=True)
    return parts, tokenizer


@cache
def corpus_once():
    """Return the corpus and its tokenizer, read once."""
    return corpus()


def rows():
    """Return what is measured: each training, and each optimiser at each rate, from each seed."""
    tried = [(*run, rate, 0) for run, rates in OPTIMIZERS.items() for rate in rates]
    tried += [(*run, rate, seed) for seed in SEEDS[1:] for run, rate in BEST.items()]
    tried += [(*run, rate, seed) for seed in SEEDS for run, rate in CONTROL.items()]
    names = ("optimizer", "steps", "learning_rate", "seed")
    optimizers = {
        f"{run[0]}, {run[1]} steps, rate {run[2]:g}, seed {run[3]}": Row(
            partial(lambda *run: optimised(*corpus_once(), *run), *run),
            ("optimizers", dict(zip(names, run, strict=True))),
        )
        for run in tried
    }
    return {
        f"{name}, dropout {dropout}, seed {seed}": Row(
            partial(lambda *key: measured(*corpus_once(), *key), name, dropout, seed),
            ("runs", {"name": name, "dropout": dropout, "seed": seed}),
        )
        for name, (_, dropouts, *_) in TRAININGS.items()
        for dropout in dropouts
        for seed in SEEDS
    } | optimizers


def constants():
    """Return the sentences, and the steps at which they are measured and written."""
    return {
        "vocab_size": VOCAB_SIZE,
        "sentences": list(SENTENCES),
        "stops": {name: list(stops) for name, (_, _, stops, _) in TRAININGS.items()},
        "written": {name: list(steps) for name, (*_, steps) in TRAININGS.items()},
    }


EXPERIMENT = Experiment(
    "A small translator of real sentences while it learns: what do more pairs, and dropout, bring?",
    RESULTS,
    rows,
    minutes=80,
    constants=constants,
)
