"""The direction of a moving shape, with attention in space and in time."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from attn.layers import EncoderLayer
from attn_course.miniatures.pictures import KINDS, draw, patches
from attn_course.miniatures.training import fit

SIZE, N_FRAMES, SPEED = 12, 4, 4
# The directions right, down, left and up.
WAYS = ((1, 0), (0, 1), (-1, 0), (0, -1))
LOOKS = ("space", "time", "space and time")


def videos(n, seed):
    """Draw videos of a moving shape, which leaves on one side and comes back on the other.

    From frame to frame it moves by one patch and is never in two patches. So neither a single
    frame nor a single place shows its direction.

    Parameters
    ----------
    n, seed : int

    Returns
    -------
    frames : Tensor, shape (n, N_FRAMES, SIZE, SIZE)
    way : Tensor of int64, shape (n,)
        A place in `WAYS`.
    """
    rng = np.random.default_rng(seed)
    way = rng.integers(len(WAYS), size=n)
    start = 4 * rng.integers(SIZE // 4, size=(n, 1, 2)) + rng.uniform(1.5, 2.5, size=(n, 1, 2))
    at = start + SPEED * np.arange(N_FRAMES)[:, None] * np.array(WAYS)[way][:, None]
    kind = np.repeat(rng.integers(len(KINDS), size=n), N_FRAMES)[:, None]
    x, y = at.reshape(-1, 2, 1).swapaxes(0, 1)
    frames = draw(kind, x, y, np.full(x.shape, 1.4), SIZE, wraps=True)
    return torch.tensor(frames.reshape(n, N_FRAMES, SIZE, SIZE)).float(), torch.tensor(way)


class Watcher(nn.Module):
    """A model that predicts the direction of a moving shape.

    Parameters
    ----------
    looks : one of `LOOKS`
        Where a patch looks: at its own frame, at its own place in all frames, or at its own place
        first and then at its own frame.
    d_model : int
    n_layers : int
    """

    def __init__(self, looks, d_model=32, n_layers=4):
        super().__init__()
        self.looks = looks
        self.embedding = nn.Linear(16, d_model)
        self.place = nn.Parameter(0.3 * torch.randn((SIZE // 4) ** 2, d_model))
        self.moment = nn.Parameter(0.3 * torch.randn(N_FRAMES, 1, d_model))
        sizes = {"d_model": d_model, "n_heads": 4, "d_ff": 2 * d_model, "norm": "pre"}
        self.layers = nn.ModuleList(EncoderLayer(**sizes) for _ in range(n_layers))
        self.output = nn.Linear(d_model, len(WAYS))

    def forward(self, frames):
        """Return the logits of the ways, shape (n, len(WAYS)), for frames as `videos` makes them."""
        # The tokens have shape (n, frame, patch, d_model).
        x = self.embedding(patches(frames)) + self.place + self.moment
        for i, layer in enumerate(self.layers):
            if self.looks == "time" or (self.looks == "space and time" and i % 2 == 0):
                x = layer(x.transpose(1, 2))[0].transpose(1, 2)
            else:
                x = layer(x)[0]
        return self.output(x.mean(dim=(1, 2)))


def trained(looks, seed, steps=400, n=3000):
    """Return a `Watcher` trained on `n` videos."""
    torch.manual_seed(seed)
    loss = lambda model, frames, way: F.cross_entropy(model(frames), way)
    return fit(Watcher(looks), loss, videos(n, seed), steps, seed, rate=3e-3)


@torch.no_grad()
def right(model, frames, way):
    """Return the share of videos whose direction the model predicts right."""
    return (model(frames).argmax(dim=-1) == way).double().mean().item()
