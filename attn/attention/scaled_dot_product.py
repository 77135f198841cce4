"""Scaled dot-product attention, the function on which everything else stands."""

import torch
from torch import Tensor

from attn._checks import (
    broadcast_shapes,
    check_attention,
    check_divides,
    check_fraction,
    check_size,
    wrong,
)
from attn._values import check_tensor
from attn.attention._kernels import autocasts, empty_rows, explicit, fused
from attn.attention._types import Attended
from attn.masks import causal_mask, combine_masks


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
) -> Attended:
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

    Returns
    -------
    output : Tensor, shape (..., tgt_len, d_v)
        One weighted mean of the values per query; zero for a fully masked row.
    weights : Tensor, shape (..., tgt_len, src_len), or None
        The shares of that mean; None unless `need_weights`.

    Raises
    ------
    ValueError
        If shapes or types do not fit, `mask` is not boolean, an input is not a floating-point
        tensor, or a NaN or infinity is in an input, the scores or the output. That last
        check has to read them; inside ``torch.compile`` and ``torch.func.vmap`` and on the
        meta device there is nothing to read, and it is skipped, as after
        ``attn.checks(False)``. Without weights the scores
        are never seen: one that overflows may count as masked. With weights, float16 scores
        may not exceed 65504; the fused kernel's are float32.

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
    if bias is not None:
        inputs["bias"] = bias
    for name, tensor in inputs.items():
        if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point():
            got = f"{type(tensor).__name__} of dtype {getattr(tensor, 'dtype', None)}"
            raise wrong(name, "a floating-point tensor", got)
    if not query.dtype == key.dtype == value.dtype:
        _refuse_dtypes(inputs)
    group = _group(query, key, value) if enable_gqa else 1
    batch = check_attention(query, key, value, mask, group)
    if mask is not None:
        check_tensor("mask", mask, "a tensor of bool")
    tgt_len, src_len = query.shape[-2], key.shape[-2]
    shape = (*batch, tgt_len, src_len)
    if bias is not None and broadcast_shapes(bias.shape, shape) != shape:
        raise wrong("bias", f"a shape that broadcasts to {shape}", tuple(bias.shape))
    check_fraction("dropout", dropout)

    # A single query stands at the last key: there is no future to hide.
    is_causal = is_causal and tgt_len > 1
    # PyTorch's own flag is faster than a mask, but stands for one only here.
    flag = is_causal and tgt_len == src_len and mask is None and bias is None
    may_be_empty = mask is not None or is_causal and tgt_len > src_len
    if is_causal and (need_weights or not flag):
        mask = combine_masks(mask, causal_mask(tgt_len, src_len, device=query.device))
        flag = False
    # A row that allows nothing sees every key, and loses what it sees afterwards.
    empty = empty_rows(mask) if mask is not None and may_be_empty else None
    if mask is not None and empty is not None:
        mask = mask | empty

    weights = None
    if need_weights:
        output, weights = explicit(query, key, value, mask, bias, dropout, group)
    else:
        output = fused(query, key, value, mask, bias, dropout, group, flag, batch)
    if empty is not None:
        output = output.masked_fill(empty, 0.0)
        weights = None if weights is None else weights.masked_fill(empty, 0.0)
    return output, weights


def _refuse_dtypes(inputs: dict[str, Tensor]) -> None:
    """Raise ``ValueError`` for keys or values of another type, unless autocast makes it one."""
    query = inputs["query"]
    if not autocasts(query.device):
        other = next(name for name in ("key", "value") if inputs[name].dtype != query.dtype)
        wanted = f"dtype {query.dtype} to match query"
        raise wrong(other, wanted, f"dtype {inputs[other].dtype}")


def _group(query: Tensor, key: Tensor, value: Tensor) -> int:
    """Return how many heads of queries share a head of keys and values."""
    for name, x in {"query": query, "key": key, "value": value}.items():
        if x.ndim < 3:
            raise wrong(name, "shape (..., n_heads, length, d_k) for enable_gqa", tuple(x.shape))
    n_kv_heads = check_size("n_kv_heads", key.shape[-3], least=1)
    check_divides("n_heads", query.shape[-3], "n_kv_heads", n_kv_heads)
    return query.shape[-3] // n_kv_heads
