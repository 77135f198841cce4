"""A text four times as long as any that a small model was trained on: ways to read it.

The model has rotary positions and is trained on the English prose of the course, `LENGTH` tokens at
a time. Then it reads a chapter that was held out, `FARTHEST` tokens at a time, in several ways.
"""

import hashlib
import itertools
import re
from copy import deepcopy
from pathlib import Path

import numpy as np
import torch

from attn.positions import RotaryPositions
from attn.tokenizer import BytePairTokenizer
from attn.transformer import TransformerConfig
from attn_course.streaming import SinkWindow
from experiments import modern_training as training

SOURCES = Path(__file__).resolve().parents[1] / "notebooks" / "src"
CHAPTERS = (*(f"{page}{n:02}" for n in range(1, 9) for page in ("", "L")), "10", "11")
HELD_OUT = "09"
LENGTH, FARTHEST = 128, 512
EDGES = (0, 64, 128, 192, 256, 384, 512)
VOCAB_SIZE = 1000
STEPS, RATE, SEEDS = 400, 4e-3, (0, 1, 2)
# The steps and the learning rate with which a trained model is fine-tuned on longer texts.
MORE_STEPS, MORE_RATE = 40, 1e-3
N_SINKS = 4
CONFIG = TransformerConfig(
    vocab_size=VOCAB_SIZE,
    d_model=96,
    n_heads=4,
    n_layers=3,
    d_ff=256,
    dropout=0.0,
    norm="pre",
    normalization="rms",
    activation="swiglu",
    bias=False,
    positions="rotary",
)


def prose(chapter):
    """Return the English prose of a chapter of the course, without its code and its tables."""
    (path,) = SOURCES.glob(f"{chapter}_*.md")
    cells = re.findall(
        r'^\+\+\+ \{[^\n]*"lang": "en"[^\n]*\}\n(.*?)(?=^\+\+\+|^```\{code-cell\}|\Z)',
        path.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    text = "\n".join(cells)
    text = re.sub(r"^(```|:::).*?^(```|:::)$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(\||\(|:|<|%).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\n{2,}", "\n", text).strip()


def material():
    """Return the training and the held-out ids, and a digest of both texts."""
    texts = [prose(chapter) for chapter in CHAPTERS]
    asked = prose(HELD_OUT)
    tokenizer = BytePairTokenizer.train(
        [line for text in texts for line in text.splitlines()], VOCAB_SIZE
    )
    digest = hashlib.sha256("\n".join([*texts, asked]).encode()).hexdigest()[:16]
    return training.joined(tokenizer, texts), training.joined(tokenizer, [asked]), digest


def rebased(model, base):
    """Return a copy of a model whose rotary positions have another base."""
    model = training.twin(model)
    for layer in model.stack.layers:
        layer.self_attention.relative = RotaryPositions(base)
    return model


def windowed(model, n_sinks, window=LENGTH):
    """Return a copy of a model that attends only to the last tokens and the first ones."""
    model = training.twin(model)
    base = model.config.rotary_base
    for layer in model.stack.layers:
        layer.self_attention.attention = SinkWindow(window - n_sinks, n_sinks, base)
    return model


class Interpolated(torch.nn.Module):
    """A model whose positions are scaled down to the range of its training."""

    def __init__(self, model, factor):
        super().__init__()
        self.model, self.factor = model, factor

    def forward(self, ids):
        """Return the model's output for these ids."""
        return self.model(ids, positions=torch.arange(ids.shape[-1]) / self.factor)


def perplexities_of(model, ids, edges=EDGES, n_windows=None):
    """Return the perplexity of the tokens between each two edges, within windows of a text."""
    model.eval()
    losses = training.losses_by_place(lambda rows: model(rows)[0], ids, edges[-1], n_windows)
    means = (losses[low:high].mean() for low, high in itertools.pairwise(edges))
    return [round(float(np.exp(mean)), 2) for mean in means]


def accustomed(model, text, seed, length=FARTHEST):
    """Return a model after a few more steps on windows of this length."""
    run = training.begun(None, MORE_RATE, MORE_STEPS, seed, deepcopy(model))
    return training.go(run, training.Windows(text, length, seed + 100))


def ways(model, text, seed):
    """Yield the name of each way to read longer texts, with a model that uses it."""
    factor, d_k = FARTHEST / LENGTH, CONFIG.d_model // CONFIG.n_heads
    yield "as_trained", model
    yield "interpolated", Interpolated(model, factor)
    # The lowest frequency becomes as low as with interpolation, and the highest does not change.
    yield "rebased", rebased(model, CONFIG.rotary_base * factor ** (d_k / (d_k - 2)))
    yield "window", windowed(model, 0)
    yield "window_and_sinks", windowed(model, N_SINKS)
    # The control: as many steps and tokens, but windows no longer than before.
    yield "more_short_steps", accustomed(model, text, seed, LENGTH)
    yield "more_steps", accustomed(model, text, seed)
    yield "interpolated_and_more_steps", accustomed(Interpolated(model, factor), text, seed)


def begun(text, seed):
    """Return a training that has not begun, and its batches."""
    return training.begun(CONFIG, RATE, STEPS, seed), training.Windows(text, LENGTH, seed)


def measure(told, keep):
    """Train a model for each seed that has no result, and test it in every way."""
    text, asked, digest = material()
    told.setdefault(
        "setting",
        {
            "length": LENGTH,
            "farthest": FARTHEST,
            "edges": EDGES,
            "steps": STEPS,
            "more_steps": MORE_STEPS,
            "sinks": N_SINKS,
            "tokens_of_training": len(text),
            "tokens_held_out": len(asked) // FARTHEST * FARTHEST,
            "digest": digest,
            "parameters": sum(p.numel() for p in training.begun(CONFIG, RATE, 1, 0).parameters),
        },
    )
    rows = told.setdefault("rows", [])
    told.setdefault("first_losses", [])
    for seed in SEEDS[len(told["first_losses"]) :]:
        run, batches = begun(text, seed)
        model = training.go(run, batches)
        for name, way in ways(model, text, seed):
            if name not in [row["id"] for row in rows]:
                rows.append({"id": name, "seeds": []})
            (row,) = (row for row in rows if row["id"] == name)
            row["seeds"].append(perplexities_of(way, asked))
        told["first_losses"].append(training.first_losses(run))
        keep(told)
