"""What attention takes and gives, for a type checker; shapes are in the docstrings."""

from typing import Protocol, TypeAlias, TypedDict

import torch
from torch import Tensor

# The output, and the weights if they were asked for.
Attended: TypeAlias = tuple[Tensor, Tensor | None]


class Options(TypedDict, total=False):
    """The arguments of `scaled_dot_product_attention` that have names only."""

    bias: Tensor | None
    is_causal: bool
    need_weights: bool
    dropout: float
    enable_gqa: bool


class Relative(Protocol):
    """What self-attention asks of its ``relative``: an `attn.positions.RelativePositions`."""

    def rotate(
        self, query: Tensor, key: Tensor, positions: int | Tensor = 0
    ) -> tuple[Tensor, Tensor]: ...

    def bias(
        self, query_positions: Tensor, key_positions: Tensor, dtype: torch.dtype
    ) -> Tensor | None: ...

    def bias_in_a_row(
        self, start: int, tgt_len: int, src_len: int, dtype: torch.dtype, device: torch.device
    ) -> Tensor | None: ...
