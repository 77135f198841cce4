"""Chapter 13, `patch_effect`: which share of the way a patch goes, over several pairs, and ways to miss it."""

import numpy as np

from attn_course.exercises.spec import Exercise


def patch_effect(clean, corrupted, patched):
    """Return the share of the way from the corrupted score to the clean one, of all pairs together.

    Parameters
    ----------
    clean, corrupted : array, shape (n_pairs,)
        The scores of both texts of each pair as they are.
    patched : array, shape (n_pairs, ...)
        Those of the corrupted text with something exchanged: layers, positions, heads.

    Returns
    -------
    array, shape (...)
        What the patches gain, added up over pairs, over what there was to gain: 0 where nothing
        changes and 1 where the clean score is reached.

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
        apart = (-1, *[1] * len(shape))
        share = rng.uniform(-0.2, 1.1, (n_pairs, *shape))
        patched = corrupted.reshape(apart) + share * (clean - corrupted).reshape(apart)
        return {"clean": clean, "corrupted": corrupted, "patched": patched}

    return [draw(1), draw(5), draw(4, 4), draw(3, 6), draw(6, 4, 5), draw(5, 5, 5)]


def _apart(scores, patched):
    return scores.reshape(-1, *[1] * (patched.ndim - 1))


def _mean_of_shares(clean, corrupted, patched):
    clean, corrupted = _apart(clean, patched), _apart(corrupted, patched)
    return ((patched - corrupted) / (clean - corrupted)).mean(axis=0)


def _each_pair(clean, corrupted, patched):
    clean, corrupted = _apart(clean, patched), _apart(corrupted, patched)
    return (patched - corrupted) / (clean - corrupted)


def _over_everything(clean, corrupted, patched):
    n_others = patched[0].size
    return (patched.sum() / n_others - corrupted.sum()) / (clean.sum() - corrupted.sum())


def _last_axis(clean, corrupted, patched):
    gained = patched.sum(axis=-1) - corrupted.sum()
    return gained / (clean.sum() - corrupted.sum())


MISTAKES = {
    "mean_of_shares": (_mean_of_shares,),
    "not_divided": (lambda clean, corrupted, patched: patched.mean(axis=0) - corrupted.mean(),),
    "from_the_clean": (lambda clean, corrupted, patched: 1 - patch_effect(clean, corrupted, patched),),
    "sign": (lambda clean, corrupted, patched: -patch_effect(clean, corrupted, patched),),
    "by_the_clean": (lambda clean, corrupted, patched: patched.sum(axis=0) / clean.sum(),),
    "corrupted_kept": (
        lambda clean, corrupted, patched: patched.sum(axis=0) / (clean.sum() - corrupted.sum()),
    ),
    "divided_by_clean": (
        lambda clean, corrupted, patched: (patched.sum(axis=0) - corrupted.sum()) / clean.sum(),
    ),
    "each_pair": (_each_pair,),
    "over_everything": (_over_everything,),
    "other_axis": (_last_axis,),
}  # fmt: skip

EXERCISE = Exercise.from_file(__file__, ("output",), patch_effect, cases, MISTAKES)
