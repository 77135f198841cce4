"""Appendix A1, `written`: the output of a decoding loop, without special tokens."""

import numpy as np

from attn_course.exercises.spec import Exercise


def written(ids, sos_id, eos_id, pad_id):
    """Return the words of each row: no start token, and padding from the first end token on."""
    words = ids[:, 1:]
    return np.where(_ended(words, eos_id), pad_id, words)


def _ended(words, eos_id):
    """Return where an end token has been written, it and all after it included."""
    return np.logical_or.accumulate(words == eos_id, axis=1)


def cases(seed):
    """Return outputs of decoding loops: with and without an end token, and with any tokens after
    it.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``ids``, of shape (batch_size, length), ``sos_id``, ``eos_id`` and ``pad_id``.
    """
    rng = np.random.default_rng(seed)

    def loop(length, *ends, marks=(2, 3, 0)):
        sos_id, eos_id, pad_id = marks
        others = [i for i in range(20) if i not in marks]
        ids = np.stack([rng.permutation(others)[: length + 1] for _ in ends])
        ids[:, 0] = sos_id
        for row, end in zip(ids, ends, strict=True):
            if end is not None:
                row[1 + end] = eos_id
                if end + 2 < length:
                    row[length] = eos_id  # the loop continues for other rows, and repeats it
        names = {"sos_id": sos_id, "eos_id": eos_id, "pad_id": pad_id}
        return {"ids": ids, **{name: np.array(i) for name, i in names.items()}}

    return [
        loop(4, 2),
        loop(4, None),
        loop(5, 1, None, 3),
        loop(6, 0, 5, 2, marks=(1, 4, 9)),
        loop(6, None, 3, 1, marks=(5, 0, 2)),
        loop(7, 4, 2, None, 0, marks=(4, 5, 6)),
    ]


def _whole(ids, sos_id, eos_id, pad_id):
    return np.where(_ended(ids, eos_id), pad_id, ids)


def _cut_at(first):
    """Return the words before column `first`, which is computed from where end tokens are."""

    def wrong(ids, sos_id, eos_id, pad_id):
        words = ids[:, 1:]
        column = first(words == eos_id)
        return np.where(np.arange(words.shape[1]) >= column[:, None], pad_id, words)

    return wrong


def _column(is_end):
    """Return the column of the first end token of each row, or the width if there is none."""
    return np.where(is_end.any(axis=1), is_end.argmax(axis=1), is_end.shape[1])


def _last(is_end):
    width = is_end.shape[1]
    return np.where(is_end.any(axis=1), width - 1 - is_end[:, ::-1].argmax(axis=1), width)


def _together(choose):
    return _cut_at(lambda is_end: np.full(len(is_end), choose(_column(is_end))))


def _pushed(ids, sos_id, eos_id, pad_id):
    words = written(ids, sos_id, eos_id, pad_id)
    return np.stack([np.roll(row, (row == pad_id).sum()) for row in words])


def _filled(value):
    def wrong(ids, sos_id, eos_id, pad_id):
        words = ids[:, 1:]
        return np.where(_ended(words, eos_id), value(eos_id), words)

    return wrong


MISTAKES = {
    "start_left": (_whole,),
    "nothing_cut": (lambda ids, *marks: ids[:, 1:], lambda ids, *marks: ids),
    "end_left": (_cut_at(lambda is_end: _column(is_end) + 1),),
    "only_the_mark": (
        lambda ids, sos_id, eos_id, pad_id: np.where(ids[:, 1:] == eos_id, pad_id, ids[:, 1:]),
    ),
    "last_end": (_cut_at(_last),),
    "none_is_first": (_cut_at(lambda is_end: is_end.argmax(axis=1)),),
    "first_word_kept": (
        _cut_at(lambda is_end: np.where(is_end.argmax(axis=1) > 0, is_end.argmax(axis=1), 99)),
    ),
    "all_cut_alike": (_together(np.min), _together(np.max), _together(lambda columns: columns[0])),
    "zeros": (_filled(lambda eos_id: 0),),
    "filled_with_ends": (_filled(lambda eos_id: eos_id),),
    "wrong_side": (lambda ids, *marks: _whole(ids, *marks)[:, :-1],),
    "last_column_lost": (
        lambda ids, *marks: written(ids, *marks)[:, :-1],
        lambda ids, *marks: ids[:, 1:-1],
    ),
    "last_word_lost": (
        _cut_at(lambda is_end: np.where(is_end.any(axis=1), _column(is_end) - 1, 99)),
    ),
    "padding_first": (_pushed,),
    "fixed_marks": (lambda ids, sos_id, eos_id, pad_id: written(ids, 2, 3, 0),),
}

EXERCISE = Exercise.from_file(__file__, ("words",), written, cases, MISTAKES)
