"""What else may happen to scores: a cap on each, and one more, whose weight is thrown away."""

import numpy as np

from attn._checks import argument_error, broadcast_shapes, check_number
from attn.reference._numbers import as_numbers, finite_numbers
from attn.reference._types import ArrayLike, Floats
from attn.reference.attention import softmax


def soft_capped(scores: ArrayLike, cap: float) -> Floats:
    """Keep scores between ``-cap`` and `cap`: ``cap * tanh(scores / cap)``.

    Small scores hardly change, and the derivative is nowhere zero.

    Parameters
    ----------
    scores : array_like, shape (...)
        Real numbers.
    cap : float
        A number above 0.

    Returns
    -------
    ndarray, shape (...)

    Raises
    ------
    ValueError
        If a score is NaN or infinite, or the cap not above 0.

    References
    ----------
    The Gemma team (2024), Gemma 2: Improving Open Language Models at a Practical Size, section 2.

    Examples
    --------
    >>> soft_capped([0.0, 1.0, 100.0], cap=50.0).round(3)
    array([ 0.   ,  1.   , 48.201])
    """
    (scores,) = finite_numbers(scores=scores)
    cap = check_number("cap", cap)
    capped: Floats = cap * np.tanh(scores / cap)
    return capped


def softmax_with_sink(scores: ArrayLike, sink: ArrayLike) -> Floats:
    """Turn scores into weights that sum to less than one: the sink takes the rest.

    The weight of score s is ``exp(s) / (exp(sink) + sum of all exp(scores))``.

    Parameters
    ----------
    scores : array_like, shape (..., src_len)
        Real numbers. ``-inf`` means "no weight at all".
    sink : array_like, broadcastable to (...)
        The score of a key that has no value, such as a learned number for each head.

    Returns
    -------
    ndarray, shape (..., src_len)
        The weights. A row that is entirely ``-inf`` becomes zeros.

    Raises
    ------
    ValueError
        If there is a NaN or ``+inf``, or the sink does not broadcast.

    References
    ----------
    OpenAI (2025), gpt-oss-120b & gpt-oss-20b Model Card. Xiao et al. (2024), Efficient
    Streaming Language Models with Attention Sinks, section 3.3.

    Examples
    --------
    >>> softmax_with_sink([0.0, np.log(2.0)], sink=0.0)
    array([0.25, 0.5 ])
    """
    scores, sink = as_numbers(scores=scores, sink=sink)
    if broadcast_shapes(sink.shape, scores.shape[:-1]) != scores.shape[:-1]:
        wanted = f"a shape that broadcasts to {scores.shape[:-1]}"
        raise argument_error("sink", wanted, sink.shape)
    one_more = np.broadcast_to(sink, scores.shape[:-1])[..., None]
    return softmax(np.concatenate((one_more, scores), axis=-1))[..., 1:]
