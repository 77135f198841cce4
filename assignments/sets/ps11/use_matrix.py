"""Problem set 11, `use_matrix`: the same rule all at once, and the ways to multiply it wrong."""

import numpy as np

from attn.reference import softmax
from attn_course.exercises.spec import Exercise

from .rule import draw, kept, other_use


def use_matrix(query, key, beta):
    """Return the matrix that, times the values, gives what the memory answers.

    Parameters
    ----------
    query, key : array, shape (n, d_k)
    beta : array, shape (n,)

    Returns
    -------
    array, shape (n, n)
        Zero where the value stands behind the query.

    References
    ----------
    Yang et al. (2024), Gated Linear Attention Transformers with Hardware-Efficient Training,
    section 4.1: the parallel form.
    """
    return _matrix(query, key, beta)


def products_after(keep):
    """Return at [t, s] the product of what is kept from the token after s until t; 0 above."""
    n = len(keep)
    found = np.zeros((n, n, keep.shape[1]))
    for t in range(n):
        found[t, :t] = found[t - 1, :t] * keep[t]
        found[t, t] = 1
    return found


def _matrix(query, key, beta, *, keep=kept, products=products_after, rate=lambda beta: beta):
    """Multiply query, key, rate and what is left, with the given parts replaced."""
    left = products(keep(key, beta))
    return np.einsum("ti,si,tsi->ts", query, key, left) * rate(beta)


def cases(seed):
    """Return texts of several lengths, in some of which a token wipes a row of the memory.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``query``, ``key`` and ``beta``.
    """
    rng = np.random.default_rng(seed)

    def case(n, d_k, *, wiped=0):
        drawn = draw(rng, n, d_k, 1, wiped=wiped)
        return {name: drawn[name] for name in ("query", "key", "beta")}

    return [
        case(3, 2),
        case(4, 3),
        case(5, 2),
        case(*rng.integers((5, 3), (9, 7))),
        case(5, 2, wiped=1),
        case(7, 3, wiped=2),
    ]


def _wrong(**how):
    return lambda *arguments: _matrix(*arguments, **how)


def _after(change):
    return lambda *arguments: change(use_matrix(*arguments))


def _own_counted(keep):
    return products_after(keep) * keep


def _last_missing(keep):
    shifted = np.zeros((len(keep), len(keep), keep.shape[1]))
    shifted[1:] = products_after(keep)[:-1]
    shifted[np.arange(len(keep)), np.arange(len(keep))] = 1
    return shifted


def _divided(keep):
    total = np.cumprod(keep, axis=0)
    return np.where(np.tri(len(keep), dtype=bool)[..., None], total[:, None] / total, 0)


def _with_floor(keep):
    total = np.cumprod(keep, axis=0)
    ratio = total[:, None] / (total + 1e-6)
    return np.where(np.tri(len(keep), dtype=bool)[..., None], ratio, 0)


def _from_the_start(keep):
    return np.tri(len(keep))[..., None] * np.cumprod(keep, axis=0)[:, None]


def _last_alone(keep):
    n = len(keep)
    return np.where(np.eye(n, dtype=bool)[..., None], 1, np.tri(n)[..., None] * keep[:, None])


def _of_means(keep):
    means = keep.mean(axis=1, keepdims=True)
    return products_after(np.broadcast_to(means, keep.shape))


def _summed(keep):
    total = np.cumsum(1 - keep, axis=0)
    return np.tri(len(keep))[..., None] * (1 - (total[:, None] - total))


def _undecayed(keep):
    return np.tri(len(keep))[..., None] * np.ones(keep.shape)


def _not_causal(keep):
    once = products_after(keep)
    return once + once.swapaxes(0, 1) * ~np.eye(len(keep), dtype=bool)[..., None]


def _softmax(query, key, beta):
    scores = use_matrix(query, key, beta)
    return softmax(np.where(np.tri(len(key), dtype=bool), scores, -np.inf))


def _rate_of_the_query(query, key, beta):
    return _matrix(query, key, beta, rate=lambda beta: beta[:, None])


MISTAKES = {
    "divided_by_zero": (_wrong(products=_divided),),
    "divided_with_a_floor": (_wrong(products=_with_floor),),
    "own_decay_counted": (_wrong(products=_own_counted),),
    "last_decay_missing": (_wrong(products=_last_missing),),
    "last_decay_alone": (_wrong(products=_last_alone),),
    "from_the_start": (_wrong(products=_from_the_start),),
    "mean_of_the_rows": (_wrong(products=_of_means),),
    "losses_summed": (_wrong(products=_summed),),
    "undecayed": (_wrong(products=_undecayed),),
    "not_causal": (_wrong(products=_not_causal),),
    "rate_of_the_query": (_rate_of_the_query,),
    "rate_missing_in_the_write": (_wrong(rate=np.ones_like),),
    "rate_missing_in_the_decay": (_wrong(keep=lambda key, beta: kept(key, np.ones_like(beta))),),
    "other_measure_of_use": (_wrong(keep=lambda key, beta: 1 - beta[:, None] * other_use(key)),),
    "itself_left_out": (_after(lambda matrix: np.tril(matrix, -1)),),
    "rows_and_columns": (_after(lambda matrix: matrix.T),),
    "softmax_taken": (_softmax,),
    "scaled": (lambda query, key, beta: use_matrix(query, key, beta) / np.sqrt(key.shape[1]),),
}

EXERCISE = Exercise.from_file(__file__, ("matrix",), use_matrix, cases, MISTAKES)
