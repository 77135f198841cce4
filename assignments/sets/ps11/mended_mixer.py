"""Problem set 11, `mended_mixer`: a layer that forgets by another key than it writes with."""

import numpy as np

from attn_course.exercises.spec import Exercise

from .forget_by_use import forget_by_use
from .rule import unit, use


def mended_mixer(x, w_q, w_k, w_v, w_b, w_g):
    """Return the output of a gated layer whose memory forgets by use.

    Parameters
    ----------
    x : array, shape (n, d_model)
    w_q, w_k : array, shape (d_model, d_k)
    w_v, w_g : array, shape (d_model, d_v)
    w_b : array, shape (d_model,)

    Returns
    -------
    array, shape (n, d_v)

    References
    ----------
    Yang, Kautz and Hatamizadeh (2024), Gated Delta Networks, section 3.4: keys of length 1, a rate
    and an output gate computed from the token.
    """
    return _layer(x, w_q, w_k, w_v, w_b, w_g)


def _sigmoid(z):
    return 0.5 * (1 + np.tanh(z / 2))


def _gate(z):
    return _sigmoid(z)


def _scale(x):
    return unit(x)


def _layer(
    x,
    w_q,
    w_k,
    w_v,
    w_b,
    w_g,
    *,
    query=_scale,
    key=_scale,
    decay=lambda raw, key, query: key,
    value=lambda v, g: v,
    gate=lambda output, z: _gate(z) * output,
    rate=_sigmoid,
    mix=None,
):
    """Compute the layer, with the given parts replaced."""
    q, k, b = query(x @ w_q), key(x @ w_k), rate(x @ w_b)
    v = value(x @ w_v, x @ w_g)
    if mix is not None:
        return gate(mix(q, k, v, b), x @ w_g)
    # The key that forgets may differ from the one that writes.
    state, outputs = np.zeros((k.shape[1], v.shape[1])), []
    for t, left in enumerate(1 - b[:, None] * use(decay(x @ w_k, k, q))):
        state = left[:, None] * state + b[t] * np.outer(k[t], v[t])
        outputs.append(q[t] @ state)
    return gate(np.array(outputs), x @ w_g)


def cases(seed):
    """Return texts of tokens of ordinary length, and of very long vectors.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_q``, ``w_k``, ``w_v``, ``w_b`` and ``w_g``.
    """
    rng = np.random.default_rng(seed)

    def case(n, d_model, d_k, d_v, size=1.0):
        case = {"x": size * rng.normal(size=(n, d_model))}
        shapes = {"w_q": (d_model, d_k), "w_k": (d_model, d_k), "w_v": (d_model, d_v)}
        shapes |= {"w_b": (d_model,), "w_g": (d_model, d_v)}
        return case | {name: rng.normal(size=shape) / size**0.5 for name, shape in shapes.items()}

    return [
        case(2, 2, 2, 3),
        case(3, 3, 2, 2),
        case(4, 3, 3, 2),
        case(*rng.integers((4, 3, 2, 2), (7, 6, 5, 5))),
        case(3, 3, 2, 3, size=1000.0),
        case(4, 4, 3, 2, size=2000.0),
    ]


def _wrong(**how):
    return lambda *arguments: _layer(*arguments, **how)


def _read_early(q, k, v, b):
    answered = np.zeros_like(v)
    for t in range(1, len(q)):
        state = forget_by_use(q[:t], k[:t], v[:t], b[:t], np.zeros((k.shape[1], v.shape[1])))[1]
        answered[t] = q[t] @ state
    return answered


def _undecayed(q, k, v, b):
    return np.tril(q @ k.T) * b @ v


def _delta(q, k, v, b):
    state, outputs = np.zeros((k.shape[1], v.shape[1])), []
    for t in range(len(q)):
        state = state + b[t] * np.outer(k[t], v[t] - k[t] @ state)
        outputs.append(q[t] @ state)
    return np.array(outputs)


def _one_size(x):
    return x / np.linalg.norm(x)


def _over_tokens(x):
    return x / np.linalg.norm(x, axis=0)


def _root_mean_square(x):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True))


MISTAKES = {
    "raw_key_in_the_decay": (_wrong(decay=lambda raw, key, query: raw),),
    "query_in_the_decay": (_wrong(decay=lambda raw, key, query: query),),
    "keys_not_normalised": (_wrong(key=lambda x: x),),
    "queries_not_normalised": (_wrong(query=lambda x: x),),
    "over_the_tokens": (
        _wrong(key=_over_tokens),
        _wrong(query=_over_tokens),
        _wrong(query=_over_tokens, key=_over_tokens),
    ),
    "one_length_for_all": (
        _wrong(key=_one_size),
        _wrong(query=_one_size),
        _wrong(query=_one_size, key=_one_size),
    ),
    "mean_of_squares": (
        _wrong(key=_root_mean_square),
        _wrong(query=_root_mean_square, key=_root_mean_square),
    ),
    "values_normalised": (_wrong(value=lambda v, g: unit(v)),),
    "nothing_forgotten": (_wrong(mix=_undecayed),),
    "delta_rule": (_wrong(mix=_delta),),
    "read_too_early": (_wrong(mix=_read_early),),
    "rate_not_squashed": (_wrong(rate=lambda z: z),),
    "gate_missing": (_wrong(gate=lambda output, z: output),),
    "gate_on_the_values": (_wrong(value=lambda v, g: _gate(g) * v, gate=lambda output, z: output),),
    "gate_not_squashed": (_wrong(gate=lambda output, z: z * output),),
    "gate_added": (_wrong(gate=lambda output, z: _gate(z) + output),),
}

EXERCISE = Exercise.from_file(__file__, ("output",), mended_mixer, cases, MISTAKES)
