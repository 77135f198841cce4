"""Problem set 7, training: what its tasks ask, and the mistakes that the grader names."""

from attn.exercises.ps7 import accumulate, adamw, clip, next_token, schedule

SPECS = (next_token, clip, adamw, schedule, accumulate)
