"""The KV cache: keys and values once computed are kept, so that decoding repeats no work.

When a decoder writes one token after another, the keys and values of the old tokens never
change. Without a cache, step n computes n of them again; with it, one.

===============  =======================================================================
`LayerCache`     what every cache of a self-attention can do
`KVCache`        of self-attention: it grows by the keys and values of every new token
`WindowCache`    of self-attention to a window: tokens behind the window are dropped
`MemoryCache`    of cross-attention: filled once, since the source does not change
`DecoderCache`   one of each for every layer
===============  =======================================================================
"""

from collections.abc import Iterable
from copy import copy
from types import TracebackType
from typing import Any

import torch
from torch import Tensor

from attn._checks import argument_error, check_shape, check_size, check_tensor, holds

__all__ = ["DecoderCache", "FixedCache", "KVCache", "LayerCache", "MemoryCache", "WindowCache"]


class LayerCache:
    """What the self-attention of one layer keeps of the tokens that it has seen.

    `KVCache` keeps keys and values. A cache that keeps something else derives from this class and
    defines its size in bytes, `truncate` and `reorder`. Its tensors are replaced and not written
    to, so that a step that fails can be undone.

    Attributes
    ----------
    length : int
        Number of tokens seen.
    positions : Tensor of int64, shape (batch_size, n), or None
        Where the last `n` of them stand; None if they stand at 0, 1, 2, ...
    nbytes : int
        Size of the tensors that a step reads, without the room behind them.
    """

    def __init__(self) -> None:
        self._length = 0
        self.positions: Tensor | None = None
        # True inside a `restored_on_error` block, which restores the cache if the step fails.
        self.in_step = False

    @property
    def length(self) -> int:
        """Number of tokens seen."""
        return self._length

    @property
    def visible(self) -> Tensor | None:
        """The mask of a step, shape (n_new, n_seen), if some slots that it reads are not filled."""
        return None

    @property
    def nbytes(self) -> int:
        """Size of what is kept, in bytes."""
        raise NotImplementedError

    def following(self, n_new: int) -> int | Tensor:
        """Return the positions of the next tokens: the first as an int, or, if `positions` are
        kept, a Tensor of shape (batch_size, n_new)."""
        return self._length if self.positions is None else _behind(self.positions, n_new)

    def truncate(self, length: int) -> None:
        """Forget all tokens but the first `length`; ``ValueError`` where that cannot be done."""
        raise NotImplementedError

    def reorder(self, rows: Tensor) -> None:
        """Let row i of the batch become a copy of what row ``rows[i]`` was."""
        raise NotImplementedError


