"""Problem set 3, multi-head attention: what its tasks ask, and the mistakes that are named."""

from attn.exercises.ps3 import across, grouped, mended, pack, prune

SPECS = (pack, prune, grouped, across, mended)
