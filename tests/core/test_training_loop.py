"""attn.training.train against a loop by hand, interrupted and continued, in one process and two.

Run as a script, under torchrun or not, this file is the processes that the tests start.
"""

import copy
import dataclasses
import io
import math
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import nn
from torch.distributed import barrier
from torch.nn import functional as F
from torch.optim.optimizer import register_optimizer_step_pre_hook

import attn
from attn._checks import switch
from attn.masks import padding_mask
from attn.positions import SCHEMES, RelativePositions
from attn.training import History, TrainingConfig, cross_entropy, pad, shift, train
from attn.training.optimizers import Muon, make_optimizers, orthogonalised
from attn.training.processes import Processes, join
from attn.training.run import _move
from attn.transformer import Transformer, TransformerConfig
from tests.core.helpers import refuses
from tests.core.no_float64 import NoFloat64

FOLDERS = os.pathsep.join([str(Path(attn.__file__).parents[1]), str(Path(__file__).parent)])


# a small task for every test: sequences of ids, with the reversed sequence as target


def make_examples(n_examples=22):
    rng = random.Random(0)
    sources = [rng.choices(range(4, 11), k=rng.randint(1, 5)) for _ in range(n_examples)]
    return [(source, [2, *source[::-1], 3]) for source in sources]


def make_model(dropout=0.2, seed=0):
    torch.manual_seed(seed)
    sizes = {"d_model": 8, "n_heads": 2, "n_layers": 1, "d_ff": 16}
    return Transformer(TransformerConfig(vocab_size=11, dropout=dropout, **sizes))


def collate(examples):
    src, lengths = pad([source for source, _ in examples], 0)
    inputs, targets = shift(pad([target for _, target in examples], 0)[0])
    src_mask = padding_mask(lengths, src.shape[1])
    return {"src": src, "src_mask": src_mask, "inputs": inputs, "targets": targets}


def sequence_loss(model, batch):
    logits, _ = model(batch["src"], batch["inputs"], batch["src_mask"])
    return cross_entropy(logits, batch["targets"], label_smoothing=0.1, pad_id=0)


def length(example):
    return len(example[0])


CPU = torch.device("cpu")
EXAMPLES = make_examples()
EVERY = {"validate_every": 4, "patience": 50, "checkpoint_every": 3}
CONFIG = TrainingConfig(
    steps=24, batch_size=5, learning_rate=0.01, warmup_steps=4, **EVERY, device="cpu"
)
PLAIN = dataclasses.replace(CONFIG, validate_every=None, patience=None, checkpoint_every=None)


def run(model, checkpoint=None, config=CONFIG, examples=EXAMPLES, **hooks):
    parts = {"loss": sequence_loss, "collate": collate} | hooks
    validation = EXAMPLES[:6] if config.validate_every else None
    return train(
        model,
        examples=examples,
        config=config,
        length=length,
        validation=validation,
        checkpoint=checkpoint,
        **parts,
    )


def assert_same(ours, theirs):
    """Assert equality to the bit, of tensors and of containers that hold them."""
    assert type(ours) is type(theirs)
    if isinstance(ours, torch.Tensor):
        assert ours.dtype == theirs.dtype and torch.equal(ours, theirs)
    elif isinstance(ours, dict):
        assert list(ours) == list(theirs)
        for name in ours:
            assert_same(ours[name], theirs[name])
    elif isinstance(ours, (list, tuple)):
        assert len(ours) == len(theirs)
        for pair in zip(ours, theirs, strict=True):
            assert_same(*pair)
    else:
        assert ours == theirs


def outcome(model, history):
    return {
        "losses": history.losses,
        "validation": history.validation,
        "weights": dict(model.state_dict()),
    }


# a training step


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"schedule": "inverse_sqrt", "warmup_steps": 2},
        {"betas": (0.5, 0.8), "weight_decay": 0.5},
        {"clip_norm": math.inf, "weight_decay": 0},
        {"clip_norm": 1e-3},
        {"clip_norm": 3},
    ],
)
@pytest.mark.parametrize("scale", [1, pytest.param(1e-8, marks=pytest.mark.slow)])
def test_a_run_equals_a_loop_written_by_hand(changes, scale):
    """In float64, in one case with gradients so small that the eps of AdamW matters."""
    config = dataclasses.replace(PLAIN, batch_size=len(EXAMPLES), steps=12, **changes)

    def loss(model, batch):
        total, count = sequence_loss(model, batch)
        return total * scale, count

    model, by_hand = (make_model(dropout=0.0).double() for _ in range(2))
    history = run(model, config=config, loss=loss)

    optimizer = torch.optim.AdamW(
        by_hand.parameters(),
        betas=config.betas,
        eps=1e-9,
        weight_decay=config.weight_decay,
        foreach=False,
    )
    batch = collate(EXAMPLES)
    losses = []
    for step in range(1, 13):
        optimizer.zero_grad()
        logits, _ = by_hand(batch["src"], batch["inputs"], batch["src_mask"])
        mean = scale * F.cross_entropy(
            logits.mT, batch["targets"], ignore_index=0, label_smoothing=0.1
        )
        mean.backward()
        losses.append(mean.item())
        square = sum(p.grad.square().sum() for p in by_hand.parameters())
        for p in by_hand.parameters():
            p.grad *= min(1.0, config.clip_norm / square.sqrt().item())
        rate = 0.01 * min(step / config.warmup_steps, 1)
        if step > config.warmup_steps and config.schedule == "inverse_sqrt":
            rate = 0.01 * math.sqrt(config.warmup_steps / step)
        elif step > config.warmup_steps:
            rate = 0.01 * math.cos(math.pi / 2 * (step - 4) / (13 - 4)) ** 2
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
    assert history.losses == pytest.approx(losses, rel=1e-6)
    for ours, theirs in zip(model.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-7)


def test_the_optimizer_is_fused():
    """The numbers need not show this: on some processors all ways to compute AdamW agree."""
    used = []

    def note(optimizer, arguments, options):
        used.append((type(optimizer), optimizer.defaults["fused"]))

    hook = register_optimizer_step_pre_hook(note)
    try:
        run(make_model(dropout=0.0), config=dataclasses.replace(PLAIN, steps=2))
    finally:
        hook.remove()
    assert used == [(torch.optim.AdamW, True)] * 2


