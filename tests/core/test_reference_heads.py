"""Splitting into heads and joining them again, against PyTorch and against each other."""

import numpy as np
import pytest
import torch

from attn.reference import join_heads, split_heads


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
@pytest.mark.parametrize("n_heads", [1, 2, 6])
def test_as_pytorch_does_it(batch, n_heads):
    x = np.random.default_rng(0).normal(size=(*batch, 5, 6))
    expected = torch.tensor(x).unflatten(-1, (n_heads, -1)).transpose(-2, -3)
    np.testing.assert_array_equal(split_heads(x, n_heads), expected)
    np.testing.assert_array_equal(join_heads(split_heads(x, n_heads)), x)


def test_what_they_refuse():
    with pytest.raises(ValueError, match="d_model: expected a multiple of n_heads = 4, got 6"):
        split_heads(np.ones((5, 6)), 4)
    with pytest.raises(ValueError, match="x: expected shape"):
        split_heads(np.ones(6), 2)
    with pytest.raises(ValueError, match="n_heads: expected"):
        split_heads(np.ones((5, 6)), 0)
    with pytest.raises(ValueError, match="heads: expected shape"):
        join_heads(np.ones((5, 6)))
