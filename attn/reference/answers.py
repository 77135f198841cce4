"""From scores to answers: beams, nuclei and spans; and how good answers and alignments are."""

from collections import Counter

import numpy as np

from attn._checks import argument_error, check_shape, check_size
from attn.reference._numbers import ArrayLike, Bools, Floats, Ints, as_numbers, finite_numbers
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
        The number of hypotheses to keep, from 1 to that of the candidates.

    Returns
    -------
    parents, tokens : ndarray of int, shape (beam_width,)
        The hypothesis that each new one extends, and its token, the best first.
    scores : ndarray, shape (beam_width,)
        The log-probabilities of the new hypotheses.

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
        ``-inf`` forbids a token; each row allows at least one.
    p : float
        Above 0 and at most 1.

    Returns
    -------
    ndarray, shape (..., vocab_size)
        The probabilities: tokens that are kept sum to 1, the others are 0. Ties go to the
        smaller id.

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


def best_span(start: ArrayLike, end: ArrayLike, max_words: int) -> Ints:
    """Return the first and last token of the span with the largest sum of start and end score.

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
    """Mark the tokens of each context that also occur in its question.

    Parameters
    ----------
    question : array_like of int, shape (batch_size, question_len)
    context : array_like of int, shape (batch_size, context_len)
    pad_id : int, default 0
        Fills up the shorter rows of both, and is never marked.

    Returns
    -------
    ndarray of bool, shape (batch_size, context_len)

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


def alignment_error(predicted: ArrayLike, sure: ArrayLike, possible: ArrayLike) -> np.float64:
    """Return the alignment error rate of one sentence.

    Parameters
    ----------
    predicted, sure, possible : array_like of bool, shape (tgt_len, src_len)
        The links found, A; the links that must be found, S; and further links that may be
        found. P is the union of the last two. A and S are not both empty.

    Returns
    -------
    float
        ``1 - (|A and S| + |A and P|) / (|A| + |S|)``: 0 is best, 1 worst.

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


def _tokens(name: str, sequence: ArrayLike) -> list[int]:
    tokens = np.asarray(sequence).tolist()
    if not isinstance(tokens, list) or not tokens:
        raise argument_error(name, "at least one token", tokens)
    return tokens


def _count(tokens: list[int], n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
