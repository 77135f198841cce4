"""From log-probabilities to sequences: one step of a beam search, and the nucleus."""

import numpy as np

from attn._checks import argument_error, check_shape, check_size
from attn.reference._numbers import as_numbers
from attn.reference._types import ArrayLike, Floats, Ints
from attn.reference.attention import softmax


def beam_step(
    log_probabilities: ArrayLike, scores: ArrayLike, beam_width: int
) -> tuple[Ints, Ints, Floats]:
    """Let every hypothesis grow by every token, and keep the best.

    Parameters
    ----------
    log_probabilities : array_like, shape (n_hypotheses, vocab_size)
        Row i holds the log-probability of each next token given hypothesis i. ``-inf`` forbids
        a token.
    scores : array_like, shape (n_hypotheses,)
        The log-probability of each hypothesis so far.
    beam_width : int
        The number of hypotheses to keep.

    Returns
    -------
    parents, tokens : ndarray of int, shape (beam_width,)
        The hypothesis that each new one extends, and its token, the best first.
    scores : ndarray, shape (beam_width,)
        The log-probabilities of the new hypotheses.

    Raises
    ------
    ValueError
        If shapes do not fit, or there are fewer than `beam_width` candidates.

    References
    ----------
    Sutskever et al. (2014), section 3.2.

    Examples
    --------
    >>> log_probabilities = np.log([[0.4, 0.3, 0.3], [0.9, 0.05, 0.05]])
    >>> parents, tokens, scores = beam_step(log_probabilities, np.log([0.5, 0.4]), 2)
    >>> parents, tokens, np.exp(scores).round(2)
    (array([1, 0]), array([0, 0]), array([0.36, 0.2 ]))
    """
    log_probabilities, scores = as_numbers(log_probabilities=log_probabilities, scores=scores)
    check_shape("log_probabilities", log_probabilities, ("n_hypotheses", "vocab_size"))
    check_shape("scores", scores, log_probabilities.shape[:1], "log_probabilities")
    beam_width = check_size("beam_width", beam_width, least=1)
    totals = scores[:, None] + log_probabilities
    if beam_width > totals.size:
        raise argument_error("beam_width", f"at most {totals.size} candidates", beam_width)
    best = np.argsort(-totals, axis=None, kind="stable")[:beam_width]
    parents, tokens = np.divmod(best, totals.shape[1])
    return parents, tokens, totals[parents, tokens]


def top_p_filter(logits: ArrayLike, p: float) -> Floats:
    """Keep the nucleus: the fewest of the most probable tokens that together reach `p`.

    Parameters
    ----------
    logits : array_like, shape (..., vocab_size)
        ``-inf`` forbids a token.
    p : float
        Above 0 and at most 1.

    Returns
    -------
    ndarray, shape (..., vocab_size)
        The probabilities: tokens that are kept sum to 1, the others are 0. Ties go to the
        smaller id.

    Raises
    ------
    ValueError
        If `p` is out of its range, or a row of `logits` has NaN, +inf or nothing above -inf.

    References
    ----------
    Holtzman et al. (2020), section 3.1.

    Examples
    --------
    >>> top_p_filter(np.log([0.1, 0.5, 0.15, 0.25]), 0.7).round(2)
    array([0.  , 0.67, 0.  , 0.33])
    """
    (logits,) = as_numbers(logits=logits)
    check_shape("logits", logits, (..., "vocab_size"))
    if not 0 < p <= 1:
        raise argument_error("p", "a number above 0 and at most 1", p)
    probabilities = softmax(logits)
    if not probabilities.any(axis=-1).all():
        raise argument_error("logits", "a number above -inf in every row", "a row without one")
    order = np.argsort(-probabilities, axis=-1, kind="stable")
    best = np.take_along_axis(probabilities, order, axis=-1)
    # A token is kept while the sum of the tokens before it is below p, so the token that reaches p
    # is kept too.
    best = np.where(np.cumsum(best, axis=-1) - best < p, best, 0)
    kept = np.zeros_like(probabilities)
    np.put_along_axis(kept, order, best, axis=-1)
    shares: Floats = kept / kept.sum(axis=-1, keepdims=True)
    return shares
