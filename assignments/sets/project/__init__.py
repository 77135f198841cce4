"""The project: a translator of one's own, all of it marked by a person."""

from assignments.problem_sets import ProblemSet

SET = ProblemSet(
    (),
    manual=(
        "project-question",
        "project-data",
        "project-numbers",
        "project-ablation",
        "project-errors",
        "project-clarity",
    ),
)
