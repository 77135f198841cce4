"""Multi-head attention: self or cross, any mask, grouped queries, with a KV cache.

`MultiHeadAttention` projects, splits into heads and keeps keys and values; the attention of each
head is in `attn.attention.scaled_dot_product`.
"""

import torch
from torch import Tensor, nn

from attn._checks import (
    argument_error,
    broadcast_shapes,
    check_attention,
    check_divides,
    check_fraction,
    check_mask,
    check_number,
    check_shape,
    check_size,
    check_tensor,
)
from attn.attention.scaled_dot_product import Attended, Options, ScaledDotProduct
from attn.cache import (
    FixedKVCache,
    FixedWindowCache,
    KVCache,
    MemoryCache,
    Place,
    WindowCache,
    check_no_mask,
    restored_on_error,
)
from attn.masks import combine_masks, window_mask
from attn.positions import RelativePositions


class MultiHeadAttention(nn.Module):
    """Several heads of attention side by side, each in ``d_k = d_model / n_heads`` dimensions.

    One head gives each query one weighted mean; several can look at several things. It serves as
    self-attention, ``attention(x)``, and as cross-attention, ``attention(x, memory)``; with a
    cache, a `attn.cache.KVCache` selects self-attention and a `attn.cache.MemoryCache`
    cross-attention.

    Parameters
    ----------
    d_model : int
        Size of the token vectors; a multiple of `n_heads`.
    n_heads : int
    dropout : float, default 0.0
        Probability with which each weight is dropped in training.
    bias : bool, default True
        Whether the projections add a learned bias.
    n_kv_heads : int, optional
        Grouped-query attention: so many heads of keys and values, each shared by
        ``n_heads / n_kv_heads`` neighbouring query heads. As many as `n_heads` if not given.
    relative : attn.positions.RelativePositions, optional
        Such as ``RotaryPositions`` or ``ALiBiPositions``, if the scores are to depend on
        distances. Then it is for self-attention only.
    attention : attn.attention.ScaledDotProduct, optional
        The attention in each head; `ScaledDotProduct` if not given.
    qk_norm_eps : float, optional
        If given, an RMS norm that all heads share scales each query, and another each key, before
        they are turned by their positions; this is added to the mean square.
    sink : bool, default False
        Whether each head learns the score of a key without a value, which takes what no token is to
        have.
    gate : bool, default False
        Whether what the heads gathered is multiplied, number by number, by the sigmoid of another
        projection of the query's token.
    soft_cap : float, optional
        What no score exceeds; see `scaled_dot_product_attention`.
    window : int, optional
        How many tokens each sees, itself and those before it, in self-attention. With its
        `attn.cache.WindowCache`, src_len counts those that are still kept.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2. Ainslie et al. (2023), GQA. The Qwen team (2025), Qwen3
    Technical Report, section 2, for the norm of queries and keys. OpenAI (2025), gpt-oss-120b &
    gpt-oss-20b Model Card, for the sink. Qiu et al. (2025), Gated Attention for Large
    Language Models, for the gate. The Gemma team (2024), Gemma 2, section 2, for the cap.
    Beltagy et al. (2020), Longformer, section 3.1, for the window.

    Examples
    --------
    >>> import torch
    >>> attention = MultiHeadAttention(d_model=8, n_heads=2)
    >>> output, weights = attention(torch.ones(3, 5, 8), is_causal=True, need_weights=True)
    >>> output.shape, weights.shape
    (torch.Size([3, 5, 8]), torch.Size([3, 2, 5, 5]))
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        *,
        n_kv_heads: int | None = None,
        relative: RelativePositions | None = None,
        attention: ScaledDotProduct | None = None,
        qk_norm_eps: float | None = None,
        sink: bool = False,
        gate: bool = False,
        soft_cap: float | None = None,
        window: int | None = None,
    ) -> None:
        super().__init__()
        self.d_model = check_size("d_model", d_model, least=1)
        self.n_heads = check_size("n_heads", n_heads, least=1)
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        self.n_kv_heads = check_size("n_kv_heads", n_kv_heads, least=1)
        check_divides("d_model", d_model, "n_heads", n_heads)
        check_divides("n_heads", n_heads, "n_kv_heads", n_kv_heads)
        check_fraction("dropout", dropout)
        self.dropout, self.relative = dropout, relative
        # Without a bias, as with rotary positions, no step needs the positions of all keys.
        self._adds_bias = getattr(type(relative), "bias", None) is not RelativePositions.bias
        self.attention = ScaledDotProduct() if attention is None else attention
        d_kv = d_model // n_heads * n_kv_heads
        self.q_proj = Linear(d_model, d_model, bias=bias)
        self.k_proj = Linear(d_model, d_kv, bias=bias)
        self.v_proj = Linear(d_model, d_kv, bias=bias)
        self.out_proj = Linear(d_model, d_model, bias=bias)
        self.q_norm = self.k_norm = None
        if qk_norm_eps is not None:
            self.q_norm, self.k_norm = (nn.RMSNorm(d_model // n_heads, qk_norm_eps) for _ in "qk")
        self.sink = nn.Parameter(torch.zeros(n_heads)) if sink else None
        self.soft_cap = None if soft_cap is None else check_number("soft_cap", soft_cap)
        self.window = None if window is None else check_size("window", window, least=1)
        self.gate_proj = Linear(d_model, d_model, bias=bias) if gate else None
        projections = (self.q_proj, self.k_proj, self.v_proj, self.out_proj, self.gate_proj)
        for projection in filter(None, projections):
            nn.init.xavier_uniform_(projection.weight)
            if bias:
                nn.init.zeros_(projection.bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        is_causal: bool = False,
        need_weights: bool = False,
        cache: KVCache | MemoryCache | None = None,
    ) -> Attended:
        """Let every query gather, head by head, from the positions it may attend to.

        Parameters
        ----------
        query : Tensor, shape (..., tgt_len, d_model)
            The vectors that look.
        key, value : Tensor, shape (..., src_len, d_model), optional
            The vectors that are looked at, in cross-attention, and those that are gathered, `key`
            if not given. Both may be left out once a `attn.cache.MemoryCache` knows them.
        mask : Tensor of bool, optional
            True = may attend. Either broadcastable to (..., tgt_len, src_len), the same for
            every head; or of the full (..., n_heads, tgt_len, src_len), where axes may be 1. A
            head that may attend to nothing is cut out.
        positions : Tensor of int64, broadcastable to (..., tgt_len), optional
            Where the tokens stand, for `relative`; one after the other, behind those in the
            cache, if not given. In self-attention only.
        is_causal, need_weights
            As in `scaled_dot_product_attention`.
        cache : attn.cache.KVCache or attn.cache.MemoryCache, optional
            With the first, of self-attention, `query` holds only the new tokens, and src_len
            counts all. With the second, of cross-attention, the first call serves all others.

        Returns
        -------
        output : Tensor, shape (..., tgt_len, d_model)
        weights : Tensor, shape (..., n_heads, tgt_len, src_len), or None

        Raises
        ------
        ValueError
            If `key` comes with a `KVCache`, with `relative` or with `positions`, which are for
            self-attention; if it is not that of the `MemoryCache`; and as
            `scaled_dot_product_attention` does.
        """
        self._check(query, key, value, positions, cache)
        with restored_on_error(cache):
            bias = None
            query_heads = self._split(self.q_proj(query), self.n_heads)
            if self.q_norm is not None:
                query_heads = self.q_norm(query_heads)
            if isinstance(cache, MemoryCache) and cache.key is not None and cache.value is not None:
                key_heads, value_heads = cache.key, cache.value
            else:
                looked_at = query if key is None else key
                gathered = looked_at if value is None else value
                key_heads = self._split(self.k_proj(looked_at), self.n_kv_heads)
                value_heads = self._split(self.v_proj(gathered), self.n_kv_heads)
                if self.k_norm is not None:
                    key_heads = self.k_norm(key_heads)
                if isinstance(cache, MemoryCache):
                    cache.store(key_heads, value_heads, looked_at, gathered)
                elif key is None:
                    query_heads, key_heads, value_heads, bias = self._placed(
                        query_heads, key_heads, value_heads, positions, cache
                    )
            if isinstance(cache, WindowCache) and mask is not None:
                # The mask may cover all tokens, of which the cache has dropped some.
                is_whole = tuple(getattr(mask, "shape", ()))[-1:] == (cache.length,)
                mask = mask[..., cache.length - key_heads.shape[-2] :] if is_whole else mask
            visible = cache.visible if isinstance(cache, KVCache) else None
            window = self.window if visible is None else None
            if visible is not None:
                check_no_mask(mask)
                mask, is_causal = visible, False
            mask = self._mask_for_heads(mask, query_heads, key_heads, value_heads)
            tgt_len, src_len = query.shape[-2], key_heads.shape[-2]
            if window is not None and (tgt_len > 1 or src_len > window):
                near = window_mask(tgt_len, window, src_len, device=query.device)
                mask = combine_masks(mask, near)
            output, weights = self.attention(
                query_heads,
                key_heads,
                value_heads,
                mask,
                bias=bias,
                is_causal=is_causal and self.window is None,
                need_weights=need_weights,
                dropout=self.dropout if self.training else 0.0,
                enable_gqa=self.n_kv_heads < self.n_heads,
                **self._changes(),
            )
            output = output.transpose(-2, -3).flatten(-2)
            if self.gate_proj is not None:
                output = output * self.gate_proj(query).sigmoid()
            return self.out_proj(output), weights

    def new_cache(self) -> KVCache:
        """Return an empty cache for self-attention."""
        return KVCache() if self.window is None else WindowCache(self.window)

    def new_fixed_cache(self, place: Place) -> FixedKVCache:
        """Return an empty cache for self-attention in an `attn.cache.FixedCache`."""
        d_k = self.d_model // self.n_heads
        if self.window is None:
            return FixedKVCache(place, self.n_kv_heads, d_k, d_k)
        return FixedWindowCache(place, self.n_kv_heads, d_k, d_k, self.window)

    def _changes(self) -> Options:
        """Return the options of attention that are set; the paper's attention has none of them."""
        changes: Options = {}
        if self.sink is not None:
            changes["sink"] = self.sink[:, None, None]
        if self.soft_cap is not None:
            changes["soft_cap"] = self.soft_cap
        return changes

    def _placed(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        positions: Tensor | None,
        cache: KVCache | None,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        """Return queries, keys and values of self-attention, old tokens included, and the bias."""
        tgt_len = query.shape[-2]
        if positions is not None:
            positions = positions.expand(*query.shape[:-3], tgt_len)
        stand: int | Tensor | None = positions
        if stand is None:
            stand = 0 if cache is None else cache.following(tgt_len)
        if self.relative is not None:
            query, key = self.relative.rotate(query, key, stand)
        if cache is not None:
            key, value = cache.append(key, value, positions)
        bias = None
        if self.relative is not None and self._adds_bias:
            keys = positions if cache is None else cache.positions
            if keys is None and (isinstance(stand, int) or self.window is not None):
                # Only distances matter, so the keys of a window may be counted from 0.
                lengths = key.shape[-2] - tgt_len, tgt_len, key.shape[-2]
                bias = self.relative.bias_in_a_row(*lengths, query.dtype, query.device)
            else:
                if keys is None:
                    keys = torch.arange(key.shape[-2], device=query.device)
                queries = (
                    stand if isinstance(stand, Tensor) else keys[..., keys.shape[-1] - tgt_len :]
                )
                bias = self.relative.bias(queries, keys, query.dtype)
        return query, key, value, bias

    @staticmethod
    def _split(x: Tensor, n_heads: int) -> Tensor:
        return torch.unflatten(x, -1, (n_heads, -1)).transpose(-2, -3)

    def _mask_for_heads(
        self, mask: Tensor | None, query: Tensor, key: Tensor, value: Tensor
    ) -> Tensor | None:
        """Give a mask that all heads share an axis of size 1 for them."""
        batch: tuple[int, ...] = query.shape[:-3]
        if not key.shape[:-3] == value.shape[:-3] == batch:
            group = self.n_heads // self.n_kv_heads
            batch = check_attention(query, key, value, group=group)[:-1]
        return mask_for_heads(mask, (*batch, self.n_heads, query.shape[-2], key.shape[-2]))

    def _check(
        self,
        query: Tensor,
        key: Tensor | None,
        value: Tensor | None,
        positions: Tensor | None,
        cache: KVCache | MemoryCache | None,
    ) -> None:
        """Raise ``ValueError`` for arguments of `forward` that do not fit, but for the mask."""
        check_shape("query", query, (..., "length", self.d_model))
        if cache is not None and not isinstance(cache, KVCache | MemoryCache):
            raise argument_error("cache", "a KVCache or a MemoryCache", type(cache).__name__)
        kept = getattr(cache, "window", None)
        keeps_less = kept is not None and (self.window is None or kept < self.window)
        if keeps_less or (isinstance(cache, FixedKVCache) and kept != self.window):
            wanted = "a KVCache" if self.window is None else f"one of window = {self.window}"
            got = "one that keeps all" if kept is None else f"one that keeps a window of {kept}"
            raise argument_error("cache", wanted, got)
        if key is None and value is not None:
            raise argument_error("key", "a tensor, since value is given", None)
        if key is None and not isinstance(cache, MemoryCache):
            check_places(positions, tuple(query.shape[:-1]))
            return
        own = {"relative": self.relative, "positions": positions, "window": self.window}
        for name, given in own.items():
            if given is not None:
                raise argument_error("key", f"None, since {name} is for self-attention", "a memory")
        if isinstance(cache, KVCache):
            wanted = "a MemoryCache for cross-attention; a KVCache is for attention(x)"
            raise argument_error("cache", wanted, type(cache).__name__)
        if key is not None:
            value = key if value is None else value
            check_shape("key", key, (..., "length", self.d_model))
            check_shape("value", value, (..., "length", self.d_model))
        if cache is not None and cache.key is not None:
            if key is not None and value is not None:
                cache.check(key, value)
            # A cache of one head, from another model, would broadcast to all heads of this one.
            fits = (..., self.n_kv_heads, "src_len", self.d_model // self.n_heads)
            check_shape("cache", cache.key, fits)
        elif key is None or value is None:
            raise argument_error("key", "the memory that is to fill the cache", None)
        else:
            check_attention(query, key, value)


def mask_for_heads(mask: Tensor | None, shape: tuple[int, ...]) -> Tensor | None:
    """Return a mask that broadcasts to (..., n_heads, tgt_len, src_len); ``ValueError`` if none can.

    One that all heads share gets an axis of size 1 for them.
    """
    if mask is None:
        return None
    has_heads = getattr(mask, "ndim", 0) > len(shape) - 1
    check_mask("mask", mask, shape if has_heads else (*shape[:-3], *shape[-2:]))
    return mask if has_heads or mask.ndim < 3 else mask[..., None, :, :]


def check_places(positions: Tensor | None, shape: tuple[int, ...]) -> None:
    """Raise ``ValueError`` unless positions are a tensor that broadcasts to (..., tgt_len)."""
    if positions is None:
        return
    check_tensor("positions", positions, "a tensor of int64")
    if broadcast_shapes(positions.shape, shape) != shape:
        wanted = f"a shape that broadcasts to {shape}"
        raise argument_error("positions", wanted, tuple(positions.shape))


# With fewer weights, one product takes less time than preparing two.
LARGE = 2**16


class Linear(nn.Linear):
    """PyTorch's linear layer, which without gradients reads its matrix at the speed of memory.

    For a single row on the CPU, PyTorch calls a routine of MKL that reaches half of that speed on
    processors other than Intel's. A batch of two products, one for each half of the matrix, is
    computed by a faster routine.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Return a Tensor of shape (..., out_features)."""
        weight = self.weight
        if (
            x.numel() == self.in_features
            and x.dtype == torch.float32
            and weight.numel() > LARGE
            and self.out_features % 2 == 0
            and weight.is_cpu
            and weight.is_contiguous()
            and not torch.is_grad_enabled()
            and not torch.compiler.is_compiling()
        ):
            # The row is passed as a transposed view: with a column, PyTorch would call the slow
            # routine.
            rows = x.reshape(1, 1, -1).expand(2, -1, -1)
            product = torch.bmm(weight.unflatten(0, (2, -1)), rows.mT)
            y = product.view(*x.shape[:-1], self.out_features)
            return y if self.bias is None else y + self.bias
        return super().forward(x)
