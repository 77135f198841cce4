"""Chapter 5, `cross_attention`: two sentences in one attention, and common mistakes."""

import numpy as np

from attn.reference import scaled_dot_product_attention, softmax
from attn_course.exercises import masked_too_late, wrong_attention
from attn_course.exercises.spec import Exercise


def cross_attention(x, memory, w_q, w_k, w_v, memory_mask=None):
    """Return output and weights of one head whose queries come from another sentence.

    Parameters
    ----------
    x : array_like, shape (..., tgt_len, d_model)
        The sentence that asks: what the decoder has so far.
    memory : array_like, shape (..., src_len, d_model)
        The sentence that answers: what the encoder made of the source.
    w_q, w_k : array_like, shape (d_model, d_k)
    w_v : array_like, shape (d_model, d_v)
    memory_mask : array_like of bool, shape (..., src_len), optional
        True = a token of the source that may be attended to.

    Returns
    -------
    output : ndarray, shape (..., tgt_len, d_v)
    weights : ndarray, shape (..., tgt_len, src_len)

    Raises
    ------
    ValueError
        As `attn.reference.scaled_dot_product_attention`.

    Examples
    --------
    >>> eye = np.eye(2)
    >>> _, weights = cross_attention(np.zeros((1, 2)), np.ones((4, 2)), eye, eye, eye)
    >>> weights
    array([[0.25, 0.25, 0.25, 0.25]])
    """
    mask = None if memory_mask is None else np.asarray(memory_mask)[..., None, :]
    return scaled_dot_product_attention(x @ w_q, memory @ w_k, memory @ w_v, mask)


def cases(seed):
    """Return pairs of sentences of different lengths, with padding and without.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``memory``, ``w_q``, ``w_k``, ``w_v`` and, in some,
        ``memory_mask``.
    """
    rng = np.random.default_rng(seed)

    def draw(tgt_len, src_len, d_model, d_k, d_v, batch=(), memory_mask=None):
        sizes = {"x": (*batch, tgt_len, d_model), "memory": (*batch, src_len, d_model)}
        case = {name: rng.uniform(-1, 1, size) for name, size in sizes.items()}
        for name, columns in (("w_q", d_k), ("w_k", d_k), ("w_v", d_v)):
            case[name] = rng.uniform(-0.8, 0.8, (d_model, columns))
        return case if memory_mask is None else case | {"memory_mask": memory_mask}

    padding = np.arange(5) < np.array([[3], [5]])
    found = [
        draw(2, 3, 4, 3, 2),
        draw(3, 3, 3, 3, 3),
        draw(4, 2, 5, 6, 3),
        draw(1, 4, 3, 2, 5),
        draw(3, 4, 5, 2, 3, memory_mask=np.array([True, False, True, True])),
        draw(3, 5, 4, 3, 2, batch=(2,)),
        draw(3, 5, 4, 3, 2, batch=(2,), memory_mask=padding),
        draw(5, 5, 3, 2, 4, batch=(2,), memory_mask=padding),
    ]
    padded = found[-2]
    # The padding has high scores, which show a mask that is applied too late or too weakly.
    query = padded["w_k"] @ (padded["x"][0, 0] @ padded["w_q"])
    attractive = 300 * query / (query @ query)
    padded["memory"] = np.where(padding[..., None], padded["memory"], attractive)
    return found


def _from(project):
    def cross_attention(x, memory, w_q, w_k, w_v, memory_mask=None):
        mask = None if memory_mask is None else memory_mask[..., None, :]
        return scaled_dot_product_attention(*project(x, memory, w_q, w_k, w_v), mask)

    return cross_attention


def _masked(change):
    def attend(x, memory, w_q, w_k, w_v, memory_mask=None):
        mask = None if memory_mask is None else change(memory_mask)
        return scaled_dot_product_attention(x @ w_q, memory @ w_k, memory @ w_v, mask)

    return attend


def _attending(attention):
    def attend(x, memory, w_q, w_k, w_v, memory_mask=None):
        mask = None if memory_mask is None else memory_mask[..., None, :]
        return attention(x @ w_q, memory @ w_k, memory @ w_v, mask)

    return attend


def _weighed(weigh):
    def attend(x, memory, w_q, w_k, w_v, memory_mask=None):
        scores = (x @ w_q) @ (memory @ w_k).mT / np.sqrt(w_q.shape[1])
        if memory_mask is not None:
            scores = np.where(memory_mask[..., None, :], scores, -np.inf)
        weights = weigh(scores)
        return weights @ (memory @ w_v), weights

    return attend


