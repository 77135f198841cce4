"""Problem set 2, self-attention."""

import re

import numpy as np

from notebooks.build import LANGUAGES
from tests.test_assignments.proofs import Answers, Proofs, function, marked

answers = Answers("ps2")


class TestPS2(Proofs):
    answers = answers

    def test_a_modified_argument_is_named(self):
        (source,) = [s for name, _, s in answers.WRONG[answers.MASK] if name == "writes into ids"]
        task = self.tasks[answers.MASK]
        assert marked(task, function(answers.MASK, source)).modified == "ids"

    def test_the_groups_of_rows_match_their_names(self):
        group = self.tasks[answers.SOFTMAX].group
        rows, holes, empty = np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3))
        holes[0, 1], empty[1] = -np.inf, -np.inf
        assert [group({"scores": s}) for s in (rows, holes, rows + 21, rows[None], empty)] == [
            "base",
            "base",
            "large numbers",
            "batches",
            "empty rows",
        ]
        assert group({"scores": rows + 20}) == "base"

    def test_swapping_the_arguments_corrects_the_faulty_function(self, capsys):
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
