"""Problem set 1, embeddings and similarity."""

import re

import numpy as np
import pytest
import torch

from notebooks.build import LANGUAGES
from tests.test_assignments.proofs import Answers, Proofs

answers = Answers("ps1")


class TestPS1(Proofs):
    answers = answers

    def test_the_gradients_are_those_of_autograd(self):
        exercise = self.tasks[answers.SAMPLING].exercise
        for case in exercise.cases(3):
            tensors = [torch.tensor(array, requires_grad=True) for array in case.values()]
            center, context, negatives = tensors
            right = (center * context).sum(-1)
            wrong = (center[..., None, :] * negatives).sum(-1)
            log = torch.nn.functional.logsigmoid
            loss = -log(right) - log(-wrong).sum(-1)
            loss.sum().backward()
            found = exercise.oracle(*case.values())
            expected = [loss.detach(), *(tensor.grad for tensor in tensors)]
            for ours, theirs in zip(found, expected, strict=True):
                np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-12)

    def test_ties_are_exact_however_they_are_computed(self):
        for seed in range(20):
            for case in self.tasks[answers.NEAREST].exercise.cases(seed):
                if self.tasks[answers.NEAREST].group(case) == "ties":
                    vectors, query = case["vectors"], case["query"]
                    one = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
                    other = (vectors / np.linalg.norm(vectors, axis=1)[:, None]) @ (query / 4)
                    assert np.array_equal(one, other) and len(set(one.tolist())) < len(one)

    def test_no_analogy_is_a_tie(self):
        for seed in range(20):
            for case in self.tasks[answers.ANALOGY].exercise.cases(seed):
                unit = case["vectors"] / np.linalg.norm(case["vectors"], axis=1, keepdims=True)
                score = (unit[case["b"]] - unit[case["a"]] + unit[case["c"]]) @ unit.T
                for name in "abc":
                    np.put_along_axis(score, case[name][..., None], -np.inf, axis=-1)
                best = np.sort(score, axis=-1)
                assert (best[..., -1] - best[..., -2]).min() > 1e-6

    def test_in_the_analogy_example_a_given_word_is_the_runner_up(self, capsys):
        names, _ = self.executed(capsys=capsys)
        perro, perra = 2, 3
        assert names["score"].argmax() == perra
        assert np.argsort(-names["score"])[1] == perro

    @pytest.mark.parametrize("d", [2, 8, 32, 128])
    def test_subtracting_the_mean_removes_the_hubs(self, d, capsys):
        names, _ = self.executed(capsys=capsys)
        words, unit, hub = (names[n] for n in ("made_up_words", "unit_rows", "largest_hub"))
        shared = words(d, common=2)
        assert hub(unit(shared - shared.mean(axis=0))) <= 25  # the mean is the common part

    def test_the_experiment_measures_what_the_rubric_says(self, capsys):
        names, _ = self.executed(capsys=capsys)
        words, unit, hub = (names[n] for n in ("made_up_words", "unit_rows", "largest_hub"))
        sizes = (2, 8, 32, 128)
        plain = [words(d, common=0) for d in sizes]
        shared = [words(d, common=2) for d in sizes]
        last, own = shared[-1], np.linalg.norm(plain[-1], axis=1)
        score = unit(last) @ unit(last).T
        np.fill_diagonal(score, -np.inf)
        times = np.bincount(np.argsort(-score, axis=1)[:, :10].ravel(), minlength=1000)
        mean = unit(last).mean(axis=0)
        assert times.argmax() == own.argmin() == (unit(last) @ mean).argmax()
        equal = unit(plain[-1]) * np.sqrt(128) + (last - plain[-1])
        measured = [
            *(hub(x) for x in plain),
            *(hub(unit(x)) for x in plain),
            *(hub(unit(x)) for x in shared),
        ]
        after = [hub(unit(last - last.mean(axis=0))), hub(unit(equal))]
        for language in LANGUAGES:
            rubric = self.cells(language)[-1].source
            said = [int(n) for n in re.findall(r"\d+", rubric[: rubric.index("1. 1 ")])]
            assert [n for n in said if n not in (1000, 128)] == [*measured, *after]
