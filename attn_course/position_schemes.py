"""Two more position schemes, which chapter 07 compares with those of `attn.positions`.

Importing this module registers them: ``TransformerConfig(positions="t5")`` and
``TransformerConfig(positions="signed_alibi")``.
"""

from functools import lru_cache
from itertools import count

import torch
from torch import nn

from attn.positions import ALiBiPositions, RelativePositions, register

N_BUCKETS, FARTHEST = 32, 128


def t5_buckets(distances, n_buckets=N_BUCKETS, farthest=FARTHEST):
    """Return the bucket of each distance, each with a learned bias.

    Half of the buckets are for keys before the query or at it, half for keys after it. In each
    half, the first half of the buckets hold one distance each. The others grow in proportion
    to their distance, and the last one takes all distances from `farthest` on.

    Parameters
    ----------
    distances : Tensor of int64
        Positions of keys minus those of queries.
    n_buckets, farthest : int

    Returns
    -------
    Tensor of int64, of the same shape

    References
    ----------
    Raffel et al. (2020), section 2.1.

    Examples
    --------
    >>> t5_buckets(torch.tensor([0, -1, -7, -8, -11, -12, -500, 1, 500])).tolist()
    [0, 1, 7, 8, 8, 9, 15, 17, 31]
    """
    starts = torch.tensor(_starts(n_buckets // 2, farthest), device=distances.device)
    bucket = torch.bucketize(distances.abs(), starts, right=True)
    return bucket + n_buckets // 2 * (distances > 0)


@lru_cache
def _starts(half, farthest):
    """Return the shortest distance of each bucket of one half, after that of distance 0.

    Wide bucket k of n begins at ``exact * (farthest / exact) ** (k / n)``. In powers of integers
    a distance on the edge falls on the same side everywhere.
    """
    exact = half // 2
    n = half - exact
    powers = [farthest**k * exact ** (n - k) for k in range(1, n)]
    return [*range(1, exact + 1), *(next(d for d in count() if d**n >= p) for p in powers)]


@register("t5")
class T5Positions(RelativePositions):
    """Add to each score a learned number, one for each head and bucket of distances.

    In T5 all layers share the numbers; here each layer has its own.

    Parameters
    ----------
    n_heads : int

    References
    ----------
    Raffel et al. (2020), section 2.1.

    Examples
    --------
    >>> T5Positions(4).bias(torch.arange(3), torch.arange(5), torch.float32).shape
    torch.Size([4, 3, 5])
    """

    def __init__(self, n_heads):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(N_BUCKETS, n_heads))

    @classmethod
    def from_config(cls, config):
        """Return as many columns as there are heads."""
        return cls(config.n_heads)

    def bias(self, query_positions, key_positions, dtype):
        """Return the numbers of all heads; see `attn.positions.RelativePositions.bias`."""
        distances = key_positions[..., None, :] - query_positions[..., :, None]
        return self.weight[t5_buckets(distances)].movedim(-1, -3)


@register("signed_alibi")
class SignedALiBiPositions(ALiBiPositions):
    """ALiBi that distinguishes keys before and after the query.

    The penalty of a key before the query is its distance times the slope of the head, as in
    ALiBi. For a key after it, the slope is that of the head at the other end of the list.
    Under a causal mask this is ALiBi.

    Examples
    --------
    >>> SignedALiBiPositions(2).bias(torch.arange(3), torch.arange(3), torch.float32)[0]
    tensor([[-0.0000, -0.0039, -0.0078],
            [-0.0625, -0.0000, -0.0039],
            [-0.1250, -0.0625, -0.0000]])
    """

    def bias(self, query_positions, key_positions, dtype):
        """Return minus slope times distance; see `attn.positions.RelativePositions.bias`."""
        both = super().bias(query_positions, key_positions, dtype)
        ahead = key_positions[..., None, :] > query_positions[..., :, None]
        return torch.where(ahead[..., None, :, :], both.flip(-3), both)
