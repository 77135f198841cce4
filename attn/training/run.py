"""The state of a training run: its steps and validations."""

import itertools
import math
import numbers
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from attn._checks import argument_error
from attn.training.batches import Batch, Batches, fault, kind_of
from attn.training.checkpoints import uncompiled
from attn.training.config import TrainingConfig
from attn.training.devices import set_seed
from attn.training.loss import at_least_float32
from attn.training.optimizers import make_optimizers
from attn.training.processes import Processes
from attn.training.schedule import learning_rate

# Takes a model and a batch, and returns the sum of the losses and the number of terms in it.
Loss: TypeAlias = Callable[[Any, Any], tuple[Tensor, int | Tensor]]
LOSS = (
    "a function (model, batch) that returns the sum of the losses, "
    "a floating-point tensor of shape (), and their number"
)


@dataclass
class History:
    """The losses of a training.

    Attributes
    ----------
    losses : list of float
        The loss of the batch of each step, before the step.
    validation : list of (int, float)
        The number of a step, and the validation loss after it.
    """

    losses: list[float] = field(default_factory=list)
    validation: list[tuple[int, float]] = field(default_factory=list)

    def since_best(self) -> int:
        """Return the number of validations since the best one."""
        losses = [loss for _, loss in self.validation]
        return len(losses) - 1 - losses.index(min(losses)) if losses else 0


@dataclass(frozen=True)
class Progress:
    """The number of steps taken, the number of all steps, and the mean loss of the last batch
    before its step.

    `n_terms` is the number of terms of that mean: for a translator, the number of tokens.
    """

    step: int
    steps: int
    loss: float
    n_terms: int


class Run:
    """A model, its optimisers and its progress: everything that a checkpoint holds."""

    def __init__(
        self, model: nn.Module, loss: Loss, config: TrainingConfig, processes: Processes
    ) -> None:
        self.model, self.config, self.processes = model, config, processes
        self.parameters = list(model.parameters())
        self.optimizers = make_optimizers(model, config)
        self.history = History()
        self.best: dict[str, Tensor] | None = None
        self.objective = Objective(model, loss)
        self.compiled: Callable[..., Any] = self.objective
        if config.compile:
            self.compiled = torch.compile(self.objective, dynamic=True)
        processes.share(itertools.chain(model.parameters(), model.buffers()))
        model.train()

    @property
    def step(self) -> int:
        return len(self.history.losses)

    def is_over(self) -> bool:
        """Return whether all steps are taken or the patience is exhausted."""
        steps, patience = self.config.steps, self.config.patience
        return self.step >= steps or (
            patience is not None and self.history.since_best() >= patience
        )

    def update(self, batches: Batches) -> Progress:
        """Take one step. A loss that is not finite is refused before anything changes."""
        step, config, processes = self.step + 1, self.config, self.processes
        set_seed(processes.device, config.seed, step, processes.rank)
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        # A step changes buffers such as the running mean of a batch norm.
        processes.share(self.model.buffers())
        try:
            total, count = self._losses(self.compiled, batches, step - 1)
            all_total, all_count = processes.sum(total, count)
            # Each process divides by the count of all processes, so that the sum of their gradients
            # is the gradient of the mean over the whole batch.
            with _told_of_loss():
                (total / all_count).backward()
        except Exception as error:
            error.add_note(f"In step {step} of the training.")
            raise
        processes.sum_gradients(self.parameters)
        norm = nn.utils.clip_grad_norm_(self.parameters, config.clip_norm)
        value: float
        value, norm, n_terms = torch.stack((all_total / all_count, norm, all_count)).tolist()
        if n_terms < 0:
            raise argument_error("loss", LOSS, f"the number {n_terms:g} in step {step}")
        _refuse_non_finite("loss", value, step)
        _refuse_non_finite("gradient", norm, step)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(step, config)
            optimizer.step()
        self.history.losses.append(value)
        return Progress(step, config.steps, value, int(n_terms))

    @torch.no_grad()
    def validate(self, batches: Batches) -> None:
        """Append the mean loss on the validation examples to the history."""
        self.model.eval()
        try:
            parts = [self._losses(self.objective, batches, i) for i in range(batches.n_batches)]
        finally:
            self.model.train()
        total, count = self.processes.sum(
            *(torch.stack(part).sum() for part in zip(*parts, strict=True))
        )
        value = (total / count).item()
        _refuse_non_finite("validation loss", value, self.step)
        self.history.validation.append((self.step, value))
        if self.config.patience is not None and self.history.since_best() == 0:
            with uncompiled(self.model) as plain:
                self.best = {name: t.clone() for name, t in plain.state_dict().items()}

    def _losses(
        self, objective: Callable[..., Any], batches: Batches, index: int
    ) -> tuple[Tensor, Tensor]:
        processes, is_bf16 = self.processes, self.config.precision == "bfloat16"
        batch = _move(batches.share(index, processes.rank, processes.count), processes.device)
        autocast = torch.autocast(processes.device.type, torch.bfloat16, enabled=is_bf16)
        with _told_of_loss(), autocast:
            found = objective(batch)
        total, count = _checked(found)
        return total.to(at_least_float32(total)), torch.as_tensor(count, device=total.device)

    def state(self) -> dict[str, Any]:
        """Return the state for `restore`; it needs no random state, which depends on the step."""
        with uncompiled(self.model) as plain:
            weights = plain.state_dict()
        return {
            "weights": weights,
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "best": self.best,
            "losses": self.history.losses,
            "validation": self.history.validation,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from the `state` of another run."""
        with uncompiled(self.model) as plain:
            plain.load_state_dict(state["weights"])
        for optimizer, its_state in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(its_state)
        self.best = state["best"]
        self.history = History(state["losses"], state["validation"])


class Objective(nn.Module):
    """Model and loss as one module, which is compiled as a whole."""

    def __init__(self, model: nn.Module, loss: Loss) -> None:
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, batch: Batch) -> tuple[Tensor, int | Tensor]:
        return self.loss(self.model, batch)


@contextmanager
def _told_of_loss() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 - a user's function can raise anything
        fault("loss", LOSS, error)


def _checked(found: object) -> tuple[Tensor, int | Tensor]:
    """Check that a loss returned a sum and a number, and return them."""
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise argument_error("loss", LOSS, kind_of(found))
    total, count = found
    if not isinstance(total, Tensor) or total.ndim or not total.is_floating_point():
        raise argument_error("loss", LOSS, f"{kind_of(total)} as the sum")
    is_number = isinstance(count, numbers.Real) and not isinstance(count, bool)
    if isinstance(count, Tensor):
        is_number = not count.ndim and not count.is_complex()
    if not is_number:
        raise argument_error("loss", LOSS, f"{kind_of(count)} as the number")
    if torch.is_grad_enabled() and not total.requires_grad:
        raise argument_error(
            "loss", "a sum that depends on a parameter of the model", "one without gradient"
        )
    return total, count


def _move(batch: Batch, device: torch.device) -> Batch:
    if isinstance(batch, dict):
        # A copy keeps the class of the batch and its attributes.
        moved = copy(batch)
        moved.update((name, tensor.to(device)) for name, tensor in batch.items())
        return moved
    tensors = (tensor.to(device) for tensor in batch)
    # A named tuple keeps its class.
    moved_tuple: Batch = getattr(batch, "_make", tuple)(tensors)
    return moved_tuple


def _refuse_non_finite(name: str, number: float, step: int) -> None:
    if not math.isfinite(number):
        raise argument_error(name, "a finite number", f"{number} in step {step}")
