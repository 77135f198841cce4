"""Where a token stands: four ways to tell attention, which by itself sees a set.

============  =====================================================================
`absolute`    ``SinusoidalPositions``, ``LearnedPositions``: a vector added to each
              token before the first layer
`relative`    ``RotaryPositions``, ``ALiBiPositions``: part of every self-attention,
              whose scores then depend on the distance between query and key
`scheme`      ``register``: others, by name
============  =====================================================================
"""

from attn.positions.absolute import (
    AbsolutePositions,
    LearnedPositions,
    SinusoidalPositions,
    sinusoidal_positions,
)
from attn.positions.relative import (
    ALiBiPositions,
    RelativePositions,
    RotaryPositions,
    rotary,
)
from attn.positions.scheme import SCHEMES, NoPositions, PositionScheme, register

__all__ = [
    "SCHEMES",
    "ALiBiPositions",
    "AbsolutePositions",
    "LearnedPositions",
    "NoPositions",
    "PositionScheme",
    "RelativePositions",
    "RotaryPositions",
    "SinusoidalPositions",
    "register",
    "rotary",
    "sinusoidal_positions",
]
