"""What happens to each vector on its own: layer normalisation and the feed-forward network."""

import numpy as np

from attn._checks import argument_error
from attn.reference._numbers import check_overflow, finite_numbers, finite_vector, linear
from attn.reference._types import ArrayLike, Floats


def layer_norm(
    x: ArrayLike, gain: ArrayLike | None = None, bias: ArrayLike | None = None, eps: float = 1e-5
) -> Floats:
    """Give each vector mean zero and variance one, then stretch and shift its components.

    Parameters
    ----------
    x : array_like, shape (..., d_model)
        Vectors.
    gain, bias : array_like, shape (d_model,), optional
        Factors and summands of the components; ones and zeros if not given.
    eps : float, default 1e-5
        Added to the variance, which may be zero.

    Returns
    -------
    ndarray, shape (..., d_model)
        ``gain * (x - mean) / sqrt(variance + eps) + bias``. Mean and variance are those of
        each vector on its own; the variance divides by d_model, not by one less.

    Raises
    ------
    ValueError
        If shapes do not fit, an input is not finite, the variance overflows, or `eps` is not
        a positive number.

    References
    ----------
    Ba, Kiros and Hinton (2016), Layer Normalization, section 3.

    Examples
    --------
    >>> layer_norm([1.0, 3.0, 1.0, 3.0]).round(3)
    array([-1.,  1., -1.,  1.])
    """
    (x,) = finite_numbers(x=x)
    if x.ndim == 0 or x.shape[-1] == 0:
        raise argument_error("x", "shape (..., d_model) with d_model of at least 1", x.shape)
    if not 0 < eps < np.inf:
        raise argument_error("eps", "a positive number", eps)
    gain = 1 if gain is None else finite_vector("gain", gain, x.shape[-1], "x")
    bias = 0 if bias is None else finite_vector("bias", bias, x.shape[-1], "x")
    deviation = x - x.mean(axis=-1, keepdims=True)
    variance = (deviation**2).mean(axis=-1, keepdims=True)
    check_overflow("x", variance)
    normal: Floats = gain * deviation / np.sqrt(variance + eps) + bias
    return normal


def feed_forward(
    x: ArrayLike, w_1: ArrayLike, b_1: ArrayLike, w_2: ArrayLike, b_2: ArrayLike
) -> Floats:
    """Transform each vector on its own: out to d_ff, what is negative to zero, and back.

    Parameters
    ----------
    x : array_like, shape (..., d_model)
        Vectors.
    w_1 : array_like, shape (d_model, d_ff)
        The way out.
    b_1 : array_like, shape (d_ff,)
        Its bias.
    w_2 : array_like, shape (d_ff, d_model)
        The way back.
    b_2 : array_like, shape (d_model,)
        Its bias.

    Returns
    -------
    ndarray, shape (..., d_model)
        ``max(0, x @ w_1 + b_1) @ w_2 + b_2``.

    Raises
    ------
    ValueError
        If shapes do not fit, or an input or a product is not finite.

    References
    ----------
    Vaswani et al. (2017), Eq. 2.

    Examples
    --------
    >>> feed_forward([2.0], w_1=[[1.0, -1.0]], b_1=[0.0, 1.0], w_2=[[3.0], [5.0]], b_2=[0.5])
    array([6.5])
    """
    hidden = np.maximum(0, linear(x=x, w_1=w_1, b_1=b_1))
    return linear(hidden=hidden, w_2=w_2, b_2=b_2)
