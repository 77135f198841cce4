"""Detection of shapes with learned queries, as in DETR."""

import itertools

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from attn.layers import DecoderLayer, EncoderLayer
from attn_course.miniatures.pictures import draw, patches
from attn_course.miniatures.training import fit

# The kinds are circles, squares and triangles; the class after them means no shape.
N_KINDS, NONE = 3, 3
# There are more queries than shapes in a picture.
N_QUERIES, MOST = 5, 3
# The sides of a picture and of a patch in pixels.
SIZE, SIDE = 24, 6
# All ordered choices of three of the five queries, one for each shape.
_CHOICES = torch.tensor(list(itertools.permutations(range(N_QUERIES), MOST)))


def pictures(n, seed):
    """Draw one, two or three shapes that do not touch.

    Parameters
    ----------
    n, seed : int

    Returns
    -------
    picture : Tensor, shape (n, SIZE, SIZE)
    kind : Tensor of int64, shape (n, MOST)
        `NONE` where there is no more shape.
    box : Tensor, shape (n, MOST, 3)
        The middle and half the side of the square around each shape; the picture has side 1.
    """
    rng = np.random.default_rng(seed)
    number = rng.integers(1, MOST + 1, size=n)
    radius = rng.uniform(2.2, 4, size=(n, MOST))
    x, y = rng.uniform(radius, SIZE - radius, size=(2, n, MOST))
    while len(again := np.flatnonzero(_touch(x, y, radius))):
        x[again], y[again] = rng.uniform(radius[again], SIZE - radius[again], (2, len(again), MOST))
    shown = np.arange(MOST) < number[:, None]
    kind = np.where(shown, rng.integers(N_KINDS, size=(n, MOST)), NONE)
    picture = draw(np.where(shown, kind, -1), x, y, radius)
    box = np.stack([x, y, radius], axis=-1) / SIZE
    return torch.tensor(picture).float(), torch.tensor(kind), torch.tensor(box).float()


def _touch(x, y, radius):
    pairs = itertools.combinations(range(MOST), 2)
    near = [
        np.maximum(abs(x[:, i] - x[:, j]), abs(y[:, i] - y[:, j]))
        < radius[:, i] + radius[:, j] + 0.5
        for i, j in pairs
    ]
    return np.any(near, axis=0)


