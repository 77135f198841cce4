"""Relative positions: scores that depend on the distance between query and key.

Both modules take queries and keys and return them with a bias for the scores, or None: what
`attn.attention.MultiHeadAttention` calls as its ``relative``.
"""

import torch
from torch import nn

from attn._checks import check_shape, check_size, wrong
from attn.positions.absolute import check_vectors, frequencies


def rotary(x, positions, base=10000.0):
    """Turn each pair of components by an angle that grows with the position.

    Components ``2i`` and ``2i + 1`` turn by ``position / base ** (2i / d_k)``. The product of
    a query and a key so turned depends on the difference of their positions alone.

    Parameters
    ----------
    x : Tensor, shape (..., seq_len, d_k)
        Queries or keys; `d_k` even.
    positions : Tensor, shape (seq_len,)
        The position of each.
    base : float, default 10000.0
        As in `sinusoidal_positions`.

    Returns
    -------
    Tensor, shape (..., seq_len, d_k)
        Vectors of the same length as those of `x`.

    Raises
    ------
    ValueError
        If `d_k` is odd, or there is not one position for each vector.

    References
    ----------
    Su et al. (2021), RoFormer, Eq. 34.

    Examples
    --------
    >>> rotary(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([0, 1]))
    tensor([[1.0000, 0.0000],
            [0.5403, 0.8415]])
    """
    check_vectors(x, "d_k")
    if positions.shape != x.shape[-2:-1]:
        raise wrong("positions", f"shape ({x.shape[-2]},) to match x", tuple(positions.shape))
    angles = positions.double()[:, None] * frequencies("d_k", x.shape[-1], base, x.device)
    sine, cosine = angles.sin().to(x.dtype), angles.cos().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = (even * cosine - odd * sine, even * sine + odd * cosine)
    return torch.stack(turned, dim=-1).flatten(-2)


class RotaryPositions(nn.Module):
    """Turn queries and keys by their positions: the scores then depend on distances alone.

    Parameters
    ----------
    base : float, default 10000.0
        As in `sinusoidal_positions`.

    References
    ----------
    Su et al. (2021), RoFormer, section 3.2.
    """

    def __init__(self, base=10000.0):
        super().__init__()
        self.base = base

    def forward(self, query, key):
        """Return both turned, the last query standing at the last key, and no bias.

        Parameters
        ----------
        query : Tensor, shape (..., tgt_len, d_k)
        key : Tensor, shape (..., src_len, d_k)

        Returns
        -------
        query, key : Tensor
            Of the same shapes.
        bias : None
        """
        tgt_len, src_len = query.shape[-2], key.shape[-2]
        positions = torch.arange(src_len, device=key.device)
        if tgt_len > src_len:
            raise wrong("query", f"at most as many as the {src_len} keys", tgt_len)
        query = rotary(query, positions[src_len - tgt_len :], self.base)
        return query, rotary(key, positions, self.base), None


class ALiBiPositions(nn.Module):
    """Lower each score in proportion to the distance, by another slope in every head.

    Parameters
    ----------
    n_heads : int
        Number of heads.

    References
    ----------
    Press et al. (2022), Train Short, Test Long, section 3.

    Examples
    --------
    >>> _, _, bias = ALiBiPositions(2)(torch.zeros(2, 3, 4), torch.zeros(2, 3, 4))
    >>> bias[0]
    tensor([[-0.0000, -0.0625, -0.1250],
            [-0.0625, -0.0000, -0.0625],
            [-0.1250, -0.0625, -0.0000]])
    """

    def __init__(self, n_heads):
        super().__init__()
        self.n_heads = check_size("n_heads", n_heads, least=1)

    def slopes(self):
        """Return how much each head loses per position, as a list of `n_heads` numbers.

        They form a geometric sequence from ``2 ** (-8 / n)`` to ``2 ** -8`` for a power of
        two n; for other numbers, every second slope of the next such sequence fills the rest.
        """
        power = 1 << (self.n_heads.bit_length() - 1)
        slopes = [2.0 ** (-8 * (i + 1) / power) for i in range(power)]
        between = [2.0 ** (-8 * (i + 0.5) / power) for i in range(self.n_heads - power)]
        return slopes + between

    def forward(self, query, key):
        """Return both as they are, and the bias of their scores.

        Parameters
        ----------
        query : Tensor, shape (..., n_heads, tgt_len, d_k)
        key : Tensor, shape (..., n_kv_heads, src_len, d_k)

        Returns
        -------
        query, key : Tensor
            Unchanged.
        bias : Tensor, shape (n_heads, tgt_len, src_len)
            Minus slope times distance. The last query stands at the last key; a key ahead
            of its query counts as far as one behind, which matters only without a causal mask.
        """
        check_shape("query", query, (..., self.n_heads, "tgt_len", "d_k"))
        tgt_len, src_len = query.shape[-2], key.shape[-2]
        keys = torch.arange(src_len, device=query.device)
        queries = torch.arange(src_len - tgt_len, src_len, device=query.device)
        distances = (queries[:, None] - keys[None, :]).abs()
        slopes = torch.tensor(self.slopes(), dtype=query.dtype, device=query.device)
        return query, key, -slopes[:, None, None] * distances
