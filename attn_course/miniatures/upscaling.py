"""Super-resolution: attention to neighbouring pixels as an adaptive interpolation."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from attn.attention import scaled_dot_product_attention
from attn_course.miniatures.pictures import KINDS, draw
from attn_course.miniatures.training import fit

# A pixel attends to those up to this distance, 5 by 5 of them.
REACH = 2


def pairs(n, seed):
    """Draw pictures of three shapes, and the same at half the size.

    Parameters
    ----------
    n, seed : int

    Returns
    -------
    small : Tensor, shape (n, 12, 12)
        Each pixel is the mean of four of the large picture.
    large : Tensor, shape (n, 24, 24)
    """
    rng = np.random.default_rng(seed)
    kind = rng.integers(len(KINDS), size=(n, 3))
    x, y = rng.uniform(2, 22, size=(2, n, 3))
    large = torch.tensor(draw(kind, x, y, rng.uniform(2.5, 6, size=(n, 3)))).float()
    return F.avg_pool2d(large[:, None], 2)[:, 0], large


def neighbours(small):
    """Return the neighbours of each pixel; the border pixels are repeated outside.

    Parameters
    ----------
    small : Tensor, shape (n, height, width)

    Returns
    -------
    Tensor, shape (n, height * width, (2 * REACH + 1)**2)
    """
    padded = F.pad(small[:, None], (REACH,) * 4, mode="replicate")
    return F.unfold(padded, 2 * REACH + 1).transpose(1, 2)


def assembled(pixels, size):
    """Return the large pictures, shape (n, 2 size, 2 size), from the four pixels of each."""
    four = pixels.transpose(1, 2).reshape(-1, 4, size, size)
    return F.pixel_shuffle(four, 2)[:, 0]


class Upscaler(nn.Module):
    """Four queries for each small pixel attend to its neighbours, whose greys are the values.

    Parameters
    ----------
    looks : bool, default True
        Whether the queries depend on the neighbours of the pixel. Otherwise they are learned
        and the same everywhere, and the weights only depend on the keys.
    n_heads, d_k : int
    """

    def __init__(self, looks=True, n_heads=4, d_k=4):
        super().__init__()
        self.looks, self.n_heads, self.d_k = looks, n_heads, d_k
        n_around = (2 * REACH + 1) ** 2
        n_numbers = 4 * n_heads * d_k
        self.queries = nn.Sequential(nn.Linear(n_around, 48), nn.ReLU(), nn.Linear(48, n_numbers))
        self.constant = nn.Parameter(torch.randn(n_numbers))
        self.offset = nn.Parameter(torch.randn(n_heads, n_around, d_k))
        self.grey = nn.Parameter(torch.randn(n_heads, 1, d_k))
        self.mix = nn.Parameter(torch.full((n_heads, 1, 1), 1.0 / n_heads))

    def forward(self, small, need_weights=False):
        """Return the large pictures, and the weights, (n, n_pixels, n_heads, 4, 25), if asked for."""
        around = neighbours(small)
        asked = self.queries(around) if self.looks else self.constant.expand(*around.shape[:2], -1)
        query = asked.unflatten(-1, (self.n_heads, 4, self.d_k))
        value = around[:, :, None, :, None]
        key = self.offset + (value * self.grey if self.looks else 0 * value)
        value = value.expand(-1, -1, self.n_heads, -1, -1)
        found, weights = scaled_dot_product_attention(query, key, value, need_weights=need_weights)
        pixels = (self.mix * found).sum(dim=2)[..., 0]
        return assembled(pixels, small.shape[-1]), weights


def fixed(small, large):
    """Return the best fixed interpolation: a kernel for each of the four pixels.

    Parameters
    ----------
    small, large : Tensor
        Pictures to fit it to, by least squares.

    Returns
    -------
    Tensor, shape (25, 4)
    """
    four = F.pixel_unshuffle(large[:, None], 2).flatten(2).transpose(1, 2)
    return torch.linalg.lstsq(neighbours(small).flatten(0, 1), four.flatten(0, 1)).solution


def trained(looks, seed, steps=600, n=1500):
    """Return an `Upscaler` trained on `n` pairs of pictures."""
    torch.manual_seed(seed)
    loss = lambda model, small, large: F.mse_loss(model(small)[0], large)
    return fit(Upscaler(looks), loss, pairs(n, seed), steps, seed, rate=1e-2, batch_size=16)


def psnr(found, large):
    """Return the ratio of signal to noise, in decibels, of greys from 0 to 1."""
    return -10 * torch.log10(F.mse_loss(found.clamp(0, 1), large)).item()


def ways(kernel, small):
    """Return the large pictures of the fixed interpolations, by name."""
    bigger = {
        name: F.interpolate(small[:, None], scale_factor=2, mode=name)[:, 0]
        for name in ("nearest", "bilinear", "bicubic")
    }
    return bigger | {"fixed": assembled(neighbours(small) @ kernel, small.shape[-1])}
