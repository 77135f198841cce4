"""Devices and their random numbers."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from attn._checks import argument_error, check_choice
from attn.training.config import DEVICES


def choose_device(name: str = "auto", local_rank: int = 0) -> torch.device:
    """Return the named device, or with "auto" the fastest: CUDA, otherwise MPS, otherwise the CPU.

    `local_rank` is the index of the CUDA device on this machine.

    Raises
    ------
    ValueError
        If there is no such device.

    Examples
    --------
    >>> choose_device("cpu")
    device(type='cpu')
    """
    check_choice("device", name, DEVICES)
    available = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        name = next(name for name in available if available[name])
    if not available[name]:
        raise argument_error("device", "one that this machine has", repr(name))
    if name != "cuda":
        return torch.device(name)
    if local_rank >= torch.cuda.device_count():
        n_devices = torch.cuda.device_count()
        raise argument_error(
            "device", f"at most {n_devices} processes, one a device", local_rank + 1
        )
    return torch.device("cuda", local_rank)


def set_seed(device: torch.device, *numbers: int) -> None:
    """Seed PyTorch on the CPU and on `device` with a hash of `numbers`."""
    seed = int(np.random.SeedSequence(numbers).generate_state(1)[0])
    # torch.manual_seed sets the seed too, but takes 0.1 ms to look for other devices.
    torch.default_generator.manual_seed(seed)
    if device.type != "cpu":
        torch.get_device_module(device).manual_seed(seed)


@contextmanager
def keep_randomness(device: torch.device) -> Iterator[None]:
    """Restore the random state of the CPU and of a CUDA `device` after a ``with`` block."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        yield
