"""Problem set 10, what attention computes."""

import re

import numpy as np
import pytest
import torch

from attn.reference import causal_mask, scaled_dot_product_attention
from notebooks.build import LANGUAGES
from tests.test_assignments.proofs import Answers, Proofs

answers = Answers("ps10")


class TestPS10(Proofs):
    answers = answers

    def test_scores_are_sums_over_the_cells_that_a_reader_would_point_at(self):
        for (previous, induction), case in self.oracle_and_cases(answers.SCORES):
            ids = case["ids"].tolist()
            cells = {i: [j + 1 for j in range(i) if ids[j] == ids[i]] for i in range(len(ids))}
            rows = [i for i in cells if cells[i]]
            for h, weights in enumerate(case["weights"]):
                found = [sum(weights[i, j] for j in cells[i]) for i in rows]
                assert induction[h] == pytest.approx(np.mean(found) if rows else 0)
                steps = [weights[i, i - 1] for i in range(1, len(ids))]
                assert previous[h] == pytest.approx(np.mean(steps))

    def test_a_perfect_induction_head_has_score_one(self):
        score = self.tasks[answers.SCORES].exercise.oracle
        circuit = self.tasks[answers.CIRCUIT].exercise.oracle
        # No token precedes the first one, so it attends to itself; it does not occur again.
        ids = np.array([5, *[4, 2, 0, 1, 3] * 2])
        first, second, output = circuit(ids, 6, 60.0)
        previous, induction = score(np.stack([first, second]), ids)
        np.testing.assert_allclose([previous[0], induction[1]], 1, atol=1e-9)
        assert max(previous[1], induction[0]) < 0.5
        # From its second occurrence on, the output predicts the next token.
        np.testing.assert_array_equal(output[6:-1].argmax(axis=-1), ids[7:])

    def test_the_circuit_is_two_attentions_of_the_package(self):
        for (first, second, output), case in self.oracle_and_cases(answers.CIRCUIT):
            n, strength = case["ids"].shape[-1], float(case["strength"])
            token = np.eye(int(case["vocab_size"]))[case["ids"]]
            place = np.broadcast_to(np.eye(n), (*case["ids"].shape, n))
            unscaled = strength * np.sqrt(n)
            before, one = scaled_dot_product_attention(
                unscaled * place,
                np.roll(place, 1, axis=-1) * (np.arange(n) > 0),
                token,
                causal_mask(n),
            )
            unscaled = strength * np.sqrt(token.shape[-1])
            right, other = scaled_dot_product_attention(
                unscaled * token, before, token, causal_mask(n)
            )
            for mine, theirs in ((first, one), (second, other), (output, right)):
                np.testing.assert_allclose(mine, theirs, atol=1e-9)

    def test_patches_are_those_of_hooks_in_pytorch(self):
        for effect, case in self.oracle_and_cases(answers.PATCH):
            clean, corrupted, mixing, matrices, direction = map(torch.tensor, case.values())

            class Layer(torch.nn.Module):
                def __init__(self, mix, matrix):
                    super().__init__()
                    self.mix, self.matrix = mix, matrix

                def forward(self, x):
                    return x + torch.tanh(self.mix @ x @ self.matrix)

            model = torch.nn.Sequential(*map(Layer, mixing, matrices))
            entered = []
            for layer in model:
                layer.register_forward_pre_hook(
                    lambda _, given, kept=entered: kept.append(given[0].clone())
                )
            whole = (model(clean)[-1] @ direction).item()
            source, nothing = list(entered), (model(corrupted)[-1] @ direction).item()
            for (number, token), found in np.ndenumerate(effect):

                def patch(_, given, value=source[number][token], token=token):
                    patched = given[0].clone()
                    patched[token] = value
                    return (patched,)

                handle = model[number].register_forward_pre_hook(patch)
                answer = (model(corrupted)[-1] @ direction).item()
                handle.remove()
                assert found == pytest.approx((answer - nothing) / (whole - nothing))

    def test_only_the_last_token_has_an_effect_if_each_token_attends_to_itself(self):
        patch = self.tasks[answers.PATCH].exercise.oracle
        rng = np.random.default_rng(0)
        clean, corrupted = rng.normal(size=(2, 4, 3))
        alone = np.stack([np.eye(4)] * 2)  # each token attends to itself alone
        effect = patch(clean, corrupted, alone, rng.normal(size=(2, 3, 3)), rng.normal(size=3))
        np.testing.assert_allclose(effect, [[0, 0, 0, 1]] * 2, atol=1e-9)

    def test_a_probe_is_the_minimum_of_its_error_and_its_penalty(self):
        for (weights, accuracy, selectivity), case in self.oracle_and_cases(answers.PROBE):
            n = int(case["n_train"])
            rates = []
            for wanted in (case["labels"], case["control"][case["ids"]]):
                w = torch.zeros(case["features"].shape[1], dtype=float, requires_grad=True)
                x, y = torch.tensor(case["features"]), torch.tensor(2 * wanted - 1)
                search = torch.optim.LBFGS(
                    [w],
                    max_iter=200,
                    tolerance_grad=1e-10,
                    tolerance_change=0,
                    line_search_fn="strong_wolfe",
                )

                def error(w=w, x=x, y=y, search=search, penalty=float(case["penalty"]), n=n):
                    search.zero_grad()
                    found = ((x[:n] @ w - y[:n]) ** 2).sum() + penalty * (w**2).sum()
                    found.backward()
                    return found

                search.step(error)
                found = w.detach()
                rates.append(((x[n:] @ found > 0) == (y[n:] > 0)).double().mean().item())
                if wanted is case["labels"]:
                    np.testing.assert_allclose(weights, found.numpy(), atol=1e-5)
            assert (accuracy, selectivity) == pytest.approx((rates[0], rates[0] - rates[1]))

    def test_the_corrected_lens_equals_pytorch(self):
        for (log_p, best), case in self.oracle_and_cases(answers.MENDED):
            stream, gain, table, target = map(torch.tensor, case.values())
            normed = torch.nn.functional.rms_norm(stream, gain.shape, gain, eps=1e-5)
            right = (normed @ table.T).log_softmax(-1)
            np.testing.assert_allclose(log_p, right[:, torch.arange(len(target)), target].numpy())
            np.testing.assert_array_equal(best, right.argmax(-1).numpy())

    def test_the_examples_print_what_the_text_says(self, capsys):
        _, printed = self.executed(capsys=capsys)
        for out in ("3 -> 1\n4 -> 2\n", "[0.51 0.8 ] [0 0]\n", "1.0\n"):
            assert out in printed

    def test_the_experiment_measures_what_the_rubric_says(self, capsys):
        names, _ = self.executed(capsys=capsys)
        looks, heads, right = (names[name] for name in ("looks", "heads", "right"))
        whole, written = right(), heads({})

        def lost(**fixed):
            return f"{whole - right(**fixed):.2f}"

        zero = {name: lost(**{name: 0.0}) for name in looks}
        assert zero == {"A": "0.00", "B": "0.15", "C": "0.00", "D": "0.00", "E": "0.08"}
        assert lost(E=written["E"].mean()) == "0.00"
        both, held = lost(C=0.0, D=0.0), lost(C=0.0, D=written["D"])
        assert both == held == zero["B"]
        numbers = [
            f"{whole:.2f}",
            *(f"{looks[name]:.2f}" for name in "ACBE"),
            zero["B"],
            zero["A"],
            zero["E"],
            both,
            held,
        ]
        for edition in LANGUAGES:
            assert re.findall(r"\d+\.\d+", self.cells(edition)[-1].source) == numbers
        # The other intervention of the rubric: D is replaced by its mean.
        assert lost(C=0.0, D=written["D"].mean()) == both
