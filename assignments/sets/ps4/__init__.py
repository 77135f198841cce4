"""Problem set 4, encoder and decoder: 85 points by machine and 15 by hand."""

import numpy as np

from assignments.problem_sets import ProblemSet, Slip, Task

from . import (
    gated_feed_forward,
    layer_norm_gradient,
    mended_stack,
    pre_norm_decoder_layer,
    rms_norm,
)

LARGE = 20  # ordinary numbers stay far below
SMALL = 0.1  # ordinary vectors are far longer, and their components far apart


def _group_of_vectors(case):
    x = case["x"]
    if np.abs(x).max(axis=-1).min() < SMALL:
        return "small vectors"
    return "base" if x.ndim == 2 else "batches"


def _group_of_norms(case):
    x = case["x"]
    if np.ptp(x, axis=-1).min() < SMALL:
        return "nearly constant"
    return "base" if x.ndim == 2 else "batches"


def _group_of_network(case):
    x = case["x"]
    if np.abs(x).max() > LARGE:
        return "large numbers"
    return "base" if x.ndim == 2 else "batches"


def _group_of_sentences(case):
    real = case.get("real")
    if real is not None and not real.any(axis=-1).all():
        return "empty rows"
    if case["x"].ndim != 2:
        return "batches"
    if np.abs(case["memory"]).max() > LARGE:
        return "large numbers"
    return "base" if real is None else "masks"


SET = ProblemSet(
    (
        Task(
            "rms-norm",
            rms_norm.EXERCISE,
            {"base": 8, "small vectors": 3, "batches": 3, "arguments": 1},
            _group_of_vectors,
        ),
        Task(
            "gated-feed-forward",
            gated_feed_forward.EXERCISE,
            {"base": 9, "large numbers": 3, "batches": 2, "arguments": 1},
            _group_of_network,
        ),
        Task(
            "layer-norm-gradient",
            layer_norm_gradient.EXERCISE,
            {"base": 13, "nearly constant": 3, "batches": 3, "arguments": 1},
            _group_of_norms,
        ),
        Task(
            "mended-stack",
            mended_stack.EXERCISE,
            {"base": 11, "batches": 3, "arguments": 1},
            lambda case: "base" if case["x"].ndim == 2 else "batches",
        ),
        Task(
            "pre-norm-decoder-layer",
            pre_norm_decoder_layer.EXERCISE,
            {
                "base": 9,
                "masks": 3,
                "large numbers": 2,
                "empty rows": 2,
                "batches": 3,
                "arguments": 1,
            },
            _group_of_sentences,
        ),
    ),
    manual=("skipped-layer",),
    slips=(
        Slip(
            "subtracts the mean",
            "rms-norm",
            "    size =",
            "    x = x - x.mean(axis=-1, keepdims=True)\n    size =",
            "layer_norm",
        ),
        Slip(
            "gates with the sigmoid alone",
            "gated-feed-forward",
            "gate / (1",
            "1 / (1",
            "sigmoid_gate",
        ),
        Slip(
            "takes the deviation for a constant",
            "layer-norm-gradient",
            " - z * (by_z * z).mean(axis=-1, keepdims=True)",
            "",
            "deviation_held",
        ),
        Slip(
            "does not mend the fault",
            "mended-stack",
            "x = x + np.maximum",
            "x = normed + np.maximum",
            "residual_normalised",
        ),
        Slip(
            "leaves out a residual connection",
            "pre-norm-decoder-layer",
            "x = x + attend(norm(x)",
            "x = attend(norm(x)",
            "residual_missing",
        ),
    ),
)
