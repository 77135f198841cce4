"""From the logits of the next token to whole sequences: greedy, sampling and beam search.

Decoding does not depend on the model. It takes a function ``step(ids, cache) -> logits``:
`ids`, int64 of shape (rows, length), holds the prompt and all new tokens of each row;
`logits`, floating-point of shape (rows, vocab_size), score the next token. A logit of -inf
forbids its token; each row has at least one token that is allowed. Steps run without
gradients.

The `cache` is handed to the step unchanged. It is None for a step that reads all of `ids` each
time. Otherwise it may be any object with one method, which beam search calls:
``cache.reorder(rows)`` makes row i a copy of the old row ``rows[i]``, for any number of rows.
A row that has ended is still passed to the step, with padding, and its logits are ignored.

`greedy` and `sample` write one sequence for each row, `beam_search` several, of which the most
probable win. `next_token_probabilities` is what `sample` draws from.
"""

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Any, Protocol, TypeAlias, TypeGuard

import torch
from torch import Tensor

from attn._checks import argument_error, check_size, holds, shown

__all__ = ["beam_search", "greedy", "next_token_probabilities", "sample"]

# Apple's GPUs have no float64, so sums that need it are computed on the CPU.
WITHOUT_FLOAT64 = {"mps"}
# The second argument is the cache, or None; decoding only hands it on.
Step: TypeAlias = Callable[[Tensor, Any], Tensor]
# The token that ends a row, or several of them, or none.
Ends: TypeAlias = int | Iterable[int] | None


class Reorderable(Protocol):
    """What beam search asks of a cache."""

    def reorder(self, rows: Tensor) -> object: ...


def greedy(
    step: Step,
    prompt: Tensor,
    *,
    end_id: Ends,
    max_new_tokens: int,
    pad_id: int = 0,
    cache: object = None,
) -> Tensor:
    """Add the most probable token, again and again.

    Parameters
    ----------
    step : callable, (ids, cache) -> logits
        A function that scores the next token; see `attn.decoding`.
    prompt : Tensor of int64, shape (batch_size, prompt_len)
        The start of each row, with at least one token. An end token in the prompt has no
        effect.
    end_id : int, iterable of int, or None
        The token, or the tokens, that end a row. With None every row grows to the full length.
    max_new_tokens : int
        The most tokens to add. Decoding stops earlier if every row has ended.
    pad_id : int, default 0
        The token that fills a row after its end.
    cache : object, optional
        Handed to every step.

    Returns
    -------
    Tensor of int64, shape (batch_size, prompt_len + n), with n at most `max_new_tokens`
        The prompt and the new tokens. Ties go to the smaller id.

    Raises
    ------
    ValueError
        If `prompt` or a number is not as above, `end_id` or `pad_id` is not in the
        vocabulary, or `step` returns something other than logits of the right shape or, for
        a row that has not ended, NaN, +inf or nothing above -inf.

    References
    ----------
    *Atención y el auge de los Transformers*, section 3.3.4, translates with this loop.

    Examples
    --------
    >>> logits = torch.tensor([[0.0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 2], [0, 2, 1, 0]])
    >>> greedy(lambda ids, cache: logits[ids[:, -1]], torch.tensor([[2], [3]]),
    ...        end_id=1, max_new_tokens=5)
    tensor([[2, 3, 1],
            [3, 1, 0]])
    """

    def choose(logits: Tensor) -> Tensor:
        return logits.argmax(dim=-1)

    return _generate(step, prompt, choose, end_id, max_new_tokens, pad_id, cache)


def sample(
    step: Step,
    prompt: Tensor,
    *,
    end_id: Ends,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    pad_id: int = 0,
    generator: torch.Generator | None = None,
    cache: object = None,
) -> Tensor:
    """Add tokens drawn at random, each with its probability.

    Parameters
    ----------
    step, prompt, end_id, max_new_tokens, pad_id, cache
        As in `greedy`.
    temperature, top_k, top_p
        As in `next_token_probabilities`.
    generator : torch.Generator, optional
        The source of randomness; by default the global generator of PyTorch. It must be on the
        device of the result of `next_token_probabilities`.

    Returns
    -------
    Tensor of int64, shape (batch_size, prompt_len + n), with n at most `max_new_tokens`
        As in `greedy`. The same generator state gives the same tokens.

    References
    ----------
    Holtzman et al. (2020), on what greedy and beam search do to free text.

    Examples
    --------
    >>> logits = torch.zeros(4, 4)
    >>> ids = sample(lambda ids, cache: logits[ids[:, -1]], torch.tensor([[2]]), end_id=None,
    ...              max_new_tokens=99, top_k=2, generator=torch.Generator().manual_seed(0))
    >>> ids.shape, ids[0, 1:].unique()
    (torch.Size([1, 100]), tensor([0, 1]))
    """
    _check_options(temperature, top_k, top_p)

    def choose(logits: Tensor) -> Tensor:
        probabilities = next_token_probabilities(
            logits, temperature=temperature, top_k=top_k, top_p=top_p
        )
        return torch.multinomial(probabilities, 1, generator=generator).flatten()

    return _generate(step, prompt, choose, end_id, max_new_tokens, pad_id, cache)


