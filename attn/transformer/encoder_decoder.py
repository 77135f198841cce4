"""The Transformer of the paper: an encoder reads, a decoder writes."""

from typing import NamedTuple

from torch import Tensor, nn

from attn._checks import wrong
from attn.cache import DecoderCache
from attn.transformer.checkpoint import Checkpoint
from attn.transformer.embedding import TokenEmbedding, unseen
from attn.transformer.stacks import Decoder, Encoder


class TransformerWeights(NamedTuple):
    """The attention weights of every layer, each of shape (..., n_heads, length, length)."""

    encoder: tuple[Tensor, ...]
    decoder: tuple[Tensor, ...]
    cross: tuple[Tensor, ...]


class Transformer(Checkpoint, nn.Module):
    """Encoder and decoder, from token ids to the logits of the next target token.

    Parameters
    ----------
    config : TransformerConfig

    References
    ----------
    Vaswani et al. (2017), Figure 1. Documents 001, 003 and 004.

    Examples
    --------
    >>> import torch
    >>> from attn.transformer import TransformerConfig
    >>> config = TransformerConfig(vocab_size=10, tgt_vocab_size=12, d_model=8, n_heads=2)
    >>> model = Transformer(config)
    >>> source, target = torch.tensor([[5, 6, 7]]), torch.tensor([[2, 8, 9, 4]])
    >>> logits, _ = model(source, target)
    >>> logits.shape
    torch.Size([1, 4, 12])
    """

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.src_embedding = TokenEmbedding(config.vocab_size, config)
        self.tgt_embedding = TokenEmbedding(config.tgt_vocab_size or config.vocab_size, config)
        self.encoder, self.decoder = Encoder(config), Decoder(config)
        self.output = nn.Linear(
            config.d_model, self.tgt_embedding.tokens.num_embeddings, bias=False
        )
        nn.init.xavier_uniform_(self.output.weight)
        if config.tie_embeddings:
            self.output.weight = self.tgt_embedding.tokens.weight
            if config.tgt_vocab_size is None:
                self.src_embedding.tokens.weight = self.tgt_embedding.tokens.weight

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, *, need_weights=False):
        """Predict, at every position of the target, the token that follows.

        Parameters
        ----------
        src : Tensor of int64, shape (..., src_len)
            Ids of the source tokens.
        tgt : Tensor of int64, shape (..., tgt_len)
            Ids of the target tokens so far, from the start token on.
        src_mask : Tensor of bool, broadcastable to (..., 1, src_len), optional
            True at real source tokens, as `attn.masks.padding_mask` makes it.
        tgt_mask : Tensor of bool, broadcastable to (..., tgt_len, tgt_len), optional
            Besides the causal mask. Padding at the end needs none: nothing before it sees it.
        need_weights : bool, default False
            Also return the attention weights.

        Returns
        -------
        logits : Tensor, shape (..., tgt_len, tgt_vocab_size)
        weights : TransformerWeights, or None
            None unless `need_weights`.

        Raises
        ------
        ValueError
            If ids are not in the vocabulary, or shapes do not fit.
        """
        memory, encoder_weights = self.encode(src, src_mask, need_weights=need_weights)
        logits, weights = self.decode(tgt, memory, src_mask, tgt_mask, need_weights=need_weights)
        return logits, TransformerWeights(encoder_weights, *weights) if need_weights else None

    def encode(self, src, src_mask=None, *, need_weights=False):
        """Read the source: the first half of `forward`.

        Returns
        -------
        memory : Tensor, shape (..., src_len, d_model)
        weights : tuple of Tensor, or None
        """
        return self.encoder(self.src_embedding(src), src_mask, need_weights=need_weights)

    def decode(self, tgt, memory, src_mask=None, tgt_mask=None, *, need_weights=False, cache=None):
        """Predict from what was read and written: the second half of `forward`.

        With a `attn.cache.DecoderCache`, `tgt` holds only the tokens it has not seen.

        Returns
        -------
        logits : Tensor, shape (..., tgt_len, tgt_vocab_size)
        weights : pair of tuples of Tensor, or None
            Those of self-attention and of cross-attention, layer by layer.
        """
        start = 0 if cache is None else cache.length
        x, weights = self.decoder(
            self.tgt_embedding(tgt, start),
            memory,
            tgt_mask,
            src_mask,
            need_weights=need_weights,
            cache=cache,
        )
        return self.output(x), weights

    def step(self, ids, cache, memory, src_mask=None):
        """Score the next token of each row: the step of `attn.decoding`.

        Parameters
        ----------
        ids : Tensor of int64, shape (n_rows, length)
            Everything written so far. `n_rows` may be a multiple of the number of sources:
            beam search advances several rows for each.
        cache : attn.cache.DecoderCache, or None
            From `new_cache`; None reads the whole of `ids` again.
        memory : Tensor, shape (batch_size, src_len, d_model)
            From `encode`.
        src_mask : Tensor of bool, broadcastable to (batch_size, 1, src_len), optional
            As given to `encode`.

        Returns
        -------
        Tensor, shape (n_rows, tgt_vocab_size)

        Raises
        ------
        ValueError
            If `ids` holds no token that is new to the cache, or its rows cannot be shared out
            evenly among the sources.

        Examples
        --------
        >>> import torch
        >>> from functools import partial
        >>> from attn.decoding import greedy
        >>> from attn.transformer import TransformerConfig
        >>> model = Transformer(TransformerConfig(vocab_size=10, d_model=8, n_heads=2)).eval()
        >>> memory, _ = model.encode(torch.tensor([[5, 6, 7]]))
        >>> step = partial(model.step, memory=memory)
        >>> start = torch.tensor([[2]])
        >>> cached = greedy(step, start, end_id=3, max_new_tokens=4, cache=model.new_cache())
        >>> torch.equal(cached, greedy(step, start, end_id=3, max_new_tokens=4))
        True
        """
        new_ids = unseen(ids, cache)
        if not len(memory) or len(ids) % len(memory):
            raise wrong("ids", f"a multiple of {len(memory)} rows to match memory", len(ids))
        repeats = len(ids) // len(memory)
        if repeats > 1:
            memory = memory.repeat_interleave(repeats, dim=0)
            if src_mask is not None and src_mask.ndim > 2 and len(src_mask) > 1:
                src_mask = src_mask.repeat_interleave(repeats, dim=0)
        logits, _ = self.decode(new_ids, memory, src_mask, cache=cache)
        return logits[:, -1]

    def new_cache(self):
        """Return an empty cache for `decode` and `step`."""
        return DecoderCache(self.config.n_layers)
