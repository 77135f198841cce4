"""Chapter 4, `head_contributions`: what each head adds, and the ways to get it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise


def head_contributions(heads, w_o):
    """Return what each head adds to the output: the head times its own rows of `w_o`.

    Parameters
    ----------
    heads : ndarray, shape (..., n_heads, seq_len, d_v)
    w_o : ndarray, shape (n_heads * d_v, d_model)

    Returns
    -------
    ndarray, shape (..., n_heads, seq_len, d_model)
        Their sum over the heads is the output of multi-head attention.

    Examples
    --------
    >>> head_contributions(np.array([[[2.0]], [[3.0]]]), np.array([[1.0, 0.0], [1.0, 1.0]]))
    array([[[2., 0.]],
    <BLANKLINE>
           [[3., 3.]]])
    """
    return heads @ _blocks(heads, w_o)


def cases(seed):
    """Return the heads of one sequence or of a batch, each time with an output projection.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``heads`` and ``w_o``.
    """
    rng = np.random.default_rng(seed)
    shapes = [
        ((2, 3, 2), 5),
        ((2, 2, 3), 3),
        ((3, 2, 4), 5),
        ((2, 3, 2, 3), 7),
        ((2, 2, 2, 4, 3), 5),
    ]
    return [
        {
            "heads": rng.uniform(-0.5, 0.5, shape),
            "w_o": rng.uniform(-0.4, 0.4, (shape[-3] * shape[-1], d_model)),
        }
        for shape, d_model in shapes
    ]


def _blocks(heads, w_o):
    """Return the rows of `w_o` that belong to each head: (n_heads, d_v, d_model)."""
    return w_o.reshape(heads.shape[-3], heads.shape[-1], -1)


def _interleaved(heads, w_o):
    return heads @ w_o.reshape(heads.shape[-1], heads.shape[-3], -1).swapaxes(0, 1)


def _side_by_side(heads, w_o):
    n_heads, d_v = heads.shape[-3], heads.shape[-1]
    slots = np.zeros((*heads.shape[:-1], n_heads * d_v))
    for h in range(n_heads):
        slots[..., h, :, h * d_v : (h + 1) * d_v] = heads[..., h, :, :]
    return slots


def _shuffled(heads, w_o):
    *batch, n_heads, seq_len, d_v = heads.shape
    mixed = heads.reshape(*batch, seq_len, n_heads, d_v).swapaxes(-3, -2)
    return mixed @ _blocks(heads, w_o)


def _stacked_first(heads, w_o):
    blocks = _blocks(heads, w_o)
    return np.stack([heads[..., h, :, :] @ block for h, block in enumerate(blocks)])


def _one_by_one_from_the_front(heads, w_o):
    return np.stack([heads[h] @ block for h, block in enumerate(_blocks(heads, w_o))])


def _total(heads, w_o):
    return head_contributions(heads, w_o).sum(axis=-3)


def _changed(change):
    def contributions(heads, w_o):
        return change(head_contributions(heads, w_o))

    return contributions


def _rows_overlap(heads, w_o):
    d_v = heads.shape[-1]
    parts = [heads[..., h, :, :] @ w_o[h : h + d_v] for h in range(heads.shape[-3])]
    return np.stack(parts, axis=-3)


MISTAKES = {
    "already_added": (_total,),
    "one_block_for_all": (
        lambda heads, w_o: heads @ w_o[: heads.shape[-1]],
        lambda heads, w_o: heads @ w_o[-heads.shape[-1] :],
    ),
    "every_other_row": (_interleaved,),
    "blocks_reversed": (lambda heads, w_o: heads @ _blocks(heads, w_o)[::-1],),
    "block_transposed": (lambda heads, w_o: heads @ _blocks(heads, w_o).mT,),
    "not_projected": (_side_by_side,),
    "others_instead": (_changed(lambda each: each.sum(axis=-3, keepdims=True) - each),),
    "divided_by_heads": (_changed(lambda each: each / each.shape[-3]),),
    "as_shares": (_changed(lambda each: each / each.sum(axis=-3, keepdims=True)),),
    "running_total": (_changed(lambda each: each.cumsum(axis=-3)),),
    "tokens_before_heads": (_changed(lambda each: each.swapaxes(-3, -2)),),
    "tokens_shuffled": (_shuffled,),
    "heads_before_the_batch": (_stacked_first, _one_by_one_from_the_front),
    "without_batch": (lambda heads, w_o: np.einsum("hid,hdm->him", heads, _blocks(heads, w_o)),),
    "rows_overlap": (_rows_overlap,),
    "matrix_transposed": (
        lambda heads, w_o: heads @ w_o.T.reshape(heads.shape[-3], heads.shape[-1], -1),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("contributions",), head_contributions, cases, MISTAKES)
