"""A model in a quarter of the bytes: each row of a matrix as whole numbers and one scale."""

from collections.abc import Mapping

import torch
from torch import Tensor

from attn._checks import check_finite

LARGEST = 127


def quantise(state_dict: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Round every matrix to int8, row by row.

    The largest number of a row becomes 127 or -127, the others what is nearest in proportion;
    so none moves by more than half a step, a 254th of the largest. A row gets a scale of its
    own since rows are what the model reads: the vector of one token, the weights of one neuron.

    Parameters
    ----------
    state_dict : dict of str to Tensor
        Floating-point matrices, shape (..., n_rows, n_columns), and vectors.

    Returns
    -------
    dict of str to Tensor
        For a matrix ``name``, int8 of its shape, and ``name.scale``, float32 of shape
        (..., n_rows). Vectors, which are few numbers, as float32.

    Raises
    ------
    ValueError
        If a number is not finite.

    References
    ----------
    Jacob et al. (2018), Quantization and Training of Neural Networks for Efficient
    Integer-Arithmetic-Only Inference, Eq. 1, with a zero point of 0.

    Examples
    --------
    >>> tensors = quantise({"weight": torch.tensor([[0.5, -1.27, 0.0], [0.0, 0.0, 0.0]])})
    >>> tensors["weight"]
    tensor([[  50, -127,    0],
            [   0,    0,    0]], dtype=torch.int8)
    >>> tensors["weight.scale"]
    tensor([0.0100, 0.0000])
    """
    tensors = {}
    for name, tensor in state_dict.items():
        tensor = tensor.detach().cpu().float()
        check_finite(name, tensor.isfinite())
        if tensor.ndim < 2:
            tensors[name] = tensor
            continue
        scale = tensor.abs().amax(dim=-1) / LARGEST
        steps = tensor / scale.where(scale > 0, 1.0)[..., None]
        tensors[name] = steps.round().clamp(-LARGEST, LARGEST).to(torch.int8)
        tensors[name + ".scale"] = scale
    return tensors


def dequantise(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return what `quantise` made of a state dict as numbers to compute with.

    Parameters
    ----------
    tensors : dict of str to Tensor

    Returns
    -------
    dict of str to Tensor
        Under the names of the state dict: ``scale * int8`` in float32 for a matrix, the very
        numbers that the page computes with. What was never rounded stays as it is.

    Examples
    --------
    >>> dequantise(quantise({"weight": torch.tensor([[0.5, -1.27, 0.004]])}))["weight"]
    tensor([[ 0.5000, -1.2700,  0.0000]])
    """
    scales = {
        name: name + ".scale"
        for name, tensor in tensors.items()
        if tensor.dtype == torch.int8 and name + ".scale" in tensors
    }
    state_dict = {}
    for name, tensor in tensors.items():
        if name in scales:
            state_dict[name] = tensor.float() * tensors[scales[name]][..., None]
        elif name not in scales.values():
            state_dict[name] = tensor
    return state_dict
