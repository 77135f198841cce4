"""PyTorch's own attention and layers, with the weights of ours, and ours with theirs.

Both compute the same in evaluation mode. Three conventions differ:

- A mask is True *where attention is allowed* here, and where it is forbidden in PyTorch: give it
  ``~mask``, and ``key_padding_mask=~padding_mask(...)`` without the axis of the queries.
- Sequences come as (..., seq_len, d_model) here; PyTorch's modules do so with
  ``batch_first=True``, as those that `to_torch` returns.
- In training, both drop attention weights, with the same probability. PyTorch's layers also
  drop what is inside the feed-forward network; ours and those that `to_torch` returns do not.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any, TypeAlias, TypeVar, overload

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attn._checks import argument_error
from attn.attention import MultiHeadAttention, ScaledDotProduct
from attn.attention.multi_head import Linear
from attn.layers import DecoderLayer, EncoderLayer, FeedForward
from attn.transformer.config import TransformerConfig
from attn.transformer.encoder_decoder import Transformer
from attn.transformer.stacks import Decoder, Encoder

# The parts of a layer by our names and by PyTorch's.
PARTS = (
    ("self_attention", "self_attn"),
    ("cross_attention", "multihead_attn"),
    ("feed_forward.linear_1", "linear1"),
    ("feed_forward.linear_2", "linear2"),
    ("norm_1", "norm1"),
    ("norm_2", "norm2"),
    ("norm_3", "norm3"),
)
# The activations that both have, by our names.
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": nn.GELU("tanh"),
}
# What our attention may have and PyTorch's cannot.
BEYOND_PYTORCH = ("q_norm", "sink", "gate_proj", "soft_cap", "window")
TorchLayer: TypeAlias = nn.TransformerEncoderLayer | nn.TransformerDecoderLayer
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
    """Return our module that computes the same as a module of PyTorch.

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
        If it does what ours cannot, such as ``add_bias_kv``.

    Examples
    --------
    >>> theirs = nn.MultiheadAttention(8, 2, batch_first=True)
    >>> ours = from_torch(theirs)
    >>> x = torch.randn(3, 5, 8)
    >>> expected, _ = theirs(x, x, x, attn_mask=torch.ones(5, 5, dtype=torch.bool).triu(1))
    >>> torch.allclose(ours(x, is_causal=True)[0], expected, atol=1e-6)
    True
    """
    if type(module) is nn.Transformer:
        return from_torch(module.encoder), from_torch(module.decoder)
    return _ours_like(module).train(module.training)


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
        If it is another module, or does what PyTorch's cannot: grouped heads, relative positions,
        another attention in the heads, a gated feed-forward network, RMSNorm.

    Examples
    --------
    >>> to_torch(MultiHeadAttention(d_model=8, n_heads=2, n_kv_heads=1))
    Traceback (most recent call last):
    ValueError: module: expected n_kv_heads = n_heads = 2 for PyTorch, got 1
    """
    return _torch_like(module).train(module.training)


def _ours_like(theirs: nn.Module) -> nn.Module:
    """Return one of our modules, with a copy of the weights."""
    if type(theirs) is nn.MultiheadAttention:
        check_theirs(theirs)
        has_bias = theirs.in_proj_bias is not None
        ours = MultiHeadAttention(theirs.embed_dim, theirs.num_heads, theirs.dropout, has_bias)
        return _filled(ours, _our_state(theirs.state_dict()))
    for layer, kind in LAYERS.items():
        if type(theirs) is kind:
            size, norm = theirs.self_attn.embed_dim, "pre" if theirs.norm_first else "post"
            network = FeedForward(size, 1, our_activation(theirs.activation))
            empty = layer(size, 1, 1, theirs.dropout1.p, norm, feed_forward=network)
            return _with_parts(empty, theirs, PARTS)
    for stack, stack_kind in STACKS.items():
        if type(theirs) is stack_kind:
            same = stack(TransformerConfig(1, d_model=1, n_heads=1, n_layers=1, positions="none"))
            same.layers = nn.ModuleList(map(_ours_like, theirs.layers))
            # nn.Transformer ends with a norm in post-norm too, unlike the paper.
            same.norm = nn.Identity() if theirs.norm is None else _part(theirs.norm)
            return same
    kinds = (nn.MultiheadAttention, *LAYERS.values(), *STACKS.values())
    expected = ", ".join(f"nn.{kind.__name__}" for kind in kinds)
    raise argument_error("module", f"{expected} or nn.Transformer", type(theirs).__name__)


def _torch_like(ours: nn.Module) -> nn.Module:
    """Return one of PyTorch's modules, with a copy of the weights."""
    if type(ours) is MultiHeadAttention:
        check_ours(ours)
        sizes = ours.d_model, ours.n_heads, ours.dropout, ours.q_proj.bias is not None
        theirs = nn.MultiheadAttention(*sizes, batch_first=True)
        return _filled(theirs, _torch_state(ours.state_dict()))
    if isinstance(ours, EncoderLayer | DecoderLayer) and type(ours) in LAYERS:
        layer = LAYERS[type(ours)](
            ours.feed_forward.d_model,
            1,
            1,
            ours.dropout.p,
            torch_activation(ours.feed_forward),
            norm_first=ours.norm == "pre",
        )
        layer.dropout.p = 0.0
        if isinstance(layer, nn.TransformerEncoderLayer) and isinstance(layer.activation, nn.GELU):
            # Without gradients, PyTorch's fast path treats any nn.GELU as the exact one.
            layer.activation_relu_or_gelu = 0
        return _with_parts(layer, ours, [(new, old) for old, new in PARTS])
    if isinstance(ours, Encoder | Decoder) and type(ours) in STACKS:
        layers: list[Any] = [*map(_torch_like, ours.layers)]
        norm = None if isinstance(ours.norm, nn.Identity) else _part(ours.norm)
        # PyTorch warns of nested tensors in pre-norm, and writes zeros at padding in post-norm.
        options = {"enable_nested_tensor": False} if isinstance(ours, Encoder) else {}
        stack = STACKS[type(ours)](layers[0], len(layers), norm, **options)
        stack.layers = nn.ModuleList(layers)
        return stack
    if isinstance(ours, Transformer):
        whole = nn.Transformer(
            ours.config.d_model,
            ours.config.n_heads,
            custom_encoder=nn.Identity(),
            custom_decoder=nn.Identity(),
            batch_first=True,
        )
        # The stacks are set last, since a new nn.Transformer initialises all its weights.
        whole.encoder, whole.decoder = _torch_like(ours.encoder), _torch_like(ours.decoder)
        return whole
    kinds = ("MultiHeadAttention", "EncoderLayer", "DecoderLayer", "Encoder", "Decoder")
    raise argument_error("module", f"{', '.join(kinds)} or Transformer", type(ours).__name__)


