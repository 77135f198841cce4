"""attn.attention.multi_head.Linear: PyTorch multiplies a single row by another path."""

from unittest.mock import patch

import pytest
import torch

from attn.attention.multi_head import LARGE, Linear


@pytest.mark.pairwise
@pytest.mark.parametrize("lead", [(), (1,), (1, 1), (3,), (0,)], ids=str)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("sizes", [(300, 222), (300, 223), (5, 4)], ids=str)
def test_a_single_row_gives_the_same_numbers(sizes, dtype, bias, lead):
    torch.manual_seed(0)
    linear, x = Linear(*sizes, bias=bias).to(dtype), torch.randn(*lead, sizes[0], dtype=dtype)
    expected = x.double() @ linear.weight.detach().double().T
    expected = expected + (linear.bias.detach().double() if bias else 0)
    tolerance = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 2e-2}[dtype]
    two_products = patch.object(torch, "bmm", wraps=torch.bmm)
    for grad in (False, True):
        with torch.set_grad_enabled(grad), two_products as bmm:
            y = linear(x)
        torch.testing.assert_close(y.detach().double(), expected, rtol=tolerance, atol=tolerance)
        assert y.shape == (*lead, sizes[1]) and y.requires_grad == grad
        is_row = sizes == (300, 222) and dtype == torch.float32 and lead in ((), (1,), (1, 1))
        assert bmm.called == (is_row and not grad and x.is_cpu)
    assert 300 * 222 > LARGE
