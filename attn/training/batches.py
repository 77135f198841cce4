"""Batches: which examples they hold, and padding."""

import numbers
import reprlib
import textwrap
from collections.abc import Callable, Iterator, Sequence
from types import EllipsisType
from typing import Any, NoReturn, TypeAlias

import numpy as np
import torch
from torch import Tensor

from attn._checks import argument_error

# The tensors that `collate` returns.
Batch: TypeAlias = dict[str, Tensor] | tuple[Tensor, ...]
Collate: TypeAlias = Callable[[list[Any]], Any]


def pad(sequences: Sequence[Sequence[int]], pad_id: int) -> tuple[Tensor, Tensor]:
    """Pad sequences of ids to the length of the longest.

    Returns
    -------
    ids : Tensor of int64, shape (batch_size, seq_len)
    lengths : Tensor of int64, shape (batch_size,)
        The lengths before padding, which `attn.masks.padding_mask` takes.

    Raises
    ------
    ValueError
        If there are no sequences, or they do not hold integers.

    Examples
    --------
    >>> pad([[5, 6, 7], [8]], pad_id=0)
    (tensor([[5, 6, 7],
            [8, 0, 0]]), tensor([3, 1]))
    """
    try:
        lengths = [len(sequence) for sequence in sequences]
        seq_len = max(lengths)
        rows = [[*sequence, *[pad_id] * (seq_len - len(sequence))] for sequence in sequences]
        ids = torch.tensor(rows)
        if ids.ndim != 2 or ids.numel() and (ids.is_floating_point() or ids.is_complex()):
            raise TypeError
        # PyTorch makes floats of empty lists.
        return ids.long(), torch.tensor(lengths)
    except (TypeError, ValueError, RuntimeError):
        got = reprlib.repr(sequences)
        raise argument_error(
            "sequences", "a list of lists of integers, at least one", got
        ) from None


def fault(name: str, expected: str, error: Exception) -> NoReturn:
    """Raise a ``ValueError`` that names a user's function, with `error` as its cause.

    Errors that no change of the function would correct are raised unchanged.
    """
    is_of_compiler = type(error).__module__.startswith(("torch._dynamo", "torch._inductor"))
    if is_of_compiler or isinstance(error, MemoryError | torch.OutOfMemoryError):
        raise error
    said = textwrap.shorten(f"{type(error).__name__}: {error}", 300, placeholder=" ...")
    raise argument_error(name, expected, said.removesuffix(":")) from error


def checked(collate: Collate) -> Collate:
    """Wrap `collate` so that a wrong batch raises ``ValueError``."""
    expected = "a function (list of examples) that returns a dict or tuple of tensors"

    def collate_checked(examples: list[Any]) -> Any:
        try:
            batch = collate(examples)
        except Exception as error:  # noqa: BLE001 - a user's function can raise anything
            fault("collate", expected, error)
        if not isinstance(batch, dict | tuple | list):
            raise argument_error("collate", expected, kind_of(batch))
        for part in batch.values() if isinstance(batch, dict) else batch:
            if not isinstance(part, Tensor) or part.layout != torch.strided or part.is_nested:
                got = f"a {type(batch).__name__} with {kind_of(part)} in it"
                raise argument_error("collate", expected, got)
        return batch

    return collate_checked


def kind_of(value: object) -> str:
    """Return a short description of a value."""
    if isinstance(value, Tensor):
        if value.is_nested:
            return "a nested tensor"
        dense = "" if value.layout == torch.strided else f"{value.layout} "
        return f"a {dense}tensor of {value.dtype} and shape {tuple(value.shape)}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, numbers.Number | str | dict | EllipsisType | None):
        return reprlib.repr(value)
    return f"a {type(value).__name__}"


class Batches:
    """The batches of a run. The batch of step n depends on the seed and on n alone.

    An epoch goes through all examples once. Each batch holds examples of similar `length`, so
    that it needs little padding; without a `length`, they are mixed. The sizes of the batches of an
    epoch are at most `batch_size` and differ by one at most. With `batch_tokens`, the approximate
    sum of the lengths in a batch, there is no such limit.
    """

    def __init__(
        self,
        examples: Sequence[Any],
        collate: Collate,
        length: Callable[[Any], int] | None,
        batch_size: int,
        seed: int,
        *,
        batch_tokens: int | None = None,
    ) -> None:
        self.examples, self.collate, self.seed = examples, collate, seed
        lengths = [0] * len(examples) if length is None else _lengths(examples, length)
        self.lengths, self._by_tokens = np.array(lengths), batch_tokens is not None
        self.n_batches = -(-len(examples) // batch_size)
        self.smallest = len(examples) // max(self.n_batches, 1)
        if batch_tokens is not None and len(examples):
            self.n_batches, self.smallest = self._share_tokens(batch_tokens, length is not None)
        # No epoch has been shuffled yet.
        self._epoch, self._order = -1, [[0]]

    def _share_tokens(self, batch_tokens: int, has_length: bool) -> tuple[int, int]:
        """Return the number of batches of about `batch_tokens`, and the size of the smallest."""
        if not has_length:
            raise argument_error("batch_tokens", "None without length", batch_tokens)
        longest, total = int(self.lengths.max()), int(self.lengths.sum())
        if batch_tokens < longest:
            raise argument_error(
                "batch_tokens", f"at least {longest}, the longest example", batch_tokens
            )
        n_batches = max(total // batch_tokens, 1)
        return n_batches, total // n_batches // max(longest, 1)

    def __getitem__(self, step: int) -> Any:
        return self.share(step, 0, 1)

    def __iter__(self) -> Iterator[Any]:
        return (self[step] for step in range(self.n_batches))

    def share(self, step: int, rank: int, n_processes: int) -> Any:
        """Return the share of process `rank` in the batch of `step`, which counts from 0."""
        epoch, index = divmod(step, self.n_batches)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, self._order_of(epoch)
        chosen = self._order[index][rank::n_processes]
        try:
            examples = [self.examples[i] for i in chosen]
        except Exception as error:  # noqa: BLE001 - a user's class can raise anything
            fault("examples", "a sequence, which gives examples[i]", error)
        return self.collate(examples)

    def _order_of(self, epoch: int) -> list[list[int]]:
        rng = np.random.default_rng((self.seed, epoch))
        # Sorting by lengths that are raised at random by up to a tenth puts examples of similar
        # length together, and forms other batches in each epoch.
        order = np.argsort((self.lengths + 1) * rng.uniform(1.0, 1.1, len(self.lengths)))
        if self._by_tokens:
            # The cuts are equally far apart in tokens. The distance is at least the longest
            # example, so no batch is empty.
            ends = self.lengths[order].cumsum()
            cuts = np.arange(1, self.n_batches) * ends[-1] // self.n_batches
            batches = np.split(order, np.searchsorted(ends, cuts, side="right"))
        else:
            batches = np.array_split(order, self.n_batches)
        return [batches[i].tolist() for i in rng.permutation(self.n_batches)]


def _lengths(examples: Sequence[Any], length: Callable[[Any], int]) -> list[int]:
    expected = "a function (example) that returns a number of at least 0"
    lengths: list[int] = []
    for example in examples:
        try:
            found = length(example)
        except Exception as error:  # noqa: BLE001 - a user's function can raise anything
            fault("length", expected, error)
        number = found.item() if isinstance(found, Tensor) and found.ndim == 0 else found
        if not isinstance(number, numbers.Real) or not 0 <= number < np.inf:
            raise argument_error("length", expected, kind_of(found))
        lengths.append(found)
    return lengths
