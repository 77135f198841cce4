"""Shares and error rates with their 95% intervals, as the tables write them."""

import math

from attn.metrics import alignment_error_rate, bootstrap_interval, wilson_interval


def percent(share):
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


def rate(right, n, digits=1):
    """Return a share and its interval, in percent: ``99.8 % (98.9–100.0)``."""
    share, low, high = (100 * x for x in (right / n, *wilson_interval(right, n)))
    return f"{share:.{digits}f}\N{NO-BREAK SPACE}% ({low:.{digits}f}–{high:.{digits}f})"


def share_of(n, share, digits=0):
    """Return `rate` of a share that was counted among `n`."""
    return rate(round(share * n), n, digits)


def out_of(right, n, interval=True):
    """Return a count and the interval of its share: ``198 / 199 (97.2–99.9)``."""
    if not n:
        return "–"
    low, high = (100 * x for x in wilson_interval(int(right), int(n)))
    return f"{right} / {n}" + (f" ({low:.1f}–{high:.1f})" if interval else "")


def error_rate(links, sure, possible):
    """Return the alignment error rate, and its interval from drawing the sentences again."""
    sizes = [len(a) + len(s) for a, s in zip(links, sure, strict=True)]
    wrong = [
        alignment_error_rate([a], [s], [p]) * size
        for a, s, p, size in zip(links, sure, possible, sizes, strict=True)
    ]
    return alignment_error_rate(links, sure, possible), *bootstrap_interval(wrong, sizes)


def packed(hits):
    """Return the number right, the number of all, and a bit for each as a hexadecimal number.

    Examples
    --------
    >>> packed([True, False, True, True])
    [3, 4, 'b']
    """
    bits = "".join("01"[bool(hit)] for hit in hits)
    return [bits.count("1"), len(bits), f"{int(bits or '0', 2):x}"]


def apart(one, other):
    """Return how many only the first of two gets right, and how many only the second.

    Examples
    --------
    >>> apart(packed([1, 1, 1, 0]), packed([0, 0, 1, 1]))
    (2, 1)
    """
    (_, n, a), (_, n_other, b) = one, other
    if n != n_other:
        raise ValueError(f"other: expected answers to the same {n} questions, got {n_other}")
    a, b = int(a, 16), int(b, 16)
    return (a & ~b).bit_count(), (b & ~a).bit_count()


def mcnemar(only_one, only_other):
    """Return the p-value of McNemar's exact test of two answers to the same questions.

    Under the hypothesis that both are equally good, a question that only one of them gets right
    belongs to either with probability 1/2. The p-value is the probability of a split at least as
    uneven.

    References
    ----------
    McNemar (1947), Note on the sampling error of the difference between correlated proportions.

    Examples
    --------
    >>> mcnemar(1, 5), mcnemar(3, 3)
    (0.21875, 1.0)
    """
    n = only_one + only_other
    tail = sum(math.comb(n, k) for k in range(min(only_one, only_other) + 1))
    return min(1.0, 2 * tail / 2**n)
