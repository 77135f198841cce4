"""Problem set 3, `pack_heads`: from one matrix per head to two in all, and how to get it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise


def pack_heads(w_q, w_k, w_v, w_o):
    """Return the matrices of all heads as PyTorch stores them.

    Parameters
    ----------
    w_q, w_k, w_v : ndarray, shape (n_heads, d_model, d_k)
        Those of each head, as the paper writes them: ``x @ w_q[i]``.
    w_o : ndarray, shape (n_heads, d_k, d_model)
        The rows of the output projection that belong to each head.

    Returns
    -------
    in_proj : ndarray, shape (3 * n_heads * d_k, d_model)
        A row for each number that is computed: queries, then keys, then values.
    out_proj : ndarray, shape (d_model, n_heads * d_k)

    References
    ----------
    Vaswani et al. (2017), section 3.2.2, for the matrices of each head.
    """
    rows = [w.swapaxes(1, 2).reshape(-1, w.shape[1]) for w in (w_q, w_k, w_v)]
    return np.concatenate(rows), w_o.reshape(-1, w_o.shape[2]).T


def cases(seed):
    """Return the matrices of a few heads, which together are as wide as the model or are not.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``w_q``, ``w_k``, ``w_v`` and ``w_o``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_heads, d_model, d_k):
        shapes = dict.fromkeys(("w_q", "w_k", "w_v"), (n_heads, d_model, d_k))
        shapes["w_o"] = (n_heads, d_k, d_model)
        return {name: rng.uniform(-1, 1, shape) for name, shape in shapes.items()}

    pairs = [
        (n_heads, d_k) for n_heads in range(2, 10) for d_k in range(2, 10) if n_heads * d_k < 25
    ]
    drawn = [(n_heads, n_heads * d_k, d_k) for n_heads, d_k in rng.permutation(pairs)[:4]]
    return [draw(*size) for size in (*drawn, (2, 5, 3), (3, 4, 5), (1, 3, 2))]


def _rows(w):
    return w.swapaxes(1, 2).reshape(-1, w.shape[1])


def _out(w_o):
    return w_o.reshape(-1, w_o.shape[2]).T


def _packed(rows=_rows, order=(0, 1, 2), join=np.concatenate, out=_out):
    def pack(*matrices):
        return join([rows(matrices[i]) for i in order]), out(matrices[3])

    return pack


def _by_head(w_q, w_k, w_v, w_o):
    rows = [w[i].T for i in range(len(w_q)) for w in (w_q, w_k, w_v)]
    return np.concatenate(rows), _out(w_o)


def _scaled(w_q, w_k, w_v, w_o):
    return pack_heads(w_q / np.sqrt(w_q.shape[2]), w_k, w_v, w_o)


MISTAKES = {
    "not_transposed": (
        _packed(join=lambda rows: np.concatenate(rows).T),
        _packed(
            join=lambda rows: np.concatenate(rows).T,
            out=lambda w_o: w_o.reshape(-1, w_o.shape[2]),
        ),
    ),
    "output_not_transposed": (_packed(out=lambda w_o: w_o.reshape(-1, w_o.shape[2])),),
    "reshaped_only": (
        _packed(rows=lambda w: w.reshape(-1, w.shape[1])),
        _packed(rows=lambda w: w.reshape(w.shape[1], -1).T),
        _packed(
            rows=lambda w: w.reshape(-1, w.shape[1]),
            out=lambda w_o: w_o.reshape(w_o.shape[2], -1),
        ),
    ),
    "output_reshaped_only": (_packed(out=lambda w_o: w_o.reshape(w_o.shape[2], -1)),),
    "components_before_heads": (
        _packed(
            rows=lambda w: w.transpose(2, 0, 1).reshape(-1, w.shape[1]),
            out=lambda w_o: w_o.transpose(2, 1, 0).reshape(w_o.shape[2], -1),
        ),
        _packed(rows=lambda w: w.transpose(2, 0, 1).reshape(-1, w.shape[1])),
    ),
    "output_components_before_heads": (
        _packed(out=lambda w_o: w_o.transpose(2, 1, 0).reshape(w_o.shape[2], -1)),
    ),
    "head_by_head": (_by_head,),
    "another_order": (
        _packed(order=(1, 0, 2)),
        _packed(order=(2, 1, 0)),
        _packed(order=(0, 2, 1)),
        _packed(order=(2, 0, 1)),
    ),
    "side_by_side": (_packed(join=np.hstack),),
    "axis_of_three": (_packed(join=np.stack),),
    "heads_summed": (
        _packed(rows=lambda w: w.sum(axis=0).T, out=lambda w_o: w_o.sum(axis=0).T),
        _packed(rows=lambda w: w.mean(axis=0).T, out=lambda w_o: w_o.mean(axis=0).T),
    ),
    "scale_included": (_scaled,),
    "no_output_matrix": (lambda *matrices: pack_heads(*matrices)[0],),
}

EXERCISE = Exercise.from_file(__file__, ("in_proj", "out_proj"), pack_heads, cases, MISTAKES)
