"""A translator during its training: curves, and a replay of its attention.

Writes ``notebooks/data/training.json``, which chapter 08 draws, and
``notebooks/data/training_replay.json``, which the widget `TrainingReplay` plays. Every run has
its seed and its number of steps, so another machine gets the same numbers up to rounding.
"""

import json
from dataclasses import replace
from functools import cache, partial

import numpy as np
import torch

from attn.applications._sequences import collate, predict, sequence_loss
from attn.applications.translation import Translator, facts
from attn.applications.translation.translator import SIZES
from attn.io import write_whole
from attn.metrics import align, alignment_error_rate
from attn.tokenizer import WordTokenizer
from attn.training import TrainingConfig
from attn.transformer import Transformer, TransformerConfig
from attn_course.grammar import document_pairs, splits
from experiments.runner import DATA, Experiment, Row
from experiments.watched import Training

RESULTS, REPLAY = DATA / "training.json", DATA / "training_replay.json"

N_TRAIN = 6000
CONFIG = TrainingConfig(steps=800, learning_rate=5e-3, warmup_steps=100, device="cpu")
SEEDS = (0, 1, 2)
# A test compares this number of first losses with the recorded run.
FIRST = 5
# A training with more pairs and as many steps shows the effect of the data alone.
MORE_PAIRS = 20_000

# Short runs with and without warm-up show what happens at the start.
SHORT, EVERY = 300, 10
PEAKS = (1e-3, 5e-3, 2e-2)

# The steps that the replay shows.
CHECKPOINTS = (0, 10, 20, 30, 45, 65, 90, 120, 160, 210, 270, 340, 430, 540, 660, 800)
SENTENCES = (
    "the red house",
    "tom was crying because he was blue",
    "the cat that chased the mouse was black",
    "the animal did not cross the street because it was too tired",
)
# The number of validation pairs measured at every checkpoint.
N_WATCHED = 100


def begun(parts, config, **sizes):
    """Return a training of a translator that reads words, before its first step.

    Parameters
    ----------
    parts : attn.corpus.Splits
    config : TrainingConfig
    **sizes
        Sizes of the model that differ from a translator's defaults.
    """
    source, target = (
        WordTokenizer.train(getattr(pair, side) for pair in parts.train)
        for side in ("source", "target")
    )
    sizes = TransformerConfig(source.vocab_size, target.vocab_size, **{**SIZES, **sizes})
    torch.manual_seed(config.seed)
    longest = max(len(source.encode(pair.source)) for pair in parts.train)
    return Training(Translator(Transformer(sizes), source, target, longest), parts.train, config)


def known(translator, pairs):
    """Return the pairs all of whose words the translator knows: few sentences teach few words."""
    source, target = translator.source, translator.target
    return [p for p in pairs if not source.unknown(p.source) and not target.unknown(p.target)]


@torch.no_grad()
def plain_loss(translator, pairs):
    """Return the unsmoothed cross-entropy, and the mean probability of the predicted token."""
    examples = translator._examples(pairs)
    logits, targets = predict(translator.model, collate(examples))
    total, count = sequence_loss(translator.model, collate(examples))
    surest = logits.softmax(dim=-1).amax(dim=-1)[targets != translator.target.pad_id]
    return (total / count).item(), surest.mean().item()


def error_rate(translator, pairs):
    """Return the alignment error rate of the cross-attention, averaged over layers and heads."""
    weights = [translator.attention(p.source, p.target).cross.mean(axis=(0, 1)) for p in pairs]
    links = [align(w[:-1]) for w in weights]
    return alignment_error_rate(links, [p.sure for p in pairs], [p.possible for p in pairs])


def measure(parts, config, dropout):
    """Train a whole run, and return its accuracy, its confidence and its alignment error."""
    translator = begun(parts, config, dropout=dropout).go_to(config.steps)
    test = known(translator, parts.test)
    found = translator.evaluate(test)
    loss, sure = plain_loss(translator, test)
    return {
        "label_smoothing": config.label_smoothing,
        "dropout": dropout,
        "seed": config.seed,
        "exact_match": round(found["exact_match"], 3),
        "token_accuracy": round(found["token_accuracy"], 4),
        "loss": round(loss, 4),
        "surest": round(sure, 3),
        "aer": round(facts.alignment_errors(translator, test)["average"], 3),
    }


def exact(n_train, seed, asked):
    """Train a whole run on so many pairs; return how many of some sentences are right."""
    config = TrainingConfig(**{**vars(CONFIG), "seed": seed})
    translator = begun(splits(n_train=n_train), config).go_to(config.steps)
    shares = {
        name: round(translator.evaluate(pairs)["exact_match"], 3) for name, pairs in asked.items()
    }
    return {"n_train": n_train, "seed": seed} | shares


