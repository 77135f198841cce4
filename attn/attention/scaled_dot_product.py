"""Scaled dot-product attention, the function on which everything else builds.

It has two ways to compute. `explicit` follows the equation and keeps the weights; `fused` hands
everything to PyTorch's kernel, which never stores them. Both get checked arguments, and a mask in
which each row allows at least one key. The softmax of a row that allows nothing is 0/0, for which
the kernels of PyTorch, and the programs that run an exported model, return different results.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import reduce
from operator import add
from typing import Self, TypeAlias, TypedDict, TypeVar, Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attn._checks import (
    argument_error,
    broadcast_shapes,
    check_attention,
    check_divides,
    check_finite,
    check_fraction,
    check_number,
    check_size,
    check_tensor,
    holds,
    readable,
)
from attn._registry import ModelConfig, Registry
from attn.masks import causal_mask, combine_masks

# The output, and the weights or None.
Attended: TypeAlias = tuple[Tensor, Tensor | None]


class Options(TypedDict, total=False):
    """The keyword-only arguments of `scaled_dot_product_attention`."""

    bias: Tensor | None
    is_causal: bool
    need_weights: bool
    dropout: float
    enable_gqa: bool
    sink: Tensor | None
    soft_cap: float | None


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    is_causal: bool = False,
    need_weights: bool = False,
    dropout: float = 0.0,
    enable_gqa: bool = False,
    sink: Tensor | None = None,
    soft_cap: float | None = None,
) -> Attended:
    """Average the values, each weighted by how well its key matches the query.

    Without weights, PyTorch's fused kernel runs and the (tgt_len, src_len) weights are
    never stored. It wants ``d_v == d_k``; on CPU, PyTorch computes other sizes unfused.

    Parameters
    ----------
    query : Tensor, shape (..., tgt_len, d_k)
    key : Tensor, shape (..., src_len, d_k)
    value : Tensor, shape (..., src_len, d_v)
    mask : Tensor of bool, broadcastable to (..., tgt_len, src_len), optional
        True where a query may attend to a key. None allows all.
    bias : Tensor, broadcastable to (..., tgt_len, src_len), optional
        Finite numbers added to the scores before the softmax, as `attn.positions` does. If
        they need a gradient, PyTorch computes all of it unfused.
    is_causal : bool, default False
        Also apply `attn.masks.causal_mask`: the last query stands at the last key.
        (PyTorch's own flag puts the *first* query at the first key.)
    need_weights : bool, default False
        Also return the weights, computed by the equation, step by step.
    dropout : float, default 0.0
        The probability with which each weight is set to zero, the others growing to keep
        the mean. The weights returned are those before it.
    enable_gqa : bool, default False
        Grouped queries: on axis -3, `query` may have a multiple of the heads of `key` and
        `value`, each of which serves as many neighbouring heads of queries.
    sink : Tensor, broadcastable to (..., tgt_len, 1), optional
        The score of one key more, which no mask hides and which has no value: the weights sum to
        less than one. Attention is then computed by the equation, unfused.
    soft_cap : float, optional
        No score exceeds it: s becomes ``soft_cap * tanh(s / soft_cap)``, before a bias is added.
        Unfused as well.

    Returns
    -------
    output : Tensor, shape (..., tgt_len, d_v)
        One weighted mean of the values per query; zero for a fully masked row.
    weights : Tensor, shape (..., tgt_len, src_len), or None
        The shares of that mean; None unless `need_weights`.

    Raises
    ------
    ValueError
        If a NaN or infinity is in an input, the scores or the output. This check has to read
        them; inside ``torch.compile`` and ``torch.func.vmap`` and on the meta device there is
        nothing to read, and it is skipped, as after ``attn.checks(False)``. Without weights the
        scores are never seen: one that overflows may count as masked. With weights, float16
        scores may not exceed 65504; the fused kernel's are float32.

    References
    ----------
    Vaswani et al. (2017), Eq. 1 and section 3.2.3. Dao et al. (2022), FlashAttention, for the
    fused kernel.

    Examples
    --------
    >>> query, key = torch.zeros(1, 2), torch.ones(2, 2)
    >>> value = torch.tensor([[10.0, 0.0], [20.0, 0.0]])
    >>> scaled_dot_product_attention(query, key, value)
    (tensor([[15.,  0.]]), None)
    >>> scaled_dot_product_attention(query, key, value, need_weights=True)[1]
    tensor([[0.5000, 0.5000]])
    """
    inputs = {"query": query, "key": key, "value": value}
    inputs |= {name: x for name, x in {"bias": bias, "sink": sink}.items() if x is not None}
    for name, tensor in inputs.items():
        if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point():
            got = f"{type(tensor).__name__} of dtype {getattr(tensor, 'dtype', None)}"
            raise argument_error(name, "a floating-point tensor", got)
    if not query.dtype == key.dtype == value.dtype:
        _refuse_dtypes(inputs)
    group = _group(query, key, value) if enable_gqa else 1
    batch = check_attention(query, key, value, mask, group)
    if mask is not None:
        check_tensor("mask", mask, "a tensor of bool")
    tgt_len, src_len = query.shape[-2], key.shape[-2]
    shape = (*batch, tgt_len, src_len)
    for name, added, fits in (("bias", bias, shape), ("sink", sink, (*shape[:-1], 1))):
        if added is not None and broadcast_shapes(added.shape, fits) != fits:
            raise argument_error(name, f"a shape that broadcasts to {fits}", tuple(added.shape))
    check_fraction("dropout", dropout)

    if soft_cap is not None:
        soft_cap = check_number("soft_cap", soft_cap)

    # A single query stands at the last key: there is no future to hide.
    is_causal = is_causal and tgt_len > 1
    # PyTorch's own flag is faster than a mask, but means the same only for equal lengths.
    is_explicit = need_weights or sink is not None or soft_cap is not None
    flag = is_causal and tgt_len == src_len and mask is None and bias is None
    may_be_empty = mask is not None or is_causal and tgt_len > src_len
    if is_causal and (is_explicit or not flag):
        mask = combine_masks(mask, causal_mask(tgt_len, src_len, device=query.device))
        flag = False
    # An empty row may see every key for now. Its output is set to zero at the end.
    empty = empty_rows(mask) if mask is not None and may_be_empty else None
    if mask is not None and empty is not None:
        mask = mask | empty

    weights = None
    if is_explicit:
        output, weights = explicit(query, key, value, mask, bias, dropout, group, sink, soft_cap)
    else:
        output = fused(query, key, value, mask, bias, dropout, group, flag, batch)
    if empty is not None:
        output = output.masked_fill(empty, 0.0)
        weights = None if weights is None else weights.masked_fill(empty, 0.0)
    return output, weights if need_weights else None


def _refuse_dtypes(inputs: dict[str, Tensor]) -> None:
    """Raise ``ValueError`` unless all inputs have the dtype of the queries, or autocast is on."""
    query = inputs["query"]
    if not autocasts(query.device):
        other = next(name for name in ("key", "value") if inputs[name].dtype != query.dtype)
        wanted = f"dtype {query.dtype} to match query"
        raise argument_error(other, wanted, f"dtype {inputs[other].dtype}")


def _group(query: Tensor, key: Tensor, value: Tensor) -> int:
    """Return how many heads of queries share a head of keys and values."""
    for name, x in {"query": query, "key": key, "value": value}.items():
        if x.ndim < 3:
            raise argument_error(
                name, "shape (..., n_heads, length, d_k) for enable_gqa", tuple(x.shape)
            )
    n_kv_heads = check_size("n_kv_heads", key.shape[-3], least=1)
    check_divides("n_heads", query.shape[-3], "n_kv_heads", n_kv_heads)
    return query.shape[-3] // n_kv_heads


class ScaledDotProduct(nn.Module):
    """`scaled_dot_product_attention` as a module: what `MultiHeadAttention` does in its heads.

    To change it, derive from it, override `forward` and `register` the class.
    ``TransformerConfig(attention=name)`` then builds one for the self-attention of each layer.
    For a type checker, `from_config` takes a `ModelConfig`, and `forward` an ``**options`` of
    ``Unpack[Options]``; it returns ``Attended``, the output and the weights or None.

    Examples
    --------
    Each token attends to itself and to the one before it. Nothing else is needed for a model
    that trains, decodes with a cache, and is saved and loaded as others are.

    >>> import torch
    >>> from attn.masks import combine_masks, window_mask
    >>> class Pairs(ScaledDotProduct):
    ...     def forward(self, query, key, value, mask=None, **options):
    ...         near = window_mask(query.shape[-2], 2, key.shape[-2], device=query.device)
    ...         return super().forward(query, key, value, combine_masks(mask, near), **options)
    >>> _, weights = Pairs()(*torch.zeros(3, 4, 8), need_weights=True)
    >>> weights[2]
    tensor([0.0000, 0.5000, 0.5000, 0.0000])
    """

    @classmethod
    def from_config(cls, config: ModelConfig) -> Self:
        """Return the module for a model of this `attn.transformer.TransformerConfig`."""
        return cls()

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        **options: Unpack[Options],
    ) -> Attended:
        """Return (output, weights) of queries, keys and values that are split into heads.

        `query` has the shape (..., n_heads, tgt_len, d_k), and `key` and `value`, which with a cache
        are those of all tokens so far, (..., n_kv_heads, src_len, d_k). All options of
        `scaled_dot_product_attention` are given, but for `sink` and `soft_cap` where there is none.
        """
        return scaled_dot_product_attention(query, key, value, mask, **options)


VARIANTS = Registry(ScaledDotProduct)
Variant = TypeVar("Variant", bound=ScaledDotProduct)


def register(name: str) -> Callable[[type[Variant]], type[Variant]]:
    """Return a decorator that enters a class under a name for ``TransformerConfig(attention=name)``.

    Checkpoints store the name, which has to be registered again before they are loaded. A name
    that another class has and a class that does not derive from `ScaledDotProduct` are refused.
    """
    return VARIANTS.register(name)


register("scaled_dot_product")(ScaledDotProduct)


def explicit(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    bias: Tensor | None,
    dropout: float,
    group: int,
    sink: Tensor | None = None,
    soft_cap: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Return (output, weights) of attention, one step of the equation a line.

    Every head of keys and values serves `group` neighbouring heads of queries.
    """
    if group > 1:
        key, value = (t.repeat_interleave(group, dim=-3) for t in (key, value))
    src_len, d_k = key.shape[-2:]
    # (QKᵀ)/c = (Q/c)Kᵀ: divide whichever has fewer numbers.
    if src_len < d_k:
        scores = query @ key.mT / math.sqrt(d_k)
    else:
        scores = (query / math.sqrt(d_k)) @ key.mT
    if soft_cap is not None:
        scores = soft_cap * (scores / soft_cap).tanh()
    if bias is not None:
        scores = scores + bias
    refuse_non_finite((scores,), query, key, value, bias)
    if sink is not None:
        # The sink is the score of an additional first key, whose weight is removed below.
        first = sink.to(scores.dtype).expand(*scores.shape[:-1], 1)
        scores = torch.cat((first, scores), dim=-1)
        if mask is not None:
            mask = mask.expand(*mask.shape[:-1], src_len)
            mask = torch.cat((torch.ones_like(mask[..., :1]), mask), dim=-1)
    # A bias of a more precise dtype than the queries makes the scores as precise.
    weights = _masked_softmax(scores, mask).to(value.dtype)
    weights = weights if sink is None else weights[..., 1:]
    output = F.dropout(weights, dropout) @ value
    refuse_non_finite((output,), query, key, value, bias)
    return output, weights


def _masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return scores.softmax(dim=-1)
    shape = broadcast_shapes(scores.shape, mask.shape)
    if shape is not None and shape != scores.shape:
        scores = scores.expand(shape).clone()
    # Clamping a score to minus infinity hides it, in a quarter of the time of masked_fill.
    bound = torch.where(mask, math.inf, -math.inf)
    try:
        # Autograd need not see this step: where a weight is zero, so is the gradient of its score.
        scores.detach().clamp_(max=bound)
    except RuntimeError:
        # Under vmap over the mask alone, all masks share one set of scores.
        scores = scores.clamp(max=bound)
    return scores.softmax(dim=-1)


def fused(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    bias: Tensor | None,
    dropout: float,
    group: int,
    is_causal: bool,
    batch: tuple[int, ...],
) -> Tensor:
    """Return the output of attention. PyTorch fuses it only without dropout.

    `mask` and `is_causal` exclude each other, and so do `bias` and `is_causal`. Every head of
    keys and values serves `group` neighbouring heads of queries.
    """
    dtype = query.dtype
    if bias is not None:
        # Some kernels of PyTorch read a bias of another dtype as if it had that of the queries.
        wider = torch.promote_types(dtype, bias.dtype)
        query, key, value, bias = (
            t if t.dtype == wider else t.to(wider) for t in (query, key, value, bias)
        )
        if not (bias.is_cpu or torch.compiler.is_compiling()) and bias.storage_offset() % 16:
            # Kernels of a GPU read a bias 16 bytes at a time, and PyTorch does not check its alignment.
            bias = bias.contiguous().clone()
        mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    # PyTorch fuses only four-dimensional inputs of one batch shape: (outer, inner, length, d).
    outer, inner = batch[:-1], (1, *batch)[-1]
    queries, keys, values = (
        t
        if len(batch) == 2 and t.shape[:-2] == (*outer, heads)
        else t.expand(*outer, *((heads,) if batch else ()), *t.shape[-2:]).reshape(
            math.prod(outer), heads, *t.shape[-2:]
        )
        for t, heads in ((query, inner), (key, inner // group), (value, inner // group))
    )
    if mask is not None:
        if missing := len(outer) + 3 - mask.ndim:
            mask = mask[(None,) * missing]
        if len(outer) != 1:
            # Expanding copies the mask for each sequence: do it only if they have different ones.
            if any(size != 1 for size in mask.shape[:-3]):
                mask = mask.expand(*outer, *mask.shape[-3:])
            mask = mask.reshape(math.prod(mask.shape[:-3]), *mask.shape[-3:])
    if group > 1 and query.shape[-2] == 1:
        # Heads that share keys can be the queries of one head, for which kernels are faster.
        queries = queries.reshape(*queries.shape[:1], inner // group, group, queries.shape[-1])
        if mask is not None and mask.shape[-3] > 1:
            mask = mask.reshape(len(mask), inner // group, group, mask.shape[-1])
        group = 1
    # Autocast would round a bias whose dtype is more precise than autocast's.
    is_kept = bias is not None and autocasts(query.device)
    with torch.autocast(query.device.type, enabled=False) if is_kept else nullcontext():
        output = F.scaled_dot_product_attention(
            queries,
            keys,
            values,
            mask,
            dropout_p=dropout,
            is_causal=is_causal,
            enable_gqa=group > 1,
        )
    output = output.reshape(*batch, query.shape[-2], value.shape[-1]).to(dtype)
    # A kernel may treat a score of NaN as masked, and then the output does not show the NaN.
    scored = (query, key) if bias is None else (query, key, bias)
    refuse_non_finite((*scored, output), query, key, value, bias)
    return output


def autocasts(device: torch.device) -> bool:
    """Return whether autocast chooses the dtypes of products on this device."""
    return device.type != "meta" and torch.is_autocast_enabled(device.type)


def refuse_non_finite(
    tensors: Sequence[Tensor], query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None
) -> None:
    """Raise ``ValueError`` if a tensor is not finite, naming the input that is not finite."""
    if not readable() or _all_finite([tensor.detach() for tensor in tensors]):
        return
    inputs = {"query": query, "key": key, "value": value, "bias": bias}
    for name, tensor in inputs.items():
        if tensor is not None:
            check_finite(name, tensor.isfinite())
    raise argument_error("query, key, value", f"products that fit in {query.dtype}", "an overflow")


def _all_finite(tensors: Sequence[Tensor]) -> bool:
    # A sum keeps every NaN and infinity, and is ten times as fast as isfinite(). Finite numbers
    # can overflow in a sum too, so a sum that is not finite needs a second check.
    if holds(lambda: math.isfinite(reduce(add, (t.sum() for t in tensors)).item()), otherwise=True):
        return True
    return all(holds(tensor.isfinite().all, otherwise=True) for tensor in tensors)


def empty_rows(mask: Tensor) -> Tensor | None:
    """Return which rows of a mask allow nothing, shape (..., tgt_len, 1); None if none does."""
    # Reading values is free on a CPU. On a GPU it would wait for all kernels that still run.
    if mask.is_cpu and holds(lambda: _has_no_empty_row(mask), otherwise=False, free=True):
        return None
    return ~mask.any(dim=-1, keepdim=True)


def _has_no_empty_row(mask: Tensor) -> bool | Tensor:
    # PyTorch finds the largest byte of a row fifty times as fast as any().
    return 0 not in mask.shape and mask.view(torch.uint8).amax(dim=-1).all()
