"""What every decoder does: check its arguments, take a step, and look at its logits."""

import operator
from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Any, Protocol, TypeAlias, TypeGuard

import torch
from torch import Tensor

from attn._checks import argument_error, check_size, holds, shown

# Apple's GPUs have no float64. What is to be accurate is computed on the CPU instead.
WITHOUT_FLOAT64 = {"mps"}


# The second argument is the cache, or None: decoding hands it on and knows nothing of it.
Step: TypeAlias = Callable[[Tensor, Any], Tensor]
# The token that ends a row, or several of them, or none.
Ends: TypeAlias = int | Iterable[int] | None


class Reorderable(Protocol):
    """What beam search asks of a cache."""

    def reorder(self, rows: Tensor) -> object: ...


@torch.no_grad()
def next_logits(
    step: Step, ids: Tensor, cache: object, running: Tensor, end_ids: Sequence[int], pad_id: int
) -> Tensor:
    """Return the step's logits, zero in the rows that are not running."""
    logits = step(ids, cache)
    if not is_float(logits) or logits.shape[:-1] != running.shape:
        shape = f"({len(ids)}, vocab_size)"
        raise argument_error("step", f"floating-point logits of shape {shape}", describe(logits))
    for name, token in (*(("end_id", end_id) for end_id in end_ids), ("pad_id", pad_id)):
        if token >= logits.shape[1]:
            raise argument_error(name, f"a token below vocab_size = {logits.shape[1]}", token)
    logits = logits.masked_fill(~running[:, None], 0.0)
    check_rows("step", logits)
    return logits


def device_for_float64(device: torch.device) -> torch.device:
    """Return `device`, or the CPU if it has no float64."""
    return torch.device("cpu") if device.type in WITHOUT_FLOAT64 else device


def as_float64(x: Tensor) -> Tensor:
    """Return `x` as float64, on `device_for_float64` of its device."""
    # In two steps: in one, the device that has no float64 would be asked to convert.
    return x.to(device_for_float64(x.device)).double()


def check_arguments(
    prompt: Tensor, end_id: Ends, max_new_tokens: int, pad_id: int
) -> tuple[list[int], int]:
    """Check what all decoders share; return the ids in `end_id`, and `max_new_tokens`."""
    fits = isinstance(prompt, torch.Tensor) and prompt.dtype == torch.int64
    if not fits or prompt.ndim != 2 or prompt.shape[1] == 0:
        shape = "(batch_size, prompt_len), prompt_len at least 1"
        raise argument_error("prompt", f"an int64 tensor of shape {shape}", describe(prompt))
    check_size("pad_id", pad_id)
    return _listed(end_id), check_size("max_new_tokens", max_new_tokens)


def _listed(end_id: Ends) -> list[int]:
    if end_id is None:
        return []
    try:
        several: Iterable[int] = [operator.index(end_id)]  # type: ignore[arg-type]
    except TypeError:
        if not isinstance(end_id, Iterable) or isinstance(end_id, str | bytes):
            raise argument_error("end_id", "an integer, several, or None", shown(end_id)) from None
        several = end_id
    return [check_size("end_id", i) for i in several]


def still_running(running: Tensor, tokens: Tensor, end_ids: Sequence[int]) -> Tensor:
    """Return which rows run on, now that each has one more of `tokens`."""
    for end_id in end_ids:
        running = running & (tokens != end_id)
    return running


def check_rows(name: str, logits: Tensor) -> None:
    """Raise ``ValueError`` for NaN, +inf or only -inf in a row: its largest shows them all."""
    largest = logits.amax(dim=-1)
    if not holds(lambda: largest.isfinite().all(), otherwise=True, free=largest.is_cpu):
        got = largest[~largest.isfinite()][0]
        raise argument_error(name, "logits whose largest is finite in every row", got)


def is_number(value: object) -> bool:
    """Return whether a value can be compared with numbers: one itself, or a tensor of one."""
    return isinstance(value, Real) or isinstance(value, torch.Tensor) and value.ndim == 0


def is_float(logits: object) -> TypeGuard[Tensor]:
    return isinstance(logits, torch.Tensor) and logits.is_floating_point()


def describe(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} of shape {tuple(value.shape)}"
    return type(value).__name__
