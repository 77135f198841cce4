"""Batches of sequence pairs, the predictions of the Transformer for them, and the loss.

The checks of inputs that all applications share are here too.
"""

import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from attn._checks import argument_error, check_size
from attn.corpus.pairs_file import normalise
from attn.decoding import beam_search, greedy
from attn.masks import padding_mask
from attn.metrics import token_accuracy
from attn.metrics.text import as_array
from attn.positions import SCHEMES, LearnedPositions
from attn.tokenizer import WordTokenizer, words
from attn.tokenizer.base import Tokenizer
from attn.training import cross_entropy, pad, shift
from attn.transformer import Transformer, TransformerConfig

SEQUENCES_AT_A_TIME = 128

Sequenced = TypeVar("Sequenced", bound=Sized)
Ids: TypeAlias = list[int]
# The source ids, their lengths, and the target ids.
Batch: TypeAlias = tuple[Tensor, Tensor, Tensor]


def listed(
    name: str, given: Iterable[Any], wanted: str, is_one: Callable[[Any], bool], kind: str
) -> list[Any]:
    """Return items as a list; refuse a single item, an empty list and items of another kind."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise argument_error(name, f"several, each {wanted}", reprlib.repr(given))
    some = list(given)
    if not some:
        raise argument_error(name, f"at least one {kind}", "none")
    for i, one in enumerate(some):
        if not is_one(one):
            raise argument_error(f"{name}[{i}]", wanted, reprlib.repr(one))
    return some


def are_texts(*values: object) -> bool:
    """Return whether all are strings."""
    return all(isinstance(value, str) for value in values)


def most_tokens(config: TransformerConfig) -> int | None:
    """Return the number of learned positions of a model, or None if any length is possible."""
    is_learned = issubclass(SCHEMES[config.positions], LearnedPositions)
    return config.max_len if is_learned else None


def check_fits(name: str, n_tokens: int, config: TransformerConfig, beside: int = 0) -> None:
    """Raise ``ValueError`` if tokens and those `beside` them exceed the learned positions."""
    most = most_tokens(config)
    if most is not None and n_tokens + beside > most:
        wanted = f"at most {most - beside} tokens, for which the model learned positions"
        raise argument_error(name, wanted, n_tokens)


def placed(model: nn.Module, *tensors: Tensor) -> tuple[Tensor, ...]:
    """Return tensors on the device of a model's parameters."""
    device = next(model.parameters()).device
    return tuple(tensor.to(device) for tensor in tensors)


def by_length(
    sequences: Sequence[Sequenced], length: Callable[[Sequenced], int] = len
) -> Iterator[list[int]]:
    """Yield the indices of sequences in batches of similar `length`."""
    order = sorted(range(len(sequences)), key=lambda i: length(sequences[i]))
    for start in range(0, len(order), SEQUENCES_AT_A_TIME):
        yield order[start : start + SEQUENCES_AT_A_TIME]


def collate(pairs: Sequence[tuple[Ids, Ids]]) -> Batch:
    """Make a batch of pairs of ids: sources, their lengths, targets from ``<sos>`` to ``<eos>``."""
    src, lengths = pad([source for source, _ in pairs], Tokenizer.pad_id)
    targets = [[Tokenizer.sos_id, *target, Tokenizer.eos_id] for _, target in pairs]
    tgt, _ = pad(targets, Tokenizer.pad_id)
    return src, lengths, tgt