class Detector(nn.Module):
    """An encoder of patches, and queries that each answer with a kind and a box.

    Parameters
    ----------
    talk : bool, default True
        Whether the queries attend to each other, so that no two need to answer with one shape.
    d_model : int
    """

    def __init__(self, talk=True, d_model=32):
        super().__init__()
        self.talk = talk
        self.embedding = nn.Linear(SIDE**2, d_model)
        self.place = nn.Parameter(0.3 * torch.randn((SIZE // SIDE) ** 2, d_model))
        self.queries = nn.Parameter(torch.randn(N_QUERIES, d_model))
        sizes = {"d_model": d_model, "n_heads": 4, "d_ff": 2 * d_model, "norm": "pre"}
        self.encoder = EncoderLayer(**sizes)
        self.decoder = nn.ModuleList(DecoderLayer(**sizes) for _ in range(2))
        self.kind = nn.Linear(d_model, N_KINDS + 1)
        self.box = nn.Sequential(nn.Linear(d_model, d_model), nn.ReLU(), nn.Linear(d_model, 3))

    def forward(self, picture, need_weights=False):
        """Return the logits of kinds, the boxes and, if asked for, the attention weights."""
        memory, _ = self.encoder(self.embedding(patches(picture, SIDE)) + self.place)
        x = self.queries.expand(len(picture), -1, -1)
        mask = None if self.talk else torch.eye(N_QUERIES, dtype=torch.bool)
        for layer in self.decoder:
            x, weights = layer(x, memory, mask, need_weights=need_weights)
        return self.kind(x), self.box(x).sigmoid(), weights


@torch.no_grad()
def matched(logits, boxes, kind, box):
    """Return for each picture the query matched to each of its shapes.

    The match is the cheapest assignment of different queries to the shapes.

    Returns
    -------
    Tensor of int64, shape (n, MOST)
    """
    probability = logits.softmax(dim=-1).gather(2, kind[:, None].expand(-1, N_QUERIES, -1))
    # The cost has shape (n, N_QUERIES, MOST).
    cost = 5 * torch.cdist(boxes, box, p=1) - probability
    cost = cost * (kind != NONE)[:, None]
    total = cost[:, _CHOICES, torch.arange(MOST)].sum(dim=-1)
    return _CHOICES[total.argmin(dim=1)]


def loss(model, picture, kind, box):
    """Return the loss of kinds and boxes, each shape compared with its matched query."""
    logits, boxes, _ = model(picture)
    chosen, rows = matched(logits, boxes, kind, box), torch.arange(len(kind))[:, None]
    wanted = torch.full(logits.shape[:2], NONE)
    wanted[rows, chosen] = kind
    kind_loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten())
    box_loss = (boxes[rows, chosen] - box).abs().sum(dim=-1)[kind != NONE].mean()
    return kind_loss + 5 * box_loss


def overlap(a, b):
    """Return the intersection over the union of square boxes, which broadcast."""
    low = torch.maximum(a[..., :2] - a[..., 2:], b[..., :2] - b[..., 2:])
    high = torch.minimum(a[..., :2] + a[..., 2:], b[..., :2] + b[..., 2:])
    shared = (high - low).clamp(min=0).prod(dim=-1)
    return shared / (4 * a[..., 2] ** 2 + 4 * b[..., 2] ** 2 - shared)


def trained(talk, seed, steps=1000, n=3000):
    """Return a `Detector` trained on `n` pictures."""
    torch.manual_seed(seed)
    return fit(Detector(talk), loss, pictures(n, seed), steps, seed, rate=5e-3)


@torch.no_grad()
def counted(answers, kind, box):
    """Score answers; one finds a shape if its kind is right and the overlap is at least half.

    Parameters
    ----------
    answers : tuple of Tensor
        Kinds, shape (n, n_answers), and boxes, shape (n, n_answers, 3).
    kind, box : Tensor
        As `pictures` gives them.

    Returns
    -------
    dict of str to float
        ``found``, the share of shapes that are found; ``true``, the share of answers that are
        the first to find a shape; ``twice``, the share of answers that find a shape again; and
        ``whole``, the share of pictures with all shapes found and no other answer.
    """
    said, boxes = answers
    hits = (said[:, :, None] == kind[:, None]) & (said != NONE)[:, :, None]
    hits &= overlap(boxes[:, :, None], box[:, None]) >= 0.5
    is_shape, is_answer = kind != NONE, said != NONE
    found = hits.any(dim=1) & is_shape
    first = (hits & (hits.cumsum(dim=1) == 1)).any(dim=2)
    twice = hits.any(dim=2) & ~first
    whole = (found == is_shape).all(dim=1) & (first == is_answer).all(dim=1)
    share = lambda part, of: (part.sum() / of.sum().clamp(min=1)).item()
    return {
        "found": share(found, is_shape),
        "true": share(first, is_answer),
        "twice": share(twice, is_answer),
        "whole": whole.double().mean().item(),
    }


@torch.no_grad()
def answers(model, picture):
    """Return the kinds and boxes that the queries of a model answer."""
    logits, boxes, _ = model(picture)
    return logits.argmax(dim=-1), boxes


def grouped(picture):
    """Return the kinds and boxes found without a model: by white pixels that touch.

    A group is called a circle, a square or a triangle by how much of its box is white.

    Parameters
    ----------
    picture : Tensor, shape (n, SIZE, SIZE)

    Returns
    -------
    kinds : Tensor of int64, shape (n, MOST)
    boxes : Tensor, shape (n, MOST, 3)
    """
    lit = picture > 0.4
    label = torch.arange(1.0, SIZE**2 + 1).view(1, SIZE, SIZE) * lit
    # The largest label spreads over each connected group of pixels.
    for _ in range(2 * SIZE):
        label = F.max_pool2d(label[:, None], 3, 1, 1)[:, 0] * lit
    kinds, boxes = torch.full((len(picture), MOST), NONE), torch.zeros(len(picture), MOST, 3)
    for i, each in enumerate(label):
        for j, number in enumerate(each[each > 0].unique()[:MOST]):
            down, across = (each == number).nonzero(as_tuple=True)
            ends = [(at.min(), at.max() + 1) for at in (across, down)]
            (left, right), (top, bottom) = ends
            radius = (right - left + bottom - top) / 4
            white = picture[i, top:bottom, left:right].sum() / (2 * radius) ** 2
            kinds[i, j] = int(abs(white - torch.tensor([0.785, 1.0, 0.5])).argmin())
            middle = (left + right) / 2, (top + bottom) / 2
            boxes[i, j] = torch.stack([*middle, radius]) / SIZE
    return kinds, boxes
