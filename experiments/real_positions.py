"""Seven kinds of positions on real sentences, each with its own learning rate.

``python -m experiments real_positions`` writes ``notebooks/data/real_positions.json``, which
chapter 07 shows, after each result, so it can be stopped and started again. There are two tasks.

``translation``: encoder and decoder learn from pairs whose English has at most `SHORT` words,
and also translate longer ones in the test. A last model learns from pairs of every length,
which shows how much of the loss of quality is due to unseen lengths.

``language``: a decoder alone is trained on sentences in random order, `WINDOW` tokens at a
time, and tested on four times as many. Since one sentence says little about the next, a model
that handles all positions should predict all tokens but the first about equally well.
"""

import itertools
import math
from functools import cache, partial

import numpy as np
import torch
from sacrebleu.metrics import BLEU
from torch.nn import functional as F

from attn import checks
from attn.corpus import hold_out, near_duplicates, tatoeba
from attn.tokenizer.base import Tokenizer
from attn.training import TrainingConfig
from attn.training.processes import join
from attn.training.run import Run
from attn.transformer import DecoderOnly, Transformer, TransformerConfig
from attn_course import position_schemes  # noqa: F401, registers two kinds
from experiments.runner import DATA, Experiment, Row
from experiments.translators import fit, held_out_loss, loss, score, translate
from experiments.translators_systems import OURS, BytePairs, System

RESULTS = DATA / "real_positions.json"
KINDS = ("none", "sinusoidal", "learned", "rotary", "alibi", "signed_alibi", "t5")
# Under a causal mask the signed ALiBi equals ALiBi.
CAUSAL_KINDS = tuple(kind for kind in KINDS if kind != "signed_alibi")
# Decoders that in another test see no more tokens than in training.
REACHED = ("rotary", "alibi", "t5")
# The most English words of a training pair.
SHORT = 8
LENGTHS = {"1–8": (1, 8), "9–10": (9, 10), "11–12": (11, 12), "13+": (13, math.inf)}
# The number of long sentences that are held out.
N_LONG = 1000
# The tokens of a training window, and of the longest test window.
WINDOW, FARTHEST = 32, 128
# The number of windows of a step.
N_WINDOWS = 32
SEEDS = (0, 1, 2)
RATES = {"translation": (3e-3, 6e-3, 1.2e-2), "language": (6e-3, 1.2e-2, 2.4e-2)}
STEPS = {"translation": 900, "language": 800}
# The learning rates are tried with this fraction of the steps.
SWEEP = 3
VOCAB_SIZE = 2000


def sizes(kind):
    """Return the configuration of every model here."""
    return TransformerConfig(
        vocab_size=VOCAB_SIZE,
        d_model=96,
        n_heads=4,
        n_layers=2,
        d_ff=384,
        norm="pre",
        positions=kind,
        max_len=FARTHEST,
    )


def n_words(pair):
    """Return the number of words of the English sentence."""
    return len(pair.source.split())


def buckets(pairs):
    """Return the pairs by length of the English sentence."""
    return {
        name: [pair for pair in pairs if low <= n_words(pair) <= high]
        for name, (low, high) in LENGTHS.items()
    }


class Material:
    """The training and test data.

    Parameters
    ----------
    parts : dict of str to sequence of Pair
    n_long : int
        The number of long pairs that are held out, with all their near neighbours.
    """

    def __init__(self, parts, n_long=N_LONG):
        short = {n: [p for p in some if n_words(p) <= SHORT] for n, some in parts.items()}
        long = [pair for pair in parts["train"] if n_words(pair) > SHORT]
        near = near_duplicates(pair.source for pair in long)
        more, held_out = hold_out(long, n_long, group=lambda pair: near[pair.source])
        self.train, self.everything = short["train"], short["train"] + more
        self.validation = short["validation"]
        self.asked = short["clusters"] + held_out
        self.tests = buckets(self.asked)
        self.text = BytePairs(self.train, VOCAB_SIZE)
        self.examples, self.stream = cache(self._examples), cache(self._stream)

    def _examples(self, name):
        """Return the ids of the pairs of a part."""
        return [*map(self.text.example, getattr(self, name))]

    def _stream(self, name):
        """Return the Spanish sentences of a part as one row of ids, each with its end token."""
        ids = []
        for place in np.random.default_rng(0).permutation(len(getattr(self, name))):
            ids += [*self.examples(name)[place][1], Tokenizer.eos_id]
        return torch.tensor(ids)


def translator(material, kind, rate, seed, steps, train="train"):
    """Train encoder and decoder; return their scores on validation and by length."""
    system = System((rate,), partial(Transformer, sizes(kind)), **OURS)
    data = material.examples(train), material.examples("validation")
    model, told = fit(system, *data, steps, rate, seed)
    model.eval()
    told |= {"loss": {}, "bleu": {}}
    for name, pairs in material.tests.items():
        examples = [*map(material.text.example, pairs)]
        found = translate(system, material.text, model, [pair.source for pair in pairs])
        told["loss"][name] = round(held_out_loss(system, model, examples), 3)
        told["bleu"][name] = score(BLEU(), found, [pair.target for pair in pairs])[0]
    return told


