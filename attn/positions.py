"""Positions, which tell attention the order of the tokens; without them it sees a set.

Absolute positions are a vector added to each token before the first layer: `SinusoidalPositions`,
`LearnedPositions`. Relative ones are part of every self-attention, whose scores then depend on the
distance between query and key: `RotaryPositions`, `ALiBiPositions`. `register` enters others by
name. The waves of sinusoidal and rotary positions are at the end.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from attn._checks import (
    argument_error,
    broadcast_shapes,
    check_number,
    check_shape,
    check_size,
    holds,
    shown,
)
from attn._registry import ModelConfig, Registry

__all__ = [
    "SCHEMES",
    "ALiBiPositions",
    "AbsolutePositions",
    "LearnedPositions",
    "ModelConfig",
    "NoPositions",
    "PositionScheme",
    "RelativePositions",
    "RotaryPositions",
    "SinusoidalPositions",
    "register",
    "rotary",
    "sinusoidal_positions",
]

Scaling: TypeAlias = dict[str, Any]


class PositionScheme(nn.Module):
    """A way to tell attention where tokens stand.

    To add one, derive from `AbsolutePositions` (it changes the tokens' vectors) or
    `RelativePositions` (it acts in self-attention), and `register` it.
    ``TransformerConfig(positions=name)`` then builds it, by `from_config`, whose argument has the
    type `ModelConfig`.
    """

    @classmethod
    def check(cls, config: ModelConfig) -> None:
        """Raise ``ValueError`` if the scheme cannot serve a model of this configuration."""

    @classmethod
    def from_config(cls, config: ModelConfig) -> Self:
        """Return the scheme for a model of this `attn.transformer.TransformerConfig`."""
        return cls()


class AbsolutePositions(PositionScheme):
    """A position scheme that changes the vectors of the tokens before the first layer."""

    def forward(self, x: Tensor, positions: int | Tensor = 0) -> Tensor:
        """Return the tokens `x`, shape (..., seq_len, d_model), changed by their positions.

        `positions` holds the position of each token, int64 and broadcastable to (..., seq_len). If
        the tokens are consecutive, the position of the first is enough, as an int.
        """
        raise NotImplementedError


class RelativePositions(PositionScheme):
    """A position scheme that acts in self-attention: a subclass overrides `rotate` or `bias`."""

    def rotate(
        self, query: Tensor, key: Tensor, positions: int | Tensor = 0
    ) -> tuple[Tensor, Tensor]:
        """Return the queries, shape (..., n_heads, seq_len, d_k), and the keys, shape (...,
        n_kv_heads, seq_len, d_k), changed by the positions of their tokens.

        `positions` is int64 of shape (..., seq_len); or the position of the first token, as an int,
        if the tokens are consecutive.
        """
        return query, key

    def bias(
        self, query_positions: Tensor, key_positions: Tensor, dtype: torch.dtype
    ) -> Tensor | None:
        """Return the bias that is added to the scores, or None if there is none.

        It broadcasts to (..., n_heads, tgt_len, src_len). The positions are int64, of shape (...,
        tgt_len) and (..., src_len); `dtype` is the dtype of the queries.
        """
        return None

    def bias_in_a_row(
        self, start: int, tgt_len: int, src_len: int, dtype: torch.dtype, device: torch.device
    ) -> Tensor | None:
        """Return the `bias` of consecutive queries from position `start`, and keys from position 0."""
        keys = torch.arange(src_len, device=device)
        return self.bias(keys[start : start + tgt_len], keys, dtype)


class NoPositions(PositionScheme):
    """No positions: attention sees the tokens as a set."""


SCHEMES: Registry[PositionScheme] = Registry(AbsolutePositions, RelativePositions)
SCHEMES["none"] = NoPositions
Scheme = TypeVar("Scheme", bound=AbsolutePositions | RelativePositions)


def register(name: str) -> Callable[[type[Scheme]], type[Scheme]]:
    """Return a decorator that enters a class under a name for ``TransformerConfig(positions=name)``.

    Checkpoints store the name, which has to be registered again before they are loaded. A name
    that another class has is refused, and so is a class that derives from neither
    `AbsolutePositions` nor `RelativePositions`, since no layer would call it.
    """
    return SCHEMES.register(name)


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
        The slowest wave is nearly `base` times as long as the fastest; at least 1.
    dtype : torch.dtype, optional
        Dtype of the result, float64 by default. For any other dtype, nothing is computed in
        float64, which some devices lack.
    device : torch.device or str, optional

    Returns
    -------
    Tensor, shape (n_positions, d_model)

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
    """Add the sines and cosines of each position, which need no parameters and have no limit.

    Parameters
    ----------
    d_model : int
        Size of the token vectors, even.
    base : float, default 10000.0
        As in `sinusoidal_positions`.

    References
    ----------
    Vaswani et al. (2017), section 3.5.

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
    """Add a learned vector for each position; later positions are refused.

    Parameters
    ----------
    n_positions : int
        How many positions there are.
    d_model : int
        Size of the token vectors.

    Attributes
    ----------
    weight : Parameter, shape (n_positions, d_model)
        The vectors. Their initial standard deviation is ``d_model ** -0.5``, as in the embedding
        of the tokens.

    References
    ----------
    Gehring et al. (2017), Convolutional Sequence to Sequence Learning, section 3.1. Vaswani et
    al. (2017), Table 3, row E.

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
        """Add to each token the learned vector of its position; see `AbsolutePositions.forward`."""
        n_positions, d_model = self.weight.shape
        if not isinstance(positions, torch.Tensor):
            stop = _stop(x, d_model, positions)
            if stop > n_positions:
                raise argument_error("x", self._wanted(), stop - 1)
            return x + self.weight[positions:stop]
        _check_positions(x, d_model, positions)
        if not holds(lambda: (positions < n_positions).all(), otherwise=True):
            raise argument_error("positions", self._wanted(), int(positions.max()))
        return x + nn.functional.embedding(positions, self.weight)

    def _wanted(self) -> str:
        return f"positions below n_positions = {len(self.weight)}, all that were learned"


def rotary(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Rotate each pair of components by an angle that grows with the position.

    Components ``2i`` and ``2i + 1`` are rotated by ``position / base ** (2i / d_k)`` radians. The
    dot product of a rotated query and a rotated key depends only on the difference of their
    positions.

    Parameters
    ----------
    x : Tensor, shape (..., seq_len, d_k)
        Queries or keys; `d_k` even.
    positions : Tensor, shape (seq_len,) or broadcastable to (..., seq_len)
    base : float, default 10000.0
        As in `sinusoidal_positions`.

    Returns
    -------
    Tensor, shape (..., seq_len, d_k)
        Vectors of the same length as those of `x`.

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
    _check_shape_of(positions, x)
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
    # A product of complex numbers rotates all pairs in one pass. It takes a tenth of the time of
    # the products above, which treat even and odd components separately.
    precise = x if waves.dtype == torch.complex128 else x.float()
    pairs = precise.unflatten(-1, (-1, 2))
    if any(step % 2 for step in pairs.stride()[:-1]) or pairs.storage_offset() % 2:
        pairs = pairs.clone(memory_format=torch.contiguous_format)
    return torch.view_as_real(torch.view_as_complex(pairs) * waves).flatten(-2).to(x.dtype)


@register("rotary")
class RotaryPositions(RelativePositions):
    """Rotate queries and keys by their positions: the scores then depend on distances alone.

    Parameters
    ----------
    base : float, default 10000.0
        As in `sinusoidal_positions`.
    scaling : dict, optional
        Which pairs rotate more slowly, and by what factor, so that a model can read longer texts
        than in its training. The entry ``rope_type`` is one of

        - ``linear``: the speed of every pair is divided by ``factor``, which is at least 1;
        - ``llama3``: the speed of a pair is divided by ``factor`` if it makes fewer than
          ``low_freq_factor`` turns in ``original_max_position_embeddings`` positions, and is kept
          if it makes more than ``high_freq_factor``. In between, the share of its speed that is
          kept grows linearly with the number of turns;
        - ``yarn``: the same with the bounds ``beta_slow`` (1 by default) and ``beta_fast`` (32),
          but in between the share falls linearly with the index of the pair. The indices where
          this begins and ends are rounded unless ``truncate`` is False. Queries and keys are also
          multiplied by ``attention_factor``. If it is not given, it follows from ``factor``, or
          from ``factor``, ``mscale`` and ``mscale_all_dim``;
        - ``factors``: the speed of each pair is divided by its own number in the list ``factors``;
        - ``default``: every pair keeps its speed.

    References
    ----------
    Su et al. (2021), RoFormer, section 3.2. Chen et al. (2023), Extending Context Window of Large
    Language Models via Positional Interpolation. Peng et al. (2023), YaRN. The Llama 3 team
    (2024), The Llama 3 Herd of Models.

    Examples
    --------
    >>> query, key = RotaryPositions().rotate(torch.ones(2, 1, 2), torch.ones(1, 1, 2), 3)
    >>> key
    tensor([[[-1.1311, -0.8489]]])
    """

    def __init__(self, base: float = 10000.0, scaling: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.base, self.scaling = base, checked_scaling("scaling", scaling)
        self._waves = ScaledWaves(base, self.scaling) if self.scaling else Waves(base)

    @classmethod
    def check(cls, config: ModelConfig) -> None:
        """Raise ``ValueError`` if the size of the heads is odd, or the scaling does not fit it."""
        size = config.d_model // config.n_heads
        refuse_odd(config, size)
        check_waves("rotary_scaling", config.rotary_scaling, size, config.rotary_base)

    @classmethod
    def from_config(cls, config: ModelConfig) -> Self:
        """Return the positions with the base `rotary_base` and the scaling `rotary_scaling`."""
        return cls(config.rotary_base, config.rotary_scaling)

    def rotate(
        self, query: Tensor, key: Tensor, positions: int | Tensor = 0
    ) -> tuple[Tensor, Tensor]:
        """Return queries and keys, rotated as by `rotary`; see `RelativePositions.rotate`."""
        *_, seq_len, d_k = query.shape
        check_even("d_k", d_k)
        dtype = _turns_dtype(query.dtype)
        if isinstance(positions, torch.Tensor):
            # All heads are rotated by the same angles.
            waves = self._waves.at(positions, d_k, dtype)
            waves = waves.unsqueeze(-3 if dtype.is_complex else -4)
        else:
            stop = positions + seq_len
            waves = self._waves.between(positions, stop, d_k, dtype, query.device)
        return _turned(query, waves), _turned(key, waves)


@register("alibi")
class ALiBiPositions(RelativePositions):
    """Lower each score in proportion to the distance, with a different slope in each head.

    Parameters
    ----------
    n_heads : int

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
        # The bias of the last query over all keys. Since it depends on distances alone, the bias
        # of an earlier query is the end of this row.
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

        A key after its query counts as far as one before it, which matters only without a causal
        mask. The bias is float32 for half precision: bfloat16 has 700 numbers for 3,000 distances.
        """
        dtype = torch.promote_types(dtype, torch.float32)
        distances = (query_positions[..., :, None] - key_positions[..., None, :]).abs()
        slopes = cached_tensor(self.slopes(), distances.device, dtype)
        return -slopes[:, None, None] * distances[..., None, :, :]

    def bias_in_a_row(
        self, start: int, tgt_len: int, src_len: int, dtype: torch.dtype, device: torch.device
    ) -> Tensor | None:
        """Return minus slope times distance; see `RelativePositions.bias_in_a_row`.

        The bias of the last position alone, as in a step of decoding, is cached.
        """
        if tgt_len != 1 or src_len != start + 1 or torch.compiler.is_compiling():
            return super().bias_in_a_row(start, tgt_len, src_len, dtype, device)
        kept, wanted = self._kept, (torch.promote_types(dtype, torch.float32), device)
        if kept is None or (kept.dtype, kept.device) != wanted or kept.shape[-1] < src_len:
            # A tensor made in inference mode could not be used later where gradients are recorded.
            with torch.inference_mode(False):
                keys = torch.arange(2 * src_len, device=device)
                kept = self.bias(keys[-1:], keys, dtype)
            if keepable(kept):
                self._kept = kept
        return kept[..., kept.shape[-1] - src_len :]


def _stop(x: Tensor, d_model: int, start: int) -> int:
    """Return the position after the last token of `x`, whose first token is at `start`."""
    check_vectors(x, d_model)
    return check_size("positions", start) + x.shape[-2]


def _check_positions(x: Tensor, d_model: int, positions: Tensor) -> None:
    check_vectors(x, d_model)
    if positions.is_floating_point() or positions.dtype == torch.bool:
        raise argument_error("positions", "integers", f"dtype {positions.dtype}")
    _check_shape_of(positions, x)
    if not holds(lambda: (positions >= 0).all(), otherwise=True):
        raise argument_error("positions", "at least 0", int(positions.min()))


def _check_shape_of(positions: Tensor, x: Tensor) -> None:
    shape = tuple(x.shape[:-1])
    if positions.shape[-1:] != shape[-1:] or broadcast_shapes(positions.shape, shape) != shape:
        wanted = f"a shape (..., {shape[-1]}) that broadcasts to {shape}"
        raise argument_error("positions", wanted, tuple(positions.shape))


def check_vectors(x: Tensor, size: int | str) -> None:
    """Raise ``ValueError`` unless `x` is a sequence of floating-point vectors of this size."""
    check_shape("x", x, (..., "seq_len", size))
    if not x.is_floating_point():
        raise argument_error("x", "a floating-point tensor", f"dtype {x.dtype}")


# Positions and speeds are multiplied limb by limb, 30 bits each, so that no product overflows.
# PyTorch wraps an overflow around, but in the C++ that torch.compile writes it is undefined: the
# C++ compiler assumes that no position overflows, and leaves out every position after the first.
LIMB = 2**30
LOW_BITS = LIMB - 1
WHOLE_TURN = LIMB**2
# This is 1 / (2 pi) in units of 2**-128.
TURNS_PER_RADIAN = 0x28BE60DB9391054A7F09D5F47D4D3770


class Waves:
    """The sine and the cosine of each wave at each position, accurate for any position and dtype.

    Wave i of ``size / 2`` turns by ``base ** (-2i / size)`` radians per position. An angle matters
    only up to whole turns. So it is counted in 2**-60 of a turn, as int64, and the whole turns are
    cut off. In float32 the angle of position 100,000 would be wrong by up to .005, and Apple's
    devices have no float64. The waves of the first positions are kept.
    """

    def __init__(self, base: float) -> None:
        if not 1 <= base < math.inf:
            raise argument_error("base", "a number of at least 1", base)
        self.base = float(base)
        self._kept: Tensor | None = None
        self._speeds_kept: dict[int, list[list[int]]] = {}

    def radians(self, size: int) -> list[float]:
        """Return the angle in radians by which each wave turns from one position to the next."""
        return [self.base ** (-2 * i / size) for i in range(size // 2)]

    def between(
        self, start: int, stop: int, size: int, dtype: torch.dtype, device: torch.device
    ) -> Tensor:
        """Return `at` for the positions from `start` up to, but not including, `stop`."""
        if torch.compiler.is_compiling():
            # A graph cannot keep the waves from one call to the next.
            return self.at(torch.arange(start, stop, device=device), size, dtype)
        kept, wanted = self._kept, (dtype, device, size // 2)
        if kept is None or (kept.dtype, kept.device, kept.shape[1]) != wanted or len(kept) < stop:
            kept = self._grown(stop, size, dtype, device)
            if keepable(kept):
                self._kept = kept
        return kept[start:stop]

    def _grown(self, stop: int, size: int, dtype: torch.dtype, device: torch.device) -> Tensor:
        length = 0 if self._kept is None else len(self._kept)
        length = length if stop <= length else max(stop, 2 * length)
        # A tensor made in inference mode could not be used later where gradients are recorded.
        with torch.inference_mode(False):
            return self.at(torch.arange(length, device=device), size, dtype)

    def at(self, positions: Tensor, size: int, dtype: torch.dtype) -> Tensor:
        """Return the sine and the cosine of every wave at every position.

        The shape is (..., seq_len, size / 2, 2). For a complex `dtype` it is (..., seq_len, size / 2):
        the cosine is the real part, and the sine the imaginary part. They are computed in float64
        if `dtype` is float64 or complex128, and in float32 otherwise.
        """
        is_double = dtype in (torch.float64, torch.complex128)
        computed = torch.float64 if is_double else torch.float32
        device = positions.device
        high, low = (cached_tensor(part, device, torch.int64) for part in self._speeds(size))
        whole = positions.long()[..., None]
        near, far = whole & LOW_BITS, whole // LIMB & LOW_BITS
        count = near * low + (near * high + far * low & LOW_BITS) * LIMB
        # Angles lie within half a turn of zero, where floats are most precise.
        count = (count & WHOLE_TURN // 2 - 1) - (count & WHOLE_TURN // 2)
        angles = count.to(computed) * (6.283185307179586 / WHOLE_TURN)
        if positions.is_floating_point():
            beyond = (positions - positions.trunc()).to(computed)
            speeds = (high * LIMB + low).to(computed) * (6.283185307179586 / WHOLE_TURN)
            angles = angles + beyond[..., None] * speeds
        if dtype.is_complex:
            return torch.complex(angles.cos(), angles.sin())
        return torch.stack((angles.sin(), angles.cos()), dim=-1).to(dtype)

    def _speeds(self, size: int) -> list[list[int]]:
        """Return the upper and the lower 30 bits of the speeds, in 2**-60 of a turn per position."""
        if torch.compiler.is_compiling():
            return self._counted(size)
        if size not in self._speeds_kept:
            self._speeds_kept[size] = self._counted(size)
        return self._speeds_kept[size]

    def _counted(self, size: int) -> list[list[int]]:
        # torch.compile(dynamic=True) treats base and size as variables; a ratio makes them
        # constants.
        ratios = [angle.as_integer_ratio() for angle in self.radians(size)]
        speeds = [over * TURNS_PER_RADIAN // (under << 68) for over, under in ratios]
        return [[speed // LIMB for speed in speeds], [speed & LOW_BITS for speed in speeds]]


def check_even(name: str, size: int) -> None:
    """Raise ``ValueError`` unless `size` is an even integer of at least 2."""
    if check_size(name, size, least=2) % 2:
        raise argument_error(name, "an even number, two components a wave", size)


def refuse_odd(config: ModelConfig, size: int) -> None:
    """Raise ``ValueError`` if a configuration asks for waves of vectors of an odd size."""
    if size % 2:
        raise argument_error(
            "positions", f"a kind for an odd size ({size})", repr(config.positions)
        )


TWO_PI = 6.283185307179586
# The numbers that each kind of scaling requires, and those that it may have. `checked_scaling` reads
# the list `factors` and the boolean `truncate` besides.
NEEDED = {
    "linear": ("factor",),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
    "yarn": ("factor", "original_max_position_embeddings"),
    "factors": (),
}
OPTIONAL = {"yarn": ("beta_fast", "beta_slow", "attention_factor", "mscale", "mscale_all_dim")}


class ScaledWaves(Waves):
    """The waves of one base, each slowed down by a scaling of `checked_scaling`."""

    def __init__(self, base: float, scaling: Scaling) -> None:
        super().__init__(base)
        check_waves("scaling", scaling, 2 * len(scaling.get("factors", ())), base)
        self._scaling = scaling

    def radians(self, size: int) -> list[float]:
        """Return the angle in radians by which each wave turns from one position to the next."""
        # In a graph of torch.compile these numbers have to be constants: `min`, `max` and logarithms
        # of variables end in conditions that cannot be checked.
        scaling = {name: _graph_constant(number) for name, number in self._scaling.items()}
        plain = [_graph_constant(speed) for speed in super().radians(size)]
        base = _graph_constant(self.base)
        check_waves("scaling", scaling, 2 * len(plain), base)
        if scaling["rope_type"] == "factors":
            return [speed / factor for speed, factor in zip(plain, scaling["factors"], strict=True)]
        # kept[i] is the share of the unscaled speed in wave i.
        kept = [0.0] * len(plain)
        if scaling["rope_type"] == "llama3":
            low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
            turns = scaling["original_max_position_embeddings"] / TWO_PI
            kept = [_within(turns * speed, low, high) for speed in plain]
        if scaling["rope_type"] == "yarn":
            low, high = _yarn_range(2 * len(plain), base, scaling)
            kept = [1 - _within(i, low, high) for i in range(len(plain))]
        factor = scaling["factor"]
        return [s * (share + (1 - share) / factor) for s, share in zip(plain, kept, strict=True)]

    def at(self, positions: Tensor, size: int, dtype: torch.dtype) -> Tensor:
        """Return sines and cosines times the ``attention_factor`` of YaRN; see `Waves.at`."""
        waves = super().at(positions, size, dtype)
        factor = self._scaling.get("attention_factor", 1.0)
        return waves if factor == 1 else waves * factor


def check_waves(name: str, scaling: Scaling | None, size: int, base: float) -> None:
    """Raise ``ValueError`` if the scaling does not fit waves of this size and base."""
    if scaling and scaling["rope_type"] == "yarn" and base == 1:
        raise argument_error(name, "a kind other than 'yarn' for base 1", "'yarn'")
    if scaling and len(scaling.get("factors", range(size // 2))) != size // 2:
        wanted = f"{size // 2} numbers, one for each wave"
        raise argument_error(f"{name}.factors", wanted, len(scaling["factors"]))


def _graph_constant(number: Any) -> Any:
    """Return a number or list of numbers as constants of a graph, each float through its ratio."""
    if isinstance(number, list):
        return [_graph_constant(one) for one in number]
    if not isinstance(number, float):
        return number
    over, under = number.as_integer_ratio()
    return over / under


def _within(number: float, low: float, high: float) -> float:
    """Return 0 up to `low`, 1 from `high` on, and linearly between them."""
    return min(max((number - low) / (high - low), 0.0), 1.0)


def _yarn_range(size: int, base: float, scaling: Scaling) -> tuple[float, float]:
    """Return the last wave that keeps its speed, and the first that turns `factor` times slower."""
    turns = scaling["original_max_position_embeddings"] / TWO_PI
    low, high = (
        size * math.log(turns / scaling[name]) / (2 * math.log(base))
        for name in ("beta_fast", "beta_slow")
    )
    if scaling["truncate"]:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, size - 1)
    return low, high if high != low else high + 0.001


def checked_scaling(name: str, scaling: Mapping[str, Any] | None) -> Scaling | None:
    """Return a scaling of `RotaryPositions` with all its numbers as floats; None for ``default``.

    A scaling of an unknown kind is refused, and so is one that lacks an entry or has an entry that
    its kind does not know. Errors call the scaling `name`.
    """
    if scaling is None:
        return None
    if not isinstance(scaling, Mapping):
        raise argument_error(name, "a dictionary or None", shown(scaling))
    said = {entry: value for entry, value in scaling.items() if value is not None}
    kind = said.pop("rope_type", None)
    if kind != "default" and (not isinstance(kind, str) or kind not in NEEDED):
        kinds = " or ".join(map(repr, ("default", *NEEDED)))
        raise argument_error(f"{name}.rope_type", kinds, shown(kind))
    found: Scaling = {"rope_type": kind}
    for entry in NEEDED.get(kind, ()):
        least = 1 if entry in ("factor", "original_max_position_embeddings") else 0
        found[entry] = check_number(f"{name}.{entry}", said.pop(entry, None), least)
    for entry in OPTIONAL.get(kind, ()):
        if entry in said:
            found[entry] = check_number(f"{name}.{entry}", said.pop(entry))
    if kind == "factors":
        factors = said.pop("factors", None)
        if not isinstance(factors, list | tuple) or not factors:
            raise argument_error(f"{name}.factors", "a list of numbers", shown(factors))
        found["factors"] = [check_number(f"{name}.factors", factor, 1) for factor in factors]
    if kind == "yarn":
        found = _whole_yarn(name, found, said.pop("truncate", True))
    if said:
        entry, value = next(iter(said.items()))
        wanted = f"no entry of this name beside rope_type = {kind!r}"
        raise argument_error(f"{name}.{str(entry)[:80]}", wanted, shown(value))
    if kind == "llama3" and not found["low_freq_factor"] < found["high_freq_factor"]:
        wanted = f"less than high_freq_factor = {found['high_freq_factor']}"
        raise argument_error(f"{name}.low_freq_factor", wanted, found["low_freq_factor"])
    return None if kind == "default" else found


def _whole_yarn(name: str, said: Scaling, truncate: object) -> Scaling:
    """Return the scaling, completed with the values that YaRN's authors chose."""
    if not isinstance(truncate, bool):
        raise argument_error(f"{name}.truncate", "True or False", shown(truncate))
    given = [entry for entry in ("attention_factor", "mscale", "mscale_all_dim") if entry in said]
    if given not in ([], ["attention_factor"], ["mscale", "mscale_all_dim"]):
        wanted = "attention_factor, or mscale with mscale_all_dim, or none of them"
        raise argument_error(name, wanted, " with ".join(given))
    scales = said.pop("mscale", 1.0), said.pop("mscale_all_dim", 0.0)
    first, second = (1 + 0.1 * scale * math.log(said["factor"]) for scale in scales)
    found = {"attention_factor": first / second, "beta_fast": 32.0, "beta_slow": 1.0} | said
    if found["beta_fast"] < found["beta_slow"]:
        wanted = f"at least beta_slow = {found['beta_slow']}"
        raise argument_error(f"{name}.beta_fast", wanted, found["beta_fast"])
    return found | {"truncate": truncate}


def cached_tensor(numbers: Sequence[float], device: torch.device, dtype: torch.dtype) -> Tensor:
    """Return numbers as a tensor, which is cached on a GPU.

    Copying them to the GPU takes longer than using them, and a CUDA graph cannot record the copy.
    """
    if device.type != "cuda" or torch.compiler.is_compiling():
        return torch.tensor(numbers, dtype=dtype, device=device)
    name = (*numbers, dtype, device)
    if name not in _cached_tensors:
        with torch.inference_mode(False):
            made = torch.tensor(numbers, dtype=dtype, device=device)
        if not keepable(made):
            return made
        _cached_tensors[name] = made
    return _cached_tensors[name]


def keepable(tensor: Tensor) -> bool:
    """Return whether a tensor can be cached: it is real, not a stand-in of a trace or of
    ``torch.func``."""
    return type(tensor) is Tensor and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)


_cached_tensors: dict[tuple[object, ...], Tensor] = {}
