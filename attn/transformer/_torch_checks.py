"""What PyTorch's modules can do and ours cannot, and the other way round: refused by name."""

from typing import TypeAlias, TypedDict

from torch import nn
from torch.nn import functional as F

from attn._checks import wrong
from attn.attention import MultiHeadAttention

EPS = 1e-5  # of every norm here, and PyTorch's default
TorchLayer: TypeAlias = nn.TransformerEncoderLayer | nn.TransformerDecoderLayer


class Sizes(TypedDict):
    """The arguments of our layers that those of PyTorch have too."""

    d_model: int
    n_heads: int
    d_ff: int
    dropout: float
    norm: str


def sizes(layer: TorchLayer) -> Sizes:
    """Return the arguments of our layer, once it is known that there is one."""
    check_attention(layer.self_attn)
    if isinstance(layer, nn.TransformerDecoderLayer):
        check_attention(layer.multihead_attn)
    if layer.activation is not F.relu and not isinstance(layer.activation, nn.ReLU):
        name = getattr(layer.activation, "__name__", type(layer.activation).__name__)
        raise wrong("module", "activation = relu", name)
    if layer.linear1.bias is None:
        raise wrong("module", "a layer with bias = True", False)
    for norm in (part for name, part in layer.named_children() if name.startswith("norm")):
        check_norm(norm)
    return {
        "d_model": layer.self_attn.embed_dim,
        "n_heads": layer.self_attn.num_heads,
        "d_ff": layer.linear1.out_features,
        "dropout": layer.dropout1.p,
        "norm": "pre" if layer.norm_first else "post",
    }


def check_attention(theirs: nn.MultiheadAttention) -> None:
    if theirs.bias_k is not None:
        raise wrong("module", "add_bias_kv = False", True)
    if theirs.add_zero_attn:
        raise wrong("module", "add_zero_attn = False", True)
    if theirs.in_proj_weight is None:
        sizes = f"{theirs.kdim} and {theirs.vdim}"
        raise wrong("module", f"kdim = vdim = embed_dim = {theirs.embed_dim}", sizes)


def check_norm(norm: nn.Module) -> None:
    if not isinstance(norm, nn.LayerNorm) or norm.eps != EPS or norm.bias is None:
        raise wrong("module", f"norms nn.LayerNorm with eps = {EPS} and a bias", norm)


def check_ours(attention: MultiHeadAttention) -> None:
    if attention.n_kv_heads != attention.n_heads:
        expected = f"n_kv_heads = n_heads = {attention.n_heads} for PyTorch"
        raise wrong("module", expected, attention.n_kv_heads)
    if attention.relative is not None:
        kind = type(attention.relative).__name__
        raise wrong("module", "relative = None for PyTorch", kind)
