"""Chapter 4, `split_heads`: the same numbers with one more axis, and the ways to get it wrong."""

import numpy as np

from attn.reference import split_heads
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return vectors to be cut into heads, alone and in batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x`` and ``n_heads``, an array without axes.
    """
    rng = np.random.default_rng(seed)
    shapes = [
        ((2, 6), 2),
        ((3, 8), 2),
        ((4, 6), 2),
        ((3, 6), 3),
        ((2, 3, 8), 2),
        ((3, 4, 10), 2),
        ((2, 3, 4, 15), 5),
    ]
    return [{"x": rng.uniform(-0.8, 0.8, shape), "n_heads": np.array(h)} for shape, h in shapes]


def _apart(x, n_heads):
    """Return x with its last axis in two: (..., seq_len, n_heads, d_k)."""
    return x.reshape(*x.shape[:-1], int(n_heads), -1)


def _reshaped(x, n_heads):
    *batch, seq_len, d_model = x.shape
    return x.reshape(*batch, int(n_heads), seq_len, d_model // n_heads)


def _interleaved(x, n_heads):
    return np.moveaxis(x.reshape(*x.shape[:-1], -1, int(n_heads)), -1, -3)


def _heads_of_size(x, n_heads):
    return x.reshape(*x.shape[:-1], -1, int(n_heads)).swapaxes(-3, -2)


def _tokens(x, n_heads):
    *batch, seq_len, d_model = x.shape
    return x.reshape(*batch, int(n_heads), seq_len // n_heads, d_model)


def _for_axes(axes):
    def split(x, n_heads):
        return _apart(x, n_heads).transpose(axes)

    return split


def _batch_and_length(x, n_heads):
    split = x.reshape(x.shape[0], x.shape[1], int(n_heads), -1)
    return split.transpose(0, 2, 1, 3)


def _overlapping(x, n_heads):
    d_k = x.shape[-1] // n_heads
    return np.stack([x[..., h : h + d_k] for h in range(int(n_heads))], axis=-3)


MISTAKES = {
    "reshaped": (_reshaped,),
    "not_exchanged": (_apart,),
    "interleaved": (_interleaved,),
    "size_for_number": (_heads_of_size,),
    "tokens_split": (_tokens,),
    "copied": (lambda x, n_heads: np.stack([x] * int(n_heads), axis=-3),),
    "heads_first": (lambda x, n_heads: np.stack(np.split(x, int(n_heads), axis=-1)),),
    "heads_last": (lambda x, n_heads: _apart(x, n_heads).swapaxes(-1, -2),),
    "heads_transposed": (lambda x, n_heads: split_heads(x, n_heads).swapaxes(-1, -2),),
    "all_axes_reversed": (lambda x, n_heads: _apart(x, n_heads).T,),
    "one_sentence": (_for_axes((1, 0, 2)),),
    "one_batch": (_for_axes((0, 2, 1, 3)), _batch_and_length),
    "axes_from_the_front": (
        lambda x, n_heads: _apart(x, n_heads).swapaxes(1, 2),
        lambda x, n_heads: _apart(x, n_heads).swapaxes(0, 1),
    ),
    "scaled": (lambda x, n_heads: split_heads(x, n_heads) / np.sqrt(x.shape[-1] // n_heads),),
    "overlapping": (_overlapping,),
}

EXERCISE = Exercise.from_file(__file__, ("heads",), split_heads, cases, MISTAKES)
