"""The training loop."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from torch import nn
from tqdm import tqdm

from attn._checks import argument_error, checks
from attn.io import locked, place_of
from attn.training.batches import Batches, Collate, checked, kind_of
from attn.training.checkpoints import CheckpointFile, uncompiled
from attn.training.config import TrainingConfig
from attn.training.devices import keep_randomness, set_seed
from attn.training.processes import join
from attn.training.run import History, Loss, Progress, Run


def train(
    model: nn.Module,
    loss: Loss,
    examples: Sequence[Any],
    collate: Collate,
    config: TrainingConfig,
    *,
    length: Callable[[Any], int] | None = None,
    validation: Sequence[Any] | None = None,
    checkpoint: str | Path | None = None,
    report: Callable[[Progress], None] | None = None,
) -> History:
    """Train a model, in place.

    Under ``torchrun`` the processes share each batch. The first process writes the files and shows
    the progress.

    Parameters
    ----------
    model : Module
        Afterwards it is on the device of the training, in evaluation mode.
    loss : callable, (model, batch) -> (total, count)
        It returns the sum of the losses of a batch, a Tensor of shape (), and the number of its
        terms, an int or a Tensor.
    collate : callable, (list of examples) -> dict or tuple of Tensor
        It makes a batch, on the CPU.
    length : callable, (example) -> int, optional
        Examples of similar length are put into one batch.
    validation : sequence, optional
        The examples held out, for ``config.validate_every``.
    checkpoint : str or Path, optional
        A file in a folder that exists. If the file exists, training continues from it. It is kept
        at the end.
    report : callable, (attn.training.Progress) -> None, optional
        A function that is called after each step, in the first process.

    Raises
    ------
    ValueError
        If an argument is not as above, or `loss` or `collate` raises an error; if the checkpoint
        belongs to another configuration, model or examples, or another run is using it; or if a
        loss or a gradient is not finite, where weights and checkpoint are left as they were before
        that step.

    References
    ----------
    Vaswani et al. (2017), section 5. Pascanu et al. (2013), for clipping.

    Examples
    --------
    >>> import torch
    >>> from attn.training import TrainingConfig
    >>> points = [(x, 3 * x) for x in (-2.0, -1.0, 1.0, 2.0)]
    >>> def collate(points):
    ...     return tuple(torch.tensor(points).T)
    >>> def squares(model, batch):
    ...     x, y = batch
    ...     return (model(x[:, None])[:, 0] - y).square().sum(), len(y)
    >>> line = torch.nn.Linear(1, 1)
    >>> config = TrainingConfig(steps=200, batch_size=2, learning_rate=0.1, warmup_steps=10)
    >>> history = train(line, squares, points, collate, config)
    >>> f"{line.weight.item():.2f}"
    '3.00'
    """
    _check(config, examples, validation, checkpoint)
    functions = {"loss": loss, "collate": collate, "length": length, "report": report}
    for name, function in functions.items():
        may_lack = name in ("length", "report") and function is None
        if not callable(function) and not may_lack:
            raise argument_error(name, "a function", kind_of(function))
    if not isinstance(model, nn.Module) or not any(p.requires_grad for p in model.parameters()):
        got = "one without any" if isinstance(model, nn.Module) else kind_of(model)
        raise argument_error("model", "a module with a parameter to train", got)
    collate = checked(collate)
    sizes = (config.batch_size, config.seed)
    batches = Batches(examples, collate, length, *sizes, batch_tokens=config.batch_tokens)
    held_out = Batches([] if validation is None else validation, collate, length, *sizes)
    processes = join(config.device)
    # Only the first process of a run writes the checkpoint, so it alone takes the lock.
    turn = (
        nullcontext() if checkpoint is None or processes.rank else locked(checkpoint, "checkpoint")
    )
    with keep_randomness(processes.device), checks(False), turn:
        for name, some in (("examples", batches), ("validation", held_out)):
            if some.n_batches and some.smallest < processes.count:
                wanted = f"{processes.count} or more in every batch, one a process"
                raise argument_error(name, wanted, some.smallest)
        run = Run(model.to(processes.device), loss, config, processes)
        file = None
        if checkpoint is not None:
            # The fingerprint of the examples calls `collate`, which may draw random numbers. The
            # seed makes the fingerprint of the same examples the same.
            set_seed(processes.device, config.seed)
            file = CheckpointFile(checkpoint, config, model, batches, held_out)
            state = processes.from_first(file.load)
            if state is not None:
                run.restore(state)
        is_first = processes.rank == 0
        # With None, tqdm shows the progress only in a terminal.
        hidden = None if is_first else True
        with tqdm(total=config.steps, initial=run.step, unit="step", disable=hidden) as bar:
            while not run.is_over():
                now = run.update(batches)
                bar.set_postfix_str(f"loss {now.loss:.3f}", refresh=False)
                bar.update()
                if is_first and report is not None:
                    report(now)
                if _is_due(config.validate_every, run.step):
                    run.validate(held_out)
                due = run.is_over() or _is_due(config.checkpoint_every, run.step)
                if due and is_first and file is not None:
                    file.save(run.state())
        # No process returns before the last checkpoint is on the disk.
        processes.wait()
        if run.best is not None:
            with uncompiled(model) as plain:
                plain.load_state_dict(run.best)
    model.eval()
    return run.history


def _check(
    config: TrainingConfig,
    examples: Sequence[Any],
    validation: Sequence[Any] | None,
    checkpoint: str | Path | None,
) -> None:
    """Check the arguments before anything takes time."""
    if not isinstance(config, TrainingConfig):
        raise argument_error("config", "a TrainingConfig", kind_of(config))
    given = {"examples": examples} | ({} if validation is None else {"validation": validation})
    for name, some in given.items():
        has_items = hasattr(some, "__len__") and hasattr(some, "__getitem__")
        if not has_items or isinstance(some, Mapping):
            raise argument_error(name, "a sequence, such as a list", type(some).__name__)
        if not len(some):
            raise argument_error(name, "at least one example", "none")
    if validation is None and config.validate_every is not None:
        raise argument_error(
            "validation", f"examples for validate_every = {config.validate_every}", None
        )
    if validation is not None and config.validate_every is None:
        raise argument_error(
            "validation", "None without validate_every", f"{len(validation)} examples"
        )
    if checkpoint is None and config.checkpoint_every is not None:
        raise argument_error(
            "checkpoint", f"a path for checkpoint_every = {config.checkpoint_every}", None
        )
    if checkpoint is not None:
        place_of(checkpoint, "checkpoint")


def _is_due(every: int | None, step: int) -> bool:
    return every is not None and step % every == 0
