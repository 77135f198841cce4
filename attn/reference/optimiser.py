"""A step of Adam, and the learning rate of each step."""

import numpy as np

from attn._checks import argument_error
from attn.reference._numbers import finite_numbers
from attn.reference._types import ArrayLike, Floats

BETA_1, BETA_2, EPSILON = 0.9, 0.98, 1e-9


def adam_step(
    theta: ArrayLike,
    gradient: ArrayLike,
    m: ArrayLike,
    v: ArrayLike,
    t: int,
    learning_rate: float,
) -> tuple[Floats, Floats, Floats]:
    """Take one step of Adam, with the constants of the Transformer's paper.

    Parameters
    ----------
    theta : array_like
        The parameters.
    gradient, m, v : array_like, shape of `theta`
        The gradient, and the moving means of the gradients before and of their squares.
    t : int
        The number of this step, from 1.
    learning_rate : float

    Returns
    -------
    theta, m, v : ndarray
        The values after the step. The means are returned without the bias correction.

    Raises
    ------
    ValueError
        If shapes differ, a number is not finite, or `t` is below 1.

    References
    ----------
    Kingma and Ba (2015), algorithm 1. Vaswani et al. (2017), section 5.3, for beta_1 = 0.9,
    beta_2 = 0.98 and epsilon = 1e-9.

    Examples
    --------
    >>> theta, m, v = adam_step([1.0, 1.0], [2.0, -0.01], [0.0, 0.0], [0.0, 0.0], 1, 0.1)
    >>> theta.round(4).tolist()  # whatever its size, a first gradient moves by learning_rate
    [0.9, 1.1]
    """
    theta, gradient, m, v = finite_numbers(theta=theta, gradient=gradient, m=m, v=v)
    for name, array in (("gradient", gradient), ("m", m), ("v", v)):
        if array.shape != theta.shape:
            raise argument_error(name, f"shape {theta.shape} to match theta", array.shape)
    if not t >= 1:
        raise argument_error("t", "at least 1", t)
    m = BETA_1 * m + (1 - BETA_1) * gradient
    v = BETA_2 * v + (1 - BETA_2) * gradient**2
    m_hat, v_hat = m / (1 - BETA_1**t), v / (1 - BETA_2**t)
    return theta - learning_rate * m_hat / (np.sqrt(v_hat) + EPSILON), m, v


def warmup_schedule(t: ArrayLike, d_model: int, warmup: int) -> Floats:
    """Return the learning rate of each step: linear warm-up, then inverse square root.

    Parameters
    ----------
    t : array_like of int
        Numbers of steps, from 1.
    d_model, warmup : int
        The width of the model, and the step with the largest rate.

    Returns
    -------
    ndarray, shape of `t`

    Raises
    ------
    ValueError
        If a number is below 1.

    References
    ----------
    Vaswani et al. (2017), Eq. 3.

    Examples
    --------
    >>> warmup_schedule([1, 2, 4, 16], d_model=4, warmup=4).tolist()
    [0.0625, 0.125, 0.25, 0.125]
    """
    (t,) = finite_numbers(t=t)
    for name, number in (("t", np.min(t)), ("d_model", d_model), ("warmup", warmup)):
        if not number >= 1:
            raise argument_error(name, "at least 1", number)
    # An integer array cannot be raised to a negative power, so all three become floats.
    rates: Floats = float(d_model) ** -0.5 * np.minimum(t**-0.5, t * float(warmup) ** -1.5)
    return rates
