"""Problem set 3, multi-head attention: 85 points by machine and 15 by hand."""

import numpy as np

from assignments.problem_sets import ProblemSet, Slip, Task

from . import (
    grouped_attention,
    mended_heads,
    multi_head_cross_attention,
    pack_heads,
    prune_heads,
)

LARGE = 20  # ordinary numbers stay far below


def _group_of_packing(case):
    n_heads, d_model, d_k = case["w_q"].shape
    return "base" if n_heads * d_k == d_model else "other widths"


def _group_of_pruning(case):
    if not case["kept"].any():
        return "no head left"
    return "base" if case["w_q"].shape == case["w_v"].shape else "other widths"


def _group_of_heads(case):
    query, mask = case["query"], case.get("mask")
    if mask is not None and not mask.any(axis=-1).all():
        return "empty rows"
    if np.abs(query).max() > LARGE:
        return "large numbers"
    if query.ndim != 3:
        return "batches"
    return "base" if mask is None else "masks"


def _group_of_sentences(case):
    real = case.get("real")
    if real is not None and not real.any(axis=-1).all():
        return "empty rows"
    if case["x"].ndim != 2:
        return "batches"
    return "base" if real is None else "masks"


SET = ProblemSet(
    (
        Task(
            "pack-heads",
            pack_heads.EXERCISE,
            {"base": 10, "other widths": 4, "arguments": 1},
            _group_of_packing,
        ),
        Task(
            "prune-heads",
            prune_heads.EXERCISE,
            {"base": 9, "other widths": 3, "no head left": 2, "arguments": 1},
            _group_of_pruning,
        ),
        Task(
            "grouped-attention",
            grouped_attention.EXERCISE,
            {
                "base": 8,
                "masks": 5,
                "large numbers": 2,
                "empty rows": 2,
                "batches": 2,
                "arguments": 1,
            },
            _group_of_heads,
        ),
        Task(
            "multi-head-cross-attention",
            multi_head_cross_attention.EXERCISE,
            {"base": 9, "masks": 4, "empty rows": 2, "batches": 4, "arguments": 1},
            _group_of_sentences,
        ),
        Task(
            "mended-heads",
            mended_heads.EXERCISE,
            {"base": 9, "large numbers": 2, "batches": 3, "arguments": 1},
            _group_of_heads,
        ),
    ),
    manual=("who-can-win",),
    slips=(
        Slip("moves no axis", "pack-heads", "w.mT.reshape", "w.reshape", "reshaped_only"),
        Slip(
            "leaves the output matrix whole",
            "prune-heads",
            "w_o[np.repeat(kept, len(w_o) // len(kept))]",
            "w_o",
            "output_untouched",
        ),
        Slip(
            "deals out the keys in turn",
            "grouped-attention",
            "np.repeat(key, times, axis=-3), np.repeat(value, times, axis=-3)",
            "np.tile(key, (times, 1, 1)), np.tile(value, (times, 1, 1))",
            "tiled",
        ),
        Slip(
            "forgets the output projection",
            "multi-head-cross-attention",
            "joined @ w_o",
            "joined",
            "no_output_projection",
        ),
        Slip(
            "does not mend the fault",
            "mended-heads",
            "heads.swapaxes(-3, -2).reshape",
            "heads.reshape",
            "joined_by_reshape",
        ),
    ),
)
