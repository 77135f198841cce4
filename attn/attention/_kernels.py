"""The two ways to compute attention in PyTorch, and the check on their result.

`explicit` follows the equation and keeps the weights; `fused` hands everything to PyTorch's
kernel, which never stores them. Both get arguments that have been checked.
"""

import math

import torch
from torch.nn import functional as F

from attn._checks import broadcast_shapes, check_finite, wrong


def explicit(query, key, value, mask, bias, dropout):
    """Return (output, weights) of attention, one step of the equation a line."""
    src_len, d_k = key.shape[-2:]
    # Scaling the query is scaling the scores: whichever are fewer numbers.
    if src_len < d_k:
        scores = query @ key.mT / math.sqrt(d_k)
    else:
        scores = (query / math.sqrt(d_k)) @ key.mT
    if bias is not None:
        scores = scores + bias
    refuse_non_finite((scores,), query, key, value, bias)
    weights = _masked_softmax(scores, mask)
    output = F.dropout(weights, dropout) @ value
    refuse_non_finite((output,), query, key, value, bias)
    return output, weights


def _masked_softmax(scores, mask):
    if mask is None:
        return scores.softmax(dim=-1)
    # A row of -inf only would be 0/0, and its gradient NaN. Such a row sees every key here
    # and loses all its weights afterwards.
    nothing = ~mask.any(dim=-1, keepdim=True)
    shape = broadcast_shapes(scores.shape, mask.shape)
    if shape != scores.shape:
        scores = scores.expand(shape).clone()
    # In place and unseen by autograd: where a weight is zero, so is the gradient of its score.
    scores.detach().masked_fill_(~(mask | nothing), -math.inf)
    weights = scores.softmax(dim=-1)
    if _holds(nothing.any(), otherwise=True):
        weights = weights.masked_fill(nothing, 0.0)
    return weights


def fused(query, key, value, mask, bias, dropout, is_causal, batch):
    """Return the output of attention. PyTorch fuses it only without dropout.

    `mask` and `is_causal` exclude each other, and so do `bias` and `is_causal`.
    """
    if bias is not None:
        mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    # PyTorch fuses only four-dimensional inputs of one batch shape: (outer, inner, length, d).
    outer, inner = batch[:-1], (1, *batch)[-1]
    folded = (
        t.expand(*batch, *t.shape[-2:]).reshape(math.prod(outer), inner, *t.shape[-2:])
        for t in (query, key, value)
    )
    if mask is not None:
        mask = mask[(None,) * (len(outer) + 3 - mask.ndim)]
        # Expanding copies the mask once per sequence, so only where it differs between them.
        if any(size != 1 for size in mask.shape[:-3]):
            mask = mask.expand(*outer, *mask.shape[-3:])
        mask = mask.reshape(math.prod(mask.shape[:-3]), *mask.shape[-3:])
    output = F.scaled_dot_product_attention(
        *folded, mask, dropout_p=dropout, is_causal=is_causal
    ).reshape(*batch, query.shape[-2], value.shape[-1])
    # The kernel may take a score of NaN for a masked one, and then the output does not show it.
    scored = (query, key) if bias is None else (query, key, bias)
    refuse_non_finite((*scored, output), query, key, value, bias)
    return output


def refuse_non_finite(tensors, query, key, value, bias):
    """Raise ``ValueError`` if a tensor is not finite, naming the input that brought it in."""
    if _all_finite([tensor.detach() for tensor in tensors]):
        return
    inputs = {"query": query, "key": key, "value": value, "bias": bias}
    for name, tensor in inputs.items():
        if tensor is not None:
            check_finite(name, tensor.isfinite())
    raise wrong("query, key, value", f"products that fit in {query.dtype}", "an overflow")


def _all_finite(tensors):
    # No NaN or infinity gets lost in a sum, which is ten times as fast as isfinite(). A sum
    # of finite numbers can overflow too; only then is each looked at.
    finite = _holds(sum(tensor.sum() for tensor in tensors).isfinite(), otherwise=True)
    return finite or all(_holds(tensor.isfinite().all(), otherwise=True) for tensor in tensors)


def _holds(condition, otherwise):
    """Return whether a one-element tensor is True; `otherwise` where it cannot be read."""
    if torch.compiler.is_compiling():
        return otherwise
    try:
        return bool(condition)
    except RuntimeError:  # under vmap and on the meta device there is no value
        return otherwise
