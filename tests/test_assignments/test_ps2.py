"""Problem set 2, self-attention."""

import re

import numpy as np

from notebooks.build import LANGUAGES
from tests.test_assignments import ps2_solutions as answers
from tests.test_assignments.proofs import Proofs, function, marked

# What a slip costs, worked out by hand from the points in the text of the set.
WORTH = {
    (answers.SOFTMAX, "no maximum"): (12, "partial"),
    (answers.SOFTMAX, "maximum too early"): (12, "partial"),
    (answers.SOFTMAX, "NaN on an empty row"): (12, "partial"),
    (answers.SOFTMAX, "second axis"): (13, "partial"),
    (answers.SOFTMAX, "writes into scores"): (14, "partial"),
    (answers.SOFTMAX, "no temperature"): (0, "wrong"),
    (answers.ONCE, "no scale"): (0, "wrong"),
    (answers.ONCE, "mask ignored"): (8 + 1, "partial"),
    (answers.ONCE, "mask without if"): (0, "wrong"),
    (answers.ONCE, "finite fill"): (18, "partial"),
    (answers.ONCE, "-5000, then zeros"): (18, "partial"),
    (answers.ONCE, "maximum before the mask"): (18, "partial"),
    (answers.ONCE, "one batch axis only"): (18, "partial"),
    (answers.ONCE, "writes into the mask"): (19, "partial"),
    (answers.MASK, "counted"): (12, "partial"),
    (answers.MASK, "order only"): (6 + 1, "partial"),
    (answers.MASK, "padding only"): (0, "wrong"),
    (answers.MASK, "writes into ids"): (14, "partial"),
    (answers.PACKED, "unbatched only"): (18, "partial"),
    (answers.PACKED, "NaN if nothing is allowed"): (18, "partial"),
    (answers.PACKED, "swapped query and key"): (0, "wrong"),
    (answers.MENDED, "as given"): (0, "wrong"),
    (answers.MENDED, "unbatched only"): (12, "partial"),
    (answers.MENDED, "maximum lost"): (13, "partial"),
    (answers.MENDED, "batches only"): (0, "wrong"),
    (answers.MENDED, "writes into w_k"): (14, "partial"),
}

# Those that change no value of the function, by exercise, and why.
PEAK = "stands for the maximum of an empty row: any finite number will do"
ONE_AXIS = "the axis has size 1: its first place is its last"
EQUIVALENT = {
    (answers.SOFTMAX, "peak = np.where(peak == -np.inf, 1, peak)"): PEAK,
    (answers.SOFTMAX, "peak = np.where(peak == -np.inf, -1, peak)"): PEAK,
    (answers.ONCE, "exponentials = np.exp(scores - np.where(peak == -np.inf, 1, peak))"): PEAK,
    (answers.ONCE, "exponentials = np.exp(scores - np.where(peak == -np.inf, -1, peak))"): PEAK,
    (answers.ONCE, "output = (weights[..., None, :] @ value)[..., -1, :]"): ONE_AXIS,
    (
        answers.ONCE,
        "scores = (key @ query[..., None])[..., -1] / np.sqrt(query.shape[-1])",
    ): ONE_AXIS,
    (
        answers.ONCE,
        "allowed = np.ones(key.shape[:-0], dtype=bool) if mask is None else mask",
    ): "key.shape[:-0] is (): a single True broadcasts to the same mask",
    (answers.MASK, "length = ids.shape[1]"): "ids have two axes: the second is the last",
    (answers.PACKED, "exponentials = np.exp(scores - np.where(peak == -np.inf, 1, peak))"): PEAK,
    (answers.PACKED, "exponentials = np.exp(scores - np.where(peak == -np.inf, -1, peak))"): PEAK,
    (
        answers.PACKED,
        "w = w_qkv.reshape(w_qkv.shape[0], 3, -2)",
    ): "NumPy takes any negative size for the one to work out",
    (
        answers.PACKED,
        "scores = scores + np.where(mask, 1, -np.inf)",
    ): "adding the same to every allowed score changes no weight",
    (
        answers.PACKED,
        "scores = scores + np.where(mask, -1, -np.inf)",
    ): "adding the same to every allowed score changes no weight",
}


class TestPS2(Proofs):
    name = "ps2"
    answers = answers
    worth = WORTH
    equivalent = EQUIVALENT
    faulty = ("faulty_self_attention", answers.MENDED, "key_asks")

    def test_an_argument_that_was_written_into_is_named(self):
        (source,) = [s for name, _, s in answers.WRONG[answers.MASK] if name == "writes into ids"]
        task = self.tasks[answers.MASK]
        assert marked(task, function(answers.MASK, source)).modified == "ids"

    def test_the_groups_of_rows_are_what_they_are_called(self):
        group = self.tasks[answers.SOFTMAX].group
        rows, holes, empty = np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3))
        holes[0, 1], empty[1] = -np.inf, -np.inf
        assert [group({"scores": s}) for s in (rows, holes, rows + 21, rows[None], empty)] == [
            "base", "base", "large numbers", "batches", "empty rows",
        ]  # fmt: skip
        assert group({"scores": rows + 20}) == "base"

    def test_to_swap_what_the_function_to_mend_is_given_mends_it(self, capsys):
        namespace, _ = self.executed(released=True, capsys=capsys)

        def swapped(x, w_q, w_k, w_v):
            return namespace["faulty_self_attention"](x, w_k, w_q, w_v)

        assert marked(self.tasks[answers.MENDED], swapped).status == "passed"

    def test_the_mask_shown_in_the_text_is_the_right_one(self, capsys):
        namespace, _ = self.executed(capsys=capsys)
        mask = namespace["causal_padding_mask"](namespace["ids"])
        shown = [["".join(map(str, row.astype(int))) for row in sentence] for sentence in mask]
        assert shown == namespace["expected"]

    def test_the_experiment_measures_what_the_rubric_says(self, capsys):
        names, _ = self.executed(capsys=capsys)
        scores, keys, soft = (
            names[n] for n in ("random_scores", "effective_keys", "plain_softmax")
        )
        alone = np.eye(16, dtype=bool)
        one, other = (scores(d_k, shared=True) / np.sqrt(d_k) for d_k in (4, 256))
        measured = [
            *(keys(soft(scores(d_k, shared=False))) for d_k in (4, 256)),
            *(keys(soft(scores(d_k, shared=False) / np.sqrt(d_k))) for d_k in (4, 256)),
            keys(soft(one)),
            keys(soft(other)),
            keys(soft(np.where(alone, -np.inf, other))),
            keys(soft(other / 16)),
        ]
        for language in LANGUAGES:
            rubric = self.cells(language)[-1].source
            said = re.findall(r"\d+\.\d", rubric)
            assert said == [f"{number:.1f}" for number in measured]
        assert other[:, alone].mean().round() == 16
        assert abs(other[:, ~alone].mean()) < 0.05 and 1 < other[:, ~alone].std() < 1.3
