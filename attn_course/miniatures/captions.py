"""A picture of shapes in a line, and the words that tell them: an encoder and a decoder."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from attn.layers import DecoderLayer, EncoderLayer
from attn_course.miniatures.pictures import KINDS, draw, patches
from attn_course.miniatures.training import fit

PAD, START, END, ABOVE, LEFT_OF = range(5)
# The id of the word for the first of `KINDS`.
FIRST_KIND = 5
LONGEST = 7
# The side of a patch in pixels.
SIDE = 6
SEES = ("patches", "one vector")
# No training picture has a cross after a circle.
NEVER = (0, 3)


def pictures(n, seed, never=NEVER):
    """Draw one, two or three shapes in a row or in a column, and tell them.

    Parameters
    ----------
    n, seed : int
    never : tuple of int, or None
        Two kinds that never follow one another; None for pictures in which they always do.

    Returns
    -------
    picture : Tensor, shape (n, 24, 24)
    caption : Tensor of int64, shape (n, LONGEST)
        `START`, the kinds with what is between them, `END`, and `PAD`.
    """
    rng = np.random.default_rng(seed)
    number = rng.integers(1, 4, size=n)
    kind = rng.integers(len(KINDS), size=(n, 3))
    if never is None:
        number = np.maximum(number, 2)
        kind[:, :2] = NEVER
    else:
        for i in (0, 1):
            same = (kind[:, i] == never[0]) & (kind[:, i + 1] == never[1])
            kind[same, i + 1] = 1
    down = rng.random(n) < 0.5
    along = np.sort(rng.permuted(np.tile([4.5, 12.0, 19.5], (n, 1)), axis=1)[:, :3], axis=1)
    skipped = rng.integers(3, size=n)
    # Fewer than three shapes leave places empty.
    for row in range(n):
        if number[row] == 2:
            along[row, :2] = np.delete(along[row], skipped[row])
        elif number[row] == 1:
            along[row, 0] = along[row, skipped[row]]
    along = along + rng.uniform(-1, 1, size=along.shape)
    across = rng.choice([4.5, 12.0, 19.5], size=(n, 1)) + rng.uniform(-1, 1, size=(n, 3))
    x, y = np.where(down[:, None], across, along), np.where(down[:, None], along, across)
    shown = np.where(np.arange(3) < number[:, None], kind, -1)
    drawn = draw(shown, x, y, rng.uniform(2.4, 3.4, size=(n, 3)))
    caption = np.full((n, LONGEST), PAD)
    caption[:, 0] = START
    for row in range(n):
        between = ABOVE if down[row] else LEFT_OF
        words = [w for k in kind[row, : number[row]] for w in (between, FIRST_KIND + k)][1:]
        caption[row, 1 : len(words) + 2] = [*words, END]
    return torch.tensor(drawn, dtype=torch.float32), torch.tensor(caption)


class Captioner(nn.Module):
    """An encoder of patches, and a decoder that writes what they show.

    Parameters
    ----------
    sees : one of `SEES`
        What the decoder may attend to: all the patches, or their mean alone.
    d_model : int
    """

    def __init__(self, sees="patches", d_model=32):
        super().__init__()
        self.sees = sees
        self.embedding = nn.Linear(SIDE**2, d_model)
        self.place = nn.Parameter(0.1 * torch.randn((24 // SIDE) ** 2, d_model))
        self.words = nn.Embedding(FIRST_KIND + len(KINDS), d_model)
        self.order = nn.Parameter(0.1 * torch.randn(LONGEST, d_model))
        sizes = {"d_model": d_model, "n_heads": 4, "d_ff": 2 * d_model, "norm": "pre"}
        self.encoder, self.decoder = EncoderLayer(**sizes), DecoderLayer(**sizes)
        self.output = nn.Linear(d_model, FIRST_KIND + len(KINDS))

    def memory(self, picture):
        """Return the keys and values of the decoder, shape (n, src_len, d_model)."""
        memory, _ = self.encoder(self.embedding(patches(picture, SIDE)) + self.place)
        if self.sees == "patches":
            return memory
        return memory.mean(dim=1, keepdim=True)

    def forward(self, picture, read, need_weights=False):
        """Return the logits of the next words, and who looked where, if asked for."""
        x = self.words(read) + self.order[: read.shape[1]]
        x, weights = self.decoder(
            x, self.memory(picture), is_causal=True, need_weights=need_weights
        )
        return self.output(x), weights


@torch.no_grad()
def write(model, picture):
    """Return the captions that a model writes, always with its first choice."""
    read = torch.full((len(picture), 1), START)
    for _ in range(LONGEST - 1):
        read = torch.cat([read, model(picture, read)[0][:, -1:].argmax(dim=-1)], dim=1)
    ended = (read == END).cumsum(dim=1) - (read == END).long() > 0
    return read.masked_fill(ended, PAD)


def trained(sees, seed, steps=1000, n=4000):
    """Return a `Captioner` trained on `n` pictures."""
    torch.manual_seed(seed)

    def loss(model, picture, caption):
        logits = model(picture, caption[:, :-1])[0]
        return F.cross_entropy(logits.flatten(0, 1), caption[:, 1:].flatten(), ignore_index=PAD)

    return fit(Captioner(sees), loss, pictures(n, seed), steps, seed, rate=5e-3)


def right(model, picture, caption):
    """Return the share of pictures whose caption is written exactly."""
    return (write(model, picture) == caption).all(dim=1).double().mean().item()
