"""Problem set 5, masking: 85 points by machine and 15 by hand."""

import numpy as np

from assignments.problem_sets import ProblemSet, Slip, Task

from . import (
    masked_softmax_gradient,
    mended_head_weights,
    packed_mask,
    prefix_mask,
    streaming_mask,
)


def _group_of_windows(case):
    if case["tgt_len"] < case["src_len"]:
        return "stored keys"
    return "first tokens" if case["n_first"] else "base"


def _group_of_texts(case):
    if (case["ids"][:, 0] != case["start_id"]).any():
        return "cut texts"
    return "padding at the end" if (case["ids"] == 0).any() else "base"


def _group_of_questions(case):
    if case["real"].all():
        return "base"
    return "padding at the end" if case["real"][:, 0].all() else "padding in front"


def _group_of_scores(case):
    if case["scores"].ndim > 2:
        return "batches"
    if not case["mask"].any(axis=-1).all():
        return "empty rows"
    return "large numbers" if np.abs(case["scores"]).max() > 100 else "base"


def _group_of_heads(case):
    return "large numbers" if np.abs(case["query"]).max() > 100 else "base"


SET = ProblemSet(
    (
        Task(
            "streaming-mask",
            streaming_mask.EXERCISE,
            {"base": 7, "first tokens": 3, "stored keys": 4, "arguments": 1},
            _group_of_windows,
        ),
        Task(
            "packed-mask",
            packed_mask.EXERCISE,
            {"base": 10, "padding at the end": 4, "cut texts": 5, "arguments": 1},
            _group_of_texts,
        ),
        Task(
            "prefix-mask",
            prefix_mask.EXERCISE,
            {"base": 7, "padding at the end": 3, "padding in front": 4, "arguments": 1},
            _group_of_questions,
        ),
        Task(
            "masked-softmax-gradient",
            masked_softmax_gradient.EXERCISE,
            {"base": 8, "large numbers": 4, "empty rows": 5, "batches": 2, "arguments": 1},
            _group_of_scores,
        ),
        Task(
            "mended-head-weights",
            mended_head_weights.EXERCISE,
            {"base": 11, "large numbers": 3, "arguments": 1},
            _group_of_heads,
        ),
    ),
    manual=("the-word-that-tells",),
    slips=(
        Slip(
            "gives the window one key too many",
            "streaming-mask",
            "position - key < window",
            "position - key <= window",
            "one_too_many",
        ),
        Slip(
            "lets each text read those before it",
            "packed-mask",
            "(text[:, :, None] == text[:, None, :])",
            "(text[:, :, None] >= text[:, None, :])",
            "texts_ignored",
        ),
        Slip(
            "counts padding as the question",
            "prefix-mask",
            "real.cumsum(axis=-1)",
            "(1 + np.arange(real.shape[-1]))",
            "padding_counted",
        ),
        Slip(
            "subtracts the mean of all",
            "masked-softmax-gradient",
            "(weights * gradient).sum(axis=-1, keepdims=True)",
            "gradient.mean(axis=-1, keepdims=True)",
            "plain_mean",
        ),
        Slip(
            "does not mend the masks",
            "mended-head-weights",
            "np.repeat(real[:, None, :], n_heads, axis=0)",
            "np.tile(real[:, None, :], (n_heads, 1, 1))",
            "masks_of_other_sentences",
        ),
    ),
)
