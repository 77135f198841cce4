"""What the functions here take and give, for a type checker; shapes are in their docstrings."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ArrayLike", "Bools", "Floats", "Ints", "Shape"]

# Any floating-point dtype, not float64 alone: float16 and float32 inputs keep their dtype.
Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Bools = NDArray[np.bool_]
Shape = tuple[int, ...]
