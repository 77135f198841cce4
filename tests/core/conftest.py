"""Run the tests of `attn` on another device: ``DEVICE=cuda`` makes all tensors there."""

import os
import sys

import pytest

DEVICE = os.environ.get("DEVICE", "cpu")

# These tests cannot run on another device: the beginning of the test's name, and the reason.
CPU_ALONE = {
    "test_attention.py::test_with_a_bias_the_fused_kernel_runs": "PyTorch's kernel takes a bias there",
    "test_attention.py::test_without_weights_the_fused_kernel_runs": "PyTorch's kernel takes masks there",
    "test_attention.py::test_where_every_row_sees": "a mask is read there alone",
    "test_checks.py::test_on_the_cpu": "what is unchecked there stops a GPU for good",
    "test_masks.py::test_masks_are_made_on_the_device": "it asks for the CPU",
    "test_masks.py::test_padding_compiles": "a default device is not of the compiled graph",
    "test_quantised.py::test_a_packed_model": "models are packed for the CPU",
    "test_quantised.py::test_in_four_bits": "models are packed for the CPU",
    "test_quantised.py::test_in_halves": "models are packed for the CPU",
    "test_quantised.py::test_what_cannot_be_packed": "models are packed for the CPU",
    "test_training.py::test_randomness_depends": "it draws on the CPU",
    "test_visual_question.py::test_the_seed_determines": "weights are drawn on the CPU",
}


def pytest_collection_modifyitems(items):
    """Skip the tests that cannot run on the device, with the reason."""
    for item in items:
        name = item.nodeid.removeprefix("tests/core/")
        reason = next((why for start, why in CPU_ALONE.items() if name.startswith(start)), None)
        if DEVICE != "cpu" and reason:
            item.add_marker(pytest.mark.skip(reason=f"not on {DEVICE}: {reason}"))


def pytest_runtest_setup(item):
    """Use deterministic kernels; attention's only warn, except in tests that compare to the bit."""
    if DEVICE.startswith("cuda"):
        import torch

        warn_only = "what_is_masked_changes_nothing" not in item.name
        torch.use_deterministic_algorithms(True, warn_only=warn_only)


def _use(device):
    """Make all tensors on a device; tests convert them to NumPy by way of the CPU.

    `attn` itself is not helped: where it hands NumPy a tensor of the device, a test fails.
    """
    import torch

    from attn import pretrained
    from attn.applications._application import Application
    from attn.applications.translation import Translator
    from attn.applications.visual_question import VisualQuestionAnswerer
    from attn.training import processes
    from attn.transformer.checkpoint import Checkpoint

    device = torch.device(device)
    # Sums without a fixed order of addition differ from run to run.
    if device.type == "cuda":
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.set_default_device(device)
    # At its first call PyTorch lists the functions that make tensors; it must find the originals.
    torch.empty(0)
    from_numpy, numpy, as_array = torch.from_numpy, torch.Tensor.numpy, torch.Tensor.__array__

    def is_attn():
        return sys._getframe(2).f_globals.get("__name__", "").startswith("attn.")

    torch.from_numpy = lambda x: from_numpy(x) if is_attn() else from_numpy(x).to(device)
    torch.Tensor.numpy = lambda x: numpy(x if is_attn() else x.cpu())
    torch.Tensor.__array__ = lambda x, *dtype, **copy: as_array(
        x if is_attn() else x.cpu(), *dtype, **copy
    )
    # Tests train on the CPU and load models onto it: here the device takes its place.
    choose, load = processes.choose_device, Checkpoint.load.__func__
    load_of_others = pretrained.load
    processes.choose_device = lambda name, rank=0: device if name == "cpu" else choose(name, rank)
    Checkpoint.load = classmethod(lambda cls, path: load(cls, path).to(device))
    pretrained.load = lambda path: _first_on(device, *load_of_others(path))
    for read in (Application.load, Translator.pretrained, VisualQuestionAnswerer.pretrained):
        read.__func__.__kwdefaults__["device"] = device
    for name in ("rand", "randn", "randint", "randperm", "multinomial"):
        setattr(torch, name, _drawn(getattr(torch, name), device))


def _first_on(device, model, tokenizer):
    return model.to(device), tokenizer


def _drawn(function, device):
    """Return a function that lets a generator of the CPU draw for another device, too."""

    def draw(*args, **options):
        generator = options.get("generator")
        ours = generator is None or generator.device.type == device.type
        if ours or "device" in options:
            return function(*args, **options)
        needs_gradient = options.pop("requires_grad", False)
        if function.__name__ == "multinomial":
            args = (args[0].cpu(), *args[1:])
        else:
            options["device"] = "cpu"
        return function(*args, **options).to(device).requires_grad_(needs_gradient)

    return draw


if DEVICE != "cpu":
    _use(DEVICE)