class Windows:
    """Batches of windows at random positions of a text."""

    def __init__(self, ids, seed):
        self.ids, self.seed = ids, seed

    def share(self, step, rank=0, n_processes=1):
        """Return the windows of a step, one token longer than the inputs."""
        rng = np.random.default_rng((self.seed, step))
        firsts = rng.integers(len(self.ids) - WINDOW, size=N_WINDOWS)[rank::n_processes]
        return (torch.stack([self.ids[first : first + WINDOW + 1] for first in firsts]),)


def predict_next(model, batch, mask=None):
    """Return the logits at every position, and the next tokens."""
    (ids,) = batch
    return model(ids[:, :-1], mask)[0], ids[:, 1:]


@torch.no_grad()
def losses_by_place(model, ids, length, reach=FARTHEST):
    """Return the mean loss at each position of windows of `length` tokens.

    Each token sees itself and those before it, `reach` tokens in all.
    """
    n = (len(ids) - 1) // length
    place = torch.arange(length)
    mask = place[:, None] - place < reach
    totals = torch.zeros(length, dtype=torch.float64)
    for first in range(0, n, N_WINDOWS):
        some = range(first, min(first + N_WINDOWS, n))
        rows = torch.stack([ids[i * length : (i + 1) * length + 1] for i in some])
        logits, targets = predict_next(model, (rows,), mask)
        totals += F.cross_entropy(logits.mT, targets, reduction="none").double().sum(dim=0)
    return (totals / n).tolist()


def language_model(material, kind, rate, seed, steps, reach=FARTHEST):
    """Train a decoder alone; return its loss within and beyond the training length.

    In the test a token sees `reach` tokens.
    """
    torch.manual_seed(seed)
    config = TrainingConfig(
        steps=steps,
        learning_rate=rate,
        warmup_steps=max(1, steps // 4),
        decayed="matrices",
        label_smoothing=0.0,
        seed=seed,
        device="cpu",
    )
    run = Run(DecoderOnly(sizes(kind)), partial(loss, predict=predict_next), config, join("cpu"))
    batches = Windows(material.stream("train"), seed)
    with checks(False):
        while run.step < steps:
            run.update(batches)
    model = run.model.eval()
    within = losses_by_place(model, material.stream("validation"), WINDOW)
    # The language model reads the Spanish of the tests, whose length in words does not matter here.
    asked = losses_by_place(model, material.stream("asked"), FARTHEST, reach)
    edges = [0, WINDOW // 2, *(WINDOW * 2**i for i in range(3))]
    return {
        "learning_rate": rate,
        "steps": steps,
        "parameters": sum(p.numel() for p in model.parameters()),
        "validation_loss": round(float(np.mean(within)), 4),
        "loss": {
            f"{low + 1}–{high}": round(float(np.mean(asked[low:high])), 3)
            for low, high in itertools.pairwise(edges)
        },
    }


TASKS = {"translation": (translator, KINDS), "language": (language_model, CAUSAL_KINDS)}


class Bench:
    """The measurements of the experiment, made from a function that returns the material."""

    def __init__(self, material, steps=STEPS):
        self.material, self.all_steps, self.told = material, steps, {}

    def queue(self):
        """Yield the name of each result, in the order in which they are measured."""
        yield "setting", "material"
        for seed in SEEDS:
            for task, (_, kinds) in TASKS.items():
                for kind in kinds:
                    if seed == SEEDS[0]:
                        for rate in RATES[task]:
                            yield f"{task} rates", f"{kind} {rate:g}"
                    yield task, f"{kind} {seed}"
            yield "control", f"rotary {seed}"
            for kind in REACHED:
                yield "cut", f"{kind} {seed}"

    def rows(self):
        """Return what is measured, by its name."""
        return {
            f"{group}, {name}": Row(partial(self.after, group, name), (group, name), reads=True)
            for group, name in self.queue()
        }

    def after(self, group, name, told):
        """Return one result, with the learning rates in the stored results `told`."""
        self.told = told
        return self.measure(group, name)

    def measure(self, group, name):
        """Return one result."""
        if group == "setting":
            return {
                "pairs": len(self.material().train),
                "pairs of every length": len(self.material().everything),
                "tests": {name: len(pairs) for name, pairs in self.material().tests.items()},
                "tokens read": len(self.material().stream("asked")),
            }
        kind, last = name.split()
        task, _, sweep = group.partition(" ")
        if sweep:
            steps = max(1, self.all_steps[task] // SWEEP)
            return TASKS[task][0](self.material(), kind, float(last), 0, steps)["validation_loss"]
        if task == "cut":
            steps, rate = self.all_steps["language"], self.rate("language", kind)
            return language_model(self.material(), kind, rate, int(last), steps, WINDOW)
        if task == "control":
            steps, rate = self.all_steps["translation"], self.rate("translation", kind)
            return translator(self.material(), kind, rate, int(last), steps, "everything")
        rate = self.rate(task, kind)
        return TASKS[task][0](self.material(), kind, rate, int(last), self.all_steps[task])

    def rate(self, task, kind):
        """Return the learning rate that was best on validation."""
        losses = self.told[f"{task} rates"]
        return min(RATES[task], key=lambda rate: losses[f"{kind} {rate:g}"])


EXPERIMENT = Experiment(
    "Seven ways to tell positions, on real sentences: what does each get right, by length?",
    RESULTS,
    lambda: Bench(cache(lambda: Material(tatoeba()))).rows(),
    minutes=600,
)
