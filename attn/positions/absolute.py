"""Absolute positions: a vector for each, added to the token that stands there."""

import math

import torch
from torch import nn

from attn._checks import check_shape, check_size, wrong


def sinusoidal_positions(n_positions, d_model, base=10000.0, *, device=None):
    """Return the sines and cosines that encode the first positions.

    Column ``2i`` is ``sin(position / base ** (2i / d_model))``, column ``2i + 1`` its cosine.

    Parameters
    ----------
    n_positions : int
        How many positions, from 0.
    d_model : int
        Size of the token vectors, even.
    base : float, default 10000.0
        The slowest wave is nearly `base` times as long as the fastest.
    device : torch.device or str, optional
        Where to make them.

    Returns
    -------
    Tensor of float64, shape (n_positions, d_model)

    Raises
    ------
    ValueError
        If `n_positions` is not an integer of at least 0, `d_model` not an even one of at
        least 2, or `base` not a number of at least 1.

    References
    ----------
    Vaswani et al. (2017), section 3.5. Document 004, section on positional encoding.

    Examples
    --------
    >>> sinusoidal_positions(2, 4)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 1.0000]], dtype=torch.float64)
    """
    n_positions = check_size("n_positions", n_positions)
    positions = torch.arange(n_positions, device=device)
    angles = positions[:, None] * frequencies("d_model", d_model, base, device)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


def frequencies(name, size, base, device=None):
    """Return the angle per position of each wave, ``base ** (-2i / size)``, in float64."""
    if check_size(name, size, least=2) % 2:
        raise wrong(name, "an even number, two components a wave", size)
    if not 1 <= base < math.inf:
        raise wrong("base", "a number of at least 1", base)
    return base ** (-torch.arange(0, size, 2, dtype=torch.float64, device=device) / size)


class SinusoidalPositions(nn.Module):
    """Add the sines and cosines of each position: nothing to learn, and no last position.

    Parameters
    ----------
    d_model : int
        Size of the token vectors, even.
    base : float, default 10000.0
        As in `sinusoidal_positions`.

    References
    ----------
    Vaswani et al. (2017), section 3.5. Documents 000, 001, 003 and 004.

    Examples
    --------
    >>> SinusoidalPositions(4)(torch.zeros(1, 2, 4))[0, 1]
    tensor([0.8415, 0.5403, 0.0100, 0.9999])
    """

    def __init__(self, d_model, base=10000.0):
        super().__init__()
        self.d_model, self.base = d_model, base
        # Not a buffer: it would be cast with the module, and float64 made from float32 is not
        # float64. It is computed again for another type or device, and when it gets too short.
        self._table = sinusoidal_positions(0, d_model, base)

    def forward(self, x, start=0):
        """Add to token i the encoding of position ``start + i``.

        Parameters
        ----------
        x : Tensor, shape (..., seq_len, d_model)
            The token vectors.
        start : int, default 0
            The position of the first; the number of tokens in the cache, if there is one.

        Returns
        -------
        Tensor, shape (..., seq_len, d_model)
        """
        stop = _check_positions(x, self.d_model, start)
        table = self._table
        if len(table) < stop or table.dtype != x.dtype or table.device != x.device:
            length = len(table) if stop <= len(table) else max(stop, 2 * len(table))
            table = sinusoidal_positions(length, self.d_model, self.base, device=x.device)
            self._table = table = table.to(x.dtype)
        return x + table[start:stop]


class LearnedPositions(nn.Module):
    """Add a learned vector for each position: as many as there are, and not one more.

    Parameters
    ----------
    n_positions : int
        How many positions there are.
    d_model : int
        Size of the token vectors.

    Attributes
    ----------
    weight : Parameter, shape (n_positions, d_model)
        The vectors, as small at first as those of the tokens.

    References
    ----------
    Gehring et al. (2017), Convolutional Sequence to Sequence Learning, section 3.1. Vaswani
    et al. (2017), Table 3, row E. Document 003.

    Examples
    --------
    >>> LearnedPositions(8, 4)(torch.zeros(2, 9, 4))
    Traceback (most recent call last):
    ValueError: x: expected positions below n_positions = 8, all that were learned, got 8
    """

    def __init__(self, n_positions, d_model):
        super().__init__()
        n_positions = check_size("n_positions", n_positions, least=1)
        d_model = check_size("d_model", d_model, least=1)
        self.weight = nn.Parameter(torch.randn(n_positions, d_model) * d_model**-0.5)

    def forward(self, x, start=0):
        """Add to token i the vector of position ``start + i``.

        Parameters
        ----------
        x : Tensor, shape (..., seq_len, d_model)
            The token vectors.
        start : int, default 0
            The position of the first.

        Returns
        -------
        Tensor, shape (..., seq_len, d_model)

        Raises
        ------
        ValueError
            If a position was never learned.
        """
        n_positions, d_model = self.weight.shape
        stop = _check_positions(x, d_model, start)
        if stop > n_positions:
            wanted = f"positions below n_positions = {n_positions}, all that were learned"
            raise wrong("x", wanted, stop - 1)
        return x + self.weight[start:stop]


def _check_positions(x, d_model, start):
    """Return the position after the last token of `x`."""
    check_vectors(x, d_model)
    return check_size("start", start) + x.shape[-2]


def check_vectors(x, size):
    """Raise ``ValueError`` unless `x` is a sequence of floating-point vectors of this size."""
    check_shape("x", x, (..., "seq_len", size))
    if not x.is_floating_point():
        raise wrong("x", "a floating-point tensor", f"dtype {x.dtype}")
