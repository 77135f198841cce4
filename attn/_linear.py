"""The linear layer, quick for a single token as well."""

import torch
from torch import Tensor, nn

LARGE = 2**16  # numbers; below, one product takes less time than the preparation of two


class Linear(nn.Linear):
    """PyTorch's linear layer, which without gradients reads its matrix at the speed of memory.

    For a single row on the CPU, PyTorch calls a routine of MKL that reaches half of it on
    processors that are not Intel's. A batch of two products, one for each half of the matrix,
    goes another way.

    Examples
    --------
    >>> Linear(3, 2)(torch.ones(4, 3)).shape
    torch.Size([4, 2])
    """

    def forward(self, x: Tensor) -> Tensor:
        """Return a Tensor of shape (..., out_features)."""
        weight = self.weight
        if (
            x.numel() == self.in_features
            and x.dtype == torch.float32
            and weight.numel() > LARGE
            and self.out_features % 2 == 0
            and weight.is_cpu
            and weight.is_contiguous()
            and not torch.is_grad_enabled()
            and not torch.compiler.is_compiling()
        ):
            # The row stands twice, transposed: as a column, it would take the slow way again.
            rows = x.reshape(1, 1, -1).expand(2, -1, -1)
            product = torch.bmm(weight.unflatten(0, (2, -1)), rows.mT)
            y = product.view(*x.shape[:-1], self.out_features)
            return y if self.bias is None else y + self.bias
        return super().forward(x)
