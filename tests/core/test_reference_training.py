"""The loss, the optimiser and the schedule in NumPy, against those of PyTorch and the package."""

import numpy as np
import pytest
import torch

from attn.reference import adam_step, smoothed_cross_entropy, teacher_forcing, warmup_schedule
from attn.tokenizer.base import Tokenizer
from attn.training import TrainingConfig, cross_entropy, learning_rate, shift
from tests.refusals import refusals


def test_teacher_forcing_equals_shift_except_for_end_tokens_in_the_input():
    rows = [[7, 8, 9], [5], []]
    tokens = np.array([row + (3 - len(row)) * [Tokenizer.pad_id] for row in rows])
    marks = Tokenizer.sos_id, Tokenizer.eos_id, Tokenizer.pad_id
    inputs, targets = teacher_forcing(tokens, *marks)
    whole = np.full((3, 5), Tokenizer.pad_id)
    for row, words in zip(whole, rows, strict=True):
        row[: len(words) + 2] = [Tokenizer.sos_id, *words, Tokenizer.eos_id]
    read, asked = (part.numpy() for part in shift(torch.from_numpy(whole)))
    np.testing.assert_array_equal(targets, asked)
    np.testing.assert_array_equal(inputs, np.where(read == Tokenizer.eos_id, 0, read))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("shape", [(4,), (3, 5), (2, 3, 4)])
def test_the_loss_is_that_of_pytorch_and_of_the_package(shape, smoothing):
    rng = np.random.default_rng(0)
    logits, targets = 3 * rng.normal(size=(*shape, 7)), rng.integers(0, 7, shape)
    targets.flat[0] = 2
    found = smoothed_cross_entropy(logits, targets, 0, smoothing)
    of_torch = torch.nn.functional.cross_entropy(
        torch.tensor(logits).flatten(0, -2),
        torch.tensor(targets).flatten(),
        ignore_index=0,
        label_smoothing=smoothing,
    )
    total, count = cross_entropy(
        torch.tensor(logits), torch.tensor(targets), label_smoothing=smoothing, pad_id=0
    )
    np.testing.assert_allclose(found, of_torch, rtol=1e-12)
    np.testing.assert_allclose(found, total / count, rtol=1e-12)


def test_large_logits_do_not_overflow():
    assert smoothed_cross_entropy([[1000.0, 0.0]], [1], 0) == 1000


def test_ten_steps_are_those_of_torch_adam():
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(3, 2))
    weight = torch.nn.Parameter(torch.tensor(theta))
    optimizer = torch.optim.Adam([weight], lr=0.05, betas=(0.9, 0.98), eps=1e-9)
    m = v = np.zeros((3, 2))
    for t in range(1, 11):
        gradient = rng.normal(size=(3, 2))
        theta, m, v = adam_step(theta, gradient, m, v, t, 0.05)
        weight.grad = torch.tensor(gradient)
        optimizer.step()
        np.testing.assert_allclose(theta, weight.detach(), rtol=1e-9)


def test_the_schedule_is_that_of_training_with_the_papers_peak():
    d_model, warmup = 512, 40
    config = TrainingConfig(
        steps=200,
        warmup_steps=warmup,
        schedule="inverse_sqrt",
        learning_rate=(d_model * warmup) ** -0.5,
    )
    expected = [learning_rate(step, config) for step in range(1, 201)]
    np.testing.assert_allclose(warmup_schedule(np.arange(1, 201), d_model, warmup), expected)


test_bad_arguments_are_named = refusals(
    (lambda: teacher_forcing([1.0], 2, 3, 0), "tokens: expected integers of shape"),
    (lambda: teacher_forcing([[0, 7]], 2, 3, 0), "tokens: expected padding only at the end"),
    (lambda: smoothed_cross_entropy([[0.0, 1.0]], [[1]], 0), "targets: expected integers of"),
    (lambda: smoothed_cross_entropy([[0.0, 1.0]], [0], 0), "targets: expected at least one"),
    (lambda: smoothed_cross_entropy([[0.0, 1.0]], [2], 0), "targets: expected from 0 to 1, got"),
    (lambda: smoothed_cross_entropy([[0.0, 1.0]], [1], 0, 1.0), "smoothing: expected a number"),
    (lambda: smoothed_cross_entropy([[np.inf, 1.0]], [1], 0), "logits: expected finite"),
    (lambda: adam_step([1.0], [1.0, 2.0], [0.0], [0.0], 1, 0.1), "gradient: expected shape"),
    (lambda: adam_step([1.0], [1.0], [0.0], [0.0], 0, 0.1), "t: expected at least 1, got 0"),
    (lambda: warmup_schedule([0, 1], 4, 4), "t: expected at least 1, got 0"),
    (lambda: warmup_schedule([1], 4, 0), "warmup: expected at least 1, got 0"),
)
