"""Problem set 8, decoding and evaluation: its tasks, and the mistakes the grader names."""

from attn.exercises.ps8 import allowed, corpus, greedy, mended, step

SPECS = (greedy, step, allowed, corpus, mended)
