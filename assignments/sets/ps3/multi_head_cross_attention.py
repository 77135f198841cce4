"""Problem set 3, `multi_head_cross_attention`: one sentence asks another with several heads."""

import numpy as np

from attn.reference import multi_head_attention as reference
from attn.reference import softmax, split_heads
from attn_course.exercises import wrong_softmax as wrong
from attn_course.exercises.spec import Exercise


def multi_head_cross_attention(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    """Return the output and the weights of several heads that attend to another sentence.

    Parameters
    ----------
    x : ndarray, shape (..., tgt_len, d_model)
        The sentence that asks.
    memory : ndarray, shape (..., src_len, d_memory)
        The one that answers.
    w_q : ndarray, shape (d_model, n_heads * d_k)
    w_kv : ndarray, shape (d_memory, n_heads * (d_k + d_v))
        The projections to keys, and beside them those to values.
    w_o : ndarray, shape (n_heads * d_v, d_model)
    n_heads : int
    real : ndarray of bool, shape (..., src_len), optional
        True = a token of `memory` that is no padding.

    Returns
    -------
    output : ndarray, shape (..., tgt_len, d_model)
    weights : ndarray, shape (..., n_heads, tgt_len, src_len)

    References
    ----------
    Vaswani et al. (2017), section 3.2.3.
    """
    w_k, w_v = np.split(w_kv, [w_q.shape[1]], axis=1)
    mask = None if real is None else real[..., None, :]
    return reference(x, memory, memory, w_q, w_k, w_v, w_o, int(n_heads), mask)


def cases(seed):
    """Return two sentences, alone and in batches, with padding, with none and with nothing else.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``x``, ``memory``, ``w_q``, ``w_kv``, ``w_o``, ``n_heads`` and, in some,
        ``real``.
    """
    rng = np.random.default_rng(seed)

    def draw(lengths, widths, n_heads, d_k, d_v, batch=(), real=None):
        (tgt_len, src_len), (d_model, d_memory) = lengths, widths
        case = {
            "x": rng.uniform(-1, 1, (*batch, tgt_len, d_model)),
            "memory": rng.uniform(-1, 1, (*batch, src_len, d_memory)),
            "w_q": rng.uniform(-0.6, 0.6, (d_model, n_heads * d_k)),
            "w_kv": rng.uniform(-0.6, 0.6, (d_memory, n_heads * (d_k + d_v))),
            "w_o": rng.uniform(-0.6, 0.6, (n_heads * d_v, d_model)),
            "n_heads": np.array(n_heads),
        }
        return case if real is None else case | {"real": np.array(real, dtype=bool)}

    return [
        draw((3, 4), (4, 4), 2, 2, 2),
        draw((2, 3), (6, 5), 3, 2, 2),
        draw((4, 3), (4, 6), 2, 3, 2),
        draw((3, 2), (5, 4), 2, 2, 4),
        draw((2, 5), (4, 5), 2, 2, 3, real=[1, 1, 1, 0, 0]),
        draw((3, 5), (5, 4), 2, 3, 2, real=[0, 1, 0, 1, 1]),
        draw((3, 4), (4, 3), 2, 2, 3, real=[0, 0, 0, 0]),
        draw((3, 4), (4, 5), 2, 3, 2, batch=(3,)),
        draw((3, 4), (4, 5), 2, 2, 3, batch=(2, 3)),
        draw((4, 4), (5, 4), 2, 3, 2, batch=(2,), real=[[1, 1, 1, 0], [1, 1, 0, 0]]),
        draw((2, 4), (4, 5), 4, 2, 3, batch=(4,), real=rng.permuted([[1, 1, 0, 1]] * 4, axis=1)),
        draw(rng.integers(2, 6, 2), rng.integers(4, 8, 2), *rng.integers(2, 5, 3)),
    ]


def _halves(w_q, w_kv):
    return np.split(w_kv, [w_q.shape[1]], axis=1)


def _allowed(real):
    return real[..., None, None, :]


def _joined(heads):
    """Put the heads side by side, NaN or not: `join_heads` takes only numbers."""
    *batch, n_heads, seq_len, width = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, seq_len, n_heads * width)