def test_muon_updates_matrices_and_adamw_the_rest():
    """Its step has the singular vectors of the gradient, and singular values of about 1.

    The first step of AdamW is as long as the learning rate wherever there is a gradient.
    """
    model = make_model(dropout=0.0)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    total, count = sequence_loss(model, collate(EXAMPLES))
    (total / count).backward()
    gradients = {name: p.grad for name, p in model.named_parameters()}
    changes = {"optimizer": "muon", "weight_decay": 0.0, "warmup_steps": 1, "steps": 1}
    config = dataclasses.replace(PLAIN, batch_size=len(EXAMPLES), **changes)
    trained = make_model(dropout=0.0)
    run(trained, config=config)
    n_turned = 0
    for name, after in trained.named_parameters():
        step = (before[name] - after.detach()) / config.learning_rate
        if after.ndim == 2 and "embedding" not in name:
            left, values, right = torch.linalg.svd(gradients[name], full_matrices=False)
            turned = left.T @ step @ right.T / (0.2 * max(after.shape) ** 0.5)
            strong = values > 0.1 * values[0]
            assert (turned.diagonal()[strong] > 0.5).all()
            assert (torch.linalg.svdvals(turned) < 1.3).all()
            n_turned += 1
        else:
            moved = gradients[name].abs() > 1e-6
            torch.testing.assert_close(
                step[moved], gradients[name][moved].sign(), rtol=0.01, atol=0
            )
    assert n_turned > 10


@pytest.mark.parametrize("shape", [(6, 6), (3, 7), (40, 8)])
def test_orthogonalising_keeps_singular_vectors_and_moves_values_to_one(shape):
    """Compared with the SVD: the polynomial is applied to each singular value."""
    torch.manual_seed(0)
    matrix = torch.randn(*shape, dtype=torch.float64)
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    values = values / values.norm()
    for _ in range(5):
        values = 3.4445 * values - 4.775 * values**3 + 2.0315 * values**5
    found = orthogonalised(matrix)
    torch.testing.assert_close(found, left @ values.diag() @ right)
    assert (torch.linalg.svdvals(found) - 0.91).abs().max() < 0.24
    assert orthogonalised(matrix.float()).dtype == torch.float32


@pytest.mark.parametrize("shape", [(6, 6), (3, 7), (40, 8)])
def test_muon_takes_the_steps_of_pytorch_except_for_rounding(shape):
    if not hasattr(torch.optim, "Muon"):
        pytest.skip("Muon comes with PyTorch 2.9")
    torch.manual_seed(0)
    start = torch.randn(*shape)
    ours, theirs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    options = {"lr": 0.01, "weight_decay": 0.3}
    optimizers = [
        Muon([ours], **options),
        torch.optim.Muon([theirs], adjust_lr_fn="match_rms_adamw", **options),
    ]
    for _ in range(5):
        ours.grad = torch.randn(*shape)
        theirs.grad = ours.grad.clone()
        for optimizer in optimizers:
            optimizer.step()
    # PyTorch's Muon rounds to the eight bits of bfloat16.
    assert 0 < (ours - theirs).norm() / (theirs - start).norm() < 0.02


def test_muon_refuses_parameters_that_are_no_matrices():
    with refuses("parameters: expected matrices, of two dimensions, got shape (3,)"):
        Muon([nn.Parameter(torch.zeros(3))])


@pytest.mark.parametrize("decayed", ["all", "matrices"])
@pytest.mark.parametrize(
    "model, kinds",
    [
        (nn.Linear(3, 2, bias=False), {"Muon": [(2, 3)]}),
        (nn.LayerNorm(3), {"AdamW": [(3,), (3,)]}),
        (nn.Conv1d(3, 2, 5), {"AdamW": [(2, 3, 5), (2,)]}),
        (nn.Linear(3, 2), {"Muon": [(2, 3)], "AdamW": [(2,)]}),
    ],
    ids=lambda x: type(x).__name__,
)
def test_muon_gets_the_weight_matrices_if_there_are_any(model, kinds, decayed):
    config = dataclasses.replace(PLAIN, optimizer="muon", decayed=decayed)
    found = {
        type(optimizer).__name__: [
            tuple(p.shape) for group in optimizer.param_groups for p in group["params"]
        ]
        for optimizer in make_optimizers(model, config)
    }
    assert found == kinds


class Table(RelativePositions):
    def __init__(self):
        super().__init__()
        # These weights are those of three distances and two heads.
        self.weight = nn.Parameter(torch.ones(3, 2))
        # The matrix of a linear layer inside a position scheme counts as a weight matrix.
        self.proj = nn.Linear(2, 2)


@pytest.mark.parametrize(
    "positions, optimizer, decayed",
    [
        ("learned", "adamw", "matrices"),
        ("table", "adamw", "matrices"),
        ("learned", "muon", "matrices"),
        ("learned", "muon", "all"),
    ],
)
def test_decay_of_matrices_does_not_change_tables_norms_and_biases(
    positions, optimizer, decayed, monkeypatch
):
    """The loss does not depend on the weights here, so that only the decay changes them."""
    monkeypatch.setitem(SCHEMES, "table", Table)
    config = TransformerConfig(
        vocab_size=11, d_model=8, n_heads=2, n_layers=1, d_ff=16, norm="pre", positions=positions
    )
    model = Transformer(config)
    before = {name: p.clone() for name, p in model.named_parameters()}

    def loss(model, batch):
        return sum((p * 0).sum() for p in model.parameters()), 1

    changes = {"decayed": decayed, "weight_decay": 0.5, "warmup_steps": 1, "steps": 1}
    changes["optimizer"] = optimizer
    run(model, config=dataclasses.replace(PLAIN, **changes), loss=loss)
    for name, p in model.named_parameters():
        is_matrix = name.endswith("weight") and ("proj" in name or "linear" in name)
        shrinks = is_matrix or decayed == "all"
        expected = before[name] * (1 - 0.01 * 0.5) if shrinks else before[name]
        torch.testing.assert_close(p.data, expected, rtol=1e-6, atol=0, msg=name)
    assert {p.ndim for name, p in model.named_parameters() if "embedding" in name} == {2}


def test_batches_are_drawn_by_tokens_if_configured():
    n_tokens = []

    def loss(model, batch):
        n_tokens.append(int(batch["src_mask"].sum()))
        return sequence_loss(model, batch)

    longest = max(len(source) for source, _ in EXAMPLES)
    config = dataclasses.replace(PLAIN, steps=2, batch_size=1, batch_tokens=4 * longest)
    run(make_model(), config=config, loss=loss)
    assert min(n_tokens) > 2 * longest


def test_a_run_learns_and_ends_in_evaluation_mode():
    model = make_model()
    assert isinstance(history := run(model, config=dataclasses.replace(PLAIN, steps=60)), History)
    assert len(history.losses) == 60 and history.validation == []
    assert all(type(loss) is float for loss in history.losses)
    assert sum(history.losses[-5:]) < 0.8 * sum(history.losses[:5])
    assert not model.training


