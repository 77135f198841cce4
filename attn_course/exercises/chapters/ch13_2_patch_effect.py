"""Chapter 13, `patch_effect`: the share of a score that a patch restores, and common mistakes."""

import numpy as np

from attn_course.exercises.spec import Exercise


def patch_effect(clean, corrupted, patched):
    """Return which share of the change from corrupted to clean scores is restored, over all pairs.

    Parameters
    ----------
    clean, corrupted : array, shape (n_pairs,)
        The scores of both texts of each pair as they are.
    patched : array, shape (n_pairs, ...)
        The scores of the corrupted text with something exchanged: layers, positions, heads.

    Returns
    -------
    array, shape (...)
        The sum of what the patches gain over all pairs, divided by the sum of what they could gain:
        0 where nothing changes and 1 where the clean score is reached.

    References
    ----------
    Meng et al. (2022), Locating and Editing Factual Associations in GPT, section 2.1.
    """
    gained = patched.sum(axis=0) - corrupted.sum()
    return gained / (clean.sum() - corrupted.sum())


def cases(seed):
    """Return scores of one pair, and of several with layers, positions and heads.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``clean``, ``corrupted`` and ``patched``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_pairs, *shape):
        clean, corrupted = rng.uniform(1, 5, n_pairs), rng.uniform(-4, 0.5, n_pairs)
        if n_pairs > 4:
            # A pair whose scores hardly differ, and one whose corrupted score is the higher one.
            clean[-1], clean[-2] = corrupted[-1] + 0.1, corrupted[-2] - 0.8
        columns = (-1, *[1] * len(shape))
        # The patch moves the single pair away from the clean score, so that a lost sign shows.
        low, high = (-0.2, 1.1) if n_pairs > 1 else (-0.4, -0.1)
        share = rng.uniform(low, high, (n_pairs, *shape))
        patched = corrupted.reshape(columns) + share * (clean - corrupted).reshape(columns)
        if n_pairs > 4:
            patched += rng.uniform(0.1, 0.3, (n_pairs, *shape))  # must not change the other scores
        return {"clean": clean, "corrupted": corrupted, "patched": patched}

    return [draw(1), draw(5), draw(4, 4), draw(3, 6), draw(6, 4, 5), draw(5, 5, 5)]


def _with_axes_of(scores, patched):
    """Return scores with the axes of `patched`, so that they broadcast pair by pair."""
    return scores.reshape(-1, *[1] * (patched.ndim - 1))


def _mean_of_shares(clean, corrupted, patched):
    clean, corrupted = _with_axes_of(clean, patched), _with_axes_of(corrupted, patched)
    return ((patched - corrupted) / (clean - corrupted)).mean(axis=0)


def _each_pair(clean, corrupted, patched):
    clean, corrupted = _with_axes_of(clean, patched), _with_axes_of(corrupted, patched)
    return (patched - corrupted) / (clean - corrupted)


def _over_everything(clean, corrupted, patched):
    n_others = patched[0].size
    return (patched.sum() / n_others - corrupted.sum()) / (clean.sum() - corrupted.sum())


def _last_axis(clean, corrupted, patched):
    gained = patched.sum(axis=-1) - corrupted.sum()
    return gained / (clean.sum() - corrupted.sum())


def _gained(clean, corrupted, patched):
    return patched - _with_axes_of(corrupted, patched)


def _median_of_scores(clean, corrupted, patched):
    start = np.median(corrupted)
    return (np.median(patched, axis=0) - start) / (np.median(clean) - start)


def _far_apart_alone(clean, corrupted, patched):
    kept = clean - corrupted > 0.5
    return patch_effect(clean[kept], corrupted[kept], patched[kept])


def _root_of_squares(clean, corrupted, patched):
    squares = (_gained(clean, corrupted, patched) ** 2).sum(axis=0)
    return np.sqrt(squares / ((clean - corrupted) ** 2).sum())


MISTAKES = {
    "mean_of_shares": (_mean_of_shares,),
    "sum_of_shares": (lambda *scores: _mean_of_shares(*scores) * len(scores[0]),),
    "median": (lambda *scores: np.median(_each_pair(*scores), axis=0), _median_of_scores),
    "far_apart_alone": (_far_apart_alone,),
    "without_sign": (
        lambda *scores: np.abs(patch_effect(*scores)),
        lambda *scores: np.abs(_gained(*scores)).sum(axis=0) / np.abs(scores[0] - scores[1]).sum(),
        _root_of_squares,
    ),
    "without_sign_below": (
        lambda *scores: _gained(*scores).sum(axis=0) / np.abs(scores[0] - scores[1]).sum(),
    ),
    "gains_alone": (
        lambda *scores: np.maximum(_gained(*scores), 0).sum(axis=0) / (scores[0] - scores[1]).sum(),
    ),
    "clipped": (lambda *scores: np.clip(patch_effect(*scores), 0, 1),),
    "sum_and_mean": (
        lambda *scores: patch_effect(*scores) * len(scores[0]),
        lambda *scores: patch_effect(*scores) / len(scores[0]),
    ),
    "parentheses": (
        lambda clean, corrupted, patched: (
            patched.mean(axis=0) - corrupted.mean() / clean.mean() - corrupted.mean()
        ),
        lambda clean, corrupted, patched: (
            (patched.mean(axis=0) - corrupted.mean()) / clean.mean() - corrupted.mean()
        ),
    ),
    "lined_up_at_the_end": (
        lambda clean, corrupted, patched: (
            (patched - corrupted).sum(axis=0) / (clean - corrupted).sum()
        ),
        lambda clean, corrupted, patched: ((patched - corrupted) / (clean - corrupted)).mean(
            axis=0
        ),
    ),
    "not_divided": (
        lambda clean, corrupted, patched: patched.mean(axis=0) - corrupted.mean(),
        lambda clean, corrupted, patched: patched.sum(axis=0) - corrupted.sum(),
    ),
    "from_the_clean": (
        lambda clean, corrupted, patched: 1 - patch_effect(clean, corrupted, patched),
        lambda clean, corrupted, patched: patch_effect(clean, corrupted, patched) - 1,
    ),
    "sign": (lambda clean, corrupted, patched: -patch_effect(clean, corrupted, patched),),
    "by_the_clean": (lambda clean, corrupted, patched: patched.sum(axis=0) / clean.sum(),),
    "corrupted_kept": (
        lambda clean, corrupted, patched: patched.sum(axis=0) / (clean.sum() - corrupted.sum()),
    ),
    "divided_by_clean": (
        lambda clean, corrupted, patched: (patched.sum(axis=0) - corrupted.sum()) / clean.sum(),
    ),
    "divided_by_corrupted": (
        lambda clean, corrupted, patched: (patched.sum(axis=0) - corrupted.sum()) / corrupted.sum(),
    ),
    "each_pair": (_each_pair,),
    "over_everything": (_over_everything,),
    "other_axis": (
        _last_axis,
        lambda clean, corrupted, patched: (
            (patched.mean(axis=-1) - corrupted.mean()) / (clean.mean() - corrupted.mean())
        ),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("output",), patch_effect, cases, MISTAKES)
