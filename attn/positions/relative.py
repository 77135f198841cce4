"""Relative positions: scores that depend on the distance between query and key.

`attn.attention.MultiHeadAttention` takes such a module as its ``relative``. It lets it turn the
queries and keys of new tokens, before any are kept in a cache, and asks it for what to add to
the scores.
"""

from typing import Self

import torch
from torch import Tensor

from attn._checks import broadcast_shapes, check_size, wrong
from attn._registry import ModelConfig
from attn._values import constant, keepable
from attn.positions._waves import Waves, check_even, refuse_odd
from attn.positions.absolute import check_vectors
from attn.positions.scheme import RelativePositions, register


def rotary(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of components by an angle that grows with the position.

    Components ``2i`` and ``2i + 1`` turn by ``position / base ** (2i / d_k)``. The product of
    a query and a key so turned depends on the difference of their positions alone.

    Parameters
    ----------
    x : Tensor, shape (..., seq_len, d_k)
        Queries or keys; `d_k` even.
    positions : Tensor, shape (seq_len,) or broadcastable to (..., seq_len)
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
    shape = x.shape[:-1]
    if positions.shape[-1:] != shape[-1:] or broadcast_shapes(positions.shape, shape) != shape:
        raise wrong("positions", f"shape ({shape[-1]},) to match x", tuple(positions.shape))
    check_even("d_k", x.shape[-1])
    return _turned(x, Waves(base).at(positions, x.shape[-1], _turns_dtype(x.dtype)))


def _turns_dtype(dtype: torch.dtype) -> torch.dtype:
    # PyTorch's compiler writes no code for complex numbers.
    if torch.compiler.is_compiling():
        return dtype
    return torch.complex128 if dtype == torch.float64 else torch.complex64


def _turned(x: Tensor, waves: Tensor) -> Tensor:
    if not waves.is_complex():
        sine, cosine = waves.unbind(dim=-1)
        even, odd = x[..., 0::2], x[..., 1::2]
        turned_even = torch.addcmul(even * cosine, odd, sine, value=-1)
        turned_odd = torch.addcmul(even * sine, odd, cosine)
        return torch.stack((turned_even, turned_odd), dim=-1).flatten(-2)
    # As complex numbers the pairs turn in one pass, a tenth of the time that their halves take.
    precise = x if waves.dtype == torch.complex128 else x.float()
    pairs = precise.unflatten(-1, (-1, 2))
    if any(step % 2 for step in pairs.stride()[:-1]) or pairs.storage_offset() % 2:
        pairs = pairs.clone(memory_format=torch.contiguous_format)
    return torch.view_as_real(torch.view_as_complex(pairs) * waves).flatten(-2).to(x.dtype)


@register("rotary")
class RotaryPositions(RelativePositions):
    """Turn queries and keys by their positions: the scores then depend on distances alone.

    Parameters
    ----------
    base : float, default 10000.0
        As in `sinusoidal_positions`.

    References
    ----------
    Su et al. (2021), RoFormer, section 3.2.

    Examples
    --------
    >>> query, key = RotaryPositions().rotate(torch.ones(2, 1, 2), torch.ones(1, 1, 2), 3)
    >>> key
    tensor([[[-1.1311, -0.8489]]])
    """

    def __init__(self, base: float = 10000.0) -> None:
        super().__init__()
        self.base = base
        self._waves = Waves(base)

    @classmethod
    def check(cls, config: ModelConfig) -> None:
        """Raise ``ValueError`` if the heads have an odd size."""
        refuse_odd(config, config.d_model // config.n_heads)

    @classmethod
    def from_config(cls, config: ModelConfig) -> Self:
        """Return the positions with the base `rotary_base`."""
        return cls(config.rotary_base)

    def rotate(
        self, query: Tensor, key: Tensor, positions: int | Tensor = 0
    ) -> tuple[Tensor, Tensor]:
        """Return both turned, as `rotary` does; see `RelativePositions.rotate`."""
        *_, seq_len, d_k = query.shape
        check_even("d_k", d_k)
        dtype = _turns_dtype(query.dtype)
        if isinstance(positions, torch.Tensor):
            # One set of angles for all heads.
            waves = self._waves.at(positions, d_k, dtype)
            waves = waves.unsqueeze(-3 if dtype.is_complex else -4)
        else:
            stop = positions + seq_len
            waves = self._waves.between(positions, stop, d_k, dtype, query.device)
        return _turned(query, waves), _turned(key, waves)


@register("alibi")
class ALiBiPositions(RelativePositions):
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
    >>> ALiBiPositions(2).bias(torch.arange(3), torch.arange(3), torch.float32)[0]
    tensor([[-0.0000, -0.0625, -0.1250],
            [-0.0625, -0.0000, -0.0625],
            [-0.1250, -0.0625, -0.0000]])
    """

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        self.n_heads = check_size("n_heads", n_heads, least=1)
        # That of a query over the keys before it, of which every shorter one is the end.
        self._kept: Tensor | None = None

    @classmethod
    def from_config(cls, config: ModelConfig) -> Self:
        """Return as many slopes as there are heads."""
        return cls(config.n_heads)

    def slopes(self) -> list[float]:
        """Return how much each head loses per position, as a list of `n_heads` numbers.

        They form a geometric sequence from ``2 ** (-8 / n)`` to ``2 ** -8`` for a power of
        two n; for other numbers, every second slope of the next such sequence fills the rest.
        """
        power = 1 << (self.n_heads.bit_length() - 1)
        slopes = [2.0 ** (-8 * (i + 1) / power) for i in range(power)]
        between = [2.0 ** (-8 * (i + 0.5) / power) for i in range(self.n_heads - power)]
        return slopes + between

    def bias(self, query_positions: Tensor, key_positions: Tensor, dtype: torch.dtype) -> Tensor:
        """Return minus slope times distance; see `RelativePositions.bias`.

        A key ahead of its query counts as far as one behind, which matters only without a
        causal mask. In float32 for shorter types: bfloat16 has 700 numbers for 3,000 distances.
        """
        dtype = torch.promote_types(dtype, torch.float32)
        distances = (query_positions[..., :, None] - key_positions[..., None, :]).abs()
        slopes = constant(self.slopes(), distances.device, dtype)
        return -slopes[:, None, None] * distances[..., None, :, :]

    def bias_in_a_row(
        self, start: int, tgt_len: int, src_len: int, dtype: torch.dtype, device: torch.device
    ) -> Tensor | None:
        """Return minus slope times distance; see `RelativePositions.bias_in_a_row`.

        For the last position alone, as in a step of decoding, it is kept.
        """
        if tgt_len != 1 or src_len != start + 1 or torch.compiler.is_compiling():
            return super().bias_in_a_row(start, tgt_len, src_len, dtype, device)
        kept, wanted = self._kept, (torch.promote_types(dtype, torch.float32), device)
        if kept is None or (kept.dtype, kept.device) != wanted or kept.shape[-1] < src_len:
            with torch.inference_mode(False):  # What is kept may be needed for a gradient later.
                keys = torch.arange(2 * src_len, device=device)
                kept = self.bias(keys[-1:], keys, dtype)
            if keepable(kept):
                self._kept = kept
        return kept[..., kept.shape[-1] - src_len :]
