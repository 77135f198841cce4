"""Argument checks, and the switch of those that read the values in a tensor, `attn.checks`.

Most checks serve NumPy and PyTorch alike: they read ``.shape`` and ``.dtype``, which the arrays of
both libraries have. The checks of tensors import PyTorch when they are called, since the lessons in
NumPy run without PyTorch. Every error has one pattern: the argument, what was expected, what came.
"""

import numbers
import operator
import reprlib
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Protocol, SupportsIndex, TypeGuard, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    Lengths = TypeVar("Lengths", NDArray[np.integer], Tensor)


# The most characters of a refused value that an error quotes.
MOST_QUOTED = 400
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60


class HasShape(Protocol):
    """An array of either library."""

    @property
    def shape(self) -> tuple[int, ...]: ...


def argument_error(name: str, expected: str, got: object) -> ValueError:
    """Return the ``ValueError`` for one bad argument; it quotes a long value only in part."""
    said = f"{got}"
    if len(said) > MOST_QUOTED:
        said = f"{said[:200]} ... {said[-100:]}"
    return ValueError(f"{name}: expected {expected}, got {said}")


def shown(value: object) -> str:
    """Return the `repr` of a value in a few words: of a long text, its beginning and its end."""
    text = _SHORT.repr(value)
    return text if len(text) <= 100 else f"{text[:60]}...{text[-30:]}"


def check_size(name: str, size: SupportsIndex, least: int = 0) -> int:
    """Return `size` as an int of at least `least`; otherwise raise ``ValueError``."""
    if not _is_int(size):
        try:
            if isinstance(size, bool) or _is_boolean(size):
                raise TypeError
            size = operator.index(size)
        except TypeError:
            raise argument_error(name, "an integer", repr(size)) from None
    if size < least:
        raise argument_error(name, f"at least {least}", size)
    return size


def _is_int(size: object) -> TypeGuard[int]:
    # A symbolic size stays a symbol, so that a compiled graph serves every size.
    is_int = isinstance(size, int) and not isinstance(size, bool)
    return is_int or type(size).__name__ == "SymInt"


def check_fraction(name: str, fraction: object) -> None:
    """Raise ``ValueError`` unless `fraction` is a number from 0 up to, but not including, 1."""
    if not _is_number(fraction) or fraction < 0 or not fraction < 1:
        raise argument_error(name, "a number in [0, 1)", repr(fraction))


def check_number(name: str, number: object, least: float = 0) -> float:
    """Return a number above 0 and of at least `least` as a float; else raise ``ValueError``."""
    # An integer may be too large for a float, so it is compared first.
    most = sys.float_info.max
    if not _is_number(number) or number <= 0 or number < least or not number <= most:
        wanted = f"a finite number of at least {least}" if least else "a number above 0"
        raise argument_error(name, wanted, reprlib.repr(number))
    return float(number)


def _is_number(number: object) -> TypeGuard[numbers.Real]:
    return isinstance(number, numbers.Real) and not isinstance(number, bool)


def check_choice(name: str, choice: str, choices: Collection[str]) -> None:
    """Raise ``ValueError`` unless `choice` is one of `choices`."""
    if not isinstance(choice, str) or choice not in choices:
        raise argument_error(name, " or ".join(map(repr, choices)), repr(choice))


def check_divides(name: str, size: int, divisor_name: str, divisor: int) -> None:
    """Raise ``ValueError`` unless `size` is a multiple of `divisor`."""
    if size % divisor:
        raise argument_error(name, f"a multiple of {divisor_name} = {divisor}", size)


def check_repeats(n_rows: int, n_sources: int) -> int:
    """Return how many rows of ids each source has; ``ValueError`` if they differ."""
    if n_rows % n_sources if n_sources else n_rows:
        raise argument_error("ids", f"a multiple of {n_sources} rows to match memory", n_rows)
    return n_rows // n_sources if n_sources else 1


def check_finite(name: str, is_finite: "NDArray[np.bool_] | Tensor") -> None:
    """Raise ``ValueError`` unless every element of `is_finite` is True.

    One NaN or infinity reaches every output that attends to it; an error here names the argument
    that has it.
    """
    if not is_finite.all():
        raise argument_error(name, "finite numbers", f"{int((~is_finite).sum())} NaN or infinite")


