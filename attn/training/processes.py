"""One process, or several that share each batch, as ``torchrun`` starts them."""

import atexit
import os
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from attn.training.devices import choose_device

T = TypeVar("T")


def is_main_process() -> bool:
    """Return whether this process is the one that writes: rank 0, or the only one.

    Examples
    --------
    >>> is_main_process()
    True
    """
    return int(os.environ.get("RANK", "0")) == 0


def join(device: str) -> "Processes":
    """Meet the other processes, if there are any.

    Parameters
    ----------
    device : str
        As in `choose_device`; of several processes each gets a CUDA device of its own.

    Returns
    -------
    Processes

    References
    ----------
    The variables are those that ``torchrun`` sets, see
    https://docs.pytorch.org/docs/stable/elastic/run.html.
    """
    rank, count, local_rank = (
        int(os.environ.get(name, default))
        for name, default in (("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_RANK", "0"))
    )
    chosen = choose_device(device, local_rank)
    # After destroy_process_group the same processes could not form a group again, for a second
    # run, so the group is kept until Python ends.
    if count > 1 and not distributed.is_initialized():
        is_cuda = chosen.type == "cuda"
        if is_cuda:
            torch.cuda.set_device(chosen)
        distributed.init_process_group("nccl" if is_cuda else "gloo")
        atexit.register(distributed.destroy_process_group)
    return Processes(rank, count, chosen)


class Processes:
    """What several processes do together; of one alone, nothing.

    Attributes
    ----------
    rank, count : int
        The number of this process, and how many there are.
    device : torch.device
    """

    def __init__(self, rank: int, count: int, device: torch.device) -> None:
        self.rank, self.count, self.device = rank, count, device

    def parallel(self, module: nn.Module) -> nn.Module:
        """Return a module whose gradients are the mean of those of all processes."""
        return module if self.count == 1 else DistributedDataParallel(module)

    def sum(self, *numbers: Tensor) -> list[Tensor]:
        """Return the sum over the processes of each number, a Tensor of shape ()."""
        # One at a time: joined in one tensor, counts would be rounded like losses.
        sums = [number.detach().clone() for number in numbers]
        if self.count > 1:
            for number in sums:
                distributed.all_reduce(number)
        return sums

    def from_first(self, make: Callable[[], T]) -> T:
        """Return what `make` returns in the first process; the others do not call it."""
        values: list[Any] = [make() if self.rank == 0 else None]
        if self.count > 1:
            distributed.broadcast_object_list(values, device=self.device)
        value: T = values[0]
        return value

    def wait(self) -> None:
        """Wait until all have come this far."""
        if self.count > 1:
            distributed.barrier()
