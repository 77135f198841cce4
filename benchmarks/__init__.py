"""Measurements: ratios within one run, on one thread, medians of interleaved repeats."""

import os

# NumPy and PyTorch read this variable when they are first imported.
os.environ["OMP_NUM_THREADS"] = "1"
# The profiler of PyTorch would otherwise print messages.
os.environ["KINETO_LOG_LEVEL"] = "99"
