"""The two ways to compute attention in PyTorch, and the check on their result.

`explicit` follows the equation and keeps the weights; `fused` hands everything to PyTorch's
kernel, which never stores them. Both get arguments that have been checked.
"""

import math

import torch
from torch.nn import functional as F

from attn._checks import check_finite, wrong


def explicit(query, key, value, mask, bias, dropout):
    """Return (output, weights, scores) of attention, one step of the equation a line."""
    # Scaling the query is scaling the scores, of which there are more.
    scores = (query / math.sqrt(query.shape[-1])) @ key.mT
    if bias is not None:
        scores = scores + bias
    weights = _masked_softmax(scores, mask)
    return F.dropout(weights, dropout) @ value, weights, scores


def _masked_softmax(scores, mask):
    if mask is None:
        return scores.softmax(dim=-1)
    # A row of -inf only would be 0/0, and its gradient NaN. Such a row sees every key here
    # and loses all its weights afterwards.
    nothing = ~mask.any(dim=-1, keepdim=True)
    weights = (scores + _minus_infinity_where(~(mask | nothing), scores)).softmax(dim=-1)
    if _holds(nothing.any(), otherwise=True):
        weights = weights.masked_fill(nothing, 0.0)
    return weights


def _minus_infinity_where(hidden, like):
    # Adding it is faster than filling `like` itself, whose gradient would be filled as well.
    return torch.zeros(hidden.shape, dtype=like.dtype, device=like.device).masked_fill_(
        hidden, -math.inf
    )


def fused(query, key, value, mask, bias, dropout, is_causal, batch):
    """Return the output of attention. PyTorch fuses it only without dropout.

    `mask` and `is_causal` exclude each other, and so do `bias` and `is_causal`.
    """
    if bias is not None:
        mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    # PyTorch fuses only four-dimensional inputs of one batch shape: (outer, inner, length, d).
    outer, inner = (1, *batch)[:-1], (1, *batch)[-1]
    query, key, value = (
        t.expand(*outer, inner, *t.shape[-2:]).reshape(math.prod(outer), inner, *t.shape[-2:])
        for t in (query, key, value)
    )
    if mask is not None:
        mask = mask[(None,) * (len(batch) + 3 - mask.ndim)]
        # Expanding copies the mask once per sequence, so only where it differs between them.
        if any(size != 1 for size in mask.shape[:-3]):
            mask = mask.expand(*outer, *mask.shape[-3:])
        mask = mask.reshape(math.prod(mask.shape[:-3]), *mask.shape[-3:])
    output = F.scaled_dot_product_attention(
        query, key, value, mask, dropout_p=dropout, is_causal=is_causal
    )
    return output.reshape(*batch, *output.shape[-2:])


def refuse_non_finite(tensors, inputs):
    """Raise ``ValueError`` if a tensor is not finite, naming the input that brought it in."""
    if _all_finite([tensor.detach() for tensor in tensors]):
        return
    for name, tensor in inputs.items():
        check_finite(name, tensor.isfinite())
    dtype = inputs["query"].dtype
    raise wrong("query, key, value", f"products that fit in {dtype}", "an overflow")


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