def check_shape(
    name: str,
    array: HasShape,
    expected: Sequence[int | str | EllipsisType],
    like: str | None = None,
) -> None:
    """Raise ``ValueError`` unless `array` has the `expected` shape.

    `expected` holds the size of each axis, or a name for an axis of any size. A leading ``...``
    allows any number of axes before these. `like` is the argument that these sizes come from.
    """
    sizes = expected[1:] if expected[0] is ... else expected
    shape = tuple(array.shape)
    last = shape[-len(sizes) :] if expected[0] is ... else shape
    fits = len(last) == len(sizes) and all(
        isinstance(wanted, str) or wanted == size for wanted, size in zip(sizes, last, strict=True)
    )
    if not fits:
        names = ", ".join("..." if size is ... else str(size) for size in expected)
        names += "," if len(expected) == 1 else ""
        source = f" to match {like}" if like else ""
        raise argument_error(name, f"shape ({names}){source}", shape)


def check_lengths(lengths: "Lengths", seq_len: int) -> None:
    """Raise ``ValueError`` unless every one of `lengths` is between 0 and `seq_len`."""
    outside = lengths[(lengths < 0) | (lengths > seq_len)]
    if len(outside):
        raise argument_error(
            "lengths", f"values between 0 and seq_len = {seq_len}", int(outside[0])
        )


def check_attention(
    query: HasShape, key: HasShape, value: HasShape, mask: object = None, group: int = 1
) -> tuple[int, ...]:
    """Return the batch shape of attention; raise ``ValueError`` if its arguments do not fit.

    They are `query`, shape (..., tgt_len, d_k), `key`, shape (..., src_len, d_k), `value`,
    shape (..., src_len, d_v), and perhaps `mask`, broadcastable to (..., tgt_len, src_len).
    On axis -3, `group` heads of `query` share each head of `key` and `value`. Lengths of zero
    are fine; ``d_k = 0`` is not, since the scores are divided by its root.
    """
    shapes = {"query": query.shape, "key": key.shape, "value": value.shape}
    axes = {"query": "tgt_len, d_k", "key": "src_len, d_k", "value": "src_len, d_v"}
    for name, shape in shapes.items():
        if len(shape) < 2:
            raise argument_error(name, f"shape (..., {axes[name]})", tuple(shape))

    tgt_len, d_k = query.shape[-2:]
    src_len = key.shape[-2]
    if d_k == 0:
        raise argument_error("query", "d_k of at least 1", f"shape {tuple(query.shape)}")
    if key.shape[-1] != d_k:
        raise argument_error("key", f"shape (..., src_len, {d_k}) to match query", tuple(key.shape))
    if value.shape[-2] != src_len:
        raise argument_error(
            "value", f"shape (..., {src_len}, d_v) to match key", tuple(value.shape)
        )

    batch = tuple(query.shape[:-2])
    for name, shape in shapes.items():
        own = tuple(shape[:-2])
        if group > 1 and name != "query":
            own = (*own[:-1], own[-1] * group)
        joined = broadcast_shapes(batch, own)
        if joined is None:
            raise argument_error(name, f"batch dimensions that broadcast with {batch}", own)
        batch = joined
    if mask is not None:
        check_mask("mask", mask, (*batch, tgt_len, src_len))
    return batch


def check_mask(name: str, mask: object, shape: tuple[int, ...] | None = None) -> None:
    """Raise ``ValueError`` unless `mask` is boolean and broadcasts to `shape`, if given.

    It may not *add* dimensions: a mask (batch_size, 1, seq_len, seq_len) beside inputs
    (batch_size, seq_len, d_k) would pair every sequence with the mask of every other.
    """
    if not _is_boolean(mask):
        dtype = getattr(mask, "dtype", type(mask).__name__)
        raise argument_error(name, "a boolean array (True = may attend)", f"dtype {dtype}")
    if shape is not None and broadcast_shapes(mask.shape, shape) != shape:
        raise argument_error(name, f"a shape that broadcasts to {shape}", tuple(mask.shape))


def _is_boolean(mask: object) -> TypeGuard[HasShape]:
    return str(getattr(mask, "dtype", None)).removeprefix("torch.") == "bool"


