"""Attention by tiles as a Triton kernel: what FlashAttention does, in fifty lines.

Triton is a language for GPU kernels that is embedded in Python. Where PyTorch finds a GPU, the
kernel is compiled for it; elsewhere it runs in Triton's interpreter, one program after another,
with NumPy. Only this module needs Triton, which the course does not install: `make test-kernel`
puts it into ``build/triton`` (Linux, 1 GB), where ``PYTHONPATH`` finds it.
"""

import math
import os

import torch
from torch import Tensor

if not torch.cuda.is_available():
    # Triton reads the variable when it is imported and when a kernel is defined.
    os.environ.setdefault("TRITON_INTERPRET", "1")

import triton
from triton import language as tl

from attn._checks import argument_error


@triton.jit
def attention_kernel(
    query, key, value, output,
    tgt_len, src_len, scale,
    D_K: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, IS_CAUSAL: tl.constexpr,
):  # fmt: skip # A line each for tensors, sizes and constants.
    """Compute `ROWS` rows of the output of one head; each program computes other rows."""
    head, first = tl.program_id(1), tl.program_id(0) * ROWS
    row, place = first + tl.arange(0, ROWS), tl.arange(0, D_K)
    here = (head * tgt_len + row[:, None]) * D_K + place[None, :]
    queries = tl.load(query + here, mask=row[:, None] < tgt_len, other=0.0)

    peak = tl.full((ROWS,), float("-inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    mean = tl.zeros((ROWS, D_K), tl.float32)

    # Query i may attend to the keys up to i + ahead. No query of this tile attends to a key from
    # `stop` on.
    ahead = src_len - tgt_len
    stop = tl.minimum(src_len, first + ROWS + ahead) if IS_CAUSAL else src_len
    for start in range(0, stop, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        there = (head * src_len + column[:, None]) * D_K + place[None, :]
        keys = tl.load(key + there, mask=column[:, None] < src_len, other=0.0)
        values = tl.load(value + there, mask=column[:, None] < src_len, other=0.0)

        scores = tl.dot(queries, tl.trans(keys), input_precision="ieee") * scale
        seen = column[None, :] < src_len
        if IS_CAUSAL:
            seen = seen & (column[None, :] <= row[:, None] + ahead)
        scores = tl.where(seen, scores, float("-inf"))

        new_peak = tl.maximum(peak, tl.max(scores, axis=1))
        shrink = tl.exp2(peak - new_peak)
        weights = tl.exp2(scores - new_peak[:, None])
        total = total * shrink + tl.sum(weights, axis=1)
        weights = weights.to(values.dtype)
        mean = mean * shrink[:, None] + tl.dot(weights, values, input_precision="ieee")
        peak = new_peak

    tl.store(output + here, mean / total[:, None], mask=row[:, None] < tgt_len)


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    is_causal: bool = False,
    rows: int = 32,
    columns: int = 32,
) -> Tensor:
    """Compute scaled dot-product attention with `attention_kernel`.

    Parameters
    ----------
    query : Tensor of float32 or float16, shape (..., tgt_len, d_k)
    key, value : Tensor of the same dtype, shape (..., src_len, d_k)
        `d_k` is a power of two and at least 16, as tensor cores require.
    is_causal : bool, default False
        Whether a query attends to no key after its own position. The last query is aligned with the
        last key, as in `attn.attention.scaled_dot_product_attention`.
    rows, columns : int, default 32
        Size of a tile of scores, powers of two and at least 16.

    Returns
    -------
    Tensor, shape (..., tgt_len, d_k)

    Raises
    ------
    ValueError
        If a shape or size is invalid, or causal attention has more queries than keys.

    References
    ----------
    Dao (2023), FlashAttention-2, algorithm 1. Tillet, Kung and Cox (2019), Triton.

    Examples
    --------
    >>> x = torch.ones(2, 5, 16)
    >>> attention(x, x, x, is_causal=True).shape
    torch.Size([2, 5, 16])
    """
    *batch, tgt_len, d_k = query.shape
    src_len = key.shape[-2]
    dtype = torch.float16 if query.dtype == torch.float16 else torch.float32
    for name, tensor in {"query": query, "key": key, "value": value}.items():
        shape = (*batch, tgt_len if name == "query" else src_len, d_k)
        if tensor.shape != shape or tensor.dtype != dtype:
            named = str(dtype).removeprefix("torch.")
            wanted, got = f"{named} of shape {shape}", f"{tensor.dtype} of {tuple(tensor.shape)}"
            raise argument_error(name, wanted, got)
    for name, size in {"d_k": d_k, "rows": rows, "columns": columns}.items():
        if size < 16 or size & (size - 1):
            raise argument_error(name, "a power of two, at least 16", size)
    if not src_len or is_causal and tgt_len > src_len:
        raise argument_error("key", f"at least {max(tgt_len, 1)} keys", src_len)
    output = torch.empty_like(query, memory_format=torch.contiguous_format)
    # A GPU computes exp2 directly; the scale changes the base from e to 2.
    scale = math.log2(math.e) / math.sqrt(d_k)
    grid = (triton.cdiv(tgt_len, rows), math.prod(batch))
    if all(grid):
        attention_kernel[grid](
            query.contiguous(), key.contiguous(), value.contiguous(), output,
            tgt_len, src_len, scale, d_k, rows, columns, is_causal,
        )  # fmt: skip # A line each for tensors, sizes and constants.
    return output
