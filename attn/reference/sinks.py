"""A softmax that may give to nothing: one score more, whose weight is thrown away."""

import numpy as np

from attn._checks import argument_error, broadcast_shapes
from attn.reference._numbers import as_numbers
from attn.reference._types import ArrayLike, Floats
from attn.reference.attention import softmax


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
