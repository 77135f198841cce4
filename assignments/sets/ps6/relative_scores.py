"""Problem set 6, `relative_scores`: a vector for each distance, and one for all beyond."""

import numpy as np

from attn.reference import softmax
from attn_course.exercises.spec import Exercise


def relative_scores(query, key, table):
    """Return the scaled scores of keys to which the vector of their distance is added.

    Shaw, Uszkoreit and Vaswani (2018), section 3.
    """
    vectors = table[_rows(query, table)]
    content = query @ key.mT
    return (content + np.einsum("...id,ijd->...ij", query, vectors)) / np.sqrt(query.shape[-1])


def cases(seed):
    """Return queries, keys and tables: every distance in the table, distances beyond, batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key`` and ``table``.
    """
    rng = np.random.default_rng(seed)

    def draw(seq_len, d_k, farthest, batch=()):
        return {
            "query": rng.uniform(-1, 1, (*batch, seq_len, d_k)),
            "key": rng.uniform(-1, 1, (*batch, seq_len, d_k)),
            "table": rng.uniform(-1, 1, (2 * farthest + 1, d_k)),
        }

    return [
        draw(2, 3, 2),
        draw(3, 2, 3),
        draw(4, 6, 5),
        draw(4, 2, 1),
        draw(6, 3, 2),
        draw(5, 4, 3, batch=(2,)),
        draw(4, 4, 1, batch=(4,)),
        draw(3, 5, 4, batch=(2, 3)),
        draw(*rng.integers((4, 2, 6), (7, 7, 9))),
    ]


def _offsets(query):
    """Return how far after its query each key stands; negative if it comes before."""
    place = np.arange(query.shape[-2])
    return place - place[:, None]


def _rows(query, table):
    farthest = len(table) // 2
    return np.clip(_offsets(query), -farthest, farthest) + farthest


def _with(
    rows=_rows,
    content=lambda query, key: query @ key.mT,
    position=lambda query, key, vectors: np.einsum("...id,ijd->...ij", query, vectors),
    scale=np.sqrt,
):
    """Return the scores with one of their ingredients exchanged for another."""

    def scores(query, key, table):
        total = content(query, key) + position(query, key, table[rows(query, table)])
        return total / scale(query.shape[-1])

    return scores


def _clipped(change):
    """Return the rows of the table when something is done to the offsets."""

    def rows(query, table):
        farthest = len(table) // 2
        return np.clip(change(_offsets(query), farthest), -farthest, farthest) + farthest

    return rows


def _no_middle(query, table):
    farthest = len(table) // 2
    return np.clip(_offsets(query), -farthest, farthest)


def _middle_of_the_sentence(query, table):
    return np.clip(_offsets(query) + query.shape[-2] - 1, 0, len(table) - 1)


def _unclipped(query, table):
    return _offsets(query) + len(table) // 2


def _wrapped(query, table):
    return _unclipped(query, table) % len(table)


def _nothing_beyond(query, key, table):
    reached = np.abs(_offsets(query)) <= len(table) // 2
    vectors = np.where(reached[..., None], table[_rows(query, table)], 0)
    position = np.einsum("...id,ijd->...ij", query, vectors)
    return (query @ key.mT + position) / np.sqrt(query.shape[-1])


def _forbidden_beyond(query, key, table):
    reached = np.abs(_offsets(query)) <= len(table) // 2
    return np.where(reached, relative_scores(query, key, table), -np.inf)


def _one_short(query, table):
    farthest = len(table) // 2
    return np.clip(_offsets(query), -farthest + 1, farthest - 1) + farthest


def _scaled_in_part(query, key, table):
    position = np.einsum("...id,ijd->...ij", query, table[_rows(query, table)])
    return query @ key.mT / np.sqrt(query.shape[-1]) + position


def _all_axes_transposed(query, key, table):
    position = np.einsum("...id,ijd->...ij", query, table[_rows(query, table)])
    return (query @ key.T + position) / np.sqrt(query.shape[-1])


def _matrix_only(query, key, table):
    _n_queries, _d_k = query.shape
    return relative_scores(query, key, table)


def _bias(query, key, vectors):
    return vectors.sum(axis=-1)


MISTAKES = {
    "direction_reversed": (_with(rows=_clipped(lambda offset, farthest: -offset)),),
    "no_direction": (_with(rows=_clipped(lambda offset, farthest: np.abs(offset))),),
    "middle_forgotten": (_with(rows=_no_middle),),
    "middle_of_the_sentence": (_with(rows=_middle_of_the_sentence),),
    "unclipped": (_with(rows=_unclipped), _with(rows=_wrapped)),
    "nothing_beyond": (_nothing_beyond,),
    "forbidden_beyond": (_forbidden_beyond,),
    "one_row_short": (_with(rows=_one_short),),
    "content_only": (_with(position=lambda query, key, vectors: 0),),
    "position_only": (_with(content=lambda query, key: 0),),
    "added_to_the_query": (
        _with(position=lambda q, key, vectors: np.einsum("...jd,ijd->...ij", key, vectors)),
    ),
    "vector_summed": (_with(position=_bias),),
    "unscaled": (_with(scale=lambda d_k: 1), _scaled_in_part),
    "scaled_by_d_k": (_with(scale=lambda d_k: d_k),),
    "transposed": (
        _with(
            lambda q, t: _rows(q, t).T,
            lambda q, k: k @ q.mT,
            lambda q, k, v: np.einsum("...jd,ijd->...ij", q, v),
        ),
    ),
    "weights_instead": (lambda query, key, table: softmax(relative_scores(query, key, table)),),
    "matrix_only": (_matrix_only, _all_axes_transposed),
}

EXERCISE = Exercise.from_file(__file__, ("scores",), relative_scores, cases, MISTAKES)
