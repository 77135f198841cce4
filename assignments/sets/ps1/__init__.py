"""Problem set 1, embeddings and similarity: 85 points by machine and 15 by hand."""

import numpy as np

from assignments.problem_sets import ProblemSet, Slip, Task
from attn.reference import cosine_similarity

from . import (
    analogy,
    mended_similarities,
    nearest,
    negative_sampling,
    sentence_vectors,
)

LARGE = 20  # ordinary products stay far below
FEW = 6  # words, of which three are given


def _group_of_search(case):
    vectors, query = case["vectors"], case["query"]
    if not (vectors.any(axis=-1).all() and query.any()):
        return "zero vectors"
    if query.ndim > 1:
        return "batches"
    similarity = cosine_similarity(query[None], vectors).round(9)
    return "ties" if np.unique(similarity).size < similarity.size else "base"


def _group_of_sentences(case):
    real = case["ids"] != 0
    if not real.any(axis=-1).all():
        return "empty sentences"
    if real.ndim != 2:
        return "batches"
    if real.all():
        return "base"
    return "padding anywhere" if (~real[:, :-1] & real[:, 1:]).any() else "padding at the end"


def _group_of_analogies(case):
    if case["a"].ndim != 1:
        return "batches"
    return "few words" if len(case["vectors"]) <= FEW else "base"


def _group_of_neighbours(case):
    if case["center"].ndim != 1:
        return "batches"
    return "large numbers" if np.abs(case["center"]).max() > LARGE else "base"


def _group_of_words(case):
    if case["x"].ndim != 2:
        return "batches"
    return "base" if case["x"].any(axis=-1).all() else "zero vectors"


SET = ProblemSet(
    (
        Task(
            "nearest",
            nearest.EXERCISE,
            {"base": 9, "ties": 4, "zero vectors": 3, "batches": 3, "arguments": 1},
            _group_of_search,
        ),
        Task(
            "sentence-vectors",
            sentence_vectors.EXERCISE,
            {
                "base": 6,
                "padding at the end": 3,
                "padding anywhere": 2,
                "empty sentences": 2,
                "batches": 1,
                "arguments": 1,
            },
            _group_of_sentences,
        ),
        Task(
            "analogy",
            analogy.EXERCISE,
            {"base": 9, "few words": 3, "batches": 2, "arguments": 1},
            _group_of_analogies,
        ),
        Task(
            "negative-sampling",
            negative_sampling.EXERCISE,
            {"base": 12, "large numbers": 4, "batches": 3, "arguments": 1},
            _group_of_neighbours,
        ),
        Task(
            "mended-similarities",
            mended_similarities.EXERCISE,
            {"base": 9, "zero vectors": 2, "batches": 3, "arguments": 1},
            _group_of_words,
        ),
    ),
    manual=("hubs",),
    slips=(
        Slip("ranks by the dot product", "nearest", "vectors / length(vectors)", "vectors",
             "dot_product"),
        Slip("counts the padding", "sentence-vectors", "np.maximum(real.sum(axis=-2), 1)",
             "ids.shape[-1]", "divided_by_length"),
        Slip("lets the answer be one of the question", "analogy", "-np.inf", "score",
             "nothing_excluded"),
        Slip("does not mend the fault", "mended-similarities", "(lengths * lengths.mT)",
             "(lengths * lengths)", "own_length_twice"),
        Slip("averages the random words", "negative-sampling", ".sum(axis=-1)\n    d_right",
             ".mean(axis=-1)\n    d_right", "mean_of_negatives"),
    ),
)  # fmt: skip # Each slip stays beside its edit.
