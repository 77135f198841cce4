"""Size and speed: what a token costs, a cache in pages that requests share, and weights of few bits.

`prefill_and_decode` counts the operations and the bytes of the two jobs of a language model, and
`roofline` says how fast a processor can be at most. `PagedCache` keeps the keys and values of many
requests without reserving room that they may never need. `quantise` rounds weights in groups.
"""

from collections.abc import Hashable, Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attn._checks import argument_error, check_number, check_size
from attn.layers import GATED
from attn.transformer import DecoderOnly, TransformerConfig


class Work(NamedTuple):
    """The operations and the memory traffic of a job.

    Attributes
    ----------
    flops : int
        Additions and multiplications.
    bytes : int
        What is read from memory and written to it.
    """

    flops: int
    bytes: int

    @property
    def intensity(self) -> float:
        """Operations for each byte."""
        return self.flops / self.bytes


def roofline(intensity, peak, bandwidth):
    """Return the maximum number of operations per second.

    Parameters
    ----------
    intensity : float or array
        Operations for each byte that is moved.
    peak : float
        Operations a second of the processor.
    bandwidth : float
        Bytes a second of the memory.

    Returns
    -------
    float or array
        What the memory allows up to the *ridge*, where the intensity is ``peak / bandwidth``, and the
        peak from there on.

    References
    ----------
    Williams, Waterman and Patterson (2009), Roofline: An Insightful Visual Performance Model.

    Examples
    --------
    A processor of 100 operations a second and a memory of 20 bytes a second:

    >>> [roofline(intensity, peak=100, bandwidth=20) for intensity in (1, 5, 50)]
    [20, 100, 100]
    """
    allowed = bandwidth * intensity
    return peak + (allowed - peak) * (allowed < peak)


