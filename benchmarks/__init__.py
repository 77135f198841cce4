"""Measurements: ratios within one run, on one thread, medians of interleaved repeats."""

import os

# Read by NumPy and PyTorch when they are first imported.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["KINETO_LOG_LEVEL"] = "99"  # PyTorch's profiler would announce itself
