"""Chapter 3, `self_attention`: the three projections, and the ways to get them wrong."""

import numpy as np

from attn.reference import scaled_dot_product_attention, self_attention, softmax
from attn_course.exercises import masked_too_late, wrong_attention
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return inputs for self-attention: with and without mask, in batches, with large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``w_q``, ``w_k``, ``w_v`` and, in some, ``mask``.
    """
    rng = np.random.default_rng(seed)

    def draw(seq_len, d_model, d_k, d_v, batch=(), mask=None):
        case = {
            "x": rng.uniform(-1, 1, (*batch, seq_len, d_model)),
            "w_q": rng.uniform(-0.6, 0.6, (d_model, d_k)),
            "w_k": rng.uniform(-0.6, 0.6, (d_model, d_k)),
            "w_v": rng.uniform(-0.6, 0.6, (d_model, d_v)),
        }
        return case if mask is None else case | {"mask": mask}

    one_empty_row = np.array([[True, False, True], [False, False, False], [True, True, True]])
    every_other = (np.arange(3)[:, None] + np.arange(3)) % 2 == 0
    padding = np.arange(5) < np.array([2, 4])[:, None, None]
    large = draw(3, 4, 2, 3)
    large["x"][:, 0] = 40
    for w in (large["w_q"], large["w_k"]):
        w[0], w[:, 0] = 0, 0
        w[0, 0] = 1
    found = [
        draw(2, 3, 4, 1),
        draw(3, 4, 2, 5),
        draw(3, 3, 3, 3),
        large,
        draw(3, 4, 5, 2, mask=every_other),
        draw(3, 4, 5, 6, mask=one_empty_row),
        draw(5, 4, 6, 3, batch=(2,)),
        draw(5, 4, 6, 3, batch=(2,), mask=padding),
    ]
    masked_too_late.make_padding_attractive(found[-1], padding)
    return found


def _attend(project):
    def self_attention(x, w_q, w_k, w_v, mask=None):
        return scaled_dot_product_attention(*project(x, w_q, w_k, w_v), mask)

    return self_attention


def _rescaled(factor):
    return _attend(lambda x, w_q, w_k, w_v: (x @ w_q * factor(x, w_q), x @ w_k, x @ w_v))


def _with(attention):
    def self_attention(x, w_q, w_k, w_v, mask=None):
        return attention(x @ w_q, x @ w_k, x @ w_v, mask)

    return self_attention


def _mask_dropped(x, w_q, w_k, w_v, mask=None):
    return self_attention(x, w_q, w_k, w_v)


def _matrix_only(x, w_q, w_k, w_v, mask=None):
    _seq_len, _d_model = x.shape
    return self_attention(x, w_q, w_k, w_v, mask)


def _batch_only(x, w_q, w_k, w_v, mask=None):
    _batch_size, _seq_len, _d_model = x.shape
    return self_attention(x, w_q, w_k, w_v, mask)


def _over_queries(x, w_q, w_k, w_v, mask=None):
    scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf), axis=-2)
    return weights @ (x @ w_v), weights


def _finite_fill(query, key, value, mask=None):
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -1e9))
    return weights @ value, weights


def _residual(x, w_q, w_k, w_v, mask=None):
    output, weights = self_attention(x, w_q, w_k, w_v, mask)
    return x + output, weights


def _mask_inverted(query, key, value, mask=None):
    return scaled_dot_product_attention(query, key, value, None if mask is None else ~mask)


def _scaled_by_d_v(x, w_q, w_k, w_v, mask=None):
    factor = np.sqrt(w_q.shape[1] / w_v.shape[1])
    return self_attention(x, w_q * factor, w_k, w_v, mask)


MISTAKES = {
    "unscaled": (_rescaled(lambda x, w_q: np.sqrt(w_q.shape[1])),),
    "scaled_by_d_model": (_rescaled(lambda x, w_q: np.sqrt(w_q.shape[1] / x.shape[-1])),),
    "projections_swapped": (_attend(lambda x, w_q, w_k, w_v: (x @ w_k, x @ w_q, x @ w_v)),),
    "one_projection_for_both": (
        _attend(lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_q, x @ w_v)),
        _attend(lambda x, w_q, w_k, w_v: (x @ w_k, x @ w_k, x @ w_v)),
    ),
    "matrices_transposed": (_attend(lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_k.T, x @ w_v.T)),),
    "matrices_on_the_left": (_attend(lambda x, w_q, w_k, w_v: (w_q @ x, w_k @ x, w_v @ x)),),
    "values_not_projected": (_attend(lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_k, x)),),
    "key_as_value": (_attend(lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_k, x @ w_k)),),
    "nothing_projected": (_attend(lambda x, w_q, w_k, w_v: (x, x, x)),),
    "mask_dropped": (_mask_dropped,),
    "forbidden_takes_it_all": (
        _with(masked_too_late.mask_and_share_again),
        _with(masked_too_late.penalty_too_small),
    ),
    "matrix_only": (_matrix_only,),
    "batch_only": (_batch_only,),
    "scaled_by_d_v": (_scaled_by_d_v,),
    "scaled_twice": (_rescaled(lambda x, w_q: 1 / np.sqrt(w_q.shape[1])),),
    "softmax_over_queries": (_over_queries,),
    "mask_inverted": (_with(_mask_inverted),),
    "mask_after_softmax": (_with(masked_too_late.mask_afterwards),),
    "finite_fill": (_with(_finite_fill),),
    "residual_added": (_residual,),
    "key_value_swapped": (_attend(lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_v, x @ w_k)),),
    "scaled_by_length": (
        _rescaled(lambda x, w_q: np.sqrt(w_q.shape[1] / x.shape[-2])),
        _rescaled(lambda x, w_q: np.sqrt(w_q.shape[1] / len(x))),
    ),
    **wrong_attention.in_each(_with),
}

EXERCISE = Exercise.from_file(__file__, ("output", "weights"), self_attention, cases, MISTAKES)
