"""What PyTorch's modules can do and ours cannot, and the other way round: refused by name."""

from collections.abc import Callable
from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attn._checks import wrong
from attn._linear import Linear
from attn.attention import MultiHeadAttention, ScaledDotProduct
from attn.feed_forward import FeedForward

# What both can do between the two linear layers, by our names.
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": nn.GELU("tanh"),
}


def our_activation(theirs: object) -> str:
    """Return our name for what a layer of PyTorch has between its linear layers."""
    if theirs in (F.relu, torch.relu) or isinstance(theirs, nn.ReLU):
        return "relu"
    if theirs is F.gelu:
        return "gelu"
    if isinstance(theirs, nn.GELU):
        return "gelu" if theirs.approximate == "none" else "gelu_tanh"
    raise _wrong_activation(getattr(theirs, "__name__", type(theirs).__name__))


def torch_activation(ours: FeedForward) -> Callable[[Tensor], Tensor]:
    """Return what a layer of PyTorch has to have between its linear layers."""
    if type(ours) is not FeedForward:
        raise wrong("module", "feed_forward a FeedForward for PyTorch", type(ours).__name__)
    if ours.activation not in ACTIVATIONS:
        raise _wrong_activation(ours.activation)
    return deepcopy(ACTIVATIONS[ours.activation])


def _wrong_activation(name: str) -> ValueError:
    return wrong("module", f"activation = {' or '.join(ACTIVATIONS)}", name)


def check_theirs(attention: nn.MultiheadAttention) -> None:
    if attention.bias_k is not None:
        raise wrong("module", "add_bias_kv = False", True)
    if attention.add_zero_attn:
        raise wrong("module", "add_zero_attn = False", True)
    if attention.in_proj_weight is None:
        sizes = f"{attention.kdim} and {attention.vdim}"
        raise wrong("module", f"kdim = vdim = embed_dim = {attention.embed_dim}", sizes)
    _check_names(attention, {"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"})


def check_ours(attention: MultiHeadAttention) -> None:
    if attention.n_kv_heads != attention.n_heads:
        expected = f"n_kv_heads = n_heads = {attention.n_heads} for PyTorch"
        raise wrong("module", expected, attention.n_kv_heads)
    if attention.relative is not None:
        kind = type(attention.relative).__name__
        raise wrong("module", "relative = None for PyTorch", kind)
    if type(attention.attention) is not ScaledDotProduct:
        kind = type(attention.attention).__name__
        raise wrong("module", "attention a ScaledDotProduct for PyTorch", kind)
    for part in (attention.q_proj, attention.k_proj, attention.v_proj, attention.out_proj):
        check_part(part)


def check_part(part: nn.Module) -> None:
    if type(part) not in (nn.Linear, Linear, nn.LayerNorm):
        raise wrong("module", "linear layers nn.Linear and norms nn.LayerNorm", type(part).__name__)
    _check_names(part, {"weight", "bias"})


def _check_names(module: nn.Module, known: set[str]) -> None:
    """Refuse what has other numbers than usual: one that was pruned, say, has a mask."""
    others = sorted(module.state_dict().keys() - known)
    if others:
        raise wrong("module", f"{type(module).__name__} of {sorted(known)}", f"{others} as well")
