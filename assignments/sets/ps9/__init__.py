"""Problem set 9, a modern decoder: 85 points by machine and 15 by hand."""

import numpy as np

from assignments.problem_sets import ProblemSet, Slip, Task

from . import cache_bytes, decode_step, mended_block, rotate_halves, verify_draft

LARGE = 50  # ordinary numbers stay far below


def _group_of_positions(case):
    positions = case["positions"]
    if positions.ndim > 1:
        return "batches"
    return "base" if np.array_equal(positions, np.arange(len(positions))) else "later positions"


def _group_of_steps(case):
    if np.abs(case["x"]).max() > LARGE:
        return "large numbers"
    if case["keys"].shape[1] == 0:
        return "empty caches"
    return "base" if len(case["w_q"]) == len(case["w_k"]) else "shared keys"


def _group_of_lengths(case):
    if (case["lengths"] == 0).any():
        return "empty caches"
    return "windows" if case["windows"].any() else "base"


def _group_of_drafts(case):
    if not len(case["tokens"]):
        return "empty drafts"
    n_kept, _ = verify_draft.EXERCISE.oracle(**case)
    return "kept whole" if n_kept == len(case["tokens"]) else "base"


# The mistakes stand as a table, one a line.
SET = ProblemSet(
    (
        Task(
            "rotate-halves",
            rotate_halves.EXERCISE,
            {"base": 8, "later positions": 3, "batches": 3, "arguments": 1},
            _group_of_positions,
        ),
        Task(
            "decode-step",
            decode_step.EXERCISE,
            {"base": 9, "shared keys": 6, "empty caches": 2, "large numbers": 2, "arguments": 1},
            _group_of_steps,
        ),
        Task(
            "cache-bytes",
            cache_bytes.EXERCISE,
            {"base": 8, "windows": 4, "empty caches": 2, "arguments": 1},
            _group_of_lengths,
        ),
        Task(
            "verify-draft",
            verify_draft.EXERCISE,
            {"base": 11, "kept whole": 6, "empty drafts": 2, "arguments": 1},
            _group_of_drafts,
        ),
        Task(
            "mended-block",
            mended_block.EXERCISE,
            {"base": 11, "batches": 3, "arguments": 1},
            lambda case: "base" if case["x"].ndim == 2 else "batches",
        ),
    ),
    manual=("draft-length",),
    slips=(
        Slip("counts the positions from one", "rotate-halves", "positions[..., None]",
             "(positions[..., None] + 1)", "counted_from_one"),
        Slip("stores the key before turning it", "decode-step", "turn(x @ w_k)", "x @ w_k",
             "key_not_turned"),
        Slip("counts the keys and not the values", "cache-bytes", "2 * n_kv_heads", "n_kv_heads",
             "keys_alone"),
        Slip("leaves out the token after a whole draft", "verify-draft", "rest = target[n_kept]",
             "rest = target[min(n_kept, len(tokens) - 1)]", "last_before_the_draft"),
        Slip("does not mend the fault", "mended-block", "(x**2).mean(axis=-1, keepdims=True)",
             "(x**2).mean()", "one_size_for_all"),
    ),
    groups={
        "later positions": {"es": "posiciones que no empiezan en 0", "en": "positions that do not begin at 0"},
        "shared keys": {"es": "keys compartidas", "en": "shared keys"},
        "windows": {"es": "capas con ventana", "en": "layers with a window"},
        "kept whole": {"es": "borradores enteros", "en": "drafts kept whole"},
        "empty drafts": {"es": "borradores vacíos", "en": "empty drafts"},
    },
)  # fmt: skip # Each slip stays beside its edit.
