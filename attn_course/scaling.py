"""The laws of scaling: how many parameters and operations a decoder has, and curves through losses.

Everything is in NumPy, so that it also runs in a page.
"""

import numpy as np

from attn._checks import argument_error, check_size


def parameters(d_model, n_layers, vocab_size, d_ff=None):
    """Return the number of weights in the matrices of a decoder whose output reads the embedding.

    Each layer has four matrices of attention and two of a feed-forward network; gains and biases,
    which are few, are not counted.

    Parameters
    ----------
    d_model, n_layers, vocab_size : int
    d_ff : int, optional
        ``4 * d_model`` if not given: a layer then has ``12 * d_model**2`` weights.

    Returns
    -------
    int

    References
    ----------
    Kaplan et al. (2020), Table 1, without the matrix of the positions.

    Examples
    --------
    >>> parameters(d_model=64, n_layers=2, vocab_size=96)
    104448
    """
    d_ff = 4 * d_model if d_ff is None else d_ff
    given = {"d_model": d_model, "n_layers": n_layers, "vocab_size": vocab_size, "d_ff": d_ff}
    for name, size in given.items():
        check_size(name, size, least=1)
    return n_layers * (4 * d_model**2 + 2 * d_model * d_ff) + vocab_size * d_model


def training_flops(n_parameters, n_tokens, attended=0):
    """Return the operations of a training: six for each token and each weight.

    A multiplication and an addition are two operations, and the gradients take twice as many as
    the losses.

    Parameters
    ----------
    n_parameters, n_tokens : float or ndarray
    attended : float, default 0
        ``n_layers * context * d_model`` also counts the scores and the means of a causal attention
        over `context` tokens, of which a token sees half on average.

    Returns
    -------
    float or ndarray

    References
    ----------
    Kaplan et al. (2020), section 2.1, equation 2.2.

    Examples
    --------
    >>> f"{training_flops(70e9, 1.4e12):.2e}"
    '5.88e+23'
    """
    return 6 * (n_parameters + attended) * n_tokens


def parabola_minimum(sizes, losses):
    """Return the size at which a parabola through losses over the logarithm of the size is lowest.

    Parameters
    ----------
    sizes, losses : array_like, shape (n,)
        At least three sizes, all trained with the same number of operations.

    Returns
    -------
    size, loss : float
        Of the lowest point.

    Raises
    ------
    ValueError
        If there are fewer than three sizes, not as many losses, a size that is not above 0, or no
        lowest point.

    References
    ----------
    Hoffmann et al. (2022), section 3.2.

    Examples
    --------
    >>> size, loss = parabola_minimum([10, 100, 1000, 10_000], [3.0, 2.6, 2.6, 3.0])
    >>> round(size), round(loss, 2)
    (316, 2.55)
    """
    logarithms, losses = _logarithms("sizes", sizes, losses, least=3), np.asarray(losses)
    square, slope, level = np.polyfit(logarithms, losses, 2)
    if square <= 0:
        raise argument_error("losses", "a valley over the sizes", losses.tolist())
    return float(np.exp(-slope / (2 * square))), float(level - slope**2 / (4 * square))


def power_law(x, y):
    """Return the exponent and the factor of the straight line through logarithms: y = factor * x**exponent.

    Parameters
    ----------
    x, y : array_like, shape (n,)

    Returns
    -------
    exponent, factor : float

    Raises
    ------
    ValueError
        If there are fewer than two, not as many of one as of the other, or one is not above 0.

    Examples
    --------
    >>> exponent, factor = power_law([1, 4, 16], [3, 6, 12])
    >>> round(exponent, 3), round(factor, 3)
    (0.5, 3.0)
    """
    logarithms = _logarithms("y", y, x, least=2)
    exponent, level = np.polyfit(_logarithms("x", x, y, least=2), logarithms, 1)
    return float(exponent), float(np.exp(level))


def _logarithms(name, values, others, least):
    """Return the logarithms of at least so many positive numbers, as many as there are others."""
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or values.size < least or not (values > 0).all():
        raise argument_error(name, f"at least {least} numbers above 0", values.tolist())
    if values.shape != np.shape(others):
        raise argument_error(name, f"as many numbers as the others, {np.size(others)}", values.size)
    return np.log(values)


def law(sizes, tokens, E, A, a, B, b):
    """Return the loss that a law predicts: ``E + A / sizes**a + B / tokens**b``.

    Parameters
    ----------
    sizes, tokens : float or ndarray
    E, A, a, B, b : float
        From `fit_law`.

    Examples
    --------
    >>> law(100, 10_000, E=1.0, A=2.0, a=0.5, B=10.0, b=0.25)
    2.2
    """
    return E + A / sizes**a + B / tokens**b


def fit_law(sizes, tokens, losses, n_rounds=12):
    """Return the law ``E + A / N**a + B / D**b`` that comes nearest to the losses, by least squares.

    With the exponents given, E, A and B are those of a linear regression; the exponents are
    searched for on a grid, which is made finer around the best pair in each round.

    Parameters
    ----------
    sizes, tokens, losses : array_like, shape (n,)
        At least five trainings.
    n_rounds : int, default 12

    Returns
    -------
    dict
        The numbers by name: `law` takes them.

    Raises
    ------
    ValueError
        If there are fewer than five trainings, or a size or a number of tokens is not above 0.

    References
    ----------
    Hoffmann et al. (2022), section 3.3, equation 2; they minimise Huber's loss of the logarithm.

    Examples
    --------
    >>> sizes, tokens = (axis.ravel() for axis in np.meshgrid([1e4, 3e4, 1e5], [1e5, 1e6, 3e6]))
    >>> losses = law(sizes, tokens, E=1.2, A=30.0, a=0.4, B=60.0, b=0.35)
    >>> {name: round(value, 2) for name, value in fit_law(sizes, tokens, losses).items()}
    {'E': 1.2, 'A': 30.0, 'a': 0.4, 'B': 60.0, 'b': 0.35}
    """
    sizes, tokens, losses = (np.asarray(x, dtype=float) for x in (sizes, tokens, losses))
    if losses.size < 5:
        raise argument_error("losses", "those of at least five trainings", losses.size)
    for name, values in {"sizes": sizes, "tokens": tokens}.items():
        _logarithms(name, values, losses, least=5)
    best, centre, width = (np.inf,), (0.5, 0.5), 0.48
    for _ in range(n_rounds):
        for a in centre[0] + width * np.linspace(-1, 1, 9):
            for b in centre[1] + width * np.linspace(-1, 1, 9):
                if min(a, b) <= 0:
                    continue
                terms = np.stack((np.ones_like(losses), sizes**-a, tokens**-b), axis=1)
                found = np.linalg.lstsq(terms, losses, rcond=None)[0]
                error = np.square(terms @ found - losses).sum()
                if error < best[0]:
                    best = (error, a, b, found)
        centre, width = best[1:3], width / 2.5
    _, a, b, (E, A, B) = best
    return {name: float(value) for name, value in zip("EAaBb", (E, A, a, B, b), strict=True)}
