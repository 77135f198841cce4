"""Problem set 12, `sound_verifier`: what pays all that is right and nothing else, and the holes."""

import itertools

import numpy as np

from attn_course.exercises.spec import Exercise


def sound_verifier(allowed, gender, answers):
    """Return which answers are right translations, of which there may be several.

    Parameters
    ----------
    allowed : array of bool, shape (n_slots, n_words)
        Which words may stand in each place of a right answer.
    gender : array of int, shape (n_words,)
        1 or 2, which a right answer may not mix; 0 for a word without gender, which agrees with
        both.
    answers : array of int, shape (n_answers, length)
        Word 0 ends an answer, and what stands behind it is not read.

    Returns
    -------
    array of bool, shape (n_answers,)

    References
    ----------
    Blum and Kannan (1995), Designing Programs that Check Their Work: a checker may accept nothing
    wrong and may refuse nothing right.
    """
    return _each(_is_right, allowed, gender, answers)


def _agree(genders):
    return len({*genders} - {0}) < 2


def _neighbours_agree(genders):
    return all(_agree(pair) for pair in itertools.pairwise(genders))


def _words(row):
    """Return the words before the first end, or None if there is no end."""
    row = row.tolist()
    return row[: row.index(0)] if 0 in row else None


def _in_place(words, allowed):
    return len(words) == len(allowed) and all(
        slot[word] for slot, word in zip(allowed, words, strict=True)
    )


def _is_right(row, allowed, gender):
    words = _words(row)
    return words is not None and _in_place(words, allowed) and _agree(gender[words].tolist())


def _each(is_right, allowed, gender, answers):
    return np.array([bool(is_right(row, allowed, gender)) for row in answers])


def _wrong(*, place=_in_place, agreement=_agree, words=_words):
    def is_right(row, allowed, gender):
        said = words(row)
        return said is not None and place(said, allowed) and agreement(gender[list(said)].tolist())

    return lambda *arguments: _each(is_right, *arguments)


def _in_any_order(words, allowed):
    return any(_in_place(order, allowed) for order in itertools.permutations(words[:5]))


def _as_one_translation(words, allowed):
    return list(words) == allowed.argmax(axis=1).tolist()


def _as_the_last(words, allowed):
    return list(words) == (allowed.shape[1] - 1 - allowed[:, ::-1].argmax(axis=1)).tolist()


def _with_or_without_end(row):
    found = _words(row)
    return row.tolist() if found is None else found


def _all_words(row):
    return row[row > 0].tolist() if 0 in row else None


def _nothing_behind(row):
    found = _words(row)
    return found if found is not None and not row[len(found) :].any() else None


def _last_end(row):
    row = row.tolist()
    return row[: len(row) - 1 - row[::-1].index(0)] if 0 in row else None


def _agreeing_to_the_last(row, allowed, gender):
    words = _words(row)
    return words is not None and _in_place(words, allowed) and _agree(gender[row].tolist())


MISTAKES = {
    "no_wrong_word": (_wrong(place=lambda words, allowed: allowed.any(axis=0)[words].all()),),
    "any_order": (_wrong(place=_in_any_order),),
    "what_is_said_is_right": (
        _wrong(
            place=lambda words, allowed: (
                len(words) <= len(allowed) and _in_place(words, allowed[: len(words)])
            )
        ),
    ),
    "beginning_alone": (
        _wrong(place=lambda words, allowed: _in_place(words[: len(allowed)], allowed)),
    ),
    "as_far_as_both_go": (
        _wrong(
            place=lambda words, allowed: _in_place(words[: len(allowed)], allowed[: len(words)])
        ),
    ),
    "length_alone": (_wrong(place=lambda words, allowed: len(words) == len(allowed)),),
    "agreement_forgotten": (_wrong(agreement=lambda genders: True),),
    "other_agreement": (_wrong(agreement=_neighbours_agree),),
    "no_gender_is_a_third": (_wrong(agreement=lambda genders: len({*genders}) < 2),),
    "one_translation": (_wrong(place=_as_one_translation), _wrong(place=_as_the_last)),
    "end_not_asked_for": (_wrong(words=_with_or_without_end),),
    "ends_taken_out": (_wrong(words=_all_words),),
    "nothing_behind_the_end": (_wrong(words=_nothing_behind),),
    "last_end": (_wrong(words=_last_end),),
    "agreement_behind_the_end": (
        lambda allowed, gender, answers: _each(_agreeing_to_the_last, allowed, gender, answers),
    ),
    "wrong_ones_marked": (lambda *arguments: ~sound_verifier(*arguments),),
}


