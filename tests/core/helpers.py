"""Helpers of the tests: random numbers from a seed, comparisons, and tables of refusals."""

import re

import numpy as np
import pytest
import torch


def random(*shape, dtype=torch.float64, seed=0):
    """Draw normal numbers that are the same on every device."""
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def random_array(*shape, seed=0):
    """Draw normal numbers from a seed and the shape."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def assert_close_arrays(actual, expected, tolerance=1e-12):
    """Assert that arrays are close, and equal in shape and type."""
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance, strict=True)


def randomise(module, seed=1):
    """Change every parameter, so that no bias is zero and no gain is one."""
    for i, parameter in enumerate(module.parameters()):
        noise = random(*parameter.shape, seed=seed + i).to(parameter.dtype)
        if parameter.ndim > 1:
            parameter.data = parameter.shape[-1] ** -0.5 * noise
        else:
            parameter.data += 0.2 * noise
    return module


def gradients(output, tensors):
    """Return the gradients of the tensors for a random gradient of the output."""
    upstream = random(*output.shape, seed=9).to(output.dtype)
    return torch.autograd.grad(output, tensors, upstream)


def assert_close(actual, expected, tolerance=1e-10):
    """Assert that tensors, or tuples or dictionaries of tensors, are close."""
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def refusals(*rows):
    """Return a parametrised test; each row is a call, and how its ValueError begins."""

    @pytest.mark.parametrize("call, message", rows)
    def test(call, message):
        with pytest.raises(ValueError, match=f"^{message}"):
            call()

    return test


def refuses(message):
    """Expect a ValueError with exactly this message."""
    return pytest.raises(ValueError, match=f"^{re.escape(message)}$")
