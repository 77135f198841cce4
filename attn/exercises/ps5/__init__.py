"""Problem set 5, masking: what its tasks ask, and the mistakes that the grader names."""

from attn.exercises.ps5 import gradient, mended, packed, prefix, streaming

SPECS = (streaming, packed, prefix, gradient, mended)
