"""Problem set 4, encoder and decoder: what its tasks ask, and the mistakes that are named."""

from attn.exercises.ps4 import decoder, gated, gradient, rms, stack

SPECS = (rms, gated, gradient, stack, decoder)
