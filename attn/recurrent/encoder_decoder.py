"""A recurrent encoder-decoder."""

import math

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attn._checks import (
    argument_error,
    check_choice,
    check_divides,
    check_fraction,
    check_repeats,
    check_size,
)
from attn.masks import padding_mask
from attn.recurrent._inputs import check_lengths, check_tokens
from attn.recurrent.additive import AdditiveAttention
from attn.recurrent.cache import RecurrentCache

KINDS = ("dot", "additive")


class RecurrentEncoderDecoder(nn.Module):
    """Two GRUs: an encoder that reads the source, and a decoder that writes the target.

    Parameters
    ----------
    vocab_size : int
        The number of tokens of the vocabulary that source and target share.
    d_model : int, default 64
        Size of the embeddings and of the states.
    attention : {"dot", "additive"} or bool or None, default True
        How the decoder attends to the states of the encoder. With ``"dot"`` its query is the
        state after the newest token, compared by dot products. With ``"additive"`` it is the
        state before that token, compared by a small network, and the result is read together
        with the token. True is ``"dot"``. With None or False the decoder has only the last
        state of the encoder.
    bidirectional : bool, default False
        Whether the encoder reads from both ends, with half the state size for each direction.
    tie_embeddings : bool, default False
        Whether the output layer uses the embedding matrix, after one more linear layer of size
        `d_model`. The embeddings then start small and are scaled by the square root of
        `d_model`.
    dropout : float, default 0.0
        The dropout of the embeddings and of the input of the output layer.

    Raises
    ------
    ValueError
        If a size is not a positive integer, or another value not one of those described.

    References
    ----------
    Sutskever et al. (2014), section 2, without attention. Luong et al. (2015), section 3.1,
    with the dot product. Bahdanau et al. (2015), section 3, with the network.

    Examples
    --------
    >>> model = RecurrentEncoderDecoder(vocab_size=10, d_model=8)
    >>> source, target = torch.tensor([[3, 4, 5]]), torch.tensor([[0, 5]])
    >>> logits, weights = model(source, target, need_weights=True)
    >>> logits.shape, weights.shape
    (torch.Size([1, 2, 10]), torch.Size([1, 2, 3]))
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int = 64,
        *,
        attention: bool | str | None = True,
        bidirectional: bool = False,
        tie_embeddings: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.vocab_size = check_size("vocab_size", vocab_size, least=1)
        d_model = check_size("d_model", d_model, least=1)
        check_fraction("dropout", dropout)
        if bidirectional:
            check_divides("d_model", d_model, "the number of directions", 2)
        if isinstance(attention, str):
            check_choice("attention", attention, KINDS)
        self.attention = attention if isinstance(attention, str) else "dot" if attention else None
        reads = 2 * d_model if self.attention == "additive" else d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        size = d_model // 2 if bidirectional else d_model
        self.encoder = nn.GRU(d_model, size, batch_first=True, bidirectional=bool(bidirectional))
        self.decoder = nn.GRU(reads, d_model, batch_first=True)
        shown = 2 * d_model if self.attention else d_model
        self.scale, self.dropout = 1.0, nn.Dropout(dropout)
        if tie_embeddings:
            self.readout: nn.Module = nn.Sequential(nn.Linear(shown, d_model), nn.Tanh())
            self.out_proj = nn.Linear(d_model, vocab_size, bias=False)
            self.out_proj.weight = self.embedding.weight
            self.scale = math.sqrt(d_model)
            nn.init.normal_(self.embedding.weight, std=1 / self.scale)
        else:
            self.readout = nn.Identity()
            self.out_proj = nn.Linear(shown, vocab_size)
        self.scores = AdditiveAttention(d_model) if self.attention == "additive" else None

    def forward(
        self,
        source: Tensor,
        target: Tensor,
        lengths: Tensor | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Score the next token after each token of the target.

        Parameters
        ----------
        source : Tensor of int, shape (batch_size, src_len)
        target : Tensor of int, shape (batch_size, tgt_len)
            The inputs of the decoder: a start token, then the target so far. Padding may
            follow.
        lengths : Tensor of int64, shape (batch_size,), optional
            The number of real tokens of each source; by default all.
        need_weights : bool, default False

        Returns
        -------
        logits : Tensor, shape (batch_size, tgt_len, vocab_size)
        weights : Tensor, shape (batch_size, tgt_len, src_len), or None
            Row i belongs to the query that *predicts* the token after ``target[:, i]``.

        Raises
        ------
        ValueError
            If shapes do not fit, a source has no tokens, ids are not in the vocabulary, or
            weights are asked of a model without attention.
        """
        check_tokens("source", source, ("batch_size", "src_len"), self.vocab_size)
        check_tokens("target", target, (len(source), "tgt_len"), self.vocab_size)
        if need_weights and not self.attention:
            raise argument_error("need_weights", "False without attention", need_weights)
        memory, last = self.encode(source, lengths)
        logits, _, weights = self._decode(target, last, memory, lengths)
        return logits, weights if need_weights else None

    def encode(self, source: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Encode the source.

        Returns
        -------
        memory : Tensor, shape (batch_size, src_len, d_model)
            The state after each token, zero at padding.
        last : Tensor, shape (1, batch_size, d_model)
            The state after the last token, of both directions if there are two.

        Raises
        ------
        ValueError
            As in `forward`.
        """
        check_tokens("source", source, ("batch_size", "src_len"), self.vocab_size)
        if lengths is not None:
            check_lengths(lengths, *source.shape)
        x = self._embed(source)
        if lengths is None or not len(lengths):
            memory, last = self.encoder(x)
        else:
            packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            states, last = self.encoder(packed)
            memory, _ = pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])
        return memory, torch.cat(tuple(last), dim=1)[None]

    def step(
        self,
        ids: Tensor,
        cache: RecurrentCache | None,
        memory: Tensor,
        last: Tensor,
        lengths: Tensor | None = None,
    ) -> Tensor:
        """Score the next token of each row, as a step of `attn.decoding`.

        Parameters
        ----------
        ids : Tensor of int64, shape (n_rows, length)
            All tokens so far. `n_rows` may be a multiple of the number of sources, because
            beam search has several rows for each.
        cache : RecurrentCache, or None
            With None, the decoder reads all of `ids`.
        memory, last : Tensor
            The results of `encode`.
        lengths : Tensor of int64, shape (batch_size,), optional
            As given to `encode`.

        Returns
        -------
        Tensor, shape (n_rows, vocab_size)

        Raises
        ------
        ValueError
            As in `forward`, and as `attn.transformer.Transformer.step` does.
        """
        check_tokens("ids", ids, ("n_rows", "length"), self.vocab_size)
        repeats = check_repeats(len(ids), len(memory))
        memory, last = memory.repeat_interleave(repeats, 0), last.repeat_interleave(repeats, 1)
        lengths = None if lengths is None else lengths.repeat_interleave(repeats)
        cache = RecurrentCache() if cache is None else cache
        state = last if cache.state is None else cache.state
        if state.shape[1] != len(ids):
            raise argument_error("ids", f"{state.shape[1]} rows, as the cache has", len(ids))
        if ids.shape[1] <= cache.length:
            raise argument_error(
                "ids", f"more than the {cache.length} tokens read before", ids.shape[1]
            )
        logits, cache.state, _ = self._decode(ids[:, cache.length :], state, memory, lengths)
        cache.length = ids.shape[1]
        return logits[:, -1]

    def _embed(self, ids: Tensor) -> Tensor:
        x: Tensor = self.dropout(self.embedding(ids) * self.scale)
        return x

    def _decode(
        self, target: Tensor, state: Tensor, memory: Tensor, lengths: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return logits, the last state and, with attention, the weights."""
        x, visible = self._embed(target), None
        if lengths is not None:
            visible = padding_mask(lengths.to(memory.device), memory.shape[1])[:, 0]
        if self.scores is not None:
            states, state, context, weights = self._one_by_one(x, state, memory, visible)
        else:
            states, state = self.decoder(x, state)
            if not self.attention:
                return self._logits(states), state, None
            scores = states @ memory.mT
            if visible is not None:
                scores = scores.masked_fill(~visible[:, None], -torch.inf)
            weights = scores.softmax(dim=-1)
            context = weights @ memory
        return self._logits(torch.cat([states, context], dim=-1)), state, weights

    def _one_by_one(
        self, x: Tensor, state: Tensor, memory: Tensor, visible: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Run the decoder step by step, since each input depends on the state before."""
        assert self.scores is not None
        keys, steps = self.scores.keys(memory), []
        for token in x.unbind(dim=1):
            context, weights = self.scores(state[0], memory, keys, visible)
            _, state = self.decoder(torch.cat([token, context], dim=1)[:, None], state)
            steps.append((state[0], context, weights))
        states, contexts, rows = (torch.stack(part, 1) for part in zip(*steps, strict=True))
        return states, state, contexts, rows

    def _logits(self, states: Tensor) -> Tensor:
        logits: Tensor = self.out_proj(self.dropout(self.readout(states)))
        return logits
