"""Targets of a sequence model, and the loss of its predictions."""

import numpy as np

from attn._checks import argument_error, check_fraction
from attn.reference._numbers import finite_numbers
from attn.reference._types import ArrayLike, Ints


def teacher_forcing(tokens: ArrayLike, sos_id: int, eos_id: int, pad_id: int) -> tuple[Ints, Ints]:
    """Split target sequences into the inputs of the decoder and its targets.

    Parameters
    ----------
    tokens : array_like of int, shape (batch_size, tgt_len)
        Sequences without start and end tokens; padding, if any, is at the end of a row.
    sos_id, eos_id, pad_id : int

    Returns
    -------
    inputs, targets : ndarray of int, shape (batch_size, tgt_len + 1)
        The tokens after ``sos_id``; and the tokens, then ``eos_id`` right behind the last of
        each row. Padding fills the rest of both.

    Raises
    ------
    ValueError
        If `tokens` is not a matrix of integers, or a token follows padding.

    References
    ----------
    Williams and Zipser (1989). Vaswani et al. (2017), section 3.1, for the offset by one.

    Examples
    --------
    >>> inputs, targets = teacher_forcing([[7, 8], [9, 0]], sos_id=2, eos_id=3, pad_id=0)
    >>> inputs.tolist(), targets.tolist()
    ([[2, 7, 8], [2, 9, 0]], [[7, 8, 3], [9, 3, 0]])
    """
    tokens = np.asarray(tokens)
    if tokens.ndim != 2 or tokens.dtype.kind not in "iu":
        got = f"{tokens.dtype} of shape {tokens.shape}"
        raise argument_error("tokens", "integers of shape (batch_size, tgt_len)", got)
    lengths = (tokens != pad_id).sum(axis=1)
    if (tokens != pad_id)[np.arange(tokens.shape[1]) >= lengths[:, None]].any():
        raise argument_error("tokens", "padding only at the end of a row", "a token after it")
    beside = np.full((len(tokens), 1), pad_id)
    targets = np.concatenate([tokens, beside], axis=1)
    targets[np.arange(len(tokens)), lengths] = eos_id
    return np.concatenate([np.full_like(beside, sos_id), tokens], axis=1), targets


def smoothed_cross_entropy(
    logits: ArrayLike, targets: ArrayLike, pad_id: int, smoothing: float = 0.0
) -> np.floating:
    """Return the mean surprise at the right tokens, padding left out.

    Parameters
    ----------
    logits : array_like, shape (..., vocab_size)
    targets : array_like of int, shape (...)
    pad_id : int
        Positions with this target do not count.
    smoothing : float, default 0.0
        The share of the target probability that is spread evenly over the vocabulary.

    Returns
    -------
    ndarray, shape ()
        ``(1 - smoothing) * -log p(target) + smoothing * mean of -log p``, in nats, the mean
        over all positions that count.

    Raises
    ------
    ValueError
        If shapes do not fit, a target is not in the vocabulary, or no position counts.

    References
    ----------
    Szegedy et al. (2016), section 7. Vaswani et al. (2017), section 5.4.

    Examples
    --------
    >>> loss = smoothed_cross_entropy([[0.0, 0.0], [3.0, 1.0]], [1, 0], pad_id=0)
    >>> f"{loss:.3f} = log 2"
    '0.693 = log 2'
    """
    (logits,) = finite_numbers(logits=logits)
    targets = np.asarray(targets)
    check_fraction("smoothing", float(smoothing))
    if targets.dtype.kind not in "iu" or targets.shape != logits.shape[:-1]:
        got = f"{targets.dtype} of shape {targets.shape}"
        raise argument_error(
            "targets", f"integers of shape {logits.shape[:-1]} to match logits", got
        )
    counts = targets != pad_id
    if not counts.any():
        raise argument_error("targets", "at least one that is not padding", "none")
    last = logits.shape[-1] - 1
    if targets.min() < 0 or targets.max() > last:
        raise argument_error("targets", f"from 0 to {last}", f"{targets.min()} to {targets.max()}")
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    right = np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    losses = -(1 - smoothing) * right - smoothing * log_p.mean(axis=-1)
    mean: np.floating = losses[counts].mean()
    return mean
