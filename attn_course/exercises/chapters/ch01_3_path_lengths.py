"""Chapter 1, `path_lengths`, and the ways to get it wrong."""

import numpy as np

from attn.reference import path_lengths
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return masks: a chain, a ring, one step that sees all, and some at random.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the key ``mask``.
    """
    rng = np.random.default_rng(seed)

    def sparse(n):
        """Return a mask with few True, in which 0 attends to nothing and n - 1 to something."""
        mask = rng.random((n, n)) < 1.2 / n
        mask[0], mask[n - 1, 1] = False, True
        return mask

    chain, ring = np.eye(4, k=-1, dtype=bool), np.roll(np.eye(5, dtype=bool), 1, axis=0)
    order = rng.permutation(5)
    masks = [chain, ring[order][:, order], np.ones((3, 3), dtype=bool)]
    masks += [np.eye(7, k=-1, dtype=bool) | np.eye(7, k=-3, dtype=bool) | np.eye(7, dtype=bool)]
    return [{"mask": mask} for mask in (*masks, sparse(6), sparse(8), sparse(9))]


def _changed(change):
    return lambda mask: change(path_lengths(mask))


def _distance(mask):
    places = np.arange(len(mask))
    return abs(places[:, None] - places)


def _one_step(mask):
    return np.where(np.eye(len(mask), dtype=bool), 0, np.where(mask, 1, -1))


def _search(mask, steps, *, overwrite=False, double=False):
    """Return the lengths by a search of `steps` steps, which is wrong."""
    reads = mask | np.eye(len(mask), dtype=bool)
    heard = np.eye(len(mask), dtype=bool)
    lengths = np.where(heard, 0, -1)
    for step in range(1, steps + 1):
        heard = reads @ reads if double else reads @ heard
        if double:
            new, reads = reads & (lengths < 0), heard
        else:
            new = heard if overwrite else heard & (lengths < 0)
        lengths[new] = step
    return lengths


def _from_the_mask(mask):
    """Return the lengths by a search that starts without the zeros of the diagonal."""
    heard, lengths = mask, np.where(mask, 1, -1)
    for step in range(2, len(mask) + 1):
        heard = mask @ heard
        lengths[heard & (lengths < 0)] = step
    return lengths


def _depth_first(mask):
    """Return the length of the first path that a depth-first search finds."""
    lengths = np.full(mask.shape, -1)

    def visit(start, place, steps):
        lengths[start, place] = steps
        for after in np.flatnonzero(mask[place]):
            if lengths[start, after] < 0:
                visit(start, after, steps + 1)

    for start in range(len(mask)):
        visit(start, start, 0)
    return lengths


def _last_power(mask):
    """Return the length of the longest path found, as each power overwrites the previous ones."""
    lengths, power = np.full(mask.shape, -1), np.eye(len(mask), dtype=int)
    for step in range(len(mask)):
        lengths[power > 0] = step
        power = power @ mask.astype(int)
    np.fill_diagonal(lengths, 0)
    return lengths


def _all_ways(mask):
    powers = [np.linalg.matrix_power(mask.astype(int), k) for k in range(1, len(mask))]
    total = sum(powers)
    return np.where(np.eye(len(mask), dtype=bool), 0, np.where(total > 0, total, -1))


def _stop_inside(mask):
    """Return the lengths by Floyd's three loops, with the intermediate stop innermost."""
    n = len(mask)
    lengths = np.where(mask, 1.0, np.inf)
    np.fill_diagonal(lengths, 0)
    for i, j, k in np.ndindex(n, n, n):
        lengths[i, j] = min(lengths[i, j], lengths[i, k] + lengths[k, j])
    return np.where(np.isinf(lengths), -1, lengths).astype(int)


MISTAKES = {
    "transposed": (lambda mask: path_lengths(mask.T),),
    "self_is_one_step": (_changed(lambda lengths: lengths + np.eye(len(lengths), dtype=int)),),
    "way_back_home": (
        _from_the_mask,
        _changed(lambda lengths: np.where(lengths == 0, -1, lengths)),
    ),
    "distance": (
        lambda mask: np.where(mask, _distance(mask), -1),
        _distance,
    ),
    "one_step_only": (_one_step,),
    "positions_counted": (_changed(lambda lengths: np.where(lengths < 0, -1, lengths + 1)),),
    "stops_counted": (_changed(lambda lengths: np.maximum(lengths - 1, np.minimum(lengths, 0))),),
    "doubled": (lambda mask: _search(mask, len(mask), double=True),),
    "unreachable_is_zero": (_changed(lambda lengths: np.maximum(lengths, 0)),),
    "unreachable_is_far": (
        _changed(lambda lengths: np.where(lengths < 0, np.iinfo(int).min, lengths)),
        _changed(lambda lengths: np.where(lengths < 0, np.iinfo(int).max, lengths)),
        _changed(lambda lengths: np.where(lengths < 0, len(lengths), lengths)),
        _changed(lambda lengths: np.where(lengths < 0, np.inf, lengths)),
    ),
    "ways_counted": (
        _all_ways,
        lambda mask: np.linalg.matrix_power(mask.astype(int), len(mask) - 1),
        lambda mask: np.linalg.matrix_power(mask.astype(int), 2),
    ),
    "both_ways": (lambda mask: path_lengths(mask | mask.T),),
    "last_step_kept": (
        _last_power,
        lambda mask: _search(mask, len(mask) - 1, overwrite=True),
    ),
    "stopped_early": (lambda mask: _search(mask, len(mask) - 2),),
    "longest_only": (_changed(np.max),),
    "two_steps_only": (lambda mask: _search(mask, 2),),
    "stop_inside": (_stop_inside,),
    "depth_first": (_depth_first,),
}

EXERCISE = Exercise.from_file(__file__, ("lengths",), path_lengths, cases, MISTAKES)
