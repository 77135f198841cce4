"""One process, or several that share each batch, as ``torchrun`` starts them."""

import atexit
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed, nn

from attn.training.devices import choose_device

T = TypeVar("T")


def is_main_process() -> bool:
    """Return whether this process writes files and messages: rank 0, or the only one."""
    return int(os.environ.get("RANK", "0")) == 0


def join(device: str) -> "Processes":
    """Join the group of processes that ``torchrun`` starts, if any; each gets its own CUDA device.

    The variables are those of https://docs.pytorch.org/docs/stable/elastic/run.html.
    """
    rank, count, local_rank = (
        int(os.environ.get(name, default))
        for name, default in (("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_RANK", "0"))
    )
    chosen = choose_device(device, local_rank)
    # After destroy_process_group the same processes cannot form a group again for a second run, so
    # the group exists until Python ends.
    if count > 1 and not distributed.is_initialized():
        is_cuda = chosen.type == "cuda"
        if is_cuda:
            torch.cuda.set_device(chosen)
        distributed.init_process_group("nccl" if is_cuda else "gloo")
        atexit.register(distributed.destroy_process_group)
    return Processes(rank, count, chosen)


class Processes:
    """The operations between processes, `rank` of `count`. A single process has nothing to do."""

    def __init__(self, rank: int, count: int, device: torch.device) -> None:
        self.rank, self.count, self.device = rank, count, device

    def share(self, tensors: Iterable[Tensor]) -> None:
        """Copy these tensors from the first process to all others."""
        if self.count > 1:
            _at_once([*tensors], partial(distributed.broadcast, src=0))

    def sum_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Replace each gradient by its sum over all processes.

        A gradient that is None in every process stays None, as in a single process.
        """
        # DistributedDataParallel fails at a parameter without a gradient, or else searches the
        # graph in every step and warns.
        if self.count == 1:
            return
        is_used = torch.tensor([p.grad is not None for p in parameters], device=self.device).int()
        distributed.all_reduce(is_used, distributed.ReduceOp.MAX)
        gradients = []
        for parameter, used in zip(parameters, is_used.tolist(), strict=True):
            if used and parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            if parameter.grad is not None:
                gradients.append(parameter.grad)
        _at_once(gradients, distributed.all_reduce)

    def sum(self, *numbers: Tensor) -> list[Tensor]:
        """Return the sum of each number over the processes, as Tensors of shape ()."""
        # The numbers are summed one by one, because in one tensor with the losses the counts would
        # be rounded.
        sums = [number.detach().clone() for number in numbers]
        if self.count > 1:
            for number in sums:
                distributed.all_reduce(number)
        return sums

    def from_first(self, make: Callable[[], T]) -> T:
        """Return the result of `make`, which only the first process calls."""
        values: list[Any] = [make() if self.rank == 0 else None]
        if self.count > 1:
            distributed.broadcast_object_list(values, device=self.device)
        value: T = values[0]
        return value

    def wait(self) -> None:
        """Wait until all processes have reached this call."""
        if self.count > 1:
            distributed.barrier()


def _at_once(tensors: list[Tensor], exchange: Callable[[Tensor], object]) -> None:
    """Exchange many tensors as one tensor of each dtype, in a single message."""
    for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):
        some = [tensor.detach() for tensor in tensors if tensor.dtype == dtype]
        joined = torch.cat([tensor.reshape(-1) for tensor in some])
        exchange(joined)
        parts = joined.split([tensor.numel() for tensor in some])
        for tensor, part in zip(some, parts, strict=True):
            tensor.copy_(part.view_as(tensor))
