"""Shares and error rates with their 95% intervals, as the tables write them."""

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
