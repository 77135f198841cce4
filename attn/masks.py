"""Masks in PyTorch: who may attend to whom. True = *may attend*, as in `attn.reference`."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attn._checks import (
    argument_error,
    broadcast_shapes,
    check_lengths,
    check_mask,
    check_size,
    check_tensor,
    holds,
)


def causal_mask(
    tgt_len: int, src_len: int | None = None, *, device: torch.device | str | None = None
) -> Tensor:
    """Let each query attend to its own position and to those before it.

    The last query stands at the last key. So with more keys than queries (new tokens after
    a cache of old keys) query i has the absolute position ``src_len - tgt_len + i``; with
    fewer, the first queries stand before every key and see none.

    Parameters
    ----------
    tgt_len : int
    src_len : int, optional
        `tgt_len` if not given.
    device : torch.device or str, optional

    Returns
    -------
    Tensor of bool, shape (tgt_len, src_len)
        True where query i may attend to key j.

    References
    ----------
    Vaswani et al. (2017), section 3.2.3.

    Examples
    --------
    >>> causal_mask(2, 4).int()
    tensor([[1, 1, 1, 0],
            [1, 1, 1, 1]], dtype=torch.int32)
    """
    tgt_len = check_size("tgt_len", tgt_len)
    src_len = tgt_len if src_len is None else check_size("src_len", src_len)
    allowed = torch.ones(tgt_len, src_len, dtype=torch.bool, device=device)
    return allowed.tril(diagonal=src_len - tgt_len)


def window_mask(
    tgt_len: int,
    window: int,
    src_len: int | None = None,
    *,
    device: torch.device | str | None = None,
) -> Tensor:
    """Let each query attend to its own position and to the few just before it.

    A causal mask of limited reach: a query sees only the last `window` positions, its own included.
    As in `causal_mask`, the last query stands at the last key. For a window that looks both ways,
    take ``mask | mask.mT``.

    Parameters
    ----------
    tgt_len, src_len, device
        As in `causal_mask`.
    window : int
        How many positions each query may see, at least 1.

    Returns
    -------
    Tensor of bool, shape (tgt_len, src_len)

    References
    ----------
    Child et al. (2019), Generating long sequences with sparse Transformers. Beltagy et al.
    (2020), Longformer, section 3.1.

    Examples
    --------
    >>> window_mask(4, 2).int()
    tensor([[1, 0, 0, 0],
            [1, 1, 0, 0],
            [0, 1, 1, 0],
            [0, 0, 1, 1]], dtype=torch.int32)
    """
    tgt_len, window = check_size("tgt_len", tgt_len), check_size("window", window, least=1)
    src_len = tgt_len if src_len is None else check_size("src_len", src_len)
    # On this diagonal stands each query's own position.
    last = src_len - tgt_len
    allowed = torch.ones(tgt_len, src_len, dtype=torch.bool, device=device)
    return allowed.tril(diagonal=last).triu(diagonal=last - window + 1)


def padding_mask(lengths: Tensor | Sequence[int], seq_len: int) -> Tensor:
    """Hide the positions that pad short sequences to the common length.

    Parameters
    ----------
    lengths : Tensor or list of int, shape (...)
        The number of real tokens of each sequence, from 0 to `seq_len`. (The range is not
        checked inside ``torch.compile`` and ``torch.vmap``, nor after ``attn.checks(False)``.)
    seq_len : int
        The common length.

    Returns
    -------
    Tensor of bool, shape (..., 1, seq_len)
        True at real tokens, on the device of `lengths`. The axis of size 1 broadcasts over
        the queries.

    Examples
    --------
    >>> padding_mask([2, 3], 3).int()
    tensor([[[1, 1, 0]],
    <BLANKLINE>
            [[1, 1, 1]]], dtype=torch.int32)
    """
    seq_len = check_size("seq_len", seq_len)
    try:
        # A tensor is not converted: as_tensor would move it to PyTorch's default device.
        lengths = lengths if isinstance(lengths, torch.Tensor) else torch.as_tensor(lengths)
    except (TypeError, ValueError, RuntimeError):
        raise argument_error("lengths", "integers", lengths) from None
    if lengths.numel() and (lengths.is_floating_point() or lengths.dtype == torch.bool):
        raise argument_error("lengths", "integers", f"dtype {lengths.dtype}")
    # The comparison needs int64, because in uint8 a seq_len of 300 is 44.
    lengths = lengths.long()
    if not holds(lambda: ((lengths >= 0) & (lengths <= seq_len)).all(), otherwise=True):
        check_lengths(lengths, seq_len)
    return torch.arange(seq_len, device=lengths.device) < lengths[..., None, None]


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    """Allow what every mask allows.

    Parameters
    ----------
    *masks : Tensor of bool or None
        Masks of shapes that broadcast together. None allows everything.

    Returns
    -------
    Tensor of bool or None
        Their logical and, in the shape they broadcast to; None if all are None.

    References
    ----------
    Vaswani et al. (2017), section 3.2.3: the decoder may not look ahead, and in a batch it may
    not look at padding either.

    Examples
    --------
    >>> combine_masks(causal_mask(2), None, padding_mask([1], 2)).int()
    tensor([[[1, 0],
             [1, 0]]], dtype=torch.int32)
    """
    combined: Tensor | None = None
    for mask in masks:
        if mask is None:
            continue
        check_mask("masks", mask)
        check_tensor("masks", mask, "tensors of bool")
        if combined is None:
            combined = mask
        elif broadcast_shapes(combined.shape, mask.shape) is None:
            shape = tuple(combined.shape)
            raise argument_error(
                "masks", f"a shape that broadcasts with {shape}", tuple(mask.shape)
            )
        else:
            combined = combined & mask
    return combined
