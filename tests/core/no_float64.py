"""A device without float64, such as Apple's, simulated: operations on float64 are refused."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class NoFloat64(TorchDispatchMode):
    """Within this context, raise ``TypeError`` at the first operation on float64."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        """Run `function`, and check its tensors before and after."""
        kwargs = kwargs or {}
        self._refuse(function, (args, kwargs))
        result = function(*args, **kwargs)
        self._refuse(function, result)
        return result

    @staticmethod
    def _refuse(function, tensors):
        for tensor in tree_leaves(tensors):
            if isinstance(tensor, torch.Tensor) and tensor.dtype == torch.float64:
                raise TypeError(f"{function}: there is no float64 here")
