"""Problem set 12, a reward that cannot be hacked: 85 points by machine and 15 by hand."""

import numpy as np

from assignments.problem_sets import ProblemSet, Slip, Task

from . import baseline_variance, longest_leash, mended_step, shortest_hack, sound_verifier

LARGE = 50  # The logits of the other groups stay far below this.
LONG = 4  # words, without the end


def _group_of_hacks(case):
    answer = shortest_hack.shortest_hack(*case.values())
    if answer[-1] < 0:
        return "no hack"
    return "long hacks" if len(answer) > LONG else "base"


def _group_of_answers(case):
    if case["answers"].shape[1] == len(case["allowed"]):
        return "no end"
    ended = np.cumsum(case["answers"] == 0, axis=1) > 0
    return "after the end" if case["answers"][ended].any() else "base"


def _group_of_leashes(case):
    hacked, paid = (
        case["reference"][w].sum() for w in (case["paid"] & ~case["right"], case["paid"])
    )
    return "slack leashes" if hacked < case["limit"] * paid else "base"


def _group_of_logits(case):
    return "large numbers" if np.abs(case["logits"]).max() > LARGE else "base"


SET = ProblemSet(
    (
        Task(
            "shortest-hack",
            shortest_hack.EXERCISE,
            {"base": 13, "long hacks": 3, "no hack": 3, "arguments": 1},
            _group_of_hacks,
        ),
        Task(
            "sound-verifier",
            sound_verifier.EXERCISE,
            {"base": 12, "after the end": 5, "no end": 2, "arguments": 1},
            _group_of_answers,
        ),
        Task(
            "baseline-variance",
            baseline_variance.EXERCISE,
            {"base": 10, "large numbers": 4, "arguments": 1},
            _group_of_logits,
        ),
        Task(
            "longest-leash",
            longest_leash.EXERCISE,
            {"base": 10, "slack leashes": 4, "arguments": 1},
            _group_of_leashes,
        ),
        Task(
            "mended-step",
            mended_step.EXERCISE,
            {"base": 10, "large numbers": 4, "arguments": 1},
            _group_of_logits,
        ),
    ),
    manual=("remedies",),
    slips=(
        Slip(
            "takes the first paid answer for a hack",
            "shortest-hack",
            "pays[s] and not right[t]",
            "pays[s]",
            "paid_whether_right_or_not",
        ),
        Slip(
            "asks for no agreement",
            "sound-verifier",
            "len(genders - {0}) < 2",
            "len(genders) >= 0",
            "agreement_forgotten",
        ),
        Slip(
            "takes the chance of a reward for the reward",
            "baseline-variance",
            "chance - 2 * baseline * chance + baseline**2",
            "(chance - baseline) ** 2",
            "noise_forgotten",
        ),
        Slip(
            "gives one over beta",
            "longest-leash",
            "1 / np.log(factor)",
            "np.log(factor)",
            "beta_upside_down",
        ),
        Slip(
            "has the leash push",
            "mended-step",
            "rewards - beta *",
            "rewards + beta *",
            "pushed_away",
        ),
    ),
    groups={
        "long hacks": {
            "es": "trampas de cuatro palabras o más",
            "en": "hacks of four words or more",
        },
        "no hack": {"es": "verificadores sin trampa", "en": "verifiers without a hack"},
        "no end": {"es": "respuestas sin final", "en": "answers without an end"},
        "slack leashes": {"es": "límites que no piden correa", "en": "limits that need no leash"},
    },
)