def _rescaled(factor):
    return _from(lambda x, m, w_q, w_k, w_v: (x @ w_q * factor(x, w_q), m @ w_k, m @ w_v))


def _joined(x, memory, w_q, w_k, w_v, memory_mask=None):
    both = np.concatenate([memory, x], axis=-2)
    mask = None
    if memory_mask is not None:
        seen = np.ones((*memory_mask.shape[:-1], x.shape[-2]), dtype=bool)
        mask = np.concatenate([memory_mask, seen], axis=-1)[..., None, :]
    return scaled_dot_product_attention(x @ w_q, both @ w_k, both @ w_v, mask)


def _filled_with_zero(x, memory, w_q, w_k, w_v, memory_mask=None):
    scores = (x @ w_q) @ (memory @ w_k).mT / np.sqrt(w_q.shape[1])
    if memory_mask is not None:
        scores = np.where(memory_mask[..., None, :], scores, 0)
    weights = softmax(scores)
    return weights @ (memory @ w_v), weights


def _causal(x, memory, w_q, w_k, w_v, memory_mask=None):
    mask = np.tri(x.shape[-2], memory.shape[-2], dtype=bool)
    if memory_mask is not None:
        mask = mask & memory_mask[..., None, :]
    return scaled_dot_product_attention(x @ w_q, memory @ w_k, memory @ w_v, mask)


def _memory_emptied(x, memory, w_q, w_k, w_v, memory_mask=None):
    seen = memory if memory_mask is None else memory * memory_mask[..., None]
    return cross_attention(x, seen, w_q, w_k, w_v)


MISTAKES = {
    "roles_swapped": (_from(lambda x, m, w_q, w_k, w_v: (m @ w_q, x @ w_k, x @ w_v)),),
    "memory_ignored": (_from(lambda x, m, w_q, w_k, w_v: (x @ w_q, x @ w_k, x @ w_v)),),
    "source_alone": (_from(lambda x, m, w_q, w_k, w_v: (m @ w_q, m @ w_k, m @ w_v)),),
    "key_of_the_target": (_from(lambda x, m, w_q, w_k, w_v: (x @ w_q, x @ w_k, m @ w_v)),),
    "value_of_the_target": (_from(lambda x, m, w_q, w_k, w_v: (x @ w_q, m @ w_k, x @ w_v)),),
    "joined": (_joined,),
    "projections_swapped": (_from(lambda x, m, w_q, w_k, w_v: (x @ w_k, m @ w_q, m @ w_v)),),
    "not_projected": (_from(lambda x, m, w_q, w_k, w_v: (x @ w_q, m @ w_k, m)),),
    "unscaled": (_rescaled(lambda x, w_q: np.sqrt(w_q.shape[1])),),
    "scaled_by_length": (
        _from(
            lambda x, m, w_q, w_k, w_v: (
                x @ w_q * np.sqrt(w_q.shape[1] / m.shape[-2]),
                m @ w_k,
                m @ w_v,
            )
        ),
        _rescaled(lambda x, w_q: np.sqrt(w_q.shape[1] / x.shape[-1])),
        _rescaled(lambda x, w_q: np.sqrt(w_q.shape[1] / x.shape[-2])),
        _rescaled(lambda x, w_q: np.sqrt(w_q.shape[1] / len(x))),
        _from(
            lambda x, m, w_q, w_k, w_v: (
                x @ w_q * np.sqrt(w_q.shape[1] / len(m)),
                m @ w_k,
                m @ w_v,
            )
        ),
    ),
    "over_queries": (_weighed(lambda scores: softmax(scores, axis=-2)),),
    "mask_dropped": (_masked(lambda mask: None),),
    "mask_inverted": (_masked(lambda mask: ~mask[..., None, :]),),
    "forbidden_takes_it_all": (
        _attending(masked_too_late.mask_and_share_again),
        _attending(masked_too_late.penalty_too_small),
    ),
    "zero_score": (_filled_with_zero,),
    "causal": (_causal,),
    "mask_axis_last": (_masked(lambda mask: mask[..., None]),),
    "mask_of_a_batch": (_masked(lambda mask: mask[:, None, :]),),
    "mask_without_axis": (_masked(lambda mask: mask),),
    "mask_after_softmax": (_attending(masked_too_late.mask_afterwards),),
    "memory_emptied": (_memory_emptied,),
    "key_value_swapped": (_from(lambda x, m, w_q, w_k, w_v: (x @ w_q, m @ w_v, m @ w_k)),),
    **wrong_attention.in_each(_attending, but=("mask_as_factor", "zeroed_too_late")),
}

EXERCISE = Exercise.from_file(__file__, ("output", "weights"), cross_attention, cases, MISTAKES)
