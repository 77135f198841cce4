"""One switch for the tests of `attn`: on which device PyTorch makes tensors, ``DEVICE=cuda``."""

import os
import sys

import pytest

DEVICE = os.environ.get("DEVICE", "cpu")

# What cannot run on another device: the beginning of a test's name, and why.
CPU_ALONE = {}


def pytest_collection_modifyitems(items):
    """Skip what is of the CPU alone where another device is asked for."""
    if DEVICE == "cpu":
        return
    for item in items:
        name = item.nodeid.removeprefix("tests/core/")
        reason = next((why for start, why in CPU_ALONE.items() if name.startswith(start)), None)
        if reason:
            item.add_marker(pytest.mark.skip(reason=f"on {DEVICE}: {reason}"))


def _use(device):
    """Let tensors be made on a device; what only tests do with NumPy goes by way of the CPU."""
    import torch

    if device == "other":
        from tests.core.other_device import DEVICE, OtherDevice

        OtherDevice(float64=True).__enter__()
        device = DEVICE
    torch.set_default_device(device)
    from_numpy, numpy, as_array = torch.from_numpy, torch.Tensor.numpy, torch.Tensor.__array__

    def by_attn():
        return sys._getframe(2).f_globals.get("__name__", "").startswith("attn.")

    torch.from_numpy = lambda x: from_numpy(x) if by_attn() else from_numpy(x).to(device)
    torch.Tensor.numpy = lambda x: numpy(x) if by_attn() else numpy(x.cpu())
    torch.Tensor.__array__ = lambda x, *dtype, **copy: as_array(
        x if by_attn() else x.cpu(), *dtype, **copy
    )


if DEVICE != "cpu":
    _use(DEVICE)
