"""The experiments of the book: what its laboratory claims, trained, measured and stored."""

import os

# Read by NumPy and PyTorch when they are first imported.
os.environ["OMP_NUM_THREADS"] = "1"