def cases(seed):
    """Return grammars with answers that are right or nearly so, some with words behind the end.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``allowed``, ``gender`` and ``answers``.
    """
    rng = np.random.default_rng(seed)

    def case(n_slots, n_more, *, behind=False, end=True):
        slots, allowed, gender = _grammar(rng, n_slots)
        if end:
            rows = _answers(rng, slots, gender, n_more, behind=behind)
        else:
            drawn = rng.integers(3, size=(n_more, n_slots))
            rows = [[slots[i][j] for i, j in enumerate(each)] for each in drawn] + _agreeing(slots)
        return {"allowed": allowed, "gender": gender, "answers": rng.permutation(rows)}

    return [
        case(3, 4),
        case(3, 12),
        case(4, 30),
        case(*rng.integers((3, 20), (5, 40))),
        case(3, 8, behind=True),
        case(4, 30, behind=True),
        case(3, 4, end=False),
        case(4, 6, end=False),
    ]


def _grammar(rng, n_slots):
    """Return the words of each place, the same as a table, and genders.

    A place has a word of gender 1, one of gender 2 and a third, which has no gender in the second
    place and a drawn one in the others.
    """
    gender = np.array([0, *[1, 2] * n_slots, 0, *rng.integers(3, size=n_slots)])
    order = np.array([0, *rng.permutation(np.arange(1, len(gender)))])
    slots = [[order[2 * i + 1], order[2 * i + 2], order[-1 - i]] for i in range(n_slots)]
    slots[1][2] = order[2 * n_slots + 1]
    allowed = np.zeros((n_slots, len(gender)), dtype=bool)
    for row, words in zip(allowed, slots, strict=True):
        row[words] = True
    return slots, allowed, gender[np.argsort(order)]


def _agreeing(slots):
    """Return right answers: one of each gender, and the same with a word without gender."""
    return [
        [slot[which if plain != i else 2] for i, slot in enumerate(slots)]
        for which in (0, 1)
        for plain in (None, 1)
    ]


def _answers(rng, slots, gender, n_more, *, behind):
    """Return right answers and spoilt ones, with an end and something or nothing behind it."""
    right = _agreeing(slots)
    one, other, n = right[1], right[3], len(slots)
    mixed = [*one[:2], *other[2:]]  # A word without gender stands between two that do not agree.
    spoilt = [
        [],
        one[: rng.integers(1, n)],
        [*one, one[-1]],
        [*one[1:], one[0]],
        [one[0], right[2][1], *one[2:]],
        mixed,
        rng.integers(1, len(gender), size=n).tolist(),
    ]
    for which in rng.integers(3, size=(n_more, n)):
        words = [slots[i][j] for i, j in enumerate(which)]
        if rng.random() < 0.3:
            words[rng.integers(n)] = rng.integers(1, len(gender))
        spoilt.append(words[: rng.integers(1, n + 1)] if rng.random() < 0.2 else words)
    rows = np.zeros((len(right) + len(spoilt) + behind, n + 3), dtype=int)
    for row, words in zip(rows, (*right, *spoilt), strict=False):
        row[: len(words)] = words
        if behind:
            rest = len(row) - len(words) - 1
            row[len(words) + 1 :] = rng.integers(len(gender), size=rest)
    if behind:
        rows[-1, : n + 1] = [one[0], 0, *one[1:]]
    return rows


EXERCISE = Exercise.from_file(__file__, ("right",), sound_verifier, cases, MISTAKES)