class KVCache(LayerCache):
    """The keys and values that one self-attention has computed so far.

    Attributes
    ----------
    length : int
        Number of tokens kept.
    key, value : Tensor, shape (batch_size, n_kv_heads, length, d_k), or None
        What is kept; None while the cache is empty. Rotary keys are kept as they were turned.
    positions : Tensor of int64, shape (batch_size, length), or None
        Where the tokens stand; None if they stand at 0, 1, 2, ...

    References
    ----------
    Shazeer (2019), Fast Transformer Decoding, section 2.4: incremental inference.

    Examples
    --------
    >>> cache = KVCache()
    >>> key, value = cache.append(torch.ones(1, 4, 2, 8), torch.ones(1, 4, 2, 8))
    >>> key, value = cache.append(torch.zeros(1, 4, 1, 8), torch.zeros(1, 4, 1, 8))
    >>> key.shape, cache.length
    (torch.Size([1, 4, 3, 8]), 3)
    >>> cache.truncate(1)
    >>> cache.key.shape
    torch.Size([1, 4, 1, 8])
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: tuple[Tensor, Tensor] | None = None
        # True if the cache made its tensors itself, with room behind the tokens, and may write into
        # them. It may not write into the caller's tensors, nor into those that a gradient needs.
        self._has_room = False

    @property
    def key(self) -> Tensor | None:
        """The keys of the tokens kept, or None."""
        return None if self._kept is None else self._kept[0][..., self._filled, :]

    @property
    def value(self) -> Tensor | None:
        """The values of the tokens kept, or None."""
        return None if self._kept is None else self._kept[1][..., self._filled, :]

    @property
    def _filled(self) -> slice:
        """The slots that hold tokens."""
        return slice(self.length)

    @property
    def nbytes(self) -> int:
        """Size of the keys and values kept, in bytes."""
        return sum(kept.nbytes for kept in (self.key, self.value) if kept is not None)

    def append(
        self, key: Tensor, value: Tensor, positions: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Add the keys and values of new tokens, and return those of all tokens.

        They have the shape (batch_size, n_kv_heads, n_new, d_k), and dtype and device of those
        kept. `positions`, int64 of shape (batch_size, n_new), are the positions of the new tokens,
        if they do not simply follow those kept.
        """
        self._check(key, value)
        stop = self._length + key.shape[-2]
        places = self._places(key, positions)
        if self._kept is None:
            kept = key, value
        else:
            kept = self._extended(key, value, stop)
        self.positions = places
        self._kept, self._length = kept, stop
        return kept[0][..., :stop, :], kept[1][..., :stop, :]

    def truncate(self, length: int) -> None:
        """Forget all tokens but the first `length`, and the positions of the forgotten ones.

        The next tokens follow the first `length`, as if the others had never been read; 0 empties
        the cache.
        """
        length = check_kept(length, self.length)
        if length == 0:
            self._kept, self.positions, self._has_room = None, None, False
        elif self.positions is not None:
            self.positions = self.positions[..., :length]
        self._length = length

    def reorder(self, rows: Tensor) -> None:
        """Let row i of the batch become a copy of what row ``rows[i]`` was."""
        if self._kept is not None:
            key, value = self._kept
            if key.ndim < 4:
                raise argument_error(
                    "rows", "a cache of a batch", f"keys of shape {tuple(key.shape)}"
                )
            self._kept = key[rows], value[rows]
        if self.positions is not None:
            self.positions = self.positions[rows]

    def __getstate__(self) -> dict[str, Any]:
        # The copy gets tensors without room, or both caches would write into the same room.
        kept = None
        if self.key is not None and self.value is not None:
            kept = (self.key.clone(), self.value.clone()) if self._has_room else self._kept
        return vars(self) | {"_kept": kept, "_has_room": False}

    def _check(self, key: Tensor, value: Tensor) -> None:
        check_tensor("key", key, "a tensor")
        check_tensor("value", value, "a tensor")
        if key.ndim < 2 or key.shape[:-1] != value.shape[:-1]:
            check_shape("key", key, (..., "length", "d_k"))
            check_shape("value", value, (*key.shape[:-1], "d_v"), like="key")
        new = {"key": key, "value": value}
        for (name, tensor), kept in zip(new.items(), self._kept or (key, value), strict=True):
            shape, wanted = tensor.shape, kept.shape
            if shape[:-2] != wanted[:-2] or shape[-1] != wanted[-1]:
                fits = (*wanted[:-2], "length", wanted[-1])
                check_shape(name, tensor, fits, like="the cache")
            for aspect in ("dtype", "device"):
                got, as_kept = getattr(tensor, aspect), getattr(kept, aspect)
                if got != as_kept:
                    raise argument_error(name, f"{aspect} {as_kept} to match the cache", got)

    def _extended(self, key: Tensor, value: Tensor, stop: int) -> tuple[Tensor, Tensor]:
        """Return tensors of the old keys and values and then the new ones, and maybe room for more.

        With gradients enabled, or in a graph, the tensors are copied: a gradient may need the old
        ones.
        """
        assert self._kept is not None
        start, (keys, values) = self._length, self._kept
        if torch.is_grad_enabled() or torch.compiler.is_compiling():
            self._has_room = False
            return (
                torch.cat((keys[..., :start, :], key), dim=-2),
                torch.cat((values[..., :start, :], value), dim=-2),
            )
        # PyTorch refuses to write into a tensor of inference mode outside of that mode.
        if keys.is_inference() and not torch.is_inference_mode_enabled():
            self._has_room = False
        if not self._has_room or keys.shape[-2] < stop:
            self._has_room = True
            return _with_room(keys, start, key, stop // 2), _with_room(
                values, start, value, stop // 2
            )
        keys[..., start:stop, :] = key
        values[..., start:stop, :] = value
        return keys, values

    def _places(self, key: Tensor, new: Tensor | None) -> Tensor | None:
        """Return the positions of the tokens kept and the new ones; None if they are in a row."""
        n_new = key.shape[-2]
        if new is not None:
            check_tensor("positions", new, "a tensor of int64")
            check_shape("positions", new, (*key.shape[:-3], n_new), like="key")
        elif self.positions is not None:
            new = _behind(self.positions, n_new)
        if new is None or not n_new:
            return self.positions
        n_kept, kept = 0 if self.key is None else self.key.shape[-2], self.positions
        if kept is None:
            kept = torch.arange(self._length - n_kept, self._length, device=new.device)
            kept = kept.expand(*new.shape[:-1], -1)
        return torch.cat((kept[..., kept.shape[-1] - n_kept :], new), dim=-1)


