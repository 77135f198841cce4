"""Absolute positions: a vector for each, added to the token that stands there."""

from typing import Self

import torch
from torch import Tensor, nn

from attn._checks import broadcast_shapes, check_shape, check_size, wrong
from attn._registry import ModelConfig
from attn._values import holds
from attn.positions._waves import Waves, check_even, refuse_odd
from attn.positions.scheme import AbsolutePositions, register


def sinusoidal_positions(
    n_positions: int,
    d_model: int,
    base: float = 10000.0,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
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
    dtype : torch.dtype, optional
        Of the result; float64 if not given. For another nothing is computed in float64.
    device : torch.device or str, optional
        Where to make them.

    Returns
    -------
    Tensor, shape (n_positions, d_model)

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
    check_even("d_model", d_model)
    positions = torch.arange(n_positions, device=device)
    return Waves(base).at(positions, d_model, dtype or torch.float64).flatten(-2)


@register("sinusoidal")
class SinusoidalPositions(AbsolutePositions):
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

    def __init__(self, d_model: int, base: float = 10000.0) -> None:
        super().__init__()
        check_even("d_model", d_model)
        self.d_model, self.base = d_model, base
        self._waves = Waves(base)

    @classmethod
    def check(cls, config: ModelConfig) -> None:
        """Raise ``ValueError`` if `d_model` is odd."""
        refuse_odd(config, config.d_model)

    @classmethod
    def from_config(cls, config: ModelConfig) -> Self:
        """Return the encoding for vectors of `d_model`."""
        return cls(config.d_model)

    def forward(self, x: Tensor, positions: int | Tensor = 0) -> Tensor:
        """Add to each token the encoding of its position; see `AbsolutePositions.forward`."""
        if isinstance(positions, torch.Tensor):
            _check_positions(x, self.d_model, positions)
            waves = self._waves.at(positions, self.d_model, x.dtype)
        else:
            stop = _stop(x, self.d_model, positions)
            waves = self._waves.between(positions, stop, self.d_model, x.dtype, x.device)
        return x + waves.flatten(-2)


@register("learned")
class LearnedPositions(AbsolutePositions):
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

    def __init__(self, n_positions: int, d_model: int) -> None:
        super().__init__()
        n_positions = check_size("n_positions", n_positions, least=1)
        d_model = check_size("d_model", d_model, least=1)
        self.weight = nn.Parameter(torch.randn(n_positions, d_model) * d_model**-0.5)

    @classmethod
    def from_config(cls, config: ModelConfig) -> Self:
        """Return `max_len` vectors of `d_model`."""
        return cls(config.max_len, config.d_model)

    def forward(self, x: Tensor, positions: int | Tensor = 0) -> Tensor:
        """Add to each token the vector of its position; see `AbsolutePositions.forward`.

        Raises
        ------
        ValueError
            If a position was never learned.
        """
        n_positions, d_model = self.weight.shape
        if not isinstance(positions, torch.Tensor):
            stop = _stop(x, d_model, positions)
            if stop > n_positions:
                raise wrong("x", self._wanted(), stop - 1)
            return x + self.weight[positions:stop]
        _check_positions(x, d_model, positions)
        if not holds(lambda: (positions < n_positions).all(), otherwise=True):
            raise wrong("positions", self._wanted(), int(positions.max()))
        return x + nn.functional.embedding(positions, self.weight)

    def _wanted(self) -> str:
        return f"positions below n_positions = {len(self.weight)}, all that were learned"


def _stop(x: Tensor, d_model: int, start: int) -> int:
    """Return the position after the last token of `x`, if they stand one after the other."""
    check_vectors(x, d_model)
    return check_size("positions", start) + x.shape[-2]


def _check_positions(x: Tensor, d_model: int, positions: Tensor) -> None:
    check_vectors(x, d_model)
    if positions.is_floating_point() or positions.dtype == torch.bool:
        raise wrong("positions", "integers", f"dtype {positions.dtype}")
    shape = tuple(x.shape[:-1])
    if positions.shape[-1:] != shape[-1:] or broadcast_shapes(positions.shape, shape) != shape:
        raise wrong("positions", f"a shape that broadcasts to {shape}", tuple(positions.shape))
    if not holds(lambda: (positions >= 0).all(), otherwise=True):
        raise wrong("positions", "at least 0", int(positions.min()))


def check_vectors(x: Tensor, size: int | str) -> None:
    """Raise ``ValueError`` unless `x` is a sequence of floating-point vectors of this size."""
    check_shape("x", x, (..., "seq_len", size))
    if not x.is_floating_point():
        raise wrong("x", "a floating-point tensor", f"dtype {x.dtype}")
