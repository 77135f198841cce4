"""How the functions of `attn.reference` convert, check and multiply their arguments."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn._checks import argument_error, check_attention, check_finite, check_shape

__all__ = ["ArrayLike"]

# The types of arguments and results, for a type checker. Floats are of any floating-point dtype,
# not float64 alone: float16 and float32 inputs keep their dtype.
Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Bools = NDArray[np.bool_]
Shape = tuple[int, ...]


def as_numbers(**given: ArrayLike) -> list[Floats]:
    """Return the named arrays in one floating-point dtype."""
    arrays = {name: np.asarray(array) for name, array in given.items()}
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu":
            raise argument_error(name, "real numbers", f"dtype {array.dtype}")
    common = np.result_type(*(array.dtype for array in arrays.values()))
    dtype = common if common.kind == "f" else np.dtype(np.float64)
    return [array.astype(dtype, copy=False) for array in arrays.values()]


def finite_numbers(**arrays: ArrayLike) -> list[Floats]:
    """Return the named arrays in one floating-point dtype; refuse NaN and infinity."""
    numbers = as_numbers(**arrays)
    for name, array in zip(arrays, numbers, strict=True):
        check_finite(name, np.isfinite(array))
    return numbers


def finite_vector(name: str, vector: ArrayLike, size: int, like: str) -> Floats:
    """Return `vector` as an array of `size` finite numbers.

    `name` and `like` serve error messages: they name the vector and the argument that sets its
    size.
    """
    (vector,) = finite_numbers(**{name: vector})
    check_shape(name, vector, (size,), like)
    return vector


def prepare(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, mask: ArrayLike | None
) -> tuple[Floats, Floats, Floats, Bools | None, Shape]:
    """Return the checked arguments of attention as arrays, and their batch shape."""
    query, key, value = finite_numbers(query=query, key=key, value=value)
    mask = None if mask is None else np.atleast_2d(mask)
    return query, key, value, mask, check_attention(query, key, value, mask)


def linear(**named: Any) -> Floats:
    """Return ``x @ matrix + bias`` of three named arrays; the bias alone may be None."""
    (x_name, x), (matrix_name, matrix), (bias_name, bias) = named.items()
    x, matrix = finite_numbers(**{x_name: x, matrix_name: matrix})
    check_shape(x_name, x, (..., "d_in"))
    check_shape(matrix_name, matrix, (x.shape[-1], "d_out"), x_name)
    result = x @ matrix
    if bias is not None:
        result = result + finite_vector(bias_name, bias, matrix.shape[1], matrix_name)
    check_overflow(f"{x_name}, {matrix_name}", result)
    return result


def check_overflow(names: str, products: Floats) -> None:
    """Raise ``ValueError`` unless all `products` of the named arrays are finite."""
    if not np.isfinite(products).all():
        raise argument_error(names, f"products that fit in {products.dtype}", "an overflow")


def finite_peak(peak: Floats) -> Floats:
    """Return what to subtract before exp: the largest score, or 0 where all are -inf."""
    # If any score of a row is NaN or +inf, so is the maximum of the row: checking the maxima is
    # enough, and cheaper than checking every score.
    if (np.isnan(peak) | (peak == np.inf)).any():
        raise argument_error("scores", "numbers below +inf", "NaN or +inf")
    return np.where(peak == -np.inf, 0, peak)
