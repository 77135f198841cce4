"""PyTorch's own attention and layers, with the weights of ours, and ours with theirs.

What both compute in evaluation mode is the same. Three things are said differently:

- A mask is True *where attention is allowed* here, and where it is not in PyTorch: give it
  ``~mask``, and ``key_padding_mask=~padding_mask(...)`` without the axis of the queries.
- Sequences come as (..., seq_len, d_model) here; PyTorch's modules do so with
  ``batch_first=True``, as those that `to_torch` returns.
- In training, PyTorch's layers also drop attention weights and what is inside the feed-forward
  network. Those that `to_torch` returns do not, as ours do not.
"""

import re
from collections.abc import Mapping
from typing import TypeAlias, TypeVar, cast, overload

import torch
from torch import Tensor, nn

from attn._checks import wrong
from attn.attention import MultiHeadAttention
from attn.layers import DecoderLayer, EncoderLayer
from attn.transformer._torch_checks import (
    TorchLayer,
    check_attention,
    check_norm,
    check_ours,
    sizes,
)
from attn.transformer.config import TransformerConfig
from attn.transformer.encoder_decoder import Transformer
from attn.transformer.stacks import Decoder, Encoder

# What a part is called here, and in PyTorch.
NAMES = (
    ("self_attention.", "self_attn."),
    ("cross_attention.", "multihead_attn."),
    ("feed_forward.linear_1.", "linear1."),
    ("feed_forward.linear_2.", "linear2."),
    ("norm_1.", "norm1."),
    ("norm_2.", "norm2."),
    ("norm_3.", "norm3."),
)
TorchStack: TypeAlias = nn.TransformerEncoder | nn.TransformerDecoder
LAYERS: dict[type[EncoderLayer | DecoderLayer], type[TorchLayer]] = {
    EncoderLayer: nn.TransformerEncoderLayer,
    DecoderLayer: nn.TransformerDecoderLayer,
}
STACKS: dict[type[Encoder | Decoder], type[TorchStack]] = {
    Encoder: nn.TransformerEncoder,
    Decoder: nn.TransformerDecoder,
}
Copy = TypeVar("Copy", bound=nn.Module)


@overload
def from_torch(module: nn.MultiheadAttention) -> MultiHeadAttention: ...
@overload
def from_torch(module: nn.TransformerEncoderLayer) -> EncoderLayer: ...
@overload
def from_torch(module: nn.TransformerDecoderLayer) -> DecoderLayer: ...
@overload
def from_torch(module: nn.TransformerEncoder) -> Encoder: ...
@overload
def from_torch(module: nn.TransformerDecoder) -> Decoder: ...
@overload
def from_torch(module: nn.Transformer) -> tuple[Encoder, Decoder]: ...


def from_torch(module: nn.Module) -> nn.Module | tuple[Encoder, Decoder]:
    """Return what computes here the same as a module of PyTorch.

    Parameters
    ----------
    module : Module
        An nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer,
        nn.TransformerEncoder, nn.TransformerDecoder or nn.Transformer.

    Returns
    -------
    MultiHeadAttention, EncoderLayer, DecoderLayer, Encoder or Decoder
        With a copy of the weights. For nn.Transformer, which has no vocabulary, a pair: the
        encoder and the decoder, to be put into a `Transformer` with such sizes.

    Raises
    ------
    ValueError
        If it is another module, or does what none of ours does.

    Examples
    --------
    >>> theirs = nn.MultiheadAttention(8, 2, batch_first=True)
    >>> ours = from_torch(theirs)
    >>> x = torch.randn(3, 5, 8)
    >>> expected, _ = theirs(x, x, x, attn_mask=torch.ones(5, 5, dtype=torch.bool).triu(1))
    >>> torch.allclose(ours(x, is_causal=True)[0], expected, atol=1e-6)
    True
    """
    if isinstance(module, nn.Transformer):
        return from_torch(module.encoder), from_torch(module.decoder)
    return _filled(_ours_like(module), module, _our_state(module.state_dict()))


@overload
def to_torch(module: MultiHeadAttention) -> nn.MultiheadAttention: ...
@overload
def to_torch(module: EncoderLayer) -> nn.TransformerEncoderLayer: ...
@overload
def to_torch(module: DecoderLayer) -> nn.TransformerDecoderLayer: ...
@overload
def to_torch(module: Encoder) -> nn.TransformerEncoder: ...
@overload
def to_torch(module: Decoder) -> nn.TransformerDecoder: ...
@overload
def to_torch(module: Transformer) -> nn.Transformer: ...


def to_torch(module: nn.Module) -> nn.Module:
    """Return the module of PyTorch that computes the same as one of ours.

    Parameters
    ----------
    module : Module
        A MultiHeadAttention, EncoderLayer, DecoderLayer, Encoder, Decoder or Transformer; of
        the last only the two stacks, since nn.Transformer has neither embeddings nor logits.

    Returns
    -------
    Module
        With a copy of the weights, and ``batch_first=True``.

    Raises
    ------
    ValueError
        If it is another module, or has grouped heads or relative positions.

    Examples
    --------
    >>> to_torch(MultiHeadAttention(d_model=8, n_heads=2, n_kv_heads=1))
    Traceback (most recent call last):
    ValueError: module: expected n_kv_heads = n_heads = 2 for PyTorch, got 1
    """
    return _filled(_torch_like(module), module, _torch_state(module.state_dict()))


