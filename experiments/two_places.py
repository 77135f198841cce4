"""One layer that fetches two things at once: one or two heads, a ReLU readout, wider heads.

Writes ``notebooks/data/two_places.json``, which the laboratory page of chapter 04 shows. The task,
the training and the measure are those of `experiments.heads`. Here every setting starts from the
same seeds, so that two settings are compared seed by seed; and 32 heads get wider queries and keys,
or wider values, to show which of the two limits them.
"""

import torch
from torch import nn

from attn.attention import ScaledDotProduct
from experiments.heads import D_MODEL, HIDDEN, N_HEADS, STEPS, TwoPlaces, fit, rounded
from experiments.runner import DATA, Experiment, Row

RESULTS = DATA / "two_places.json"
SEEDS, NARROW, WIDE = 6, 1, 8
# The number of heads, the width of queries and keys, the width of values, and the readout's hidden
# units.
SETTINGS = {
    "one head": (1, D_MODEL, D_MODEL, 0),
    "one head, hidden layer": (1, D_MODEL, D_MODEL, HIDDEN),
    "two heads": (2, D_MODEL // 2, D_MODEL // 2, 0),
    "narrow": (N_HEADS[-1], NARROW, NARROW, 0),
    "wide queries and keys": (N_HEADS[-1], WIDE, NARROW, 0),
    "wide values": (N_HEADS[-1], NARROW, WIDE, 0),
}


class Widths(nn.Module):
    """Multi-head attention with free d_k and d_v, and the interface of `MultiHeadAttention`."""

    def __init__(self, n_heads, d_k, d_v):
        super().__init__()
        self.n_heads, self.core = n_heads, ScaledDotProduct()
        self.q_proj, self.k_proj = (nn.Linear(D_MODEL, n_heads * d_k) for _ in range(2))
        self.v_proj = nn.Linear(D_MODEL, n_heads * d_v)
        self.out_proj = nn.Linear(n_heads * d_v, D_MODEL)

    def forward(self, query, x, need_weights=False):
        """Return the output, of shape (batch_size, tgt_len, d_model), and the weights if needed."""
        query, key, value = (
            projected.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for projected in (self.q_proj(query), self.k_proj(x), self.v_proj(x))
        )
        output, weights = self.core(query, key, value, need_weights=need_weights)
        return self.out_proj(output.transpose(1, 2).flatten(-2)), weights


def right(setting, seed, steps=STEPS):
    """Train a layer; return how often its first, its second and both answers are right."""
    n_heads, d_k, d_v, hidden = SETTINGS[setting]
    torch.manual_seed(seed)
    model = TwoPlaces(1, hidden)
    model.attention = Widths(n_heads, d_k, d_v)
    return fit(model, model, torch.Generator().manual_seed(seed + 100), steps)


def rows():
    """Return what is measured, by its name in the file: a list with an entry for each seed."""
    return {
        name: Row(
            lambda name=name: rounded([right(name, s) for s in range(SEEDS)]), ("right", name)
        )
        for name in SETTINGS
    }


EXPERIMENT = Experiment(
    "Can one head hand over two things, and what holds many small heads back?",
    RESULTS,
    rows,
    minutes=5,
)