class WindowCache(KVCache):
    """A `KVCache` for attention to a window: it drops the tokens to which none can attend any more.

    It keeps the keys and values of the last ``window - 1`` tokens, and `length` counts all.

    Parameters
    ----------
    window : int
        How many tokens each sees, itself among them.

    Examples
    --------
    >>> cache = WindowCache(3)
    >>> key, value = cache.append(torch.ones(1, 4, 5, 8), torch.ones(1, 4, 5, 8))
    >>> key.shape, cache.key.shape, cache.length
    (torch.Size([1, 4, 5, 8]), torch.Size([1, 4, 2, 8]), 5)
    """

    def __init__(self, window: int) -> None:
        super().__init__()
        self.window = check_size("window", window, least=1)

    def append(
        self, key: Tensor, value: Tensor, positions: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return what the new tokens may see, as `KVCache.append`, and drop what is too old."""
        self._check(key, value)
        places, n_new = self._places(key, positions), key.shape[-2]
        if self._kept is not None:
            key, value = (
                torch.cat(pair, dim=-2) for pair in zip(self._kept, (key, value), strict=True)
            )
        first = max(key.shape[-2] - self.window + 1, 0)
        self._kept = key[..., first:, :].clone(), value[..., first:, :].clone()
        self.positions, self._length = places, self._length + n_new
        return key, value

    def truncate(self, length: int) -> None:
        """Forget all tokens but the first `length`.

        Once tokens have left the window, only 0 or all are possible: the window would need those
        again.
        """
        length = check_kept(length, self.length)
        n_kept = 0 if self.key is None else self.key.shape[-2]
        if 0 < length < self.length and n_kept < self.length:
            wanted = f"0 or all {self.length} tokens, since others have left the window"
            raise argument_error("length", wanted, length)
        if 0 < length < self.length and self._kept is not None:
            self._kept = self._kept[0][..., :length, :], self._kept[1][..., :length, :]
        super().truncate(length)


def check_kept(length: int, kept: int) -> int:
    """Return how many of `kept` tokens are to stay, as an int; raise ``ValueError`` if more."""
    length = check_size("length", length)
    if length > kept:
        raise argument_error("length", f"at most the {kept} tokens kept", length)
    return length


def check_all_or_none(length: int, kept: int, reason: str) -> int:
    """Return how many of `kept` tokens are to stay, as an int; ``ValueError`` if only some."""
    length = check_kept(length, kept)
    if length not in (0, kept):
        raise argument_error("length", f"0 or {kept}, since {reason}", length)
    return length


def _behind(positions: Tensor, n_new: int) -> Tensor:
    return positions[..., -1:] + torch.arange(1, n_new + 1, device=positions.device)


def _with_room(kept: Tensor, length: int, new: Tensor, room: int) -> Tensor:
    """Return the first `length` of `kept`, `new` and uninitialised `room`, one after the other."""
    empty = new.new_empty(*new.shape[:-2], room, new.shape[-1])
    return torch.cat((kept[..., :length, :], new, empty), dim=-2)


class MemoryCache:
    """The keys and values of the source of a cross-attention, computed once.

    Attributes
    ----------
    key, value : Tensor, shape (batch_size, n_kv_heads, src_len, d_k), or None
        What is kept; None while the cache is empty.

    Examples
    --------
    >>> from attn.attention import MultiHeadAttention
    >>> attention, cache = MultiHeadAttention(8, 2), MemoryCache()
    >>> x, memory = torch.ones(1, 3, 8), torch.ones(1, 5, 8)
    >>> output, _ = attention(x[:, :1], memory, cache=cache)
    >>> output, _ = attention(x[:, 1:], cache=cache)
    >>> cache.length
    5
    """

    def __init__(self) -> None:
        self._kept: tuple[Tensor, Tensor] | None = None
        self._source = CacheOrigin()
        self.in_step = False

    @property
    def key(self) -> Tensor | None:
        """The keys of the source, or None."""
        return None if self._kept is None else self._kept[0]

    @property
    def value(self) -> Tensor | None:
        """The values of the source, or None."""
        return None if self._kept is None else self._kept[1]

    @property
    def length(self) -> int:
        """Number of source positions kept."""
        return 0 if self.key is None else self.key.shape[-2]

    def store(self, key: Tensor, value: Tensor, *source: Tensor) -> None:
        """Keep keys and values, and remember from which tensors they were computed."""
        self._kept, self._source = (key, value), CacheOrigin(*source)

    def check(self, *source: Tensor) -> None:
        """Raise ``ValueError`` if the keys were not computed from these tensors."""
        self._source.check(*source)

    def reorder(self, rows: Tensor) -> None:
        """Let row i of the batch become a copy of what row ``rows[i]`` was."""
        if self._kept is not None:
            # A tensor without a batch axis, or with a batch of 1, is shared by every row.
            key, value = (chosen_rows(x, rows) if x.ndim > 3 else x for x in self._kept)
            self._kept, self._source = (key, value), self._source.reordered(rows)


class DecoderCache:
    """One `KVCache` for the self-attention of each layer, one `MemoryCache` for its cross-attention.

    It is what `attn.decoding` passes from step to step. For layers that mix tokens in another way,
    ``new_cache`` puts another `LayerCache` in place of the `KVCache`.

    Parameters
    ----------
    n_layers : int

    Examples
    --------
    >>> cache = DecoderCache(n_layers=6)
    >>> len(cache.self_attention), len(cache.cross_attention), cache.length
    (6, 6, 0)
    """

    def __init__(self, n_layers: int) -> None:
        n_layers = check_size("n_layers", n_layers, least=1)
        self.self_attention: list[LayerCache] = [KVCache() for _ in range(n_layers)]
        self.cross_attention = [MemoryCache() for _ in range(n_layers)]
        self._source: CacheOrigin | None = None
        # Ids of the tokens kept, shape (..., length). If the last axis has another length, tokens
        # were read without their ids, and the ids are unknown.
        self._ids: Tensor | None = None

    @property
    def parts(self) -> list[LayerCache | MemoryCache]:
        """The caches of all layers."""
        return [*self.self_attention, *self.cross_attention]

    @property
    def length(self) -> int:
        """Number of target positions that every layer has seen."""
        return self.self_attention[0].length

    @property
    def nbytes(self) -> int:
        """Size of what the self-attention of all layers keeps, in bytes."""
        return sum(cache.nbytes for cache in self.self_attention)

    def following(self, n_new: int) -> int | Tensor:
        """Return the positions behind those kept, as `KVCache.following` does."""
        return self.self_attention[0].following(n_new)

    def truncate(self, length: int) -> None:
        """Forget all target tokens but the first `length`, as `KVCache.truncate` does.

        The source is kept.
        """
        length = check_kept(length, min(cache.length for cache in self.self_attention))
        with restored_on_error(self):
            for cache in self.self_attention:
                cache.truncate(length)
        if self._ids is not None:
            self._ids = self._ids[..., :length]

    def check_ids(self, ids: Tensor) -> None:
        """Raise ``ValueError`` if the cache was not filled with the tokens at the beginning of
        `ids`.

        The cache knows its tokens if `DecoderOnly` or `Transformer` read them all, outside of
        ``torch.compile``. On a GPU the check reads values, so it is left out after
        ``attn.checks(False)``. `ids`, shape (n_rows, n), has at least `length` columns.
        """
        kept = self._ids
        if kept is None or kept.shape[-1] != self.length or torch.compiler.is_compiling():
            return
        if kept.shape[:-1] != ids.shape[:-1]:
            raise argument_error(
                "ids",
                f"rows of shape {tuple(kept.shape[:-1])}, as the cache has",
                tuple(ids.shape[:-1]),
            )
        begin = ids[..., : self.length]
        if not holds(lambda: (begin == kept).all(), otherwise=True, free=ids.is_cpu):
            place = int((begin != kept).flatten(0, -2).any(dim=0).nonzero()[0])
            wanted = "the tokens that filled the cache and then new ones: truncate it, or take a new cache"
            raise argument_error("ids", wanted, f"others from place {place} on")

    def keep_ids(self, ids: Tensor) -> None:
        """Record the ids of the tokens that were added last, shape (..., n_new)."""
        if torch.compiler.is_compiling():
            return
        before = self.length - ids.shape[-1]
        if before and self._ids is not None and self._ids.shape[-1] == before:
            self._ids = torch.cat((self._ids, ids), dim=-1)
        else:
            self._ids = None if before else ids.clone()

    def knows(self, memory: Tensor) -> bool:
        """Return whether the keys kept are of this memory; ``ValueError`` if of another one."""
        if self._source is not None:
            self._source.check(memory)
        return self._source is not None

    def remember(self, memory: Tensor, repeats: int = 1) -> None:
        """Record that the keys kept are of this memory, each row of which serves `repeats` rows."""
        self._source = CacheOrigin(memory, repeats=repeats)

    def reorder(self, rows: Tensor) -> None:
        """Let row i of the batch become a copy of what row ``rows[i]`` was.

        Beam search repeats, moves and drops rows with it: `rows`, int64, has any length.
        """
        for cache in self.parts:
            cache.reorder(rows)
        if self._ids is not None:
            self._ids = self._ids[rows]
        if self._source is not None:
            self._source = self._source.reordered(rows)


def check_cache(cache: object) -> None:
    """Raise ``ValueError`` unless this is the cache of a whole model."""
    if not isinstance(cache, DecoderCache):
        raise argument_error(
            "cache", "a DecoderCache, as new_cache returns it", type(cache).__name__
        )


class FixedCache(DecoderCache):
    """A `DecoderCache` whose tensors never change their place or size, for steps that are recorded.

    A step attends to the whole room and masks the slots that are not filled yet. So every step does
    the same work on the same memory, which is what a CUDA graph repeats, and ``torch.compile``
    makes one graph of all steps. `attn.transformer.DecoderOnly.new_cache` makes one.

    Parameters
    ----------
    modules : iterable of Module
        The self-attention of each layer. Its ``new_fixed_cache`` is called with a `Place` and returns
        a `LayerCache` that has what `FixedKVCache` has.
    room, n_rows : int
        For how many tokens there is room in each row, and the number of rows.
    dtype : torch.dtype
    device : torch.device

    Examples
    --------
    >>> import torch
    >>> from attn.attention import MultiHeadAttention
    >>> modules = [MultiHeadAttention(32, 4), MultiHeadAttention(32, 4, window=6)]
    >>> cache = FixedCache(modules, 100, 1, torch.float32, torch.device("cpu"))
    >>> cache.room, cache.length
    (100, 0)
    """

    def __init__(
        self,
        modules: Iterable[Any],
        room: int,
        n_rows: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        self.room, self.device = check_size("room", room, least=1), device
        self._place = Place(self.room, check_size("n_rows", n_rows), dtype, device)
        caches = [module.new_fixed_cache(self._place) for module in modules]
        super().__init__(len(caches))
        self.self_attention: list[Any] = caches

    def slots(self, n_new: int) -> Tensor:
        """Return where the next tokens go, shape (n_new,); ``ValueError`` if there is no room."""
        length = self.length
        if length + n_new > self.room:
            wanted = f"at most the {self.room} tokens that the cache has room for"
            raise argument_error("ids", wanted, length + n_new)
        return torch.arange(length, length + n_new, device=self.device)

    def place(self, slots: Tensor) -> None:
        """Let the next step write at these slots."""
        self._place.slots = slots
        self._place.visible = torch.arange(self.room, device=slots.device) <= slots[:, None]

    def settle(self) -> None:
        """Write the tensors that the step replaces, at its end, where no error can follow."""
        for cache in self.self_attention:
            for kept, new in zip(cache.replaced, cache.next, strict=True):
                kept.copy_(new.detach())
            cache.next = []

    def copied(self) -> list[Tensor]:
        """Return copies of the tensors that a step replaces, for `restore`."""
        return [kept.clone() for cache in self.self_attention for kept in cache.replaced]

    def restore(self, copied: Iterable[Tensor]) -> None:
        """Write what `copied` returned back into the tensors that a step replaces."""
        kept = (kept for cache in self.self_attention for kept in cache.replaced)
        for tensor, before in zip(kept, copied, strict=True):
            tensor.copy_(before)

    def forget_failed(self) -> None:
        """Empty the slots that a failed step may have filled: a NaN in them would spoil the next step."""
        for cache in self.self_attention:
            for room in () if cache.replaced else cache._kept:
                room[..., self.length :, :] = 0

    def advance(self, n_new: int) -> None:
        """Record that a step has filled `n_new` more slots."""
        self._place.length += n_new

    def truncate(self, length: int) -> None:
        """Forget all tokens but the first `length`; windows and states, all of them or none."""
        super().truncate(length)
        self._place.length = int(length)


def check_no_mask(mask: Tensor | None) -> None:
    """Refuse a mask beside a cache of fixed room, which has its own."""
    if mask is not None:
        raise argument_error("mask", "None, since the room of the cache is fixed", "a tensor")


class Place:
    """The slots, sizes, dtype and device that the layers of a `FixedCache` share."""

    def __init__(self, room: int, n_rows: int, dtype: torch.dtype, device: torch.device) -> None:
        self.room, self.n_rows, self.dtype, self.device = room, n_rows, dtype, device
        self.length = 0
        self.slots: Tensor | None = None
        self.visible: Tensor | None = None

    def zeros(self, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
        """Return zeros of shape (n_rows, *shape), which may be written to in every mode.

        A tensor made in inference mode can only be written to in that mode. Slots that are not
        filled get a weight of zero, but zero times NaN would be NaN, so they hold zeros.
        """
        with torch.inference_mode(False):
            return torch.zeros(self.n_rows, *shape, dtype=dtype or self.dtype, device=self.device)

    def reorder(self, tensors: Iterable[Tensor], rows: Tensor) -> None:
        """Let row i of each tensor become a copy of what its row ``rows[i]`` was."""
        if len(rows) != self.n_rows:
            wanted = f"{self.n_rows} rows, since the room of the cache is fixed"
            raise argument_error("rows", wanted, len(rows))
        for kept in tensors:
            kept.copy_(kept[rows])


class FixedKVCache(KVCache):
    """The keys and values of one layer of a `FixedCache`.

    Parameters
    ----------
    place : Place
    n_kv_heads : int
    d_k, d_v : int
    n_kept : int, optional
        The number of slots; as many as the room if not given.

    Attributes
    ----------
    replaced, next : list of Tensor
        What a step replaces at its end, and by what. The slots that it fills are not among it; if the
        step fails, `FixedCache.forget_failed` empties them.
    """

    def __init__(
        self, place: Place, n_kv_heads: int, d_k: int, d_v: int, n_kept: int | None = None
    ) -> None:
        super().__init__()
        self._place = place
        self.replaced: list[Tensor] = []
        self.next: list[Tensor] = []
        n_kept = place.room if n_kept is None else n_kept
        self._kept = place.zeros(n_kv_heads, n_kept, d_k), place.zeros(n_kv_heads, n_kept, d_v)

    @property
    def length(self) -> int:
        """Number of tokens kept."""
        return self._place.length

    @property
    def visible(self) -> Tensor | None:
        """The mask of a step, shape (n_new, n_seen): not all that it is handed is filled."""
        return self._place.visible

    def append(
        self, key: Tensor, value: Tensor, positions: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Write the new keys and values into their slots, and return all the room."""
        self._check(key, value)
        assert self._kept is not None and self._place.slots is not None
        if positions is not None:
            raise argument_error(
                "positions", "None, since the room of the cache is fixed", "a tensor"
            )
        return self._written(self._kept, (key, value), self._place.slots)

    def _written(
        self, kept: tuple[Tensor, Tensor], new: tuple[Tensor, Tensor], slots: Tensor
    ) -> tuple[Tensor, Tensor]:
        for room, x in zip(kept, new, strict=True):
            room.index_copy_(-2, slots, x.detach())
        return kept

    def truncate(self, length: int) -> None:
        """Do nothing: the first `length` tokens stay in their slots."""

    def following(self, n_new: int) -> Tensor:
        """Return the slots of the tokens of this step."""
        assert self._place.slots is not None
        return self._place.slots

    def reorder(self, rows: Tensor) -> None:
        """Let row i of the batch become a copy of what row ``rows[i]`` was."""
        assert self._kept is not None
        self._place.reorder(self._kept, rows)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self)


