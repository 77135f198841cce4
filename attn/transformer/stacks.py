"""The two stacks of the Transformer: N encoder layers, N decoder layers."""

from collections.abc import Sequence

from torch import Tensor, nn

from attn._checks import wrong
from attn._restored import restored_on_error
from attn.attention import VARIANTS
from attn.cache import DecoderCache, KVCache, MemoryCache, check_cache
from attn.layers import DecoderLayer, EncoderLayer
from attn.positions import SCHEMES, RelativePositions
from attn.transformer.config import TransformerConfig


class _Stack(nn.Module):
    """`n_layers` layers of one class, and the norm that a pre-norm stack ends with."""

    def __init__(
        self, layer_class: type[EncoderLayer | DecoderLayer], config: TransformerConfig
    ) -> None:
        super().__init__()
        scheme = SCHEMES[config.positions]
        relative = scheme.from_config(config) if issubclass(scheme, RelativePositions) else None
        self.layers = nn.ModuleList()
        for _ in range(config.n_layers):
            layer = layer_class(
                config.d_model,
                config.n_heads,
                config.d_ff,
                config.dropout,
                config.norm,
                n_kv_heads=config.n_kv_heads,
                relative=relative,
                attention=VARIANTS[config.attention].from_config(config),
                attention_dropout=config.attention_dropout,
                activation=config.activation,
                normalization=config.normalization,
                norm_eps=config.norm_eps,
                bias=config.bias,
            )
            self.layers.append(layer)
        self.norm: nn.Module = config.new_norm() if config.norm == "pre" else nn.Identity()

    def _caches(
        self, cache: DecoderCache | None
    ) -> Sequence[tuple[KVCache | None, MemoryCache | None]]:
        """Return for each layer the cache of its self-attention and of its cross-attention."""
        if cache is None:
            return [(None, None)] * len(self.layers)
        check_cache(cache)
        pairs = list(zip(cache.self_attention, cache.cross_attention, strict=True))
        if len(pairs) != len(self.layers):
            raise wrong("cache", f"one of n_layers = {len(self.layers)}", len(pairs))
        return pairs


class Encoder(_Stack):
    """Refine vectors layer by layer; every position may look at every other.

    Parameters
    ----------
    config : TransformerConfig

    References
    ----------
    Vaswani et al. (2017), section 3.1. Documents 001, 003 and 004.

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

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        is_causal: bool = False,
        need_weights: bool = False,
        cache: DecoderCache | None = None,
    ) -> tuple[Tensor, tuple[Tensor, ...] | None]:
        """Run `x` through every layer.

        Parameters
        ----------
        x, mask, positions, is_causal, need_weights
            As in `attn.layers.EncoderLayer`.
        cache : attn.cache.DecoderCache, optional
            For a causal stack that writes token by token.

        Returns
        -------
        x : Tensor, shape (..., seq_len, d_model)
        weights : tuple of Tensor, or None
            Those of each layer; None unless `need_weights`.
        """
        weights: list[Tensor] = []
        caches = [own for own, _ in self._caches(cache)]
        with restored_on_error(cache):
            for layer, layer_cache in zip(self.layers, caches, strict=True):
                x, layer_weights = layer(
                    x,
                    mask,
                    positions=positions,
                    is_causal=is_causal,
                    need_weights=need_weights,
                    cache=layer_cache,
                )
                weights.append(layer_weights)
            return self.norm(x), tuple(weights) if need_weights else None


class Decoder(_Stack):
    """Refine target vectors layer by layer; each may look back, and at the whole source.

    Parameters
    ----------
    config : TransformerConfig

    References
    ----------
    Vaswani et al. (2017), section 3.1. Documents 001, 003 and 004.
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
        positions: Tensor | None = None,
        is_causal: bool = True,
        need_weights: bool = False,
        cache: DecoderCache | None = None,
    ) -> tuple[Tensor, tuple[tuple[Tensor, ...], tuple[Tensor, ...]] | None]:
        """Run `x` through every layer.

        Parameters
        ----------
        x, memory, mask, memory_mask, positions, is_causal, need_weights
            As in `attn.layers.DecoderLayer`.
        cache : attn.cache.DecoderCache, optional
            Then `x` holds only the new tokens.

        Returns
        -------
        x : Tensor, shape (..., tgt_len, d_model)
        weights : pair of tuples of Tensor, or None
            Those of each layer's self-attention, and of its cross-attention; None unless
            `need_weights`.
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
                    positions=positions,
                    is_causal=is_causal,
                    need_weights=need_weights,
                    cache=layer_caches,
                )
                weights.append(layer_weights)
            x = self.norm(x)
        if not need_weights:
            return x, None
        own, cross = zip(*weights, strict=True)
        return x, (own, cross)
