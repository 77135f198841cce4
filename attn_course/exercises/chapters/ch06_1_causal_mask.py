"""Chapter 6, `causal_mask`: as many queries as keys or fewer, and the ways to get it wrong."""

import numpy as np

from attn.reference import causal_mask
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return numbers of queries and of keys: equal, and with more keys than queries.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, which are the sizes.

    Returns
    -------
    list of dict
        With the keys ``tgt_len`` and ``src_len``, arrays without axes.
    """
    rng = np.random.default_rng(seed)

    def draw(tgt_len, more):
        return {"tgt_len": np.array(tgt_len), "src_len": np.array(tgt_len + more)}

    small, large = rng.integers(3, 6), rng.integers(6, 9)
    return [
        draw(small, 0),
        draw(large, 0),
        draw(small, 2),
        draw(large, rng.integers(3, 6)),
        draw(2, rng.integers(4, 7)),
        draw(1, rng.integers(2, 5)),
    ]


def _triangle(shift):
    """Return a mask whose query i sees the keys up to i + shift(queries, keys)."""
    return lambda n, m: np.arange(m) <= np.arange(n)[:, None] + shift(n, m)


def _from(condition):
    """Return a mask from a condition on the position of the key and that of the query."""
    return lambda n, m: condition(np.arange(m), np.arange(n)[:, None] + m - n)


def _cache_behind(n, m):
    """Put the triangle first, and the cached keys after it."""
    return np.hstack([np.tri(n, dtype=bool), np.ones((n, m - n), dtype=bool)])


MISTAKES = {
    "from_the_first_key": (_triangle(lambda n, m: 0),),
    "shifted_the_other_way": (_triangle(lambda n, m: n - m),),
    "not_itself": (_triangle(lambda n, m: m - n - 1), _triangle(lambda n, m: -1)),
    "one_too_far": (_triangle(lambda n, m: m - n + 1),),
    "future_instead": (
        _from(lambda j, i: j >= i),
        lambda n, m: np.arange(m) >= np.arange(n)[:, None],
    ),
    "marked_as_forbidden": (
        _from(lambda j, i: j > i),
        lambda n, m: np.arange(m) > np.arange(n)[:, None],
    ),
    "everything_allowed": (_from(lambda j, i: (j >= 0) & (i >= 0)),),
    "only_itself": (_from(lambda j, i: j == i),),
    "rows_and_columns_swapped": (lambda n, m: causal_mask(int(n), int(m)).T,),
    "numbers_for_the_scores": (
        lambda n, m: np.where(causal_mask(int(n), int(m)), 0.0, -np.inf),
        lambda n, m: np.where(causal_mask(int(n), int(m)), 0.0, -1e9),
    ),
    "square_of_keys": (lambda n, m: causal_mask(int(m)),),
    "square_of_queries": (lambda n, m: causal_mask(int(n)),),
    "forgets_the_cache": (lambda n, m: (np.arange(m) >= m - n) & causal_mask(int(n), int(m)),),
    "cache_behind": (_cache_behind,),
}

EXERCISE = Exercise.from_file(__file__, ("mask",), causal_mask, cases, MISTAKES)