def test_every_example_is_used_once_before_any_is_used_again():
    seen = []

    def remember(examples):
        seen.append(len(examples))
        return collate(examples)

    run(make_model(), config=dataclasses.replace(PLAIN, steps=5), collate=remember)
    assert sum(seen) == len(EXAMPLES) and max(seen) == 5


def test_validation_batches_have_examples_of_similar_length():
    batches = []

    def remember(examples):
        batches.append(examples)
        return collate(examples)

    config = dataclasses.replace(CONFIG, steps=4, checkpoint_every=None)
    train(
        make_model(), sequence_loss, EXAMPLES, remember, config, length=length, validation=EXAMPLES
    )
    held_out = batches[4:]
    assert sorted(example for batch in held_out for example in batch) == sorted(EXAMPLES)
    assert max(len({length(example) for example in batch}) for batch in held_out) <= 3


def test_a_run_depends_on_the_seed_only():
    def weights(seed, disturb=0):
        torch.manual_seed(disturb)
        model = make_model()
        torch.manual_seed(disturb)
        run(model, config=dataclasses.replace(PLAIN, seed=seed, steps=3))
        return dict(model.state_dict())

    assert_same(weights(0), weights(0, disturb=1))
    assert not torch.equal(weights(0)["output.weight"], weights(1)["output.weight"])


def test_checks_are_off_during_training_and_restored_afterwards():
    seen = []

    def loss(model, batch):
        seen.append(switch.on)
        return sequence_loss(model, batch)

    run(make_model(), config=dataclasses.replace(CONFIG, steps=4, checkpoint_every=None), loss=loss)
    assert set(seen) == {False} and switch.on


def test_dropout_depends_on_the_seed():
    """There is a single example, so its order cannot matter."""
    losses = [
        run(
            make_model(),
            config=dataclasses.replace(PLAIN, seed=seed, steps=2),
            examples=EXAMPLES[:1],
        ).losses
        for seed in (0, 1, 1)
    ]
    assert losses[0][0] != losses[1][0] and losses[1] == losses[2]


def test_each_step_is_reported_with_its_loss_and_number_of_tokens():
    said = []
    config = dataclasses.replace(PLAIN, steps=4, batch_size=len(EXAMPLES))
    history = run(make_model(), config=config, report=said.append)
    assert [(now.step, now.steps) for now in said] == [(n, 4) for n in (1, 2, 3, 4)]
    assert [now.loss for now in said] == history.losses
    assert {now.n_terms for now in said} == {sum(len(target) - 1 for _, target in EXAMPLES)}


def test_dropout_differs_in_every_step_and_does_not_change_the_random_state():
    drawn = []

    def loss(model, batch):
        drawn.append(torch.rand(()).item())
        return sequence_loss(model, batch)

    torch.manual_seed(7)
    expected = torch.rand(3)
    model = make_model()
    torch.manual_seed(7)
    run(model, config=PLAIN, loss=loss)
    assert len(set(drawn)) == PLAIN.steps
    assert torch.equal(torch.rand(3), expected)


def test_validation_is_the_mean_without_dropout_and_changes_nothing():
    modes = []

    def loss(model, batch):
        modes.append((model.training, torch.is_grad_enabled()))
        return sequence_loss(model, batch)

    model, alone = make_model(), make_model()
    config = dataclasses.replace(CONFIG, steps=4, checkpoint_every=None)
    history = run(model, config=config, loss=loss)
    # Six examples make two batches of up to five.
    assert modes == [(True, True)] * 4 + [(False, False)] * 2
    batch = collate(EXAMPLES[:6])
    logits, _ = model(batch["src"], batch["inputs"], batch["src_mask"])
    mean = F.cross_entropy(logits.mT, batch["targets"], ignore_index=0, label_smoothing=0.1)
    assert history.validation == [(4, pytest.approx(mean.item(), rel=1e-5))]

    run(alone, config=dataclasses.replace(PLAIN, steps=4))
    assert_same(dict(alone.state_dict()), dict(model.state_dict()))


# early stopping, of one weight that falls by about lr a step, past the best value


class Falling(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(1.0))


def falls(model, batch):
    if model.training:
        return model.weight * len(batch[0]), len(batch[0])
    return (model.weight - 0.5).abs() * len(batch[0]), len(batch[0])


def flat(model, batch):
    return model.weight * 0 + 1, 1


RATE = {"learning_rate": 0.1, "warmup_steps": 1, "schedule": "inverse_sqrt", "weight_decay": 0}
STOPPING = TrainingConfig(
    steps=100, batch_size=2, **RATE, validate_every=2, patience=2, device="cpu"
)


WITH_CHECKPOINTS = dataclasses.replace(
    STOPPING, validate_every=None, patience=None, checkpoint_every=2
)


def as_batch(numbers):
    return (torch.tensor(numbers),)


def fall(loss=falls, config=STOPPING, checkpoint=None):
    model, numbers = Falling(), [1.0, 2.0, 3.0]
    validation = numbers if config.validate_every else None
    options = {"validation": validation, "checkpoint": checkpoint}
    return model, train(model, loss, numbers, as_batch, config, **options)


def test_early_stopping_restores_the_best_weights():
    model, history = fall()
    # Adam moves it by the learning rate: 1 - .1 (1 + 1/sqrt 2 + 1/sqrt 3 + ...).
    steps, losses = zip(*history.validation, strict=True)
    weight = [1 - 0.1 * sum(i**-0.5 for i in range(1, step + 1)) for step in steps]
    assert losses == pytest.approx([abs(w - 0.5) for w in weight], abs=1e-4)
    best = losses.index(min(losses))
    assert 0 < best == len(losses) - 3
    assert steps == tuple(range(2, 2 * len(steps) + 1, 2)) and len(history.losses) == steps[-1]
    assert model.weight.item() == pytest.approx(weight[best], abs=1e-4)
    assert history.since_best() == 2


def test_an_equal_loss_is_no_improvement():
    _, history = fall(flat)
    assert history.validation == [(2, 1.0), (4, 1.0), (6, 1.0)] and len(history.losses) == 6


def test_without_patience_the_last_weights_are_kept():
    model, history = fall(config=dataclasses.replace(STOPPING, patience=None, steps=40))
    assert len(history.losses) == 40 and len(history.validation) == 20
    assert model.weight.item() == pytest.approx(1 - 0.1 * sum(i**-0.5 for i in range(1, 41)), 1e-3)


@pytest.mark.slow
def test_patience_notices_small_improvements_in_bfloat16():
    """Summed in bfloat16, the losses of this run would not change from step 50 on."""
    config = dataclasses.replace(
        CONFIG, steps=60, learning_rate=3e-3, validate_every=2, patience=2, checkpoint_every=None
    )
    found, expected = (
        run(make_model(), config=dataclasses.replace(config, precision=precision))
        for precision in ("bfloat16", "float32")
    )
    assert len(found.losses) == len(expected.losses) == 60
    found, expected = dict(found.validation), dict(expected.validation)
    assert found == pytest.approx(expected, rel=1e-3)


