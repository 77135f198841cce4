"""Problem set 4, encoder and decoder."""

import re

import numpy as np
import pytest
import torch

from notebooks.build import LANGUAGES
from tests.test_assignments.proofs import Answers, Proofs, function, marked

answers = Answers("ps4")


class TestPS4(Proofs):
    answers = answers

    def test_a_modified_argument_is_named(self):
        (source,) = [s for name, _, s in answers.WRONG[answers.STACK] if name == "writes into x"]
        assert marked(self.tasks[answers.STACK], function(answers.STACK, source)).modified == "x"

    def test_the_groups_of_vectors_match_their_names(self):
        group = self.tasks[answers.RMS].group
        long, with_zeros = np.full((3, 4), 5.0), np.full((3, 4), 5.0)
        with_zeros[2] = 0
        cases = [long, with_zeros, long / 1000, long[0], long[None]]
        assert [group({"x": x}) for x in cases] == [
            "base",
            "small vectors",
            "small vectors",
            "batches",
            "batches",
        ]

    def test_the_groups_of_norms_match_their_names(self):
        group, apart = self.tasks[answers.GRADIENT].group, np.arange(12.0).reshape(3, 4)
        constant = apart.copy()
        constant[1] = 7
        cases = [apart, constant, apart / 100, apart[0], apart[None]]
        assert [group({"x": x}) for x in cases] == [
            "base",
            "nearly constant",
            "nearly constant",
            "batches",
            "batches",
        ]

    def test_the_groups_of_sentences_match_their_names(self):
        network, pair = (self.tasks[name].group for name in (answers.GATED, answers.DECODER))
        x, real = np.full((2, 3), 20.0), np.array([True, False])
        assert [network({"x": v}) for v in (x, x[0], x[None], -x - 1)] == [
            "base",
            "batches",
            "batches",
            "large numbers",
        ]
        memory = np.full((2, 3), 20.0)
        base = {"x": x, "memory": memory}
        assert pair(base) == "base" and pair(base | {"memory": -memory - 1}) == "large numbers"
        assert pair(base | {"real": real}) == "masks"
        assert pair(base | {"real": real & False}) == "empty rows"
        assert pair({"x": x[None], "memory": memory[None], "real": real[None]}) == "batches"

    def test_epsilon_matters_for_small_vectors_and_not_for_ordinary_ones(self):
        for exercise, arrays in ((answers.RMS, 1), (answers.GRADIENT, 3)):
            without = function(
                exercise, answers.CORRECT[exercise]["vectorised"].replace("1e-5", "0")
            )
            task = self.tasks[exercise]
            for case in task.exercise.cases(7):
                with np.errstate(invalid="ignore", divide="ignore"):
                    found, right = without(**case), task.exercise.oracle(**case)
                found, right = ([found], [right]) if arrays == 1 else (found, right)
                assert len(found) == len(right) == arrays
                close = all(
                    np.allclose(a, b, 1e-6, 1e-6) for a, b in zip(found, right, strict=True)
                )
                assert close == (task.group(case) in ("base", "batches"))

    @pytest.mark.parametrize("asked", [answers.RMS, answers.GATED, answers.GRADIENT])
    def test_the_oracles_agree_with_pytorch(self, asked):
        functional = torch.nn.functional
        for case in self.tasks[asked].exercise.cases(2):
            found = self.tasks[asked].exercise.oracle(**case)
            x, *rest = (torch.tensor(array) for array in case.values())
            if asked == answers.RMS:
                expected = functional.rms_norm(x, x.shape[-1:], rest[0], eps=1e-5)
            elif asked == answers.GATED:
                w_gate, w_up, w_down = rest
                expected = (functional.silu(x @ w_gate) * (x @ w_up)) @ w_down
            else:
                gain, upstream = rest
                leaves = x, gain, torch.zeros_like(gain)
                for leaf in leaves:
                    leaf.requires_grad_()
                output = functional.layer_norm(x, x.shape[-1:], *leaves[1:], eps=1e-5)
                expected = torch.autograd.grad(output, leaves, upstream)
            if asked != answers.GRADIENT:
                found, expected = [found], [expected]
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)

    def test_the_decoder_agrees_with_pytorch(self):
        task = self.tasks[answers.DECODER]
        for case in task.exercise.cases(3):
            x, memory, w_self, w_cross, w_1, w_2 = map(torch.tensor, list(case.values())[:6])
            d_model, d_ff = w_1.shape
            layer = torch.nn.TransformerDecoderLayer(
                d_model, 1, d_ff, dropout=0, batch_first=True, norm_first=True, bias=False
            ).double()
            state = {"linear1.weight": w_1.T, "linear2.weight": w_2.T}
            for name, (*w_in, w_o) in (("self_attn", w_self), ("multihead_attn", w_cross)):
                state[f"{name}.in_proj_weight"] = torch.cat([w.T for w in w_in])
                state[f"{name}.out_proj.weight"] = w_o.T
            layer.load_state_dict(state, strict=False)
            rows = [v.reshape(-1, *v.shape[-2:]) for v in (x, memory)]
            real = case.get("real", np.ones(memory.shape[:-1], dtype=bool))
            if not real.any(axis=-1).all():
                continue
            hidden = ~torch.tensor(real.reshape(-1, real.shape[-1]))
            causal = torch.nn.Transformer.generate_square_subsequent_mask(x.shape[-2]).double()
            with torch.no_grad():
                expected = layer(*rows, tgt_mask=causal, memory_key_padding_mask=hidden)
            found = task.exercise.oracle(**case)
            np.testing.assert_allclose(found, expected.reshape(x.shape), rtol=0, atol=1e-9)

    def test_a_decoder_leaves_unchanged_what_the_text_says(self):
        layer, (case,) = (
            self.tasks[answers.DECODER].exercise.oracle,
            [
                case
                for case in self.tasks[answers.DECODER].exercise.cases(4)
                if case["x"].ndim == 2 and case.get("real", np.zeros(1)).sum() == 2
            ],
        )
        whole = layer(**case)
        silent = {name: case[name].copy() for name in ("w_self", "w_cross")}
        for matrices in silent.values():
            matrices[3] = 0
        nothing = layer(**case | silent | {"w_2": 0 * case["w_2"]})
        np.testing.assert_array_equal(nothing, case["x"])
        x, memory = case["x"].copy(), case["memory"].copy()
        x[-1] += 1
        x[-1, 0] -= 3
        later = layer(**case | {"x": x})
        np.testing.assert_allclose(later[:-1], whole[:-1], rtol=0, atol=1e-12)
        assert abs(later[-1] - whole[-1]).max() > 0.1
        memory[~case["real"]] += 5
        np.testing.assert_allclose(layer(**case | {"memory": memory}), whole, rtol=0, atol=1e-12)

    def test_the_slopes_in_the_text_are_those_of_the_closed_form(self, capsys):
        names, _ = self.executed(capsys=capsys)
        x, upstream = np.array([2.0, 4.0, 4.0, 6.0]), np.eye(4)[0]
        grad_x, grad_gain, grad_bias = names["layer_norm_gradient"](x, np.ones(4), upstream)
        # z is (−√2, 0, 0, √2): (1, 0, 0, 0) without its mean and its component along z remains.
        np.testing.assert_allclose(grad_x, np.array([1, -1, -1, 1]) / 4 / 2**0.5, atol=1e-5)
        np.testing.assert_allclose(grad_gain, [-(2**0.5), 0, 0, 0], atol=1e-5)
        assert grad_bias.tolist() == [1, 0, 0, 0]
        assert abs(grad_x.sum()) < 1e-12 and abs(grad_x @ (x - 4)) < 1e-5

    def test_the_corrected_stack_returns_its_input_if_its_sublayers_are_zero(self, capsys):
        names, printed = self.executed(capsys=capsys)
        sentence, silent = names["sentence"], names["silent"]
        np.testing.assert_array_equal(names["mended_stack"](sentence, *silent), sentence)
        shown = "[[-1.41  0.    0.    1.41]\n [-1.34 -0.45  0.45  1.34]]\n"
        assert shown in printed

    def test_what_the_norms_do_to_opposite_vectors(self, capsys):
        names, printed = self.executed(capsys=capsys)
        assert "[[0. 0. 0. 0.]\n [0. 0. 0. 0.]]\n2.5 [1.2 1.6 0.  0. ]\n" in printed
        kept = names["rms_norm"](names["opposite"], np.ones(4))
        np.testing.assert_allclose(kept, [[1.0] * 4, [-1.0] * 4], atol=1e-5)

    def test_the_experiment_measures_what_the_rubric_says(self, capsys):
        names, _ = self.executed(capsys=capsys)
        run, cosine, skipped = names["run_layers"], names["mean_cosine"], (1, 2, 4, 8, 16)

        def cosines(stack, norm):
            whole = stack(norm)
            return [cosine(stack(norm, k), whole) for k in skipped]

        (source,) = [cell.source for cell in self.cells() if "def run_layers" in cell.source]
        changed = "np.sqrt(2) ** (layer - 1) * normalised(x) @ w if"
        growing = dict(names)
        exec(source.replace("normalised(x) @ w if", changed), growing)  # noqa: S102 - our own
        predicted = [(k / (k + 1)) ** 0.5 for k in skipped]
        measured = [
            *cosines(run, "post"),
            *cosines(run, "pre"),
            *(np.sqrt((run("pre", depth=k) ** 2).mean()) for k in skipped),
            *predicted,
            predicted[0],
            *cosines(growing["run_layers"], "pre"),
        ]
        for language in LANGUAGES:
            said = re.findall(r"\d+\.\d\d", self.cells(language)[-1].source)
            assert said == [f"{number:.2f}" for number in measured]
        np.testing.assert_allclose(measured[5:10], predicted, atol=0.03)
        np.testing.assert_allclose(measured[10:15], np.sqrt(np.array(skipped) + 1), atol=0.03)
