"""Problem set 11, a mixer that nobody has named: 85 points by machine and 15 by hand."""

import numpy as np

from assignments.problem_sets import ProblemSet, Slip, Task

from . import forget_by_use, matched_differences, mended_mixer, use_in_chunks, use_matrix
from .rule import kept

LARGE = 50  # The inputs of the other groups stay far below this.


def _wiped(case):
    return (kept(case["key"], case["beta"]) == 0).any()


def _group_of_scans(case):
    if _wiped(case):
        return "wiped rows"
    return "kept states" if case["state"].any() else "base"


def _group_of_chunks(case):
    if _wiped(case):
        return "wiped rows"
    return "short chunks" if len(case["key"]) % case["size"] else "base"


def _group_of_experiments(case):
    means = case["validation"].mean(axis=-1)
    return "ties" if ((means == means.max(-1, keepdims=True)).sum(-1) > 1).any() else "base"


SET = ProblemSet(
    (
        Task(
            "forget-by-use",
            forget_by_use.EXERCISE,
            {"base": 12, "kept states": 5, "wiped rows": 2, "arguments": 1},
            _group_of_scans,
        ),
        Task(
            "use-matrix",
            use_matrix.EXERCISE,
            {"base": 12, "wiped rows": 7, "arguments": 1},
            lambda case: "wiped rows" if _wiped(case) else "base",
        ),
        Task(
            "use-in-chunks",
            use_in_chunks.EXERCISE,
            {"base": 9, "short chunks": 3, "wiped rows": 2, "arguments": 1},
            _group_of_chunks,
        ),
        Task(
            "matched-differences",
            matched_differences.EXERCISE,
            {"base": 10, "ties": 4, "arguments": 1},
            _group_of_experiments,
        ),
        Task(
            "mended-mixer",
            mended_mixer.EXERCISE,
            {"base": 10, "large numbers": 4, "arguments": 1},
            lambda case: "large numbers" if np.abs(case["x"]).max() > LARGE else "base",
        ),
    ),
    manual=("verdict",),
    slips=(
        Slip(
            "forgets what is being written",
            "forget-by-use",
            "keep[:, None] * state + b * np.outer(k, v)",
            "keep[:, None] * (state + b * np.outer(k, v))",
            "decays_what_it_writes",
        ),
        Slip(
            "counts the forgetting of the token itself",
            "use-matrix",
            "keep[s + 1 : t + 1]",
            "keep[s : t + 1]",
            "own_decay_counted",
        ),
        Slip(
            "begins every chunk with an empty state",
            "use-in-chunks",
            "(q * since) @ state",
            "0 * (q * since) @ state",
            "chunks_alone",
        ),
        Slip(
            "chooses the rate where it measures",
            "matched-differences",
            "validation.mean(axis=-1)",
            "test.mean(axis=-1)",
            "chosen_on_the_test",
        ),
        Slip(
            "does not mend the fault",
            "mended-mixer",
            "keep = 1 - beta[:, None] * key**2",
            "keep = 1 - beta[:, None] * (x @ w_k)**2",
            "raw_key_in_the_decay",
        ),
    ),
    groups={
        "kept states": {"es": "estados de un texto anterior", "en": "states of an earlier text"},
        "wiped rows": {"es": "filas borradas del todo", "en": "rows wiped altogether"},
        "short chunks": {"es": "un último trozo más corto", "en": "a shorter last chunk"},
    },
)