def test_losses_in_half_precision_are_summed_in_float32():
    """The losses of three batches of one example sum to 257.5, which bfloat16 rounds to 258."""

    def loss(model, batch):
        total, count = falls(model, batch)
        return (total if model.training else 0 * total + batch[0].sum()).bfloat16(), count

    config = dataclasses.replace(STOPPING, steps=2, batch_size=1)
    numbers = [256.0, 1.0, 0.5]
    history = train(Falling(), loss, numbers, as_batch, config, validation=numbers)
    assert history.validation == [(2, pytest.approx(257.5 / 3, rel=1e-6))]


def test_sums_keep_the_type_of_each_number():
    total, count = Processes(0, 1, CPU).sum(torch.tensor(0.5), torch.tensor(2**24 + 1))
    assert total.item() == 0.5 and count.item() == 2**24 + 1


def test_training_needs_no_float64():
    config = dataclasses.replace(STOPPING, steps=2)

    def loss(model, batch):
        return cross_entropy(model(batch[0][:, None]), batch[0].long(), label_smoothing=0.1)

    with NoFloat64():
        train(nn.Linear(1, 3), loss, [0.0, 1.0, 2.0], as_batch, config, validation=[1.0])


def test_since_best_counts_the_validations_after_the_best():
    assert History().since_best() == 0
    assert History([], [(2, 3.0)]).since_best() == 0
    assert History([], [(2, 3.0), (4, 1.0), (6, 1.0), (8, 2.0)]).since_best() == 2


def test_a_finished_run_is_not_continued(tmp_path):
    path = tmp_path / "run.pt"
    model, history = fall(checkpoint=path)
    content = path.read_bytes()

    def never(model, batch):
        raise AssertionError

    again, same = fall(never, checkpoint=path)
    assert same == history and torch.equal(again.weight, model.weight)
    assert path.read_bytes() == content


# losses and gradients that are not finite


def spoilt(at, spoil):
    """Return the loss, except in one step, in which `spoil` computes it from the weight."""
    calls = []

    def loss(model, batch):
        calls.append(None)
        total, count = falls(model, batch)
        return (spoil(model.weight) if len(calls) == at else total), count

    return loss


@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda w: w * math.nan, "loss: expected a finite number, got nan in step 5"),
        (lambda w: w * math.inf, "loss: expected a finite number, got inf in step 5"),
        (lambda w: (w - w).sqrt(), "gradient: expected a finite number, got nan in step 5"),
        (
            lambda w: (w.detach() - w).sqrt(),
            "gradient: expected a finite number, got inf in step 5",
        ),
    ],
)
def test_a_loss_or_gradient_that_is_not_finite_ends_the_run_before_the_update(
    spoil, message, tmp_path
):
    model, path = Falling(), tmp_path / "run.pt"
    with refuses(message):
        train(model, spoilt(5, spoil), [1.0], as_batch, WITH_CHECKPOINTS, checkpoint=path)
    after_four = 1 - 0.1 * sum(i**-0.5 for i in range(1, 5))
    assert model.weight.item() == pytest.approx(after_four, abs=1e-4)
    state = torch.load(path, weights_only=True)["state"]
    assert torch.equal(state["weights"]["weight"], model.weight) and len(state["losses"]) == 4


def test_a_validation_loss_that_is_not_finite_ends_the_run():
    def loss(model, batch):
        total, count = falls(model, batch)
        return (total if model.training else total * math.nan), count

    with refuses("validation loss: expected a finite number, got nan in step 2"):
        fall(loss)


def test_a_continued_run_with_random_batches_ends_in_the_same_state(tmp_path):
    """`collate` draws random numbers, as for BERT's masks, which depend on the step alone."""

    class Stopped(BaseException):
        pass

    def collate(numbers):
        return (torch.tensor(numbers) * torch.rand(len(numbers)),)

    def loss(model, batch):
        return (model.weight - batch[0]).square().sum(), len(batch[0])

    def stop(progress):
        if progress.step == 5 and not (tmp_path / "stopped").exists():
            (tmp_path / "stopped").touch()
            raise Stopped

    config = dataclasses.replace(WITH_CHECKPOINTS, steps=8)
    arguments = (loss, [1.0, 2.0, 3.0], collate, config)
    whole = train(Falling(), *arguments, checkpoint=tmp_path / "whole")
    with pytest.raises(Stopped):
        train(Falling(), *arguments, checkpoint=tmp_path / "run", report=stop)
    assert train(Falling(), *arguments, checkpoint=tmp_path / "run").losses == whole.losses


class Two(NamedTuple):
    x: torch.Tensor
    y: torch.Tensor


class Named(dict):
    @property
    def x(self):
        return self["x"]

    @property
    def y(self):
        return self["y"]


@pytest.mark.parametrize("make", [Two._make, lambda pair: Named(zip("xy", pair, strict=True))])
def test_a_batch_keeps_its_class(make):
    def loss(model, batch):
        return (model.weight * batch.x - batch.y).square().sum(), len(batch.x)

    points = [(x, 3 * x) for x in (-2.0, -1.0, 1.0, 2.0)]
    train(Falling(), loss, points, lambda some: make(torch.tensor(some).T), PLAIN)


@pytest.mark.parametrize("kind", [torch.tensor, np.array])
def test_examples_may_be_an_array(kind):
    numbers = kind([1.0, 2.0, 3.0])
    config = dataclasses.replace(STOPPING, steps=2, validate_every=1, batch_tokens=2)
    history = train(
        Falling(),
        falls,
        numbers,
        lambda some: (torch.tensor([*map(float, some)]),),
        config,
        length=lambda number: 1,
        validation=numbers,
    )
    assert len(history.validation) == 2


def test_a_validation_that_fails_leaves_the_model_in_training_mode():
    def loss(model, batch):
        seen.append(model)
        if not model.training:
            raise KeyError
        return falls(model, batch)

    seen = []
    with pytest.raises(ValueError, match="^loss: .*, got KeyError"):
        fall(loss)
    assert seen[-1].training


def test_checkpoints_of_other_batches_are_refused_for_any_dtype(tmp_path):
    def go(numbers, dtype):
        def collate(some):
            return (torch.tensor(some).to(dtype),)

        train(
            Falling(), falls, numbers, collate, WITH_CHECKPOINTS, checkpoint=tmp_path / str(dtype)
        )

    for dtype in (torch.bfloat16, torch.bool, torch.complex64):
        go([1.0, 2.0], dtype)
        go([1.0, 2.0], dtype)
        with pytest.raises(ValueError, match="^checkpoint: "):
            go([1.0, 0.0], dtype)


