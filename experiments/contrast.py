"""Do the swaps in its batches teach a contrastive model which colour goes with which shape?

Writes ``notebooks/data/contrast.json``, which chapter 11 prints. The chapter's two encoders are
trained twice: on whole batches, and without the texts that swap an image's colours in the
denominators. Both are tested on telling each text from its swap.
"""

from functools import cache, partial

import numpy as np
import torch
from torch import nn

from attn.applications.visual_question.model import PatchEmbedding
from attn.tokenizer import WordTokenizer
from attn.training import TrainingConfig, cross_entropy, train
from attn.transformer import Encoder, EncoderOnly, TransformerConfig
from attn_course.images import Thing, draw
from attn_course.images.scenes import COLOURS, SHAPES
from experiments.runner import DATA, Experiment, Row

KINDS = [(colour, shape) for shape in SHAPES for colour in COLOURS]
KEPT_OUT = [("red", "star"), ("blue", "tree"), ("green", "ball"), ("purple", "box")]
CAPTIONS = WordTokenizer.train(["and a", *(f"{colour} {shape}" for colour, shape in KINDS)])
SEEDS = (0, 1)
RESULTS = DATA / "contrast.json"


class TwoTowers(nn.Module):
    """An encoder of images and one of texts, whose vectors are compared by cosine."""

    def __init__(self, config):
        super().__init__()
        self.patches, self.image_encoder = PatchEmbedding(config), Encoder(config)
        self.text_encoder = EncoderOnly(config)
        self.log_scale = nn.Parameter(torch.tensor(1 / 0.07).log())

    def image_vectors(self, images):
        """Return one vector of length 1 per image."""
        x, _ = self.image_encoder(self.patches(images))
        return nn.functional.normalize(x.mean(dim=-2), dim=-1)

    def text_vectors(self, ids):
        """Return one vector of length 1 per text."""
        x, _ = self.text_encoder.encode(ids)
        return nn.functional.normalize(x.mean(dim=-2), dim=-1)

    def forward(self, images, ids):
        """Return the logits, shape (n_images, n_texts)."""
        return self.log_scale.exp() * self.image_vectors(images) @ self.text_vectors(ids).T


def scene(rng):
    """Draw two things of different colour and shape, of the kinds in the training scenes."""
    some = [kind for kind in KINDS if kind not in KEPT_OUT]
    distinct = False
    while not distinct:
        chosen = [some[i] for i in rng.choice(len(some), 2, replace=False)]
        distinct = all(len(set(values)) == 2 for values in zip(*chosen, strict=True))
    places = rng.choice(36, 2, replace=False).tolist()
    things = [
        Thing(shape, colour, *divmod(place, 6))
        for (colour, shape), place in zip(chosen, places, strict=True)
    ]
    return draw(things, rng), chosen


def swap(things):
    """Exchange the colours of two things."""
    a, b = things
    return [(b[0], a[1]), (a[0], b[1])]


def encode(things):
    """Return the ids of the text that names two things in this order."""
    return CAPTIONS.encode(" and ".join(f"a {colour} {shape}" for colour, shape in things))


def collate(some):
    """Return images, texts, and a mask: where text j is image i's with swapped colours."""
    images, things = zip(*some, strict=True)
    swaps = [[set(swap(one)) == set(other) for other in things] for one in things]
    ids = torch.tensor([encode(pair) for pair in things])
    return torch.tensor(np.stack(images)), ids, torch.tensor(swaps)


def loss(model, batch, *, with_swaps):
    """Return the contrastive loss, from image to text and from text to image."""
    images, ids, swaps = batch
    logits, partner = model(images, ids), torch.arange(len(ids))
    if not with_swaps:
        logits = logits.masked_fill(swaps, -1e4)
    (rows, n), (columns, _) = (cross_entropy(z, partner) for z in (logits, logits.T))
    return (rows + columns) / 2, n


@torch.no_grad()
def tells_apart(model, scenes):
    """Return the share of images nearer to their text than to its swap."""
    images, right, _ = collate(scenes)
    wrong = torch.tensor([encode(swap(things)) for _, things in scenes])
    seen = model.image_vectors(images)
    cosines = [(seen * model.text_vectors(ids)).sum(dim=-1) for ids in (right, wrong)]
    return (cosines[0] > cosines[1]).float().mean().item()


def make_model(seed):
    """Return a new model of the chapter's size."""
    torch.manual_seed(seed)
    config = TransformerConfig(
        vocab_size=CAPTIONS.vocab_size,
        d_model=64,
        n_heads=4,
        n_layers=1,
        d_ff=128,
        dropout=0.0,
        norm="pre",
        positions="sinusoidal",
    )
    return TwoTowers(config)


@cache
def trained(seed, with_swaps):
    """Return the measurements after 60 steps and after 300."""
    rng = np.random.default_rng(0)
    scenes, held_out = ([scene(rng) for _ in range(n)] for n in (2000, 300))
    rows, model = [], make_model(seed)
    for total, steps in ((60, 60), (300, 240)):
        config = TrainingConfig(
            steps=steps,
            learning_rate=3e-3,
            warmup_steps=20,
            label_smoothing=0.0,
            seed=total + 1000 * seed,
        )
        train(model, partial(loss, with_swaps=with_swaps), scenes, collate, config)
        row = {"seed": seed, "with_swaps": with_swaps, "steps": total}
        rows.append(row | {"swap": round(tells_apart(model, held_out), 3)})
    return rows


def rows():
    """Return what is measured: with and without swaps, after 60 and after 300 steps."""
    return {
        f"{'with' if with_swaps else 'without'} swaps, {steps} steps, seed {seed}": Row(
            lambda key=(seed, with_swaps), at=at: trained(*key)[at],
            ({"seed": seed, "with_swaps": with_swaps, "steps": steps},),
        )
        for seed in SEEDS
        for with_swaps in (True, False)
        for at, steps in enumerate((60, 300))
    }


EXPERIMENT = Experiment(
    "What teaches a contrastive model which colour goes with which shape?",
    RESULTS,
    rows,
    minutes=10,
    constants=list,
)
