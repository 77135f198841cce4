"""Multi-head attention: self or cross, any mask, grouped queries, with a KV cache."""

from torch import nn

from attn._checks import (
    check_attention,
    check_divides,
    check_fraction,
    check_mask,
    check_size,
    wrong,
)
from attn.attention.scaled_dot_product import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    """Several heads of attention side by side, each in ``d_k = d_model / n_heads`` dimensions.

    One head gives each query one weighted mean; several can look at several things. It
    serves as self-attention, ``attention(x)``, and as cross-attention, ``attention(x, memory)``.

    Parameters
    ----------
    d_model : int
        Size of the token vectors; a multiple of `n_heads`.
    n_heads : int
        Number of heads.
    dropout : float, default 0.0
        Probability with which each weight is dropped in training.
    bias : bool, default True
        Whether the projections add a learned bias.
    n_kv_heads : int, optional
        Grouped-query attention: so many heads of keys and values, each shared by
        ``n_heads / n_kv_heads`` neighbouring query heads. As many as `n_heads` if not given.
    relative : Module, optional
        `attn.positions.RotaryPositions` or `attn.positions.ALiBiPositions`, if the scores
        are to depend on distances. For self-attention only.

    Raises
    ------
    ValueError
        If a size is not an integer of at least 1, `d_model` is not a multiple of `n_heads`,
        `n_heads` not one of `n_kv_heads`, or `dropout` outside [0, 1).

    References
    ----------
    Vaswani et al. (2017), section 3.2.2. Ainslie et al. (2023), GQA. Document 001 on the
    heads and their parameters; document 000, section 3.3.3.

    Examples
    --------
    >>> import torch
    >>> attention = MultiHeadAttention(d_model=8, n_heads=2)
    >>> output, weights = attention(torch.ones(3, 5, 8), is_causal=True, need_weights=True)
    >>> output.shape, weights.shape
    (torch.Size([3, 5, 8]), torch.Size([3, 2, 5, 5]))
    """

    def __init__(self, d_model, n_heads, dropout=0.0, bias=True, *, n_kv_heads=None, relative=None):
        super().__init__()
        self.d_model = check_size("d_model", d_model, least=1)
        self.n_heads = check_size("n_heads", n_heads, least=1)
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        self.n_kv_heads = check_size("n_kv_heads", n_kv_heads, least=1)
        check_divides("d_model", d_model, "n_heads", n_heads)
        check_divides("n_heads", n_heads, "n_kv_heads", n_kv_heads)
        check_fraction("dropout", dropout)
        self.dropout = dropout
        self.relative = relative
        d_kv = d_model // n_heads * n_kv_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_kv, bias=bias)
        self.v_proj = nn.Linear(d_model, d_kv, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        for projection in (self.q_proj, self.k_proj, self.v_proj, self.out_proj):
            nn.init.xavier_uniform_(projection.weight)
            if bias:
                nn.init.zeros_(projection.bias)

    def forward(
        self,
        query,
        key=None,
        value=None,
        mask=None,
        *,
        is_causal=False,
        need_weights=False,
        cache=None,
    ):
        """Let every query gather, head by head, from the positions it may attend to.

        Parameters
        ----------
        query : Tensor, shape (..., tgt_len, d_model)
            The vectors that look.
        key : Tensor, shape (..., src_len, d_model), optional
            The vectors that are looked at. Not given, it is self-attention: `query` itself.
        value : Tensor, shape (..., src_len, d_model), optional
            The vectors that are gathered; `key` if not given.
        mask : Tensor of bool, optional
            True = may attend. Either broadcastable to (..., tgt_len, src_len), the same for
            every head; or with one axis more than `query`, broadcastable to (..., n_heads,
            tgt_len, src_len). A head that may attend to nothing is cut out.
        is_causal, need_weights
            As in `scaled_dot_product_attention`.
        cache : attn.cache.KVCache, optional
            In self-attention `query` holds only the new tokens; their keys and values are
            appended, and src_len counts all. In cross-attention the keys and values of the
            first call stay: later ones ignore what `key` and `value` hold.

        Returns
        -------
        output : Tensor, shape (..., tgt_len, d_model)
            One new vector per query.
        weights : Tensor, shape (..., n_heads, tgt_len, src_len), or None
            The weights of each head; None unless `need_weights`.

        Raises
        ------
        ValueError
            If shapes do not fit, and as `scaled_dot_product_attention` does.
        """
        if key is None and value is not None:
            raise wrong("key", "a tensor, since value is given", None)
        is_self_attention = key is None
        key = query if key is None else key
        value = key if value is None else value
        batch = self._check_inputs(query, key, value)

        query_heads = self._split(self.q_proj(query), self.n_heads)
        if cache is not None and cache.key is not None and not is_self_attention:
            key_heads, value_heads = cache.key, cache.value
        else:
            key_heads = self._split(self.k_proj(key), self.n_kv_heads)
            value_heads = self._split(self.v_proj(value), self.n_kv_heads)
            if cache is not None:
                key_heads, value_heads = cache.append(key_heads, value_heads)
        distances = None
        if self.relative is not None:
            query_heads, key_heads, distances = self.relative(query_heads, key_heads)
        if self.n_kv_heads < self.n_heads:
            group = self.n_heads // self.n_kv_heads
            key_heads = key_heads.repeat_interleave(group, dim=-3)
            value_heads = value_heads.repeat_interleave(group, dim=-3)

        output, weights = scaled_dot_product_attention(
            query_heads,
            key_heads,
            value_heads,
            self._mask_for_heads(mask, (*batch, query.shape[-2], key_heads.shape[-2])),
            bias=distances,
            is_causal=is_causal,
            need_weights=need_weights,
            dropout=self.dropout if self.training else 0.0,
        )
        return self.out_proj(output.transpose(-2, -3).flatten(-2)), weights

    def _check_inputs(self, query, key, value):
        for name, x in {"query": query, "key": key, "value": value}.items():
            if x.ndim < 2 or x.shape[-1] != self.d_model:
                raise wrong(name, f"shape (..., length, {self.d_model})", tuple(x.shape))
        return check_attention(query, key, value)

    @staticmethod
    def _split(x, n_heads):
        return x.unflatten(-1, (n_heads, -1)).transpose(-2, -3)

    @staticmethod
    def _mask_for_heads(mask, shape):
        """Give a mask that all heads share, of at most `shape`, an axis of size 1 for them."""
        if mask is None or getattr(mask, "ndim", 0) > len(shape):
            return mask
        check_mask("mask", mask, shape)
        return mask if mask.ndim < 3 else mask[..., None, :, :]
