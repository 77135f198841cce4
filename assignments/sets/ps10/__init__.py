"""Problem set 10, what attention computes: 85 points by machine and 15 by hand."""

import numpy as np

from assignments.problem_sets import ProblemSet, Slip, Task

from . import head_scores, induction_circuit, mended_lens, patching_map, probe_selectivity

LARGE = 50  # The inputs of the other groups stay far below this.


def _group_of_heads(case):
    most = np.unique(case["ids"], return_counts=True)[1].max()
    return {1: "nothing repeated", 2: "base"}.get(int(most), "several copies")


def _group_of_circuits(case):
    if case["strength"] > LARGE:
        return "large numbers"
    return "base" if case["ids"].ndim == 1 else "batches"


def _group_of_patches(case):
    if len(case["mixing"]) == 1:
        return "one layer"
    runs = [case["clean"], case["corrupted"]]
    for mix, matrix in zip(case["mixing"], case["matrices"], strict=True):
        runs = [x + np.tanh(mix @ x @ matrix) for x in runs]
    clean, corrupted = (x[-1] @ case["direction"] for x in runs)
    return "base" if clean > corrupted else "clean below"


def _group_of_probes(case):
    if case["penalty"] > 0:
        return "penalties"
    n_train = case["n_train"]
    return "base" if set(case["ids"][n_train:]) <= set(case["ids"][:n_train]) else "new words"


SET = ProblemSet(
    (
        Task(
            "head-scores",
            head_scores.EXERCISE,
            {"base": 8, "several copies": 4, "nothing repeated": 2, "arguments": 1},
            _group_of_heads,
        ),
        Task(
            "induction-circuit",
            induction_circuit.EXERCISE,
            {"base": 11, "batches": 5, "large numbers": 3, "arguments": 1},
            _group_of_circuits,
        ),
        Task(
            "patching-map",
            patching_map.EXERCISE,
            {"base": 12, "clean below": 5, "one layer": 2, "arguments": 1},
            _group_of_patches,
        ),
        Task(
            "probe-selectivity",
            probe_selectivity.EXERCISE,
            {"base": 8, "penalties": 4, "new words": 2, "arguments": 1},
            _group_of_probes,
        ),
        Task(
            "mended-lens",
            mended_lens.EXERCISE,
            {"base": 10, "large numbers": 4, "arguments": 1},
            lambda case: "large numbers" if np.abs(case["unembedding"]).max() > LARGE else "base",
        ),
    ),
    manual=("looks-and-matters",),
    slips=(
        Slip("looks at the repeated token itself", "head-scores", "weights[:, :, 1:] * same[:, :-1]", "weights * same",
             "repeated_token_itself"),
        Slip("takes the keys of the tokens", "induction-circuit", "token @ before.mT",
             "token @ token.mT", "keys_of_the_token"),
        Slip("lets the patches pile up", "patching-map", "streams[layer].copy()",
             "streams[layer]", "patches_pile_up"),
        Slip("measures on the tokens of the fit", "probe-selectivity", "slice(n_train, None)",
             "slice(n_train)", "measured_on_the_training_tokens"),
        Slip("does not mend the fault", "mended-lens", "(stream**2)", "(stream[-1] ** 2)",
             "size_of_the_last_layer"),
    ),
    groups={
        "several copies": {"es": "tokens que salen más de dos veces", "en": "tokens that come more than twice"},
        "nothing repeated": {"es": "textos sin repeticiones", "en": "texts without repetitions"},
        "clean below": {"es": "respuestas que bajan al recuperarse", "en": "answers that fall as they come back"},
        "one layer": {"es": "una sola capa", "en": "a single layer"},
        "penalties": {"es": "con penalización", "en": "with a penalty"},
        "new words": {"es": "palabras nuevas", "en": "new words"},
    },
)  # fmt: skip # Each slip stays beside its edit.
