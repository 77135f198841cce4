"""Problem set 3, multi-head attention."""

import re

import numpy as np
import pytest
import torch

from attn import reference
from notebooks.build import LANGUAGES
from tests.test_assignments.proofs import Answers, Proofs, function, marked

answers = Answers("ps3")


class TestPS3(Proofs):
    answers = answers

    def test_a_modified_argument_is_named(self):
        (source,) = [s for name, _, s in answers.WRONG[answers.PRUNE] if name == "writes into kept"]
        assert marked(self.tasks[answers.PRUNE], function(answers.PRUNE, source)).modified == "kept"

    def test_the_groups_of_heads_match_their_names(self):
        group = self.tasks[answers.GROUPED].group
        query, mask = np.zeros((2, 3, 4)), np.ones((3, 5), dtype=bool)
        empty = mask.copy()
        empty[1] = False
        assert group({"query": query}) == group({"query": query + 20}) == "base"
        assert group({"query": query, "mask": mask}) == "masks"
        assert group({"query": query + 21, "mask": mask}) == "large numbers"
        assert group({"query": query[None], "mask": mask}) == "batches"
        assert group({"query": query[None], "mask": empty}) == "empty rows"

    def test_the_groups_of_matrices_match_their_names(self):
        packing = self.tasks[answers.PACK].group
        assert packing({"w_q": np.zeros((2, 6, 3))}) == "base"
        assert packing({"w_q": np.zeros((2, 6, 4))}) == "other widths"
        pruning, same = self.tasks[answers.PRUNE].group, np.zeros((5, 4))
        kept = np.array([True, False])
        assert pruning({"w_q": same, "w_v": same, "kept": kept}) == "base"
        assert pruning({"w_q": same, "w_v": np.zeros((5, 6)), "kept": kept}) == "other widths"
        assert pruning({"w_q": same, "w_v": same, "kept": kept & False}) == "no head left"

    def test_the_packed_heads_are_those_that_pytorch_reads(self):
        case = self.tasks[answers.PACK].exercise.cases(0)[1]
        n_heads, d_model, _ = case["w_q"].shape
        in_proj, out_proj = map(torch.tensor, self.tasks[answers.PACK].exercise.oracle(**case))
        layer = torch.nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=True)
        layer.load_state_dict({"in_proj_weight": in_proj, "out_proj.weight": out_proj})
        x = np.random.default_rng(0).normal(size=(4, d_model))
        with torch.no_grad():
            output, weights = layer.double()(
                *[torch.tensor(x)[None]] * 3, average_attn_weights=False
            )
        expected, each = 0, zip(*case.values(), strict=True)
        for i, (w_q, w_k, w_v, w_o) in enumerate(each):
            found, alone = reference.self_attention(x, w_q, w_k, w_v)
            expected = expected + found @ w_o
            np.testing.assert_allclose(weights[0, i], alone, rtol=0, atol=1e-6)
        np.testing.assert_allclose(output[0], expected, rtol=0, atol=1e-6)

    def test_a_pruned_layer_equals_the_whole_one_with_rows_of_zeros(self):
        for case in self.tasks[answers.PRUNE].exercise.cases(1):
            *matrices, kept = case.values()
            x = np.random.default_rng(1).normal(size=(4, len(case["w_q"])))
            w_q, w_k, w_v, w_o = matrices
            cut = w_o.reshape(len(kept), -1, w_o.shape[1]) * kept[:, None, None]
            whole = [w_q, w_k, w_v, cut.reshape(w_o.shape)]
            expected, _ = reference.multi_head_attention(x, x, x, *whole, n_heads=len(kept))
            shorter = self.tasks[answers.PRUNE].exercise.oracle(**case)
            if not kept.any():
                assert [w.size for w in shorter] == [0] * 4 and not expected.any()
                continue
            output, _ = reference.multi_head_attention(x, x, x, *shorter, n_heads=kept.sum())
            np.testing.assert_allclose(output, expected, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("asked", [answers.GROUPED, answers.MENDED])
    def test_the_oracles_agree_with_pytorch(self, asked):
        for case in self.tasks[asked].exercise.cases(2):
            output, _ = self.tasks[asked].exercise.oracle(**case)
            *heads, last = [torch.tensor(array) for array in case.values()]
            mask, query, key, value = None, *heads[:3], *([last] if len(case) == 3 else [])
            if "mask" in case:
                mask = last.unsqueeze(-3)
                if not last.any(-1).all():
                    continue
            found = torch.nn.functional.scaled_dot_product_attention(
                query, key, value, attn_mask=mask, enable_gqa=True
            )
            if asked == answers.MENDED:
                found = found.transpose(-3, -2).flatten(-2) @ last
            np.testing.assert_allclose(output, found, rtol=0, atol=1e-9)

    def test_the_cross_attention_agrees_with_pytorch(self):
        case = self.tasks[answers.ACROSS].exercise.cases(3)[9]
        x, memory, w_q, w_kv, w_o = (torch.tensor(a) for a in list(case.values())[:5])
        n_heads, real = int(case["n_heads"]), torch.tensor(case["real"])
        w_k, w_v = w_kv.split([w_q.shape[1], len(w_o)], dim=1)
        query, key, value = (
            projected.unflatten(-1, (n_heads, -1)).transpose(-3, -2)
            for projected in (x @ w_q, memory @ w_k, memory @ w_v)
        )
        found = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=real[:, None, None]
        )
        output, _ = self.tasks[answers.ACROSS].exercise.oracle(**case)
        joined = found.transpose(-3, -2).flatten(-2)
        np.testing.assert_allclose(output, joined @ w_o, rtol=0, atol=1e-9)

    def test_the_example_of_the_first_task_comes_out_as_the_text_says(self, capsys):
        names, _ = self.executed(capsys=capsys)
        w_q = np.array([[[11, 12]] * 4, [[21, 22]] * 4])
        in_proj, _ = names["pack_heads"](w_q, w_q, w_q, w_q.mT)
        assert in_proj[:4].tolist() == [[number] * 4 for number in (11, 12, 21, 22)]

    def test_the_corrected_function_returns_the_number_of_each_word(self, capsys):
        names, _ = self.executed(capsys=capsys)
        itself, owner = names["itself"], names["owner"]
        wrong, right = (
            names[function](itself, itself, owner, np.eye(4))[0].round(6)
            for function in ("faulty_heads", "mended_heads")
        )
        assert right.round().tolist() == [[number] * 4 for number in (1, 2, 3)]
        assert wrong.round().tolist() == [[1, 1, 2, 2], [3, 3, 1, 1], [2, 2, 3, 3]]

    def test_the_experiment_measures_what_the_rubric_says(self, capsys):
        names, _ = self.executed(capsys=capsys)
        heads, scaled, winners = (names[n] for n in ("random_heads", "scaled_scores", "winners"))
        scores = {n_heads: scaled(*heads(n_heads)) for n_heads in (1, 4, 8, 16, 32, 64)}
        assert {f"{found.std():.1f}" for found in scores.values()} == {"1.0"}
        ranks = [np.linalg.matrix_rank(found[:, :40]) for found in scores.values()]
        assert [{*found.tolist()} for found in ranks] == [{32}, {16}, {8}, {4}, {2}, {1}]
        same_length = [
            (query, key / np.linalg.norm(key, axis=-1, keepdims=True))
            for query, key in (heads(32), heads(64))
        ]
        measured = [
            1.0,
            *(winners(found) for n_heads, found in scores.items() if n_heads > 1),
            *(winners(scaled(*pair)) for pair in same_length),
            winners(10 * scores[32]),
        ]
        for language in LANGUAGES:
            said = re.findall(r"\d+\.\d", self.cells(language)[-1].source)
            assert said == [f"{number:.1f}" for number in measured]

    def test_no_key_inside_the_convex_hull_of_the_others_has_the_largest_score(self, capsys):
        names, _ = self.executed(capsys=capsys)
        queries, keys = names["random_heads"](32)
        for query, key in zip(queries, keys, strict=True):
            angles = np.linspace(0, 2 * np.pi, 2_000)
            every_way = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
            outline = set((every_way @ key.T).argmax(axis=-1))
            assert set((query @ key.T).argmax(axis=-1)) <= outline and len(outline) < 16
