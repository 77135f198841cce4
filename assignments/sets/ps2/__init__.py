"""Problem set 2, self-attention: 85 points by machine and 15 by hand."""

import numpy as np

from assignments.problem_sets import ProblemSet, Slip, Task

from . import (
    attend_once,
    causal_padding_mask,
    mended_self_attention,
    packed_self_attention,
    softmax_with_temperature,
)

LARGE = 20  # The inputs of the other groups stay far below this.


def _group_of_rows(case):
    scores = case["scores"]
    if np.isneginf(scores).all(axis=-1).any():
        return "empty rows"
    if np.abs(scores[np.isfinite(scores)]).max() > LARGE:
        return "large numbers"
    return "base" if scores.ndim == 2 else "batches"


def _group_of_attention(case, ordinary_axes):
    """Return the group of an input of attention, whose first argument has so many axes."""
    first, mask = next(iter(case.values())), case.get("mask")
    if mask is not None and not mask.any(axis=-1).all():
        return "empty rows"
    if np.abs(first).max() > LARGE:
        return "large numbers"
    if first.ndim != ordinary_axes:
        return "batches"
    return "base" if mask is None else "masks"


def _group_of_ids(case):
    real = case["ids"] != 0
    if real.all():
        return "base"
    # Padding is at the end unless a padding token stands before a real one.
    return "padding anywhere" if (~real[:, :-1] & real[:, 1:]).any() else "padding at the end"


SET = ProblemSet(
    (
        Task(
            "softmax-with-temperature",
            softmax_with_temperature.EXERCISE,
            {"base": 6, "large numbers": 3, "empty rows": 3, "batches": 2, "arguments": 1},
            _group_of_rows,
        ),
        Task(
            "attend-once",
            attend_once.EXERCISE,
            {
                "base": 8,
                "masks": 5,
                "large numbers": 2,
                "empty rows": 2,
                "batches": 2,
                "arguments": 1,
            },
            lambda case: _group_of_attention(case, 2),
        ),
        Task(
            "causal-padding-mask",
            causal_padding_mask.EXERCISE,
            {"base": 6, "padding at the end": 5, "padding anywhere": 3, "arguments": 1},
            _group_of_ids,
        ),
        Task(
            "packed-self-attention",
            packed_self_attention.EXERCISE,
            {
                "base": 8,
                "masks": 5,
                "large numbers": 2,
                "empty rows": 2,
                "batches": 2,
                "arguments": 1,
            },
            lambda case: _group_of_attention(case, 2),
        ),
        Task(
            "mended-self-attention",
            mended_self_attention.EXERCISE,
            {"base": 9, "large numbers": 2, "batches": 3, "arguments": 1},
            lambda case: _group_of_attention(case, 2),
        ),
    ),
    manual=("same-projection",),
    slips=(
        Slip("forgets the scale", "attend-once", " / np.sqrt(query.shape[-1])", "", "unscaled"),
        Slip(
            "inverts the mask",
            "packed-self-attention",
            "np.where(mask, scores, -np.inf)",
            "np.where(mask, -np.inf, scores)",
            "mask_inverted",
        ),
        Slip("lets tokens see the future", "causal-padding-mask", "np.tril", "np.triu", "future"),
        Slip(
            "does not mend the fault",
            "mended-self-attention",
            "query @ key.mT",
            "key @ query.mT",
            "key_asks",
        ),
        Slip(
            "breaks on large numbers",
            "softmax-with-temperature",
            "np.exp(scores - np.where(np.isfinite(peak), peak, 0))",
            "np.exp(scores)",
            "overflow",
        ),
    ),
)
