"""Problem set 1, `sentence_vectors`: one vector for a sentence, and what padding does to it."""

import numpy as np

from attn_course.exercises.spec import Exercise


def sentence_vectors(table, ids):
    """Return the mean embedding of the real tokens of each sentence; zeros if there are none."""
    real = (ids != 0)[..., None]
    return (table[ids] * real).sum(axis=-2) / np.maximum(real.sum(axis=-2), 1)


def cases(seed):
    """Return sentences: without padding, with padding anywhere, of padding only, batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``table``, whose row 0 is not zero, and ``ids``.
    """
    rng = np.random.default_rng(seed)

    def draw(d_model, *rows, batch=()):
        table = rng.normal(size=(8, d_model)) + 0.5
        real = np.array(rows)
        ids = rng.integers(1, 8, real.shape)
        # In every sentence a word is repeated, because it counts each time.
        while any(len({*row.tolist()}) == len(row) for row in ids):
            ids = rng.integers(1, 8, real.shape)
        return {"table": table, "ids": (ids * real).reshape(*batch, -1, real.shape[-1])}

    return [
        draw(2, [1, 1, 1], [1, 1, 1]),
        draw(3, [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]),
        draw(5, [1, 1, 1, 1, 1, 1]),
        draw(3, [1, 1, 1, 1], [1, 1, 1, 0]),
        draw(4, [1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]),
        draw(4, [0, 1, 1, 1, 1], [1, 1, 1, 1, 1]),
        draw(5, [0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 0, 1]),
        draw(3, [1, 1, 1, 0], [0, 0, 0, 0]),
        draw(4, *([1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 1, 1]), batch=(2,)),
        draw(2, *([1, 1, 1, 0], [0, 1, 1, 0], [1, 1, 1, 1]) * 2, batch=(2, 3)),
        draw(rng.integers(2, 6), *np.ones(rng.integers((2, 4), (5, 9)), dtype=int)),
    ]


def _n_real(ids):
    return (ids != 0).sum(axis=-1)[..., None]


def _mean(count=_n_real, weigh=lambda ids: (ids != 0)[..., None]):
    """Return the mean with other weights of the tokens, or divided by another number."""
    return lambda table, ids: (table[ids] * weigh(ids)).sum(axis=-2) / np.maximum(count(ids), 1)


def _everything(ids):
    return np.ones((*ids.shape, 1))


def _nan_if_empty(table, ids):
    with np.errstate(all="ignore"):
        return (table[ids] * (ids != 0)[..., None]).sum(axis=-2) / _n_real(ids)


def _largest(table, ids):
    hidden = np.where((ids != 0)[..., None], table[ids], -np.inf).max(axis=-2)
    return np.where(np.isfinite(hidden), hidden, 0)


def _distinct(table, ids):
    vectors = np.zeros((*ids.shape[:-1], table.shape[1]))
    for place in np.ndindex(ids.shape[:-1]):
        found = sorted({*ids[place].tolist()} - {0})
        if found:
            vectors[place] = table[found].mean(axis=0)
    return vectors


def _mean_id(table, ids):
    mean = ids.sum(axis=-1) / np.maximum((ids != 0).sum(axis=-1), 1)
    return table[np.round(mean).astype(int)] * (ids != 0).any(axis=-1)[..., None]


def _first_tokens(ids):
    return (np.arange(ids.shape[-1]) < _n_real(ids))[..., None]


def _up_to_padding(ids):
    return np.cumprod(ids != 0, axis=-1)[..., None]


def _over_sentences(table, ids):
    real = (ids != 0)[..., None]
    return (table[ids] * real).sum(axis=0) / np.maximum(real.sum(axis=0), 1)


def _one_count(table, ids):
    real = (ids != 0)[..., None]
    return (table[ids] * real).sum(axis=-2) / max(real.sum() / max(ids[..., 0].size, 1), 1)


def _unit(table, ids):
    vectors = sentence_vectors(table, ids)
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length == 0, 1, length)


def _matrix_only(table, ids):
    if ids.ndim != 2:
        raise ValueError("too many values to unpack (expected 2)")
    return sentence_vectors(table, ids)


MISTAKES = {
    "padding_counted": (_mean(lambda ids: ids.shape[-1], _everything),),
    "divided_by_length": (_mean(lambda ids: ids.shape[-1]),),
    "padding_summed": (_mean(weigh=_everything),),
    "sum": (_mean(lambda ids: 1),),
    "maximum": (_largest,),
    "distinct_words": (_distinct,),
    "mean_of_ids": (_mean_id,),
    "padding_at_the_end": (
        _mean(weigh=_first_tokens),
        _mean(lambda ids: _up_to_padding(ids).sum(axis=-2), _up_to_padding),
    ),
    "over_sentences": (_over_sentences,),
    "one_count_for_all": (_one_count,),
    "empty_sentence": (_nan_if_empty,),
    "unit_length": (_unit,),
    "matrix_only": (_matrix_only,),
}

EXERCISE = Exercise.from_file(__file__, ("vectors",), sentence_vectors, cases, MISTAKES)