def next_token_probabilities(
    logits: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    """Turn logits into the probabilities that `sample` draws from.

    The temperature is applied first, then top-k, then top-p to the tokens that top-k left.

    Parameters
    ----------
    logits : Tensor, shape (..., vocab_size)
        The scores of the next token; -inf for a forbidden one, but not for all of a row.
    temperature : float, default 1.0
        The logits are divided by it: below 1 sharpens, above 1 flattens.
    top_k : int, optional
        Keep this number of most probable tokens. Ties go to the smaller id.
    top_p : float, optional
        Keep the nucleus: the smallest set of most probable tokens with at least this
        probability in total, above 0 and at most 1.

    Returns
    -------
    Tensor of float64, shape (..., vocab_size)
        The tokens that are kept sum to 1; the others are zero. The tensor is on the device of
        `logits`, or on the CPU if that device has no float64.

    References
    ----------
    Fan et al. (2018), for top-k; Holtzman et al. (2020), section 3, for top-p and the others.

    Examples
    --------
    >>> logits = torch.tensor([0.5, 0.3, 0.2]).log()
    >>> next_token_probabilities(logits, temperature=0.5).numpy().round(3)
    array([0.658, 0.237, 0.105])
    >>> next_token_probabilities(logits, top_p=0.6).numpy().round(3)
    array([0.625, 0.375, 0.   ])
    """
    _check_options(temperature, top_k, top_p)
    if not _is_float(logits) or (0, *logits.shape)[-1] == 0:
        raise argument_error(
            "logits", "floating-point logits of shape (..., vocab_size)", _describe(logits)
        )
    _check_rows("logits", logits)
    best, tokens = _as_float64(logits).sort(descending=True, stable=True)
    # Subtracting the largest logit leaves the probabilities unchanged, and a low temperature cannot
    # overflow. The divisor is a tensor, because a GPU divides by a Python number by multiplying
    # with its inverse, which may be infinite.
    best = (best - best[..., :1]) / (best.new_ones(()) * temperature)
    if top_k is not None:
        best[..., top_k:] = -math.inf
    probabilities = best.softmax(dim=-1)
    if top_p is not None:
        before = probabilities.cumsum(dim=-1) - probabilities
        probabilities = probabilities.masked_fill(before >= top_p, 0.0)
        probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probabilities).scatter(-1, tokens, probabilities)


