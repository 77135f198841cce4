"""Multi-head latent attention: the cache keeps small vectors that give keys and values."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attn._checks import argument_error, check_shape, check_size
from attn._registry import ModelConfig
from attn.attention import Attended, scaled_dot_product_attention
from attn.attention.multi_head import Linear, check_places, mask_for_heads
from attn.cache import FixedKVCache, KVCache, Place, check_no_mask, restored_on_error
from attn.mixers.base import Mixer, register
from attn.positions import RelativePositions, check_even, check_waves


@register("multi_head_latent")
@dataclass(frozen=True)
class MultiHeadLatent(Mixer):
    """Attention whose keys and values come from one small vector a token, the latent.

    The cache keeps that vector, and not the keys and values of all heads. Rotary positions cannot
    be applied to the latent, so each key has a separate part for them, which all heads share.

    Parameters
    ----------
    d_latent : int
        Size of the vector from which keys and values are made.
    d_rotary : int, default 0
        Size of the part of queries and keys that turns, even. With 0 the layer has no positions.

    Raises
    ------
    ValueError
        If a size is not as above, or `d_rotary` is given to a model without rotary positions.

    References
    ----------
    DeepSeek-AI (2024), DeepSeek-V2, section 2.1; its queries are made of a latent too.

    Examples
    --------
    >>> from attn.transformer import TransformerConfig
    >>> config = TransformerConfig(vocab_size=10, d_model=64, n_heads=8, positions="rotary")
    >>> MultiHeadLatent(d_latent=16, d_rotary=4).cache_bytes(config, length=100)
    8000
    """

    d_latent: int
    d_rotary: int = 0

    def __post_init__(self) -> None:
        for name, least in (("d_latent", 1), ("d_rotary", 0)):
            object.__setattr__(self, name, check_size(name, getattr(self, name), least))
        if self.d_rotary:
            check_even("d_rotary", self.d_rotary)

    @property
    def uses(self) -> tuple[str, ...]:
        """Dropout of the weights; and positions, if a part of the keys is for them."""
        return ("attention_dropout", "positions") if self.d_rotary else ("attention_dropout",)

    def check(self, config: ModelConfig) -> None:
        """Raise ``ValueError`` if the model's positions cannot turn the keys' part for them."""
        if self.d_rotary and config.positions != "rotary":
            wanted = "0, since the positions of the model are not rotary"
            raise argument_error("d_rotary", wanted, self.d_rotary)
        check_waves("rotary_scaling", config.rotary_scaling, self.d_rotary, config.rotary_base)

    def new_module(self, config: ModelConfig, relative: RelativePositions | None) -> nn.Module:
        """Return the attention of one layer."""
        return LatentAttention(
            config.d_model,
            config.n_heads,
            self.d_latent,
            self.d_rotary,
            dropout=config.attention_dropout,
            bias=config.bias,
            norm_eps=config.norm_eps,
            relative=relative if self.d_rotary else None,
        )

    def cache_bytes(
        self, config: ModelConfig, length: int, dtype: torch.dtype = torch.float32
    ) -> int:
        """Return the bytes of the latents and of the shared parts that are turned."""
        return length * (self.d_latent + self.d_rotary) * dtype.itemsize

    def step_flops(self, config: ModelConfig, length: int) -> int:
        """Return the operations of a step, in which scores and means are of latents."""
        d_model, n_heads, latent, rotary = (
            config.d_model,
            config.n_heads,
            self.d_latent,
            self.d_rotary,
        )
        projected = d_model * (2 * d_model + n_heads * rotary + latent + rotary)
        attended = n_heads * length * (2 * latent + rotary)
        return 2 * (projected + 2 * d_model * latent + attended)


class LatentAttention(nn.Module):
    """The module of `MultiHeadLatent`.

    Parameters
    ----------
    d_model, n_heads : int
    d_latent, d_rotary : int
        As in `MultiHeadLatent`.
    dropout, bias
        As in `attn.attention.MultiHeadAttention`.
    norm_eps : float, default 1e-5
        What the norm of the latent adds to the mean square.
    relative : attn.positions.RelativePositions, optional
        Rotary positions, if `d_rotary` is not 0.

    References
    ----------
    DeepSeek-AI (2024), DeepSeek-V2, Eqs. 9 to 19, and section 3.1.2 for the norm of the latent.

    Examples
    --------
    >>> attention = LatentAttention(d_model=8, n_heads=2, d_latent=4)
    >>> output, weights = attention(torch.ones(3, 5, 8), is_causal=True, need_weights=True)
    >>> output.shape, weights.shape
    (torch.Size([3, 5, 8]), torch.Size([3, 2, 5, 5]))
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_latent: int,
        d_rotary: int = 0,
        *,
        dropout: float = 0.0,
        bias: bool = True,
        norm_eps: float = 1e-5,
        relative: RelativePositions | None = None,
    ) -> None:
        super().__init__()
        self.d_model, self.n_heads, self.dropout = d_model, n_heads, dropout
        self.d_latent, self.d_rotary, self.relative = d_latent, d_rotary, relative
        self.d_k = d_model // n_heads
        self.q_proj = Linear(d_model, n_heads * (self.d_k + d_rotary), bias=bias)
        self.latent_proj = Linear(d_model, d_latent + d_rotary, bias=bias)
        self.latent_norm = nn.RMSNorm(d_latent, norm_eps)
        # Without a bias: it would be the same for all keys, and the softmax would not see it.
        self.k_proj = Linear(d_latent, d_model, bias=False)
        self.v_proj = Linear(d_latent, d_model, bias=False)
        self.out_proj = Linear(d_model, d_model, bias=bias)
        for part in (self.q_proj, self.latent_proj, self.k_proj, self.v_proj, self.out_proj):
            nn.init.xavier_uniform_(part.weight)
            if part.bias is not None:
                nn.init.zeros_(part.bias)

    def new_cache(self) -> KVCache:
        """Return an empty cache: its keys are latents, its values the parts that are turned."""
        return KVCache()

    def new_fixed_cache(self, place: Place) -> FixedKVCache:
        """Return an empty cache of latents and turned parts in an `attn.cache.FixedCache`."""
        return FixedKVCache(place, 1, self.d_latent, self.d_rotary)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        is_causal: bool = False,
        need_weights: bool = False,
        cache: KVCache | None = None,
    ) -> Attended:
        """Let every token gather from those that it may attend to.

        Parameters and results are those of `attn.attention.MultiHeadAttention` for self-attention.
        A step of one token with a cache computes no keys and no values of the old tokens: each
        query is compared with the latents, and each head's mean of latents becomes values
        afterwards.
        """
        check_shape("x", x, (..., "length", self.d_model))
        if cache is not None and type(cache) not in (KVCache, FixedKVCache):
            raise argument_error("cache", "a KVCache", type(cache).__name__)
        tgt_len = x.shape[-2]
        check_places(positions, tuple(x.shape[:-1]))
        if positions is not None:
            positions = positions.expand(x.shape[:-1])
        with restored_on_error(cache):
            query = self.q_proj(x).unflatten(-1, (self.n_heads, -1)).transpose(-2, -3)
            query, turned = query.split((self.d_k, self.d_rotary), dim=-1)
            sizes = self.d_latent, self.d_rotary
            latent, shared = self.latent_proj(x).unsqueeze(-3).split(sizes, dim=-1)
            latent = self.latent_norm(latent)
            if self.relative is not None:
                stand: int | Tensor | None = positions
                if stand is None:
                    stand = 0 if cache is None else cache.following(tgt_len)
                turned, shared = self.relative.rotate(turned, shared, stand)
            if cache is not None:
                latent, shared = cache.append(latent, shared, positions)
                if cache.visible is not None:
                    check_no_mask(mask)
                    mask, is_causal = cache.visible, False
            shape = (*x.shape[:-2], self.n_heads, tgt_len, latent.shape[-2])
            is_step = cache is not None and tgt_len == 1
            attend = self._among_latents if is_step else self._among_keys
            output, weights = attend(
                query,
                turned,
                latent,
                shared,
                mask=mask_for_heads(mask, shape),
                is_causal=is_causal,
                need_weights=need_weights,
                dropout=self.dropout if self.training else 0.0,
            )
            return self.out_proj(output.transpose(-2, -3).flatten(-2)), weights

    def _among_keys(
        self, query: Tensor, turned: Tensor, latent: Tensor, shared: Tensor, **options: Any
    ) -> Attended:
        """Return output and weights of the heads; keys and values are computed from the latents."""
        key, value = (
            part(latent).unflatten(-1, (self.n_heads, -1)).squeeze(-4).transpose(-2, -3)
            for part in (self.k_proj, self.v_proj)
        )
        query = torch.cat((query, turned), dim=-1)
        key = torch.cat((key, shared.expand(*key.shape[:-1], -1)), dim=-1)
        return scaled_dot_product_attention(query, key, value, **options)

    def _among_latents(
        self, query: Tensor, turned: Tensor, latent: Tensor, shared: Tensor, **options: Any
    ) -> Attended:
        """Return the same as `_among_keys`, from the latents themselves: ``q (W c) = (q W) c``."""
        to_key, to_value = (
            part.weight.unflatten(0, (self.n_heads, -1)) for part in (self.k_proj, self.v_proj)
        )
        query = torch.cat((query @ to_key, turned), dim=-1)
        # The function divides by the root of this size, but the size of a key is d_k + d_rotary.
        query = query * math.sqrt(query.shape[-1] / (self.d_k + self.d_rotary))
        key = torch.cat((latent, shared), dim=-1)
        output, weights = scaled_dot_product_attention(
            query, key, latent, enable_gqa=True, **options
        )
        return output @ to_value.mT, weights
