"""Teacher forcing and the cross-entropy of the next token."""

import torch
from torch import Tensor

from attn._checks import argument_error, check_fraction, holds


def shift(ids: Tensor) -> tuple[Tensor, Tensor]:
    """Split target sequences into the inputs of the decoder and the tokens to predict.

    With teacher forcing the decoder reads the *right* tokens so far at every position, whatever it
    would have written, so that all positions are trained at once.

    Parameters
    ----------
    ids : Tensor of int64, shape (..., tgt_len)
        Sequences from ``<sos>`` to ``<eos>``; padding may follow.

    Returns
    -------
    inputs, targets : Tensor of int64, shape (..., tgt_len - 1)
        All tokens but the last, and all but the first. In a row with padding the inputs include
        ``<eos>``, whose target is padding and does not count in `cross_entropy`.

    Raises
    ------
    ValueError
        If there are fewer than two tokens.

    References
    ----------
    Vaswani et al. (2017), section 3.1: the outputs are offset by one position. Williams and Zipser
    (1989), for teacher forcing.

    Examples
    --------
    >>> shift(torch.tensor([[2, 8, 9, 3], [2, 7, 3, 0]]))
    (tensor([[2, 8, 9],
            [2, 7, 3]]), tensor([[8, 9, 3],
            [7, 3, 0]]))
    """
    if not isinstance(ids, Tensor) or ids.shape[-1:] < (2,):
        got = tuple(ids.shape) if isinstance(ids, Tensor) else type(ids).__name__
        raise argument_error("ids", "a tensor of shape (..., tgt_len), tgt_len at least 2", got)
    return ids[..., :-1], ids[..., 1:]


def cross_entropy(
    logits: Tensor, target: Tensor, *, label_smoothing: float = 0.0, pad_id: int | None = None
) -> tuple[Tensor, Tensor]:
    """Sum the surprise at the right tokens, ``-log p(token)``.

    With label smoothing, part of the target probability is spread evenly over all tokens: ``(1 -
    eps) * -log p(token) + eps * mean of all -log p``. A logit of -inf forbids its token, which is
    then left out of the mean.

    Parameters
    ----------
    logits : Tensor, shape (..., vocab_size)
    target : Tensor of int64, shape (...)
        The index of the right token of each position, or of the right class.
    label_smoothing : float, default 0.0
        The eps of the formula.
    pad_id : int, optional
        Positions with this target do not count.

    Returns
    -------
    total : Tensor, shape ()
        The sum over the positions that count, in nats; float32 for logits of half precision.
    count : Tensor of int64, shape ()
        The number of positions that count.

    Raises
    ------
    ValueError
        If shapes or types do not fit, or a target is not in the vocabulary (not checked inside
        ``torch.compile``; nor, on a GPU, after ``attn.checks(False)``).

    References
    ----------
    Szegedy et al. (2016), section 7. Vaswani et al. (2017), section 5.4.

    Examples
    --------
    >>> logits = torch.tensor([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]).log()
    >>> total, count = cross_entropy(logits, torch.tensor([1, 0]), pad_id=0)
    >>> f"{total:.4f} = log 4", int(count)
    ('1.3863 = log 4', 1)
    """
    check_fraction("label_smoothing", label_smoothing)
    _check(logits, target)
    log_probs = logits.log_softmax(dim=-1, dtype=at_least_float32(logits))
    losses = -log_probs.gather(-1, target[..., None]).squeeze(-1)
    if label_smoothing:
        if _all_possible(logits):
            mean = log_probs.mean(dim=-1)
        else:
            possible = ~logits.isneginf()
            mean = log_probs.where(possible, 0.0).sum(dim=-1) / possible.sum(dim=-1)
        losses = (1 - label_smoothing) * losses - label_smoothing * mean
    if pad_id is None:
        return losses.sum(), torch.tensor(target.numel(), device=target.device)
    counts = target != pad_id
    return losses.where(counts, 0.0).sum(), counts.sum()


def at_least_float32(x: Tensor) -> torch.dtype:
    """Return the dtype for sums of `x`: its own, or float32 for half precision.

    bfloat16 has eight binary digits: near 100 its numbers are 0.5 apart, near 1,000 they are 4
    apart. A sum of losses would not change although the model still learns.
    """
    return torch.promote_types(x.dtype, torch.float32)


def _all_possible(logits: Tensor) -> bool:
    """Return whether every logit is known to be above -inf; False if the check would be expensive.

    The mean over the possible tokens alone makes a step a tenth slower.
    """
    return holds(lambda: ~logits.amin().isneginf(), otherwise=False, free=logits.is_cpu)


def _check(logits: Tensor, target: Tensor) -> None:
    if not isinstance(logits, Tensor) or not logits.is_floating_point() or not logits.ndim:
        raise argument_error(
            "logits", "a floating-point tensor of shape (..., vocab_size)", _kind(logits)
        )
    if not isinstance(target, Tensor) or target.dtype != torch.int64:
        raise argument_error("target", "a tensor of int64", _kind(target))
    shape = tuple(logits.shape[:-1])
    if target.shape != shape:
        raise argument_error("target", f"shape {shape} to match logits", tuple(target.shape))
    last = logits.shape[-1] - 1

    def is_within() -> Tensor:
        low, high = target.aminmax()
        return (low >= 0) & (high <= last)

    if target.numel() and not holds(is_within, otherwise=True, free=target.is_cpu):
        low, high = target.aminmax()
        raise argument_error("target", f"values from 0 to {last}", int(low if low < 0 else high))


def _kind(value: object) -> str:
    if not isinstance(value, Tensor):
        return type(value).__name__
    return f"{value.dtype} of shape {tuple(value.shape)}"
