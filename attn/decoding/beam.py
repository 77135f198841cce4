"""Beam search: several hypotheses for each row, of which the most probable win."""

import math

import torch
from torch import Tensor

from attn._checks import argument_error, check_size
from attn.decoding._steps import (
    Ends,
    Reorderable,
    Step,
    as_float64,
    check_arguments,
    device_for_float64,
    is_number,
    next_logits,
    still_running,
)


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

    Raises
    ------
    ValueError
        As `greedy` does, and if `width` or `length_penalty` is out of its range.

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
    end_ids, max_new_tokens = check_arguments(prompt, end_id, max_new_tokens, pad_id)
    width = check_size("width", width, least=1)
    if not is_number(length_penalty) or not -10 <= length_penalty <= 10:
        raise argument_error("length_penalty", "a number from -10 to 10", repr(length_penalty))

    device = prompt.device
    prompt = prompt.to(device_for_float64(device))
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
        logits = as_float64(next_logits(step, rows, cache, is_running, end_ids, pad_id))
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
        running = still_running(running, tokens, end_ids)
        ids = torch.cat([ids[each, parents], tokens[..., None]], dim=-1)
        if cache is not None:
            cache.reorder((width * each + parents).flatten().to(device))

    scores = totals / ((5 + lengths) / 6) ** length_penalty
    scores, order = scores.sort(descending=True, stable=True)
    ids = ids[each, order]
    ids[..., prompt_len:][scores.isinf()] = pad_id
    return ids.to(device), scores


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