def test_a_loss_over_zero_terms_is_refused():
    with refuses("loss: expected a finite number, got nan in step 1"):
        fall(lambda model, batch: (model.weight * 0, 0))


def test_other_errors_name_their_step():
    def loss(model, batch):
        if len(batch[0]) == 1:
            raise KeyError("one")
        return falls(model, batch)

    with pytest.raises(ValueError, match="^loss: .*, got KeyError: 'one'") as caught:
        fall(loss)
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.__notes__ in (
        ["In step 1 of the training."],
        ["In step 2 of the training."],
    )


def raises(*_):
    raise KeyError("mine")


def total(model, batch):
    return (model.weight - batch[0]).square().sum()


def fails_backward(total):
    total.register_hook(lambda gradient: 1 / 0)
    return total


WANTED_OF_LOSS = (
    "a function (model, batch) that returns the sum of the losses, "
    "a floating-point tensor of shape (), and their number"
)


@pytest.mark.parametrize(
    "loss, got",
    [
        (lambda model, batch: None, "None"),
        (total, "a tensor of torch.float32 and shape ()"),
        (lambda model, batch: (total(model, batch), 1, 2), "a tuple of 3"),
        (
            lambda model, batch: ((model.weight - batch[0]).square(), 1),
            "a tensor of torch.float32 and shape (1,) as the sum",
        ),
        (lambda model, batch: (1.0, 1), "1.0 as the sum"),
        (
            lambda model, batch: (torch.tensor(3), 1),
            "a tensor of torch.int64 and shape () as the sum",
        ),
        (lambda model, batch: (total(model, batch), None), "None as the number"),
        (lambda model, batch: (total(model, batch), True), "True as the number"),
        (
            lambda model, batch: (total(model, batch), batch[0]),
            "a tensor of torch.float32 and shape (1,) as the number",
        ),
        (lambda model, batch: (total(model, batch), -2), "the number -2 in step 1"),
        (raises, "KeyError: 'mine'"),
        (lambda model, batch: (fails_backward(total(model, batch)), 1), "ZeroDivisionError: "),
        (lambda model: None, "TypeError: "),
    ],
)
def test_a_wrong_loss_is_named_with_what_it_should_return(loss, got):
    with pytest.raises(ValueError) as caught:
        train(Falling(), loss, [1.0, 2.0], as_batch, dataclasses.replace(PLAIN, batch_size=1))
    assert str(caught.value).startswith(f"loss: expected {WANTED_OF_LOSS}, got {got}")
    assert type(caught.value.__cause__).__name__ == (
        got.split(":")[0] if ":" in got else "NoneType"
    )


def test_a_loss_that_depends_on_nothing_is_named():
    model = Falling()
    message = "loss: expected a sum that depends on a parameter of the model, got one without"
    with pytest.raises(ValueError, match="^" + message):
        train(model, lambda m, b: (b[0].sum(), 1), [1.0], as_batch, PLAIN)
    assert model.weight == 1


@pytest.mark.parametrize(
    "collate, got",
    [
        (lambda some: None, "None"),
        (lambda some: torch.tensor(some), "a tensor of torch.float32 and shape (1,)"),
        (lambda some: (torch.tensor(some), 3), "a tuple with 3 in it"),
        (lambda some: {"x": some}, "a dict with a list of 1 in it"),
        (
            lambda some: (torch.eye(2).to_sparse(),),
            "a tuple with a torch.sparse_coo tensor of torch.float32 and shape (2, 2) in it",
        ),
        (raises, "KeyError: 'mine'"),
        (lambda: None, "TypeError: "),
    ],
)
@pytest.mark.parametrize("with_checkpoint", [True, False])
def test_a_wrong_collate_is_named_with_what_it_should_return(
    collate, got, with_checkpoint, tmp_path
):
    path = tmp_path / "run" if with_checkpoint else None
    with pytest.raises(ValueError) as caught:
        train(Falling(), falls, [1.0], collate, PLAIN, checkpoint=path)
    wanted = "a function (list of examples) that returns a dict or tuple of tensors"
    assert str(caught.value).startswith(f"collate: expected {wanted}, got {got}")
    assert type(caught.value.__cause__).__name__ == (
        got.split(":")[0] if ":" in got else "NoneType"
    )
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "length, got",
    [
        (raises, "KeyError: 'mine'"),
        (lambda x: None, "None"),
        (lambda x: -1, "-1"),
        (lambda x: math.nan, "nan"),
        (str, "'1.0'"),
    ],
)
def test_a_wrong_length_is_named_with_what_it_should_return(length, got):
    wanted = "a function (example) that returns a number of at least 0"
    with refuses(f"length: expected {wanted}, got {got}"):
        train(Falling(), falls, [1.0], as_batch, PLAIN, length=length)


def test_an_out_of_memory_error_is_not_attributed_to_the_loss():
    def loss(model, batch):
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(torch.OutOfMemoryError):
        fall(loss)


# arguments


@pytest.mark.parametrize("name", ["examples", "validation"])
@pytest.mark.parametrize("some", [(x for x in [1.0]), {0: 1.0}, {1.0}, 7])
def test_an_iterator_in_place_of_a_sequence_is_refused_before_it_is_read(name, some):
    arguments = {"examples": [1.0], "validation": [1.0]} | {name: some}
    with refuses(f"{name}: expected a sequence, such as a list, got {type(some).__name__}"):
        train(Falling(), falls, collate=as_batch, config=STOPPING, **arguments)
    if not hasattr(some, "__len__") and some != 7:
        assert [*some] == [1.0] or name == "validation"


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"model": nn.ReLU()}, "model: expected a module with a parameter to train, got one"),
        ({"model": Ellipsis}, "model: expected a module with a parameter to train, got Ellipsis"),
        ({"model": nn.Linear(1, 1).requires_grad_(False)}, "model: expected a module with a param"),
        ({"loss": None}, "loss: expected a function, got None"),
        ({"collate": "pad"}, "collate: expected a function, got 'pad'"),
        ({"length": 3}, "length: expected a function, got 3"),
        ({"report": []}, "report: expected a function, got a list of 0"),
        ({"config": None}, "config: expected a TrainingConfig, got None"),
    ],
)
def test_arguments_of_wrong_types_are_refused(changes, message):
    arguments = {"model": Falling(), "loss": falls, "collate": as_batch, "config": PLAIN}
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        train(examples=[1.0], **arguments | changes)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"examples": []}, "examples: expected at least one example, got none"),
        ({"validation": []}, "validation: expected at least one example, got none"),
        ({"validation": None}, "validation: expected examples for validate_every = 4, got None"),
        ({"config": PLAIN}, "validation: expected None without validate_every, got 1 examples"),
        ({"checkpoint": None}, "checkpoint: expected a path for checkpoint_every = 3, got None"),
    ],
)
def test_arguments_are_checked_before_anything_happens(changes, message):
    def never(*arguments):
        raise AssertionError

    arguments = {"examples": [1], "validation": [1], "checkpoint": "a", "config": CONFIG}
    with refuses(message):
        train(None, never, collate=never, length=never, **arguments | changes)