def beam_search(
    step: Step,
    prompt: Tensor,
    *,
    width: int,
    end_id: Ends,
    max_new_tokens: int,
    length_penalty: float = 0.0,
    pad_id: int = 0,
    cache: Reorderable | None = None,
) -> tuple[Tensor, Tensor]:
    """Extend the `width` most probable hypotheses of each row, step by step.

    A hypothesis that ends keeps its place, and the others compete for the places left. So an
    end token counts only where it is among the best continuations, and width 1 is `greedy`.
    A row is done when every place has ended and nothing can change any more; at
    `max_new_tokens`, unfinished hypotheses compete as they are.

    Parameters
    ----------
    step : callable, (ids, cache) -> logits
        As in `greedy`, but every call has ``batch_size * width`` rows: the first `width` of
        them belong to the first row of the prompt, and so on.
    prompt, end_id, max_new_tokens, pad_id
        As in `greedy`.
    width : int
        The number of hypotheses kept; it may exceed the vocabulary.
    length_penalty : float, default 0.0
        The alpha of the scores. Sums of log-probabilities favour short sequences; a value
        above 0 favours longer ones, a value below 0 shorter ones still. From -10 to 10. It
        orders the results and does not affect the search.
    cache : object, optional
        Handed to every step, and reordered like the hypotheses: before the first step, which
        repeats each row `width` times, and after every step.

    Returns
    -------
    ids : Tensor of int64, shape (batch_size, width, prompt_len + n)
        The hypotheses, best first. If few tokens are allowed there may be fewer than `width`;
        the rows left over hold the prompt and padding.
    scores : Tensor of float64, shape (batch_size, width)
        ``log_probability / ((5 + n_new) / 6) ** length_penalty``, where both count the new
        tokens of a hypothesis, its end token included; -inf in the rows left over. On the
        device of the prompt, or on the CPU if that one has no float64.

    References
    ----------
    Sutskever et al. (2014), section 3.2. Jurafsky and Martin, Speech and Language Processing,
    chapter on machine translation, whose beam also narrows by each hypothesis that ends. Wu
    et al. (2016), Eq. 14, for the penalty. Vaswani et al. (2017), section 6.1: width 4 and 0.6.

    Examples
    --------
    The most probable first token, 2, leads nowhere; the second, 3, is followed by a sure end.

    >>> logits = torch.tensor(
    ...     [[0.0, 0, 0.6, 0.4], [0, 0, 0, 0], [0.4, 0.3, 0.3, 0], [0, 1.0, 0, 0]]).log()
    >>> ids, scores = beam_search(lambda ids, cache: logits[ids[:, -1]], torch.tensor([[0]]),
    ...                           width=2, end_id=1, max_new_tokens=2)
    >>> ids[0].tolist(), scores.exp().numpy().round(2)
    ([[0, 3, 1], [0, 2, 0]], array([[0.4 , 0.24]]))
    """
    end_ids, max_new_tokens = _check_arguments(prompt, end_id, max_new_tokens, pad_id)
    width = check_size("width", width, least=1)
    if not _is_number(length_penalty) or not -10 <= length_penalty <= 10:
        raise argument_error("length_penalty", "a number from -10 to 10", repr(length_penalty))

    device = prompt.device
    prompt = prompt.to(_device_for_float64(device))
    batch_size, prompt_len = prompt.shape
    each = torch.arange(batch_size, device=prompt.device)[:, None]
    ids = prompt[:, None].repeat(1, width, 1)
    if cache is not None:
        cache.reorder(each.expand(-1, width).flatten().to(device))
    # At first all hypotheses are copies of the prompt, so only the first one counts.
    totals = prompt.new_full((batch_size, width), -math.inf, dtype=torch.float64)
    totals[:, 0] = 0.0
    running = totals.isfinite()
    lengths = torch.zeros_like(totals)

    for _ in range(max_new_tokens):
        if not running.any():
            break
        rows, is_running = ids.flatten(0, 1).to(device), running.flatten().to(device)
        logits = _as_float64(_next_logits(step, rows, cache, is_running, end_ids, pad_id))
        log_probs, tokens = _best_tokens(logits.unflatten(0, (batch_size, width)), width)
        candidates = totals[..., None] + log_probs
        # A hypothesis that has ended has one continuation, itself, and keeps its place in the beam.
        ended = ~running & totals.isfinite()
        candidates[ended] = -math.inf
        candidates[..., 0][ended] = totals[ended]
        ranks = candidates.clone()
        ranks[..., 0][ended] = math.inf
        kept = ranks.flatten(1).sort(descending=True, stable=True).indices[:, :width]

        parents = kept // width
        tokens = tokens.flatten(1)[each, kept]
        totals = candidates.flatten(1)[each, kept]
        lengths = (lengths + running)[each, parents]
        running = running[each, parents] & totals.isfinite()
        tokens = tokens.where(running, pad_id)
        running = _still_running(running, tokens, end_ids)
        ids = torch.cat([ids[each, parents], tokens[..., None]], dim=-1)
        if cache is not None:
            cache.reorder((width * each + parents).flatten().to(device))

    scores = totals / ((5 + lengths) / 6) ** length_penalty
    scores, order = scores.sort(descending=True, stable=True)
    ids = ids[each, order]
    ids[..., prompt_len:][scores.isinf()] = pad_id
    return ids.to(device), scores


def _check_options(temperature: float, top_k: int | None, top_p: float | None) -> None:
    if not _is_number(temperature) or not 0 < temperature < math.inf:
        wanted = "a finite number above 0 (for 0, use greedy)"
        raise argument_error("temperature", wanted, repr(temperature))
    if top_k is not None:
        check_size("top_k", top_k, least=1)
    if top_p is not None and (not _is_number(top_p) or not 0 < top_p <= 1):
        raise argument_error("top_p", "a number above 0 and at most 1", repr(top_p))


