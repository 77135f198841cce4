"""Where a token stands: four ways to tell attention, which by itself sees a set.

============  =====================================================================
`absolute`    ``SinusoidalPositions``, ``LearnedPositions``: a vector added to each
              token before the first layer
`relative`    ``RotaryPositions``, ``ALiBiPositions``: part of every self-attention,
              whose scores then depend on the distance between query and key
`scheme`      ``register``: others, by name; what they derive from, and read of a
              configuration, ``ModelConfig``
============  =====================================================================
"""

from attn._registry import ModelConfig
from attn.positions.absolute import (
    LearnedPositions,
    SinusoidalPositions,
    sinusoidal_positions,
)
from attn.positions.relative import (
    ALiBiPositions,
    RotaryPositions,
    rotary,
)
from attn.positions.scheme import (
    SCHEMES,
    AbsolutePositions,
    NoPositions,
    PositionScheme,
    RelativePositions,
    register,
)

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
