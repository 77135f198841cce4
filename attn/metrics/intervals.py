"""Intervals for numbers that were measured on a test set."""

import math

import numpy as np
from numpy.typing import ArrayLike

from attn._checks import argument_error, check_finite, check_size
from attn.metrics.text import as_array

# The normal quantile that leaves 2.5% on each side.
Z = 1.959964


def wilson_interval(n_right: int, n: int) -> tuple[float, float]:
    """Return the 95% interval of the share of `n_right` in `n` independent cases, as (low, high).

    It stays between 0 and 1 and has a width even if all cases are right: 16 right answers out of 16
    only show that the share is above 80%.

    Raises
    ------
    ValueError
        If `n` is not at least 1, or `n_right` not between 0 and `n`.

    References
    ----------
    Wilson (1927), Probable Inference, the Law of Succession, and Statistical Inference.

    Examples
    --------
    >>> [round(bound, 3) for bound in wilson_interval(16, 16)]
    [0.806, 1.0]
    """
    # Python integers cannot overflow when they are squared.
    n, n_right = check_size("n", n, least=1), check_size("n_right", n_right)
    if n_right > n:
        raise argument_error("n_right", f"at most n = {n}", n_right)
    share = n_right / n
    middle = share + Z**2 / (2 * n)
    half = Z * math.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    scale = 1 + Z**2 / n
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def bootstrap_interval(
    numerators: ArrayLike,
    denominators: ArrayLike | None = None,
    n_resamples: int = 2000,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the 95% interval of a mean over sentences, by drawing the sentences again.

    The words of a sentence are not independent of each other, so whole sentences are drawn with
    replacement, as many as there are. The interval is between the 2.5th and the 97.5th percentile
    of the resampled means.

    Parameters
    ----------
    numerators : array, shape (n_sentences,)
        What each sentence adds to the sum, such as its number of right links.
    denominators : array, shape (n_sentences,), optional
        What each sentence adds to the divisor, such as its number of links; by default 1. Resamples
        whose divisor is zero are left out.

    Raises
    ------
    ValueError
        If there is no sentence, not as many denominators as numerators, a number that is not finite
        or a denominator below zero, or if there is nothing to divide by.

    References
    ----------
    Efron (1979), Bootstrap Methods. Koehn (2004), Statistical Significance Tests for Machine
    Translation Evaluation, draws sentences.

    Examples
    --------
    >>> low, high = bootstrap_interval([0, 1] * 50)
    >>> round(low, 1), round(high, 1)
    (0.4, 0.6)
    """
    numerators = as_array(numerators).astype(float)
    if denominators is None:
        denominators = np.ones_like(numerators)
    denominators = as_array(denominators).astype(float)
    if numerators.ndim != 1 or not len(numerators):
        raise argument_error(
            "numerators", "one number for each of some sentences", numerators.shape
        )
    if denominators.shape != numerators.shape:
        raise argument_error(
            "denominators", f"shape {numerators.shape} to match numerators", denominators.shape
        )
    check_finite("numerators", np.isfinite(numerators))
    if not ((denominators >= 0) & (denominators < math.inf)).all():
        raise argument_error("denominators", "finite numbers of at least 0", denominators.tolist())
    n_resamples = check_size("n_resamples", n_resamples, least=1)
    drawn = np.random.default_rng(check_size("seed", seed)).integers(
        len(numerators), size=(n_resamples, len(numerators))
    )
    sums, totals = numerators[drawn].sum(axis=1), denominators[drawn].sum(axis=1)
    counts = totals > 0
    if not counts.any():
        raise argument_error("denominators", "a number above 0", denominators.tolist())
    low, high = np.percentile(sums[counts] / totals[counts], [2.5, 97.5])
    return float(low), float(high)