def _generate(
    step: Step,
    prompt: Tensor,
    choose: Callable[[Tensor], Tensor],
    end_id: Ends,
    max_new_tokens: int,
    pad_id: int,
    cache: object,
) -> Tensor:
    """Extend the prompt; `choose` picks the next tokens given the logits of a step."""
    end_ids, max_new_tokens = _check_arguments(prompt, end_id, max_new_tokens, pad_id)
    ids = prompt.clone()
    running = prompt.new_ones(len(prompt), dtype=torch.bool)
    for _ in range(max_new_tokens):
        if not running.any():
            break
        logits = _next_logits(step, ids, cache, running, end_ids, pad_id)
        tokens = choose(logits).to(ids.device)
        ids = torch.cat([ids, tokens.where(running, pad_id)[:, None]], dim=1)
        running = _still_running(running, tokens, end_ids)
    return ids


def _best_tokens(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the log-probabilities and ids of each row's best tokens, in order.

    Ties go to the smaller id, as in `greedy`. `topk` promises no order of ties, and sorting
    the whole vocabulary takes several times as long. The best tokens become -inf in `logits`.
    """
    log_total, best, tokens = logits.logsumexp(dim=-1, keepdim=True), [], []
    for _ in range(count):
        logit, token = logits.max(dim=-1, keepdim=True)
        logits.scatter_(-1, token, -math.inf)
        best.append(logit)
        tokens.append(token)
    return torch.cat(best, dim=-1) - log_total, torch.cat(tokens, dim=-1)


@torch.no_grad()
def _next_logits(
    step: Step, ids: Tensor, cache: object, running: Tensor, end_ids: Sequence[int], pad_id: int
) -> Tensor:
    """Return the step's logits, zero in the rows that are not running."""
    logits = step(ids, cache)
    if not _is_float(logits) or logits.shape[:-1] != running.shape:
        shape = f"({len(ids)}, vocab_size)"
        raise argument_error("step", f"floating-point logits of shape {shape}", _describe(logits))
    for name, token in (*(("end_id", end_id) for end_id in end_ids), ("pad_id", pad_id)):
        if token >= logits.shape[1]:
            raise argument_error(name, f"a token below vocab_size = {logits.shape[1]}", token)
    logits = logits.masked_fill(~running[:, None], 0.0)
    _check_rows("step", logits)
    return logits


def _device_for_float64(device: torch.device) -> torch.device:
    """Return `device`, or the CPU if it has no float64."""
    return torch.device("cpu") if device.type in WITHOUT_FLOAT64 else device


def _as_float64(x: Tensor) -> Tensor:
    """Return `x` as float64, on `_device_for_float64` of its device."""
    # Moved first and then converted, since a device without float64 cannot convert.
    return x.to(_device_for_float64(x.device)).double()


def _check_arguments(
    prompt: Tensor, end_id: Ends, max_new_tokens: int, pad_id: int
) -> tuple[list[int], int]:
    """Check the common arguments; return the ids in `end_id`, and `max_new_tokens`."""
    fits = isinstance(prompt, torch.Tensor) and prompt.dtype == torch.int64
    if not fits or prompt.ndim != 2 or prompt.shape[1] == 0:
        shape = "(batch_size, prompt_len), prompt_len at least 1"
        raise argument_error("prompt", f"an int64 tensor of shape {shape}", _describe(prompt))
    check_size("pad_id", pad_id)
    return _listed(end_id), check_size("max_new_tokens", max_new_tokens)


def _listed(end_id: Ends) -> list[int]:
    if end_id is None:
        return []
    try:
        # What has no index raises the TypeError that is caught below.
        several: Iterable[int] = [operator.index(end_id)]  # type: ignore[arg-type]
    except TypeError:
        if not isinstance(end_id, Iterable) or isinstance(end_id, str | bytes):
            raise argument_error("end_id", "an integer, several, or None", shown(end_id)) from None
        several = end_id
    return [check_size("end_id", i) for i in several]


def _still_running(running: Tensor, tokens: Tensor, end_ids: Sequence[int]) -> Tensor:
    """Return which rows run on, now that each has one more of `tokens`."""
    for end_id in end_ids:
        running = running & (tokens != end_id)
    return running


def _check_rows(name: str, logits: Tensor) -> None:
    """Raise ``ValueError`` for NaN, +inf or only -inf in a row: its maximum shows all three."""
    largest = logits.amax(dim=-1)
    if not holds(lambda: largest.isfinite().all(), otherwise=True, free=largest.is_cpu):
        got = largest[~largest.isfinite()][0]
        raise argument_error(name, "logits whose largest is finite in every row", got)


def _is_number(value: object) -> bool:
    """Return whether a value is a number, or a tensor of one number."""
    return isinstance(value, Real) or isinstance(value, torch.Tensor) and value.ndim == 0


def _is_float(logits: object) -> TypeGuard[Tensor]:
    return isinstance(logits, torch.Tensor) and logits.is_floating_point()


def _describe(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} of shape {tuple(value.shape)}"
    return type(value).__name__
