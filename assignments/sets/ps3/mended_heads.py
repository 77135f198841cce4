"""Problem set 3, `mended_heads`: heads that are joined by a reshape alone, and wrong repairs."""

import numpy as np

from attn.reference import join_heads, scaled_dot_product_attention, softmax
from attn_course.exercises import wrong_softmax as wrong
from attn_course.exercises.spec import Exercise

from .grouped_attention import with_large_scores


def mended_heads(query, key, value, w_o):
    """Return the output of heads that are already projected and split, and their weights.

    Parameters
    ----------
    query : ndarray, shape (..., n_heads, tgt_len, d_k)
    key : ndarray, shape (..., n_heads, src_len, d_k)
    value : ndarray, shape (..., n_heads, src_len, d_v)
    w_o : ndarray, shape (n_heads * d_v, d_model)

    Returns
    -------
    output : ndarray, shape (..., tgt_len, d_model)
    weights : ndarray, shape (..., n_heads, tgt_len, src_len)

    References
    ----------
    Vaswani et al. (2017), section 3.2.2.
    """
    heads, weights = scaled_dot_product_attention(query, key, value)
    return join_heads(heads) @ w_o, weights


def cases(seed):
    """Return heads without mask: of one sentence, of batches, with large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key``, ``value`` and ``w_o``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_heads, lengths, d_k, d_v, d_model, batch=()):
        tgt_len, src_len = lengths
        return {
            "query": rng.uniform(-1, 1, (*batch, n_heads, tgt_len, d_k)),
            "key": rng.uniform(-1, 1, (*batch, n_heads, src_len, d_k)),
            "value": rng.uniform(-1, 1, (*batch, n_heads, src_len, d_v)),
            "w_o": rng.uniform(-0.6, 0.6, (n_heads * d_v, d_model)),
        }

    large = draw(2, (3, 4), 3, 2, 4)
    with_large_scores(large)
    return [
        draw(2, (3, 3), 2, 2, 4),
        draw(2, (3, 4), 3, 2, 5),
        draw(3, (2, 4), 2, 2, 6),
        draw(2, (4, 3), 2, 3, 6),
        large,
        draw(2, (3, 4), 3, 2, 5, batch=(3,)),
        draw(3, (3, 4), 2, 2, 6, batch=(3,)),
        draw(2, (3, 4), 2, 3, 5, batch=(2, 3)),
        draw(rng.integers(2, 5), rng.integers(2, 6, 2), *rng.integers(2, 6, 3)),
    ]


def _joined(heads):
    """Put the heads side by side, NaN or not: `join_heads` takes only numbers."""
    *batch, n_heads, seq_len, width = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, seq_len, n_heads * width)


def _with(
    join=_joined,
    weigh=softmax,
    scale=lambda query: query.shape[-1],
    project=lambda joined, w_o: joined @ w_o,
    result=lambda output, weights: (output, weights),
):
    """Return the function with one of its parts replaced."""

    def heads(query, key, value, w_o):
        weights = weigh(query @ key.mT / np.sqrt(scale(query)))
        return result(project(join(weights @ value), w_o), weights)

    return heads


def _as_they_are(heads):
    """Reshape the heads without a transposition to the shape of tokens and components."""
    *batch, n_heads, seq_len, width = heads.shape
    return heads.reshape(*batch, seq_len, n_heads * width)


def _reordered(*axes):
    """Return a joining that puts head, token and component in another order first."""

    def join(heads):
        *batch, n_heads, seq_len, width = heads.shape
        front = range(len(batch))
        moved = heads.transpose(*front, *(len(batch) + axis for axis in axes))
        return moved.reshape(*batch, seq_len, n_heads * width)

    return join


def _first_two_exchanged(heads):
    *batch, n_heads, seq_len, width = heads.shape
    return heads.swapaxes(0, 1).reshape(*batch, seq_len, n_heads * width)


def _for_axes(number):
    def heads(query, key, value, w_o):
        if query.ndim != number:
            raise ValueError("axes don't match array")
        return mended_heads(query, key, value, w_o)

    return heads


MISTAKES = {
    "joined_by_reshape": (_with(join=_as_they_are),),
    "another_pair_of_axes": (
        _with(join=_reordered(0, 2, 1)),
        _with(join=_reordered(2, 1, 0)),
        _with(join=_reordered(2, 0, 1)),
    ),
    "components_before_heads": (_with(join=_reordered(1, 2, 0)),),
    "heads_summed": (
        _with(join=lambda h: h.sum(axis=-3), project=lambda j, w: j @ w[: j.shape[-1]]),
        _with(join=lambda h: h.mean(axis=-3), project=lambda j, w: j @ w[: j.shape[-1]]),
    ),
    "no_output_projection": (_with(project=lambda joined, w_o: joined),),
    "axes_from_the_front": (_with(join=_first_two_exchanged), _for_axes(3)),
    "batch_only": (_for_axes(4),),
    "softmax_changed": (
        _with(weigh=lambda scores: softmax(scores, axis=-2)),
        _with(weigh=lambda scores: softmax(scores, axis=-3)),
    ),
    "unscaled": (_with(scale=lambda query: 1),),
    "scaled_by_all_heads": (_with(scale=lambda query: query.shape[-1] * query.shape[-3]),),
    "overflow": (_with(weigh=wrong.unstable), _with(weigh=wrong.unstable_or_zero)),
    "global_maximum": (_with(weigh=wrong.global_peak), _with(weigh=wrong.global_peak_or_zero)),
    "only_output": (_with(result=lambda output, weights: output),),
}

EXERCISE = Exercise.from_file(__file__, ("output", "weights"), mended_heads, cases, MISTAKES)
