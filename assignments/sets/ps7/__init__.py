"""Problem set 7, training: 85 points by machine and 15 by hand."""

import numpy as np

from assignments.problem_sets import ProblemSet, Slip, Task

from . import (
    adamw_step,
    clip_gradients,
    cosine_schedule,
    mended_accumulation,
    next_token_loss,
)

LARGE = 20  # ordinary numbers stay far below
TINY = 1e-6  # ordinary gradients stay far above


def _group_of_predictions(case):
    if np.abs(case["logits"]).max() > LARGE:
        return "large numbers"
    if (case["ids"] == case["pad_id"]).any():
        return "padding at the end"
    return "smoothing" if case["smoothing"] else "base"


def _group_of_gradients(case):
    w, b, most = case.values()
    norm = np.sqrt((w**2).sum() + (b**2).sum())
    return "base" if norm > most else "small gradients" if norm else "zero gradients"


def _group_of_weights(case):
    if np.abs(case["gradient"]).min() < TINY:
        return "tiny gradients"
    return {1: "vectors", 2: "base"}.get(case["theta"].ndim, "more axes")


def _group_of_steps(case):
    if not case["warmup"]:
        return "without warm-up"
    if case["t"].max() > case["n_steps"]:
        return "after the end"
    return "floor" if case["floor"] else "base"


def _group_of_parts(case):
    if np.abs(case["w"]).max() > LARGE:
        return "large numbers"
    return "base" if case["counts"].any(axis=1).all() else "empty parts"


SET = ProblemSet(
    (
        Task(
            "next-token-loss",
            next_token_loss.EXERCISE,
            {
                "base": 10,
                "smoothing": 6,
                "padding at the end": 6,
                "large numbers": 2,
                "arguments": 1,
            },
            _group_of_predictions,
        ),
        Task(
            "clip-gradients",
            clip_gradients.EXERCISE,
            {"base": 8, "small gradients": 4, "zero gradients": 2, "arguments": 1},
            _group_of_gradients,
        ),
        Task(
            "adamw-step",
            adamw_step.EXERCISE,
            {"base": 8, "vectors": 3, "more axes": 1, "tiny gradients": 2, "arguments": 1},
            _group_of_weights,
        ),
        Task(
            "cosine-schedule",
            cosine_schedule.EXERCISE,
            {"base": 7, "floor": 3, "after the end": 2, "without warm-up": 2, "arguments": 1},
            _group_of_steps,
        ),
        Task(
            "mended-accumulation",
            mended_accumulation.EXERCISE,
            {"base": 9, "empty parts": 3, "large numbers": 2, "arguments": 1},
            _group_of_parts,
        ),
    ),
    manual=("two-ways-to-shrink",),
    slips=(
        Slip("does not shift", "next-token-loss", "ids[:, 1:]", "ids[:, :-1]", "not_shifted"),
        Slip(
            "caps every number",
            "clip-gradients",
            "return w_gradient * scale, b_gradient * scale, norm",
            "return *(np.clip(g, -max_norm, max_norm) for g in (w_gradient, b_gradient)), norm",
            "by_value",
        ),
        Slip(
            "puts the decay into the gradient",
            "adamw-step",
            "m = 0.9 * m",
            "gradient, decay = gradient + decay, 0\n    m = 0.9 * m",
            "inside_the_gradient",
        ),
        Slip(
            "is late by a step",
            "cosine-schedule",
            "(n_steps - warmup)",
            "(n_steps + 1 - warmup)",
            "late_end",
        ),
        Slip(
            "does not mend the fault",
            "mended-accumulation",
            " / counts.sum()",
            " / real.sum() / len(x)",
            "mean_of_means",
        ),
    ),
)
