"""The two ways to compute attention in PyTorch, and the check on their result.

`explicit` follows the equation and keeps the weights; `fused` hands everything to PyTorch's
kernel, which never stores them. Both get arguments that have been checked, and a mask of which
each row allows something. Of a row that allows nothing the softmax is 0/0, and each kernel of
PyTorch, and each program that reads an exported model, makes of that what it likes.
"""

import math
from collections.abc import Sequence
from contextlib import nullcontext
from functools import reduce
from operator import add

import torch
from torch import Tensor
from torch.nn import functional as F

from attn._checks import broadcast_shapes, check_finite, wrong
from attn._values import holds, readable


def empty_rows(mask: Tensor) -> Tensor | None:
    """Return which rows of a mask allow nothing, shape (..., tgt_len, 1); None if none does."""
    # A look at the values is free on the CPU. On a GPU it would wait for all that is still running.
    if mask.is_cpu and holds(lambda: _has_no_empty_row(mask), otherwise=False, free=True):
        return None
    return ~mask.any(dim=-1, keepdim=True)


def _has_no_empty_row(mask: Tensor) -> bool | Tensor:
    # The largest byte of a row is found fifty times as fast as PyTorch finds any().
    return 0 not in mask.shape and mask.view(torch.uint8).amax(dim=-1).all()


def explicit(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    bias: Tensor | None,
    dropout: float,
    group: int,
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
    if bias is not None:
        scores = scores + bias
    refuse_non_finite((scores,), query, key, value, bias)
    # A bias may be more precise than the queries, and the scores are then so too.
    weights = _masked_softmax(scores, mask).to(value.dtype)
    output = F.dropout(weights, dropout) @ value
    refuse_non_finite((output,), query, key, value, bias)
    return output, weights


def _masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return scores.softmax(dim=-1)
    shape = broadcast_shapes(scores.shape, mask.shape)
    if shape is not None and shape != scores.shape:
        scores = scores.expand(shape).clone()
    # To bound a score by minus infinity hides it, in a quarter of the time that filling takes.
    bound = torch.where(mask, math.inf, -math.inf)
    try:
        # In place and unseen by autograd: where a weight is zero, so is its score's gradient.
        scores.detach().clamp_(max=bound)
    except RuntimeError:  # under vmap over the mask alone there is but one set of scores
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
        # PyTorch wants one type for all of them, and some kernels read others as if they were it.
        wider = torch.promote_types(dtype, bias.dtype)
        query, key, value, bias = (
            t if t.dtype == wider else t.to(wider) for t in (query, key, value, bias)
        )
        if not (bias.is_cpu or torch.compiler.is_compiling()) and bias.storage_offset() % 16:
            # Kernels of a GPU read a bias 16 bytes at a time, and PyTorch does not look where it begins.
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
            # Expanding copies the mask once per sequence, so only where it differs between them.
            if any(size != 1 for size in mask.shape[:-3]):
                mask = mask.expand(*outer, *mask.shape[-3:])
            mask = mask.reshape(math.prod(mask.shape[:-3]), *mask.shape[-3:])
    if group > 1 and query.shape[-2] == 1:
        # Heads that share keys are as many queries of one head: kernels for that are more and faster.
        queries = queries.reshape(*queries.shape[:1], inner // group, group, queries.shape[-1])
        if mask is not None and mask.shape[-3] > 1:
            mask = mask.reshape(len(mask), inner // group, group, mask.shape[-1])
        group = 1
    # Autocast would round a bias that is more precise than its own type.
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
    # The kernel may take a score of NaN for a masked one, and then the output does not show it.
    scored = (query, key) if bias is None else (query, key, bias)
    refuse_non_finite((*scored, output), query, key, value, bias)
    return output


def autocasts(device: torch.device) -> bool:
    """Return whether PyTorch chooses the types of products on this device by itself."""
    return device.type != "meta" and torch.is_autocast_enabled(device.type)


def refuse_non_finite(
    tensors: Sequence[Tensor], query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None
) -> None:
    """Raise ``ValueError`` if a tensor is not finite, naming the input that brought it in."""
    if not readable() or _all_finite([tensor.detach() for tensor in tensors]):
        return
    inputs = {"query": query, "key": key, "value": value, "bias": bias}
    for name, tensor in inputs.items():
        if tensor is not None:
            check_finite(name, tensor.isfinite())
    raise wrong("query, key, value", f"products that fit in {query.dtype}", "an overflow")


def _all_finite(tensors: Sequence[Tensor]) -> bool:
    # No NaN or infinity gets lost in a sum, which is ten times as fast as isfinite(). A sum
    # of finite numbers can overflow too; only then is each looked at.
    if holds(lambda: math.isfinite(reduce(add, (t.sum() for t in tensors)).item()), otherwise=True):
        return True
    return all(holds(tensor.isfinite().all, otherwise=True) for tensor in tensors)
