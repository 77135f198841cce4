"""Problem set 2, `causal_padding_mask`: order and padding at once, and how to get them wrong."""

import numpy as np

from attn.reference import causal_mask
from attn_course.exercises.spec import Exercise


def causal_padding_mask(ids):
    """Return a mask: True where the key is no padding and stands no later than the query."""
    return causal_mask(ids.shape[-1]) & (ids != 0)[..., None, :]


def cases(seed):
    """Return token ids: without padding, with padding at the end, and with it anywhere.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the key ``ids``; 0 is padding.
    """
    rng = np.random.default_rng(seed)

    def draw(*real):
        """Return ids where each row of `real` has a 1, and 0 elsewhere."""
        return {"ids": np.array(real) * rng.integers(1, 9, (len(real), len(real[0])))}

    return [
        draw([1, 1, 1], [1, 1, 1]),
        draw([1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]),
        draw([1, 1, 0], [1, 1, 1], [1, 0, 0]),
        draw([1, 1, 1, 1], [1, 1, 0, 0]),
        draw([1, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 0, 0, 0, 0]),
        draw([0, 1, 1, 1], [1, 1, 1, 1]),
        draw([0, 0, 1, 1, 1], [0, 1, 0, 1, 1], [1, 1, 0, 0, 1]),
    ]


def _combined(order=causal_mask, real=lambda ids: (ids != 0)[..., None, :]):
    return lambda ids: np.full((*ids.shape, ids.shape[-1]), order(ids.shape[-1]) & real(ids))


def _everything(ids):
    return np.ones((1, 1, 1), dtype=bool)


def _contiguous(ids):
    real = np.arange(ids.shape[-1]) < (ids != 0).sum(axis=-1, keepdims=True)
    return real[..., None, :]


MISTAKES = {
    "causal_only": (_combined(real=_everything), lambda ids: causal_mask(ids.shape[-1])),
    "padding_only": (
        _combined(order=lambda n: np.ones((n, n), dtype=bool)),
        lambda ids: (ids != 0)[:, None, :],
        lambda ids: ids != 0,
    ),
    "future": (_combined(order=lambda n: causal_mask(n).T),),
    "itself_excluded": (_combined(order=lambda n: np.tril(np.ones((n, n), dtype=bool), -1)),),
    "inverted": (
        lambda ids: ~causal_padding_mask(ids),
        _combined(order=lambda n: ~causal_mask(n), real=lambda ids: (ids == 0)[:, None, :]),
    ),
    "padding_inverted": (_combined(real=lambda ids: (ids == 0)[:, None, :]),),
    "either_instead_of_both": (lambda ids: causal_mask(ids.shape[-1]) | (ids != 0)[:, None, :],),
    "padding_on_the_rows": (_combined(real=lambda ids: (ids != 0)[:, :, None]),),
    "padding_both_ways": (
        _combined(real=lambda ids: (ids != 0)[:, None, :] & (ids != 0)[:, :, None]),
    ),
    "padding_at_the_end": (_combined(real=_contiguous),),
    "transposed": (lambda ids: causal_padding_mask(ids).mT,),
    "padding_sees_itself": (
        lambda ids: causal_padding_mask(ids) | np.eye(ids.shape[-1], dtype=bool),
    ),
    "first_sentence_for_all": (
        lambda ids: np.repeat(causal_padding_mask(ids[:1]), len(ids), axis=0),
        lambda ids: causal_padding_mask(ids[0]),
    ),
    "numbers_to_add": (lambda ids: np.where(causal_padding_mask(ids), 0, -1e9),),
}

EXERCISE = Exercise.from_file(__file__, ("mask",), causal_padding_mask, cases, MISTAKES)
