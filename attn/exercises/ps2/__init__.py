"""Problem set 2, self-attention: what its tasks ask, and the mistakes that the grader names."""

from attn.exercises.ps2 import attend_once, mask, mended, packed, softmax

SPECS = (softmax, attend_once, mask, packed, mended)
