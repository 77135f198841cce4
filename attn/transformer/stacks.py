"""What the three models are made of: the embedding of tokens, and stacks of N layers."""

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict, Unpack

import torch
from torch import Tensor, nn

from attn._checks import (
    argument_error,
    broadcast_shapes,
    check_ids,
    check_mask,
    check_shape,
    check_tensor,
    holds,
)
from attn.cache import DecoderCache, LayerCache, MemoryCache, check_cache, restored_on_error
from attn.layers import DecoderLayer, EncoderLayer
from attn.positions import SCHEMES, AbsolutePositions, RelativePositions
from attn.transformer.config import TransformerConfig


class TokenEmbedding(nn.Module):
    """Look up each token's vector, scale it, add its position, drop some numbers.

    If the configuration has token types, the vector of each token's type is added as well; if it
    has an embedding norm, the sum is normalised.

    Parameters
    ----------
    vocab_size : int
    config : TransformerConfig

    References
    ----------
    Vaswani et al. (2017), sections 3.4, 3.5 and 5.4. Devlin et al. (2019), Figure 2, for
    types.

    Examples
    --------
    >>> from attn.transformer import TransformerConfig
    >>> embedding = TokenEmbedding(10, TransformerConfig(vocab_size=10))
    >>> embedding(torch.tensor([[3, 1, 4]])).shape
    torch.Size([1, 3, 512])
    >>> embedding(torch.tensor([[3, 10, 4]]))
    Traceback (most recent call last):
    ValueError: ids: expected values from 0 to 9, got 10
    """

    def __init__(self, vocab_size: int, config: TransformerConfig) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, config.d_model)
        # Scaled by the root of d_model, the vectors have variance 1, near that of the positions.
        nn.init.normal_(self.tokens.weight, std=config.d_model**-0.5)
        self.scale = config.d_model**0.5 if config.scale_embeddings else 1.0
        scheme = SCHEMES[config.positions]
        is_absolute = issubclass(scheme, AbsolutePositions)
        self.positions = scheme.from_config(config) if is_absolute else None
        self.types: nn.Embedding | None = None
        if config.n_token_types:
            self.types = nn.Embedding(config.n_token_types, config.d_model)
            nn.init.normal_(self.types.weight, std=config.d_model**-0.5)
        self.norm: nn.Module = config.new_norm() if config.embedding_norm else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, ids: Tensor, positions: int | Tensor = 0, types: Tensor | None = None
    ) -> Tensor:
        """Embed tokens: a vector of shape (..., seq_len, d_model) for `ids` of shape (..., seq_len).

        `positions` are those of the tokens, or that of the first; `types` are 0 if not given. An id that
        is not in the vocabulary is refused (not inside ``torch.compile`` and ``torch.vmap``, nor after
        ``attn.checks(False)``), and so are a position that was not learned and types that do not fit.
        """
        check_ids("ids", ids, self.tokens.num_embeddings)
        x: Tensor = self.tokens(ids) * self.scale
        if self.positions is not None:
            x = self.positions(x, positions)
        if self.types is not None:
            types = torch.zeros_like(ids[..., :1]) if types is None else types
            check_ids("types", types, self.types.num_embeddings)
            if broadcast_shapes(types.shape, ids.shape) != ids.shape:
                wanted = f"a shape that broadcasts to {tuple(ids.shape)}"
                raise argument_error("types", wanted, tuple(types.shape))
            x = x + self.types(types)
        elif types is not None:
            raise argument_error("types", "None, since n_token_types = 0", "a tensor")
        x = self.dropout(self.norm(x))
        return x


class Order(TypedDict, total=False):
    """The options of self-attention that a stack hands to each of its layers."""

    positions: Tensor | None
    is_causal: bool


class _Stack(nn.Module):
    """`n_layers` layers of one class, and the norm that a pre-norm stack ends with."""

    def __init__(
        self, layer_class: type[EncoderLayer | DecoderLayer], config: TransformerConfig
    ) -> None:
        super().__init__()
        scheme = SCHEMES[config.positions]
        relative = scheme.from_config(config) if issubclass(scheme, RelativePositions) else None
        self.layers = nn.ModuleList()
        for mixer in config.layer_mixers:
            sizes = config.d_model, config.n_heads, config.d_ff, config.dropout, config.norm
            layer = layer_class(
                *sizes,
                mixer=mixer.new_module(config, relative),
                cross_attention=config.new_attention() if layer_class.looks_at_memory else None,
                feed_forward=config.new_feed_forward(),
                new_norm=config.new_norm,
            )
            self.layers.append(layer)
        self.norm: nn.Module = config.new_norm() if config.norm == "pre" else nn.Identity()

    def _caches(
        self, cache: DecoderCache | None
    ) -> Sequence[tuple[LayerCache | None, MemoryCache | None]]:
        """Return the caches of the self-attention and the cross-attention of each layer."""
        if cache is None:
            return [(None, None)] * len(self.layers)
        check_cache(cache)
        pairs = list(zip(cache.self_attention, cache.cross_attention, strict=True))
        if len(pairs) != len(self.layers):
            raise argument_error("cache", f"one of n_layers = {len(self.layers)}", len(pairs))
        return pairs


