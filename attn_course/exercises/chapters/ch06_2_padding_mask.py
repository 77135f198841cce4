"""Chapter 6, `padding_mask`: which keys are real, sentence by sentence, and how to get it wrong."""

import numpy as np

from attn.reference import padding_mask
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return the lengths of the sentences of a batch and the length they are padded to.

    The batch, the lengths and the common length differ, so that no axis can be mistaken for
    another. The difference between the common length and the longest sentence varies too, so that
    neither determines the other.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``lengths`` and ``seq_len``, the second an array without axes.
    """
    rng = np.random.default_rng(seed)

    def draw(batch_size, seq_len, padding=1):
        """Return lengths, the second of which is the longest, and a common length above it."""
        longest = seq_len - padding
        rest = rng.integers(1, longest + 1, batch_size - 2)
        lengths = [rng.integers(2, longest), longest, *rest]
        return {"lengths": np.array(lengths[:batch_size]), "seq_len": np.array(seq_len)}

    return [
        draw(2, 4),
        draw(2, 5),
        draw(3, 5),
        draw(4, 6),
        draw(3, 7, padding=3),
        draw(5, 8, padding=0),
    ]


def _real(lengths, seq_len):
    return np.arange(seq_len) < lengths[:, None]


def _rows(change):
    """Return a mask computed from the (batch_size, seq_len) array that is True at real tokens."""
    return lambda lengths, seq_len: change(_real(lengths, seq_len))


def _until(change):
    """Return a mask whose lengths are changed before the comparison."""

    def mask(lengths, seq_len):
        ends = np.broadcast_to(change(lengths, seq_len), lengths.shape)
        return np.arange(seq_len) < ends[:, None, None]

    return mask


MISTAKES = {
    "without_the_axis": (_rows(lambda real: real),),
    "on_the_queries": (_rows(lambda real: real[:, :, None]),),
    "real_as_false": (_rows(lambda real: ~real[:, None, :]),),
    "one_pad_too_many": (_until(lambda lengths, _: lengths + 1),),
    "one_token_too_few": (_until(lambda lengths, _: lengths - 1),),
    "padding_on_the_left": (_rows(lambda real: real[:, None, ::-1]),),
    "longest_for_all": (_until(lambda lengths, _: lengths.max()),),
    "as_wide_as_the_longest": tuple(
        lambda lengths, _, more=more: np.arange(lengths.max() + more) < lengths[:, None, None]
        for more in (0, 1)
    ),
    "first_for_all": (_until(lambda lengths, _: lengths[0]),),
    "silent_padding_too": (_rows(lambda real: real[:, None, :] & real[:, :, None]),),
    "repeated_for_every_query": (
        _rows(lambda real: np.repeat(real[:, None, :], real.shape[1], axis=1)),
    ),
    "axis_of_the_heads_too": (_rows(lambda real: real[:, None, None, :]),),
    "axis_in_front": (_rows(lambda real: real[None]),),
    "numbers_for_the_keys": (
        _rows(lambda real: np.where(real, 0.0, -1e9)[:, None, :]),
        _rows(lambda real: np.where(real, 0.0, -1e9)),
        _rows(lambda real: np.where(real, 0.0, -np.inf)[:, None, :]),
        _rows(lambda real: np.where(real, 0.0, -np.inf)),
    ),
    "shortest_for_all": (_until(lambda lengths, _: lengths.min()),),
    "one_place_only": (
        lambda lengths, seq_len: np.arange(seq_len) == lengths[:, None, None] - 1,
        lambda lengths, seq_len: np.arange(seq_len) == lengths[:, None, None],
        lambda lengths, seq_len: np.arange(seq_len) != lengths[:, None, None],
    ),
}

EXERCISE = Exercise.from_file(__file__, ("mask",), padding_mask, cases, MISTAKES)
