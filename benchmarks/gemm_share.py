"""(e) The throughput of an attention layer over that of PyTorch's matrix product."""

import torch

from benchmarks import attention_layer
from benchmarks.report import Target
from benchmarks.timing import interleave, spread

SIDES = (512, 1024, 2048)
TARGETS = (Target("share", at_least=0.7, where={"shape": str(attention_layer.SHAPES[1])}),)


def operations(batch_size, seq_len, d_model):
    """Return how many additions and multiplications a layer needs, forward and backward.

    The forward pass has four projections, the scores and the weighted means. The backward pass has
    two products for each of them. What the fused kernel recomputes to save memory does not count.

    Examples
    --------
    >>> operations(batch_size=1, seq_len=1, d_model=1)
    36
    """
    projections = 4 * batch_size * seq_len * d_model**2
    attention = 2 * batch_size * seq_len**2 * d_model
    return 3 * 2 * (projections + attention)


def measure(shapes=attention_layer.SHAPES, sides=SIDES, **options):
    """Return one row per shape; the reference in each turn is the fastest product size."""
    rows = []
    for shape in shapes:
        runs = {"layer": attention_layer.contenders(shape, "none", need_weights=False)["own"]}
        for side in sides:
            square = torch.randn(side, side)
            runs[side] = lambda square=square: square @ square
        seconds = interleave(runs, **options)
        layer = [operations(*shape) / s / 1e9 for s in seconds["layer"]]
        products = ([2 * side**3 / s / 1e9 for s in seconds[side]] for side in sides)
        best = [max(rates) for rates in zip(*products, strict=True)]
        rows.append(
            {
                "shape": str(shape),
                "layer, GFLOP/s": spread(layer),
                "product, GFLOP/s": spread(best),
                "share": spread(a / b for a, b in zip(layer, best, strict=True)),
            }
        )
    return rows
