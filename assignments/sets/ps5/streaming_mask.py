"""Problem set 5, `streaming_mask`: the last few keys, and the first ones for ever."""

import numpy as np

from attn.reference import causal_mask
from attn_course.exercises.spec import Exercise


def streaming_mask(tgt_len, src_len, window, n_first):
    """Let each query attend to the last `window` keys up to its own, and to the first ones."""
    key = np.arange(src_len)
    position = key[src_len - tgt_len :, None]
    return causal_mask(tgt_len, src_len) & ((position - key < window) | (key < n_first))


def cases(seed):
    """Return sizes: a window alone, with first tokens always in view, and with stored keys.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, which are the sizes.

    Returns
    -------
    list of dict
        With the keys ``tgt_len``, ``src_len``, ``window`` and ``n_first``, arrays without axes.
    """
    rng = np.random.default_rng(seed)

    def draw(tgt_len, more, window, n_first=0):
        sizes = tgt_len, tgt_len + more, window, n_first
        return {
            name: np.array(size)
            for name, size in zip(("tgt_len", "src_len", "window", "n_first"), sizes, strict=True)
        }

    return [
        draw(rng.integers(4, 7), 0, 2),
        draw(rng.integers(6, 10), 0, 3),
        draw(rng.integers(8, 13), 0, rng.integers(2, 5)),
        draw(rng.integers(2, 5), 0, rng.integers(4, 8)),
        draw(rng.integers(6, 10), 0, 3, 1),
        draw(rng.integers(8, 12), 0, 2, rng.integers(2, 4)),
        draw(rng.integers(7, 11), 0, 3, 2),
        draw(rng.integers(2, 5), rng.integers(4, 7), 2),
        draw(rng.integers(2, 5), rng.integers(5, 8), 3, 1),
        draw(1, rng.integers(6, 12), 2, 2),
        draw(rng.integers(4, 7), rng.integers(3, 6), 3),
        # No table of the small masks holds these.
        *(draw(n, 0, window) for n, window in rng.integers((24, 2), (60, 21), (2, 2))),
        draw(*rng.integers((9, 9, 2, 1), (20, 20, 8, 4))),
    ]


def _when(rule, offset=True):
    """Return a mask from a rule on query position, key, window and first tokens."""

    def mask(tgt_len, src_len, window, n_first):
        position = np.arange(tgt_len)[:, None] + (src_len - tgt_len if offset else 0)
        return rule(position, np.arange(src_len), window, n_first)

    return mask


def _allowed(i, j, window, n_first):
    return (j <= i) & ((i - j < window) | (j < n_first))


def _with_window(change):
    return _when(lambda i, j, window, n: _allowed(i, j, change(window, n), n))


MISTAKES = {
    "one_too_many": (_with_window(lambda window, n: window + 1),),
    "one_too_few": (_with_window(lambda window, n: window - 1),),
    "both_sides": (_when(lambda i, j, w, n: (abs(i - j) < w) | ((j <= i) & (j < n))),),
    "no_window": (_when(lambda i, j, w, n: j <= i),),
    "in_blocks": (_when(lambda i, j, w, n: (j <= i) & ((i // w == j // w) | (j < n))),),
    "looks_ahead": (
        _when(lambda i, j, w, n: (j >= i) & (j - i < w)),
        _when(lambda i, j, w, n: ((j >= i) & (j - i < w)) | (j < n)),
    ),
    "marked_as_forbidden": (_when(lambda *given: ~_allowed(*given)),),
    "from_the_first_key": (_when(_allowed, offset=False),),
    "first_forgotten": (_when(lambda i, j, w, n: _allowed(i, j, w, 0)),),
    "first_ahead_of_time": (_when(lambda i, j, w, n: ((j <= i) & (i - j < w)) | (j < n)),),
    "first_taken_from_the_window": (_with_window(lambda window, n: window - n),),
    "numbers_for_the_scores": (_when(lambda *given: np.where(_allowed(*given), 0.0, -1e9)),),
}

EXERCISE = Exercise.from_file(__file__, ("mask",), streaming_mask, cases, MISTAKES)
