"""One switch for the tests of `attn`: on which device PyTorch makes tensors, ``DEVICE=cuda``."""

import os
import sys

import pytest

DEVICE = os.environ.get("DEVICE", "cpu")

# What another device cannot run: the beginning of a test's name, and why.
CPU_ALONE = {}
# Parts of the names of tests that train with Muon.
MUON = ("muon", "a_corpus_that_has_a_recipe", "may_not_go_on[optimizer]")


def pytest_collection_modifyitems(items):
    """Skip what the device or this version of PyTorch cannot run, and say why."""
    import torch

    for item in items:
        name = item.nodeid.removeprefix("tests/core/")
        reason = next((why for start, why in CPU_ALONE.items() if name.startswith(start)), None)
        if DEVICE != "cpu" and reason:
            item.add_marker(pytest.mark.skip(reason=f"not on {DEVICE}: {reason}"))
        if not hasattr(torch.optim, "Muon") and any(x in name for x in MUON):
            item.add_marker(pytest.mark.skip(reason="Muon comes with PyTorch 2.9"))


def _use(device):
    """Let everything be made on a device; what tests do with NumPy goes by way of the CPU.

    `attn` itself is not helped: where it hands NumPy a tensor of the device, a test fails.
    """
    import torch

    from attn.training import processes
    from attn.transformer.checkpoint import Checkpoint

    if device == "other":
        from tests.core import other_device

        other_device.OtherDevice(float64=True).__enter__()
        device = other_device.DEVICE
    device = torch.device(device)
    if device.type == "cuda":  # Sums that add up in no fixed order differ from run to run.
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
        torch.use_deterministic_algorithms(True, warn_only=True)
    torch.set_default_device(device)
    from_numpy, numpy, as_array = torch.from_numpy, torch.Tensor.numpy, torch.Tensor.__array__

    def is_attn():
        return sys._getframe(2).f_globals.get("__name__", "").startswith("attn.")

    torch.from_numpy = lambda x: from_numpy(x) if is_attn() else from_numpy(x).to(device)
    torch.Tensor.numpy = lambda x: numpy(x if is_attn() else x.cpu())
    torch.Tensor.__array__ = lambda x, *dtype, **copy: as_array(
        x if is_attn() else x.cpu(), *dtype, **copy
    )
    # Tests ask for the CPU to train on, and read models onto it: here, that is the device.
    choose, load = processes.choose_device, Checkpoint.load.__func__
    processes.choose_device = lambda name, rank=0: device if name == "cpu" else choose(name, rank)
    Checkpoint.load = classmethod(lambda cls, path: load(cls, path).to(device))


if DEVICE != "cpu":
    _use(DEVICE)
