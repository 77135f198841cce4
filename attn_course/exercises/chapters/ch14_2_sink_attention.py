"""Chapter 14, `sink_attention`: weights that may sum to less than 1, and ways to miss it."""

import numpy as np

from attn.reference import softmax, softmax_with_sink
from attn_course.exercises.spec import Exercise


def sink_attention(query, key, value, sink):
    """Return attention whose denominator has one more term, ``exp(sink)``, in each head.

    Parameters
    ----------
    query : array, shape (n_heads, n_queries, d_k)
    key : array, shape (n_heads, n_keys, d_k)
    value : array, shape (n_heads, n_keys, d_v)
    sink : array, shape (n_heads,)

    Returns
    -------
    array, shape (n_heads, n_queries, d_v)

    References
    ----------
    OpenAI (2025), gpt-oss-120b & gpt-oss-20b Model Card.
    """
    return softmax_with_sink(_scores(query, key), sink[:, None]) @ value


def cases(seed):
    """Return one head and several, sinks that take little and much.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key``, ``value`` and ``sink``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_heads, n, m, d_k, d_v):
        return {
            "query": rng.normal(size=(n_heads, n, d_k)),
            "key": rng.normal(size=(n_heads, m, d_k)),
            "value": rng.normal(size=(n_heads, m, d_v)) + 1.0,
            "sink": rng.uniform(-1.0, 2.5, n_heads),
        }

    return [
        draw(1, 2, 3, 4, 2),
        draw(2, 3, 3, 4, 4),
        draw(3, 3, 5, 6, 2),
        draw(2, 4, 2, 5, 3),
        draw(4, 2, 4, 2, 5),
        draw(3, 3, 3, 3, 3),
    ]


def _scores(query, key, scale=np.sqrt):
    return query @ key.mT / scale(query.shape[-1])


def _with(weights):
    """Return attention whose weights are a function of scores and of the sink as (n_heads, 1, 1)."""

    def attention(query, key, value, sink):
        return weights(_scores(query, key), sink[:, None, None]) @ value

    return attention


def _over(scores, total):
    return np.exp(scores) / (np.exp(scores).sum(axis=-1, keepdims=True) + total)


def _scaled_by(scale):
    def attention(query, key, value, sink):
        return softmax_with_sink(_scores(query, key, scale), sink[:, None]) @ value

    return attention


def _value_for_the_sink(query, key, value, sink):
    scores = _scores(query, key)
    left = 1 - softmax_with_sink(scores, sink[:, None]).sum(axis=-1, keepdims=True)
    return sink_attention(query, key, value, sink) + left * value.mean(axis=-2, keepdims=True)


def _first_value_for_the_sink(query, key, value, sink):
    left = 1 - softmax_with_sink(_scores(query, key), sink[:, None]).sum(axis=-1, keepdims=True)
    return sink_attention(query, key, value, sink) + left * value[:, :1]


def _sink_scaled(query, key, value, sink):
    return sink_attention(query, key, value, sink / np.sqrt(query.shape[-1]))


def _head_of_first(query, key, value, sink):
    return sink_attention(query, key, value, np.full_like(sink, sink[0]))


def _over_queries(query, key, value, sink):
    scores = np.exp(_scores(query, key))
    return scores / (scores.sum(axis=-2, keepdims=True) + np.exp(sink)[:, None, None]) @ value


MISTAKES = {
    "sink_ignored": (_with(lambda scores, sink: softmax(scores)),),
    "sink_not_an_exponential": (_with(lambda scores, sink: _over(scores, sink)),),
    "sink_subtracted": (_with(lambda scores, sink: _over(scores, -np.exp(sink))),),
    "sink_negative": (_with(lambda scores, sink: _over(scores, np.exp(-sink))),),
    "sink_scaled": (_sink_scaled,),
    "one_more": (
        _with(lambda scores, sink: _over(scores, 1.0)),
        _with(lambda scores, sink: _over(scores, 1.0 + np.exp(sink))),
    ),
    "sum_without_a_softmax": (_with(lambda scores, sink: softmax(scores) / (1 + np.exp(sink))),),
    "subtracted_from_weights": (
        _with(lambda scores, sink: softmax(scores) - np.exp(sink)),
        _with(lambda scores, sink: softmax(scores) - sink),
    ),
    "gate_instead": (_with(lambda scores, sink: softmax(scores) / (1 + np.exp(-sink))),),
    "sink_has_a_value": (_value_for_the_sink, _first_value_for_the_sink),
    "peak_for_the_scores_alone": (
        _with(
            lambda scores, sink: _over(scores - scores.max(axis=-1, keepdims=True), np.exp(sink))
        ),
    ),
    "sink_for_every_key": (
        _with(lambda scores, sink: _over(scores, scores.shape[-1] * np.exp(sink))),
    ),
    "first_sink": (_head_of_first,),
    "unscaled": (_scaled_by(lambda d_k: 1),),
    "scaled_by_d_k": (_scaled_by(lambda d_k: d_k),),
    "over_queries": (_over_queries,),
    "weights_returned": (
        lambda query, key, value, sink: softmax_with_sink(_scores(query, key), sink[:, None]),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("output",), sink_attention, cases, MISTAKES)
