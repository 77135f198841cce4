"""A second device for tests: with its own memory, and like Apple's GPUs without float64.

PyTorch calls the device "meta", because of those that need no driver it is the one that is not
the CPU. Unlike the real one it computes: each of its tensors wraps a tensor on the CPU.
"""

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

DEVICE = torch.device("meta")
# These operations make a tensor from Python numbers, which a dispatch mode does not see.
MAKERS = (torch.tensor, torch.as_tensor)
COPIES = (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)


class OtherTensor(torch.Tensor):
    """A tensor on the other device."""

    is_meta = False

    @staticmethod
    def __new__(cls, on_cpu):
        return torch.Tensor._make_wrapper_subclass(
            cls, on_cpu.shape, strides=on_cpu.stride(), dtype=on_cpu.dtype, device=DEVICE
        )

    def __init__(self, on_cpu):
        self.on_cpu = on_cpu

    def data_ptr(self):
        return self.on_cpu.data_ptr()

    def __repr__(self):
        return f"OtherTensor({self.on_cpu})"

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return _compute(function, args, kwargs or {})


class OtherDevice(TorchDispatchMode):
    """While this mode is active, tensors can be made on the device and moved to it and back."""

    def __enter__(self):
        if torch.get_default_device().type != "cpu":
            pytest.skip("one device at a time: DEVICE names another than this one")
        self.makers = Makers()
        self.makers.__enter__()
        return super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        self.makers.__exit__(*error)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return _compute(function, args, kwargs or {})


class Makers(TorchFunctionMode):
    """Make tensors of Python numbers on the CPU, and then move them to the device."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        # PyTorch refuses `tolist` on subclasses of tensors.
        if function is torch.Tensor.tolist:
            args = (args[0].cpu(),)
        device = kwargs.get("device") or torch.get_default_device()
        if function in MAKERS and torch.device(device) == DEVICE:
            gradient = kwargs.get("requires_grad", False)
            made = function(*args, **kwargs | {"device": "cpu"}).detach().to(DEVICE)
            return made.requires_grad_(gradient)
        return function(*args, **kwargs)


def _compute(function, args, kwargs):
    tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    there = [x for x in tensors if isinstance(x, OtherTensor)]
    # As on any device, a tensor of a single number (without axes) may come from the CPU.
    strangers = [x for x in tensors if x.ndim and not isinstance(x, OtherTensor)]
    if there and strangers and function not in COPIES:
        raise RuntimeError(f"{function}: tensors of two devices")

    device = kwargs.get("device")
    stays = bool(there) if device is None else torch.device(device) == DEVICE
    if device is not None:
        kwargs = kwargs | {"device": "cpu"}
    args, kwargs = tree_map(lambda x: x.on_cpu if isinstance(x, OtherTensor) else x, (args, kwargs))
    wrapped = {id(x.on_cpu): x for x in there}

    def wrap(x):
        if not stays or not isinstance(x, torch.Tensor):
            return x
        if x.dtype == torch.float64:
            raise TypeError(f"{function}: the device has no float64")
        return wrapped[id(x)] if id(x) in wrapped else OtherTensor(x)

    return tree_map(wrap, function(*args, **kwargs))
