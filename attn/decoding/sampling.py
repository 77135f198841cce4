"""One sequence for each row: greedy search and sampling."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attn._checks import argument_error, check_size
from attn.decoding._steps import (
    Ends,
    Step,
    as_float64,
    check_arguments,
    check_rows,
    describe,
    is_float,
    is_number,
    next_logits,
    still_running,
)


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

    Raises
    ------
    ValueError
        As `greedy` and `next_token_probabilities` do.

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
        The scores of the next token; -inf for a forbidden one.
    temperature : float, default 1.0
        The logits are divided by it: below 1 sharpens, above 1 flattens.
    top_k : int, optional
        Keep this number of most probable tokens. Ties go to the smaller id.
    top_p : float, optional
        Keep the nucleus: the smallest set of most probable tokens with at least this
        probability in total.

    Returns
    -------
    Tensor of float64, shape (..., vocab_size)
        The tokens that are kept sum to 1; the others are zero. The tensor is on the device of
        `logits`, or on the CPU if that device has no float64.

    Raises
    ------
    ValueError
        If a number is out of its range, or `logits` has a row with NaN, +inf or nothing
        above -inf.

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
    if not is_float(logits) or (0, *logits.shape)[-1] == 0:
        raise argument_error(
            "logits", "floating-point logits of shape (..., vocab_size)", describe(logits)
        )
    check_rows("logits", logits)
    best, tokens = as_float64(logits).sort(descending=True, stable=True)
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


def _check_options(temperature: float, top_k: int | None, top_p: float | None) -> None:
    if not is_number(temperature) or not 0 < temperature < math.inf:
        wanted = "a finite number above 0 (for 0, use greedy)"
        raise argument_error("temperature", wanted, repr(temperature))
    if top_k is not None:
        check_size("top_k", top_k, least=1)
    if top_p is not None and (not is_number(top_p) or not 0 < top_p <= 1):
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
    end_ids, max_new_tokens = check_arguments(prompt, end_id, max_new_tokens, pad_id)
    ids = prompt.clone()
    running = prompt.new_ones(len(prompt), dtype=torch.bool)
    for _ in range(max_new_tokens):
        if not running.any():
            break
        logits = next_logits(step, ids, cache, running, end_ids, pad_id)
        tokens = choose(logits).to(ids.device)
        ids = torch.cat([ids, tokens.where(running, pad_id)[:, None]], dim=1)
        running = still_running(running, tokens, end_ids)
    return ids
