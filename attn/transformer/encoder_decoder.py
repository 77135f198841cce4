"""The Transformer of the paper: an encoder reads, a decoder writes."""

from typing import NamedTuple

from torch import Tensor, nn

from attn._checks import check_repeats, check_tensor
from attn.attention.multi_head import Linear
from attn.cache import DecoderCache, restored_on_error
from attn.transformer.checkpoint import Checkpoint
from attn.transformer.config import TransformerConfig
from attn.transformer.stacks import Decoder, Encoder, TokenEmbedding, following, new_tokens


class TransformerWeights(NamedTuple):
    """The attention weights of every layer, each of shape (..., n_heads, length, length)."""

    encoder: tuple[Tensor, ...]
    decoder: tuple[Tensor, ...]
    cross: tuple[Tensor, ...]


class Transformer(Checkpoint):
    """Encoder and decoder, from token ids to the logits of the next target token.

    Parameters
    ----------
    config : TransformerConfig

    References
    ----------
    Vaswani et al. (2017), Figure 1.

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

    unused = ("prediction_head", "mixers", "experts")

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.src_embedding = TokenEmbedding(config.vocab_size, config)
        self.tgt_embedding = TokenEmbedding(config.tgt_vocab_size or config.vocab_size, config)
        self.encoder, self.decoder = Encoder(config), Decoder(config)
        self.output = Linear(config.d_model, self.tgt_embedding.tokens.num_embeddings, bias=False)
        nn.init.xavier_uniform_(self.output.weight)
        if config.tie_embeddings:
            self.output.weight = self.tgt_embedding.tokens.weight
            if config.tgt_vocab_size is None:
                self.src_embedding.tokens.weight = self.tgt_embedding.tokens.weight

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        *,
        src_positions: Tensor | None = None,
        tgt_positions: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, TransformerWeights | None]:
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
        src_positions, tgt_positions : Tensor of int64, broadcastable to the ids, optional
            Where each token stands; 0, 1, 2, ... if not given.
        need_weights : bool, default False
            Also return the attention weights.

        Returns
        -------
        logits : Tensor, shape (..., tgt_len, tgt_vocab_size)
        weights : TransformerWeights, or None
        """
        memory, encoder_weights = self.encode(
            src, src_mask, src_positions=src_positions, need_weights=need_weights
        )
        logits, weights = self.decode(
            tgt, memory, src_mask, tgt_mask, tgt_positions=tgt_positions, need_weights=need_weights
        )
        if encoder_weights is None or weights is None:
            return logits, None
        return logits, TransformerWeights(encoder_weights, *weights)

    def encode(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        *,
        src_positions: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, tuple[Tensor, ...] | None]:
        """Read the source, the first half of `forward`: a memory of shape (..., src_len, d_model)."""
        x = self.src_embedding(src, 0 if src_positions is None else src_positions)
        memory, weights = self.encoder(
            x, src_mask, positions=src_positions, need_weights=need_weights
        )
        return memory, weights

    def decode(
        self,
        tgt: Tensor,
        memory: Tensor | None,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        *,
        tgt_positions: Tensor | None = None,
        need_weights: bool = False,
        cache: DecoderCache | None = None,
    ) -> tuple[Tensor, tuple[tuple[Tensor, ...], tuple[Tensor, ...]] | None]:
        """Predict from the memory and the target so far: the second half of `forward`.

        With a `attn.cache.DecoderCache`, `tgt` holds only the tokens that the cache has not seen,
        and `memory` may be None after the first call. The weights are those of self-attention and
        of cross-attention, layer by layer.
        """
        start = following(tgt, cache) if tgt_positions is None else tgt_positions
        with restored_on_error(cache):
            x, weights = self.decoder(
                self.tgt_embedding(tgt, start),
                memory,
                tgt_mask,
                src_mask,
                positions=tgt_positions,
                need_weights=need_weights,
                cache=cache,
            )
            logits = self.output(x)
        if cache is not None:
            cache.keep_ids(tgt)
        return logits, weights

    def step(
        self,
        ids: Tensor,
        cache: DecoderCache | None,
        memory: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        tgt_positions: Tensor | None = None,
    ) -> Tensor:
        """Score the next token of each row: the step of `attn.decoding`.

        Parameters
        ----------
        ids, cache, tgt_mask, tgt_positions
            As in `DecoderOnly.step` (there `mask` and `positions`), of the target. `n_rows` may be a
            multiple of the number of sources: beam search advances several rows for each.
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
        new_ids, tgt_mask, tgt_positions = new_tokens(ids, cache, tgt_mask, tgt_positions)
        known = cache is not None and cache.knows(memory)
        repeats = check_repeats(len(ids), len(memory))
        if src_mask is not None:
            check_tensor("src_mask", src_mask, "a tensor of bool")
        rows = None if known else _repeat(memory, repeats)
        src_mask = None if src_mask is None else _repeat(src_mask, repeats)
        logits, _ = self.decode(
            new_ids, rows, src_mask, tgt_mask, tgt_positions=tgt_positions, cache=cache
        )
        if cache is not None and not known:
            cache.remember(memory, repeats)
        return logits[:, -1]

    def new_cache(self) -> DecoderCache:
        """Return an empty cache for `decode` and `step`."""
        return DecoderCache(self.config.n_layers)


def _repeat(x: Tensor, repeats: int) -> Tensor:
    """Repeat each row of a batch, unless a single row serves all."""
    return x.repeat_interleave(repeats, dim=0) if repeats > 1 and x.ndim > 2 and len(x) > 1 else x