class Encoder(_Stack):
    """Refine vectors layer by layer; every position may attend to every other.

    Parameters
    ----------
    config : TransformerConfig

    References
    ----------
    Vaswani et al. (2017), section 3.1.

    Examples
    --------
    >>> import torch
    >>> from attn.transformer import TransformerConfig
    >>> encoder = Encoder(TransformerConfig(vocab_size=10, d_model=8, n_heads=2, d_ff=32))
    >>> x, weights = encoder(torch.ones(1, 5, 8), need_weights=True)
    >>> len(weights), weights[0].shape
    (6, torch.Size([1, 2, 5, 5]))
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(EncoderLayer, config)

    def new_cache(self) -> DecoderCache:
        """Return an empty cache for a causal stack, each layer's of the kind that it needs."""
        cache = DecoderCache(len(self.layers))
        layers: Iterable[Any] = self.layers
        cache.self_attention = [layer.self_attention.new_cache() for layer in layers]
        return cache

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        need_weights: bool = False,
        cache: DecoderCache | None = None,
        **order: Unpack[Order],
    ) -> tuple[Tensor, tuple[Tensor, ...] | None]:
        """Run `x` through every layer, with the arguments of `attn.layers.EncoderLayer`.

        The `cache` is a `attn.cache.DecoderCache`, for a causal stack that writes token by token.
        Weights are a tuple of those of each layer, or None.
        """
        weights: list[Tensor] = []
        caches = [own for own, _ in self._caches(cache)]
        with restored_on_error(cache):
            for layer, layer_cache in zip(self.layers, caches, strict=True):
                x, layer_weights = layer(
                    x, mask, need_weights=need_weights, cache=layer_cache, **order
                )
                weights.append(layer_weights)
            return self.norm(x), tuple(weights) if need_weights else None


class Decoder(_Stack):
    """Refine target vectors layer by layer; each may attend to those before it and to the source.

    Parameters
    ----------
    config : TransformerConfig

    References
    ----------
    Vaswani et al. (2017), section 3.1.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(DecoderLayer, config)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        *,
        need_weights: bool = False,
        cache: DecoderCache | None = None,
        **order: Unpack[Order],
    ) -> tuple[Tensor, tuple[tuple[Tensor, ...], tuple[Tensor, ...]] | None]:
        """Run `x` through every layer, with the arguments of `attn.layers.DecoderLayer`.

        With a `attn.cache.DecoderCache`, `x` holds only the new tokens. Weights are a pair of tuples,
        those of each layer's self-attention and those of its cross-attention, or None.
        """
        weights: list[tuple[Tensor, Tensor]] = []
        caches = self._caches(cache)
        with restored_on_error(cache):
            for layer, layer_caches in zip(self.layers, caches, strict=True):
                x, layer_weights = layer(
                    x,
                    memory,
                    mask,
                    memory_mask,
                    need_weights=need_weights,
                    cache=layer_caches,
                    **order,
                )
                weights.append(layer_weights)
            x = self.norm(x)
        if not need_weights:
            return x, None
        own, cross = zip(*weights, strict=True)
        return x, (own, cross)


def following(ids: Tensor, cache: DecoderCache | None) -> int | Tensor:
    """Return the positions of tokens that follow those that a cache has seen."""
    if cache is None:
        return 0
    check_cache(cache)
    check_tensor("ids", ids, "a tensor of int64 or int32")
    return cache.following(ids.shape[-1])


def new_tokens(
    ids: Tensor,
    cache: DecoderCache | None,
    mask: Tensor | None = None,
    positions: Tensor | None = None,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Return the inputs of a step: new tokens, the mask of all tokens, the positions of the new
    ones.

    `ids`, shape (n_rows, length), are all that is written so far. `mask`, shape (n_prompts, 1,
    prompt_len), is True at the real tokens of prompts that are padded on the left, and `positions`,
    shape (n_prompts, prompt_len), are their positions; if not given, positions are counted from the
    mask. The tokens written after the prompts are real and follow in a row.
    """
    check_shape("ids", ids, ("n_rows", "length"))
    if cache is not None:
        check_cache(cache)
    start, (n_rows, length) = 0 if cache is None else cache.length, ids.shape
    if length <= start:
        raise argument_error("ids", f"more than the {start} tokens that were read before", length)
    if cache is not None:
        cache.check_ids(ids)
    if mask is not None:
        check_tensor("mask", mask, "a tensor of bool")
        check_mask("mask", mask)
        check_shape("mask", mask, ("n_prompts", 1, "prompt_len"))
        if not holds(mask[..., -1:].all, otherwise=True):
            raise argument_error(
                "mask", "prompts padded on the left, True at the end", "False there"
            )
        mask, n_written = _each_row("mask", mask, ids)
        mask = torch.cat((mask, mask.new_ones(n_rows, 1, n_written)), dim=-1)
        if positions is None:
            positions = (mask.long().cumsum(dim=-1) - 1).clamp(min=0)[:, 0]
    if positions is not None:
        check_tensor("positions", positions, "a tensor of int64")
        check_shape("positions", positions, ("n_prompts", "prompt_len"))
        positions, n_written = _each_row("positions", positions, ids)
        count = torch.arange(1, n_written + 1, device=positions.device)
        positions = torch.cat((positions, positions[:, -1:] + count), dim=-1)[:, start:]
    return ids[:, start:], mask, positions


def _each_row(name: str, given: Tensor, ids: Tensor) -> tuple[Tensor, int]:
    """Repeat what is given per prompt for the rows of `ids`; also return how many ids are new."""
    n_rows, n_written = len(ids), ids.shape[-1] - given.shape[-1]
    if n_rows % len(given) if len(given) else n_rows:
        raise argument_error(
            name, f"prompts that share {n_rows} rows evenly", f"{len(given)} prompts"
        )
    if n_written < 0:
        raise argument_error(
            name, f"prompts of at most {ids.shape[-1]} tokens, as ids", given.shape[-1]
        )
    return given.repeat_interleave(n_rows // max(len(given), 1), dim=0), n_written
