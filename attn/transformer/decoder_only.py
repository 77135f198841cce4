"""The decoder by itself, in the manner of GPT: an encoder's layers under a causal mask."""

from torch import nn

from attn.cache import DecoderCache
from attn.transformer.checkpoint import Checkpoint
from attn.transformer.embedding import TokenEmbedding, unseen
from attn.transformer.stacks import Encoder


class DecoderOnly(Checkpoint, nn.Module):
    """Predict, at every position of a text, the token that follows.

    Without a source there is no cross-attention: what is left of a decoder layer is an
    encoder layer that may not look ahead.

    Parameters
    ----------
    config : TransformerConfig

    References
    ----------
    Radford et al. (2018), Improving Language Understanding by Generative Pre-Training.
    Document 001.

    Examples
    --------
    >>> import torch
    >>> from attn.transformer import TransformerConfig
    >>> model = DecoderOnly(TransformerConfig(vocab_size=10, d_model=8, n_heads=2))
    >>> model(torch.tensor([[5, 6, 7]]))[0].shape
    torch.Size([1, 3, 10])
    """

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = TokenEmbedding(config.vocab_size, config)
        self.stack = Encoder(config)
        self.output = nn.Linear(config.d_model, config.vocab_size, bias=False)
        nn.init.xavier_uniform_(self.output.weight)
        if config.tie_embeddings:
            self.output.weight = self.embedding.tokens.weight

    def forward(self, ids, mask=None, *, need_weights=False, cache=None):
        """Score the token that follows each position.

        Parameters
        ----------
        ids : Tensor of int64, shape (..., seq_len)
            With a `cache`, only the tokens it has not seen.
        mask : Tensor of bool, broadcastable to (..., seq_len, seq_len), optional
            Besides the causal mask.
        need_weights : bool, default False
            Also return the attention weights.
        cache : attn.cache.DecoderCache, optional
            From `new_cache`.

        Returns
        -------
        logits : Tensor, shape (..., seq_len, vocab_size)
        weights : tuple of Tensor, or None
            Those of each layer; None unless `need_weights`.
        """
        start = 0 if cache is None else cache.length
        x, weights = self.stack(
            self.embedding(ids, start),
            mask,
            is_causal=True,
            need_weights=need_weights,
            cache=cache,
        )
        return self.output(x), weights

    def step(self, ids, cache):
        """Score the next token of each row: the step of `attn.decoding`.

        Parameters
        ----------
        ids : Tensor of int64, shape (n_rows, length)
            Everything written so far.
        cache : attn.cache.DecoderCache, or None
            From `new_cache`; None reads the whole of `ids` again.

        Returns
        -------
        Tensor, shape (n_rows, vocab_size)

        Raises
        ------
        ValueError
            If `ids` holds no token that is new to the cache.
        """
        logits, _ = self(unseen(ids, cache), cache=cache)
        return logits[:, -1]

    def new_cache(self):
        """Return an empty cache for `forward` and `step`."""
        return DecoderCache(self.config.n_layers)
