"""What the tests share: numbers from a seed, closeness, and refusals, one by one or as a table."""

import re

import numpy as np
import pytest
import torch


def random(*shape, dtype=torch.float64, seed=0):
    """Draw normal numbers, the same on every device."""
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def random_array(*shape, seed=0):
    """Draw normal numbers, others for each shape."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def assert_close_arrays(actual, expected, tolerance=1e-12):
    """Compare arrays, their shapes and types included."""
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance, strict=True)


def randomise(module, seed=1):
    """Give every parameter another value, so that no bias is zero and no gain one."""
    for i, parameter in enumerate(module.parameters()):
        noise = random(*parameter.shape, seed=seed + i).to(parameter.dtype)
        if parameter.ndim > 1:
            parameter.data = parameter.shape[-1] ** -0.5 * noise
        else:
            parameter.data += 0.2 * noise
    return module


def gradients(output, tensors):
    """Return the gradients of the tensors, for a random gradient of the output."""
    upstream = random(*output.shape, seed=9).to(output.dtype)
    return torch.autograd.grad(output, tensors, upstream)


def assert_close(actual, expected, tolerance=1e-10):
    """Compare tensors, or tuples and dictionaries of them."""
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def refusals(*rows):
    """Return the test of a table: each row is a call, and a pattern of how its ValueError begins."""

    @pytest.mark.parametrize("call, message", rows)
    def test(call, message):
        with pytest.raises(ValueError, match=f"^{message}"):
            call()

    return test


def refuses(message):
    """Expect a ValueError that says this and nothing else."""
    return pytest.raises(ValueError, match=f"^{re.escape(message)}$")
