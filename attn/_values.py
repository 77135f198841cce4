"""What depends on the values in a tensor, which cannot or should not always be read."""

from collections.abc import Callable

import torch
from torch import Tensor

from attn._checks import wrong
from attn._switch import switch


def readable(free: bool = False) -> bool:
    """Return whether values may be read: not in a compiled graph, nor without checks.

    Parameters
    ----------
    free : bool, default False
        Whether a look costs next to nothing, as it does at a few values on the CPU, so that it
        is taken without checks as well.
    """
    return not torch.compiler.is_compiling() and (free or switch.on)


def holds(condition: Callable[[], Tensor], otherwise: bool, free: bool = False) -> bool:
    """Return whether a condition on values is True; `otherwise` where it is not to be read.

    Parameters
    ----------
    condition : callable, () -> Tensor of bool, shape ()
    otherwise : bool
        What stands for it where nothing is `readable`, and under ``torch.func.vmap`` and on
        the meta device, where there are no values.
    free : bool, default False
        As for `readable`.
    """
    if not readable(free):
        return otherwise
    try:
        return bool(condition())
    except RuntimeError:  # under vmap and on the meta device
        return otherwise


class Source:
    """The tensors that something was made of, to notice when others are given."""

    def __init__(self, *tensors: Tensor) -> None:
        self.tensors = tensors
        self.versions = [_version(tensor) for tensor in tensors]
        self.rows: Tensor | None = None

    def check(self, *given: Tensor) -> None:
        """Raise ``ValueError`` unless these are the tensors, or others of the same values."""
        for kept, version, tensor in zip(self.tensors, self.versions, given, strict=True):
            now = _version(kept)
            is_unchanged = now == version or None in (now, version)
            if tensor is kept and is_unchanged:
                continue
            expected = kept if self.rows is None else kept[self.rows]
            # One that was changed, maybe by way of another view of it, is nothing to compare with.
            if not is_unchanged or not _same(tensor, expected):
                wanted = "the memory that filled the cache: for another, take a new cache"
                raise wrong("memory", wanted, f"other values, shape {tuple(tensor.shape)}")

    def reorder(self, rows: Tensor) -> None:
        """Let row i become a copy of what row ``rows[i]`` was."""
        self.rows = rows if self.rows is None else self.rows[rows]


def _same(tensor: Tensor, expected: Tensor) -> bool:
    return tensor.shape == expected.shape and holds(
        lambda: (tensor == expected).all(), otherwise=True
    )


def _version(tensor: Tensor) -> int | None:
    """Return a number that changes with every change in place; None where there is none."""
    if torch.compiler.is_compiling() or tensor.is_inference():
        return None
    return tensor._version
