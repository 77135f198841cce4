"""How good a translation is, and how good an alignment."""

from collections import Counter

import numpy as np

from attn._checks import argument_error, check_shape, check_size
from attn.reference._types import ArrayLike, Floats


def sentence_bleu(
    candidate: ArrayLike, reference: ArrayLike, max_n: int
) -> tuple[Floats, np.float64, np.float64]:
    """Score a sequence by the n-grams it shares with the reference.

    Parameters
    ----------
    candidate, reference : array_like of int, shape (length,)
        Tokens: at least one each.
    max_n : int
        The longest n-grams that count.

    Returns
    -------
    precisions : ndarray, shape (max_n,)
        For n = 1 to `max_n`, the share of the candidate's n-grams that are in the reference,
        each counted at most as often as it is there; 0 where there are none.
    brevity_penalty : float
        1, or less for a candidate shorter than the reference.
    score : float
        The geometric mean of the precisions times the penalty, from 0 to 1.

    Raises
    ------
    ValueError
        If a sequence is empty, or `max_n` is no integer of at least 1.

    References
    ----------
    Papineni et al. (2002), sections 2.1 to 2.3.

    Examples
    --------
    >>> precisions, penalty, score = sentence_bleu([1, 2, 3, 9], [1, 2, 3, 4, 5], max_n=2)
    >>> precisions.round(2), round(float(penalty), 2), round(float(score), 2)
    (array([0.75, 0.67]), 0.78, 0.55)
    """
    written, right = _tokens("candidate", candidate), _tokens("reference", reference)
    precisions = np.zeros(check_size("max_n", max_n, least=1))
    for n in range(1, len(precisions) + 1):
        found, there = (_count(tokens, n) for tokens in (written, right))
        # The intersection of two counters takes the smaller count, so an n-gram counts at most as
        # often as it occurs in the reference.
        precisions[n - 1] = (found & there).total() / max(found.total(), 1)
    penalty = np.exp(min(0.0, 1 - len(right) / len(written)))
    if not precisions.all():
        return precisions, penalty, np.float64(0.0)
    return precisions, penalty, penalty * np.exp(np.log(precisions).mean())


def _tokens(name: str, sequence: ArrayLike) -> list[int]:
    tokens = np.asarray(sequence).tolist()
    if not isinstance(tokens, list) or not tokens:
        raise argument_error(name, "at least one token", tokens)
    return tokens


def _count(tokens: list[int], n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def alignment_error(predicted: ArrayLike, sure: ArrayLike, possible: ArrayLike) -> np.float64:
    """Return the alignment error rate of one sentence.

    Parameters
    ----------
    predicted, sure, possible : array_like of bool, shape (tgt_len, src_len)
        The links found, A; the links that must be found, S; and further links that may be
        found. P is the union of the last two.

    Returns
    -------
    float
        ``1 - (|A and S| + |A and P|) / (|A| + |S|)``: 0 is best, 1 worst.

    Raises
    ------
    ValueError
        If the shapes differ, or nothing is linked.

    References
    ----------
    Och and Ney (2003), Eq. 41.

    Examples
    --------
    >>> sure = np.eye(3, dtype=bool)
    >>> float(alignment_error(sure[[0, 2, 1]], sure, sure).round(2))
    0.67
    """
    predicted, sure, possible = (np.asarray(a, dtype=bool) for a in (predicted, sure, possible))
    for name, links in (("sure", sure), ("possible", possible)):
        check_shape(name, links, predicted.shape, "predicted")
    size = predicted.sum() + sure.sum()
    if size == 0:
        raise argument_error("predicted, sure", "at least one link", "none")
    right = (predicted & sure).sum() + (predicted & (sure | possible)).sum()
    rate: np.float64 = 1 - right / size
    return rate
