"""One process, or several that share each batch, as ``torchrun`` starts them."""

import atexit
import os

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from attn.training.devices import choose_device


def is_main_process():
    """Return whether this process is the one that writes: rank 0, or the only one.

    Examples
    --------
    >>> is_main_process()
    True
    """
    return int(os.environ.get("RANK", "0")) == 0


def join(device):
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
    device = choose_device(device, local_rank)
    # Those who have parted cannot meet again, so they part only when Python ends.
    if count > 1 and not distributed.is_initialized():
        is_cuda = device.type == "cuda"
        if is_cuda:
            torch.cuda.set_device(device)
        distributed.init_process_group("nccl" if is_cuda else "gloo")
        atexit.register(distributed.destroy_process_group)
    return Processes(rank, count, device)


class Processes:
    """What several processes do together; of one alone, nothing.

    Attributes
    ----------
    rank, count : int
        The number of this process, and how many there are.
    device : torch.device
    """

    def __init__(self, rank, count, device):
        self.rank, self.count, self.device = rank, count, device

    def parallel(self, module):
        """Return a module whose gradients are the mean of those of all processes."""
        return module if self.count == 1 else DistributedDataParallel(module)

    def sum(self, *numbers):
        """Return the sum over the processes of each number, a Tensor of shape ()."""
        sums = torch.stack([number.detach() for number in numbers])
        if self.count > 1:
            distributed.all_reduce(sums)
        return sums.unbind()

    def from_first(self, make):
        """Return what `make` returns in the first process; the others do not call it."""
        values = [make() if self.rank == 0 else None]
        if self.count > 1:
            distributed.broadcast_object_list(values, device=self.device)
        return values[0]

    def wait(self):
        """Wait until all have come this far."""
        if self.count > 1:
            distributed.barrier()