def prefill_and_decode(
    config: TransformerConfig,
    batch: int,
    context: int,
    weight_bits: float = 32,
    cache_bits: float = 32,
) -> tuple[Work, Work]:
    """Count the work of reading prompts, and of writing one more token after each.

    Only matrix products are counted, two operations for each number of a matrix and each token, and
    attention as far back as the causal mask lets it see. The bytes are those of the weights, once
    for all texts, and of the cache: the least that has to be moved, if everything else stays in
    the processor.

    Parameters
    ----------
    config : TransformerConfig
        Of a `DecoderOnly`.
    batch : int
        Number of texts at once.
    context : int
        Length of the prompt; in writing, how many tokens the new one sees, itself among them.
    weight_bits, cache_bits : float, default 32
        Bits of a weight, and of a number in the cache. With scales for groups of 32, weights of
        four bits take 4.5 or more.

    Returns
    -------
    prefill, decode : Work
        Reading `batch` prompts of `context` tokens with logits for each token; and one token for
        each text.

    Raises
    ------
    ValueError
        If the model has mixers or experts, `batch` or `context` is less than 1, or the bits are not
        more than 0.

    Examples
    --------
    >>> config = TransformerConfig(vocab_size=1000, d_model=64, n_heads=4, n_layers=2, d_ff=256)
    >>> prefill, decode = prefill_and_decode(config, batch=1, context=100)
    >>> round(prefill.intensity, 1), round(decode.intensity, 2)
    (46.6, 0.5)
    """
    if config.mixers or config.experts:
        wanted = "attention and one feed-forward network in each layer"
        raise argument_error("config", wanted, "mixers or experts")
    check_size("batch", batch, least=1)
    check_size("context", context, least=1)
    check_number("weight_bits", weight_bits)
    check_number("cache_bits", cache_bits)
    weights = matrix_numbers(config)
    # The cache holds a key and a value of each head of keys in each layer.
    kept = 2 * config.n_layers * config.d_model * (config.n_kv_heads or config.n_heads)
    token_bytes = kept // config.n_heads * cache_bits / 8
    weight_bytes = weights * weight_bits / 8

    def flops(n_tokens: int, n_seen: int) -> int:
        """Return the operations of tokens that see `n_seen` others in all, in one text."""
        # A score takes a product with a key, and a weight takes one with a value.
        return 2 * weights * n_tokens + 4 * config.n_layers * config.d_model * n_seen

    prefill = Work(
        batch * flops(context, context * (context + 1) // 2),
        round(weight_bytes + batch * context * token_bytes),
    )
    decode = Work(batch * flops(1, context), round(weight_bytes + batch * context * token_bytes))
    return prefill, decode


def matrix_numbers(config: TransformerConfig) -> int:
    """Return how many numbers the matrices of a `DecoderOnly` have that every token is multiplied by.

    The embeddings count once, as the last layer; a token only looks up one of their rows.

    Examples
    --------
    >>> matrix_numbers(TransformerConfig(vocab_size=10, d_model=4, n_heads=2, n_layers=1, d_ff=8))
    168
    """
    attention = 2 + 2 * (config.n_kv_heads or config.n_heads) / config.n_heads
    network = (3 if config.activation in GATED else 2) * config.d_ff
    layer = config.d_model * (round(attention * config.d_model) + network)
    return config.n_layers * layer + config.vocab_size * config.d_model


def quantise(weights: Tensor, bits: int, group: int | None = None) -> tuple[Tensor, Tensor]:
    """Round weights to the nearest of equal steps around zero, with a scale for each group.

    Parameters
    ----------
    weights : Tensor, shape (..., n_columns)
    bits : int
        From 2 to 8: the largest number of a group becomes ``2 ** (bits - 1) - 1`` steps.
    group : int, optional
        How many neighbours in a row share a scale, a divisor of `n_columns`; the row if not given.

    Returns
    -------
    steps : Tensor of int8, shape (..., n_columns)
    scales : Tensor, shape (..., n_columns / group)

    Raises
    ------
    ValueError
        If `bits` or `group` is none of those.

    References
    ----------
    Dettmers and Zettlemoyer (2023), The Case for 4-bit Precision.

    Examples
    --------
    >>> row = torch.tensor([0.1, -0.2, 0.3, 7.0])
    >>> quantise(row, bits=4)
    (tensor([0, 0, 0, 7], dtype=torch.int8), tensor([1.]))
    >>> quantise(row, bits=4, group=2)[0]
    tensor([ 4, -7,  0,  7], dtype=torch.int8)
    """
    if bits not in range(2, 9):
        raise argument_error("bits", "a whole number from 2 to 8", repr(bits))
    n_columns = weights.shape[-1]
    group = check_size("group", n_columns if group is None else group, least=1)
    if n_columns % group:
        raise argument_error("group", f"a divisor of the {n_columns} columns", group)
    largest = 2 ** (bits - 1) - 1
    groups = weights.unflatten(-1, (-1, group))
    scales = groups.abs().amax(dim=-1) / largest
    steps = groups / scales.where(scales > 0, 1)[..., None]
    return steps.round().clamp(-largest, largest).to(torch.int8).flatten(-2), scales


def dequantise(steps: Tensor, scales: Tensor) -> Tensor:
    """Return the weights that `quantise` rounded, as numbers to compute with.

    Examples
    --------
    >>> dequantise(*quantise(torch.tensor([0.1, -0.2, 0.3, 7.0]), bits=4))
    tensor([0., 0., 0., 7.])
    """
    groups = steps.unflatten(-1, (scales.shape[-1], -1))
    return (groups * scales[..., None]).flatten(-2)


class PagedCache:
    """Keys and values of many requests, in pages of equal size that are handed out as texts grow.

    A request has a table of its pages, in the order of its text. Pages that hold the same tokens after
    the same beginning are kept once: `start` finds them, and `fork` shares them. A page that somebody
    else reads is copied before it is written to.

    Parameters
    ----------
    n_pages, page_size : int
        How many pages there are, and how many tokens a page holds.
    n_layers, n_kv_heads, d_k : int
        What a token has: a key and a value of `d_k` numbers for each head of each layer.

    Attributes
    ----------
    tables : dict of list of int
        The pages of each request.
    ids : dict of list of int
        Its tokens.

    References
    ----------
    Kwon et al. (2023), Efficient Memory Management for Large Language Model Serving with
    PagedAttention, sections 4.1 to 4.4.

    Examples
    --------
    >>> cache = PagedCache(n_pages=8, page_size=2, n_layers=1, n_kv_heads=1, d_k=4)
    >>> cache.start("first", [5, 6, 7, 8, 9]), cache.start("second", [5, 6, 7, 3])
    (0, 0)
    >>> cache.append("first", [5, 6, 7, 8, 9], torch.ones(2, 1, 1, 5, 4))
    >>> cache.start("third", [5, 6, 7, 3])
    2
    >>> cache.tables["first"], cache.tables["third"], cache.n_used
    ([0, 1, 2], [0], 3)
    """

    def __init__(
        self, n_pages: int, page_size: int, n_layers: int, n_kv_heads: int, d_k: int
    ) -> None:
        given = {"n_pages": n_pages, "page_size": page_size, "n_layers": n_layers}
        for name, size in (given | {"n_kv_heads": n_kv_heads, "d_k": d_k}).items():
            check_size(name, size, least=1)
        self.page_size = page_size
        self.pages = torch.zeros(n_pages, 2, n_layers, n_kv_heads, page_size, d_k)
        self.tables: dict[Hashable, list[int]] = {}
        self.ids: dict[Hashable, list[int]] = {}
        # How many requests read each page, none if it is free; full pages by all tokens to their end.
        self._readers, self._full = np.zeros(n_pages, int), {}

    @property
    def n_used(self) -> int:
        """Number of pages in use."""
        return int((self._readers > 0).sum())

    def start(self, request: Hashable, ids: Sequence[int]) -> int:
        """Open a request, and return how many tokens of its prompt are in the cache already.

        At least one token is left to be read, since its logits are wanted.
        """
        prefixes = (tuple(ids[:stop]) for stop in range(self.page_size, len(ids), self.page_size))
        pages = [self._full[prefix] for prefix in takewhile(self._full.__contains__, prefixes)]
        self._open(request, pages, ids[: len(pages) * self.page_size])
        return len(self.ids[request])

    def append(self, request: Hashable, ids: Sequence[int], key_value: Tensor) -> None:
        """Keep the keys and values of new tokens, shape (2, n_layers, n_kv_heads, n_new, d_k).

        Raises
        ------
        ValueError
            If there is no such request, the shape is another, or no page is left; then nothing is kept.
        """
        table, known = self._of(request), self.ids[request]
        wanted = (*self.pages.shape[1:4], len(ids), self.pages.shape[-1])
        if key_value.shape != wanted:
            raise argument_error("key_value", f"shape {wanted}", f"shape {tuple(key_value.shape)}")
        shared = len(ids) > 0 and len(known) % self.page_size > 0 and self._readers[table[-1]] > 1
        missing = -(-(len(known) + len(ids)) // self.page_size) - len(table) + shared
        new = np.flatnonzero(self._readers == 0)[:missing].tolist()
        if len(new) < missing:
            raise argument_error("n_pages", f"{missing} free pages", len(new))
        if shared:
            self.pages[new[0]] = self.pages[table[-1]]
            self._readers[table.pop()] -= 1
        self._readers[new] = 1
        table += new
        for token, numbers in zip(ids, key_value.unbind(-2), strict=True):
            page, place = divmod(len(known), self.page_size)
            self.pages[table[page]][..., place, :] = numbers
            known.append(token)
            if place + 1 == self.page_size:
                self._full.setdefault(tuple(known), table[page])

    def read(self, request: Hashable) -> Tensor:
        """Return the keys and values of a request, shape (2, n_layers, n_kv_heads, length, d_k)."""
        pages = self.pages[self._of(request)].movedim(0, -3).flatten(-3, -2)
        return pages[..., : len(self.ids[request]), :]

    def fork(self, request: Hashable, other: Hashable) -> None:
        """Open another request with the same text so far, and the same pages."""
        self._open(other, self._of(request), self.ids[request])

    def finish(self, request: Hashable) -> None:
        """Close a request. Pages that nobody else reads are free again."""
        self._readers[self._of(request)] -= 1
        del self.tables[request], self.ids[request]
        self._full = {ids: page for ids, page in self._full.items() if self._readers[page]}

    def _of(self, request: Hashable) -> list[int]:
        if request not in self.tables:
            raise argument_error("request", "one that was started", repr(request))
        return self.tables[request]

    def _open(self, request: Hashable, pages: Sequence[int], ids: Sequence[int]) -> None:
        """Give a new request pages that are in the cache, and the tokens that they hold."""
        if request in self.tables:
            raise argument_error("request", "a new one", repr(request))
        self.tables[request], self.ids[request] = [*pages], [*ids]
        self._readers[pages] += 1


@torch.no_grad()
def read_on(model: DecoderOnly, cache: PagedCache, request: Hashable, ids: Sequence[int]) -> Tensor:
    """Let a model read the next tokens of a request, whose keys and values the cache then holds.

    A request that is not open yet is started, and the part of its prompt in the cache is not read
    again.

    Parameters
    ----------
    model : DecoderOnly
    cache : PagedCache
    request : hashable
    ids : sequence of int
        The prompt, or tokens behind those that were read.

    Returns
    -------
    Tensor, shape (vocab_size,)
        The logits of the token that follows.

    Raises
    ------
    ValueError
        If there is nothing to read, or no page is left.

    Examples
    --------
    >>> config = TransformerConfig(vocab_size=9, d_model=8, n_heads=2, n_layers=1, d_ff=8)
    >>> model = DecoderOnly(config).eval()
    >>> cache = PagedCache(n_pages=4, page_size=2, n_layers=1, n_kv_heads=2, d_k=4)
    >>> logits = read_on(model, cache, "mine", [5, 6, 7])
    >>> torch.allclose(logits, model(torch.tensor([[5, 6, 7]]))[0][0, -1], atol=1e-6)
    True
    """
    if not len(ids):
        raise argument_error("ids", "at least one token", "none")
    is_new = request not in cache.tables
    new = ids[cache.start(request, ids) :] if is_new else ids
    plain, length = model.new_cache(), len(cache.ids[request])
    if length:
        for layer, key, value in zip(plain.self_attention, *cache.read(request), strict=True):
            layer.append(key[None], value[None])
    logits, _ = model(torch.tensor([new]), cache=plain)
    kept = [(layer.key[0], layer.value[0]) for layer in plain.self_attention]
    key_value = torch.stack([torch.stack(part) for part in zip(*kept, strict=True)])
    try:
        cache.append(request, new, key_value[..., length:, :])
    except ValueError:
        if is_new:
            cache.finish(request)
        raise
    return logits[0, -1]
