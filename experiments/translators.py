"""Several kinds of translators on real sentences, each trained for the same time.

``python -m experiments translators`` measures what is not yet in ``translators.json``, in the order
of `queue`, and then sets the tables of the page of results. The translations and the weights are
stored in ``build/translators`` and not in the repository.

The corpus is `attn.corpus.tatoeba`. Every training runs on one thread. The number of steps that fit
into the budget is determined once for each system, by timing some steps; the time that a run took
is in its result.
"""

import json
import math
import os
import time
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path

import numpy as np
import torch
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from attn import checks
from attn.applications import _sequences
from attn.corpus import tatoeba
from attn.io import whole_file, write_whole
from attn.tokenizer.base import Tokenizer
from attn.tokenizer.words import split
from attn.training import TrainingConfig, cross_entropy
from attn.training.processes import join
from attn.training.run import Run
from attn.transformer import Transformer
from benchmarks.timing import processor
from experiments import translators_tables
from experiments.runner import Experiment, Row
from experiments.translators_systems import SIZES, TRAINED, UNTRAINED, BytePairs, System, stripped

RESULTS = Path(__file__).with_name("translators.json")
KEPT = Path(__file__).resolve().parents[1] / "build" / "translators"
# The processor seconds of each training.
BUDGET = 480.0
# The share of the budget for each learning rate that is tried.
SWEEP = 0.25
SEEDS = (0, 1, 2)
BATCH_TOKENS = 1100
WARMUP = 400
# The number of steps that are timed.
N_TIMED = 40
TESTS = ("clusters", "plain")
N_RESAMPLES = 1000
LENGTHS = {"1–4": (1, 4), "5–6": (5, 6), "7–9": (7, 9), "10+": (10, math.inf)}
COUNTS = {
    "0": (0, 0),
    "1–4": (1, 4),
    "5–19": (5, 19),
    "20–99": (20, 99),
    "100+": (100, math.inf),
}
# The pairs of systems that are compared sentence by sentence.
PAIRED = (("gru", "gru_attention"), ("gru_attention", "transformer"), ("torch", "transformer"))
# The points of the curves, which use the system "transformer" with seed 0.
N_PAIRS = (1_000, 3_000, 10_000, 30_000, 100_000)
D_MODELS = (32, 64, 256)
# The number of validations during a run of a curve.
LOOKS = 12


class Batches:
    """Batches of about as many target tokens, from examples of similar length.

    The batch of step n depends only on the seed and on n, as in `attn.training.batches`.
    """

    def __init__(self, examples, n_tokens, seed):
        self.examples, self.n_tokens, self.seed = examples, n_tokens, seed
        sizes = np.array([[len(source), len(target) + 1] for source, target in examples])
        self.lengths, self.targets = sizes.sum(axis=1), sizes[:, 1]
        self.n_batches = len(self._cut(np.arange(len(examples))))
        self._epochs = {}

    def share(self, step, rank=0, n_processes=1):
        """Return one process's share of the batch of `step`, counted from 0."""
        places = self.places(step)
        return _sequences.collate([self.examples[i] for i in places[rank::n_processes]])

    def places(self, step):
        """Return the indices of the examples in the batch of `step`."""
        epoch = 0
        while step >= len(self._order(epoch)):
            step, epoch = step - len(self._order(epoch)), epoch + 1
        return self._order(epoch)[step]

    def _order(self, epoch):
        if epoch not in self._epochs:
            rng = np.random.default_rng((self.seed, epoch))
            order = np.argsort(self.lengths * rng.uniform(1.0, 1.1, len(self.lengths)))
            batches = self._cut(order)
            self._epochs[epoch] = [batches[i] for i in rng.permutation(len(batches))]
        return self._epochs[epoch]

    def _cut(self, order):
        numbers = np.cumsum(self.targets[order]) // self.n_tokens
        return np.split(order, np.flatnonzero(np.diff(numbers)) + 1)


def loss(model, batch, *, predict, label_smoothing=0.0):
    """Return the sum of the token losses of a batch, and the number of these tokens."""
    logits, targets = predict(model, batch)
    pad_id = Tokenizer.pad_id
    return cross_entropy(logits, targets, label_smoothing=label_smoothing, pad_id=pad_id)