def curve(parts, norm, peak, warmup_steps):
    """Train a short run; return the mean loss of every ten steps."""
    config = TrainingConfig(
        steps=SHORT, learning_rate=peak, warmup_steps=warmup_steps, device="cpu"
    )
    training = begun(parts, config, norm=norm)
    training.go_to(SHORT)
    losses = np.reshape(training.run.history.losses, (-1, EVERY)).mean(axis=1)
    return {
        "norm": norm,
        "learning_rate": peak,
        "warmup_steps": warmup_steps,
        "losses": losses.round(3).tolist(),
    }


def film(parts):
    """Train the recorded run; at every checkpoint, store four translations and attentions."""
    training = begun(parts, CONFIG)
    pairs = [next(p for p in document_pairs() if p.source == text) for text in SENTENCES]
    watched = known(training.translator, parts.validation)[:N_WATCHED]
    measures = {"train": [], "validation": [], "exact": [], "aer": []}
    frames = [[] for _ in pairs]
    for step in CHECKPOINTS:
        translator = training.go_to(step)
        losses = training.run.history.losses
        train = np.mean(losses[-10:]) if losses else first_loss(training)
        measures["train"].append(round(float(train), 3))
        measures["validation"].append(round(plain_loss(translator, watched)[0], 3))
        measures["exact"].append(round(translator.evaluate(watched)["exact_match"], 2))
        measures["aer"].append(round(error_rate(translator, watched), 3))
        for pair, sequence in zip(pairs, frames, strict=True):
            cross = translator.attention(pair.source, pair.target).cross.mean(axis=(0, 1))
            written = translator.translate(pair.source)
            sequence.append(
                {"text": written, "weights": (100 * cross).round().astype(int).tolist()}
            )
        print(step, {name: values[-1] for name, values in measures.items()}, flush=True)
    return {
        "first_losses": [round(loss, 3) for loss in losses[:FIRST]],
        "steps": list(CHECKPOINTS),
        **measures,
        "sentences": [
            {
                "source": pair.source.split(),
                "target": [*pair.target.split(), "<eos>"],
                "sure": sorted(map(list, pair.sure)),
                "possible": sorted(map(list, pair.possible)),
                "texts": [frame["text"] for frame in sequence],
                "weights": [frame["weights"] for frame in sequence],
            }
            for pair, sequence in zip(pairs, frames, strict=True)
        ],
    }


@torch.no_grad()
def first_loss(training):
    """Return the loss of the first batch, as training counts it, before any step."""
    total, count = training.run.objective(training.batches[0])
    return (total / count).item()


@cache
def corpus():
    """Return the parts on which all runs here are trained and tested."""
    return splits(n_train=N_TRAIN)


@cache
def asked():
    """Return test sentences, by part: all of their words are in the smallest training."""
    fewest = begun(corpus(), CONFIG).translator
    return {name: known(fewest, getattr(corpus(), name)) for name in ("test", "longer")}


def with_choices(key):
    """Return a whole run with the dropout, label smoothing and seed of a row."""
    chosen = {name: key[name] for name in ("label_smoothing", "seed")}
    return measure(corpus(), replace(CONFIG, **chosen), key["dropout"])


def rows():
    """Return what is measured: short runs, whole runs, and runs with more pairs."""
    short = [
        {"norm": norm, "learning_rate": peak, "warmup_steps": warmup_steps}
        for norm in ("pre", "post")
        for peak in PEAKS
        for warmup_steps in (1, 100)
    ]
    whole = [
        {"label_smoothing": smoothing, "dropout": dropout, "seed": seed}
        for seed in SEEDS
        for dropout in (0.0, 0.1)
        for smoothing in (0.0, 0.1)
    ]
    more = [
        {"n_train": n_train, "seed": seed} for n_train in (N_TRAIN, MORE_PAIRS) for seed in SEEDS
    ]
    found = {}
    for key in short:
        norm, peak, warmup_steps = key.values()
        run = partial(lambda *three: curve(corpus(), *three), norm, peak, warmup_steps)
        found[f"{norm}, {peak:g}, warm-up {warmup_steps}"] = Row(run, ("curves", key))
    for key in whole:
        smoothing, dropout, seed = key.values()
        name = f"smoothing {smoothing}, dropout {dropout}, seed {seed}"
        found[name] = Row(partial(with_choices, key), ("runs", key))
    for key in more:
        run = partial(lambda n_train, seed: exact(n_train, seed, asked()), *key.values())
        found[f"{key['n_train']} pairs, seed {key['seed']}"] = Row(run, ("more_pairs", key))
    return found


def show():
    """Record the replay, if there is none."""
    if not REPLAY.exists():
        text = json.dumps(film(corpus()), ensure_ascii=False, separators=(",", ":"))
        write_whole(REPLAY, text + "\n")


EXPERIMENT = Experiment(
    "What becomes of a translator while it is trained: warm-up, dropout, smoothing, more pairs?",
    RESULTS,
    rows,
    minutes=60,
    publish=show,
)
