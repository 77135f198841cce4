"""What depends on the values in a tensor, which cannot or should not always be read."""

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import torch
from torch import Tensor

from attn._checks import check_shape, wrong
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


def holds(condition: Callable[[], Tensor | bool], otherwise: bool, free: bool = False) -> bool:
    """Return whether a condition on values is True; `otherwise` where it is not to be read.

    Parameters
    ----------
    condition : callable, () -> bool, or Tensor of bool, shape ()
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


def check_tensor(name: str, x: object, wanted: str) -> None:
    """Raise ``ValueError`` for a list or an array of NumPy where a tensor is `wanted`."""
    if not isinstance(x, torch.Tensor):
        raise wrong(name, wanted, type(x).__name__)


def check_ids(name: str, ids: Tensor, number: int) -> None:
    """Raise ``ValueError`` unless these are ids from 0 up to, but not including, `number`."""
    if not isinstance(ids, torch.Tensor) or ids.dtype not in (torch.int64, torch.int32):
        got = getattr(ids, "dtype", type(ids).__name__)
        raise wrong(name, "a tensor of int64 or int32", got)
    check_shape(name, ids, (..., "seq_len"))
    if holds(lambda: ((ids >= 0) & (ids < number)).all(), otherwise=True):
        return
    lowest, highest = ids.aminmax()
    wanted = f"values from 0 to {number - 1}"
    raise wrong(name, wanted, int(lowest if lowest < 0 else highest))


def constant(numbers: Sequence[float], device: torch.device, dtype: torch.dtype) -> Tensor:
    """Return numbers as a tensor, made once for each GPU.

    To copy them there takes longer than to use them, and a CUDA graph cannot record it.
    """
    if device.type != "cuda" or torch.compiler.is_compiling():
        return torch.tensor(numbers, dtype=dtype, device=device)
    name = (*numbers, dtype, device)
    if name not in _constants:
        with torch.inference_mode(False):
            made = torch.tensor(numbers, dtype=dtype, device=device)
        if not keepable(made):
            return made
        _constants[name] = made
    return _constants[name]


def keepable(tensor: Tensor) -> bool:
    """Return whether this is a tensor for good, and none that stands for one in a trace or in
    ``torch.func``."""
    return type(tensor) is Tensor and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)


_constants: dict[tuple[object, ...], Tensor] = {}


class Source:
    """The tensors that something was made of, to notice when others are given.

    Parameters
    ----------
    *tensors : Tensor, shape (n, ..., length, d_model)
    repeats : int, default 1
        How many rows of what was made stand for each row of the tensors.
    """

    def __init__(self, *tensors: Tensor, repeats: int = 1) -> None:
        self.tensors, self.repeats = tensors, repeats
        self.versions = [_version(tensor) for tensor in tensors]
        # Of which row of the tensors each row was made; None until rows are moved.
        self.rows: Tensor | None = None

    def check(self, *given: Tensor) -> None:
        """Raise ``ValueError`` unless these are the tensors, or others of the same values.

        Where rows have been moved, their rows must stand in the new order.
        """
        for kept, version, tensor in zip(self.tensors, self.versions, given, strict=True):
            # One that was changed, maybe by way of another view of it, is nothing to compare with.
            if _is_changed(kept, version) or not self._is_same(tensor, kept):
                order = "" if self.rows is None else ", its rows reordered like those of the cache"
                wanted = f"the memory that filled the cache{order}: for another, take a new cache"
                raise wrong("memory", wanted, f"other values, shape {tuple(tensor.shape)}")

    def reordered(self, rows: Tensor) -> "Source":
        """Return the source of what has as row i a copy of row ``rows[i]``."""
        other = copy(self)
        other.rows = rows // self.repeats if self.rows is None else self.rows[rows]
        return other

    def _is_same(self, tensor: Tensor, kept: Tensor) -> bool:
        if self.rows is None or kept.ndim < 3:  # without an axis of rows
            return tensor is kept or _equal(tensor, kept)
        n_rows, n_given = len(self.rows), len(tensor)
        if n_given == 0 or n_rows % n_given:
            return n_rows == n_given
        rows = torch.arange(n_rows, device=self.rows.device) * n_given // max(n_rows, 1)
        if tensor is kept and (n_given == 1 or _equal(rows, self.rows)):
            return True
        return _equal(tensor[rows], chosen_rows(kept, self.rows).expand(n_rows, *kept.shape[1:]))

    def __getstate__(self) -> dict[str, Any]:
        # A copy of a tensor counts its changes anew.
        changed = map(_is_changed, self.tensors, self.versions)
        return vars(self) | {"versions": [*changed]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        now = map(_version, self.tensors)
        self.versions = [
            -1 if old else new for old, new in zip(state["versions"], now, strict=True)
        ]


def chosen_rows(x: Tensor, rows: Tensor) -> Tensor:
    """Return rows of a batch; a batch of one row, which stands for any number, as it is."""
    return x[rows] if len(x) > 1 else x


def _equal(x: Tensor, expected: Tensor) -> bool:
    return x.shape == expected.shape and holds(lambda: (x == expected).all(), otherwise=True)


def _is_changed(tensor: Tensor, version: int | None) -> bool:
    now = _version(tensor)
    return now != version and None not in (now, version)


def _version(tensor: Tensor) -> int | None:
    """Return a number that changes with every change in place; None where there is none."""
    if torch.compiler.is_compiling() or tensor.is_inference():
        return None
    return tensor._version
