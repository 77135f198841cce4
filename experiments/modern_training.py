"""A small language model: its training text, its training and its evaluation.

`experiments.modern_changes`, `experiments.modern_context` and `experiments.modern_speculative` use
it.
"""

from copy import deepcopy
from functools import partial

import numpy as np
import torch
from torch.nn import functional as F

from attn import checks
from attn.corpus import tatoeba
from attn.tokenizer import BytePairTokenizer
from attn.tokenizer.base import Tokenizer
from attn.training import TrainingConfig
from attn.training.processes import join
from attn.training.run import Run
from attn.transformer import DecoderOnly
from experiments.translators import loss

VOCAB_SIZE = 2000
# The number of sentences from which the vocabulary is learned.
N_VOCABULARY = 20_000
# The number of tokens of a step.
TOKENS = 1024
# A test compares this number of first losses with the recorded run.
N_FIRST = 3


def sentences():
    """Return a tokenizer, and English training and held-out sentences, as rows of ids.

    The sentences of each part are in random order, each with its end token and without repetitions.
    """
    parts, found = tatoeba(), {}
    parts["held out"] = [*parts["validation"], *parts["clusters"], *parts["plain"]]
    for name in ("train", "held out"):
        texts = list(dict.fromkeys(pair.source for pair in parts[name]))
        order = np.random.default_rng(0).permutation(len(texts))
        found[name] = [texts[place] for place in order]
    tokenizer = BytePairTokenizer.train(found["train"][:N_VOCABULARY], VOCAB_SIZE)
    return tokenizer, *(joined(tokenizer, texts) for texts in found.values())


def joined(tokenizer, texts):
    """Return the ids of texts in a row, each with its end token, shape (n_ids,)."""
    return torch.tensor([i for text in texts for i in (*tokenizer.encode(text), Tokenizer.eos_id)])


class Windows:
    """Batches of windows at random positions of a text: `TOKENS` tokens in all.

    Parameters
    ----------
    ids : Tensor of int64, shape (n_ids,)
    length : int
    seed : int
    """

    def __init__(self, ids, length, seed):
        self.ids, self.length, self.seed = ids, length, seed

    def share(self, step, rank=0, n_processes=1):
        """Return the windows of a step: each is one token longer than the input."""
        rng = np.random.default_rng((self.seed, step))
        firsts = rng.integers(len(self.ids) - self.length, size=TOKENS // self.length)
        return (torch.stack([self.ids[first : first + self.length + 1] for first in firsts]),)


def predict_next(model, batch):
    """Return the logits at every position, and the next tokens."""
    (ids,) = batch
    return model(ids[:, :-1])[0], ids[:, 1:]


def begun(config, rate, steps, seed, model=None):
    """Return a training, of a new model if none is given, that has not begun."""
    torch.manual_seed(seed)
    training = TrainingConfig(
        steps=steps,
        learning_rate=rate,
        warmup_steps=max(1, steps // 5),
        decayed="matrices",
        label_smoothing=0.0,
        seed=seed,
        device="cpu",
    )
    model = DecoderOnly(config) if model is None else model
    return Run(model, partial(loss, predict=predict_next), training, join("cpu"))


def go(run, batches, steps=None):
    """Take all steps of a training, or the first ones; return its model in evaluation mode."""
    run.model.train()
    with checks(False):
        while run.step < (steps or run.config.steps):
            run.update(batches)
    return run.model.eval()


def first_losses(run):
    """Return the losses of the first batches."""
    return [round(loss, 3) for loss in run.history.losses[:N_FIRST]]


def twin(model):
    """Return a copy of a model that shares its weights."""
    return deepcopy(model, {id(p): p for p in model.parameters()})


@torch.no_grad()
def losses_by_place(score, ids, length, n_windows=None):
    """Return the mean loss of the tokens at each position of windows of a text.

    Parameters
    ----------
    score : callable
        From ids of shape (n_rows, length) to the logits of the next token at each position.
    ids : Tensor of int64, shape (n_ids,)
    length : int
        Of the windows, which follow one another.
    n_windows : int, optional
        The number of windows, from the first; all of them if None.

    Returns
    -------
    array, shape (length,)
    """
    n = (len(ids) - 1) // length
    n = n if n_windows is None else min(n, n_windows)
    totals, at_once = torch.zeros(length, dtype=torch.float64), max(1, 4096 // length)
    for first in range(0, n, at_once):
        some = range(first, min(first + at_once, n))
        rows = torch.stack([ids[i * length : (i + 1) * length + 1] for i in some])
        logits = score(rows[:, :-1])
        totals += F.cross_entropy(logits.mT, rows[:, 1:], reduction="none").double().sum(dim=0)
    return (totals / n).numpy()
