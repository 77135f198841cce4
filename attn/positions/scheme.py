"""What every position scheme is, where it may act, and the names by which configurations ask."""

from collections.abc import Callable
from typing import Self, TypeVar

import torch
from torch import Tensor, nn

from attn._registry import ModelConfig, Registry


class PositionScheme(nn.Module):
    """A way to tell attention where tokens stand.

    To add one, derive from `AbsolutePositions` or `RelativePositions`, whichever acts where
    yours does, and `register` it. ``TransformerConfig(positions=name)`` then builds it, by
    `from_config`, whose argument has the type `ModelConfig`.
    """

    @classmethod
    def check(cls, config: ModelConfig) -> None:
        """Raise ``ValueError`` if the scheme cannot serve a model of this configuration."""

    @classmethod
    def from_config(cls, config: ModelConfig) -> Self:
        """Return the scheme for a model of this `attn.transformer.TransformerConfig`."""
        return cls()


class AbsolutePositions(PositionScheme):
    """A position scheme that changes the vectors of the tokens before the first layer."""

    def forward(self, x: Tensor, positions: int | Tensor = 0) -> Tensor:
        """Return the tokens, changed by where they stand.

        Parameters
        ----------
        x : Tensor, shape (..., seq_len, d_model)
            The token vectors.
        positions : int or Tensor of int64, broadcastable to (..., seq_len), default 0
            The position of each token; or of the first, and the others follow.

        Returns
        -------
        Tensor, shape (..., seq_len, d_model)
        """
        raise NotImplementedError


class RelativePositions(PositionScheme):
    """What a position scheme may do in self-attention: nothing, unless a subclass does it."""

    def rotate(
        self, query: Tensor, key: Tensor, positions: int | Tensor = 0
    ) -> tuple[Tensor, Tensor]:
        """Return queries and keys as changed by where their tokens stand.

        Parameters
        ----------
        query : Tensor, shape (..., n_heads, seq_len, d_k)
        key : Tensor, shape (..., n_kv_heads, seq_len, d_k)
        positions : int or Tensor of int64, shape (..., seq_len), default 0
            Where each token stands; or the first, and the others one after the other.

        Returns
        -------
        query, key : Tensor
            Of the same shapes.
        """
        return query, key

    def bias(
        self, query_positions: Tensor, key_positions: Tensor, dtype: torch.dtype
    ) -> Tensor | None:
        """Return what to add to the scores, or None.

        Parameters
        ----------
        query_positions : Tensor of int64, shape (..., tgt_len)
        key_positions : Tensor of int64, shape (..., src_len)
        dtype : torch.dtype
            Of the queries.

        Returns
        -------
        Tensor, broadcastable to (..., n_heads, tgt_len, src_len), or None
        """
        return None

    def bias_in_a_row(
        self, start: int, tgt_len: int, src_len: int, dtype: torch.dtype, device: torch.device
    ) -> Tensor | None:
        """Return the `bias` of queries from position `start` on and keys from position 0 on.

        Parameters
        ----------
        start : int
            The position of the first query; the others follow.
        tgt_len, src_len : int
            The numbers of queries and of keys.
        dtype : torch.dtype
            Of the queries.
        device : torch.device
            Of the queries.

        Returns
        -------
        Tensor, broadcastable to (n_heads, tgt_len, src_len), or None
        """
        keys = torch.arange(src_len, device=device)
        return self.bias(keys[start : start + tgt_len], keys, dtype)


class NoPositions(PositionScheme):
    """Attention sees a set."""


SCHEMES: Registry[PositionScheme] = Registry(AbsolutePositions, RelativePositions)
SCHEMES["none"] = NoPositions
Scheme = TypeVar("Scheme", bound=AbsolutePositions | RelativePositions)


def register(name: str) -> Callable[[type[Scheme]], type[Scheme]]:
    """Return a decorator that enters a class under a name for ``TransformerConfig(positions=...)``.

    Parameters
    ----------
    name : str
        What checkpoints will store; it has to be registered again before they are loaded.

    Raises
    ------
    ValueError
        If another class has the name, or the class derives from neither `AbsolutePositions`
        nor `RelativePositions`, so that nothing would ask it for anything.
    """
    return SCHEMES.register(name)
