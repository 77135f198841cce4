"""The KV cache: keys and values once computed are kept, so that decoding repeats no work.

When a decoder writes one token after another, the keys and values of the old tokens never
change. Without a cache, step n computes n of them again; with it, one.
"""

import torch

from attn._checks import check_shape, check_size


class KVCache:
    """The keys and values that one attention layer has computed so far.

    `attn.attention.MultiHeadAttention` fills it: self-attention appends those of each new
    token, cross-attention stores those of the source once and never looks at it again.

    Attributes
    ----------
    key, value : Tensor, shape (batch_size, n_kv_heads, length, d_k), or None
        What is kept; None while the cache is empty.

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

    def __init__(self):
        self.key = self.value = None

    @property
    def length(self):
        """Number of positions kept."""
        return 0 if self.key is None else self.key.shape[-2]

    def append(self, key, value):
        """Add the keys and values of new positions, and return those of all."""
        if self.key is not None:
            *rows_and_heads, _, d_k = self.key.shape
            check_shape("key", key, (*rows_and_heads, "length", d_k), like="the cache")
            key = torch.cat((self.key, key), dim=-2)
            value = torch.cat((self.value, value), dim=-2)
        self.key, self.value = key, value
        return key, value

    def reorder(self, rows):
        """Let row i of the batch become a copy of what row ``rows[i]`` was."""
        if self.key is not None:
            self.key, self.value = self.key[rows], self.value[rows]


class DecoderCache:
    """One `KVCache` for the self-attention of each layer, one for its cross-attention.

    This is the ``cache`` that `attn.decoding` passes from step to step.

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

    def __init__(self, n_layers):
        n_layers = check_size("n_layers", n_layers, least=1)
        self.self_attention = [KVCache() for _ in range(n_layers)]
        self.cross_attention = [KVCache() for _ in range(n_layers)]

    @property
    def length(self):
        """Number of target positions that every layer has seen."""
        return self.self_attention[0].length

    def reorder(self, rows):
        """Let row i of the batch become a copy of what row ``rows[i]`` was.

        Parameters
        ----------
        rows : Tensor of int64, shape (new_batch_size,)
            Beam search uses it to repeat rows, to move them, and to let them go.
        """
        for cache in (*self.self_attention, *self.cross_attention):
            cache.reorder(rows)