@pytest.mark.parametrize("name", ["examples", "validation"])
def test_every_process_needs_an_example_of_every_batch(name, monkeypatch):
    monkeypatch.setattr("attn.training.loop.join", lambda device: Processes(0, 2, CPU))
    arguments = {"examples": [1.0, 2.0], "validation": [1.0, 2.0]} | {name: [1.0, 2.0, 3.0]}
    with refuses(f"{name}: expected 2 or more in every batch, one a process, got 1"):
        train(Falling(), falls, collate=tuple, config=STOPPING, **arguments)


# precision, compilation, devices, progress


def test_bfloat16_is_used_for_products_and_not_for_weights():
    kinds = []

    def loss(model, batch):
        kinds.append(model(batch["src"], batch["inputs"], batch["src_mask"])[0].dtype)
        return sequence_loss(model, batch)

    for precision, dtype in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        model = make_model()
        changes = {"steps": 4, "precision": precision, "checkpoint_every": None}
        run(model, config=dataclasses.replace(CONFIG, **changes), loss=loss)
        assert set(kinds) == {dtype} and len(kinds) == 4 + 2
        assert all(parameter.dtype == torch.float32 for parameter in model.parameters())
        kinds.clear()


@pytest.mark.slow
def test_the_model_is_compiled_if_configured(monkeypatch):
    """A compiler that only traces shows that there is one whole graph, with the same result."""
    compiled = []

    def compile_(module, **options):
        assert options == {"dynamic": True}
        compiled.append(module)
        return original(module, dynamic=True, backend="eager")

    original = torch.compile
    monkeypatch.setattr(torch, "compile", compile_)
    model, plain = make_model(dropout=0.0), make_model(dropout=0.0)
    config = dataclasses.replace(PLAIN, steps=2)
    history = run(model, config=dataclasses.replace(config, compile=True))
    assert len(compiled) == 1 and compiled[0].model is model
    assert history.losses == pytest.approx(run(plain, config=config).losses, rel=1e-5)
    assert len(compiled) == 1


def test_batches_move_to_the_device():
    tensors = {"a": torch.ones(2), "b": torch.ones(3)}
    moved = _move(tensors, torch.device("meta"))
    assert list(moved) == ["a", "b"] and all(t.device.type == "meta" for t in moved.values())
    moved = _move(tuple(tensors.values()), torch.device("meta"))
    assert [t.device.type for t in moved] == ["meta", "meta"] and isinstance(moved, tuple)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_in_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    history = run(make_model(), config=PLAIN)
    shown = sys.stderr.getvalue()
    assert "24/24" in shown and "step/s" in shown
    assert f"loss {history.losses[-1]:.3f}" in shown


def test_progress_is_shown_in_a_terminal_only(capfd):
    run(make_model(), config=PLAIN)
    assert capfd.readouterr() == ("", "")


def test_a_process_that_is_not_the_first_shows_and_writes_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setattr(sys, "stderr", Terminal())
    run(make_model(), tmp_path / "run.pt")
    assert sys.stderr.getvalue() == "" and not list(tmp_path.iterdir())