class FixedWindowCache(FixedKVCache):
    """The keys and values of one layer of a `FixedCache` whose tokens see a window.

    The last ``window - 1`` tokens lie in order at the end of the room, which moves with every step.

    Parameters
    ----------
    place, n_kv_heads, d_k, d_v
        As in `FixedKVCache`.
    window : int
        As in `WindowCache`.
    """

    def __init__(self, place: Place, n_kv_heads: int, d_k: int, d_v: int, window: int) -> None:
        super().__init__(place, n_kv_heads, d_k, d_v, window - 1)
        self.window, self.replaced = window, [*(self._kept or ())]

    @property
    def _filled(self) -> slice:
        return slice(max(self.window - 1 - self.length, 0), None)

    @property
    def visible(self) -> Tensor | None:
        """The mask of a step, shape (n_new, n_seen): not all that it is handed is filled."""
        slots = self._place.slots
        assert slots is not None
        n_kept = self.window - 1
        newer = torch.arange(n_kept + len(slots), device=slots.device)
        age = newer[n_kept:, None] - newer
        return (age >= 0) & (age < self.window) & (age <= slots[:, None])

    def _written(
        self, kept: tuple[Tensor, Tensor], new: tuple[Tensor, Tensor], slots: Tensor
    ) -> tuple[Tensor, Tensor]:
        key, value = (torch.cat(pair, dim=-2) for pair in zip(kept, new, strict=True))
        self.next = [key[..., len(slots) :, :], value[..., len(slots) :, :]]
        return key, value

    def truncate(self, length: int) -> None:
        """Forget all tokens, or none: earlier ones may have left the window."""
        check_all_or_none(length, self.length, "the room of a window is fixed")


