"""Fair timing: contenders take turns, and are compared within each turn.

The speed of a shared machine varies. Contenders that are timed right after each other meet the
same conditions, so the ratio within a turn is more reliable than that of two separate medians.
Processor time is measured, so that other programs count less.
"""

import platform
import re
import statistics
import time
from pathlib import Path

REPEATS = 9
LEAST_SECONDS = 0.05


def interleave(contenders, repeats=REPEATS, least=LEAST_SECONDS, clock=time.process_time):
    """Time every contender once in each turn; the order is reversed after each turn.

    Parameters
    ----------
    contenders : dict of str to callable
        The functions to time. They are called without arguments, and once before the turns as a
        warm-up.
    repeats : int, default 9
        Number of turns.
    least : float, default 0.05
        The least time in seconds for which each contender runs in a turn. Its number of calls is
        fixed before the first turn, so that the duration of a turn does not depend on chance.
    clock : callable, default time.process_time
        The function that returns the time in seconds.

    Returns
    -------
    dict of str to list of float
        Seconds per call of each contender in each turn.

    Examples
    --------
    >>> seconds = interleave({"sum": lambda: sum(range(9))}, repeats=3, least=0)
    >>> len(seconds["sum"])
    3
    """
    calls = {name: _calls_needed(run, least, clock) for name, run in contenders.items()}
    seconds = {name: [] for name in contenders}
    order = list(contenders)
    for _ in range(repeats):
        for name in order:
            taken = _seconds(contenders[name], calls[name], clock)
            seconds[name].append(taken / calls[name])
        order.reverse()
    return seconds


def _calls_needed(run, least, clock):
    run()
    calls = 1
    while _seconds(run, calls, clock) < least:
        calls *= 2
    return calls


def _seconds(run, calls, clock):
    began = clock()
    for _ in range(calls):
        run()
    return clock() - began


def ratio(numerator, denominator):
    """Return the median of the ratios within each turn, and the quartiles around it.

    Examples
    --------
    >>> ratio([2, 4, 8, 9, 10], [1, 1, 1, 1, 1])
    {'median': 8.0, 'low': 4.0, 'high': 9.0}
    """
    return spread(a / b for a, b in zip(numerator, denominator, strict=True))


def spread(values):
    """Return the median of the values and the quartiles around it, to four digits.

    Examples
    --------
    >>> spread([1.23456, 2.34567, 0.123456])
    {'median': 1.235, 'low': 0.679, 'high': 1.79}
    """
    low, median, high = statistics.quantiles(values, method="inclusive")
    rounded = {"median": median, "low": low, "high": high}
    return {name: float(f"{value:.4g}") for name, value in rounded.items()}


def processor():
    """Return the name of the processor, as far as this machine reports it."""
    cpuinfo = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", cpuinfo.read_text()) if cpuinfo.exists() else None
    return found[1] if found else platform.machine()