def broadcast_shapes(first: tuple[int, ...], *others: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the shape that shapes broadcast to, or None if they do not.

    NumPy and PyTorch have this function too, but a compiled PyTorch graph can follow only
    its own, and NumPy lessons have no PyTorch.
    """
    joined = tuple(first)
    for shape in others:
        if shape == joined:
            continue
        longer, shorter = (joined, shape) if len(joined) >= len(shape) else (shape, joined)
        n_more = len(longer) - len(shorter)
        pairs = [*zip(longer[n_more:], shorter, strict=True)]
        if any(a != b and a != 1 and b != 1 for a, b in pairs):
            return None
        joined = (*longer[:n_more], *(a if b == 1 else b for a, b in pairs))
    return joined


class _Switch(threading.local):
    # In every thread the checks are on at first.
    on = True


switch = _Switch()


class checks:
    """Switch the checks that read values on or off: for good, or in a ``with`` block.

    Shapes, dtypes and sizes are always checked, which costs next to nothing. Whether numbers
    are finite, ids in the vocabulary, lengths within range and a memory is the one that filled
    a cache has to be read from the tensors: on a GPU every such look waits for all that was
    asked of it before, and on a CPU a step of attention over 2,000 keys in a cache takes about
    a fifth longer. Without these checks a NaN goes through or counts as masked, a cache answers
    for the memory that filled it, and what PyTorch says of an id out of range names no
    argument. A query that may attend to nothing gets zeros all the same. Each thread has a
    switch of its own, as it has for gradients in PyTorch. `attn.training.train`, which checks
    its losses itself, switches the checks off.

    Parameters
    ----------
    on : bool

    Examples
    --------
    >>> import torch
    >>> from attn.attention import scaled_dot_product_attention
    >>> broken = torch.tensor([[float("nan")]])
    >>> with checks(False):
    ...     scaled_dot_product_attention(broken, broken, broken)[0]
    tensor([[nan]])
    >>> scaled_dot_product_attention(broken, broken, broken)
    Traceback (most recent call last):
    ValueError: query: expected finite numbers, got 1 NaN or infinite
    """

    def __init__(self, on: bool) -> None:
        if not isinstance(on, bool):
            raise argument_error("on", "True or False", repr(on))
        self._on, self._before = on, switch.on
        switch.on = on

    def __enter__(self) -> None:
        """Set the switch, which may have been set otherwise since."""
        switch.on = self._on

    def __exit__(self, *error: object) -> None:
        """Set the switch back to what it was."""
        switch.on = self._before


def readable(free: bool = False) -> bool:
    """Return whether values may be read: not in a compiled graph, nor without checks.

    A `free` look, at a few values on the CPU, costs next to nothing and is taken without checks.
    """
    import torch

    return not torch.compiler.is_compiling() and (free or switch.on)


def holds(condition: "Callable[[], Tensor | bool]", otherwise: bool, free: bool = False) -> bool:
    """Return whether a condition on values is True; `otherwise` where it is not to be read.

    That is where nothing is `readable`, and where there are no values: under ``torch.func.vmap``
    and on the meta device.
    """
    if not readable(free):
        return otherwise
    try:
        return bool(condition())
    except RuntimeError:
        # Under vmap and on the meta device there are no values to read.
        return otherwise


def check_tensor(name: str, x: object, wanted: str) -> None:
    """Raise ``ValueError`` for a list or an array of NumPy where a tensor is `wanted`."""
    import torch

    if not isinstance(x, torch.Tensor):
        raise argument_error(name, wanted, type(x).__name__)


def check_ids(name: str, ids: "Tensor", number: int) -> None:
    """Raise ``ValueError`` unless these are ids from 0 up to, but not including, `number`."""
    import torch

    if not isinstance(ids, torch.Tensor) or ids.dtype not in (torch.int64, torch.int32):
        got = getattr(ids, "dtype", type(ids).__name__)
        raise argument_error(name, "a tensor of int64 or int32", got)
    check_shape(name, ids, (..., "seq_len"))
    if holds(lambda: ((ids >= 0) & (ids < number)).all(), otherwise=True):
        return
    lowest, highest = ids.aminmax()
    wanted = f"values from 0 to {number - 1}"
    raise argument_error(name, wanted, int(lowest if lowest < 0 else highest))