class restored_on_error:
    """Restore the attributes of one or several caches if the ``with`` block raises.

    Without this, the layers before the one that refused a step would have kept its tokens, and
    every later step would silently be wrong. A model, its stacks, layers and attentions can each be
    called by themselves, so each opens such a block; in one step only the outermost block restores.
    """

    def __init__(self, cache: object) -> None:
        self._before: list[tuple[LayerCache | MemoryCache, dict[str, Any]]] = []
        if cache is None:
            return
        parts = cache if isinstance(cache, tuple) else getattr(cache, "parts", (cache,))
        caches = [part for part in parts if isinstance(part, LayerCache | MemoryCache)]
        if caches and not caches[0].in_step:
            self._before = [(part, vars(part).copy()) for part in caches]

    def __enter__(self) -> None:
        for cache, _ in self._before:
            cache.in_step = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for cache, old in self._before:
            if kind is not None:
                vars(cache).update(old)
            cache.in_step = False


class CacheOrigin:
    """The tensors from which keys and values were computed, to detect that others are given.

    Parameters
    ----------
    *tensors : Tensor, shape (n, ..., length, d_model)
    repeats : int, default 1
        How many rows of the cache each row of the tensors serves.
    """

    def __init__(self, *tensors: Tensor, repeats: int = 1) -> None:
        self.tensors, self.repeats = tensors, repeats
        self.versions = [_version(tensor) for tensor in tensors]
        # rows[i] is the batch row that cache row i was copied from. None means the identity.
        self.rows: Tensor | None = None

    def check(self, *given: Tensor) -> None:
        """Raise ``ValueError`` unless these are the tensors, or others of the same values.

        Where the rows of the cache have been moved, the rows of the tensors must be in the new
        order.
        """
        for kept, version, tensor in zip(self.tensors, self.versions, given, strict=True):
            # A kept tensor that was changed in place, maybe through a view, cannot be compared.
            if _is_changed(kept, version) or not self._is_same(tensor, kept):
                order = "" if self.rows is None else ", its rows reordered like those of the cache"
                wanted = f"the memory that filled the cache{order}: for another, take a new cache"
                raise argument_error("memory", wanted, f"other values, shape {tuple(tensor.shape)}")

    def reordered(self, rows: Tensor) -> "CacheOrigin":
        """Return the origin of a cache whose row i is a copy of row ``rows[i]`` of this one."""
        other = copy(self)
        other.rows = rows // self.repeats if self.rows is None else self.rows[rows]
        return other

    def _is_same(self, tensor: Tensor, kept: Tensor) -> bool:
        if self.rows is None or kept.ndim < 3:
            return tensor is kept or _equal(tensor, kept)
        n_rows, n_given = len(self.rows), len(tensor)
        if n_given == 0 or n_rows % n_given:
            return n_rows == n_given
        rows = torch.arange(n_rows, device=self.rows.device) * n_given // max(n_rows, 1)
        if tensor is kept and (n_given == 1 or _equal(rows, self.rows)):
            return True
        return _equal(tensor[rows], chosen_rows(kept, self.rows).expand(n_rows, *kept.shape[1:]))

    def __getstate__(self) -> dict[str, Any]:
        # A copied tensor counts its changes from zero, so the state stores which had changed.
        changed = map(_is_changed, self.tensors, self.versions)
        return vars(self) | {"versions": [*changed]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        now = map(_version, self.tensors)
        self.versions = [
            -1 if old else new for old, new in zip(state["versions"], now, strict=True)
        ]


def chosen_rows(x: Tensor, rows: Tensor) -> Tensor:
    """Return rows of a batch. A batch of one row, which is shared by all, stays as it is."""
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
