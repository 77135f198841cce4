"""The sine and the cosine of each wave at each position, right for any position in any dtype.

An angle matters only up to whole turns. So it is counted in 2**-64 of a turn, as int64: where
the product of position and speed overflows, exactly the whole turns are lost. In float32 the
angle of position 100,000 would be wrong by up to .005, and Apple's devices have no float64.
"""

import math
from fractions import Fraction
from functools import lru_cache

import torch
from torch import Tensor

from attn._checks import check_size, wrong
from attn._registry import ModelConfig
from attn._values import constant

WHOLE_TURN = 2**64
TWO_PI = Fraction("6.28318530717958647692528676655900576839")
IN_RADIANS = 2 * math.pi / WHOLE_TURN


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

    def between(
        self, start: int, stop: int, size: int, dtype: torch.dtype, device: torch.device
    ) -> Tensor:
        """Return `at` for the positions from `start` up to, but not including, `stop`."""
        if torch.compiler.is_compiling():  # A graph cannot keep anything.
            return self.at(torch.arange(start, stop, device=device), size, dtype)
        kept, wanted = self._kept, (dtype, device, size // 2)
        if kept is None or (kept.dtype, kept.device, kept.shape[1]) != wanted or len(kept) < stop:
            kept = self._grown(stop, size, dtype, device)
            # What stands for a tensor in a trace or in torch.func is not to be kept.
            if type(kept) is Tensor and not torch._C._functorch.is_functorch_wrapped_tensor(kept):
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
        speeds = constant(_speeds(size, self.base), positions.device, torch.int64)
        angles = (positions.long()[..., None] * speeds).to(computed) * IN_RADIANS
        if positions.is_floating_point():
            beyond = (positions - positions.trunc()).to(computed)
            angles = angles + beyond[..., None] * (speeds.to(computed) * IN_RADIANS)
        if dtype.is_complex:
            return torch.complex(angles.cos(), angles.sin())
        return torch.stack((angles.sin(), angles.cos()), dim=-1).to(dtype)


def check_even(name: str, size: int) -> None:
    """Raise ``ValueError`` unless `size` is an even integer of at least 2."""
    if check_size(name, size, least=2) % 2:
        raise wrong(name, "an even number, two components a wave", size)


def refuse_odd(config: ModelConfig, size: int) -> None:
    """Raise ``ValueError`` if a configuration asks for waves of vectors of an odd size."""
    if size % 2:
        raise wrong("positions", f"a kind for an odd size ({size})", repr(config.positions))


@lru_cache
def _speeds(size: int, base: float) -> list[int]:
    """Return by how much each wave turns from one position to the next, in 2**-64 of a turn."""
    radians = (base ** (-2 * i / size) for i in range(size // 2))
    return [round(Fraction(angle) / TWO_PI * WHOLE_TURN) for angle in radians]
