"""Attention in PyTorch: the function, fused or with its weights, and one head as a module.

The conventions are those of `attn.reference`: leading batch dimensions broadcast; a mask is
boolean, True = *may attend*; a query that may attend to nothing gets a zero output.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from attn._checks import check_attention, check_finite, check_size, wrong
from attn.masks import causal_mask, combine_masks


def scaled_dot_product_attention(
    query, key, value, mask=None, *, is_causal=False, need_weights=False
):
    """Average the values, each weighted by how well its key matches the query.

    Without weights, PyTorch's fused kernel runs and the (tgt_len, src_len) weights are
    never stored. It wants ``d_v == d_k``; on CPU, PyTorch computes other sizes unfused.

    Parameters
    ----------
    query : Tensor, shape (..., tgt_len, d_k)
        What each position looks for.
    key : Tensor, shape (..., src_len, d_k)
        What each position can be found by.
    value : Tensor, shape (..., src_len, d_v)
        What each position gives to those who attend to it.
    mask : Tensor of bool, broadcastable to (..., tgt_len, src_len), optional
        True where a query may attend to a key. None allows all.
    is_causal : bool, default False
        Also apply `attn.masks.causal_mask`: the last query stands at the last key.
        (PyTorch's own flag puts the *first* query at the first key.)
    need_weights : bool, default False
        Also return the weights, computed by the equation, step by step.

    Returns
    -------
    output : Tensor, shape (..., tgt_len, d_v)
        One weighted mean of the values per query; zero for a fully masked row.
    weights : Tensor, shape (..., tgt_len, src_len), or None
        The shares of that mean; None unless `need_weights`.

    Raises
    ------
    ValueError
        If shapes do not fit, `mask` is not boolean, an input is not a floating-point
        tensor, or a NaN or infinity reached the scores or the output. That last check has
        to read the result; inside ``torch.compile`` and ``torch.func.vmap`` and on the
        meta device there is none to read, and it is skipped. Without weights the scores
        are never seen: one that overflows to -inf counts as masked. With weights, float16
        scores may not exceed 65504; the fused kernel's are float32.

    References
    ----------
    Vaswani et al. (2017), Eq. 1 and section 3.2.3. Document 000, section 3.3.2. Dao et al.
    (2022), FlashAttention, for the fused kernel.

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
    for name, tensor in inputs.items():
        if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point():
            got = f"{type(tensor).__name__} of dtype {getattr(tensor, 'dtype', None)}"
            raise wrong(name, "a floating-point tensor", got)
    batch = check_attention(query, key, value, mask)

    tgt_len, src_len = query.shape[-2], key.shape[-2]
    if is_causal and (need_weights or mask is not None or tgt_len != src_len):
        mask = combine_masks(mask, causal_mask(tgt_len, src_len, device=query.device))
        is_causal = False

    if not need_weights:
        output = _fused(query, key, value, mask, is_causal, batch)
        _refuse_non_finite((output,), inputs)
        return output, None
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    weights = _masked_softmax(scores, mask)
    output = weights @ value
    _refuse_non_finite((scores, output), inputs)
    return output, weights


def _masked_softmax(scores, mask):
    if mask is None:
        return scores.softmax(dim=-1)
    # A row of -inf only would be 0/0, and its gradient NaN. Such a row sees every key here
    # and loses all its weights afterwards.
    nothing = ~mask.any(dim=-1, keepdim=True)
    weights = scores.masked_fill(~(mask | nothing), -math.inf).softmax(dim=-1)
    return weights.masked_fill(nothing, 0.0)


def _fused(query, key, value, mask, is_causal, batch):
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
    output = F.scaled_dot_product_attention(query, key, value, mask, is_causal=is_causal)
    return output.reshape(*batch, *output.shape[-2:])


def _refuse_non_finite(results, inputs):
    """Raise ``ValueError`` if a result is not finite, naming the input that brought it in."""
    if torch.compiler.is_compiling():
        return
    try:
        finite = all(_is_finite(result.detach()) for result in results)
    except RuntimeError:  # vmap and the meta device: there is no value to read
        return
    if finite:
        return
    for name, tensor in inputs.items():
        check_finite(name, tensor.isfinite())
    dtype = inputs["query"].dtype
    raise wrong("query, key, value", f"products that fit in {dtype}", "an overflow")


def _is_finite(tensor):
    # No NaN or infinity gets lost in a sum, which is ten times as fast as isfinite(). A sum
    # of finite numbers can overflow too; only then is each looked at.
    return bool(tensor.sum().isfinite()) or bool(tensor.isfinite().all())


class SelfAttention(nn.Module):
    """One head of self-attention: three learned projections, then attention.

    It is the module of document 002 for any batch, with masks, and with the weights only
    when they are asked for.

    Parameters
    ----------
    d_model : int
        Size of the token vectors.
    d_k : int, optional
        Size of queries and keys; `d_model` if not given. Scores are divided by its root.
    d_v : int, optional
        Size of values and so of the output; `d_k` if not given.
    bias : bool, default False
        Whether the projections add a learned bias.

    Raises
    ------
    ValueError
        If a size is not an integer of at least 1.

    References
    ----------
    Vaswani et al. (2017), sections 3.2.1 and 3.2.3. Document 002.

    Examples
    --------
    >>> attention = SelfAttention(d_model=8, d_k=4)
    >>> output, weights = attention(torch.ones(2, 5, 8), need_weights=True)
    >>> output.shape, weights.shape
    (torch.Size([2, 5, 4]), torch.Size([2, 5, 5]))
    """

    def __init__(self, d_model, d_k=None, d_v=None, bias=False):
        super().__init__()
        self.d_model = check_size("d_model", d_model, least=1)
        d_k = d_model if d_k is None else check_size("d_k", d_k, least=1)
        d_v = d_k if d_v is None else check_size("d_v", d_v, least=1)
        self.q_proj = nn.Linear(d_model, d_k, bias=bias)
        self.k_proj = nn.Linear(d_model, d_k, bias=bias)
        self.v_proj = nn.Linear(d_model, d_v, bias=bias)

    def forward(self, x, mask=None, *, is_causal=False, need_weights=False):
        """Let the positions of each sequence attend to each other.

        Parameters
        ----------
        x : Tensor, shape (..., seq_len, d_model)
            One vector per token.
        mask, is_causal, need_weights
            As in `scaled_dot_product_attention`, with both lengths ``seq_len``.

        Returns
        -------
        output : Tensor, shape (..., seq_len, d_v)
            The new vector of each token.
        weights : Tensor, shape (..., seq_len, seq_len), or None
            How much of it came from each token; None unless `need_weights`.

        Raises
        ------
        ValueError
            If `x` has another shape, and as `scaled_dot_product_attention` does.
        """
        if x.ndim < 2 or x.shape[-1] != self.d_model:
            raise wrong("x", f"shape (..., seq_len, {self.d_model})", tuple(x.shape))
        return scaled_dot_product_attention(
            self.q_proj(x),
            self.k_proj(x),
            self.v_proj(x),
            mask,
            is_causal=is_causal,
            need_weights=need_weights,
        )