def _with(
    parts=_halves,
    split=split_heads,
    join=_joined,
    scale=lambda d_k, n_heads: d_k,
    project=lambda joined, w_o: joined @ w_o,
    allowed=_allowed,
    fill=-np.inf,
    axis=-1,
    weigh=softmax,
    result=lambda output, weights: (output, weights),
    asks=lambda x, memory: x,
):
    """Return multi-head cross-attention with one of its parts replaced."""

    def attention(x, memory, w_q, w_kv, w_o, n_heads, real=None):
        n_heads = int(n_heads)
        w_k, w_v = parts(w_q, w_kv)
        query = split(asks(x, memory) @ w_q, n_heads)
        key, value = split(memory @ w_k, n_heads), split(memory @ w_v, n_heads)
        scores = query @ key.mT / np.sqrt(scale(query.shape[-1], n_heads))
        if real is not None:
            scores = np.where(allowed(real), scores, fill if axis == -1 else -1e9)
        weights = weigh(scores) if axis == -1 else softmax(scores, axis=axis)
        return result(project(join(weights @ value), w_o), weights)

    return attention


def _reshaped(x, n_heads):
    *batch, seq_len, width = x.shape
    return x.reshape(*batch, n_heads, seq_len, width // n_heads)


def _reshaped_back(heads):
    *batch, n_heads, seq_len, width = heads.shape
    return heads.reshape(*batch, seq_len, n_heads * width)


def _alternating(x, n_heads):
    return np.stack([x[..., i::n_heads] for i in range(n_heads)], axis=-3)


def _one_head(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    return multi_head_cross_attention(x, memory, w_q, w_kv, w_o, 1, real)


def _head_by_head(w_q, w_kv, n_heads):
    """Read w_kv as key and value of head 1, then those of head 2."""
    d_k = w_q.shape[1] // n_heads
    heads = np.split(w_kv, n_heads, axis=1)
    return np.hstack([w[:, :d_k] for w in heads]), np.hstack([w[:, d_k:] for w in heads])


def _packed_by_head(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    packed = np.hstack(_head_by_head(w_q, w_kv, int(n_heads)))
    return multi_head_cross_attention(x, memory, w_q, packed, w_o, n_heads, real)


def _without_real(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    return multi_head_cross_attention(x, memory, w_q, w_kv, w_o, n_heads)


def _always_real(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    if real is None:
        raise TypeError("not subscriptable")
    return multi_head_cross_attention(x, memory, w_q, w_kv, w_o, n_heads, real)


def _one_pair(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    if x.ndim != 2:
        raise ValueError("cannot reshape array")
    return multi_head_cross_attention(x, memory, w_q, w_kv, w_o, n_heads, real)


def _real_afterwards(x, memory, w_q, w_kv, w_o, n_heads, real=None):
    _, weights = multi_head_cross_attention(x, memory, w_q, w_kv, w_o, n_heads)
    weights = weights if real is None else weights * _allowed(real)
    value = split_heads(memory @ _halves(w_q, w_kv)[1], int(n_heads))
    return _joined(weights @ value) @ w_o, weights


MISTAKES = {
    "heads_not_split": (_one_head,),
    "no_output_projection": (_with(project=lambda joined, w_o: joined),),
    "split_by_reshape": (_with(split=_reshaped), _with(split=_reshaped, join=_reshaped_back)),
    "joined_by_reshape": (_with(join=_reshaped_back),),
    "alternating_components": (_with(split=_alternating),),
    "heads_summed": (
        _with(join=lambda h: h.sum(axis=-3), project=lambda j, w: j @ w[: j.shape[-1]]),
        _with(join=lambda h: h.mean(axis=-3), project=lambda j, w: j @ w[: j.shape[-1]]),
    ),
    "cut_in_halves": (_with(parts=lambda w_q, w_kv: np.split(w_kv, [w_kv.shape[1] // 2], axis=1)),),
    "value_first": (
        _with(parts=lambda w_q, w_kv: np.split(w_kv, [w_kv.shape[1] - w_q.shape[1]], 1)[::-1]),
    ),
    "packed_head_by_head": (_packed_by_head,),
    "asks_itself": (_with(asks=lambda x, memory: memory),),
    "unscaled": (_with(scale=lambda d_k, n_heads: 1),),
    "scaled_before_splitting": (_with(scale=lambda d_k, n_heads: d_k * n_heads),),
    "weights_averaged": (_with(result=lambda output, weights: (output, weights.mean(axis=-3))),),
    "another_axis": (_with(axis=-2), _with(axis=-3)),
    "padding_ignored": (_without_real,),
    "padding_only": (_with(allowed=lambda real: ~_allowed(real)),),
    "one_axis_missing": (
        _with(allowed=lambda real: real[..., None, :]),
        _with(allowed=lambda real: real),
    ),
    "real_afterwards": (_real_afterwards,),
    "real_required": (_always_real,),
    "finite_fill": (_with(fill=-1e9),),
    "all_padding": (_with(weigh=wrong.nan_if_empty),),
    "one_pair": (_one_pair,),
}

EXERCISE = Exercise.from_file(
    __file__, ("output", "weights"), multi_head_cross_attention, cases, MISTAKES
)
