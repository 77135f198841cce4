"""The KV cache: keys and values once computed are kept, so that decoding repeats no work.

When a decoder writes one token after another, the keys and values of the old tokens never
change. Without a cache, step n computes n of them again; with it, one.

===============  =======================================================================
`KVCache`        of self-attention: it grows by the keys and values of every new token
`MemoryCache`    of cross-attention: filled once, since the source does not change
`DecoderCache`   one of each for every layer
===============  =======================================================================
"""

from typing import Any

import torch
from torch import Tensor

from attn._checks import check_shape, check_size, wrong
from attn._values import Source, chosen_rows


class KVCache:
    """The keys and values that one self-attention has computed so far.

    Attributes
    ----------
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
    """

    def __init__(self) -> None:
        self.length = 0
        self.positions: Tensor | None = None
        # Tensors that may have room for tokens to come, so that few steps copy what is kept.
        self._kept: tuple[Tensor, Tensor] | None = None

    @property
    def key(self) -> Tensor | None:
        """The keys of the positions kept, or None."""
        return None if self._kept is None else self._kept[0][..., : self.length, :]

    @property
    def value(self) -> Tensor | None:
        """The values of the positions kept, or None."""
        return None if self._kept is None else self._kept[1][..., : self.length, :]

    def append(
        self, key: Tensor, value: Tensor, positions: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Add the keys and values of new tokens, and return those of all.

        Parameters
        ----------
        key, value : Tensor, shape (batch_size, n_kv_heads, n_new, d_k)
        positions : Tensor of int64, shape (batch_size, n_new), optional
            Where the new tokens stand, if not one after the other behind those kept.

        Raises
        ------
        ValueError
            If the keys differ from those kept in more than their number.
        """
        keys, values = key, value
        if self._kept is not None:
            keys, values = self._kept
            *rows_and_heads, _, d_k = keys.shape
            check_shape("key", key, (*rows_and_heads, "length", d_k), like="the cache")
            keys = _extended(keys, self.length, key)
            values = _extended(values, self.length, value)
        if positions is None and self.positions is not None:
            positions = _behind(self.positions, key.shape[-2])
        if positions is not None and positions.shape[-1]:
            self.positions = self._joined_positions(positions)
        self._kept = keys, values
        self.length += key.shape[-2]
        return keys[..., : self.length, :], values[..., : self.length, :]

    def following(self, n_new: int) -> int | Tensor:
        """Return the positions behind those kept: the first as an int, or, if `positions`
        are kept, a Tensor of shape (batch_size, n_new)."""
        return self.length if self.positions is None else _behind(self.positions, n_new)

    def reorder(self, rows: Tensor) -> None:
        """Let row i of the batch become a copy of what row ``rows[i]`` was."""
        if self._kept is not None:
            key, value = self._kept
            if key.ndim < 4:
                raise wrong("rows", "a cache of a batch", f"keys of shape {tuple(key.shape)}")
            self._kept = key[rows], value[rows]
        if self.positions is not None:
            self.positions = self.positions[rows]

    def __getstate__(self) -> dict[str, Any]:
        # A copy gets no room for tokens to come, or both would write into it.
        return vars(self) | {"_kept": None if self._kept is None else (self.key, self.value)}

    def _joined_positions(self, new: Tensor) -> Tensor:
        kept = self.positions
        if kept is None:
            kept = torch.arange(self.length, device=new.device).expand(*new.shape[:-1], -1)
        return torch.cat((kept, new), dim=-1)


def _behind(positions: Tensor, n_new: int) -> Tensor:
    return positions[..., -1:] + torch.arange(1, n_new + 1, device=positions.device)


def _extended(kept: Tensor, length: int, new: Tensor) -> Tensor:
    """Return a tensor that holds the first `length` of `kept` and then `new`, and maybe room.

    With gradients enabled nothing is written into what a gradient may need, nor in a graph.
    """
    total = length + new.shape[-2]
    if torch.is_grad_enabled() or torch.compiler.is_compiling():
        return torch.cat((kept[..., :length, :], new), dim=-2)
    writable = kept.dtype == new.dtype and (
        not kept.is_inference() or torch.is_inference_mode_enabled()
    )
    if not writable or kept.shape[-2] < total:
        room = new.new_empty(*new.shape[:-2], total // 2, new.shape[-1])
        return torch.cat((kept[..., :length, :], new, room), dim=-2)
    kept[..., length:total, :] = new
    return kept


class MemoryCache:
    """The keys and values of what cross-attention looks at, computed once.

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
        self._source = Source()

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
        """Keep keys and values, and remember which tensors they were made of."""
        self._kept, self._source = (key, value), Source(*source)

    def check(self, *source: Tensor) -> None:
        """Raise ``ValueError`` if these are not the tensors that the keys were made of."""
        self._source.check(*source)

    def reorder(self, rows: Tensor) -> None:
        """Let row i of the batch become a copy of what row ``rows[i]`` was."""
        if self._kept is not None:
            # What has no axis of rows, or one row, serves them all.
            key, value = (chosen_rows(x, rows) if x.ndim > 3 else x for x in self._kept)
            self._kept, self._source = (key, value), self._source.reordered(rows)


class DecoderCache:
    """One `KVCache` for the self-attention of each layer, one `MemoryCache` for its cross-attention.

    It is what `attn.decoding` passes from step to step.

    Parameters
    ----------
    n_layers : int
        Number of layers of the decoder.

    Examples
    --------
    >>> cache = DecoderCache(n_layers=6)
    >>> len(cache.self_attention), len(cache.cross_attention), cache.length
    (6, 6, 0)
    """

    def __init__(self, n_layers: int) -> None:
        n_layers = check_size("n_layers", n_layers, least=1)
        self.self_attention = [KVCache() for _ in range(n_layers)]
        self.cross_attention = [MemoryCache() for _ in range(n_layers)]
        self._source: Source | None = None

    @property
    def parts(self) -> list[KVCache | MemoryCache]:
        """The caches of all layers."""
        return [*self.self_attention, *self.cross_attention]

    @property
    def length(self) -> int:
        """Number of target positions that every layer has seen."""
        return self.self_attention[0].length

    def following(self, n_new: int) -> int | Tensor:
        """Return the positions behind those kept, as `KVCache.following` does."""
        return self.self_attention[0].following(n_new)

    def knows(self, memory: Tensor) -> bool:
        """Return whether the keys of this memory are kept; ``ValueError`` if those of another."""
        if self._source is not None:
            self._source.check(memory)
        return self._source is not None

    def remember(self, memory: Tensor, repeats: int = 1) -> None:
        """Say that the keys kept are of this memory, each of its rows serving `repeats` rows."""
        self._source = Source(memory, repeats=repeats)

    def reorder(self, rows: Tensor) -> None:
        """Let row i of the batch become a copy of what row ``rows[i]`` was.

        Parameters
        ----------
        rows : Tensor of int64, shape (new_batch_size,)
            Beam search uses it to repeat rows, to move them, and to let them go.
        """
        for cache in self.parts:
            cache.reorder(rows)
        if self._source is not None:
            self._source = self._source.reordered(rows)
