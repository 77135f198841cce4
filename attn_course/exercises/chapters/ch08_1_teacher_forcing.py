"""Chapter 8, `teacher_forcing`: the inputs of the decoder and its targets."""

import numpy as np

from attn.reference import teacher_forcing
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return batches of translations: of one length, of several, with an empty one.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``tokens``, ``sos_id``, ``eos_id`` and ``pad_id``.
    """
    rng = np.random.default_rng(seed)

    def draw(*lengths, marks=(2, 3, 0)):
        sos_id, eos_id, pad_id = marks
        tokens = np.full((len(lengths), max(lengths)), pad_id)
        for row, length in zip(tokens, lengths, strict=True):
            row[:length] = 10 + rng.permutation(20)[:length]
        ids = {"sos_id": sos_id, "eos_id": eos_id, "pad_id": pad_id}
        return {"tokens": tokens, **{name: np.array(i) for name, i in ids.items()}}

    return [
        draw(3),
        draw(4, 4),
        draw(4, 2, 3),
        draw(2, 5, 0),
        draw(5, 1, 3, 2, marks=(1, 4, 9)),
        draw(1, 6, 6, marks=(5, 6, 1)),
    ]


# A wrong answer is a change of the right one; `tokens` shows where a row ends.


def _with(change):
    def wrong(tokens, sos_id, eos_id, pad_id):
        inputs, targets = teacher_forcing(tokens, sos_id, eos_id, pad_id)
        return change(inputs, targets, tokens, sos_id, eos_id, pad_id)

    return wrong


def _beside(column, tokens, before=False):
    column = np.full((len(tokens), 1), column)
    return np.concatenate([column, tokens] if before else [tokens, column], axis=1)


def _between(tokens, sos_id, eos_id, pad_id):
    """Return the tokens from sos to eos."""
    _, targets = teacher_forcing(tokens, sos_id, eos_id, pad_id)
    return _beside(sos_id, targets, before=True)


def _cut(select):
    def wrong(tokens, sos_id, eos_id, pad_id):
        whole = _between(tokens, sos_id, eos_id, pad_id)
        return select(whole)

    return wrong


def _eos_kept_in_inputs(inputs, targets, tokens, sos_id, eos_id, pad_id):
    inputs = inputs.copy()
    for row, asked in zip(inputs, targets, strict=True):
        end = int(np.flatnonzero(asked == eos_id)[0]) + 1
        if end < len(row):
            row[end] = eos_id
    return inputs, targets


def _last_word_not_read(inputs, targets, tokens, sos_id, eos_id, pad_id):
    return np.where((targets == eos_id) & (inputs != sos_id), pad_id, inputs), targets


def _padding_first(inputs, targets, tokens, sos_id, eos_id, pad_id):
    def pushed(rows):
        return np.stack([np.roll(row, (row == pad_id).sum()) for row in rows])

    return pushed(inputs), pushed(targets)


def _eos_at(place):
    """Put eos at another place of each row, which may be computed from the tokens."""

    def change(inputs, targets, tokens, sos_id, eos_id, pad_id):
        targets = _beside(pad_id, tokens)
        targets[np.arange(len(tokens)), place(tokens, pad_id)] = eos_id
        return inputs, targets

    return _with(change)


def _lengths(tokens, pad_id):
    return (tokens != pad_id).sum(axis=1)


def _eos_in_every_column(inputs, targets, tokens, sos_id, eos_id, pad_id):
    targets = _beside(pad_id, tokens)
    targets[:, _lengths(tokens, pad_id)] = eos_id
    return inputs, targets


MISTAKES = {
    "eos_after_padding": (_with(lambda i, t, tokens, sos, eos, pad: (i, _beside(eos, tokens))),),
    "not_shifted": (
        _with(lambda i, t, *rest: (t, t)),
        _with(lambda i, t, *rest: (i, i)),
        _cut(lambda whole: (whole, whole)),
    ),
    "swapped": (_with(lambda i, t, *rest: (t, i)),),
    "no_eos": (
        _with(lambda i, t, tokens, sos, eos, pad: (i, _beside(pad, tokens))),
        _with(lambda i, t, tokens, sos, eos, pad: (i[:, :-1], tokens)),
    ),
    "no_sos": (
        _with(lambda i, t, tokens, sos, eos, pad: (_beside(pad, tokens), t)),
        _with(lambda i, t, tokens, sos, eos, pad: (_beside(pad, tokens, before=True), t)),
    ),
    "sos_asked_for": (
        _cut(lambda whole: (whole[:, :-1], whole[:, :-1])),
        _cut(lambda w: (w[:, 1:], w[:, :-1])),
    ),
    "eos_read": (_with(_eos_kept_in_inputs),),
    "two_places": (
        _with(lambda i, t, tokens, sos, eos, pad: (i, _beside(pad, t[:, 1:]))),
        _with(lambda i, t, tokens, sos, eos, pad: (_beside(sos, i[:, :-1], before=True), t)),
    ),
    "padding_becomes_eos": (
        _with(
            lambda i, t, tokens, sos, eos, pad: (i, np.where(t == pad, eos, t)),
        ),
    ),
    "last_word_lost": (
        _with(lambda i, t, tokens, sos, eos, pad: (i[:, :-1], _beside(eos, tokens[:, 1:]))),
        _with(lambda i, t, tokens, sos, eos, pad: (i[:, :-1], t[:, :-1])),
        _with(lambda i, t, tokens, sos, eos, pad: (tokens[:, :-1], tokens[:, 1:])),
    ),
    "last_word_not_read": (_with(_last_word_not_read),),
    "padding_first": (_with(_padding_first),),
    "marks_of_other_course": (
        lambda tokens, sos_id, eos_id, pad_id: teacher_forcing(
            np.where(tokens == pad_id, 0, tokens), 2, 3, 0
        ),
    ),
    "eos_over_the_last_word": (_eos_at(lambda tokens, pad: _lengths(tokens, pad) - 1),),
    "eos_one_too_late": (
        _eos_at(lambda tokens, pad: np.minimum(_lengths(tokens, pad) + 1, tokens.shape[1])),
        _eos_at(lambda tokens, pad: (_lengths(tokens, pad) + 1) % (tokens.shape[1] + 1)),
    ),
    "first_padding_found_with_argmax": (
        _eos_at(lambda tokens, pad: (tokens == pad).argmax(axis=1)),
    ),
    "padding_is_zero": (
        _eos_at(lambda tokens, pad: (tokens != 0).sum(axis=1)),
        _with(
            lambda i, t, tokens, sos, eos, pad: (np.where(i == pad, 0, i), np.where(t == pad, 0, t))
        ),
    ),
    "length_of_the_first_row": (_eos_at(lambda tokens, pad: _lengths(tokens, pad)[0]),),
    "columns_for_every_row": (_with(_eos_in_every_column),),
}

EXERCISE = Exercise.from_file(__file__, ("inputs", "targets"), teacher_forcing, cases, MISTAKES)
