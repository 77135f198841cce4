"""Problem set 6, positions: what its tasks ask, and the mistakes that the grader names."""

from attn.exercises.ps6 import encode, gradient, mended, relative, shift

SPECS = (encode, shift, relative, gradient, mended)
