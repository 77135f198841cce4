"""Problem set 5, masking."""

import re

import numpy as np
import torch

from attn.attention import scaled_dot_product_attention
from attn.reference import causal_mask
from notebooks.build import LANGUAGES
from tests.test_assignments.proofs import Answers, Proofs

answers = Answers("ps5")


class TestPS5(Proofs):
    answers = answers

    def test_the_groups_of_windows_match_their_names(self):
        group = self.tasks[answers.STREAMING].group
        asked = [(5, 5, 0), (5, 5, 1), (3, 5, 0), (3, 5, 2)]
        names = "tgt_len", "src_len", "n_first"
        assert [group(dict(zip(names, sizes, strict=True))) for sizes in asked] == [
            "base",
            "first tokens",
            "stored keys",
            "stored keys",
        ]

    def test_the_groups_of_rows_match_their_names(self):
        group = self.tasks[answers.PACKED].group
        asked = [[1, 5, 1, 6], [1, 5, 1, 0], [5, 6, 1, 7], [5, 6, 1, 0]]
        assert [group({"ids": np.array([ids]), "start_id": 1}) for ids in asked] == [
            "base",
            "padding at the end",
            "cut texts",
            "cut texts",
        ]
        group = self.tasks[answers.PREFIX].group
        asked = [[1, 1, 1], [1, 1, 0], [0, 1, 1]]
        assert [group({"real": np.array([real]) > 0}) for real in asked] == [
            "base",
            "padding at the end",
            "padding in front",
        ]

    def test_the_groups_of_scores_match_their_names(self):
        group = self.tasks[answers.GRADIENT].group
        scores, mask = np.zeros((2, 3)), np.ones((2, 3), dtype=bool)
        dead = mask & [[True], [False]]
        asked = [(scores, mask), (scores + 1e3, mask), (scores, dead), (scores[None], dead[None])]
        assert [group({"scores": s, "mask": m}) for s, m in asked] == [
            "base",
            "large numbers",
            "empty rows",
            "batches",
        ]
        heads = self.tasks[answers.MENDED].group
        assert [heads({"query": scores + n}) for n in (1, 1e3)] == ["base", "large numbers"]

    def test_the_rows_shown_in_the_text_are_the_right_ones(self, capsys):
        namespace, _ = self.executed(capsys=capsys)

        def shown(rows):
            return np.array([[int(cell) for cell in row] for row in rows])

        mask = self.tasks[answers.STREAMING].exercise.oracle(3, 7, 3, 1)
        np.testing.assert_array_equal(mask, shown(namespace["streaming_rows"]))
        whole, padded = map(shown, namespace["prefix_rows"])
        prefix = self.tasks[answers.PREFIX].exercise.oracle
        np.testing.assert_array_equal(prefix(np.full((1, 4), True), np.array([2]))[0], whole)
        real = np.array([[False, True, True, True, True]])
        np.testing.assert_array_equal(prefix(real, np.array([2]))[0], padded)

    def test_packed_texts_have_the_same_attention_as_each_alone(self):
        mask, positions = self.tasks[answers.PACKED].exercise.oracle(
            np.array([[7, 8, 1, 5, 6, 1, 0]]), 1
        )
        alone = torch.block_diag(*(torch.ones(n, n).tril() for n in (2, 3, 1)), torch.zeros(1, 1))
        np.testing.assert_array_equal(mask[0], alone)
        np.testing.assert_array_equal(positions[0], [0, 1, 0, 1, 2, 0, 0])

    def test_a_window_of_the_whole_sentence_and_an_empty_prefix_are_causal(self):
        streaming, prefix = (
            self.tasks[id].exercise.oracle for id in (answers.STREAMING, answers.PREFIX)
        )
        np.testing.assert_array_equal(streaming(3, 5, 5, 0), causal_mask(3, 5))
        real = np.full((1, 5), True)
        np.testing.assert_array_equal(prefix(real, np.array([0]))[0], causal_mask(5))
        assert prefix(real, np.array([5])).all()

    def test_the_gradient_is_that_of_autograd(self):
        for case in self.tasks[answers.GRADIENT].exercise.cases(3):
            scores, mask, gradient = (torch.tensor(array) for array in case.values())
            scores.requires_grad_(True)
            alive = mask.any(dim=-1, keepdim=True)
            weights = scores.masked_fill(~mask & alive, -torch.inf).softmax(dim=-1) * alive
            (weights * gradient).sum().backward()
            ours = self.tasks[answers.GRADIENT].exercise.oracle(**case)
            np.testing.assert_allclose(ours[0], weights.detach(), atol=1e-12)
            np.testing.assert_allclose(ours[1], scores.grad, atol=1e-12)

    def test_the_corrected_weights_are_those_of_the_package(self):
        for case in self.tasks[answers.MENDED].exercise.cases(3):
            query, key, real = (torch.tensor(array) for array in case.values())
            _, weights = scaled_dot_product_attention(
                query, key, key, real[:, None, None], need_weights=True
            )
            np.testing.assert_allclose(self.tasks[answers.MENDED].exercise.oracle(**case), weights)

    def test_the_fault_needs_several_sentences_and_several_heads(self, capsys):
        namespace, _ = self.executed(capsys=capsys)
        faulty, mended = namespace["faulty_head_weights"], namespace[answers.MENDED]
        query, key = np.random.default_rng(0).normal(size=(2, 2, 3, 4, 5))
        real = np.arange(4) < np.array([[4], [2]])
        for part in (np.s_[:1], np.s_[1:], np.s_[:, :1]):
            rows = real[part] if part in (np.s_[:1], np.s_[1:]) else real
            right = mended(query[part], key[part], rows)
            np.testing.assert_array_equal(faulty(query[part], key[part], rows), right)
        assert not np.allclose(faulty(query, key, real), mended(query, key, real))

    def test_the_experiment_measures_what_the_rubric_says(self, capsys):
        names, _ = self.executed(capsys=capsys)
        x, word, w_q, w_k, ways = (names[name] for name in ("x", "word", "w_q", "w_k", "ways"))
        table = np.array([[names["moved"](way, size) for size in names["sizes"]] for way in ways])
        np.testing.assert_array_equal(
            table > 0, [[False] * 4, [False] * 4, [False] * 3 + [True], [False] * 2 + [True] * 2]
        )

        def scores(x):
            return (x @ w_q) @ (x @ w_k).T / 4

        changed = np.vstack([x[:-1], word])
        top = scores(changed)[:-1, -1].max()
        assert 1_400 < 1_000 * top < 1_500 and 10_000 * top > 14_000
        assert np.exp(-745.0) > 0 == np.exp(-746.0)

        def normalised(x):
            return (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)

        layer = names["layer"]
        for size in names["sizes"]:
            for way in ways:
                one, other = (
                    layer(normalised(np.vstack([x[:-1], last])), way)[:-1]
                    for last in (x[-1], size * word)
                )
                np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
        bound = max(abs(scores(normalised(y))).max() for y in (x, changed))
        for sentence in (x, changed):
            sentence[0] = 100 * x[2]
        own = scores(x)
        assert round(own[0, 0]) == -17123
        beyond = {way: abs(layer(x, way) - layer(changed, way))[0].max() for way in ways}
        assert beyond["where −∞"] == 0
        measured = [
            f"{table[3, 2]:.1f}",
            f"{table[2, 3] / 1e4:.1f}",
            f"{top:.2f}",
            f"{bound:.2f}",
            f"{-own[2, 2]:.2f}",
            f"{beyond['where −1e4']:.2f}",
        ]
        for language in LANGUAGES:
            assert re.findall(r"\d+\.\d+", self.cells(language)[-1].source) == measured
