"""Attention to a window and to the first tokens, which needs constant memory."""

import torch
from torch import Tensor

from attn._checks import check_size
from attn.attention import ScaledDotProduct
from attn.masks import causal_mask, window_mask
from attn.positions import rotary


class SinkWindow(ScaledDotProduct):
    """The attention of a model whose cache keeps the last `window` and the first `n_sinks` tokens.

    It computes for a whole text at once what decoding with such a cache computes token by
    token. Positions are counted within the cache, so no distance is larger than the cache.

    Parameters
    ----------
    window : int
        The number of last tokens that each token attends to, itself included.
    n_sinks : int, default 0
        The number of first tokens that are kept.
    base : float, default 10000.0
        The base of the rotary positions that queries and keys were rotated with.

    References
    ----------
    Xiao et al. (2024), Efficient Streaming Language Models with Attention Sinks, section 3.2.

    Examples
    --------
    >>> attention = SinkWindow(window=2, n_sinks=1)
    >>> _, weights = attention(*torch.zeros(3, 1, 4, 8), is_causal=True, need_weights=True)
    >>> weights[0, 3].numpy().round(2)
    array([0.33, 0.  , 0.33, 0.33], dtype=float32)
    """

    def __init__(self, window: int, n_sinks: int = 0, base: float = 10000.0) -> None:
        super().__init__()
        self.window = check_size("window", window, least=1)
        self.n_sinks = check_size("n_sinks", n_sinks)
        self.base = base

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        **options: object,
    ) -> tuple[Tensor, Tensor | None]:
        """Return (output, weights) without a cache; see `attn.attention.ScaledDotProduct`."""
        length, d_k = query.shape[-2:]
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], -3) for x in (key, value))
        places = torch.arange(length, device=query.device)
        in_cache = places.clamp(max=self.n_sinks + self.window - 1)
        scores = query @ key.mT
        sinks = rotary(query, in_cache - places, self.base) @ key[..., : self.n_sinks, :].mT
        scores = torch.cat((sinks, scores[..., self.n_sinks :]), dim=-1) / d_k**0.5
        kept = window_mask(length, self.window) | (places < self.n_sinks)
        kept = kept & causal_mask(length)
        if mask is not None:
            kept = kept & mask
        weights = scores.masked_fill(~kept, -torch.inf).softmax(dim=-1)
        return weights @ value, weights if options.get("need_weights") else None
