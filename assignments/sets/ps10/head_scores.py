"""Problem set 10, `head_scores`: what two kinds of head do, as numbers, and the ways to miss them."""

import numpy as np

from attn.reference import softmax
from attn_course.exercises.spec import Exercise


def _before(weights):
    return np.diagonal(weights, -1, axis1=1, axis2=2).mean(axis=1)


def _earlier(ids):
    return np.tril(ids[:, None] == ids, -1)


def _after(same):
    """Return from which tokens (rows) to which: each one after an earlier one like it."""
    return np.pad(same, ((0, 0), (1, 0)))[:, :-1]


def _per_row(found, rows):
    return found.sum(axis=-1)[:, rows].mean(axis=-1) if rows.any() else np.zeros(len(found))


def head_scores(weights, ids):
    """Return how much each head looks at the token before, and at what followed an earlier copy.

    Parameters
    ----------
    weights : array, shape (n_heads, n, n)
        Of causal attention: row i shares 1 among tokens 0 to i.
    ids : array of int, shape (n,)

    Returns
    -------
    previous, induction : array, shape (n_heads,)

    References
    ----------
    Olsson et al. (2022), In-context Learning and Induction Heads, prefix matching score.
    """
    return _scores(weights, ids)


def _scores(weights, ids, *, before=_before, earlier=_earlier, after=_after, per_row=_per_row):
    """Score heads, wrong in what is asked for."""
    same = earlier(ids)
    return before(weights), per_row(weights * after(same), same.any(axis=1))


PATTERNS = (
    "abca",
    "abab",
    "abcab",
    "abcabc",
    "abba",
    "cabdcab",
    "abaab",
    "aabaaa",
    "abcacbabc",
    "abcd",
    "abcde",
)


def cases(seed):
    """Return weights on texts with a token repeated once, several times and never.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``weights`` and ``ids``.
    """
    rng = np.random.default_rng(seed)
    found = []
    twice = rng.permutation(list("aabbcdefg"[: rng.integers(6, 10)]))
    for number, text in enumerate((*PATTERNS, "".join(twice))):
        letters = sorted(set(text))
        code = dict(zip(letters, rng.permutation(len(letters) + 3), strict=False))
        shape = (2 + number % 2, len(text), len(text))
        scores = np.where(np.tri(len(text), dtype=bool), rng.normal(size=shape), -np.inf)
        ids = np.array([code[letter] for letter in text])
        found.append({"weights": softmax(scores), "ids": ids})
    return found


def _wrong(**how):
    return lambda weights, ids: _scores(weights, ids, **how)


def _one_copy(last):
    def earlier(ids):
        same = _earlier(ids)
        place = np.arange(len(ids))
        which = np.where(same, place, -1).max(1) if last else same.argmax(1)
        return same & (place == which[:, None])

    return earlier


def _mean_of_copies(weights, ids):
    same = _earlier(ids)
    shares = _after(same) / np.maximum(same.sum(axis=1, keepdims=True), 1)
    return _before(weights), _per_row(weights * shares, same.any(axis=1))


def _over_all_rows(found, rows):
    return found.sum(axis=-1).mean(axis=-1)


def _nan_without(found, rows):
    return found.sum(axis=-1)[:, rows].sum(axis=-1) / rows.sum()


def _heads_together(weights, ids):
    parts = head_scores(weights, ids)
    return tuple(np.full_like(part, part.mean()) for part in parts)


MISTAKES = {
    "repeated_token_itself": (_wrong(after=lambda same: same),),
    "before_the_copy": (_wrong(after=lambda same: np.pad(same, ((0, 0), (0, 1)))[:, 1:]),),
    "two_after_the_copy": (_wrong(after=lambda same: np.tril(_after(_after(same)))),),
    "last_copy_only": (_wrong(earlier=_one_copy(last=True)),),
    "first_copy_only": (_wrong(earlier=_one_copy(last=False)),),
    "mean_of_the_copies": (_mean_of_copies,),
    "over_all_rows": (_wrong(per_row=_over_all_rows),),
    "summed": (_wrong(per_row=lambda found, rows: found.sum(axis=(-1, -2))),),
    "later_copies_too": (
        _wrong(earlier=lambda ids: (ids[:, None] == ids) & ~np.eye(len(ids), dtype=bool)),
    ),
    "rows_and_columns": (lambda weights, ids: head_scores(weights.mT, ids),),
    "first_row_counted": (
        _wrong(before=lambda weights: np.diagonal(weights, -1, 1, 2).sum(1) / weights.shape[1]),
    ),
    "itself_for_previous": (
        _wrong(before=lambda weights: np.diagonal(weights, 0, 1, 2).mean(1)),
        _wrong(before=lambda weights: np.diagonal(weights, 0, 1, 2)[:, 1:].mean(1)),
    ),
    "heads_together": (_heads_together,),
    "exchanged": (lambda weights, ids: head_scores(weights, ids)[::-1],),
    "nothing_repeated": (_wrong(per_row=_nan_without),),
}

EXERCISE = Exercise.from_file(__file__, ("previous", "induction"), head_scores, cases, MISTAKES)
