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
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the key ``ids``; 0 is padding.
    """
    rng = np.random.default_rng(seed)

    def draw(real):
        """Return ids where `real` has a 1, and 0 elsewhere."""
        return {"ids": real * rng.integers(1, 9, real.shape)}

    def whole(n_rows, length):
        return draw(np.ones((n_rows, length), dtype=int))

    def at_the_end(n_rows, length):
        """Pad rows of different lengths."""
        lengths = 1 + rng.permutation(length)[:n_rows]
        return draw((np.arange(length) < lengths[:, None]).astype(int))

    def anywhere(n_rows, length):
        """Pad rows so that in each a token of padding stands before a real one."""
        while True:
            real = rng.integers(2, size=(n_rows, length))
            in_front = (real[:, :-1] < real[:, 1:]).any(axis=1)
            if in_front.all() and len(np.unique(real, axis=0)) == n_rows:
                return draw(real)

    begins_with_padding = np.ones((2, rng.integers(4, 7)), dtype=int)
    begins_with_padding[rng.integers(2), 0] = 0
    return [
        whole(2, rng.integers(3, 6)),
        whole(3, rng.integers(4, 7)),
        at_the_end(3, rng.integers(3, 6)),
        at_the_end(2, rng.integers(4, 7)),
        at_the_end(3, rng.integers(5, 9)),
        draw(begins_with_padding),
        anywhere(3, rng.integers(5, 8)),
        # These are too large for an answer that looks masks up in a table.
        *(whole(*sizes) for sizes in rng.integers((2, 7), (5, 60), (2, 2))),
        anywhere(2, rng.integers(9, 20)),
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
