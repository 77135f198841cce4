"""Problem set 11, a mixer that nobody has named."""

import re
import statistics

import numpy as np
import pytest

from attn.reference import delta_rule, state_weights
from notebooks.build import LANGUAGES
from tests.test_assignments.proofs import Answers, Proofs

answers = Answers("ps11")


class TestPS11(Proofs):
    answers = answers

    def test_keys_of_one_component_give_the_delta_rule_of_the_package(self):
        rng = np.random.default_rng(0)
        for n, d in ((5, 2), (9, 4)):
            signs = rng.choice([-1.0, 1.0], size=(n, 1))
            key = np.eye(d)[rng.integers(d, size=n)] * signs
            query, value, beta = rng.normal(size=(n, d)), rng.normal(size=(n, 3)), rng.random(n)
            scan = self.tasks[answers.SCAN].exercise.oracle
            output, _ = scan(query, key, value, beta, np.zeros((d, 3)))
            np.testing.assert_allclose(output, delta_rule(query, key, value, beta), atol=1e-12)
            matrix = self.tasks[answers.MATRIX].exercise.oracle(query, key, beta)
            np.testing.assert_allclose(matrix, state_weights(query, key, beta), atol=1e-12)

    def test_the_last_state_is_a_sum_of_what_is_left_of_each_write(self):
        for (output, state), case in self.oracle_and_cases(answers.SCAN):
            query, key, value, beta, before = case.values()
            n = len(key)
            for i in range(key.shape[1]):
                left = [np.prod(1 - beta[s + 1 :] * key[s + 1 :, i] ** 2) for s in range(-1, n)]
                row = left[0] * before[i]
                row = row + sum(left[s + 1] * beta[s] * key[s, i] * value[s] for s in range(n))
                np.testing.assert_allclose(state[i], row, atol=1e-12)
            np.testing.assert_allclose(output[-1], query[-1] @ state)

    def test_the_three_forms_agree(self):
        scan, matrix = (self.tasks[name].exercise.oracle for name in (answers.SCAN, answers.MATRIX))
        for (output, states), case in self.oracle_and_cases(answers.CHUNKS):
            query, key, value, beta, size = case.values()
            empty = np.zeros((key.shape[1], value.shape[1]))
            steps, last = scan(query, key, value, beta, empty)
            np.testing.assert_allclose(output, steps, atol=1e-12)
            np.testing.assert_allclose(matrix(query, key, beta) @ value, steps, atol=1e-12)
            np.testing.assert_allclose(states[-1], last, atol=1e-12)
            for number, state in enumerate(states[:-1], 1):
                parts = (x[: number * size] for x in (query, key, value, beta))
                np.testing.assert_allclose(state, scan(*parts, empty)[1], atol=1e-12)

    def test_the_error_is_that_of_a_paired_test(self):
        for (rate, difference, error), case in self.oracle_and_cases(answers.MATCHED):
            first, *others = (rule[best] for rule, best in zip(case["test"], rate, strict=True))
            for other, mean, spread in zip(others, difference, error, strict=True):
                gained = [a - b for a, b in zip(first.tolist(), other.tolist(), strict=True)]
                assert mean == pytest.approx(statistics.fmean(gained))
                assert spread == pytest.approx(statistics.stdev(gained) / len(gained) ** 0.5)
            best = case["validation"].mean(axis=-1)
            assert rate.tolist() == [row.tolist().index(row.max()) for row in best]

    def test_the_corrected_layer_does_not_depend_on_the_length_of_queries_and_keys(self):
        layer = self.tasks[answers.MENDED].exercise.oracle
        for _, case in self.oracle_and_cases(answers.MENDED):
            x, w_q, w_k, w_v, w_b, w_g = case.values()
            scaled = layer(x, 3 * w_q, 5 * w_k, w_v, w_b, w_g)
            np.testing.assert_allclose(scaled, layer(*case.values()), atol=1e-9)
            short = layer(x[:-1], w_q, w_k, w_v, w_b, w_g)
            np.testing.assert_allclose(short, layer(*case.values())[:-1], atol=1e-9)

    def test_the_experiment_measures_what_the_rubric_says(self, capsys):
        names, printed = self.executed(capsys=capsys)
        rules, recall, rates = (names[name] for name in ("RULES", "recall", "rates"))

        def compared(used):
            validation, test = (
                np.array([[[recall(r, b, s, used) for s in seeds] for b in rates] for r in rules])
                for seeds in (range(3), range(10, 15))
            )
            rate, difference, error = names["matched_differences"](validation, test)
            scores = test[np.arange(len(test)), rate].mean(axis=-1)
            sign = [f"{d:.2f} {e:.2f}" for d, e in zip(difference, error, strict=True)]
            return dict(zip(rules, scores.round(2), strict=True)), " ".join(sign).split()

        (whole, gained), (_, two), (one, _) = (compared(used) for used in (8, 2, 1))
        assert one["use"] == one["delta"]
        order = sorted(f"{score:.2f}" for score in whole.values())
        numbers = [*order, *gained, *two[-2:], f"{one['use']:.2f}"]
        for edition in LANGUAGES:
            said = self.cells(edition)[-1].source.replace("−", "-")
            assert re.findall(r"-?\d+\.\d+", said) == numbers
        assert all(f"{score:.2f}" in printed[-1] for score in whole.values())
