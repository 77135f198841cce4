"""Chapter 6, `reachable`: what an output depends on through several layers, and wrong answers."""

import numpy as np

from attn.reference import reachable
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return masks, each with a number of layers: chains, holes, dead rows and leaks.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``mask`` and ``n_layers``, the second an array without axes.
    """
    rng = np.random.default_rng(seed)

    def draw(mask, n_layers):
        return {"mask": mask, "n_layers": np.array(n_layers)}

    def chain(n):
        """Return a mask in which each position sees only one other, in a random order."""
        order = rng.permutation(n)
        mask = np.zeros((n, n), dtype=bool)
        mask[order[1:], order[:-1]] = True
        return mask

    window = np.eye(6, dtype=bool) | np.eye(6, k=-1, dtype=bool)
    leak = np.tri(5, dtype=bool)
    leak[rng.integers(0, 2), rng.integers(2, 5)] = True
    return [
        draw(chain(3), 2),
        draw(chain(4), 1),
        draw(chain(5), 2),
        draw(leak, 2),
        draw(window, 3),
        draw(chain(7), 3),
        draw(chain(7) | np.eye(7, dtype=bool), 4),
    ]


def _own(mask):
    return np.eye(len(mask), dtype=bool)


def _power(matrix, number):
    return np.linalg.matrix_power(matrix.astype(int), max(0, int(number))) > 0


def _layers(change):
    """Return the right answer for another number of layers."""
    return lambda mask, n: reachable(mask, max(0, int(change(int(n)))))


def _after(change):
    """Return the right answer after a change."""
    return lambda mask, n: change(reachable(mask, int(n)), mask)


def _without_identity(mask, n_layers):
    return np.any([_power(mask, layer) for layer in range(1, int(n_layers) + 1)], axis=0)


def _squares(fewer):
    """Return a mask squared in every layer but the first `fewer`."""

    def squares(mask, n_layers):
        reached = mask | _own(mask)
        for _ in range(int(n_layers) - fewer):
            reached = reached @ reached
        return reached

    return squares


def _from_the_mask(mask, n_layers):
    return mask @ _power(mask | _own(mask), n_layers)


def _already_updated(mask, n_layers):
    """Update the rows of the result in place, one after the other."""
    reached = mask | _own(mask)
    for _ in range(int(n_layers) - 1):
        for i in range(len(mask)):
            for k in range(len(mask)):
                if reached[i, k]:
                    reached[i] |= reached[k]
    return reached


def _shares(least):
    """Return where more than `least` of the weight arrives."""

    def shares(mask, n_layers):
        weights = (mask | _own(mask)).astype(float)
        weights /= weights.sum(axis=-1, keepdims=True)
        return np.linalg.matrix_power(weights, int(n_layers)) > least

    return shares


MISTAKES = {
    "one_layer": (_layers(lambda n: 1), lambda mask, n: mask),
    "no_residual": (_power,),
    "residual_at_the_end": (lambda mask, n: _power(mask, n) | _own(mask),),
    "steps_without_waiting": (_without_identity,),
    "numbers_of_paths": (
        lambda mask, n: np.linalg.matrix_power((mask | _own(mask)).astype(int), int(n)),
        lambda mask, n: np.linalg.matrix_power(mask + np.eye(len(mask)), int(n)),
        lambda mask, n: np.linalg.matrix_power(mask.astype(int), int(n)),
    ),
    "starts_from_the_mask": (_from_the_mask,),
    "one_layer_too_many": (_layers(lambda n: n + 1),),
    "one_layer_too_few": (_layers(lambda n: n - 1),),
    "squared_each_time": (_squares(1), _squares(0)),
    "all_the_way": (_layers(lambda n: 20),),
    "arrows_reversed": (_after(lambda reached, mask: reached.T),),
    "both_ways": (lambda mask, n: reachable(mask | mask.T, int(n)),),
    "what_does_not_arrive": (_after(lambda reached, mask: ~reached),),
    "two_layers": (_layers(lambda n: 2),),
    "triangle_cut": (_after(lambda reached, mask: np.tril(reached)),),
    "already_updated": (_already_updated,),
    "diagonal_flipped": (lambda mask, n: _power(mask ^ _own(mask), n),),
    "only_large_shares": (*map(_shares, (0.5, 0.1, 0.05)),),
}

EXERCISE = Exercise.from_file(__file__, ("mask",), reachable, cases, MISTAKES)
