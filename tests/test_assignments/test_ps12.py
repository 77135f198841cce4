"""Problem set 12, a reward that cannot be hacked."""

import itertools
import re

import numpy as np
import pytest

from attn.reference import softmax
from notebooks.build import LANGUAGES
from tests.test_assignments.proofs import Answers, Proofs

answers = Answers("ps12")


class TestPS12(Proofs):
    answers = answers

    def test_a_hack_is_the_first_and_shortest_wrong_answer_that_gets_the_reward(self):
        def state(move, words):
            at = 0
            for word in words:
                at = move[at, word]
            return at

        lengths = set()
        for found, case in self.oracle_and_cases(answers.HACK, seeds=2):
            move, pays, true_move, right = case.values()
            longest = 4 if found[-1] < 0 else len(found) - 1
            words = range(1, move.shape[1])
            said = (
                answer
                for length in range(longest + 1)
                for answer in itertools.product(words, repeat=length)
                if pays[state(move, answer)] and not right[state(true_move, answer)]
            )
            first = next(said, None)
            assert found.tolist() == ([-1] if first is None else [*first, 0])
            lengths.add(len(found) * (found[-1] == 0))
        assert lengths == {0, 1, 3, 4, 5, 6}

    def test_a_right_answer_is_one_that_the_grammar_can_say(self):
        for found, case in self.oracle_and_cases(answers.SOUND):
            allowed, gender, given = case.values()
            said = {
                (*words, 0)
                for words in itertools.product(*map(np.flatnonzero, allowed))
                if len({int(gender[word]) for word in words} - {0}) < 2
            }
            assert found.tolist() == [tuple(row[: len(allowed) + 1]) in said for row in given]
            assert not found.all() and (found.any() or given.shape[1] == len(allowed))

    def test_mean_and_variance_are_those_of_every_draw_and_no_other_baseline_is_better(self):
        for (gradient, variance, best), case in self.oracle_and_cases(answers.SPREAD):
            logits, chance, baseline = case.values()
            p, spread = softmax(logits), {}
            for b in (baseline, best - 0.1, best, best + 0.1):
                weights, estimates = [], []
                for a, reward in itertools.product(range(len(p)), (0, 1)):
                    weights.append(p[a] * (chance[a] if reward else 1 - chance[a]))
                    estimates.append((reward - b) * (np.eye(len(p))[a] - p))
                mean = np.array(weights) @ estimates
                np.testing.assert_allclose(mean, gradient, atol=1e-12)
                spread[float(b)] = np.array(weights) @ ((estimates - mean) ** 2).sum(axis=1)
            assert spread[float(baseline)] == pytest.approx(variance)
            assert min(spread.values()) == spread[float(best)]

    def test_the_kl_penalty_bounds_the_hacks_and_no_other_policy_gains_more(self):
        rng = np.random.default_rng(0)
        for (beta, policy, away), case in self.oracle_and_cases(answers.LEASH):
            reference, paid, right, limit = case.values()
            hacked = policy[paid & ~right].sum()
            assert policy.sum() == pytest.approx(1)
            if beta == 0:
                assert hacked <= limit and policy[~paid].sum() == 0
                assert away == pytest.approx(-np.log(reference[paid].sum()))
                continue
            assert hacked == pytest.approx(limit)
            assert away == pytest.approx(policy @ np.log(policy / reference))
            for _ in range(20):
                other = policy * np.exp(0.1 * rng.normal(size=len(policy)))
                other /= other.sum()
                gain = other[paid].sum() - beta * other @ np.log(other / reference)
                assert gain < policy[paid].sum() - beta * away

    def test_the_mean_step_is_the_gradient_of_the_reward_with_its_penalty(self):
        step = self.tasks[answers.MENDED].exercise.oracle
        rng = np.random.default_rng(0)
        for n_answers, n_draws in ((3, 2), (2, 3)):
            logits, paid = rng.normal(size=(2, n_answers))
            reference, p = softmax(rng.normal(size=n_answers)), softmax(logits)
            mean = sum(
                p[list(drawn)].prod()
                * (step(logits, reference, np.array(drawn), paid[list(drawn)], 0.7, 1.5) - logits)
                for drawn in itertools.product(range(n_answers), repeat=n_draws)
            )

            def gain(logits):
                q = softmax(logits)
                return q @ paid - 0.7 * q @ np.log(q / reference)  # noqa: B023 - called at once

            tiny = 1e-6 * np.eye(n_answers)
            slope = [(gain(logits + d) - gain(logits - d)) / 2e-6 for d in tiny]
            np.testing.assert_allclose(mean, 1.5 * np.array(slope), atol=1e-8)

    def test_the_experiment_measures_what_the_rubric_says(self, capsys):
        names, printed = self.executed(capsys=capsys)
        right, paid = names["RIGHT"], names["PAID"]

        def shares(beta, audit):
            return np.array([names["right_share"](seed, beta, audit) for seed in range(10)])

        def best(beta, audit):
            reward = np.where(right, 1, paid * (1 - audit)) / beta
            policies = [softmax(np.log(names["reference_of"](s)) + reward) for s in range(10)]
            return f"{np.mean([policy[right].sum() for policy in policies]):.2f}"

        audit = shares(0, 0.25)
        nothing, leash, both, longer = (
            shares(*how) for how in ((0, 0), (0.3, 0), (0.3, 0.25), (0.05, 0.25))
        )
        means = [f"{one.mean():.2f}" for one in (audit, nothing, both, leash)]
        gained = []
        for one in (nothing, leash, both, longer):
            away = one - audit
            gained += [f"{away.mean():.2f}", f"{away.std(ddof=1) / 10**0.5:.2f}"]
        assert best(0.05, 0) == best(0.02, 0)
        numbers = [*means, *gained[:6], best(0.05, 0), "0.75", "0.25", "0.3", "2.3"]
        numbers += [best(0.3, 0.25), "0.05", best(0.05, 0.25), f"{longer.mean():.2f}", *gained[6:]]
        numbers += ["0.05", best(0.05, 0)]
        assert f"{np.exp(0.25 / 0.3):.1f} {np.exp(0.25 / 0.05):.0f}" == "2.3 148"
        for edition in LANGUAGES:
            answer = re.split("Rúbrica|Rubric", self.cells(edition)[-1].source)[0]
            assert re.findall(r"-?\d+\.\d+", answer.replace("−", "-")) == numbers
        assert all(mean in printed[-1] for mean in means)
