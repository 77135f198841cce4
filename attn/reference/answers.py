"""Steps of question answering and extraction: best spans, shared words, sentence scores."""

import numpy as np

from attn._checks import argument_error, check_shape
from attn.reference._numbers import finite_numbers
from attn.reference._types import ArrayLike, Bools, Floats, Ints


def best_span(start: ArrayLike, end: ArrayLike, max_words: int) -> Ints:
    """Return the first and last token of the span whose start and end score most together.

    The best start and the best end, chosen separately, need not form an answer. Ties go to the
    span that starts first, then to the shortest.

    Parameters
    ----------
    start, end : array_like, shape (seq_len,)
        The scores of each token as the first and as the last token of the answer.
    max_words : int
        The most tokens of an answer.

    Returns
    -------
    ndarray of int, shape (2,)
        The first and the last position of the answer.

    Raises
    ------
    ValueError
        If a score is not finite, the shapes do not fit, or `max_words` is less than 1.

    References
    ----------
    Devlin et al. (2019), section 4.2.

    Examples
    --------
    >>> best_span([1, 3, 2, 0], [2.5, 0, 1.5, 2], max_words=2)
    array([1, 2])
    """
    start, end = finite_numbers(start=start, end=end)
    check_shape("start", start, ("seq_len",))
    check_shape("end", end, (len(start),), like="start")
    if len(start) == 0:
        raise argument_error("start", "at least one token", "none")
    if max_words < 1:
        raise argument_error("max_words", "at least 1", max_words)
    first, last = np.indices((len(start), len(start)))
    allowed = (first <= last) & (last < first + max_words)
    totals = np.where(allowed, start[:, None] + end, -np.inf)
    return np.array(np.unravel_index(totals.argmax(), totals.shape))


def question_match(question: ArrayLike, context: ArrayLike, pad_id: int = 0) -> Bools:
    """Mark the tokens of each context that its own question has too.

    Parameters
    ----------
    question : array_like of int, shape (batch_size, question_len)
    context : array_like of int, shape (batch_size, context_len)
    pad_id : int, default 0
        Fills up the shorter rows of both, and is never marked.

    Returns
    -------
    ndarray of bool, shape (batch_size, context_len)

    Raises
    ------
    ValueError
        If the batches differ.

    References
    ----------
    Chen et al. (2017), section 3.2: the exact match of a token is a feature of it.

    Examples
    --------
    >>> question_match([[5, 6, 0]], [[7, 6, 5, 0]])
    array([[False,  True,  True, False]])
    """
    question, context = np.asarray(question), np.asarray(context)
    check_shape("question", question, ("batch_size", "question_len"))
    check_shape("context", context, (len(question), "context_len"), like="question")
    equal = context[:, :, None] == question[:, None, :]
    found: Bools = equal.any(axis=-1) & (context != pad_id)
    return found


def sentence_attention(weights: ArrayLike, sentence: ArrayLike) -> Floats:
    """Return how much attention the words of each sentence receive on average.

    Parameters
    ----------
    weights : array_like, shape (n_layers, n_heads, seq_len, seq_len)
        The weights of self-attention, in which each row is a query.
    sentence : array_like of int, shape (seq_len,)
        The index of the sentence of each token, counted from 0 without gaps.

    Returns
    -------
    ndarray, shape (n_sentences,)
        The mean over the words of a sentence of the mean weight, over layers, heads and queries,
        that a word receives. A sum would prefer long sentences.

    Raises
    ------
    ValueError
        If the shapes do not fit, a weight is not finite, or a sentence has no tokens.

    References
    ----------
    *Atención y el auge de los Transformers*, section 3.3.4, keeps the words with the most
    attention; this keeps sentences.

    Examples
    --------
    >>> weights = [[[[0.5, 0.25, 0.25], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]]]
    >>> sentence_attention(weights, [0, 1, 1])
    array([0.5 , 0.25])
    """
    (weights,) = finite_numbers(weights=weights)
    sentence = np.asarray(sentence)
    check_shape("sentence", sentence, ("seq_len",))
    n = len(sentence)
    check_shape("weights", weights, ("n_layers", "n_heads", n, n), like="sentence")
    received = weights.mean(axis=(0, 1, 2))
    counts = np.bincount(sentence)
    if n == 0 or (counts == 0).any():
        raise argument_error("sentence", "numbers from 0, none left out", sentence)
    return np.bincount(sentence, weights=received) / counts