def _filled(copy: Copy, module: nn.Module, state: Mapping[str, Tensor]) -> Copy:
    weight = next(module.parameters())
    copy = copy.to(weight.device, weight.dtype)
    copy.load_state_dict({name: state[name] for name in copy.state_dict()})
    return copy.train(module.training)


def _ours_like(theirs: nn.Module) -> nn.Module:
    """Return one of our modules, with other weights."""
    if isinstance(theirs, nn.MultiheadAttention):
        check_attention(theirs)
        has_bias = theirs.in_proj_bias is not None
        return MultiHeadAttention(theirs.embed_dim, theirs.num_heads, theirs.dropout, has_bias)
    for layer, kind in LAYERS.items():
        if isinstance(theirs, kind):
            return layer(**sizes(theirs))
    for stack, stack_kind in STACKS.items():
        if isinstance(theirs, stack_kind):
            same = sizes(cast("TorchLayer", theirs.layers[0]))
            n_layers = len(theirs.layers)
            ours = stack(TransformerConfig(1, n_layers=n_layers, positions="none", **same))
            if theirs.norm is not None:
                check_norm(theirs.norm)
            # nn.Transformer ends with a norm in post-norm too, where the paper has none.
            ours.norm = nn.Identity() if theirs.norm is None else nn.LayerNorm(same["d_model"])
            return ours
    kinds = [
        "MultiheadAttention",
        *(kind.__name__ for kind in (*LAYERS.values(), *STACKS.values())),
    ]
    expected = f"nn.{', nn.'.join(kinds)} or nn.Transformer"
    raise wrong("module", expected, type(theirs).__name__)


def _torch_like(ours: nn.Module) -> nn.Module:
    """Return one of PyTorch's modules, with other weights."""
    if isinstance(ours, MultiHeadAttention):
        check_ours(ours)
        has_bias = ours.q_proj.bias is not None
        return nn.MultiheadAttention(
            ours.d_model, ours.n_heads, ours.dropout, has_bias, batch_first=True
        )
    if isinstance(ours, EncoderLayer | DecoderLayer) and type(ours) in LAYERS:
        attentions = [part for part in ours.modules() if isinstance(part, MultiHeadAttention)]
        for attention in attentions:
            check_ours(attention)
        check_norm(ours.norm_1)
        if ours.feed_forward.activation != "relu":
            raise wrong("module", "activation = relu", ours.feed_forward.activation)
        layer = LAYERS[type(ours)](
            attentions[0].d_model, attentions[0].n_heads, ours.feed_forward.linear_1.out_features,
            ours.dropout.p, norm_first=ours.norm == "pre", batch_first=True,
        )  # fmt: skip
        layer.dropout.p = layer.self_attn.dropout = 0.0
        if isinstance(layer, nn.TransformerDecoderLayer):
            layer.multihead_attn.dropout = 0.0
        return layer
    if isinstance(ours, Encoder | Decoder) and type(ours) in STACKS:
        layer = cast("TorchLayer", _torch_like(ours.layers[0]))
        width = layer.norm1.weight.shape
        norm = None if isinstance(ours.norm, nn.Identity) else nn.LayerNorm(width)
        if isinstance(layer, nn.TransformerDecoderLayer):
            return nn.TransformerDecoder(layer, len(ours.layers), norm)
        # PyTorch warns of nested tensors in pre-norm, and writes zeros at padding in post-norm.
        return nn.TransformerEncoder(layer, len(ours.layers), norm, enable_nested_tensor=False)
    if isinstance(ours, Transformer):
        config, encoder, decoder = ours.config, _torch_like(ours.encoder), _torch_like(ours.decoder)
        return nn.Transformer(
            config.d_model, config.n_heads,
            custom_encoder=encoder, custom_decoder=decoder, batch_first=True,
        )  # fmt: skip
    kinds = ("MultiHeadAttention", "EncoderLayer", "DecoderLayer", "Encoder", "Decoder")
    raise wrong("module", f"{', '.join(kinds)} or Transformer", type(ours).__name__)


def _our_state(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Rename, and cut each joint projection of PyTorch in three."""
    renamed = {}
    for name, tensor in state.items():
        for our_name, their_name in NAMES:
            name = re.sub(rf"(^|\.){re.escape(their_name)}", rf"\1{our_name}", name)
        if "in_proj_" in name:
            for part, piece in zip("qkv", tensor.chunk(3), strict=True):
                renamed[name.replace("in_proj_", f"{part}_proj.")] = piece
        else:
            renamed[name] = tensor
    return renamed


def _torch_state(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Rename, and join the projections of queries, keys and values, which come in this order."""
    renamed: dict[str, Tensor] = {}
    for name, tensor in state.items():
        for our_name, their_name in NAMES:
            name = name.replace(our_name, their_name)
        joint = re.sub(r"\b[qkv]_proj\.", "in_proj_", name)
        renamed[joint] = torch.cat([renamed[joint], tensor]) if joint in renamed else tensor
    return renamed
