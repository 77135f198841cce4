"""Helpers of the tests: random numbers from a seed, comparisons, templates."""

import itertools
import re

import numpy as np
import pytest
import torch

POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "none")
all_positions = pytest.mark.parametrize("positions", POSITIONS)


def random(*shape, dtype=torch.float64, seed=0):
    """Draw normal numbers that are the same on every device."""
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def random_ids(*shape, vocab_size=20, seed=0):
    """Draw tokens from a seed."""
    return torch.randint(vocab_size, shape, generator=torch.Generator().manual_seed(seed))


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


class Logits(torch.nn.Module):
    """A wrapper that returns logits only, since a graph cannot return weights that may be None."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *inputs):
        return self.model(*inputs)[0]


def check_one_graph_serves_every_step(model, ids):
    """Assert that steps with a fixed cache are compiled once, and equal the parallel run."""
    from torch._dynamo.testing import CompileCounter  # It takes seconds, and few tests compile.

    torch.compiler.reset()
    graphs, (n_rows, length) = CompileCounter(), ids.shape
    expected = model(ids)[0]
    compiled = torch.compile(model.in_room, backend=graphs, fullgraph=True)
    cache = model.new_cache(room=length, n_rows=n_rows)
    model(ids[:, :3], cache=cache)
    for i in range(3, length):
        logits, _ = compiled(ids[:, i : i + 1], cache, cache.slots(1))
        cache.advance(1)
        assert_close(logits[:, 0], expected[:, i])
    assert graphs.frame_count == 1


def refuses(message):
    """Expect a ValueError with exactly this message."""
    return pytest.raises(ValueError, match=f"^{re.escape(message)}$")


def values_of(tables, slot):
    """Return what the slot of a template may hold."""
    listed = tables["values"][slot]
    if isinstance(listed, str):
        return values_of(tables, listed)
    if isinstance(listed[0], list):
        return ["".join(parts) for parts in itertools.product(*listed)]
    return listed


def pattern(tables, template):
    """Return a regular expression that matches a template and captures the values of its slots."""
    found = ""
    for piece in re.split(r"(\{\w+\}|<\w+>)", template):
        name = piece[1:-1]
        if piece.startswith("{"):
            found += f"(?P<{name}>{'|'.join(map(re.escape, values_of(tables, name)))})"
        elif piece.startswith("<"):
            found += f"(?:{'|'.join(tables['synonyms'][name])})"
        else:
            found += re.escape(piece)
    return re.compile(found, flags=re.IGNORECASE)
