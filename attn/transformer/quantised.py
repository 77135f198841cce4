"""A model in a quarter of the bytes: each row of a matrix as whole numbers and one scale."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from attn._checks import argument_error, check_finite
from attn.attention.multi_head import Linear

LARGEST = 127
# The number of columns of a row that share a scale in four bits.
GROUP = 32
Model = TypeVar("Model", bound=nn.Module)


def quantise(state_dict: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Round every matrix to int8, row by row.

    The largest number of a row becomes 127 or -127, the others the nearest whole number in
    proportion; so no number moves by more than half a step, a 254th of the largest. A row gets a
    scale of its own since rows are what the model reads: the vector of one token, the weights of
    one neuron.

    Parameters
    ----------
    state_dict : dict of str to Tensor
        Floating-point matrices, shape (..., n_rows, n_columns), and vectors.

    Returns
    -------
    dict of str to Tensor
        For a matrix ``name``, int8 of its shape, and ``name.scale``, float32 of shape
        (..., n_rows). Vectors, which are few numbers, as float32.

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
    """Turn the result of `quantise` back into tensors to compute with.

    A matrix is ``scale * int8`` in float32, the very numbers that the page computes with. Tensors
    that were not rounded stay unchanged.

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


def packed(model: Model, bits: int = 16) -> Model:
    """Return a copy of a model that reads fewer bytes for each token it writes, on a CPU.

    When a processor writes token by token, it reads every weight once for few operations, so memory
    bandwidth sets the time. The matrices of all linear layers are packed for PyTorch's own
    products; embeddings, norms and biases stay as they are.

    Parameters
    ----------
    model : Module
        In float32 on the CPU, such as `attn.pretrained.load` returns it.
    bits : {16, 4}, default 16
        How many a weight takes. With 16, as float16, it changes in the fourth digit, if at all.
        With 4, each group of 32 columns of a row has a scale and a middle in bfloat16, and
        weights round to one of 16 steps; the layer `output`, and layers whose sizes do not fit,
        take 16.

    Returns
    -------
    Module
        Of the same class, in evaluation mode. It can be neither trained nor saved.

    Raises
    ------
    ValueError
        If `bits` is another number, the model is not as above, a weight does not fit in float16,
        or PyTorch has no such products for this processor.

    References
    ----------
    Dettmers and Zettlemoyer (2023), The Case for 4-bit Precision: k-bit Inference Scaling Laws.

    Examples
    --------
    >>> from attn.transformer import DecoderOnly, TransformerConfig
    >>> config = TransformerConfig(vocab_size=16, d_model=32, n_heads=2, n_layers=1, d_ff=64)
    >>> model, ids = DecoderOnly(config).eval(), torch.tensor([[5, 6, 7]])
    >>> bool((packed(model)(ids)[0] - model(ids)[0]).abs().max() < 0.01)
    True
    """
    if bits not in (16, 4):
        raise argument_error("bits", "16 or 4", repr(bits))
    if not {"x86", "fbgemm"} & {*torch.backends.quantized.supported_engines}:
        raise argument_error(
            "model", "a processor that PyTorch packs weights for, x86", "another one"
        )
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point() and (tensor.dtype != torch.float32 or not tensor.is_cpu):
            raise argument_error(name, "float32 on the CPU", f"{tensor.dtype} on {tensor.device}")
    copied = deepcopy(model).eval().requires_grad_(False)
    for path, parent in [*copied.named_modules()]:
        for name, child in [*parent.named_children()]:
            if type(child) in (nn.Linear, Linear):
                where = f"{path}.{name}".removeprefix(".")
                check_finite(f"{where}.weight", child.weight.half().isfinite())
                fits = not (child.in_features % GROUP or child.out_features % 16)
                four = bits == 4 and fits and where != "output"
                setattr(parent, name, (_InFourBits if four else _InHalves)(child))
    return copied


class _Packed(nn.Module):
    """A linear layer whose weights are packed."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features

    def forward(self, x: Tensor) -> Tensor:
        if x.dtype != torch.float32 or not x.is_cpu or x.shape[-1:] != (self.in_features,):
            wanted = f"float32 of shape (..., {self.in_features}) on the CPU, as the weights"
            raise argument_error("x", wanted, f"{x.dtype} of shape {tuple(x.shape)} on {x.device}")
        return self.product(x)

    def product(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _save_to_state_dict(self, *_: Any) -> None:
        raise argument_error(
            "model", "one whose weights are not packed, to save or copy them", "a packed one"
        )


class _InHalves(_Packed):
    """Weights in float16, which FBGEMM multiplies by rows in float32."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__(linear)
        weight = linear.weight.detach().contiguous()
        self._weight = torch.ops.quantized.linear_prepack_fp16(weight, linear.bias)

    def product(self, x: Tensor) -> Tensor:
        y: Tensor = torch.ops.quantized.linear_dynamic_fp16(x, self._weight)
        return y


class _InFourBits(_Packed):
    """Weights as one of 16 steps around the middle of their group, multiplied in bfloat16."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__(linear)
        self.bias = linear.bias
        groups = linear.weight.detach().unflatten(-1, (-1, GROUP))
        low, high = groups.aminmax(dim=-1)
        step = ((high - low) / 15).clamp(min=torch.finfo(torch.float16).tiny)
        steps = ((groups - low[..., None]) / step[..., None]).round().clamp(0, 15)
        self._weight = torch.ops.aten._convert_weight_to_int4pack_for_cpu(
            steps.to(torch.int32).flatten(-2), 1
        )
        # PyTorch's product counts the steps from step 8, the middle, so the offset is the value
        # there.
        self._groups = torch.stack((step, low + 8 * step), dim=-1).transpose(0, 1)
        self._groups = self._groups.contiguous().bfloat16()

    def product(self, x: Tensor) -> Tensor:
        rows = x.reshape(-1, self.in_features).bfloat16()
        y: Tensor = torch.ops.aten._weight_int4pack_mm_for_cpu(
            rows, self._weight, GROUP, self._groups
        )
        y = y.float().view(*x.shape[:-1], self.out_features)
        return y if self.bias is None else y + self.bias
