"""Which source word does each target word come from? Alignments, and how wrong they are.

An alignment is a set of links ``(source position, target position)``, both from 0.
"""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike

from attn._checks import argument_error, check_finite, check_size
from attn.metrics.text import as_array

# Pairs of indices: of a source token, and of the target token that translates it.
Links = set[tuple[int, int]]


def align(weights: ArrayLike) -> Links:
    """Link each target token to the source token with the largest weight, the first of equal ones.

    Parameters
    ----------
    weights : array, shape (tgt_len, src_len)
        Row i belongs to target token i. In a decoder it is the cross-attention of the query that
        *predicts* token i. That query reads token i - 1, so with ``<sos>`` as first input it is row
        i of the weights that the decoder returns.

    Raises
    ------
    ValueError
        If `weights` has another number of dimensions, no source, or numbers not finite.

    References
    ----------
    Bahdanau et al. (2015), section 5.2.1, on reading alignments off the weights.

    Examples
    --------
    >>> weights = [[0.9, 0.0, 0.1], [0.2, 0.1, 0.7], [0.0, 0.8, 0.2]]  # la casa roja, the red house
    >>> sorted(align(weights))
    [(0, 0), (1, 2), (2, 1)]
    """
    weights = as_array(weights).astype(float)
    if weights.ndim != 2 or weights.shape[1] == 0:
        raise argument_error(
            "weights", "shape (tgt_len, src_len), src_len at least 1", weights.shape
        )
    check_finite("weights", np.isfinite(weights))
    return {(int(j), i) for i, j in enumerate(weights.argmax(axis=1))}


def alignment_error_rate(
    predicted: Sequence[Collection[tuple[int, int]]],
    sure: Sequence[Collection[tuple[int, int]]],
    possible: Sequence[Collection[tuple[int, int]]],
) -> float:
    """Return the alignment error rate against the links that people marked.

    People mark some links as sure and others as possible. Every sure link must be found, and every
    link that is found must be possible: ``1 - (|A and S| + |A and P|) / (|A| + |S|)``, with the
    links counted over all sentences. P are the possible links and the sure ones.

    Parameters
    ----------
    predicted, sure, possible : list of set of (int, int)
        The links A, S and P of each sentence.

    Returns
    -------
    float
        From 0, nothing wrong, to 1.

    Raises
    ------
    ValueError
        If the lists differ in length, or hold no link at all.

    References
    ----------
    Och and Ney (2003), A Systematic Comparison of Various Statistical Alignment Models, Eq. 41.

    Examples
    --------
    >>> alignment_error_rate([{(0, 0), (1, 1)}], sure=[{(0, 0)}], possible=[{(1, 1), (2, 1)}])
    0.0
    >>> alignment_error_rate([{(0, 1), (1, 1)}], sure=[{(0, 0)}], possible=[{(1, 1), (2, 1)}])
    0.6666666666666667
    """
    for name, links in (("sure", sure), ("possible", possible)):
        if len(links) != len(predicted):
            raise argument_error(name, f"{len(predicted)} sentences, as in predicted", len(links))
    found = size = 0
    for a, s, p in zip(map(set, predicted), map(set, sure), map(set, possible), strict=True):
        found += len(a & s) + len(a & (s | p))
        size += len(a) + len(s)
    if size == 0:
        raise argument_error("predicted, sure", "at least one link", "none")
    return 1 - found / size


def diagonal_alignment(src_len: int, tgt_len: int) -> Links:
    """Link each target token to the source token at the same relative position.

    This baseline ignores the words. For languages with the same word order it is hard to beat.
    Lengths are at least 1.

    Examples
    --------
    >>> sorted(diagonal_alignment(src_len=2, tgt_len=4))
    [(0, 0), (0, 1), (1, 2), (1, 3)]
    """
    src_len, tgt_len = _check_lengths(src_len, tgt_len)
    # The middle of target token i lies at the fraction (i + 1/2) / tgt_len of the sentence.
    return {((2 * i + 1) * src_len // (2 * tgt_len), i) for i in range(tgt_len)}


def uniform_alignment(src_len: int, tgt_len: int, rng: np.random.Generator) -> Links:
    """Link each target token to a source token drawn uniformly at random. Lengths are at least 1.

    Examples
    --------
    >>> sorted(uniform_alignment(src_len=3, tgt_len=4, rng=np.random.default_rng(0)))
    [(0, 3), (1, 1), (1, 2), (2, 0)]
    """
    src_len, tgt_len = _check_lengths(src_len, tgt_len)
    return {(int(j), i) for i, j in enumerate(rng.integers(src_len, size=tgt_len))}


def _check_lengths(src_len: int, tgt_len: int) -> tuple[int, int]:
    return check_size("src_len", src_len, least=1), check_size("tgt_len", tgt_len, least=1)
