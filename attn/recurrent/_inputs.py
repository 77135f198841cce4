"""What recurrent networks refuse to read."""

import torch
from torch import Tensor

from attn._checks import argument_error, check_ids, check_shape


def check_tokens(name: str, ids: Tensor, shape: tuple[int | str, str], vocab_size: int) -> None:
    """Raise ``ValueError`` unless these are ids of the vocabulary, at least one in a row."""
    check_ids(name, ids, vocab_size)
    check_shape(name, ids, shape)
    if ids.shape[1] == 0:
        raise argument_error(name, f"shape ({shape[0]}, {shape[1]})", tuple(ids.shape))


def check_lengths(lengths: Tensor, batch_size: int, src_len: int) -> None:
    """Raise ``ValueError`` unless each source has a length that it can have."""
    if not isinstance(lengths, torch.Tensor) or lengths.dtype != torch.int64:
        got = getattr(lengths, "dtype", type(lengths).__name__)
        raise argument_error("lengths", "a tensor of int64", got)
    check_shape("lengths", lengths, (batch_size,))
    if lengths.numel() and not 1 <= lengths.min() <= lengths.max() <= src_len:
        raise argument_error("lengths", f"from 1 to src_len = {src_len}", lengths.tolist())
