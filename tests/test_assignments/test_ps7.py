"""Problem set 7, training."""

import re

import numpy as np
import pytest
import torch

from notebooks.build import LANGUAGES
from tests.test_assignments.proofs import Answers, Proofs, function, marked

answers = Answers("ps7")
next_token_loss, clip_gradients, adamw_step, cosine_schedule, mended_accumulation = (
    task.exercise for task in answers.set.tasks
)

SEEDS = range(5)
STEP, N_STEPS = 0.002, 500  # the step size and number of steps of the experiment


def of(task, exercise, group):
    """Yield the inputs of a group, for several seeds."""
    for seed in SEEDS:
        yield from (case for case in exercise.cases(seed) if task.group(case) == group)


class TestPS7(Proofs):
    answers = answers

    def test_a_modified_argument_is_named(self):
        (source,) = [t for name, _, t in answers.WRONG[answers.COSINE] if name == "writes into t"]
        task = self.tasks[answers.COSINE]
        assert marked(task, function(answers.COSINE, source)).modified == "t"

    # The oracles, against PyTorch -------------------------------------------------------

    def test_the_loss_and_its_gradient_are_those_of_autograd(self):
        for seed in SEEDS:
            for case in next_token_loss.cases(seed):
                logits = torch.tensor(case["logits"], requires_grad=True)
                loss = torch.nn.functional.cross_entropy(
                    logits[:, :-1].flatten(0, 1),
                    torch.tensor(case["ids"])[:, 1:].flatten(),
                    ignore_index=int(case["pad_id"]),
                    label_smoothing=float(case["smoothing"]),
                )
                loss.backward()
                found = next_token_loss.oracle(**case)
                np.testing.assert_allclose(found[0], loss.item(), rtol=1e-9)
                np.testing.assert_allclose(found[1], logits.grad.numpy(), atol=1e-9)

    def test_clipping_is_that_of_torch(self):
        for seed in SEEDS:
            for case in clip_gradients.cases(seed):
                weights = [torch.nn.Parameter(torch.tensor(case[n])) for n in list(case)[:2]]
                for weight in weights:
                    weight.grad = weight.detach().clone()
                norm = torch.nn.utils.clip_grad_norm_(weights, float(case["max_norm"]))
                found = clip_gradients.oracle(**case)
                for array, weight in zip(found, weights, strict=False):
                    np.testing.assert_allclose(array, weight.grad.numpy(), rtol=2e-6)
                np.testing.assert_allclose(found[2], norm.item())

    def test_steps_are_those_of_torch(self):
        for seed in SEEDS:
            for case in adamw_step.cases(seed):
                theta = torch.nn.Parameter(torch.tensor(case["theta"]))
                theta.grad = torch.tensor(case["gradient"])
                rate, decay = float(case["learning_rate"]), float(case["weight_decay"])
                decay = decay if case["theta"].ndim > 1 else 0
                optimizer = torch.optim.AdamW([theta], rate, (0.9, 0.98), 1e-9, decay)
                optimizer.state[theta] = {
                    "step": torch.tensor(float(case["t"] - 1)),
                    "exp_avg": torch.tensor(case["m"]),
                    "exp_avg_sq": torch.tensor(case["v"]),
                }
                optimizer.step()
                found = adamw_step.oracle(**case)
                state = optimizer.state[theta]
                wanted = theta.detach(), state["exp_avg"], state["exp_avg_sq"]
                for array, tensor in zip(found, wanted, strict=True):
                    np.testing.assert_allclose(array, tensor.numpy(), rtol=1e-9)

    def test_the_schedule_is_that_of_torch(self):
        for case in of(self.tasks[answers.COSINE], cosine_schedule, "floor"):
            warmup, n_steps = int(case["warmup"]), int(case["n_steps"])
            optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], float(case["peak"]))
            scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(
                optimizer, n_steps - warmup, float(case["floor"])
            )
            sizes = [case["peak"] * t / warmup for t in range(warmup)]
            for _ in range(warmup, n_steps + 1):
                sizes.append(scheduler.get_last_lr()[0])
                optimizer.step()
                scheduler.step()
            found = cosine_schedule.oracle(**case)
            np.testing.assert_allclose(found, np.array(sizes)[case["t"]], rtol=1e-9)

    def test_parts_give_what_autograd_gives_for_the_whole_batch(self):
        for seed in SEEDS:
            for case in mended_accumulation.cases(seed):
                w = torch.tensor(case["w"], requires_grad=True)
                logits = torch.tensor(case["x"]) @ w
                targets = np.where(case["counts"], case["targets"], -100)
                loss = torch.nn.functional.cross_entropy(
                    logits.flatten(0, 1), torch.tensor(targets).flatten()
                )
                loss.backward()
                found = mended_accumulation.oracle(**case)
                np.testing.assert_allclose(found[0], loss.item(), rtol=1e-9)
                np.testing.assert_allclose(found[1], w.grad.numpy(), atol=1e-9)

    # The groups and the examples --------------------------------------------------------

    def test_padding_is_at_the_end_and_no_token_follows_itself(self):
        for seed in SEEDS:
            for case in next_token_loss.cases(seed):
                ids, real = case["ids"], case["ids"] != case["pad_id"]
                assert (real[:, :-1] >= real[:, 1:]).all() and real[:, 1].any()
                assert (ids[:, 1:] != ids[:, :-1])[real[:, 1:]].all()

    def test_the_groups_match_their_names(self):
        for case in of(self.tasks[answers.NEXT], next_token_loss, "base"):
            assert not case["smoothing"] and (case["ids"] != case["pad_id"]).all()
        for name, above in (("base", True), ("small gradients", False), ("zero gradients", False)):
            for case in of(self.tasks[answers.CLIP], clip_gradients, name):
                norm = clip_gradients.oracle(**case)[2]
                assert (norm > case["max_norm"]) == above and bool(norm) == (name[0] != "z")
        task = self.tasks[answers.ADAMW]
        axes = {
            name: {c["theta"].ndim for c in of(task, adamw_step, name)}
            for name in ("base", "vectors", "more axes")
        }
        assert axes == {"base": {2}, "vectors": {1}, "more axes": {3}}
        for case in of(self.tasks[answers.COSINE], cosine_schedule, "base"):
            assert {int(case["warmup"]), int(case["n_steps"])} <= {*case["t"].tolist()}
            assert not case["floor"] and case["t"].max() == case["n_steps"]
        for case in of(self.tasks[answers.MENDED], mended_accumulation, "base"):
            sizes = case["counts"].sum(axis=1)
            assert sizes.min() > 0 and len({*sizes.tolist()}) > 1

    def test_equal_parts_hide_the_fault(self, capsys):
        names, _ = self.executed(released=True, capsys=capsys)
        for case in mended_accumulation.cases(0)[:2]:
            case["counts"][:] = True
            expected = mended_accumulation.oracle(**case)
            for found, wanted in zip(names["faulty_accumulation"](**case), expected, strict=True):
                np.testing.assert_allclose(found, wanted)

    def test_the_schedule_shown_in_the_text_is_the_right_one(self, capsys):
        names, _ = self.executed(capsys=capsys)
        found = names["cosine_schedule"](np.arange(1, 13), 1.0, 0.1, 4, 10)
        assert found.round(2).tolist() == names["expected"]

    @pytest.mark.parametrize("edition", LANGUAGES)
    def test_the_example_of_the_fault_is_the_one_worked_out_by_hand(self, edition, capsys):
        names, printed = self.executed(edition, capsys=capsys)
        mended = names["mended_accumulation"]
        loss, gradient = mended(names["x"], names["targets"], names["counts"], np.zeros((1, 2)))
        assert gradient.round(12).tolist() == [[-0.3, 0.3]]
        assert loss == pytest.approx(np.log(2))
        assert any("in parts: [[0. 0.]]\nby hand:  [[-0.3  0.3]]\n" in text for text in printed)

    def test_the_experiment_measures_what_the_rubric_says(self, capsys):
        names, _printed = self.executed(capsys=capsys)
        shrunk, scales = names["shrunk"], (0.01, 0.1, 1.0, 10.0)
        alone, with_l2, decoupled, rescaled = (
            [f"{shrunk(s, **options(s)):.2f}" for s in scales]
            for options in (
                lambda s: {},
                lambda s: {"l2": 0.2},
                lambda s: {"decay": 0.2},
                lambda s: {"l2": 0.2 * s},
            )
        )
        assert {*alone} == {"1.00"} and {*decoupled} == {"0.82"}
        expected = [f"{np.exp(-0.2 / s):.2f}" for s in (1, 10)]
        assert f"{(1 - STEP * 0.2) ** N_STEPS:.2f}" == "0.82"
        measured = ["1.00", "0.82", *with_l2, "0.82", *expected, *rescaled]
        for language in LANGUAGES:
            rubric = re.sub(r"\$[^$]+\$", "", self.cells(language)[-1].source)
            assert re.findall(r"\d\.\d\d", rubric) == measured

    def test_the_columns_of_the_experiment_are_adam_and_adamw_of_torch(self, capsys):
        shrunk = self.executed(capsys=capsys)[0]["shrunk"]
        for s in (0.01, 10.0):
            assert with_torch(torch.optim.Adam, s, 0.2) == pytest.approx(shrunk(s, l2=0.2))
            assert with_torch(torch.optim.AdamW, s, 0.2) == pytest.approx(shrunk(s, decay=0.2))
        # Where the penalty outweighs the noise, a step is at first nearly the step size.
        for decay in (0.1, 0.2):
            moved = 1 - with_torch(torch.optim.Adam, 0.01, decay, n_steps=100)
            assert 0.9 < moved / (100 * STEP) < 1


def with_torch(optimizer, s, decay, n_steps=N_STEPS):
    """Return the mean weight after some steps on the noise of the experiment."""
    rng, theta = np.random.default_rng(0), torch.nn.Parameter(torch.ones(200).double())
    steps = optimizer([theta], STEP, (0.9, 0.98), 1e-9, decay)
    for _ in range(n_steps):
        theta.grad = torch.tensor(s * rng.normal(size=200))
        steps.step()
    return theta.mean().item()