@torch.no_grad()
def held_out_loss(system, model, examples):
    """Return the loss per token in evaluation mode, without smoothing; restore the mode."""
    was_training = model.training
    model.eval()
    total = count = 0.0
    for some in _sequences.by_length(examples, lambda e: len(e[0]) + len(e[1])):
        batch = _sequences.collate([examples[i] for i in some])
        of_batch, n = loss(model, batch, predict=system.predict)
        total, count = total + of_batch.item(), count + n.item()
    model.train(was_training)
    return total / count


def new_run(system, steps, rate, seed):
    """Return a training that has not begun."""
    torch.manual_seed(seed)
    config = TrainingConfig(
        steps=steps,
        learning_rate=rate,
        warmup_steps=max(1, min(WARMUP, steps // 4)),
        decayed="matrices",
        seed=seed,
        device="cpu",
    )
    smoothed = partial(loss, predict=system.predict, label_smoothing=config.label_smoothing)
    return Run(system.make(), smoothed, config, join("cpu"))


def timed(systems, examples, n_steps=N_TIMED):
    """Return the CPU seconds that a training step of each system takes, over consecutive batches.

    They take turns, so that other load on the machine affects all alike.

    Parameters
    ----------
    systems : dict of str to System
    examples : callable, (type of text) -> list of pairs of ids
    n_steps : int
    """
    runs = {name: new_run(system, 10**6, system.rates[0], 0) for name, system in systems.items()}
    batches = {
        name: Batches(examples(system.text), BATCH_TOKENS, 0) for name, system in systems.items()
    }
    seconds = dict.fromkeys(systems, 0.0)
    with checks(False):
        # The first turns allocate memory and do not count.
        for turn in range(3 + n_steps):
            for name, run in runs.items():
                began = time.process_time()
                run.update(batches[name])
                if turn >= 3:
                    seconds[name] += time.process_time() - began
    return {name: total / n_steps for name, total in seconds.items()}


def fit(system, examples, held_out, steps, rate, seed, looks=1):
    """Train; return the model and the facts about its training.

    With several `looks` at validation, the weights of the best one are kept.
    """
    run, batches = new_run(system, steps, rate, seed), Batches(examples, BATCH_TOKENS, seed)
    seconds, losses, best = 0.0, [], None
    for look in range(looks):
        began = time.process_time()
        with checks(False):
            while run.step < steps * (look + 1) // looks:
                run.update(batches)
        seconds += time.process_time() - began
        losses.append(held_out_loss(system, run.model, held_out))
        if looks > 1 and losses[-1] == min(losses):
            best = {name: tensor.clone() for name, tensor in run.model.state_dict().items()}
    if best is not None:
        run.model.load_state_dict(best)
    return run.model.eval(), {
        "learning_rate": rate,
        "steps": steps,
        "seconds": round(seconds, 1),
        "parameters": sum(p.numel() for p in run.model.parameters()),
        "validation_loss": round(min(losses), 4),
        "last_loss": round(losses[-1], 4),
        "training_loss": round(float(np.mean(run.history.losses[-100:])), 4),
    }


def translate(system, text, model, sources):
    """Return a trained system's translation of each sentence."""
    ids, found = [text.source(source) or [Tokenizer.unk_id] for source in sources], {}
    for some in _sequences.by_length(ids):
        limit = text.limit(max(len(ids[i]) for i in some))
        written = system.write(model, [ids[i] for i in some], limit)
        for i, row in zip(some, written, strict=True):
            found[i] = text.text([token for token in row if token != Tokenizer.eos_id])
    return [found[i] for i in range(len(sources))]


def score(metric, found, right):
    """Return a score and half of its 95% interval, from sacrebleu's bootstrap over sentences."""
    told = metric.corpus_score(found, [right], n_bootstrap=N_RESAMPLES)
    told = json.loads(told.format(signature=str(metric.get_signature()), is_json=True))
    # There is no interval if no sentence shares any n-gram.
    return [round(told["score"], 2), round(told.get("confidence_var", 0.0), 2)]


def words_of(text):
    """Return the words of a sentence in lower case, without punctuation."""
    return [word for word in split(text.lower()) if any(c.isalnum() for c in word)]


class Groups:
    """The test sentences by length, and by how often training has their rarest word.

    Parameters
    ----------
    parts : dict of str to sequence of Pair
    """

    def __init__(self, parts):
        counts = {}
        for pair in parts["train"]:
            for word in set(words_of(pair.source)):
                counts[word] = counts.get(word, 0) + 1
        self.of = {}
        for test in TESTS:
            sources = [pair.source for pair in parts[test]]
            lengths = [len(source.split()) for source in sources]
            rarest = [min((counts.get(w, 0) for w in words_of(s)), default=0) for s in sources]
            self.of[test] = {
                "length": _in_buckets(lengths, LENGTHS),
                "rarest": _in_buckets(rarest, COUNTS),
            }


def _in_buckets(values, buckets):
    return {
        name: [i for i, value in enumerate(values) if low <= value <= high]
        for name, (low, high) in buckets.items()
    }


def scores(found, pairs, groups):
    """Return the scores of the translations of one test."""
    right = [pair.target for pair in pairs]
    told = {
        "n": len(pairs),
        "bleu": score(BLEU(), found, right),
        "chrf": score(CHRF(), found, right),
        "exact": sum(a == b for a, b in zip(found, right, strict=True)),
        "bleu_stripped": score(BLEU(), [*map(stripped, found)], [*map(stripped, right)]),
    }
    for kind, buckets in groups.items():
        told[kind] = {}
        for name, places in buckets.items():
            if places:
                some, wanted = [found[i] for i in places], [right[i] for i in places]
                told[kind][name] = {
                    "n": len(places),
                    "bleu": round(BLEU().corpus_score(some, [wanted]).score, 2),
                    "chrf": round(CHRF().corpus_score(some, [wanted]).score, 2),
                    "exact": sum(a == b for a, b in zip(some, wanted, strict=True)),
                }
    return told


def compared(one, other, pairs, groups):
    """Return the BLEU of two systems, and the p-value of the difference.

    Sentences are resampled in pairs: sacrebleu's paired bootstrap.
    """
    told = {}
    everything = {"all": {"all": range(len(pairs))}}
    for kind, buckets in (everything | groups).items():
        for name, places in buckets.items():
            if len(places) < 2:
                continue
            systems = [(n, [found[i] for i in places]) for n, found in (("a", one), ("b", other))]
            references = [[pairs[i].target for i in places]]
            test = PairedTest(
                systems, {"BLEU": BLEU()}, references, test_type="bs", n_samples=N_RESAMPLES
            )
            _, results = test()
            a, b = results["BLEU"]
            told.setdefault(kind, {})[name] = [
                len(places),
                round(a.score, 2),
                round(b.score, 2),
                round(b.p_value, 4),
            ]
    return told


class Bench:
    """The measurements, and what all of them share.

    Parameters
    ----------
    kept : Path
        The folder for translations and weights.
    budget : float
        Seconds of processor for each training.
    """

    def __init__(self, kept=KEPT, budget=BUDGET):
        self.kept, self.budget, self.told = kept, budget, {}
        self.text = cache(lambda kind: kind(self.parts["train"]))
        self.examples = cache(lambda kind: [*map(self.text(kind).example, self.parts["train"])])
        self.held_out = cache(
            lambda kind: [*map(self.text(kind).example, self.parts["validation"])]
        )

    @cached_property
    def parts(self):
        """The parts of the corpus, by name."""
        return tatoeba()

    @cached_property
    def groups(self):
        """The test sentences, by length and by their rarest word."""
        return Groups(self.parts)

    def rows(self):
        """Return what is measured, by its name."""
        return {
            f"{kind} {name}": Row(partial(self.after, measure), (kind, name), reads=True)
            for kind, name, measure in self.queue()
        }

    def after(self, measure, told):
        """Return a measurement, with the learning rates and numbers of steps in `told`."""
        self.told = told or {}
        return measure()

    def queue(self):
        """Yield, for each result, its kind, its name and the function that measures it."""
        yield "setting", "corpus", self.corpus
        for name in UNTRAINED:
            yield "runs", name, partial(self.untrained, name)
        yield "setting", "step_seconds", self.time
        for seed in SEEDS:
            run = set()
            for name, system in TRAINED.items():
                if seed == SEEDS[0]:
                    for rate in system.rates:
                        yield "rates", f"{name} {rate:g}", partial(self.sweep, name, rate)
                yield "runs", f"{name} {seed}", partial(self.trained, name, seed)
                run.add(name)
                for one, other in PAIRED:
                    if name in (one, other) and run >= {one, other}:
                        make = partial(self.pair, one, other, seed)
                        yield "paired", f"{one} {other} {seed}", make
        for n_pairs in N_PAIRS:
            yield "curve_pairs", str(n_pairs), partial(self.with_pairs, n_pairs)
        for d_model in D_MODELS:
            yield "curve_sizes", str(d_model), partial(self.with_size, d_model)

    def corpus(self):
        """Return the sizes of the parts and of their groups."""
        told = {name: len(pairs) for name, pairs in self.parts.items()}
        return told | {"processor": processor(), "PyTorch": torch.__version__.partition("+")[0]}

    def steps(self, name, share=1.0):
        """Return how many steps fit into a share of the budget."""
        return max(1, int(share * self.budget / self.told["setting"]["step_seconds"][name]))

    def rate(self, name):
        """Return the learning rate that was best on validation."""
        losses = {rate: self.told["rates"][f"{name} {rate:g}"] for rate in TRAINED[name].rates}
        return min(losses, key=losses.get)

    def time(self):
        """Return the CPU seconds of one step of each system."""
        return {name: round(t, 4) for name, t in timed(TRAINED, self.examples).items()}

    def sweep(self, name, rate):
        """Return the validation loss after a share of the budget."""
        steps = self.steps(name, SWEEP)
        return self._fit(TRAINED[name], steps, rate, 0)[1]["validation_loss"]

    def untrained(self, name):
        """Return the results of a system that needs no gradient training."""
        began = _with_children()
        found = {
            test: UNTRAINED[name](self.parts, [pair.source for pair in self.parts[test]])
            for test in TESTS
        }
        if None in found.values():
            print("Apertium with the pair eng-spa is not installed: apt install apertium-eng-spa")
            return None
        told = {"seconds": round(_with_children() - began, 1)}
        return told | self._scores(name, found)

    def trained(self, name, seed):
        """Return the results of a trained system."""
        system = TRAINED[name]
        model, told = self._fit(system, self.steps(name), self.rate(name), seed)
        self.kept.mkdir(parents=True, exist_ok=True)
        with whole_file(self.kept / f"{name}-{seed}.pt") as file:
            torch.save(model.state_dict(), file)
        text = self.text(system.text)
        found = {
            test: translate(system, text, model, [pair.source for pair in self.parts[test]])
            for test in TESTS
        }
        return told | self._scores(f"{name}-{seed}", found)

    def pair(self, one, other, seed):
        """Return the comparison of two systems, or None if a translation file is missing."""
        told = {}
        for test in TESTS:
            files = [self.kept / f"{name}-{seed}.{test}.txt" for name in (one, other)]
            if not all(file.exists() for file in files):
                return None
            texts = [file.read_text(encoding="utf-8").split("\n")[:-1] for file in files]
            told[test] = compared(*texts, self.parts[test], self.groups.of[test])
        return told

    def with_pairs(self, n_pairs):
        """Return the results of a training on fewer pairs in the same time."""
        system = TRAINED["transformer"]
        pairs = tatoeba(n_pairs)["train"]
        examples = [*map(self.text(BytePairs).example, pairs)]
        steps, rate = self.steps("transformer"), self.rate("transformer")
        return self._fit(system, steps, rate, 0, examples, LOOKS)[1]

    def with_size(self, d_model):
        """Return the results of a narrower or wider model in the same time."""
        ours = TRAINED["transformer"]
        config = replace(SIZES, d_model=d_model, d_ff=4 * d_model)
        system = System(ours.rates, partial(Transformer, config), ours.predict, ours.write)
        # The system is timed together with one whose number of steps is known, in case the machine
        # has become slower.
        both = timed({"ours": TRAINED["transformer"], "this": system}, self.examples)
        steps = max(1, int(self.steps("transformer") * both["ours"] / both["this"]))
        rate = self.rate("transformer") * math.sqrt(SIZES.d_model / d_model)
        return self._fit(system, steps, round(rate, 5), 0, looks=LOOKS)[1]

    def _fit(self, system, steps, rate, seed, examples=None, looks=1):
        if examples is None:
            examples = self.examples(system.text)
        return fit(system, examples, self.held_out(system.text), steps, rate, seed, looks)

    def _scores(self, name, found):
        self.kept.mkdir(parents=True, exist_ok=True)
        told = {}
        for test, texts in found.items():
            texts = [" ".join(text.split()) for text in texts]
            file = self.kept / f"{name}.{test}.txt"
            write_whole(file, "".join(f"{text}\n" for text in texts))
            told[test] = scores(texts, self.parts[test], self.groups.of[test])
        return told


def _with_children():
    """Return the CPU seconds of this process and of its finished child processes."""
    return sum(os.times()[:4])


EXPERIMENT = Experiment(
    "Real sentences: which system translates best after the same time of training?",
    RESULTS,
    lambda: Bench().rows(),
    minutes=1500,
    constants=lambda: {"budget": BUDGET},
    publish=translators_tables.set_tables,
)
