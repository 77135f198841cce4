"""Problem set 6, positions."""

import re

import numpy as np
import torch

from attn.positions import rotary
from attn.reference import sinusoidal_positions
from notebooks.build import LANGUAGES
from tests.test_assignments.proofs import Answers, Proofs, marked

answers = Answers("ps6")


class TestPS6(Proofs):
    answers = answers

    def test_the_groups_of_positions_match_their_names(self):
        group = self.tasks[answers.ENCODE].group
        whole, broken = np.arange(3), np.arange(3) + 0.5
        asked = [(whole, 4), (whole, 5), (broken, 5), (broken, 4), (whole[None], 4), (whole[1], 4)]
        assert [group({"positions": p, "d_model": d}) for p, d in asked] == [
            "base",
            "odd widths",
            "odd widths",
            "fractions",
            "batches",
            "batches",
        ]

    def test_the_groups_of_shifts_match_their_names(self):
        group = self.tasks[answers.SHIFT].group
        encoding, steps = sinusoidal_positions(3, 4), np.array([1, 2, 3])
        asked = [
            (encoding, steps),
            (encoding, steps - 2),
            ((encoding + encoding[0]) / 2, -steps),
            (encoding[None], -steps[None]),
            (encoding[1], steps[1]),
        ]
        assert [group({"encoding": e, "steps": s}) for e, s in asked] == [
            "base",
            "backwards",
            "mixtures",
            "batches",
            "batches",
        ]

    def test_the_groups_of_relative_scores_match_their_names(self):
        group = self.tasks[answers.RELATIVE].group
        query, table = np.zeros((3, 4)), np.zeros((5, 4))
        assert group({"query": query, "table": table}) == "base"
        assert group({"query": query, "table": table[:3]}) == "beyond the table"
        assert group({"query": query[None], "table": table[:3]}) == "batches"

    def test_whole_positions_at_an_even_width_are_the_rows_of_the_table(self):
        encode = self.tasks[answers.ENCODE].exercise.oracle
        table = sinusoidal_positions(30, 6, 50.0)
        np.testing.assert_allclose(
            encode(np.array([[4, 29], [0, 7]]), 6, 50.0), table[[[4, 29], [0, 7]]], atol=1e-12
        )
        by_hand = [np.sin(2.5), np.cos(2.5), np.sin(2.5 / 8 ** (2 / 3))]
        np.testing.assert_allclose(encode(np.array(2.5), 3, 8.0), by_hand)

    def test_to_shift_is_to_encode_further_on_and_a_shift_of_a_mixture_is_a_mixture(self):
        encode, shift = (
            self.tasks[name].exercise.oracle for name in (answers.ENCODE, answers.SHIFT)
        )
        positions, steps = np.array([3, 11, 20]), np.array([4, -2, 0])
        one, other = encode(positions, 8, 40.0), encode(positions[::-1] + 5, 8, 40.0)
        moved = encode(positions + steps, 8, 40.0)
        np.testing.assert_allclose(shift(one, steps, 40.0), moved, atol=1e-12)
        mixed = 0.3 * moved + 0.7 * encode(positions[::-1] + 5 + steps, 8, 40.0)
        np.testing.assert_allclose(shift(0.3 * one + 0.7 * other, steps, 40.0), mixed, atol=1e-12)

    def test_relative_scores_are_those_of_keys_with_a_vector_each(self):
        for case in self.tasks[answers.RELATIVE].exercise.cases(3):
            query, key, table = (torch.tensor(array) for array in case.values())
            reach = len(table) // 2
            place = torch.arange(query.shape[-2])
            rows = (place - place[:, None]).clamp(-reach, reach) + reach
            keys = key[..., None, :, :] + torch.nn.functional.embedding(rows, table)
            scores = (keys @ query[..., None])[..., 0] / query.shape[-1] ** 0.5
            np.testing.assert_allclose(self.tasks[answers.RELATIVE].exercise.oracle(**case), scores)

    def test_the_gradient_of_the_table_is_that_of_autograd(self):
        for case in self.tasks[answers.GRADIENT].exercise.cases(3):
            gradient, positions = (torch.tensor(case[name]) for name in ("gradient", "positions"))
            n = int(case["n_positions"])
            table = torch.zeros(n, gradient.shape[-1], dtype=torch.float64, requires_grad=True)
            used = torch.nn.functional.embedding(positions.clamp(min=0), table)
            (used * gradient * (positions >= 0)[..., None]).sum().backward()
            np.testing.assert_allclose(
                self.tasks[answers.GRADIENT].exercise.oracle(**case), table.grad
            )

    def test_the_corrected_scores_are_those_of_the_module(self):
        for case in self.tasks[answers.MENDED].exercise.cases(3):
            query, key = (torch.tensor(case[name]) for name in ("query", "key"))
            base, places = float(case["base"]), torch.arange(key.shape[-2])
            query, key = rotary(query, places, base), rotary(key, places, base)
            scores = query @ key.mT / query.shape[-1] ** 0.5
            np.testing.assert_allclose(
                self.tasks[answers.MENDED].exercise.oracle(**case), scores, atol=1e-6
            )

    def test_the_rows_shown_in_the_text_are_the_right_ones(self, capsys):
        namespace, _ = self.executed(capsys=capsys)
        # Queries and keys are zero, and each row of the table holds its own number.
        scores = namespace["relative_scores"](
            np.ones((5, 1)), np.zeros((5, 1)), np.arange(5.0)[:, None]
        )
        shown = [[int(row) for row in rows] for rows in namespace["rows_used"]]
        np.testing.assert_array_equal(scores, shown)

    def test_the_fault_passes_the_test_of_distances_and_fails_the_sum_by_hand(self, capsys):
        namespace, _ = self.executed(capsys=capsys)
        x = np.tile([0, 0, np.sqrt(2), 0], (11, 1))
        query, key = np.random.default_rng(1).normal(size=(2, 1, 4)).repeat(11, axis=1)
        for name, tenth in (("faulty_rotary_scores", np.cos(0.1)), (answers.MENDED, np.cos(1))):
            scores = namespace[name](query, key, 100)
            assert max(np.ptp(np.diagonal(scores, k)) for k in range(-10, 11)) < 1e-12
            assert abs(namespace[name](x, x, 100)[0, 10] - tenth) < 1e-12

    def test_passing_the_root_of_the_base_corrects_the_faulty_function(self, capsys):
        namespace, _ = self.executed(capsys=capsys)
        task = self.tasks[answers.MENDED]

        def root_of_the_base(query, key, base):
            return namespace["faulty_rotary_scores"](query, key, np.sqrt(base))

        assert marked(task, root_of_the_base).status == "passed"

    def test_the_experiment_measures_what_the_rubric_says(self, capsys):
        names, _ = self.executed(capsys=capsys)
        waves, fitted, seen, unseen, wanted = (
            names[name] for name in ("waves", "fitted", "seen", "unseen", "wanted")
        )

        def largest(distance, base, coefficients):
            return abs(waves(distance, base) @ coefficients).max(axis=0)

        bases = [10.0, 100.0, 1e3, 1e4, 1e5]
        fits = [fitted(base) for base in bases]
        errors = [abs(waves(seen, b) @ w - wanted).max() for b, w in zip(bases, fits, strict=True)]
        beyond = [largest(unseen, b, w) for b, w in zip(bases, fits, strict=True)]
        squeezed = [largest(unseen / 2, b, w) for b, w in zip(bases, fits, strict=True)]
        sums = [abs(w).sum() for w in fits]
        drawn = np.random.default_rng(0).normal(size=(32, 2_000))
        drawn *= np.linalg.norm(fits[3]) / np.linalg.norm(drawn, axis=0)
        inside, outside = (largest(r, 1e4, drawn).mean() for r in (seen, unseen))
        decayed = fitted(1e4, decay=1)
        assert round(inside) == round(outside) == 12
        assert beyond[0] > beyond[1] < beyond[2] < beyond[3] < beyond[4]
        exponents = np.arange(0, 32, 2) / 32
        turns = [(2 * np.pi * base**exponents < 64).sum() for base in (10, 1e4)]
        assert turns == [16, 5]  # turns completed within the distances of the fit

        def with_more(base, speeds):
            speeds = np.append(base**-exponents, speeds)
            x, y = (
                np.hstack([np.cos(np.outer(r, speeds)), np.sin(np.outer(r, speeds))])
                for r in (seen, unseen)
            )
            more = np.linalg.solve(x.T @ x + 1e-4 * np.eye(x.shape[1]), x.T @ wanted)
            return abs(y @ more).max()

        assert abs(with_more(1e4, []) - beyond[3]) < 1e-6
        measured = [
            f"{errors[0]:.2f}",
            f"{max(errors):.2f}",
            f"{beyond[0]:.1f}",
            f"{beyond[1]:.1f}",
            f"{beyond[4]:.1f}",
            f"{max(squeezed):.2f}",
            f"{sums[0]:.1f}",
            f"{sums[1]:.1f}",
            f"{sums[4]:.1f}",
            f"{beyond[3]:.1f}",
            f"{largest(seen, 1e4, fits[3]):.1f}",
            "0.03",
            f"{beyond[0]:.1f}",
            f"{with_more(10, 0.03):.1f}",
            "0.75",
            f"{beyond[3]:.1f}",
            f"{with_more(1e4, 0.75 * 1e4 ** -exponents[:5]):.1f}",
            f"{abs(decayed).sum():.1f}",
            f"{beyond[3]:.1f}",
            f"{largest(unseen, 1e4, decayed):.1f}",
            f"{abs(waves(seen, 1e4) @ decayed - wanted).max():.2f}",
        ]
        for language in LANGUAGES:
            assert re.findall(r"\d+\.\d+", self.cells(language)[-1].source) == measured
