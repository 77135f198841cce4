"""Where a token stands: four ways to tell attention, which by itself sees a set.

============  =====================================================================
`absolute`    ``SinusoidalPositions``, ``LearnedPositions``: a vector added to each
              token before the first layer
`relative`    ``RotaryPositions``, ``ALiBiPositions``: part of every self-attention,
              whose scores then depend on the distance between query and key
============  =====================================================================
"""

from attn.positions.absolute import LearnedPositions, SinusoidalPositions, sinusoidal_positions
from attn.positions.relative import ALiBiPositions, RotaryPositions, rotary

__all__ = [
    "ALiBiPositions",
    "LearnedPositions",
    "RotaryPositions",
    "SinusoidalPositions",
    "rotary",
    "sinusoidal_positions",
]
