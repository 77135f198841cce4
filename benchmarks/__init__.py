"""Measurements: ratios within one run, on one thread, medians of interleaved repeats."""
