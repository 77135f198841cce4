"""Attention as a class that configurations can name, so that there can be others."""

from collections.abc import Callable
from typing import Self, TypeVar, Unpack

from torch import Tensor, nn

from attn._registry import ModelConfig, Registry
from attn.attention._types import Attended, Options
from attn.attention.scaled_dot_product import scaled_dot_product_attention


class ScaledDotProduct(nn.Module):
    """`scaled_dot_product_attention` as a module: what `MultiHeadAttention` does in its heads.

    To change it, derive from it, override `forward` and `register` the class.
    ``TransformerConfig(attention=name)`` then builds one for the self-attention of each layer.
    For a type checker, `from_config` takes a `ModelConfig`, and `forward` an ``**options`` of
    ``Unpack[Options]``; it returns ``Attended``, the output and the weights or None.

    Examples
    --------
    Each token attends to itself and to the one before it. Nothing else is needed for a model
    that trains, decodes with a cache, and is saved and loaded as others are.

    >>> import torch
    >>> from attn.masks import combine_masks, window_mask
    >>> class Pairs(ScaledDotProduct):
    ...     def forward(self, query, key, value, mask=None, **options):
    ...         near = window_mask(query.shape[-2], 2, key.shape[-2], device=query.device)
    ...         return super().forward(query, key, value, combine_masks(mask, near), **options)
    >>> _, weights = Pairs()(*torch.zeros(3, 4, 8), need_weights=True)
    >>> weights[2]
    tensor([0.0000, 0.5000, 0.5000, 0.0000])
    """

    @classmethod
    def from_config(cls, config: ModelConfig) -> Self:
        """Return the module for a model of this `attn.transformer.TransformerConfig`."""
        return cls()

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        **options: Unpack[Options],
    ) -> Attended:
        """Return (output, weights) of queries, keys and values that are split into heads.

        Parameters
        ----------
        query : Tensor, shape (..., n_heads, tgt_len, d_k)
        key, value : Tensor, shape (..., n_kv_heads, src_len, d_k)
            With a cache, those of all tokens so far.
        mask : Tensor of bool, broadcastable to (..., n_heads, tgt_len, src_len), optional
        **options
            Those of `scaled_dot_product_attention`, all of which are given.
        """
        return scaled_dot_product_attention(query, key, value, mask, **options)


VARIANTS = Registry(ScaledDotProduct)
Variant = TypeVar("Variant", bound=ScaledDotProduct)


def register(name: str) -> Callable[[type[Variant]], type[Variant]]:
    """Return a decorator that enters a class under a name for ``TransformerConfig(attention=...)``.

    Parameters
    ----------
    name : str
        What checkpoints will store; it has to be registered again before they are loaded.

    Raises
    ------
    ValueError
        If another class has the name, or the class does not derive from `ScaledDotProduct`.
    """
    return VARIANTS.register(name)


register("scaled_dot_product")(ScaledDotProduct)
