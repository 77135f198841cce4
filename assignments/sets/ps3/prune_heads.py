"""Problem set 3, `prune_heads`: a layer without some of its heads, and how to get it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise


def prune_heads(w_q, w_k, w_v, w_o, kept):
    """Return the matrices of a layer that has only some of its heads.

    Parameters
    ----------
    w_q, w_k : ndarray, shape (d_model, n_heads * d_k)
    w_v : ndarray, shape (d_model, n_heads * d_v)
    w_o : ndarray, shape (n_heads * d_v, d_model)
    kept : ndarray of bool, shape (n_heads,)
        True = the head stays.

    Returns
    -------
    w_q, w_k, w_v, w_o : ndarray
        The same without the columns, and the rows of `w_o`, of the heads that go.

    References
    ----------
    Michel et al. (2019) prune whole heads of trained models.
    """
    return (*(w[:, _whose(kept, w.shape[1])] for w in (w_q, w_k, w_v)), w_o[_whose(kept, len(w_o))])


def _whose(kept, width):
    """Return for each component whether its head stays."""
    return np.repeat(kept, width // len(kept))


def cases(seed):
    """Return matrices of layers, and which heads stay: some, all or none.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``w_q``, ``w_k``, ``w_v``, ``w_o`` and ``kept``.
    """
    rng = np.random.default_rng(seed)

    def draw(d_model, d_k, d_v, kept):
        width = {"w_q": d_k, "w_k": d_k, "w_v": d_v}
        found = {n: rng.uniform(-1, 1, (d_model, len(kept) * w)) for n, w in width.items()}
        found["w_o"] = rng.uniform(-1, 1, (len(kept) * d_v, d_model))
        return found | {"kept": np.array(kept, dtype=bool)}

    return [
        draw(rng.integers(5, 8), 2, 2, [0, 1, 1]),
        draw(rng.integers(6, 10), 2, 2, [1, 0, 0, 1]),
        draw(rng.integers(5, 8), 3, 3, [0, 1]),
        draw(10, 2, 2, rng.permutation([0, 1, 0, 1, 1])),
        draw(5, 2, 2, [1] * rng.integers(2, 5)),
        draw(5, 2, 3, [1, 0, 1]),
        draw(7, 4, 2, [0, 1, 0, 1]),
        draw(6, 2, 2, [0, 0, 0]),
        draw(rng.integers(3, 7), 2, 2, rng.permutation(10) < rng.integers(3, 8)),
    ]


def _pruned(columns=None, rows=None, choose=lambda kept: kept, whose=_whose):
    """Return a pruning with one of its parts replaced."""

    def prune(w_q, w_k, w_v, w_o, kept):
        chosen = choose(kept)

        def cut(w):
            which = whose(chosen, w.shape[1])
            return columns(w, which) if columns else w[:, which]

        which = whose(chosen, len(w_o))
        return (*map(cut, (w_q, w_k, w_v)), rows(w_o, which) if rows else w_o[which])

    return prune


def _first_heads(kept):
    return np.arange(len(kept)) < kept.sum()


def _alternating(kept, width):
    return np.tile(kept, width // len(kept))


def _values_as_wide_as_keys(w_q, w_k, w_v, w_o, kept):
    """Take d_k for d_v: slices of the size of the keys, in the values and in w_o too."""
    d_k = w_q.shape[1] // len(kept)
    stay = [slice(i * d_k, (i + 1) * d_k) for i in np.flatnonzero(kept)]
    columns = [np.hstack([w[:, :0], *(w[:, s] for s in stay)]) for w in (w_q, w_k, w_v)]
    return (*columns, np.vstack([w_o[:0], *(w_o[s] for s in stay)]))


def _values_whole(w_q, w_k, w_v, w_o, kept):
    shorter = prune_heads(w_q, w_k, w_v, w_o, kept)
    return shorter[0], shorter[1], w_v, shorter[3]


def _one_component(w_q, w_k, w_v, w_o, kept):
    heads = np.flatnonzero(kept)
    return w_q[:, heads], w_k[:, heads], w_v[:, heads], w_o[heads]


def _axis_left(w_q, w_k, w_v, w_o, kept):
    apart = [w.reshape(len(w), len(kept), -1)[:, kept] for w in (w_q, w_k, w_v)]
    return *apart, w_o.reshape(len(kept), -1, w_o.shape[1])[kept]


def _rescaled(w_q, w_k, w_v, w_o, kept):
    *columns, rows = prune_heads(w_q, w_k, w_v, w_o, kept)
    return *columns, rows * (len(kept) / max(kept.sum(), 1))


def _stops_at_none(w_q, w_k, w_v, w_o, kept):
    if not kept.any():
        raise ValueError("need at least one array to concatenate")
    return prune_heads(w_q, w_k, w_v, w_o, kept)


def _nothing_to_do_at_none(w_q, w_k, w_v, w_o, kept):
    return prune_heads(w_q, w_k, w_v, w_o, kept if kept.any() else ~kept)


MISTAKES = {
    "kept_inverted": (_pruned(choose=lambda kept: ~kept),),
    "zeroed": (
        _pruned(columns=lambda w, which: w * which, rows=lambda w, which: w * which[:, None]),
        _pruned(columns=lambda w, which: w, rows=lambda w, which: w * which[:, None]),
    ),
    "output_untouched": (_pruned(rows=lambda w, which: w),),
    "output_columns": (_pruned(rows=lambda w, which: w[:, np.resize(which, w.shape[1])]),),
    "only_the_output": (_pruned(columns=lambda w, which: w),),
    "values_whole": (_values_whole,),
    "rows_of_the_projections": (_pruned(columns=lambda w, which: w[np.resize(which, len(w))]),),
    "alternating": (_pruned(whose=_alternating),),
    "one_component": (_one_component,),
    "first_heads": (_pruned(choose=_first_heads),),
    "values_as_wide_as_keys": (_values_as_wide_as_keys,),
    "axis_left": (_axis_left,),
    "rescaled": (_rescaled,),
    "none_kept": (_stops_at_none, _nothing_to_do_at_none),
}

EXERCISE = Exercise.from_file(__file__, ("w_q", "w_k", "w_v", "w_o"), prune_heads, cases, MISTAKES)
