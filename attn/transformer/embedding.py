"""From token ids to vectors that know what they are and where they stand."""

import torch
from torch import nn

from attn._checks import check_shape, wrong
from attn.positions import LearnedPositions, SinusoidalPositions


class TokenEmbedding(nn.Module):
    """Look up each token's vector, scale it, add its position, drop some numbers.

    Parameters
    ----------
    vocab_size : int
        Number of tokens.
    config : TransformerConfig
        For the rest.

    References
    ----------
    Vaswani et al. (2017), sections 3.4, 3.5 and 5.4. Document 003.

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

    def __init__(self, vocab_size, config):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, config.d_model)
        # Times the root of d_model this is variance 1, as that of the positions is near it.
        nn.init.normal_(self.tokens.weight, std=config.d_model**-0.5)
        self.scale = config.d_model**0.5 if config.scale_embeddings else 1.0
        self.positions = {
            "sinusoidal": lambda: SinusoidalPositions(config.d_model),
            "learned": lambda: LearnedPositions(config.max_len, config.d_model),
        }.get(config.positions, lambda: None)()
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, ids, start=0):
        """Embed tokens.

        Parameters
        ----------
        ids : Tensor of int64, shape (..., seq_len)
        start : int, default 0
            The position of the first: the number of tokens in the cache, if there is one.

        Returns
        -------
        Tensor, shape (..., seq_len, d_model)

        Raises
        ------
        ValueError
            If an id is not in the vocabulary (not checked inside ``torch.compile``), or a
            learned position does not exist.
        """
        self._check(ids)
        x = self.tokens(ids) * self.scale
        if self.positions is not None:
            x = self.positions(x, start)
        return self.dropout(x)

    def _check(self, ids):
        if not isinstance(ids, torch.Tensor) or ids.dtype not in (torch.int64, torch.int32):
            got = getattr(ids, "dtype", type(ids).__name__)
            raise wrong("ids", "a tensor of int64 or int32", got)
        check_shape("ids", ids, (..., "seq_len"))
        if torch.compiler.is_compiling() or ids.is_meta or not ids.numel():
            return
        last = self.tokens.num_embeddings - 1
        for extreme in ids.aminmax():
            if not 0 <= extreme <= last:
                raise wrong("ids", f"values from 0 to {last}", int(extreme))


def unseen(ids, cache):
    """Return the tokens of `ids`, shape (n_rows, length), that a cache has not seen."""
    check_shape("ids", ids, ("n_rows", "length"))
    start = 0 if cache is None else cache.length
    if ids.shape[1] <= start:
        raise wrong("ids", f"more than the {start} tokens that were read before", ids.shape[1])
    return ids[:, start:]
