"""Chapter 14, `gated_attention`: attention with a sink and a gate, and ways to get them wrong."""

import numpy as np

from attn.reference import softmax, softmax_with_sink
from attn_course.exercises.spec import Exercise


def gated_attention(query, key, value, sink, x, w_g):
    """Return attention whose denominator has one more term, and whose output goes through a gate.

    Parameters
    ----------
    query : array, shape (n_heads, n_queries, d_k)
    key : array, shape (n_heads, n_keys, d_k)
    value : array, shape (n_heads, n_keys, d_v)
    sink : array, shape (n_heads,)
        The term is ``exp(sink)``.
    x : array, shape (n_queries, d_model)
        The tokens that ask.
    w_g : array, shape (n_heads, d_model, d_v)
        The gate is the sigmoid of ``x @ w_g``.

    Returns
    -------
    array, shape (n_heads, n_queries, d_v)

    References
    ----------
    OpenAI (2025), gpt-oss-120b & gpt-oss-20b Model Card, for the sink. Qiu et al. (2025), Gated
    Attention for Large Language Models, for the gate.
    """
    return _sigmoid(x @ w_g) * (_weights(query, key, sink) @ value)


def cases(seed):
    """Return one head and several, sinks that take little and much, sizes that differ and agree.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key``, ``value``, ``sink``, ``x`` and ``w_g``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_heads, n, m, d_k, d_v, d_model):
        return {
            "query": rng.normal(size=(n_heads, n, d_k)),
            "key": rng.normal(size=(n_heads, m, d_k)),
            "value": rng.normal(size=(n_heads, m, d_v)) + 1.0,
            "sink": rng.uniform(-1.0, 2.5, n_heads),
            "x": rng.normal(size=(n, d_model)),
            "w_g": rng.normal(size=(n_heads, d_model, d_v)) * 1.5 / np.sqrt(d_model),
        }

    return [
        draw(1, 2, 3, 4, 2, 5),
        draw(2, 3, 3, 4, 2, 3),
        draw(3, 3, 5, 6, 2, 2),
        draw(2, 4, 2, 5, 3, 5),
        draw(4, 2, 4, 2, 4, 3),
        draw(3, 3, 3, 3, 3, 3),
    ]


def _scores(query, key, scale=np.sqrt):
    return query @ key.mT / scale(query.shape[-1])


def _weights(query, key, sink, scale=np.sqrt):
    return softmax_with_sink(_scores(query, key, scale), sink[:, None])


def _sigmoid(z):
    return 1 / (1 + np.exp(-z))


def _with(weights):
    """Return the answer with weights that are a function of scores and of the sink as (n_heads, 1, 1)."""

    def attention(query, key, value, sink, x, w_g):
        return _sigmoid(x @ w_g) * (weights(_scores(query, key), sink[:, None, None]) @ value)

    return attention


def _over(scores, total):
    return np.exp(scores) / (np.exp(scores).sum(axis=-1, keepdims=True) + total)


def _scaled_by(scale):
    def attention(query, key, value, sink, x, w_g):
        return _sigmoid(x @ w_g) * (_weights(query, key, sink, scale) @ value)

    return attention


def _left_to(mean):
    """Return the answer with a value for the sink, made of those of the tokens."""

    def attention(query, key, value, sink, x, w_g):
        weights = _weights(query, key, sink)
        left = 1 - weights.sum(axis=-1, keepdims=True)
        return _sigmoid(x @ w_g) * (weights @ value + left * mean(value))

    return attention


def _sink_as(change):
    def attention(query, key, value, sink, x, w_g):
        return gated_attention(query, key, value, change(sink, query), x, w_g)

    return attention


def _over_queries(query, key, value, sink, x, w_g):
    scores = np.exp(_scores(query, key))
    weights = scores / (scores.sum(axis=-2, keepdims=True) + np.exp(sink)[:, None, None])
    return _sigmoid(x @ w_g) * (weights @ value)


def _gate(join):
    """Return the answer with another use of the output and of ``x @ w_g``."""

    def attention(query, key, value, sink, x, w_g):
        return join(_weights(query, key, sink) @ value, x @ w_g)

    return attention


def _gate_of(inputs):
    """Return the answer with a gate of something else."""

    def attention(query, key, value, sink, x, w_g):
        output = _weights(query, key, sink) @ value
        return _sigmoid(inputs(output, query, x, w_g)) * output

    return attention


def _gate_on_values(query, key, value, sink, x, w_g):
    return _weights(query, key, sink) @ (_sigmoid(x @ w_g) * value)


def _gate_on_weights(query, key, value, sink, x, w_g):
    return (_sigmoid(x @ w_g) * _weights(query, key, sink)) @ value


def _gate_on_scores(query, key, value, sink, x, w_g):
    scores = _sigmoid(x @ w_g) * _scores(query, key)
    return softmax_with_sink(scores, sink[:, None]) @ value


MISTAKES = {
    "sink_ignored": (_with(lambda scores, sink: softmax(scores)),),
    "sink_not_an_exponential": (_with(lambda scores, sink: _over(scores, sink)),),
    "sink_subtracted": (_with(lambda scores, sink: _over(scores, -np.exp(sink))),),
    "sink_negative": (_with(lambda scores, sink: _over(scores, np.exp(-sink))),),
    "sink_scaled": (_sink_as(lambda sink, query: sink / np.sqrt(query.shape[-1])),),
    "one_more": (
        _with(lambda scores, sink: _over(scores, 1.0)),
        _with(lambda scores, sink: _over(scores, 1.0 + np.exp(sink))),
    ),
    "sum_without_a_softmax": (_with(lambda scores, sink: softmax(scores) / (1 + np.exp(sink))),),
    "subtracted_from_weights": (
        _with(lambda scores, sink: softmax(scores) - np.exp(sink)),
        _with(lambda scores, sink: softmax(scores) - sink),
    ),
    "sink_as_a_gate": (_with(lambda scores, sink: softmax(scores) * _sigmoid(sink)),),
    "sink_has_a_value": (
        _left_to(lambda value: value.mean(axis=-2, keepdims=True)),
        _left_to(lambda value: value[:, :1]),
    ),
    "peak_for_the_scores_alone": (
        _with(
            lambda scores, sink: _over(scores - scores.max(axis=-1, keepdims=True), np.exp(sink))
        ),
    ),
    "sink_for_every_key": (
        _with(lambda scores, sink: _over(scores, scores.shape[-1] * np.exp(sink))),
    ),
    "first_sink": (_sink_as(lambda sink, query: np.full_like(sink, sink[0])),),
    "unscaled": (_scaled_by(lambda d_k: 1),),
    "scaled_by_d_k": (_scaled_by(lambda d_k: d_k),),
    "over_queries": (_over_queries,),
    "weights_returned": (lambda query, key, value, sink, x, w_g: _weights(query, key, sink),),
    "gate_missing": (_gate(lambda output, z: output),),
    "gate_without_sigmoid": (_gate(lambda output, z: output * z),),
    "gate_by_tanh": (_gate(lambda output, z: output * np.tanh(z)),),
    "gate_by_silu": (_gate(lambda output, z: output * z * _sigmoid(z)),),
    "gate_by_softmax": (_gate(lambda output, z: output * softmax(z)),),
    "gate_reversed": (_gate(lambda output, z: output * _sigmoid(-z)),),
    "gate_divides": (_gate(lambda output, z: output / _sigmoid(z)),),
    "gate_scaled": (
        _gate_of(lambda output, query, x, w_g: x @ w_g / np.sqrt(x.shape[-1])),
        _gate_of(lambda output, query, x, w_g: x @ w_g / np.sqrt(query.shape[-1])),
    ),
    "gate_added": (_gate(lambda output, z: output + _sigmoid(z)),),
    "gate_around_the_output": (_gate(lambda output, z: _sigmoid(output * z)),),
    "gate_from_the_output": (_gate_of(lambda output, query, x, w_g: output @ w_g),),
    "gate_from_the_query": (_gate_of(lambda output, query, x, w_g: query @ w_g),),
    "gate_transposed": (_gate_of(lambda output, query, x, w_g: x @ w_g.mT),),
    "gate_of_the_first_head": (_gate_of(lambda output, query, x, w_g: x @ w_g[0]),),
    "gate_of_one_token": (
        _gate_of(lambda output, query, x, w_g: x[:1] @ w_g),
        _gate_of(lambda output, query, x, w_g: x[-1:] @ w_g),
        _gate_of(lambda output, query, x, w_g: x.mean(axis=0, keepdims=True) @ w_g),
    ),
    "gate_on_values": (_gate_on_values,),
    "gate_on_weights": (_gate_on_weights,),
    "gate_on_scores": (_gate_on_scores,),
}

EXERCISE = Exercise.from_file(__file__, ("output",), gated_attention, cases, MISTAKES)
