"""Problem set 5, `packed_mask`: several texts in one row, each blind to the others."""

import numpy as np

from attn.reference import causal_mask
from attn_course.exercises.spec import Exercise


def packed_mask(ids, start_id):
    """Return who may attend to whom, and the place of each token in its own text."""
    return _packed()(ids, start_id)


def _texts(ids, start_id):
    """Number the texts of each row; what comes before the first start is text 0."""
    return (ids == start_id).cumsum(axis=-1)


def _places(starts):
    """Count from the last start at or before each token; a row starts a text too."""
    place = np.arange(starts.shape[-1])
    return place - np.maximum.accumulate(np.where(starts, place, 0), axis=-1)


def _packed(
    texts=_texts,
    order=lambda n: causal_mask(n),
    hidden=lambda real: real[:, :, None] & real[:, None, :],
    places=lambda ids, start_id: _places(ids == start_id) * (ids != 0),
    mask=lambda mask, ids, start_id: mask,
):
    """Return the function, or one with one of its ingredients exchanged for another."""

    def packed(ids, start_id):
        text = texts(ids, start_id)
        same = text[:, :, None] == text[:, None, :]
        allowed = order(ids.shape[-1]) & same & hidden(ids != 0)
        return mask(allowed, ids, start_id), places(ids, start_id)

    return packed


def cases(seed):
    """Return rows of several texts: whole, with padding at the end, and cut at the beginning.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``ids`` and ``start_id``, the second an array without axes.
    """
    rng = np.random.default_rng(seed)

    def draw(*rows):
        """Return the inputs whose rows hold texts of these lengths and kinds."""
        start_id = rng.integers(1, 4)
        ids = [[token for text in row for token in _text(rng, start_id, *text)] for row in rows]
        return {"ids": np.array(ids), "start_id": np.array(start_id)}

    def cut(length):
        """Return the texts of a row of so many tokens: two at least, not all of one token."""
        while True:
            ends = 1 + np.flatnonzero(np.append(rng.integers(2, size=length - 1), 1))
            lengths = np.diff(ends, prepend=0)
            if 1 < len(lengths) < length:
                return [(n,) for n in lengths]

    def begun(length):
        """Return the texts of such a row whose first has lost its beginning."""
        (first,), *others = cut(length)
        return [(first, "cut"), *others]

    def padded(row, n_pads):
        return [*row, (n_pads, "pad")]

    one, two, three, four = rng.integers((6, 7, 7, 8), (9, 10, 10, 11))
    return [
        draw(cut(rng.integers(4, 7))),
        draw(cut(one), cut(one)),
        draw(cut(two), cut(two), [(two,)]),
        draw(padded(cut(rng.integers(4, 6)), rng.integers(1, 4))),
        draw(padded(cut(three - 3), 3), cut(three), padded(cut(three - 2), 2)),
        draw(begun(rng.integers(5, 7))),
        draw(begun(two), cut(two)),
        draw(padded(begun(four - 2), 2), begun(four), padded(cut(four - 1), 1)),
        # These are larger, so that a table of the small masks cannot pass.
        draw(*map(cut, [rng.integers(10, 18)] * rng.integers(2, 4))),
    ]


def _text(rng, start_id, length, kind="whole"):
    if kind == "pad":
        return [0] * length
    words = rng.integers(4, 20, length)
    return [start_id, *words[1:]] if kind == "whole" else words


def _shifted(ids, start_id):
    """Number the texts, but count each start token as part of the text before it."""
    return _texts(ids, start_id) - (ids == start_id)


def _without_the_cut(mask, ids, start_id):
    inside = _texts(ids, start_id) > 0
    return mask & inside[:, None, :] & inside[:, :, None]


def _dropped(ids, start_id):
    mask, places = packed_mask(ids, start_id)
    return (
        _without_the_cut(mask, ids, start_id),
        places * (_texts(ids, start_id) > 0),
    )


def _joined(ids, start_id):
    starts = (ids == start_id) & (_texts(ids, start_id) > 1)
    places = _places(starts) * (ids != 0)
    mask, _ = _packed(lambda ids, start_id: np.maximum(_texts(ids, start_id), 1))(ids, start_id)
    return mask, places


def _from_the_position_before(ids, start_id):
    """Measure from the last start, taken to be at -1 where there is none."""
    place, starts = np.arange(ids.shape[-1]), ids == start_id
    last = np.maximum.accumulate(np.where(starts, place, -1), axis=-1)
    return (place - last) * (ids != 0)


MISTAKES = {
    "texts_ignored": (_packed(lambda ids, start_id: np.zeros(ids.shape)),),
    "not_causal": (_packed(order=lambda n: np.ones((n, n), dtype=bool)),),
    "not_itself": (_packed(order=lambda n: causal_mask(n) & ~np.eye(n, dtype=bool)),),
    "positions_go_on": (
        _packed(places=lambda ids, start_id: np.arange(ids.shape[-1]) * (ids != 0)),
        _packed(places=lambda ids, start_id: np.arange(ids.shape[-1]) + 0 * ids),
    ),
    "positions_from_one": (_packed(places=lambda ids, s: (_places(ids == s) + 1) * (ids != 0)),),
    "start_with_the_text_before": (_packed(_shifted),),
    "start_hidden": (
        _packed(mask=lambda mask, ids, start_id: mask & (ids != start_id)[:, None, :]),
    ),
    "padding_asks": (
        _packed(hidden=lambda real: real[:, None, :]),
        _packed(hidden=lambda real: np.ones((1, 1, 1), dtype=bool)),
        _packed(
            lambda ids, s: np.where(ids == 0, -1, _texts(ids, s)),
            hidden=lambda real: np.ones((1, 1, 1), dtype=bool),
        ),
    ),
    "padding_has_positions": (_packed(places=lambda ids, start_id: _places(ids == start_id)),),
    "cut_text_dropped": (_dropped, _packed(mask=_without_the_cut)),
    "cut_text_joined": (_joined, _packed(lambda ids, s: np.maximum(_texts(ids, s), 1))),
    "cut_text_from_one": (_packed(places=_from_the_position_before),),
    "marked_as_forbidden": (_packed(mask=lambda mask, ids, start_id: ~mask),),
}

EXERCISE = Exercise.from_file(__file__, ("mask", "positions"), packed_mask, cases, MISTAKES)