def predict(model: Transformer, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the logits at every position of the targets, and the target tokens."""
    src, lengths, tgt = batch
    inputs, targets = shift(tgt)
    logits, _ = model(src, inputs, src_mask=padding_mask(lengths, src.shape[1]))
    return logits, targets


def sequence_loss(
    model: Transformer, batch: Batch, *, label_smoothing: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Return the sum of the losses of a batch, and the number of tokens in it."""
    logits, targets = predict(model, batch)
    return cross_entropy(logits, targets, label_smoothing=label_smoothing, pad_id=Tokenizer.pad_id)


@torch.no_grad()
def token_accuracy_of(model: Transformer, examples: Sequence[tuple[Ids, Ids]]) -> float:
    """Return the fraction of tokens predicted right, given the right tokens before them."""
    right, count = 0.0, 0
    for some in by_length([source for source, _ in examples]):
        src, lengths, tgt = placed(model, *collate([examples[i] for i in some]))
        logits, targets = predict(model, (src, lengths, tgt))
        n_tokens = int((targets != Tokenizer.pad_id).sum())
        right += n_tokens * token_accuracy(logits.argmax(dim=-1), targets)
        count += n_tokens
    return right / count


@torch.no_grad()
def attention_of(
    model: Transformer, src: Ids, tgt: Ids
) -> tuple[list[NDArray[np.floating]], Tensor]:
    """Return the weights of encoder, decoder and cross-attention for one pair, and the logits."""
    ids, inputs = placed(model, torch.tensor(src), torch.tensor([Tokenizer.sos_id, *tgt]))
    logits, weights = model(ids, inputs, need_weights=True)
    return [as_array(torch.stack(layers)) for layers in weights], logits.cpu()


def as_written(text: str, tokenizer: Tokenizer) -> str:
    """Return a text as this tokenizer would decode it if all its words were in the vocabulary.

    References are compared in this form, so that an ``<unk>`` never counts as right.
    """
    text = normalise(text)
    if isinstance(tokenizer, WordTokenizer):
        return words.join(words.split(words.normalise(text, tokenizer.lowercase)))
    return tokenizer.decode(tokenizer.encode(text))


def write_each(
    model: Transformer,
    sources: Sequence[Ids],
    limits: Sequence[int],
    *,
    beam_width: int = 1,
    length_penalty: float = 0.0,
) -> list[Ids]:
    """Decode each source with its own limit; the result does not depend on the other sources."""
    search = partial(write, model, beam_width=beam_width, length_penalty=length_penalty)
    if beam_width == 1:
        written = search(sources, max(limits))
        return [ids[:limit] for ids, limit in zip(written, limits, strict=True)]
    found: dict[int, Ids] = {}
    # The limit can change which hypothesis a beam search finds, so each limit has its own search.
    for limit in set(limits):
        places = [i for i, own in enumerate(limits) if own == limit]
        found.update(zip(places, search([sources[i] for i in places], limit), strict=True))
    return [found[i] for i in range(len(sources))]


@torch.no_grad()
def write(
    model: Transformer,
    sources: Sequence[Ids],
    max_new_tokens: int,
    *,
    beam_width: int = 1,
    length_penalty: float = 0.0,
) -> list[Ids]:
    """Return what the model writes for each source: ids after ``<sos>``, up to ``<eos>``."""
    if check_size("beam_width", beam_width, least=1) == 1 and length_penalty:
        wanted = "0 with a beam_width of 1, which leaves nothing to choose from"
        raise argument_error("length_penalty", wanted, length_penalty)
    src, lengths = placed(model, *pad(sources, Tokenizer.pad_id))
    src_mask = padding_mask(lengths, src.shape[1])
    memory, _ = model.encode(src, src_mask)
    step = partial(model.step, memory=memory, src_mask=src_mask)
    prompt = src.new_full((len(src), 1), Tokenizer.sos_id)
    most = most_tokens(model.config)
    max_new_tokens = max_new_tokens if most is None else min(max_new_tokens, most)
    limits = {"end_id": Tokenizer.eos_id, "max_new_tokens": max_new_tokens}
    cache = model.new_cache()
    if beam_width == 1:
        ids = greedy(step, prompt, cache=cache, **limits)
    else:
        ids = beam_search(
            step, prompt, width=beam_width, length_penalty=length_penalty, cache=cache, **limits
        )[0][:, 0]
    return [row[row != Tokenizer.pad_id].tolist() for row in ids[:, 1:]]
