"""The sine and the cosine of each wave at each position, right for any position in any dtype.

An angle matters only up to whole turns. So it is counted in 2**-60 of a turn, as int64, and the
whole turns are cut off. In float32 the angle of position 100,000 would be wrong by up to .005,
and Apple's devices have no float64.
"""

import math

import torch
from torch import Tensor

from attn._checks import check_size, wrong
from attn._registry import ModelConfig
from attn._values import constant, keepable

# Positions and speeds are multiplied limb by limb, 30 bits each, so that no product overflows.
# PyTorch cuts an overflow off, but the C++ that torch.compile writes leaves it undefined: the C++
# compiler infers that no position makes one, and leaves out every position behind the first.
LIMB = 2**30
LOW_BITS = LIMB - 1
WHOLE_TURN = LIMB**2
TURNS_PER_RADIAN = 0x28BE60DB9391054A7F09D5F47D4D3770  # times 2**128


class Waves:
    """The waves of one base; those of the first positions are kept.

    Parameters
    ----------
    base : float
        Wave i of ``size / 2`` turns by ``base ** (-2i / size)`` radians per position.
    """

    def __init__(self, base: float) -> None:
        if not 1 <= base < math.inf:
            raise wrong("base", "a number of at least 1", base)
        self.base = float(base)
        self._kept: Tensor | None = None
        self._speeds_kept: dict[int, list[list[int]]] = {}

    def radians(self, size: int) -> list[float]:
        """Return by how much each wave turns from one position to the next."""
        return [self.base ** (-2 * i / size) for i in range(size // 2)]

    def between(
        self, start: int, stop: int, size: int, dtype: torch.dtype, device: torch.device
    ) -> Tensor:
        """Return `at` for the positions from `start` up to, but not including, `stop`."""
        if torch.compiler.is_compiling():  # A graph cannot keep anything.
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
        with torch.inference_mode(False):  # What is kept may be needed for a gradient later.
            return self.at(torch.arange(length, device=device), size, dtype)

    def at(self, positions: Tensor, size: int, dtype: torch.dtype) -> Tensor:
        """Return the sine and the cosine of every wave at every position.

        Parameters
        ----------
        positions : Tensor, shape (..., seq_len)
        size : int
            Twice the number of waves.
        dtype : torch.dtype
            Computed in float64 if its numbers are that, in float32 otherwise.

        Returns
        -------
        Tensor of `dtype`, shape (..., seq_len, size / 2, 2)
            Of a complex one, shape (..., seq_len, size / 2): the cosine and i times the sine.
        """
        is_double = dtype in (torch.float64, torch.complex128)
        computed = torch.float64 if is_double else torch.float32
        device = positions.device
        high, low = (constant(part, device, torch.int64) for part in self._speeds(size))
        whole = positions.long()[..., None]
        near, far = whole & LOW_BITS, whole // LIMB & LOW_BITS
        count = near * low + (near * high + far * low & LOW_BITS) * LIMB
        # Half a turn to either side of zero, where the numbers of a float lie closest.
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
        """Return the two halves of the speed of each wave, in 2**-60 of a turn per position."""
        if torch.compiler.is_compiling():
            return self._counted(size)
        if size not in self._speeds_kept:
            self._speeds_kept[size] = self._counted(size)
        return self._speeds_kept[size]

    def _counted(self, size: int) -> list[list[int]]:
        # What torch.compile(dynamic=True) takes for a variable, base or size, a ratio makes constant.
        ratios = [angle.as_integer_ratio() for angle in self.radians(size)]
        speeds = [over * TURNS_PER_RADIAN // (under << 68) for over, under in ratios]
        return [[speed // LIMB for speed in speeds], [speed & LOW_BITS for speed in speeds]]


def check_even(name: str, size: int) -> None:
    """Raise ``ValueError`` unless `size` is an even integer of at least 2."""
    if check_size(name, size, least=2) % 2:
        raise wrong(name, "an even number, two components a wave", size)


def refuse_odd(config: ModelConfig, size: int) -> None:
    """Raise ``ValueError`` if a configuration asks for waves of vectors of an odd size."""
    if size % 2:
        raise wrong("positions", f"a kind for an odd size ({size})", repr(config.positions))
