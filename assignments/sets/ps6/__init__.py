"""Problem set 6, positions: 85 points by machine and 15 by hand."""

import numpy as np

from assignments.problem_sets import ProblemSet, Slip, Task

from . import (
    encode_positions,
    mended_rotary_scores,
    position_gradient,
    relative_scores,
    shift_encoding,
)


def _group_of_positions(case):
    positions = case["positions"]
    if case["d_model"] % 2:
        return "odd widths"
    if positions.dtype.kind == "f":
        return "fractions"
    return "base" if positions.ndim == 1 else "batches"


def _group_of_shifts(case):
    encoding = case["encoding"]
    # Each clock of a single position has length 1; of a mixture, less.
    if not np.allclose((encoding**2).sum(axis=-1), encoding.shape[-1] / 2):
        return "mixtures"
    if encoding.ndim != 2:
        return "batches"
    return "backwards" if (case["steps"] < 0).any() else "base"


def _group_of_relative(case):
    query, table = case["query"], case["table"]
    if query.ndim != 2:
        return "batches"
    return "base" if len(query) - 1 <= len(table) // 2 else "beyond the table"


SET = ProblemSet(
    (
        Task(
            "encode-positions",
            encode_positions.EXERCISE,
            {"base": 7, "odd widths": 3, "fractions": 2, "batches": 2, "arguments": 1},
            _group_of_positions,
        ),
        Task(
            "shift-encoding",
            shift_encoding.EXERCISE,
            {"base": 9, "backwards": 4, "mixtures": 4, "batches": 2, "arguments": 1},
            _group_of_shifts,
        ),
        Task(
            "relative-scores",
            relative_scores.EXERCISE,
            {"base": 9, "beyond the table": 6, "batches": 4, "arguments": 1},
            _group_of_relative,
        ),
        Task(
            "position-gradient",
            position_gradient.EXERCISE,
            {"base": 9, "padding anywhere": 5, "arguments": 1},
            lambda case: "padding anywhere" if (case["positions"] < 0).any() else "base",
        ),
        Task(
            "mended-rotary-scores",
            mended_rotary_scores.EXERCISE,
            {"base": 10, "batches": 4, "arguments": 1},
            lambda case: "base" if case["query"].ndim == 2 else "batches",
        ),
    ),
    manual=("beyond-what-was-seen",),
    slips=(
        Slip(
            "doubles the exponent",
            "encode-positions",
            "columns // 2 * 2",
            "columns // 2 * 4",
            "doubled_exponent",
        ),
        Slip(
            "moves back instead of on",
            "shift-encoding",
            "angles = steps",
            "angles = -steps",
            "backwards",
        ),
        Slip(
            "exchanges before and after",
            "relative-scores",
            "place - place[:, None]",
            "place[:, None] - place",
            "direction_reversed",
        ),
        Slip(
            "loses the positions that repeat",
            "position-gradient",
            "np.add.at(table, positions[real], gradient[real])",
            "table[positions[real]] += gradient[real]",
            "repeats_lost",
        ),
        Slip(
            "does not mend the exponent",
            "mended-rotary-scores",
            "np.exp(-np.log(base)",
            "np.exp(-2 * np.log(base)",
            "doubled_exponent",
        ),
    ),
)
