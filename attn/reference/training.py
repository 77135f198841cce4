"""The targets of a model, its losses, and the step that lowers the loss."""

import numpy as np

from attn._checks import argument_error, check_fraction, check_shape
from attn.reference._numbers import ArrayLike, Floats, Ints, finite_numbers
from attn.reference.attention import cosine_similarity

# The first ids are <pad>, <unk>, <sos> and <eos>. They are never masked.
N_SPECIAL = 4
# The share of tokens that are chosen, and the shares of these that are masked and replaced.
CHOSEN, MASKED, REPLACED = 0.15, 0.8, 0.1
BETA_1, BETA_2, EPSILON = 0.9, 0.98, 1e-9


def teacher_forcing(tokens: ArrayLike, sos_id: int, eos_id: int, pad_id: int) -> tuple[Ints, Ints]:
    """Split target sequences into the inputs of the decoder and its targets.

    Parameters
    ----------
    tokens : array_like of int, shape (batch_size, tgt_len)
        Sequences without start and end tokens; padding, if any, ends a row.
    sos_id, eos_id, pad_id : int

    Returns
    -------
    inputs, targets : ndarray of int, shape (batch_size, tgt_len + 1)
        The tokens after ``sos_id``; and the tokens, then ``eos_id`` right behind the last of
        each row. Padding fills the rest of both.

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
        Positions with this target do not count; at least one does.
    smoothing : float, default 0.0
        The share of the target probability that is spread evenly over the vocabulary.

    Returns
    -------
    ndarray, shape ()
        ``(1 - smoothing) * -log p(target) + smoothing * mean of -log p``, in nats, the mean
        over all positions that count.

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
    log_p = _log_softmax(logits)
    right = np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    losses = -(1 - smoothing) * right - smoothing * log_p.mean(axis=-1)
    mean: np.floating = losses[counts].mean()
    return mean


def contrastive_loss(images: ArrayLike, texts: ArrayLike, temperature: float = 0.07) -> np.floating:
    """Return the mean surprise at the right partner, in both directions.

    Parameters
    ----------
    images, texts : array_like, shape (batch_size, d_model)
        Row i of one belongs to row i of the other. No row is zero.
    temperature : float, default 0.07
        The divisor of the cosines, above 0.

    Returns
    -------
    ndarray, shape ()
        Half the cross-entropy of each image over all texts plus half that of each text over
        all images, in nats.

    References
    ----------
    Radford et al. (2021), Figure 3; van den Oord et al. (2018), for the loss.

    Examples
    --------
    >>> loss = contrastive_loss([[1, 0], [1, 0]], [[5, 0], [5, 0]])
    >>> f"{loss:.3f} = log 2"
    '0.693 = log 2'
    """
    images, texts = finite_numbers(images=images, texts=texts)
    check_shape("images", images, ("batch_size", "d_model"))
    check_shape("texts", texts, images.shape, like="images")
    if not temperature > 0:
        raise argument_error("temperature", "a number above 0", temperature)
    for name, vectors in {"images": images, "texts": texts}.items():
        if len(vectors) == 0 or not vectors.any(axis=-1).all():
            raise argument_error(name, "at least one vector, none of them zero", "none, or a zero")
    logits = cosine_similarity(images, texts) / temperature
    log_p = [np.diagonal(_log_softmax(x)).mean() for x in (logits, logits.T)]
    loss: np.floating = -(log_p[0] + log_p[1]) / 2
    return loss


def _log_softmax(logits: Floats) -> Floats:
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p: Floats = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return log_p


def adam_step(
    theta: ArrayLike,
    gradient: ArrayLike,
    m: ArrayLike,
    v: ArrayLike,
    t: int,
    learning_rate: float,
) -> tuple[Floats, Floats, Floats]:
    """Take one step of Adam, with the constants of the Transformer's paper.

    Parameters
    ----------
    theta : array_like
        The parameters.
    gradient, m, v : array_like, shape of `theta`
        The gradient, and the moving means of the gradients before and of their squares.
    t : int
        The number of this step, from 1.
    learning_rate : float

    Returns
    -------
    theta, m, v : ndarray
        The values after the step. The means are returned without the bias correction.

    References
    ----------
    Kingma and Ba (2015), algorithm 1. Vaswani et al. (2017), section 5.3, for beta_1 = 0.9,
    beta_2 = 0.98 and epsilon = 1e-9.

    Examples
    --------
    >>> theta, m, v = adam_step([1.0, 1.0], [2.0, -0.01], [0.0, 0.0], [0.0, 0.0], 1, 0.1)
    >>> theta.round(4).tolist()  # whatever its size, a first gradient moves by learning_rate
    [0.9, 1.1]
    """
    theta, gradient, m, v = finite_numbers(theta=theta, gradient=gradient, m=m, v=v)
    for name, array in (("gradient", gradient), ("m", m), ("v", v)):
        if array.shape != theta.shape:
            raise argument_error(name, f"shape {theta.shape} to match theta", array.shape)
    if not t >= 1:
        raise argument_error("t", "at least 1", t)
    m = BETA_1 * m + (1 - BETA_1) * gradient
    v = BETA_2 * v + (1 - BETA_2) * gradient**2
    m_hat, v_hat = m / (1 - BETA_1**t), v / (1 - BETA_2**t)
    return theta - learning_rate * m_hat / (np.sqrt(v_hat) + EPSILON), m, v


def warmup_schedule(t: ArrayLike, d_model: int, warmup: int) -> Floats:
    """Return the learning rate of each step: linear warm-up, then inverse square root.

    Parameters
    ----------
    t : array_like of int
        Numbers of steps, from 1.
    d_model, warmup : int
        The width of the model, and the step with the largest rate.

    Returns
    -------
    ndarray, shape of `t`

    References
    ----------
    Vaswani et al. (2017), Eq. 3.

    Examples
    --------
    >>> warmup_schedule([1, 2, 4, 16], d_model=4, warmup=4).tolist()
    [0.0625, 0.125, 0.25, 0.125]
    """
    (t,) = finite_numbers(t=t)
    for name, number in (("t", np.min(t)), ("d_model", d_model), ("warmup", warmup)):
        if not number >= 1:
            raise argument_error(name, "at least 1", number)
    # An integer array cannot be raised to a negative power, so all three become floats.
    rates: Floats = float(d_model) ** -0.5 * np.minimum(t**-0.5, t * float(warmup) ** -1.5)
    return rates


def mask_tokens(
    tokens: ArrayLike,
    chance: ArrayLike,
    dice: ArrayLike,
    others: ArrayLike,
    mask_id: int,
    ignore_id: int,
) -> tuple[Ints, Ints]:
    """Choose 15% of the tokens; mask most of them, replace some, leave some unchanged.

    Parameters
    ----------
    tokens : array_like of int, shape (..., seq_len)
        The ids 0 to 3 are special.
    chance, dice : array_like, shape (..., seq_len)
        Random numbers in [0, 1): a token that is not special is chosen where `chance` is below
        0.15. Of the chosen, `dice` below 0.8 hides one, from 0.8 to 0.9 changes it, and from
        0.9 leaves it.
    others : array_like of int, shape (..., seq_len)
        Random tokens, which replace the tokens that are changed.
    mask_id : int
        The id of the mask token.
    ignore_id : int
        The label of tokens that are not predicted.

    Returns
    -------
    inputs : ndarray of int, shape (..., seq_len)
    labels : ndarray of int, shape (..., seq_len)
        The tokens, where chosen; `ignore_id` elsewhere.

    References
    ----------
    Devlin et al. (2019), section 3.1.

    Examples
    --------
    >>> inputs, labels = mask_tokens(
    ...     [2, 7, 8, 9, 6, 3], [0.0, 0.1, 0.1, 0.1, 0.9, 0.1], [0.1, 0.1, 0.85, 0.95, 0.1, 0.1],
    ...     [5, 5, 5, 5, 5, 5], mask_id=10, ignore_id=-100)
    >>> inputs.tolist(), labels.tolist()
    ([2, 10, 5, 9, 6, 3], [-100, 7, 8, 9, -100, -100])
    """
    tokens, others = np.asarray(tokens), np.asarray(others)
    chance, dice = finite_numbers(chance=chance, dice=dice)
    for name, array in (("chance", chance), ("dice", dice), ("others", others)):
        if array.shape != tokens.shape:
            raise argument_error(name, f"shape {tokens.shape} to match tokens", array.shape)
    for name, array in (("tokens", tokens), ("others", others)):
        if array.dtype.kind not in "iu":
            raise argument_error(name, "integers", array.dtype)
    for name, value in (("mask_id", mask_id), ("ignore_id", ignore_id)):
        if np.asarray(value).dtype.kind not in "iu" or np.ndim(value):
            raise argument_error(name, "an integer", repr(value))
    # A narrow integer type of the tokens may not be able to hold `ignore_id`.
    tokens, others = tokens.astype(np.int64), others.astype(np.int64)
    chosen = (chance < CHOSEN) & (tokens >= N_SPECIAL)
    changed = np.where(dice < MASKED, mask_id, others)
    touched = chosen & (dice < MASKED + REPLACED)
    return np.where(touched, changed, tokens), np.where(chosen, tokens, ignore_id)


def corrupt_spans(tokens: ArrayLike, hidden: ArrayLike, first_sentinel: int) -> tuple[Ints, Ints]:
    """Replace runs of hidden tokens by sentinels; the targets are the runs after their sentinels.

    Parameters
    ----------
    tokens : array_like of int, shape (seq_len,)
    hidden : array_like of bool, shape (seq_len,)
    first_sentinel : int
        The sentinel of the first run; each next run has the next id. One more sentinel ends
        the targets.

    Returns
    -------
    inputs, targets : ndarray of int
        Together they hold every token once and every sentinel but the last twice.

    References
    ----------
    Raffel et al. (2020), section 3.1.4 and Figure 2.

    Examples
    --------
    >>> inputs, targets = corrupt_spans([5, 6, 7, 8, 9], [0, 1, 1, 0, 1], first_sentinel=100)
    >>> inputs.tolist(), targets.tolist()
    ([5, 100, 8, 101], [100, 6, 7, 101, 9, 102])
    """
    tokens, hidden = np.asarray(tokens), np.asarray(hidden).astype(bool)
    if tokens.ndim != 1 or tokens.dtype.kind not in "iu":
        raise argument_error(
            "tokens", "integers of shape (seq_len,)", f"{tokens.dtype} of {tokens.shape}"
        )
    if hidden.shape != tokens.shape:
        raise argument_error("hidden", f"shape {tokens.shape} to match tokens", hidden.shape)
    inputs, targets, sentinel = [], [], int(first_sentinel)
    for i, (token, is_hidden) in enumerate(zip(tokens.tolist(), hidden, strict=True)):
        if not is_hidden:
            inputs.append(token)
            continue
        if i == 0 or not hidden[i - 1]:
            inputs.append(sentinel)
            targets.append(sentinel)
            sentinel += 1
        targets.append(token)
    return np.array(inputs, dtype=int), np.array([*targets, sentinel], dtype=int)
