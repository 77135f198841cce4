"""Recurrent networks, which came before the Transformer, without and with attention.

The encoder of `RecurrentEncoderDecoder` reads one token after another into a state of fixed
size, and the decoder starts from the last state. Without attention that vector is all that the
decoder knows of the source. With attention, every step of the decoder attends to all states of
the encoder: by dot products, or by the small network of `AdditiveAttention`. `RecurrentCache`
keeps the state of the decoder, to write step by step.

`BidirectionalRecurrent` reads a text twice, once from each end, and has no decoder.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attn._checks import (
    argument_error,
    check_choice,
    check_divides,
    check_fraction,
    check_ids,
    check_repeats,
    check_shape,
    check_size,
)
from attn.masks import padding_mask

__all__ = [
    "AdditiveAttention",
    "BidirectionalRecurrent",
    "RecurrentCache",
    "RecurrentEncoderDecoder",
]
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
            If weights are asked of a model without attention; and as everywhere.
        """
        _check_tokens("source", source, ("batch_size", "src_len"), self.vocab_size)
        _check_tokens("target", target, (len(source), "tgt_len"), self.vocab_size)
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
        """
        _check_tokens("source", source, ("batch_size", "src_len"), self.vocab_size)
        if lengths is not None:
            _check_lengths(lengths, *source.shape)
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
        cache: "RecurrentCache | None",
        memory: Tensor,
        last: Tensor,
        lengths: Tensor | None = None,
    ) -> Tensor:
        """Score the next token of each row, as a step of `attn.decoding`.

        The arguments are those of `attn.transformer.Transformer.step`, with a `RecurrentCache`
        or None, both results of `encode`, and the `lengths` that were given to it.
        """
        _check_tokens("ids", ids, ("n_rows", "length"), self.vocab_size)
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


class RecurrentCache:
    """The state of the decoder of `RecurrentEncoderDecoder` between steps.

    Attributes
    ----------
    state : Tensor, shape (1, n_rows, d_model), or None
        None before the first step.
    length : int
        The number of target tokens it has read.
    """

    def __init__(self) -> None:
        self.state: Tensor | None = None
        self.length = 0

    def reorder(self, rows: Tensor) -> None:
        """Make row i of the batch a copy of the old row ``rows[i]``."""
        if self.state is not None:
            self.state = self.state[:, rows]


class AdditiveAttention(nn.Module):
    """Score each state of the encoder by a network with one hidden layer, and average them.

    ``score_j = v . tanh(W query + U memory_j)``

    Parameters
    ----------
    d_model : int
        Size of the states, and of the hidden layer.

    References
    ----------
    Bahdanau et al. (2015), section 3.1 and appendix A.1.2.

    Examples
    --------
    >>> attention = AdditiveAttention(d_model=8)
    >>> memory = torch.ones(2, 5, 8)
    >>> context, weights = attention(torch.ones(2, 8), memory, attention.keys(memory))
    >>> context.shape, weights.shape
    (torch.Size([2, 8]), torch.Size([2, 5]))
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        d_model = check_size("d_model", d_model, least=1)
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, d_model)
        self.score = nn.Linear(d_model, 1, bias=False)

    def keys(self, memory: Tensor) -> Tensor:
        """Return ``U memory``, of the shape of `memory`: it does not depend on the query."""
        keys: Tensor = self.k_proj(memory)
        return keys

    def forward(
        self, query: Tensor, memory: Tensor, keys: Tensor, visible: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Average the states of the encoder for one query.

        Parameters
        ----------
        query : Tensor, shape (batch_size, d_model)
        memory : Tensor, shape (batch_size, src_len, d_model)
        keys : Tensor, shape (batch_size, src_len, d_model)
            The result of the method `keys`.
        visible : Tensor of bool, shape (batch_size, src_len), optional
            True at real tokens; each row has at least one.

        Returns
        -------
        context : Tensor, shape (batch_size, d_model)
        weights : Tensor, shape (batch_size, src_len)
        """
        check_shape("query", query, (len(memory), memory.shape[-1]), like="memory")
        check_shape("keys", keys, tuple(memory.shape), like="memory")
        scores: Tensor = self.score(torch.tanh(self.q_proj(query)[:, None] + keys))[..., 0]
        if visible is not None:
            scores = scores.masked_fill(~visible, -torch.inf)
        weights = scores.softmax(dim=-1)
        return (weights[:, None] @ memory)[:, 0], weights


class BidirectionalRecurrent(nn.Module):
    """Two GRUs, one from each end: every word is predicted from the states on its two sides.

    Neither state has seen the word, so all words of a text can be predicted at once. The two states
    meet only in the last linear layer: the logits are the sum of a term from each side.

    Parameters
    ----------
    vocab_size : int
    d_model : int, default 64
        Size of the embeddings and of the states.

    References
    ----------
    Peters et al. (2018), section 3.1, with two layers of LSTMs, and each direction asked for
    the word by itself; here both are asked together.

    Examples
    --------
    >>> model = BidirectionalRecurrent(vocab_size=10, d_model=8)
    >>> model(torch.tensor([[2, 5, 6, 7, 3]]), torch.tensor([5])).shape
    torch.Size([1, 3, 10])
    """

    def __init__(self, vocab_size: int, d_model: int = 64) -> None:
        super().__init__()
        vocab_size = check_size("vocab_size", vocab_size, least=1)
        d_model = check_size("d_model", d_model, least=1)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.forwards = nn.GRU(d_model, d_model, batch_first=True)
        self.backwards = nn.GRU(d_model, d_model, batch_first=True)
        self.out_proj = nn.Linear(2 * d_model, vocab_size)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Score every token of the vocabulary at every position but the first and the last.

        Parameters
        ----------
        ids : Tensor of int, shape (batch_size, seq_len)
            At least three tokens each; padding may follow.
        lengths : Tensor of int64, shape (batch_size,)
            How many tokens of each row are no padding.

        Returns
        -------
        Tensor, shape (batch_size, seq_len - 2, vocab_size)
            Entry i is about token i + 1. Where that is a row's last token or padding, it means
            nothing.
        """
        check_ids("ids", ids, self.embedding.num_embeddings)
        check_shape("ids", ids, ("batch_size", "seq_len"))
        check_shape("lengths", lengths, (len(ids),))
        if len(ids) == 0 or lengths.min() < 3 or lengths.max() > ids.shape[1]:
            raise argument_error("lengths", f"from 3 to seq_len = {ids.shape[1]}", lengths.tolist())
        x = self.embedding(ids)
        before, _ = self.forwards(x)
        after, _ = self.backwards(_reverse(x, lengths))
        sides = [before[:, :-2], _reverse(after, lengths)[:, 2:]]
        logits: Tensor = self.out_proj(torch.cat(sides, dim=-1))
        return logits


def _reverse(x: Tensor, lengths: Tensor) -> Tensor:
    """Reverse each row of `x`, up to its length."""
    places = lengths[:, None] - 1 - torch.arange(x.shape[1], device=x.device)
    return x.gather(1, places.clamp(min=0)[..., None].expand_as(x))


def _check_tokens(name: str, ids: Tensor, shape: tuple[int | str, str], vocab_size: int) -> None:
    """Raise ``ValueError`` unless these are ids of the vocabulary, at least one in a row."""
    check_ids(name, ids, vocab_size)
    check_shape(name, ids, shape)
    if ids.shape[1] == 0:
        raise argument_error(name, f"shape ({shape[0]}, {shape[1]})", tuple(ids.shape))


def _check_lengths(lengths: Tensor, batch_size: int, src_len: int) -> None:
    """Raise ``ValueError`` unless each source has a length that it can have."""
    if not isinstance(lengths, torch.Tensor) or lengths.dtype != torch.int64:
        got = getattr(lengths, "dtype", type(lengths).__name__)
        raise argument_error("lengths", "a tensor of int64", got)
    check_shape("lengths", lengths, (batch_size,))
    if lengths.numel() and not 1 <= lengths.min() <= lengths.max() <= src_len:
        raise argument_error("lengths", f"from 1 to src_len = {src_len}", lengths.tolist())