# checkpoints


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run without interruption: its checkpoint and its outcome."""
    path = tmp_path_factory.mktemp("whole") / "run.pt"
    model = make_model()
    return path, outcome(model, run(model, path))


def stop_after(n_losses):
    """Return a loss that raises KeyboardInterrupt after this many calls in training."""
    calls = []

    def loss(model, batch):
        if model.training:
            calls.append(None)
        if len(calls) > n_losses:
            raise KeyboardInterrupt
        return sequence_loss(model, batch)

    return loss


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 3, 8])
def test_a_continued_run_ends_in_the_same_state(step, whole, tmp_path):
    path = tmp_path / "run.pt"
    with pytest.raises(KeyboardInterrupt):
        run(make_model(), path, loss=stop_after(step))
    assert path.exists() == (step >= 3)
    # A run from the checkpoint does not depend on the initial weights.
    model = make_model(seed=0 if step < 3 else 5)
    torch.rand(step)
    history = run(model, str(path))
    assert_same(outcome(model, history), whole[1])
    assert_same(torch.load(path, weights_only=True), torch.load(whole[0], weights_only=True))
    assert [file.name for file in tmp_path.iterdir()] == ["run.pt"]


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_a_continued_run_with_two_groups_of_parameters_ends_in_the_same_state(optimizer, tmp_path):
    config = dataclasses.replace(
        CONFIG, decayed="matrices", weight_decay=0.5, optimizer=optimizer, batch_tokens=90
    )
    whole = make_model()
    expected = outcome(whole, run(whole, config=config, checkpoint=tmp_path / "whole.pt"))
    with pytest.raises(KeyboardInterrupt):
        run(make_model(), tmp_path / "run.pt", config, loss=stop_after(8))
    model = make_model(seed=5)
    assert_same(outcome(model, run(model, tmp_path / "run.pt", config)), expected)


def test_a_run_continues_from_the_last_checkpoint(tmp_path):
    """The loss is called for the missing steps only."""
    path = tmp_path / "run.pt"
    with pytest.raises(KeyboardInterrupt):
        run(make_model(), path, loss=stop_after(8))
    calls = []

    def loss(model, batch):
        calls.append(model.training)
        return sequence_loss(model, batch)

    run(make_model(), path, loss=loss)
    assert calls.count(True) == 24 - 6


def test_a_checkpoint_is_written_at_the_end_only(tmp_path):
    path = tmp_path / "run.pt"
    config = dataclasses.replace(CONFIG, checkpoint_every=None)
    with pytest.raises(KeyboardInterrupt):
        run(make_model(), path, config, loss=stop_after(23))
    assert not path.exists()
    run(make_model(), path, config)
    assert len(torch.load(path, weights_only=True)["state"]["losses"]) == 24


CHANGED = {
    "steps": 25,
    "batch_size": 4,
    "batch_tokens": 90,
    "learning_rate": 0.02,
    "warmup_steps": 5,
    "schedule": "inverse_sqrt",
    "optimizer": "muon",
    "betas": (0.9, 0.99),
    "weight_decay": 0.0,
    "decayed": "matrices",
    "label_smoothing": 0.0,
    "clip_norm": 2.0,
    "seed": 1,
    "validate_every": 3,
    "patience": 9,
    "checkpoint_every": 4,
    "precision": "bfloat16",
    "compile": True,
    "device": "auto",
}


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(TrainingConfig)])
def test_a_run_with_another_configuration_may_not_continue(name, whole):
    config = dataclasses.replace(CONFIG, **{name: CHANGED[name]})
    wanted, found = CHANGED[name], getattr(CONFIG, name)
    message = f"one of a run with {name} = {wanted!r}, got {whole[0]}, of one with {found!r}"
    with refuses(f"checkpoint: expected {message}"):
        run(make_model(), whole[0], config)


def other_word():
    examples = copy.deepcopy(EXAMPLES)
    source, target = examples[-1]
    source[0] = target[-2] = 15 - source[0]
    return examples


@pytest.mark.parametrize(
    "part, changes",
    [
        ("examples", {"examples": EXAMPLES[:-1]}),
        ("examples", {"examples": EXAMPLES[::-1]}),
        ("examples", {"examples": other_word()}),
        ("model", {"model": make_model(dropout=0.3)}),
        # The shapes are the same, and so are the layers as Python prints them.
        ("model", {"model": Transformer(dataclasses.replace(make_model().config, n_heads=4))}),
        ("model", {"model": nn.Linear(3, 4)}),
    ],
)
def test_a_run_with_other_examples_or_another_model_may_not_continue(part, changes, whole):
    message = f"one of a run with the same {part}, got {whole[0]}, of one with another"
    with refuses(f"checkpoint: expected {message}"):
        run(changes.pop("model", None) or make_model(), whole[0], **changes)


def test_a_run_with_other_validation_examples_may_not_continue(whole):
    with pytest.raises(ValueError, match="with the same examples"):
        train(
            make_model(),
            sequence_loss,
            EXAMPLES,
            collate,
            CONFIG,
            length=length,
            validation=EXAMPLES[1:7],
            checkpoint=whole[0],
        )


def spoil_a_bit(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        largest = max(archive.infolist(), key=lambda file: file.file_size)
        weights = archive.read(largest)
    place = content.index(weights) + len(weights) // 2
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def saved(value):
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: b"",
        lambda content: b"# Notes\n",
        lambda content: content[:-1],
        lambda content: content[: len(content) // 2],
        spoil_a_bit,
        lambda content: saved([1]),
        lambda content: saved({"format": "attn training 2"}),
        lambda content: saved(torch.load(io.BytesIO(content)) | {"format": "attn training 1"}),
        lambda content: saved(torch.load(io.BytesIO(content)) | {"more": 1}),
    ],
)
def test_a_file_that_is_no_complete_checkpoint_is_refused(spoil, whole, tmp_path):
    path = tmp_path / "run.pt"
    path.write_bytes(spoil(whole[0].read_bytes()))
    content = path.read_bytes()
    got = f"{path}, which is damaged or another kind of file"
    with refuses(f"checkpoint: expected a checkpoint of training, got {got}"):
        run(make_model(), path)
    assert path.read_bytes() == content


def test_no_code_in_a_file_is_executed(tmp_path, monkeypatch):
    # This variable changes PyTorch's default.
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")

    class Trap:
        def __reduce__(self):
            return (type(tmp_path).touch, (tmp_path / "it ran",))

    path = tmp_path / "run.pt"
    for content in (saved({"format": Trap()}), pickle.dumps(Trap())):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="damaged or another kind"):
            run(make_model(), path)
    assert not (tmp_path / "it ran").exists()


def test_an_unwritable_path_of_a_checkpoint_is_named(tmp_path, monkeypatch):
    def full(checkpoint, file):
        raise OSError(28, "No space left on device")

    wanted = "checkpoint: expected a place that can be written, got"
    nowhere, path = tmp_path / "no" / "run.pt", tmp_path / "run.pt"
    with refuses(f"{wanted} {nowhere}: No such file or directory"):
        fall(checkpoint=nowhere)
    monkeypatch.setattr(torch, "save", full)
    with refuses(f"{wanted} {path}: No space left on device"):
        fall(checkpoint=path)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("first, second", [("whole", None), (None, "part"), ("part", "whole")])
def test_compiled_and_plain_models_continue_each_others_runs(first, second, whole, tmp_path):
    """A wrapped model is not yet compiled, and its names begin with ``_orig_mod.``."""

    def wrap(kind):
        model = make_model()
        if kind == "part":
            for stack in (model.encoder, model.decoder):
                stack.layers[0] = torch.compile(stack.layers[0], backend="eager")
        return torch.compile(model, backend="eager") if kind == "whole" else model

    path = tmp_path / "run.pt"
    eager = torch._dynamo.config.patch(disable=True)
    with eager, pytest.raises(KeyboardInterrupt):
        run(wrap(first), path, loss=stop_after(8))
    model = wrap(second)
    with eager:
        history = run(model, path)
    ours = outcome(model, history)
    ours["weights"] = {k.replace("_orig_mod.", ""): v for k, v in ours["weights"].items()}
    assert_same(ours, whole[1])
    assert ("_orig_mod" in str(model)) == (second is not None)


# several processes


def test_a_second_run_with_one_checkpoint_is_refused_at_once(tmp_path):
    path, refused = tmp_path / "run", []

    def go(**hooks):
        train(Falling(), falls, [1.0], as_batch, PLAIN, checkpoint=path, **hooks)

    def report(progress):
        if progress.step == 2:
            with pytest.raises(ValueError) as caught:
                go()
            refused.append(str(caught.value))
            # A child process does not hold the lock of its parent.
            if os.fork() == 0:
                os._exit(0)
            os.wait()

    go(report=report)
    holder = f"{path}, which process {os.getpid()} is using"
    message = f"checkpoint: expected a place that no other process is using, got {holder}"
    assert refused == [message] and os.listdir(tmp_path) == ["run"]
    go()


def killed(path, result, event, count):
    """Train in a child process that kills itself at the n-th event; return how it ended."""
    if pid := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    left = [count]

    def happen(name):
        left[0] -= name == event
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def save(checkpoint, file, original=torch.save):
        whole = io.BytesIO()
        original(checkpoint, whole)
        content = whole.getvalue()
        file.write(content[: len(content) // 2])
        file.flush()
        happen("half written")
        file.write(content[len(content) // 2 :])

    def replace(old, new, original=os.replace):
        happen("before replacing")
        original(old, new)
        happen("after replacing")

    def loss(model, batch):
        happen("training" if model.training else "validation")
        return sequence_loss(model, batch)

    torch.save, save_result, os.replace = save, torch.save, replace
    model = make_model()
    history = run(model, path, loss=loss)
    save_result(outcome(model, history), result)
    os._exit(0)


def kill_again_and_again(folder):
    """Kill one run at several random points, then let it end; print the outcomes."""
    # The first run loads the parts of PyTorch that are loaded lazily.
    run(make_model(), config=dataclasses.replace(PLAIN, steps=1))
    path, rng, n_files = folder / "run.pt", random.Random(0), []
    plan = [
        ("training", rng.randint(1, 3)),
        ("half written", 1),
        ("training", rng.randint(4, 6)),
        ("half written", rng.randint(1, 2)),
        ("before replacing", 1),
        ("after replacing", 1),
        ("validation", rng.randint(1, 4)),
        ("training", rng.randint(1, 4)),
        ("none", 1),
    ]
    for event, count in plan:
        code = killed(path, folder / "result.pt", event, count)
        n_files.append((code, path.exists() and zipfile.ZipFile(path).testzip() is None))
    print(n_files)


def start(*arguments):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": FOLDERS},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
def test_a_run_killed_at_random_continues_to_the_same_bits(whole, tmp_path):
    """The continued run is in another process than the one without interruption."""
    process = start(__file__, tmp_path)
    assert process.returncode == 0, process.stderr
    dead = -signal.SIGKILL
    assert process.stdout == f"{[(dead, False)] * 2 + [(dead, True)] * 6 + [(0, True)]}\n"
    assert process.stderr == ""
    assert_same(torch.load(tmp_path / "result.pt", weights_only=True), whole[1])
    assert_same(
        torch.load(tmp_path / "run.pt", weights_only=True), torch.load(whole[0], weights_only=True)
    )
    assert {file.name for file in tmp_path.iterdir()} == {"run.pt", "result.pt"}


class Parts(nn.Module):
    """Three vectors, of which each example uses the first or the second, and none the third."""

    def __init__(self):
        super().__init__()
        self.vectors = nn.ParameterList(torch.ones(2, dtype=torch.float64) for _ in range(3))

    def forward(self, kinds, targets):
        return sum(
            (self.vectors[k] - t).square().sum() for k, t in zip(kinds, targets, strict=True)
        )


def train_parts(model):
    return train(
        model,
        lambda model, batch: (model(*batch), len(batch[0])),
        [(int(i % 5 == 0), i / 3) for i in range(16)],
        lambda some: (torch.tensor([k for k, _ in some]), torch.tensor([t for _, t in some])),
        dataclasses.replace(PLAIN, batch_size=4, steps=9),
    )


def train_in_two(folder):
    """Train in each of the two processes of the test below; write the outcomes to a file."""
    rank = os.environ["RANK"]
    found, path = {}, folder / "run.pt"

    exact = dataclasses.replace(PLAIN, clip_norm=math.inf, warmup_steps=1, steps=1)
    model = make_model(dropout=0.0, seed=int(rank)).double()
    found["one step"] = run(model, config=exact).losses
    found["gradients"] = [parameter.grad for parameter in model.parameters()]

    model = make_model(dropout=0.0, seed=int(rank)).double()
    found["many steps"] = outcome(model, run(model, folder / f"of {rank}.pt"))

    calls = []
    found["from first"] = join("cpu").from_first(lambda: calls.append(rank) or f"of {rank}")

    def save_late(checkpoint, file, original=torch.save):
        time.sleep(0.5)
        original(checkpoint, file)

    torch.save, save = save_late, torch.save
    config = dataclasses.replace(PLAIN, steps=1)
    run(make_model(), folder / "late.pt", config)
    found["all see the last checkpoint"] = (folder / "late.pt").exists()
    torch.save = save
    barrier()
    (folder / "late.pt").unlink(missing_ok=True)

    drawn = []

    def loss(model, batch):
        losses = sequence_loss(model, batch)
        if model.training:
            drawn.append(torch.rand(()).item())
        return losses

    model = make_model()
    found["dropout"] = outcome(model, run(model, path, loss=loss))
    found["drawn"], found["calls"] = drawn, calls
    if rank == "0":
        path.unlink()
    try:
        run(make_model(), path, loss=stop_after(8))
    except KeyboardInterrupt:
        model = make_model()
        found["gone on"] = outcome(model, run(model, path))
    model = Parts()
    found["parts"] = outcome(model, train_parts(model))
    try:
        run(make_model(), config=dataclasses.replace(PLAIN, batch_size=1))
    except ValueError as error:
        found["error"] = str(error)
    torch.save(found, folder / f"found {rank}.pt")


@pytest.mark.slow
def test_training_in_two_processes_equals_training_in_one(tmp_path):
    """Batches have 4 or 5 sequences of 1 to 5 tokens, so their halves are never equal."""
    process = start(
        "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", 2, __file__, tmp_path
    )
    assert process.returncode == 0, process.stderr
    found = [torch.load(tmp_path / f"found {rank}.pt", weights_only=True) for rank in range(2)]
    names = {"run.pt", "of 0.pt", "found 0.pt", "found 1.pt"}
    # The second process writes no "of 1.pt".
    assert {file.name for file in tmp_path.iterdir()} == names

    assert [part.pop("calls") for part in found] == [["0"], []]
    assert found[0]["from first"] == "of 0"
    assert found[0]["all see the last checkpoint"]
    drawn = [part.pop("drawn") for part in found]
    assert len(set(drawn[0]) | set(drawn[1])) == len(drawn[0]) + len(drawn[1])
    assert_same(*found)
    assert_same(found[0]["gone on"], found[0]["dropout"])
    message = "examples: expected 2 or more in every batch, one a process, got 1"
    assert found[0]["error"] == message

    exact = dataclasses.replace(PLAIN, clip_norm=math.inf, warmup_steps=1, steps=1)
    alone = make_model(dropout=0.0).double()
    assert found[0]["one step"] == pytest.approx(run(alone, config=exact).losses, rel=1e-14)
    for ours, theirs in zip(found[0]["gradients"], alone.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs.grad, rtol=1e-12, atol=1e-14)

    alone = make_model(dropout=0.0).double()
    expected = outcome(alone, run(alone, tmp_path / "alone.pt"))
    parts = Parts()
    expected_parts = outcome(parts, train_parts(parts))
    torch.testing.assert_close(found[0]["parts"], expected_parts, rtol=1e-12, atol=1e-14)
    assert torch.equal(parts.vectors[2], torch.ones(2, dtype=torch.float64))
    together = found[0]["many steps"]
    torch.testing.assert_close(together, expected, rtol=1e-7, atol=1e-9)


if __name__ == "__main__":
    torch.set_num_threads(1)
    (train_in_two if "RANK" in os.environ else kill_again_and_again)(Path(sys.argv[1]))