def _with_parts(copy: Copy, module: nn.Module, names: Iterable[tuple[str, str]]) -> Copy:
    """Copy the parts of `module` into a layer; `names` pairs their names in both."""
    for new, old in names:
        if hasattr(copy, new.partition(".")[0]):
            copy.set_submodule(new, _part(module.get_submodule(old)))
    return copy


def _part(part: nn.Module) -> nn.Module:
    """Return the counterpart of a part of a layer: a copy, except for attention."""
    if isinstance(part, nn.MultiheadAttention):
        return _ours_like(part)
    if isinstance(part, MultiHeadAttention):
        return _torch_like(part)
    check_part(part)
    return deepcopy(part).requires_grad_()


def _filled(copy: Copy, state: Mapping[str, Tensor]) -> Copy:
    weight = next(iter(state.values()))
    copy = copy.to(weight.device, weight.dtype)
    copy.load_state_dict(state)
    return copy


def _our_state(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Cut the joint projection of PyTorch in three."""
    renamed = dict(state)
    for name in [name for name in state if "in_proj_" in name]:
        for part, piece in zip("qkv", renamed.pop(name).chunk(3), strict=True):
            renamed[name.replace("in_proj_", f"{part}_proj.")] = piece
    return renamed


def _torch_state(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Join the projections of queries, keys and values, which come in this order."""
    renamed: dict[str, Tensor] = {}
    for name, tensor in state.items():
        joint = re.sub(r"^[qkv]_proj\.", "in_proj_", name)
        renamed[joint] = torch.cat([renamed[joint], tensor]) if joint in renamed else tensor
    return renamed


def our_activation(theirs: object) -> str:
    """Return our name for the activation of a layer of PyTorch."""
    if theirs in (F.relu, torch.relu) or isinstance(theirs, nn.ReLU):
        return "relu"
    if theirs is F.gelu:
        return "gelu"
    if isinstance(theirs, nn.GELU):
        return "gelu" if theirs.approximate == "none" else "gelu_tanh"
    raise _wrong_activation(getattr(theirs, "__name__", type(theirs).__name__))


def torch_activation(ours: FeedForward) -> Callable[[Tensor], Tensor]:
    """Return PyTorch's activation for a feed-forward network of ours."""
    if type(ours) is not FeedForward:
        raise argument_error(
            "module", "feed_forward a FeedForward for PyTorch", type(ours).__name__
        )
    if ours.activation not in ACTIVATIONS:
        raise _wrong_activation(ours.activation)
    return deepcopy(ACTIVATIONS[ours.activation])


def _wrong_activation(name: str) -> ValueError:
    return argument_error("module", f"activation = {' or '.join(ACTIVATIONS)}", name)


def check_theirs(attention: nn.MultiheadAttention) -> None:
    if attention.bias_k is not None:
        raise argument_error("module", "add_bias_kv = False", True)
    if attention.add_zero_attn:
        raise argument_error("module", "add_zero_attn = False", True)
    if attention.in_proj_weight is None:
        sizes = f"{attention.kdim} and {attention.vdim}"
        raise argument_error("module", f"kdim = vdim = embed_dim = {attention.embed_dim}", sizes)
    _check_names(attention, {"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"})


def check_ours(attention: MultiHeadAttention) -> None:
    if attention.n_kv_heads != attention.n_heads:
        expected = f"n_kv_heads = n_heads = {attention.n_heads} for PyTorch"
        raise argument_error("module", expected, attention.n_kv_heads)
    if attention.relative is not None:
        kind = type(attention.relative).__name__
        raise argument_error("module", "relative = None for PyTorch", kind)
    if type(attention.attention) is not ScaledDotProduct:
        kind = type(attention.attention).__name__
        raise argument_error("module", "attention a ScaledDotProduct for PyTorch", kind)
    for name in BEYOND_PYTORCH:
        if getattr(attention, name) is not None:
            raise argument_error("module", f"{name} = None for PyTorch", "one")
    for part in (attention.q_proj, attention.k_proj, attention.v_proj, attention.out_proj):
        check_part(part)


def check_part(part: nn.Module) -> None:
    if type(part) not in (nn.Linear, Linear, nn.LayerNorm):
        raise argument_error(
            "module", "linear layers nn.Linear and norms nn.LayerNorm", type(part).__name__
        )
    _check_names(part, {"weight", "bias"})


def _check_names(module: nn.Module, known: set[str]) -> None:
    """Refuse a module with unusual parameters or buffers: a pruned one, say, has a mask."""
    others = sorted(module.state_dict().keys() - known)
    if others:
        raise argument_error(
            "module", f"{type(module).__name__} of {sorted(known)}", f"{others} as well"
        )
