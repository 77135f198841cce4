"""Experiments of the book: they train models, measure what its laboratory claims, and store it."""

import os

# Read by NumPy and PyTorch when they are first imported.
os.environ["OMP_NUM_THREADS"] = "1"
