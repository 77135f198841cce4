"""Problem set 8, decoding and evaluation: 85 points by machine and 15 by hand."""

import numpy as np

from assignments.problem_sets import ProblemSet, Slip, Task

from . import allowed_next, cached_step, corpus_bleu, greedy_decode, mended_beam

LARGE = 50  # ordinary numbers stay far below


def _group_of_tables(case):
    if np.abs(case["logits"]).max() > LARGE:
        return "large numbers"
    ids, _ = greedy_decode.EXERCISE.oracle(**case)
    if not (ids == case["end"]).any(axis=1).all():
        return "cut off"
    return "base" if len(case["start"]) == 1 else "several sentences"


def _group_of_caches(case):
    if np.abs(case["x"]).max() > LARGE:
        return "large numbers"
    lengths = case["lengths"]
    if (lengths == 0).any():
        return "empty caches"
    return "base" if (lengths == lengths[0]).all() else "unequal lengths"


def _group_of_texts(case):
    if case["ids"].shape[1] < case["n"]:
        return "short sentences"
    return "base" if case["n"] == 2 else "other sizes"


def _group_of_corpora(case):
    precisions, _, _ = corpus_bleu.EXERCISE.oracle(**case)
    if not precisions.all():
        return "nothing shared"
    return "base" if case["references"].shape[1] == 1 else "several references"


def _group_of_beams(case):
    if case["width"] == 1:
        return "beam of one"
    beam = mended_beam.search(**case)
    return "base" if beam[0][1][-1] == case["end"] else "cut off"


# The mistakes stand as a table, one a line.
SET = ProblemSet(
    (
        Task(
            "greedy-decode",
            greedy_decode.EXERCISE,
            {"base": 6, "several sentences": 4, "cut off": 2, "large numbers": 2, "arguments": 1},
            _group_of_tables,
        ),
        Task(
            "cached-step",
            cached_step.EXERCISE,
            {"base": 8, "unequal lengths": 6, "empty caches": 3, "large numbers": 2,
             "arguments": 1},
            _group_of_caches,
        ),
        Task(
            "allowed-next",
            allowed_next.EXERCISE,
            {"base": 8, "other sizes": 4, "short sentences": 2, "arguments": 1},
            _group_of_texts,
        ),
        Task(
            "corpus-bleu",
            corpus_bleu.EXERCISE,
            {"base": 10, "several references": 6, "nothing shared": 3, "arguments": 1},
            _group_of_corpora,
        ),
        Task(
            "mended-beam",
            mended_beam.EXERCISE,
            {"base": 9, "cut off": 3, "beam of one": 2, "arguments": 1},
            _group_of_beams,
        ),
    ),
    manual=("synonyms",),
    slips=(
        Slip("ignores the end token", "greedy-decode", "running & (token != end)", "running",
             "end_ignored"),
        Slip("attends before it writes", "cached-step", "<= lengths", "< lengths",
             "written_too_late"),
        Slip("forgets the last n-gram", "allowed-next", "range(len(sentence) - n + 1)",
             "range(len(sentence) - n)", "last_gram_lost"),
        Slip("leaves out the brevity penalty", "corpus-bleu", "penalty * precisions.prod()",
             "precisions.prod()", "no_penalty"),
        Slip("does not mend the fault", "mended-beam", "if all(", "if any(", "first_to_end"),
    ),
)  # fmt: skip # Each slip stays beside its edit.
